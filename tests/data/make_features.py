#!/usr/bin/env python3
"""Writes features.txt: colours, vessels, corners, textures and more over images of all types and shapes.

Run it in this folder with numpy, scipy 1.17, scikit-image 0.26 and photutils 3.0; cases.py says what a case is.  All values
are those of the packages themselves, mostly of images in floats: scikit-image has other ranges for whole numbers.
"""
import numpy as np
from photutils import aperture
from photutils.detection.core import _StarFinderKernel
from scipy import ndimage as ndi
from skimage import color, exposure, feature, filters, measure, metrics, morphology, restoration, segmentation, transform

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
    for name, f in (('rgb2lab', color.rgb2lab), ('rgb2xyz', color.rgb2xyz), ('rgb2ycbcr', color.rgb2ycbcr), ('rgb2yuv', color.rgb2yuv),
                    ('rgb2luv', color.rgb2luv)):
        case(name, i, C + f'output a = {name}(rgb)', np.moveaxis(f(rgb), -1, 0), 1e-4)
    case('luv2rgb', i, C + 'output a = luv2rgb(image / 2 if c == 0 else image - 100 if c == 1 else 60 - image)',
         np.moveaxis(color.luv2rgb(signed), -1, 0), 1e-5)
    for formula in ('ciede2000', 'ciede94', 'cmc', 'cie76'):
        case('delta_e', i, C + 'lab = image / 2 if c == 0 else image - 100 if c == 1 else 60 - image\n'
             f'output a = delta_e(lab, rgb2lab(rgb), {formula})', getattr(color, 'deltaE_' + formula)(signed, color.rgb2lab(rgb)), 1e-5)
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

# ---- textures, histograms and classes ---------------------------------------------------------------

V = 'n = ramp(x = 1)\noutput a = f32(n) + '
for i in FLAT + SOLID:
    def planes(f):
        return f(i.float) if i.ndim == 2 else np.stack([f(p) for p in i.float])

    v, whole = i.float, i.kind != 'f32'
    if i.kind == 'u8':
        near = morphology.disk(2) if i.ndim == 2 else morphology.ball(2)
        case('entropy', i, 'output a = entropy(image, ball(2))', filters.rank.entropy(i.array, near), 1e-5)
        case('enhance_contrast', i, 'e = erode(image, ball(2))\nd = dilate(image, ball(2))\n'
             'output a = d if d - image < image - e else e', filters.rank.enhance_contrast(i.array, near), 0)
        case('autolevel', i, 'e = erode(image, ball(2))\nd = dilate(image, ball(2))\n'
             'output a = floor(255 * (image - e) / max(d - e, 1))', filters.rank.autolevel(i.array, near), 0)
    other = np.where(v > v.mean(), np.roll(v, 1, -1), v.min()).astype(i.array.dtype)
    if i.pattern == 'plain':
        for method in ('default', 'ror', 'uniform'):
            case('local_binary_pattern', i, f'output a = local_binary_pattern(image, method = {method})',
                 planes(lambda p: feature.local_binary_pattern(p, 8, 1, method)), 0)
        case('local_binary_pattern', i, 'output a = local_binary_pattern(image, 12, 1.7)',
             planes(lambda p: feature.local_binary_pattern(p, 12, 1.7)), 0)
        low, high = filters.threshold_multiotsu(i.array) if i.kind != 'u16' else (np.nan, np.nan)
        if i.kind != 'u16':
            case('multi_otsu', i, V + 'multi_otsu(image).low', [low])
            case('multi_otsu', i, V + 'multi_otsu(image).high', [high])
        case('pearson', i, V + 'pearson(image, roll(image, 1))', [measure.pearson_corr_coeff(v.ravel(), np.roll(v, 1, -1).ravel())[0]])
        some = v > files.level(60, i.kind)
        case('pearson', i, f'm = image > {files.level(60, i.kind)}\n' + V + 'pearson(image where m, roll(image, 1))',
             [measure.pearson_corr_coeff(v, np.roll(v, 1, -1), some)[0]])
        case('overlap_coefficient', i, V + 'overlap_coefficient(abs(image), abs(roll(image, 1)))',
             [measure.manders_overlap_coeff(abs(v), abs(np.roll(v, 1, -1)))])
        case('manders', i, f'm = image > {files.level(60, i.kind)}\n' + V + 'manders(abs(image), m)', [measure.manders_coloc_coeff(abs(v), some)])
    if i.kind != 'u16':
        case('match_histograms', i, 'output a = match_histograms(image, roll(image, 1) if image > mean(image) else min(image))',
             exposure.match_histograms(i.array, other), 1e-6 if whole else 1e-3)

# ---- masks and circles --------------------------------------------------------------------------------

for i in FLAT + SOLID:
    v, t = i.float, files.level(45, i.kind)
    if (v > t).all():
        case('grid_distance', i, f'output a = grid_distance(image > {t})', np.full(v.shape, np.inf))
    else:
        for metric in ('chessboard', 'taxicab'):
            case('grid_distance', i, f'output a = grid_distance(image > {t}, {metric})', ndi.distance_transform_cdt(v > t, metric), 0)
    thin = morphology.thin(v > t) if i.ndim == 2 else np.stack([morphology.thin(p) for p in v > t])
    case('thin', i, f'output a = thin(image > {t})', thin, 0)
    at, by = tuple(n // 2 for n in v.shape), files.level(40, i.kind) - files.level(0, i.kind)
    where = ', '.join(map(str, at[::-1]))
    for c in range(1, i.ndim + 1):
        k = {2: (4, 8), 3: (6, 18, 26)}[i.ndim][c - 1]
        case('flood', i, f'output a = flood(image, {where}, tolerance = {by}, connectivity = {k})',
             segmentation.flood(v, at, tolerance=by, connectivity=c), 0)
    for radius in (0.3, 2, 3.3):
        rows, columns = np.indices(v.shape[-2:]).reshape(2, -1)
        for inner in (0, radius / 2):
            ring = aperture.CircularAnnulus(list(zip(columns, rows)), inner, radius) if inner else \
                aperture.CircularAperture(list(zip(columns, rows)), radius)
            want = [ring.do_photometry(p, method='exact')[0].reshape(p.shape) for p in (v if i.ndim == 3 else [v])]
            case('aperture_sum', i, f'output a = aperture_sum(image, {radius}, {inner})', np.reshape(want, v.shape), 1e-5, True)

# ---- blobs and stars --------------------------------------------------------------------------------------


def painted(v, blobs):
    """The largest sigma at each place."""
    out = np.zeros(v.shape)
    for *at, s in blobs:
        out[tuple(int(k) for k in at)] = max(out[tuple(int(k) for k in at)], s)
    return out


for i in FLAT[:3] + SOLID[:3]:
    v, t = i.float, files.level(30, i.kind) - files.level(0, i.kind)
    case('blob_log', i, f'output a = blob_log(image, 0.6, 1.5, 4, {t})', painted(v, feature.blob_log(v, 0.6, 1.5, 4, t, 1)), 1e-5)
    case('blob_dog', i, f'output a = blob_dog(image, 0.5, 2, threshold = {t / 3})', painted(v, feature.blob_dog(v, 0.5, 2, 1.6, t / 3, 1)), 1e-5)
    for fwhm in (1.5, 4):
        kernel = _StarFinderKernel(fwhm, normalize_zerosum=True).data
        case('star_height', i, f'output a = star_height(image, {fwhm})',
             np.reshape([ndi.convolve(p, kernel, mode='constant') for p in (v if i.ndim == 3 else [v])], v.shape), 1e-5, True)

# ---- shapes and restoration ------------------------------------------------------------------------------


def in_planes(f, v):
    return f(v) if v.ndim == 2 else np.stack([f(p) for p in v])


def nl_means(v, s, d, h):
    """By brute force: scikit-image's fast mode leaves a row and a column of each patch out."""
    pad = np.pad(v, d + s // 2, mode='reflect') if min(v.shape) > d + s // 2 else None
    assert pad is not None
    box = np.lib.stride_tricks.sliding_window_view(pad, (s,) * v.ndim)
    total, weights = np.zeros(v.shape), np.zeros(v.shape)
    own = box[tuple(slice(d, d + n) for n in v.shape)]
    for shift in np.ndindex((2 * d + 1,) * v.ndim):
        there = box[tuple(slice(k, k + n) for k, n in zip(shift, v.shape))]
        far = ((own - there) ** 2).sum(axis=tuple(range(v.ndim, 2 * v.ndim))) / (s ** v.ndim * h * h)
        w = np.where(far <= 5, np.exp(-far), 0)
        total += w * there[(Ellipsis,) + (s // 2,) * v.ndim]
        weights += w
    return total / weights


for i in FLAT + SOLID:
    v, n, t = i.float, i.ndim, files.level(30, i.kind) - files.level(0, i.kind)
    if i.pattern == 'plain' and min(i.shape) > 2:
        h = float(0.4 * v.std())
        case('denoise_nl_means', i, f'output a = denoise_nl_means(image, 3, 1, {h!r})', nl_means(v, 3, 1, h), 1e-4)
        if n == 2:
            case('denoise_nl_means', i, f'output a = denoise_nl_means(image, 3, 2, {h!r})', nl_means(v, 3, 2, h), 1e-4)
    holes = v > np.percentile(v, 75)
    if holes.any() and not holes.all():
        case('inpaint', i, f'output a = inpaint(image, image > {float(np.percentile(v, 75))!r})', restoration.inpaint_biharmonic(v, holes), 1e-4)
    bins = 64
    if i.pattern != 'even':
        case('equalize_hist', i, f'output a = equalize_hist(image, {bins})', exposure.equalize_hist(v, bins), 1e-5)
    for high in (True, False):
        case('butterworth', i, f"output a = butterworth(image, 0.1, {'high' if high else 'low'}, 1.5)",
             filters.butterworth(v, 0.1, high, 1.5), 1e-5, True)
    if min(i.shape) > 3:
        other = np.roll(v, 1, -1)
        case('structural_similarity', i, f'output a = 0 * image + structural_similarity(image, roll(image, 1), 1, {float(np.ptp(v)) + 1})',
             np.full(v.shape, metrics.structural_similarity(v, other, win_size=3, data_range=np.ptp(v) + 1)), 1e-6)
    mask = v > np.median(v)
    where = f'image > {float(np.median(v))!r}'
    for angles in (180, 7):
        theta = np.linspace(-np.pi / 2, np.pi / 2, angles, endpoint=False)
        case('hough_line', i, f'output a = hough_line({where}, {angles})', in_planes(lambda p: transform.hough_line(p, theta)[0], mask), 0)
    for radius in (1, 2, 3, 6):
        case('hough_circle', i, f'output a = hough_circle({where}, {radius})',
             in_planes(lambda p: transform.hough_circle(p, radius)[0], mask), 1e-6)
    thin = in_planes(morphology.skeletonize, mask) if n == 2 else mask
    neighbours = ndi.convolve(thin.astype(int), np.ones((3,) * n, int), mode='constant') - thin
    case('skeleton_branches', i, f"output a = skeleton_branches({'skeletonize(' if n == 2 else '('}{where}))",
         measure.label(thin & (neighbours < 3), connectivity=n), 0)
    if n == 3:
        case('skeletonize', i, f'output a = skeletonize({where})', morphology.skeletonize(mask), 0)
        bright = float(np.percentile(v, 90))
        case('skeletonize', i, f'output a = skeletonize(dilate(image > {bright!r}, box(1)))',
             morphology.skeletonize(ndi.binary_dilation(v > bright, np.ones((3,) * n))), 0)
    if n == 2 and min(i.shape) > 2:
        case('chan_vese', i, 'output a = chan_vese(image, rounds = 20)', segmentation.chan_vese(v, max_num_iter=20), 0)
        case('chan_vese', i, 'output a = chan_vese(image, 0.02, 0.05)', segmentation.chan_vese(v, 0.02, tol=0.05), 0)
        if i.kind == 'f32':
            continue  # which of two equal pixels is a peak is up to the roundings of the integral image
        case('blob_doh', i, f'output a = blob_doh(image, 1.4, 2.9, 4, {(t / 4) ** 2})',
             painted(v, feature.blob_doh(v, 1.4, 2.9, 4, (t / 4) ** 2, 1)), 1e-5)
for i in FLAT[:1] + SOLID[:1] + FLAT[4:]:
    rgb = np.stack([i.float, 255 - i.float, np.roll(i.float, -1, -1) // 2], -1) / 255
    for name, f in (('hed2rgb', lambda p: color.hed2rgb(color.rgb2hed(p))), ('xyz2rgb', lambda p: color.xyz2rgb(color.rgb2xyz(p)))):
        back = 'rgb2hed' if name == 'hed2rgb' else 'rgb2xyz'
        for k in range(3):
            case(name, i, C + f'output a = {name}({back}(rgb))[c = {k}]', f(rgb)[..., k], 1e-4)

i = Image('plain', 'u8', 7, 12, 13)
for low in (200, 235):
    thick = ndi.binary_closing(ndi.binary_dilation(i.float > low, np.ones((3, 3, 3))), np.ones((1, 3, 3)))
    want = morphology.skeletonize(thick)
    m = f'closing(dilate(image > {low}, box(1)), box([0, 1, 1]), border = constant(0))'
    case('skeletonize', i, f'output a = skeletonize({m})', want, 0)
flat = Image('plain', 'u16', 1, 14, 15)
case('skeletonize', flat, 'output a = skeletonize(dilate(image > 40000, box([0, 1, 1])))',
     morphology.skeletonize(ndi.binary_dilation(flat.float > 40000, np.ones((1, 3, 3)))), 0)

# ---- medial axes --------------------------------------------------------------------------------


class Places(np.random.Generator):
    """In place of lots: the numbers of the places of a mask's pixels."""

    def __init__(self, mask):
        super().__init__(np.random.PCG64(0))
        y, x = np.nonzero(mask)
        self.numbers = (x * 791546 + y * 597521) % 2**20

    def permutation(self, count):
        return self.numbers


for i, level, box in ((Image('plain', 'u8', 19, 23), 128, '1'), (Image('plain', 'u16', 2, 11, 12), 28000, '[0, 1, 1]')):
    mask = ndi.binary_dilation(i.float > level, np.ones((1, 3, 3) if i.ndim == 3 else (3, 3)))
    lines = [morphology.medial_axis(m, rng=Places(m)) for m in mask.reshape(-1, *i.shape[-2:])]
    case('medial_axis', i, f'output a = medial_axis(dilate(image > {level}, box({box})))', np.reshape(lines, i.shape), 0)

# ---- superpixels --------------------------------------------------------------------------------


def joined(ids, least):
    """Pieces below a size join that one beside them which begins last of those before them; numbered in order."""
    pieces = measure.label(ids, connectivity=1)
    size, into = np.bincount(pieces.ravel()), np.arange(pieces.max() + 1)
    for k in range(1, len(into)):
        beside = pieces[ndi.binary_dilation(pieces == k) & (pieces < k)]
        into[k] = into[beside.max()] if size[k] < least and beside.size else k
    return segmentation.relabel_sequential(into[pieces])[0]


def superpixels(i, n, compactness, rounds):
    said = f'{n}, {compactness}, rounds = {rounds}'
    ids = segmentation.slic(i.float, n, compactness, rounds, channel_axis=None, enforce_connectivity=False)
    begun = segmentation.slic(i.float, n, 1e9, 1, channel_axis=None, enforce_connectivity=False).max()
    case('slic', i, f'output a = slic(image, {said}, enforce_connectivity = false)', segmentation.relabel_sequential(ids)[0], 0)
    case('slic', i, f'output a = slic(image, {said})', joined(ids, int(0.5 * i.float.size / begun)), 0)


superpixels(FLAT[0], 6, 0.5, 4)
superpixels(FLAT[1], 9, 0.02, 6)
superpixels(FLAT[2], 200, 0.5, 4)
superpixels(SOLID[0], 7, 0.3, 4)
i = FLAT[0]
rgb = np.stack([i.float, 255 - i.float, np.roll(i.float, -1, -1) // 2], -1)
case('slic', i, C + 'output a = slic(rgb, 8, 10, 0.7, 3, false)',
     segmentation.relabel_sequential(segmentation.slic(rgb, 8, 10, 3, 0.7, enforce_connectivity=False))[0], 0)

files.write('features.txt', cases)
