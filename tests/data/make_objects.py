#!/usr/bin/env python3
"""Writes objects.txt: textures and what else the pixels of objects are like, regions around markers, and the nearest of pixels.

Run it in this folder with numpy, scipy 1.17, scikit-image 0.26 and cp-measure 0.3 (with mahotas 1.4); cases.py says what a case is.
"""
import numpy as np
from centrosome import cpmorphology, zernike
from cp_measure.core import measurecolocalization, measuregranularity, measureobjectintensitydistribution, measuretexture
from mahotas.features import zernike_moments as mahotas_zernike
from scipy import ndimage as ndi
from scipy.sparse import csgraph, csr_matrix
from skimage import feature, measure, restoration, segmentation

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
    return f'm = {values}[l]\noutput a = 0 if not (l > 0) else -1 if isnan(m) else m'


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

# ---- where light lies ---------------------------------------------------------------------------


def patches(image):
    """Objects that touch, some of them in several parts."""
    where = np.indices(image.shape)
    t = float(np.percentile(image.float, 25))
    n = np.where(image.float > t, 1 + where[-1] // 5 + 8 * (where[-2] // 4) + (64 * (where[0] // 3) if image.ndim == 3 else 0), 0)
    n = np.unique(np.append(0, n), return_inverse=True)[1][1:].reshape(image.shape)
    z = ' + 64 * (z_of(image) // 3)' if image.ndim == 3 else ''
    return n, f'l = as_labels(1 + x_of(image) // 5 + 8 * (y_of(image) // 4){z} if image > {t!r} else 0)\n'


def edge_distance(labels):
    out = np.zeros(labels.shape)
    for k in range(1, labels.max() + 1):
        out[labels == k] = ndi.distance_transform_edt(labels == k)[labels == k]
    return out


def radial(labels, v, n_bins, scaled, maximum):
    """FracAtD, MeanFrac and RadialCV of all bins, one object after the other: cp-measure's, which has planes alone."""
    out = np.zeros((n_bins + (not scaled), 3, labels.max()))
    edge = edge_distance(labels)
    for k in range(1, labels.max() + 1):
        at = np.argwhere(labels == k)
        d = edge[labels == k]
        middle = int(np.argmax(d))
        apart = np.abs(at[:, None] - at[None])
        steps = np.where(apart.max(-1) <= 1, np.sqrt((apart ** 2).sum(-1)), 0)
        way = csgraph.dijkstra(csr_matrix(steps), indices=middle)
        ok = np.isfinite(way)
        at, d, way, light = at[ok], d[ok], way[ok], v[labels == k][ok]
        share = way / (way + d + 0.001) if scaled else way / maximum
        bins = np.minimum((share * n_bins).astype(int), n_bins)
        y, x = (at - np.argwhere(labels == k)[middle])[:, -2:].T
        wedge = (y > 0) + 2 * (x > 0) + 4 * (np.abs(y) > np.abs(x))
        for b in range(len(out)):
            here = bins == b
            means = np.array([light[here & (wedge == w)].mean() for w in range(8) if (here & (wedge == w)).any()])
            fraction = light[here].sum() / light.sum()
            out[b, :, k - 1] = (fraction, fraction / (here.mean() + np.finfo(float).eps),
                                means.std() / means.mean() if len(means) else 0)
    return out


for i in [*FLAT[:3], SOLID[0]]:
    labels, source = patches(i)
    case('edge_distance', i, source + 'output a = edge_distance(l)', edge_distance(labels), 1e-6)
    light = i.float - i.float.min() + 1
    for n_bins, scaled, maximum in ((4, True, 100), (2, False, 3)):
        want = radial(labels, light, n_bins, scaled, maximum)
        if i.ndim == 2:
            theirs = measureobjectintensitydistribution.get_radial_distribution(labels, light, scaled, n_bins, maximum)
            theirs = np.array(list(theirs.values())).reshape(want.shape)
            assert np.allclose(theirs, want, equal_nan=True)
        for b in range(len(want)):
            for f, name in enumerate(('frac_at_d', 'mean_frac', 'radial_cv')):
                if (b + f) % 3 != i.ndim % 3:
                    continue
                call = f'r = radial_distribution(l, image - {i.float.min() - 1}, {b + 1}, {n_bins}, {str(scaled).lower()}, {maximum})\n'
                case('radial_distribution', i, source + call + shown(f'r.{name}'),
                     painted(labels, np.where(np.isnan(want[b, f]), -1, want[b, f])), 1e-5)

def zernike_sums(labels, light, circle, n, m):
    """centrosome's polynomials summed over each object.  What lies on the circle counts, which is made a little wider for that."""
    (middles, radii), k = circle, np.maximum(labels - 1, 0)
    where = np.indices(labels.shape)[-2:]
    y, x = ((where[a] - middles[k, a]) / (radii[k] * (1 + 1e-9)) for a in (0, 1))
    values = zernike.construct_zernike_polynomials(x, y, np.array([[n, m]]), labels > 0)[..., 0] * light
    return np.array([values[labels == k].sum() for k in range(1, labels.max() + 1)])


def enclosing_circles(labels):
    """Of a volume those of its projection: centrosome's, of a label at a time."""
    flat = [(labels == k).reshape(-1, *labels.shape[-2:]).any(0) for k in range(1, labels.max() + 1)]
    found = [cpmorphology.minimum_enclosing_circle(mask.astype(int), [1]) for mask in flat]
    return np.array([c[0] for c, _ in found]), np.array([r[0] for _, r in found])


for i in [*FLAT[:3], SOLID[0]]:
    labels, source = patches(i)
    circle = enclosing_circles(labels)
    pixels = np.bincount(labels.ravel())[1:]
    light = i.float - i.float.min() + 1
    source += f'v = image - {i.float.min() - 1}\n'
    for name, want in (('x', circle[0][:, 1]), ('y', circle[0][:, 0]), ('radius', circle[1])):
        case('enclosing_circle', i, source + 'c = enclosing_circle(l)\n' + shown(f'c.{name}'), painted(labels, want), 1e-6)
    for n, m in ((0, 0), (1, 1), (4, 2), (9, 9), (9, 3), (14, 0)):
        sums = zernike_sums(labels, light if n % 2 else 1, circle, n, m)
        want = (('magnitude', np.abs(sums) / pixels), ('phase', np.arctan2(sums.real, sums.imag))) if n % 2 else (
            ('shape', np.abs(sums) / (np.pi * circle[1] ** 2)),)
        for name, values in want:
            call = f'z = zernike(l, v, {n}, {m})\n' if n % 2 else f'z = zernike(l, n = {n}, m = {m})\n'
            far = 'min(m, 3.15 - abs(m))' if name == 'phase' else 'm'  # -pi and pi are the same
            values = np.minimum(values, 3.15 - np.abs(values)) if name == 'phase' else values
            case('zernike', i, source + call + f'm = z.{name}[l]\noutput a = 0 if not (l > 0) else -1 if isnan(m) else {far}',
                 painted(labels, np.where(np.isnan(values), -1, values)), 1e-5)
    if i.ndim == 2:
        order = [(n, m) for n in range(8) for m in range(n + 1) if (n - m) % 2 == 0]
        theirs = np.array([mahotas_zernike(np.where(labels == k, light, 0), 3, 7) for k in range(1, labels.max() + 1)])
        for n, m in ((2, 0), (5, 3), (7, 7)):
            case('zernike', i, source + shown(f'zernike(l, v, {n}, {m}, 3).moment'), painted(labels, theirs[:, order.index((n, m))]), 1e-5)

for i in [Image('plain', 'u8', 13, 16), Image('plain', 'u16', 12, 17), Image('plain', 'f32', 13, 14), SOLID[0]]:
    labels, source = patches(i)
    light = i.float - min(i.float.min(), 0)
    take = f'image - {min(i.float.min(), 0)}'
    for sizes in ((1, 1, 3), (0.5, 1, 3), (0.5, 0.5, 2)) if i.ndim == 2 else ((1, 1, 1),):
        want = measuregranularity.get_granularity(labels, light, *sizes, 3)
        for k in (1, 3):
            case('granularity', i, source + f'output a = granularity(l, {take}, {k}, {sizes[0]}, {sizes[1]}, {sizes[2]})[l]\n',
                 painted(labels, want[f'Granularity_{k}']), 1e-4)

PAIRS = {'pearson': 'Pearson', 'slope': 'Slope', 'overlap': 'Overlap', 'k1': 'K_1', 'k2': 'K_2', 'manders1': 'Manders_1',
         'manders2': 'Manders_2', 'rwc1': 'RWC_1', 'rwc2': 'RWC_2', 'costes1': 'Costes_1', 'costes2': 'Costes_2'}
for i in [Image('plain', 'u8', 13, 16), Image('plain', 'u16', 12, 17), SOLID[0]]:
    labels, source = patches(i)
    other = (i.array // 2 + np.roll(i.array, 1, -1) // 3 + np.roll(i.array, 5, -1) // 8).astype(i.array.dtype)
    lines = source + f'v = {i.kind}(image)\nw = {i.kind}(floor(v / 2) + floor(roll(v, 1) / 3) + floor(roll(v, 5) / 8))\n'
    scale = np.iinfo(i.array.dtype).max
    for threshold in (15, 43):
        got = {}
        for f in ('pearson', 'manders_fold', 'rwc', 'overlap'):
            more = () if f == 'pearson' else (threshold,)
            got.update(getattr(measurecolocalization, 'get_correlation_' + f)(i.float, other.astype(float), labels, *more))
        got.update(measurecolocalization.get_correlation_costes(i.array, other, labels))
        for here, there in list(PAIRS.items())[threshold == 43::2]:
            want = np.asarray(got['Correlation_' + there])
            case('colocalization', i, lines + f'c = colocalization(l, v, w, {threshold}, {scale})\n' + shown(f'c.{here}'),
                 painted(labels, np.where(np.isnan(want), -1, want)), 1e-4)

# Of no objects, and of single pixels, nothing has to be repeated.
for call in ('r = radial_distribution(l, image)\nm = r.frac_at_d[l]\n', 'r = colocalization(l, image, image + 1)\nm = r.costes1[l]\n',
             'r = enclosing_circle(l)\nm = r.radius[l]\n'):
    for least in (250, 1000):
        case('few_objects', FLAT[0], f'l = label_spots(image >= {least})\n' + call + 'output a = 0 if not (l > 0) or isnan(m) else m', np.where(
            (FLAT[0].float >= least) & ('frac' in call), 1, 0))

# A ring without light has no light that differs.
case('radial_dark', FLAT[0], 'l = label(image > 100)\nr = radial_distribution(l, 0 * image, 1)\noutput a = r.radial_cv[l] if l > 0 else 0', 0 * FLAT[0].float)

# ---- pictures of objects ------------------------------------------------------------------------------

for i in FLAT[:3] + SOLID[:1]:
    labels, source = patches(i)
    size = (*i.shape[:-2], 4, 5)
    for alone in (True, False):
        n = int(labels.max()) + 1
        want = np.zeros((*size[:-1], n * size[-1]))
        for k in range(1, n):
            at = np.argwhere(labels == k)
            corner = (at.min(0) + at.max(0)) // 2 - np.array(size) // 2
            corner[:-2] = 0
            for to in np.ndindex(size):
                there = tuple(corner + to)
                if all(0 <= p < extent for p, extent in zip(there, i.shape)) and (labels[there] == k or not alone):
                    want[(*to[:-1], (k - 1) * size[-1] + to[-1])] = i.float[there]
        case('object_crops', i, source + f'output a = object_crops(l, image, {n}, {size[-1]}, {size[-2]}, {str(alone).lower()})', want, 0)

# ---- the nearest pixels, regions and least variation ---------------------------------------------------

for i in [Image('plain', kind, 9, 11) for kind in files.TYPES] + [SOLID[0], Image('even', 'u8', 3, 4)]:
    t = float(np.percentile(i.float, 20))
    mask = i.float > t if i.pattern == 'plain' else i.float < 100
    where = f'image > {t!r}' if i.pattern == 'plain' else 'image < 100'
    z = ' + (p.z - z_of(image)) ** 2' if i.ndim == 3 else ''
    at = ', z = p.z' if i.ndim == 3 else ''
    source = f'm = {where}\np = nearest_outside(m)\n'
    want = ndi.distance_transform_edt(mask) if not mask.all() else np.full(i.shape, -1)
    case('nearest_outside', i, source + f'd = sqrt((p.x - x_of(image)) ** 2 + (p.y - y_of(image)) ** 2{z})\noutput a = d if p.x >= 0 else -1',
         want, 1e-6)
    case('nearest_outside', i, source + f'output a = number(m)[x = p.x, y = p.y{at}]', np.full(i.shape, int(mask.all())), 0)

for i in [Image('plain', kind, 9, 11) for kind in files.TYPES] + [SOLID[1]]:
    white = {'u8': 255, 'u16': 65535, 'f32': 1}[i.kind]
    t = [float(np.percentile(i.float, p)) for p in (4, 97)]
    markers = np.where(i.float < t[0], 1, np.where(i.float > t[1], 2, 0))
    if i.ndim == 2:
        markers[:, -1] = 0
        markers[3:5, -1] = 3
    last = '3 if x_of(image) == 10 and (y_of(image) == 3 or y_of(image) == 4) else 0 if x_of(image) == 10 else ' if i.ndim == 2 else ''
    source = f'm = as_labels({last}1 if image < {t[0]!r} else 2 if image > {t[1]!r} else 0)\n'
    for beta in (130, 20) if i.kind != 'f32' else (0.5, 2):
        case('random_walker', i, source + f'output a = random_walker(image, m, {beta}, 0.000001)',
             segmentation.random_walker(i.float / white, markers, beta, mode='bf'), 0)

for i in [Image('plain', kind, 9, 11) for kind in files.TYPES]:
    low, high = float(i.float.min()), float(np.ptp(i.float))
    for weight, isotropic in ((5, True), (12, True), (20, False)):
        want = restoration.denoise_tv_bregman((i.float - low) / high, weight, 300, 0, isotropic)
        case('denoise_tv_bregman', i, f'output a = denoise_tv_bregman((image - {low!r}) / {high!r}, {weight}, 0, 300, {str(isotropic).lower()})',
             want, 1e-4)

files.write('objects.txt', cases)
