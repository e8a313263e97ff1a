#!/usr/bin/env python3
"""Writes features.txt: colours, vessels, corners and textures over images of all types and shapes.

Run it in this folder with numpy, scipy 1.17 and scikit-image 0.26; cases.py says what a case is.  All values are those
of scikit-image itself, of images in floats: it has other ranges for whole numbers.
"""
import numpy as np
from skimage import color, feature, filters

import cases as files
from cases import Image

np.seterr(all='ignore')
PLAIN = {2: (9, 11), 3: (4, 5, 6)}
FLAT = [Image('plain', kind, *PLAIN[2]) for kind in files.TYPES] + [Image('plain', 'f32', 2, 3), Image('even', 'u8', 5, 6)]
SOLID = [Image('plain', kind, *PLAIN[3]) for kind in files.TYPES] + [Image('plain', 'f32', 3, 2, 5), Image('even', 'u8', 3, 4, 5)]
BORDERS = {'nearest': 'nearest', 'reflect': 'reflect', 'mirror': 'mirror', 'wrap': 'wrap', 'constant(0)': 'constant'}

cases = []


def case(name, image, pipe, want, tolerance=1e-5, of_largest=False):
    """of_largest: sums that cancel are as exact as the largest of them."""
    want = np.asarray(want, float)
    shape = 'x'.join(map(str, image.shape))
    full = f'{name}.{image.pattern}.{image.kind}.{shape}'
    k = sum(1 for c in cases if c[0] == full or c[0].startswith(full + '.'))
    if of_largest:
        tolerance = f'{tolerance * max(np.nanmax(np.abs(want)), 1):.6g}'
    cases.append((full + (f'.{k}' if k else ''), image, pipe, want, tolerance))


# ---- edges and vessels ------------------------------------------------------------------------

for i in FLAT + SOLID:
    v, n = i.float, i.ndim
    case('farid', i, 'output a = farid(image)', filters.farid(v), 1e-4)
    for sigma in (1, 1.6):
        for ridges, black in (('bright', False), ('dark', True)):
            case('frangi', i, f'output a = frangi(image, {sigma}, {ridges})', filters.frangi(v, [sigma], black_ridges=black), 3e-3)
            case('meijering', i, f'output a = meijering(image, {sigma}, {ridges})', filters.meijering(v, [sigma], black_ridges=black), 3e-3)
    case('frangi', i, 'output a = frangi(image, 1.2, bright, 0.7, 0.3, 15, border = nearest)',
         filters.frangi(v, [1.2], None, None, 0.7, 0.3, 15, False, mode='nearest'), 3e-3)
    case('meijering', i, 'output a = meijering(image, 1.2, dark, 0.2, border = nearest)',
         filters.meijering(v, [1.2], 0.2, True, mode='nearest'), 3e-3)
for i in FLAT[2:3] + SOLID[2:3]:
    for border, mode in BORDERS.items():
        case('farid', i, f'output a = farid(image, {border})', filters.farid(i.float, mode=mode), 1e-4)

# ---- corners ------------------------------------------------------------------------------------

for i in FLAT + SOLID:
    def planes(f):
        return f(i.float) if i.ndim == 2 else np.stack([f(p) for p in i.float])

    case('roberts', i, 'output a = roberts(image)', planes(filters.roberts), 1e-4)
    case('corner_harris', i, 'output a = corner_harris(image)', planes(feature.corner_harris), 1e-6, True)
    case('corner_harris', i, 'output a = corner_harris(image, 1.3, 0.2)',
         planes(lambda v: feature.corner_harris(v, k=0.2, sigma=1.3)), 1e-6, True)
    if i.ndim == 2:
        case('corner_shi_tomasi', i, 'output a = structure_tensor_eigenvalue(image, 1, least, constant(0))',
             feature.corner_shi_tomasi(i.float), 1e-5, True)
    for part, k in (('size', 0), ('roundness', 1)):
        case('corner_foerstner', i, f'output a = corner_foerstner(image, 1.3, {part})',
             planes(lambda v: feature.corner_foerstner(v, 1.3)[k]), 1e-5, True)
    case('shape_index', i, 'output a = shape_index(image, 0.8)', planes(lambda v: feature.shape_index(v, 0.8)), 1e-3)
    for border, mode in BORDERS.items():
        case('corner_kitchen_rosenfeld', i, f'output a = corner_kitchen_rosenfeld(image, {border})',
             planes(lambda v: feature.corner_kitchen_rosenfeld(v, mode)), 1e-4, True)

# ---- colours --------------------------------------------------------------------------------------

# Computed pixels count as 0 .. 255, those of a file by its type.
C = 'c = c_of(canvas(image, channels = 3))\nrgb = image if c == 0 else 255 - image if c == 1 else roll(image, -1) // 2\n'
for i in FLAT[:1] + SOLID[:1] + FLAT[4:]:
    v = i.float
    rgb = np.stack([v, 255 - v, np.roll(v, -1, -1) // 2], -1) / 255
    signed = np.stack([v / 2, v - 100, 60 - v], -1)  # as L*, a* and b*
    hsv = np.stack([v / 200, 1 - v / 255, rgb[..., 2]], -1)
    H = 'c = c_of(canvas(image, channels = 3))\nnext = roll(image, -1) // 2\n'
    for name, f in (('rgb2lab', color.rgb2lab), ('rgb2xyz', color.rgb2xyz), ('rgb2ycbcr', color.rgb2ycbcr), ('rgb2yuv', color.rgb2yuv)):
        case(name, i, C + f'output a = {name}(rgb)', np.moveaxis(f(rgb), -1, 0), 1e-4)
    case('lab2rgb', i, C + 'output a = lab2rgb(image / 2 if c == 0 else image - 100 if c == 1 else 60 - image)',
         np.moveaxis(color.lab2rgb(signed), -1, 0), 1e-5)
    case('lab2rgb', i, C + 'output a = 255 * lab2rgb(rgb2lab(rgb))', 255 * np.moveaxis(rgb, -1, 0), 1e-3)
    case('hsv2rgb', i, H + 'output a = hsv2rgb(image / 200 if c == 0 else 1 - image / 255 if c == 1 else next / 255)',
         np.moveaxis(color.hsv2rgb(hsv), -1, 0), 1e-5)
    three = [[0.65, 0.7, 0.29], [0.07, 0.99, 0.11], [0.27, 0.57, 0.78]]
    case('separate_stains', i, C + 'output a = separate_stains(rgb, {}, {}, {})'.format(*three),
         np.moveaxis(color.separate_stains(rgb, np.linalg.inv(three)), -1, 0), 1e-5)
    three = [[0.5, 0.7, 0.4], [0.2, 0.8, 0.5]]
    across = np.cross(*three)
    case('separate_stains', i, C + 'output a = separate_stains(rgb, {}, {})'.format(*three),
         np.moveaxis(color.separate_stains(rgb, np.linalg.inv([*three, across / np.linalg.norm(across)])), -1, 0), 1e-5)

files.write('features.txt', cases)
