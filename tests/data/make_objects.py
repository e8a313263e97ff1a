#!/usr/bin/env python3
"""Writes objects.txt: textures and what else the pixels of objects are like.

Run it in this folder with numpy, scipy 1.17, scikit-image 0.26 and cp-measure 0.3 (with mahotas 1.4); cases.py says what a case is.
"""
import numpy as np
from cp_measure.core import measuretexture
from skimage import feature, measure

import cases as files
from cases import Image

np.seterr(all='ignore')
FLAT = [Image('plain', kind, 11, 14) for kind in files.TYPES] + [Image('even', 'u8', 3, 4)]
SOLID = [Image('plain', kind, 4, 6, 7) for kind in files.TYPES]

cases = []


def case(name, image, pipe, want, tolerance=1e-5):
    shape = 'x'.join(map(str, image.shape))
    full = f'{name}.{image.pattern}.{image.kind}.{shape}'
    k = sum(1 for c in cases if c[0] == full or c[0].startswith(full + '.'))
    cases.append((full + (f'.{k}' if k else ''), image, pipe, np.asarray(want, float), tolerance))


def objects(image):
    """What is brighter than a level; some of them are too small to have pairs."""
    t = float(np.median(image.float))
    return (measure.label(image.float > t, connectivity=1),
            f'l = label(image > {t!r}, connectivity = {2 * image.ndim})\n')


def painted(labels, values):
    return np.concatenate([[0], values])[labels]


def shown(values):
    """Of a vector: NaN and the background as numbers."""
    return f'v = {values}[l]\noutput a = 0 if not (l > 0) else -1 if isnan(v) else v'


# ---- texture ------------------------------------------------------------------------------------

FEATURES = ('angular_second_moment contrast correlation variance inverse_difference_moment sum_average sum_variance sum_entropy '
            'entropy difference_variance difference_entropy info_meas1 info_meas2').split()


def unit(image):
    """0 .. 1, what CellProfiler makes of a file."""
    return np.clip(image.float / {'u8': 255, 'u16': 65535, 'f32': 1}[image.kind], 0, 1)


for i in FLAT + SOLID:
    labels, source = objects(i)
    n_directions = 4 if i.ndim == 2 else 13
    for distance, levels in ((1, 256), (2, 16)):
        # Each object by itself and each direction by itself: cp-measure has NaN for all where one has no pairs.
        textures = {}
        for d in range(n_directions):
            textures[d] = np.full((len(FEATURES), labels.max()), np.nan)
        pixels, _ = measuretexture._prep(labels, unit(i), distance, levels)
        for k, prop in enumerate(pixels):
            for d in range(n_directions):
                crop = prop.image_intensity
                m = np.empty((int(crop.max()) + 1,) * 2, np.int32)
                measuretexture.mahotas.features.texture.cooccurence(crop, d, m, symmetric=True, distance=distance)
                m[0], m[:, 0] = 0, 0
                if m.sum():
                    textures[d][:, k] = measuretexture.mahotas.features.texture.haralick_features([m])[0]
        whole = measuretexture.get_texture(labels, unit(i), distance, levels)
        for d in range(n_directions):
            for f, name in enumerate(measuretexture.F_HARALICK):
                same = whole[f'{name}_{distance}_{d:02d}_{levels}']
                assert np.allclose(textures[d][f][~np.isnan(same)], same[~np.isnan(same)])
        for f, name in enumerate(FEATURES):
            d = (f + distance) % n_directions
            want = np.where(np.isnan(textures[d][f]), -1, textures[d][f])
            case('haralick', i, source + f't = haralick(l, image, {distance}, {d}, {levels})\n' + shown(f't.{name}'),
                 painted(labels, want), 1e-5)
for i in FLAT[:1] + SOLID[:1]:
    for d in (0, 3):
        want = measuretexture.mahotas.features.haralick(i.array // 4 * 4, distance=1)[d]
        for f in (0, 2, 9, 12):
            case('haralick_image', i, f'l = as_labels(0 * image + 1)\nt = haralick(l, floor(image / 4) * 4, 1, {d}, ignore_zeros = false)\n' +
                 shown(f't.{FEATURES[f]}'), np.full(i.shape, want[f]), 1e-5)

PROPS = 'contrast dissimilarity homogeneity ASM energy correlation mean variance std entropy'.split()
for i in FLAT + SOLID:
    for distance, angle, symmetric, normed in ((1, 0, False, False), (2, 0.8, True, True), (3, 2.4, False, True), (1, 1.6, True, False)):
        scale = {'u8': 16, 'u16': 3300, 'f32': 2}[i.kind]
        grey = np.clip(np.floor(i.float / scale), 0, 15).astype(np.uint8)
        planes = grey if i.ndim == 3 else grey[None]
        m = sum(feature.graycomatrix(p, [distance], [angle], 16, symmetric).astype(float) for p in planes)
        call = (f'm = graycomatrix(clip(floor(image / {scale}), 0, 15), {distance}, {angle}, 16, {str(symmetric).lower()}, '
                f'{str(normed).lower()})\n')
        case('graycomatrix', i, call + 'output a = m', (m / m.sum() if normed else m)[..., 0, 0], 1e-6)
        for prop in PROPS:
            case('graycoprops', i, call + f'output a = canvas(m, width = 1, height = 1) + graycoprops(m).{prop.lower()}',
                 feature.graycoprops(m, prop), 1e-5)

files.write('objects.txt', cases)
