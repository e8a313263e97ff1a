#!/usr/bin/env python3
"""Writes sweeps.txt: every operator over images of all types and shapes, under every border.

Run it in this folder with numpy, scipy 1.10 or later and scikit-image 0.19 or later.  cases.py says what a
case is; these are evaluated only.  `make_sweeps.py --audit` prints which operator of the table is
held against what: a letter for each kind of image (coverage.txt has the last answer).

Windows are gathered by numpy.pad and compared with numpy, so that NaN and infinity and images smaller than
the window have an answer too; a second reference is scipy or scikit-image itself, asserted here
where it has one.
"""
import inspect
import itertools
import re
import sys

import numpy as np
from scipy import ndimage as ndi
from scipy import signal, spatial
from skimage import color, exposure, feature, filters, measure, morphology, segmentation, transform

import cases as files
from cases import Image, ranks

np.seterr(all='ignore')
PLAIN = {2: (9, 11), 3: (4, 5, 6)}
IMAGES = [Image('plain', kind, *PLAIN[ndim]) for ndim in (2, 3) for kind in files.TYPES]
IMAGES += [Image('plain', 'f32', *shape) for shape in ((9, 1), (1, 11), (4, 1, 5), (1, 5, 6))]
IMAGES += [Image('even', 'u8', 5, 6), Image('even', 'u8', 3, 4, 5)]
IMAGES += [Image('special', 'f32', 9, 11), Image('special', 'f32', 4, 5, 6)]
IMAGES += [Image('plain', 'u8', 2, 3), Image('plain', 'u8', 2, 2, 3), Image('plain', 'u16', 1, 1)]
FINITE = [i for i in IMAGES if i.pattern != 'special']
FLAT = [i for i in IMAGES if i.ndim == 2]
SOLID = [i for i in IMAGES if i.ndim == 3]
HIGH = [Image('high', kind, *PLAIN[ndim]) for ndim in (2, 3) for kind in files.TYPES]
BORDERS = {'nearest': 'edge', 'reflect': 'symmetric', 'mirror': 'reflect', 'wrap': 'wrap', 'constant(7)': 'constant'}
SCIPY = {'edge': 'nearest', 'symmetric': 'reflect', 'reflect': 'mirror', 'wrap': 'wrap', 'constant': 'constant'}
BORDERED = [Image('plain', 'f32', 9, 11), Image('plain', 'f32', 4, 5, 6), Image('plain', 'f32', 2, 3),
            Image('plain', 'f32', 1, 7)]

cases = []


def case(name, image, pipe, want, tolerance=1e-5):
    shape = 'x'.join(map(str, image.shape))
    full = f'{name}.{image.pattern}.{image.kind}.{shape}'
    k = sum(1 for c in cases if c[0] == full or c[0].startswith(full + '.'))
    cases.append((full + (f'.{k}' if k else ''), image, pipe, np.asarray(want), tolerance))


def padded(v, r, mode='edge', outside=7):
    """v with r more pixels on every side."""
    r = np.broadcast_to(r, v.ndim)
    return np.pad(v, [(k, k) for k in r], mode, **({'constant_values': outside} if mode == 'constant' else {}))


def windows(v, footprint, mode='edge', outside=7):
    """What lies under the footprint, for each pixel: footprint pixels first, in raster order."""
    r = [n // 2 for n in footprint.shape]
    wide = padded(v, r, mode, outside)
    return np.array([wide[tuple(slice(a, a + n) for a, n in zip(at, v.shape))] for at in np.argwhere(footprint)])


def box(ndim, r=1):
    return np.ones((2 * r + 1,) * ndim, bool)


def ball(ndim, r=2):
    return (morphology.disk(r) if ndim == 2 else morphology.ball(r)).astype(bool)


def diamond(ndim, r=2):
    return (morphology.diamond(r) if ndim == 2 else morphology.octahedron(r)).astype(bool)


CORNER = {2: np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0]], bool)}
CORNER[3] = np.stack([np.zeros((3, 3), bool), CORNER[2], np.zeros((3, 3), bool)])


def rows(footprint):
    return re.sub(r'\s', '', str(footprint.astype(int).tolist())).replace(',', ', ')


def footprints(ndim):
    """Text and pixels of footprints."""
    yield '1', box(ndim)
    yield 'ball(2)', ball(ndim)
    yield 'diamond(2)', diamond(ndim)
    yield rows(CORNER[ndim]), CORNER[ndim]


def taps(v, n, axis, mode, outside):
    """The n pixels around each one along an axis."""
    wide = np.pad(v, [(n // 2, n // 2) if k == axis else (0, 0) for k in range(v.ndim)], mode,
                  **({'constant_values': outside} if mode == 'constant' else {}))
    return [np.take(wide, range(i, i + v.shape[axis]), axis) for i in range(n)]


def along(v, weights, axis, mode, outside):
    """A weighted sum along one axis."""
    return sum(p * w for p, w in zip(taps(v, len(weights), axis, mode, outside), weights))


def blend(v, weights, axis, mode, outside):
    """The same by parts, which is NaN where an infinite pixel is not at an end of the window."""
    middle, near = len(weights) // 2, taps(v, len(weights), axis, mode, outside)
    total = near[middle] * sum(weights)
    for k in range(1, len(weights)):
        total = total + (near[k] - near[k - 1]) * (sum(weights[k:]) if k > middle else -sum(weights[:k]))
    return total


def gaussian(v, sigma, mode='edge', outside=7):
    for axis, s in reversed(list(enumerate(np.broadcast_to(sigma, v.ndim)))):
        if s > 0:
            i = np.arange(-int(4 * s + 0.5), int(4 * s + 0.5) + 1)
            w = np.exp(-0.5 * i * i / s**2)
            v = blend(v, w / w.sum(), axis, mode, outside)
    return v


def same(a, b, tolerance=1e-9):
    assert np.allclose(a, b, tolerance, tolerance, equal_nan=True), (a, b)
    return a


# scikit-image 0.20 has another hessian, which it takes for its ridges; ours is the one that it had before and still has.
DERIVATIVES = 'use_gaussian_derivatives' in inspect.signature(feature.hessian_matrix).parameters


def hessian(v, sigma):
    choice = {'use_gaussian_derivatives': False} if DERIVATIVES else {}
    return feature.hessian_matrix(v, sigma, mode='reflect', order='rc', **choice)


def kappa_sigma(v, kappa):
    kept = v.ravel()
    while True:
        middle, spread = np.median(kept), kept.std()
        inside = kept[(kept > middle - kappa * spread) & (kept < middle + kappa * spread)]
        if inside.size == kept.size or inside.size == 0:
            return kept
        kept = inside


def clipped(v, kappa, axis, rounds=5):
    """What stays when values along an axis are clipped around their median (astropy's sigma_clip)."""
    kept = np.isfinite(v)
    for _ in range(rounds):
        w = np.ma.masked_array(v.astype(float), ~kept)
        middle, far = np.ma.median(w, axis, keepdims=True), kappa * w.std(axis, keepdims=True)
        kept &= ((w >= middle - far) & (w <= middle + far)).filled(False)
    return kept


def of_kept(fold, v, kept, axis):
    """A fold of masked arrays, with NaN where nothing stays."""
    return np.ma.filled(fold(np.ma.masked_array(v.astype(float), ~kept), axis), np.nan)


def numbered(mask):
    """Every pixel that is true with a number of its own."""
    out = np.zeros(mask.shape)
    out[mask] = np.arange(1, mask.sum() + 1)
    return out


def peaks(i, d, least=None, share=None, border=None):
    """peak_local_max with equal pixels taken in raster order; scikit-image's where that does not matter."""
    v = i.array
    low, high = np.nanmin(v), np.nanmax(v)
    top = windows(i.float, box(i.ndim, d)).max(0)
    threshold = low if least is None else least
    threshold = threshold if share is None else max(threshold, share * high)
    edge = d if border is None else border
    inner = np.zeros(v.shape, bool)
    inner[tuple(slice(edge, max(n - edge, 0)) for n in v.shape)] = True
    candidates = (i.float == top) & (v > threshold) & inner & (low < high or v.size == 1)
    kept = []
    for at in np.argwhere(candidates):
        if all(np.abs(at - k).max() >= d for k in kept):
            kept.append(at)
    out = np.zeros(v.shape, bool)
    out[tuple(np.reshape(kept, (-1, v.ndim)).astype(int).T)] = True
    theirs = np.zeros(v.shape, bool)
    if i not in FINITE:
        return out
    if least is None and share is None:
        v = v - low  # 0.19 has zeros outside of the image
    theirs[tuple(feature.peak_local_max(v, d, least, share, True if border is None else border).T)] = True
    assert (theirs == out).all() or len(kept) < candidates.sum() and not (theirs & ~candidates).any()
    return out


# ---- weighted sums --------------------------------------------------------------------------

for i in IMAGES:
    v = i.float
    case('gaussian', i, 'output a = gaussian(image, 0.8)', gaussian(v, 0.8))
    if i in FINITE:
        same(gaussian(v, 0.8), ndi.gaussian_filter(v, 0.8, mode='nearest'))
        case('difference_of_gaussians', i, 'output a = difference_of_gaussians(image, 0.7)',
             same(gaussian(v, 0.7) - gaussian(v, 0.7 * 1.6), filters.difference_of_gaussians(v, 0.7)),
             1e-3 + 1e-6 * np.abs(v).max())
        case('subtract_gaussian_background', i, 'output a = subtract_gaussian_background(image, 1)',
             v - gaussian(v, 1), 1e-3)
        case('divide_by_gaussian_background', i, 'output a = divide_by_gaussian_background(image + 100, 1)',
             (v + 100) / gaussian(v + 100, 1))
        blurred = gaussian(v, 0.8, 'symmetric')
        sharp = v + 2 * (v - blurred)
        if v.shape != (2, 2, 3):  # taken for a colour picture
            same(sharp, filters.unsharp_mask(v, 0.8, 2, preserve_range=True), 1e-6)
        case('unsharp', i, 'output a = unsharp(image, 0.8, 2)', sharp, 1e-3)
        case('laplacian_of_gaussian', i, 'output a = laplacian_of_gaussian(image, 1)',
             ndi.gaussian_laplace(v, 1, mode='nearest'), 1e-2)
    case('mean_filter', i, 'output a = mean_filter(image, 1)', windows(v, box(v.ndim)).mean(0))
    case('mean_filter', i, 'output a = mean_filter(image, ball(2))', windows(v, ball(v.ndim)).mean(0))
    case('sum_filter', i, 'output a = sum_filter(image, diamond(2))', windows(v, diamond(v.ndim)).sum(0))
    if i in FINITE:
        case('variance_filter', i, 'output a = variance_filter(image, 1)', windows(v, box(v.ndim)).var(0), 1e-6)
        case('std_filter', i, 'output a = std_filter(image, ball(2))', windows(v, ball(v.ndim)).std(0), 1e-5)
        case('laplace', i, 'output a = laplace(image)', ndi.laplace(v), 1e-4)
        case('sobel', i, 'output a = sobel(image)', filters.sobel(v), 1e-4)
        case('prewitt', i, 'output a = prewitt(image)', filters.prewitt(v), 1e-4)
        case('scharr', i, 'output a = scharr(image)', filters.scharr(v), 1e-4)
    k = np.arange(1, 3**v.ndim + 1).reshape((3,) * v.ndim)
    literal = re.sub(r'\s', '', str(k.tolist()))
    turned = k[(slice(None, None, -1),) * v.ndim]
    want = (windows(v, box(v.ndim), 'constant', 0) * turned.ravel()[(slice(None),) + (None,) * v.ndim]).sum(0)
    case('convolve', i, f'output a = convolve(image, {literal})', want)
    want = (windows(v, box(v.ndim)) * k.ravel()[(slice(None),) + (None,) * v.ndim]).sum(0)
    case('correlate', i, f'output a = correlate(image, {literal})', want)
    if i in FINITE:
        same(want, ndi.correlate(v, k, mode='nearest'))
        case('convolve_full', i, f'output a = convolve(image, {literal}, mode = full)',
             signal.convolve(v, k, method='direct'))
        line = [1, -2, 4, 0, 3]
        flipped = np.array(line).reshape((1,) * (v.ndim - 1) + (5,))
        case('convolve', i, f'output a = convolve(image, {line})', ndi.convolve(v, flipped, mode='constant'))
        case('convolve_full', i, f'output a = convolve(image, {line}, mode = full)',
             signal.convolve(v, flipped, method='direct'))
        case('correlate', i, f'output a = correlate(image, {line}, border = reflect)',
             ndi.correlate(v, flipped, mode='reflect'))
for i in HIGH:
    v, n = i.float, i.ndim
    case('variance_filter', i, 'output a = variance_filter(image, 1)', windows(v, box(n)).var(0), 1e-6)
    case('variance_filter', i, 'output a = variance_filter(image, ball(2), border = reflect)',
         windows(v, ball(n), 'symmetric').var(0), 1e-6)
    case('std_filter', i, 'output a = std_filter(image, 2)', windows(v, box(n, 2)).std(0), 1e-6)
    w = windows(v, box(n, 2), 'reflect')
    mean, std = w.mean(0), w.std(0)
    case('niblack', i, 'output a = niblack(image, 2, 100)', mean - 100 * std, 1e-6)
    case('sauvola', i, 'output a = sauvola(image, 2, 100, 2)', mean * (1 + 100 * (std / 2 - 1)), 1e-4)
    for f in ('var', 'std'):
        case(f, i, f'n = ramp(x = 1)\noutput a = f32(n) + {f}(image)', [getattr(np, f)(v)], 1e-6)
    k = kappa_sigma(v, 1.5)
    case('kappa_sigma', i, 'n = ramp(x = 1)\noutput a = f32(n) + kappa_sigma(image, 1.5).std', [k.std()], 1e-6)
    case('std_project', i, 'output a = std_project(image, x)', v.std(-1), 1e-3)
for i, (border, mode) in itertools.product(BORDERED, BORDERS.items()):
    v, s = i.float, SCIPY[mode]
    case('gaussian', i, f'output a = gaussian(image, {[0, 1.2, 0.7][-v.ndim:]}, border = {border})',
         same(gaussian(v, [0, 1.2, 0.7][-v.ndim:], mode),
              ndi.gaussian_filter(v, [0, 1.2, 0.7][-v.ndim:], mode=s, cval=7)), 1e-4)
    b = f'border = {border}'
    case('difference_of_gaussians', i, f'output a = difference_of_gaussians(image, 0.7, 1, {b})',
         gaussian(v, 0.7, mode) - gaussian(v, 1, mode), 1e-4)
    case('mean_filter', i, f'output a = mean_filter(image, 2, {b})',
         same(windows(v, box(v.ndim, 2), mode).mean(0), ndi.uniform_filter(v, 5, mode=s, cval=7)), 1e-4)
    case('sum_filter', i, f'output a = sum_filter(image, ball(2), {b})', windows(v, ball(v.ndim), mode).sum(0), 1e-4)
    case('variance_filter', i, f'output a = variance_filter(image, 1, {b})',
         windows(v, box(v.ndim), mode).var(0), 1e-6)
    for text, footprint in footprints(v.ndim):
        w = windows(v, footprint, mode)
        n = len(w)
        same(w.min(0), ndi.minimum_filter(v, footprint=footprint, mode=s, cval=7))
        case('min_filter', i, f'output a = min_filter(image, {text}, {b})', w.min(0), 0)
        case('max_filter', i, f'output a = max_filter(image, {text}, {b})', w.max(0), 0)
        case('median_filter', i, f'output a = median_filter(image, {text}, {b})',
             same(np.sort(w, 0)[n // 2], ndi.median_filter(v, footprint=footprint, mode=s, cval=7)), 0)
        case('percentile_filter', i, f'output a = percentile_filter(image, 70, {text}, {b})',
             np.sort(w, 0)[int(n * 0.7)], 0)
    case('laplace', i, f'output a = laplace(image, {b})', ndi.laplace(v, mode=s, cval=7), 1e-4)
    if mode != 'constant':  # scikit-image 0.19 forgets cval
        case('sobel', i, f'output a = sobel(image, {b})', filters.sobel(v, mode=s), 1e-4)
    k = np.arange(1, 3**v.ndim + 1).reshape((3,) * v.ndim)
    literal = re.sub(r'\s', '', str(k.tolist()))
    case('convolve', i, f'output a = convolve(image, {literal}, {b})', ndi.convolve(v, k, mode=s, cval=7))
    case('correlate', i, f'output a = correlate(image, {literal}, {b})', ndi.correlate(v, k, mode=s, cval=7))
    text = 'fn k(i, j) = i + 2 * j + 1' if v.ndim == 2 else 'fn k(i, j, k) = i + 2 * j + 3 * k + 1'
    at = np.indices((3,) * v.ndim) - 1
    k = 1 + sum((n + 1) * at[v.ndim - 1 - n] for n in range(v.ndim))
    case('convolve', i, f'{text}\noutput a = convolve(image, k, radius = 1, {b})', ndi.convolve(v, k, mode=s, cval=7), 1e-4)
    case('correlate', i, f'{text}\noutput a = correlate(image, k, 1, {b})', ndi.correlate(v, k, mode=s, cval=7), 1e-4)
    case('pad', i, f'output a = pad(image, 2, {border})', padded(v, 2, mode), 0)


# ---- the most frequent neighbour, derivatives, curvature, even kernels ------------------------


def most_frequent(w):
    """The value that occurs most often among the first axis; the smallest of several."""
    counts = (w[:, None] == w[None]).sum(1)
    return np.where(counts == counts.max(0), w, np.inf).min(0)


for i in FINITE:
    v, n = i.float, i.ndim
    step = files.level(24, i.kind) - files.level(0, i.kind)
    coarse = np.floor(v / step)
    for text, footprint in footprints(n):
        case('mode_filter', i, f'output a = mode_filter(floor(image / {step}), {text})',
             most_frequent(windows(coarse, footprint)), 0)
    case('mode_filter', i, f'output a = mode_filter(floor(image / {step}), 1, border = reflect)',
         most_frequent(windows(coarse, box(n), 'symmetric')), 0)
    near = 2e-5 * max(1.0, np.abs(v).max())
    for order in itertools.product((0, 1, 2), repeat=n):
        if sum(order) < 3:
            case('gaussian_derivative', i, f'output a = gaussian_derivative(image, 0.9, {list(order)})',
                 ndi.gaussian_filter(v, 0.9, order, mode='nearest'), near)
    case('gradient_magnitude', i, 'output a = gradient_magnitude(image, 1.2)',
         ndi.gaussian_gradient_magnitude(v, 1.2, mode='nearest'), near)
    if min(v.shape) > 1:
        for sigma in (0, 1.2) if v.shape != (2, 2, 3) else ():  # taken for a colour picture
            h = [e * 1.0 for e in hessian(v, sigma)]
            e = feature.hessian_matrix_eigvals(h)
            for k, which in ((0, 'largest'), (1, 'middle'), (-1, 'least')):
                case('hessian_eigenvalue', i, f'output a = hessian_eigenvalue(image, {sigma}, {which})',
                     e[0 if n == 2 and which == 'middle' else k], 5e-5 * max(1.0, np.abs(v).max()))
        for ridges, sign in (('bright', -1), ('dark', 1)) if v.shape != (2, 2, 3) else ():
            h = hessian(sign * v, 1.2)
            e = np.maximum(feature.hessian_matrix_eigvals(h), 0)
            want = 1.44 * (e[0] if n == 2 else np.sqrt(e[0] * e[1]))
            if n == 2 and not DERIVATIVES:
                same(want, filters.sato(v, [1.2], black_ridges=ridges == 'dark', mode='reflect'))
            case('sato', i, f'output a = sato(image, 1.2, {ridges})', want,
                 (5e-5 if n == 2 else 1e-3) * max(1.0, np.abs(v).max()))
    for shape in ((2, 2), (3, 4), (2, 1)) if n == 2 else ((2, 2, 2), (1, 2, 3)):
        k = np.arange(1, np.prod(shape) + 1).reshape(shape) ** 2 % 11
        literal = re.sub(r'\s', '', str(k.tolist()))
        case('convolve_full', i, f'output a = convolve(image, {literal}, mode = full)',
             signal.convolve(v, k, method='direct'))
        case('convolve', i, f'output a = convolve(image, {literal}, border = reflect)',
             ndi.convolve(v, k, mode='reflect'))
        case('correlate', i, f'output a = correlate(image, {literal})', ndi.correlate(v, k, mode='nearest'))
for i, (border, mode) in itertools.product(BORDERED, BORDERS.items()):
    v, n, s = i.float, i.ndim, SCIPY[mode]
    order = [1] + [0] * (n - 2) + [1]
    case('gaussian_derivative', i, f'output a = gaussian_derivative(image, 1.1, {order}, border = {border})',
         ndi.gaussian_filter(padded(v, 5, mode), 1.1, order)[(slice(5, -5),) * n], 1e-4)
    case('mode_filter', i, f'output a = mode_filter(floor(image / 4), 1, border = {border})',
         most_frequent(windows(np.floor(v / 4), box(n), mode)), 0) if mode != 'constant' else None
    case('correlate', i, f'output a = correlate(image, [1, 2, 3, 5], border = {border})',
         ndi.correlate1d(v, [1, 2, 3, 5], mode=s, cval=7), 1e-4)
    case('convolve', i, f'output a = convolve(image, [1, 2, 3, 5], border = {border})',
         ndi.convolve1d(v, [1, 2, 3, 5], mode=s, cval=7), 1e-4)

# ---- arithmetic -----------------------------------------------------------------------------

UNARY = {name: getattr(np, {'asin': 'arcsin', 'acos': 'arccos', 'atan': 'arctan', 'round': 'rint',
                              'asinh': 'arcsinh'}.get(name, name))
         for name in ('abs sqrt cbrt exp exp2 log log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh log1p floor ceil '
                      'round trunc sign isnan isfinite').split()}
for i in IMAGES:
    v = (i.array / np.float32(64)).astype(np.float32)
    for name, f in UNARY.items():
        case(name, i, f'output a = {name}(image / 64)', f(v), 1e-6)
    w = v - np.float32(1)
    case('atan2', i, 'output a = atan2(image / 64, image / 64 - 1)', np.arctan2(v, w), 1e-6)
    case('hypot', i, 'output a = hypot(image / 64, image / 64 - 1)', np.sqrt(v * v + w * w), 1e-6)
    case('clip', i, 'output a = clip(image / 64, -0.25, 1.5)', np.clip(v, np.float32(-0.25), np.float32(1.5)), 1e-6)
    case('nan_to_num', i, 'output a = nan_to_num(image, 3)', np.where(np.isnan(i.float), 3, i.float), 0)
    for name in ('u8', 'u16', 'i16', 'u32', 'i32'):
        kind = np.iinfo({'u': 'uint', 'i': 'int'}[name[0]] + name[1:])
        whole = np.where(np.isnan(v), 0, np.clip(np.rint(v.astype(float) * 8192), kind.min, kind.max))
        case(name, i, f'output a = f32({name}(image / 64 * 8192))', whole.astype(np.float32))

# ---- lengths and areas by the size of pixels ------------------------------------------------

for i in FINITE:
    v, n = i.float, i.ndim
    pixel = np.array([1.25, 0.5, 0.5])[-n:]
    case('gaussian', i, 'output a = gaussian(image, 0.6 um)', gaussian(v, 0.6 / pixel))
    case('gaussian', i, 'output a = gaussian(image, 0.0009 mm, border = reflect)', gaussian(v, 0.9 / pixel, 'symmetric'))
    case('max_filter_length', i, 'output a = max_filter(image, 0.5 um)',
         ndi.maximum_filter(v, [1, 3, 3][-n:], mode='nearest'), 0)
    case('translate', i, 'output a = translate(image, 750 nm, border = nearest)',
         ndi.shift(v, (0,) * (n - 1) + (1.5,), order=1, mode='nearest'), 1e-4)
    if n == 2:
        t = files.level(70, i.kind)
        case('erode', i, f'output a = erode(image > {t}, disk(1 um))',
             morphology.binary_erosion(v > t, morphology.disk(2)), 0)
        case('remove_small_objects', i, f'output a = remove_small_objects(image > {t}, 0.75 um2)',
             morphology.remove_small_objects(v > t, 3), 0)

# ---- ranks and shapes -----------------------------------------------------------------------

for i in IMAGES:
    v = i.float
    for text, footprint in footprints(v.ndim):
        w = windows(v, footprint)
        n = len(w)
        case('min_filter', i, f'output a = min_filter(image, {text})', w.min(0), 0)
        case('max_filter', i, f'output a = max_filter(image, {text})', w.max(0), 0)
        case('median_filter', i, f'output a = median_filter(image, {text})', np.sort(w, 0)[n // 2], 0)
        case('percentile_filter', i, f'output a = percentile_filter(image, 35, {text})', np.sort(w, 0)[int(n * 0.35)], 0)
    for text, footprint in (('4', box(v.ndim, 4)), ('ball(5)', ball(v.ndim, 5))):
        w = windows(v, footprint)
        case('median_filter', i, f'output a = median_filter(image, {text})', np.sort(w, 0)[len(w) // 2], 0)
        case('percentile_filter', i, f'output a = percentile_filter(image, 12.5, {text})',
             np.sort(w, 0)[int(len(w) * 0.125)], 0)
for i, (border, mode) in itertools.product(BORDERED, BORDERS.items()):
    w = windows(i.float, box(i.ndim, 5), mode)
    case('median_filter', i, f'output a = median_filter(image, 5, border = {border})', np.sort(w, 0)[len(w) // 2], 0)

INF = float('inf')
for i in IMAGES:
    v, t = i.float, files.level(70, i.kind)
    mask = v > t
    M = f'mask = image > {t}\n'
    for text, footprint in footprints(v.ndim):
        mirrored = footprint[(slice(None, None, -1),) * v.ndim]

        def eroded(x, ignored=INF):
            return windows(x, footprint, 'constant', ignored).min(0)

        def dilated(x, ignored=-INF):
            return windows(x, mirrored, 'constant', ignored).max(0)

        mask_e, mask_d = eroded(mask, True), dilated(mask, False)
        same(mask_e, ndi.binary_erosion(mask, footprint, border_value=1))
        same(mask_d, ndi.binary_dilation(mask, footprint))
        same(mask_e, morphology.binary_erosion(mask, footprint))
        case('erode', i, M + f'output a = erode(mask, {text})', mask_e, 0)
        case('dilate', i, M + f'output a = dilate(mask, {text})', mask_d, 0)
        case('opening', i, M + f'output a = opening(mask, {text})', dilated(mask_e, False), 0)
        case('closing', i, M + f'output a = closing(mask, {text})', eroded(mask_d, True), 0)
        case('erode', i, M + f'output a = erode(mask, {text}, border = constant(0))',
             ndi.binary_erosion(mask, footprint), 0)
        if i in FINITE:
            e, d = eroded(v), dilated(v)
            case('erode', i, f'output a = erode(image, {text})', e, 0)
            case('dilate', i, f'output a = dilate(image, {text})', d, 0)
            case('opening', i, f'output a = opening(image, {text})', dilated(e), 0)
            case('closing', i, f'output a = closing(image, {text})', eroded(d), 0)
            case('tophat', i, f'output a = tophat(image, {text})', v - dilated(e), 1e-6)
            case('bottomhat', i, f'output a = bottomhat(image, {text})', eroded(d) - v, 1e-6)
            case('morphological_gradient', i, f'output a = morphological_gradient(image, {text})', d - e, 1e-6)
            if text == 'ball(2)' or text == '1':
                same(dilated(e), morphology.opening(v, footprint))
                same(v - dilated(e), morphology.white_tophat(v, footprint))
                same(v - dilated(e), ndi.white_tophat(v, footprint=footprint))
                same(eroded(d) - v, morphology.black_tophat(v, footprint))
    case('fill_holes', i, M + 'output a = fill_holes(mask)', ndi.binary_fill_holes(mask), 0)
    case('remove_small_objects', i, M + 'output a = remove_small_objects(mask, 3)',
         morphology.remove_small_objects(mask, 3), 0)
    case('remove_small_holes', i, M + 'output a = remove_small_holes(mask, 4)',
         morphology.remove_small_holes(mask, 4), 0)
    want = ndi.distance_transform_edt(mask) if not mask.all() else np.full(v.shape, INF)
    case('distance', i, M + 'output a = distance(mask)', want)
    spacing = [2.5, 1, 0.5][-v.ndim:]
    want = ndi.distance_transform_edt(mask, sampling=spacing) if not mask.all() else np.full(v.shape, INF)
    case('distance', i, M + f'output a = distance(mask, {spacing})', want)
    if i not in FINITE:
        for d in (1, 2):
            case('peak_local_max', i, f'output a = peak_local_max(image, {d}, exclude_border = 0)', peaks(i, d, border=0), 0)
    if i in FINITE:
        for c in range(1, v.ndim + 1):
            n = {1: 2 * v.ndim, v.ndim: 3**v.ndim - 1}.get(c, 18)
            case('local_maxima', i, f'output a = local_maxima(image, {n})', morphology.local_maxima(v, connectivity=c), 0)
            case('local_minima', i, f'output a = local_minima(image, {n})', morphology.local_minima(v, connectivity=c), 0)
        around = box(v.ndim)
        around[(1,) * v.ndim] = False
        case('detect_maxima', i, 'output a = detect_maxima(image)', v > windows(v, around, 'constant', -INF).max(0), 0)
        case('detect_minima', i, 'output a = detect_minima(image)', v < windows(v, around, 'constant', INF).min(0), 0)
        case('label_spots', i, M + 'output a = label_spots(mask)', numbered(mask), 0)
        for d in (1, 2, 3):
            case('peak_local_max', i, f'output a = peak_local_max(image, {d})', peaks(i, d), 0)
            case('peak_local_max', i, f'output a = peak_local_max(image, {d}, exclude_border = 0)', peaks(i, d, border=0), 0)
        low = files.level(70, i.kind)
        case('peak_local_max', i, f'output a = peak_local_max(image, 1, {low}, 0.8, 1)', peaks(i, 1, low, 0.8, 1), 0)
        lo, hi = files.level(60, i.kind), files.level(100, i.kind)
        case('hysteresis', i, f'output a = hysteresis(image, {lo}, {hi})',
             filters.apply_hysteresis_threshold(v, lo, hi), 0)
        d = files.level(20, i.kind) - files.level(0, i.kind)
        full = box(v.ndim)
        if min(v.shape) > 1:
            r = morphology.reconstruction(v - d, v, footprint=full)
            case('reconstruct', i, f'output a = reconstruct(image - {d}, image)', r)
            case('h_maxima', i, f'output a = h_maxima(image, {d})', morphology.h_maxima(v, d), 0)
            case('reconstruct', i, f'output a = reconstruct(image + {d}, image, method = erosion)',
                 morphology.reconstruction(v + d, v, method='erosion', footprint=full))

# ---- whole-image values ---------------------------------------------------------------------

V = 'n = ramp(x = 1)\noutput a = f32(n) + '
THRESHOLDS = (('otsu', filters.threshold_otsu), ('yen', filters.threshold_yen), ('li', filters.threshold_li),
              ('triangle', filters.threshold_triangle), ('isodata', filters.threshold_isodata),
              ('mean', filters.threshold_mean), ('minimum_threshold', filters.threshold_minimum))
for i in IMAGES:
    v, t = i.float, files.level(70, i.kind)
    finite = v[np.isfinite(v)]
    known = v[~np.isnan(v)]
    case('count', i, V + 'count(image where not isnan(image))', [known.size], 0)
    case('min', i, V + 'min(image)', [known.min()], 0)
    case('max', i, V + 'max(image)', [known.max()], 0)
    for where, some in (('', finite if i in FINITE else None), ('isfinite(image)', finite),
                        (f'image > {t} and isfinite(image)', finite[finite > t])):
        if some is None:
            continue
        w = f'image where {where}' if where else 'image'
        case('sum', i, V + f'sum({w})', [some.sum()])
        case('count', i, V + f'count(image where {where})' if where else V + 'count(image > -inf)', [some.size], 0)
        case('min', i, V + f'min({w})', [some.min() if some.size else INF], 0)
        case('max', i, V + f'max({w})', [some.max() if some.size else -INF], 0)
        for name, f in (('mean', np.mean), ('var', np.var), ('std', np.std), ('median', np.median)):
            case(name, i, V + f'{name}({w})', [f(some) if some.size else np.nan])
        for q in (0, 37.5, 100):
            case('percentile', i, V + f'percentile({w}, {q})', [np.percentile(some, q) if some.size else np.nan])
    mask = v > t
    case('any', i, f'mask = image > {t}\n' + V + '(1 if any(mask) else 0)', [mask.any()], 0)
    case('all', i, f'mask = image > {t}\n' + V + '(1 if all(mask) else 0)', [mask.all()], 0)
    for name, f in THRESHOLDS:
        known = i.array if i in FINITE else i.array[np.isfinite(i.array)]
        w = 'image' if i in FINITE else 'image where isfinite(image)'
        try:
            case(name, i, V + f'{name}({w})', [f(known)])
        except Exception as e:  # scikit-image has no answer
            print(name, i.shape, e)
    if i.kind == 'u8' and i.shape == PLAIN[2] and i.pattern == 'plain':
        a = i.array.astype(np.int64)  # what stays whole is counted one by one
        beside = np.pad(a, ((0, 0), (0, 1)), 'edge')[:, 1:]
        for text, w in (('max_filter(image, 1) - image', ndi.maximum_filter(a, 3, mode='nearest') - a),
                        ('tophat(image, 1, border = nearest)',
                         a - ndi.maximum_filter(ndi.minimum_filter(a, 3, mode='nearest'), 3, mode='nearest')),
                        ('abs(image - image[dx = 1])', np.abs(a - beside)), ('2 * image + 3', 2 * a + 3),
                        ('median_filter(image, 1)', ndi.median_filter(a, 3, mode='nearest')),
                        (f'image if image > {int(t)} else {int(t)}', np.maximum(a, int(t))),
                        ('sum(image[dx = k] for k in 0 .. 1)', a + beside), ('image * image[dx = 1]', a * beside)):
            for name, f in THRESHOLDS:
                try:
                    case(name + '_of_whole', i, f'w = {text}\n' + V + f'{name}(w)', [f(w)])
                except Exception as e:
                    print(name, text, e)


for i in IMAGES:
    v = i.float[np.isfinite(i.float)]
    kept = kappa_sigma(v, 1.5)
    for name, f in (('mean', np.mean), ('median', np.median), ('std', np.std), ('min', np.min), ('max', np.max),
                    ('count', np.size)):
        if v.std() > 0 and i in FINITE:
            case('kappa_sigma', i, f's = kappa_sigma(image, 1.5)\n' + V + f's.{name}', [f(kept)])
    if i in FINITE and v.std() > 0:
        lo, hi = np.percentile(v, 10), np.percentile(v, 80)
        case('normalize', i, 'output a = normalize(image, 10, 80)', np.clip((i.float - lo) / (hi - lo), 0, 1))
    elif i in FINITE:
        case('normalize', i, 'output a = normalize(image, 10, 80)', exposure.rescale_intensity(i.float, out_range=(0., 1.)))
    if i.ndim == 2 and i in FINITE and min(v.shape) > 1:
        case('niblack', i, 'output a = niblack(image, 1, 0.3)', filters.threshold_niblack(i.float, 3, 0.3), 1e-2)
for i in IMAGES:
    known = i.array[np.isfinite(i.array)]
    whole = np.histogram(known, 8) if known.min() < known.max() else (np.r_[[0] * 4, known.size, [0] * 3], None)
    where = '' if i in FINITE else ' where isfinite(image)'
    case('histogram', i, f'output a = histogram(image{where}, 8)', whole[0], 0)
    lo, hi = files.level(20, i.kind), files.level(90, i.kind)
    case('histogram', i, f'output a = histogram(image, 5, {lo}, {hi})', np.histogram(known, 5, (lo, hi))[0], 0)

# ---- labels ---------------------------------------------------------------------------------


def renumber(labels):
    return segmentation.relabel_sequential(labels)[0]


def painted(labels, values):
    """values[k - 1] where the label is k."""
    return np.where(labels > 0, np.r_[0, values][labels], 0)


def places_of(parts, size):
    """Centroids as they are kept, in f32, times the sizes of pixels."""
    n = parts.max()
    return np.float32(ndi.center_of_mass(parts > 0, parts, range(1, n + 1))).reshape(n, parts.ndim).astype(float) * size


def near_labels(parts, n, limit, size):
    """For each label those near it by scipy.spatial.cKDTree: the nearest first, of equal ones the smaller label;
    n below 0: the farthest."""
    at = places_of(parts, size)
    near = []
    tree = spatial.cKDTree(at) if len(at) else None
    for k, place in enumerate(at):
        way, other = np.atleast_1d(*tree.query(place, len(at), distance_upper_bound=np.inf))
        found = [(round(-w if (n or 0) < 0 else w, 12), q + 1) for w, q in zip(way, other)
                 if q != k and (limit is None or w <= limit)]
        near.append([q for _, q in sorted(found)][:abs(n) if n else None])
    return near


def neighbours(i, parts, pipe, areas, near, given, size=None, every=False):
    """What is folded over the labels in `near`, one list for each label; some of the folds, or every one."""
    def folded(f):
        return painted(parts, [f(k, some) if some else 0 for k, some in enumerate(near)])
    at = places_of(parts, np.ones(parts.ndim) if size is None else size)
    folds = {'mean': np.mean, 'sum': np.sum, 'min': min, 'max': max, 'std': np.std,
             'median': lambda b: sorted(b)[len(b) // 2], 'mode': lambda b: np.bincount(b).argmax()}
    case('neighbour_count', i, pipe + f'output a = neighbour_count(parts{given})', folded(lambda k, some: len(some)), 0)
    for name, f in folds.items() if every else [('median', folds['median'])]:
        case('neighbour_value', i, pipe + f'output a = neighbour_value(parts, label_count(parts), {name}{given})',
             folded(lambda k, some: f(areas[some])), 1e-5 if name in ('mean', 'std') else 0)
    for name in ('mean', 'sum', 'min', 'max') if every else ['mean']:
        case('neighbour_distance', i, pipe + f'output a = neighbour_distance(parts, {name}{given})',
             folded(lambda k, some: folds[name]([np.linalg.norm(at[k] - at[q - 1]) for q in some])), 1e-5)


def within(labels, mask):
    """The nearest label for each pixel of a mask; parts of it that hold none stay 0."""
    if labels.max() == 0:
        return labels
    nearest = ndi.distance_transform_edt(labels == 0, return_distances=False, return_indices=True)
    parts = measure.label(mask)
    seeded = np.isin(parts, parts[labels > 0]) & mask
    return renumber(np.where(seeded, labels[tuple(nearest)], 0))


COUNTS = {2: {1: 4, 2: 8}, 3: {1: 6, 2: 18, 3: 26}}
for i in IMAGES:
    v, t = i.float, files.level(95, i.kind)
    n, mask = v.ndim, v > t
    M = f'mask = image > {t}\n'
    for c, k in COUNTS[n].items():
        case('label', i, M + f'output a = label(mask, connectivity = {k})',
             ndi.label(mask, ndi.generate_binary_structure(n, c))[0], 0)
    labels = ndi.label(mask, np.ones((3,) * n))[0]
    same(labels, measure.label(mask))
    L = M + 'labels = label(mask)\n'
    count, ids = labels.max(), np.arange(1, labels.max() + 1)
    case('count', i, L + V + 'count(labels)', [count], 0)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    case('remove_small_objects', i, L + 'output a = remove_small_objects(labels, 3)',
         renumber(np.where(sizes[labels] >= 3, labels, 0)), 0)
    case('remove_large_objects', i, L + 'output a = remove_large_objects(labels, 3)',
         renumber(np.where(sizes[labels] <= 3, labels, 0)), 0)
    case('filter_by_size', i, L + 'output a = filter_by_size(labels, 2, 4)',
         renumber(np.where((sizes[labels] >= 2) & (sizes[labels] <= 4), labels, 0)), 0)
    case('clear_border', i, L + 'output a = clear_border(labels)', renumber(segmentation.clear_border(labels)), 0)
    case('clear_border', i, M + 'output a = clear_border(mask)', segmentation.clear_border(labels) > 0, 0)
    for buffer, axes in itertools.product((0, 1), itertools.product((False, True), repeat=n)):
        edge = np.zeros(v.shape, bool)
        for axis in np.flatnonzero(axes):
            ends = np.moveaxis(edge, axis, 0)
            ends[:buffer + 1] = ends[max(v.shape[axis] - buffer - 1, 0):] = True
        text = ', '.join(f'{a} = {str(k).lower()}' for a, k in zip('zyx'[-n:], axes))
        case('clear_border', i, L + f'output a = clear_border(labels, {buffer}, {text})',
             renumber(np.where(np.isin(labels, labels[edge]), 0, labels)), 0)
    case('expand_labels', i, L + 'output a = expand_labels(labels, 1.5)', segmentation.expand_labels(labels, 1.5), 0)
    if count > 0:
        nearest = ndi.distance_transform_edt(labels == 0, return_distances=False, return_indices=True)
        case('voronoi', i, L + 'output a = voronoi(labels)', labels[tuple(nearest)], 0)
    for mode in ('thick', 'inner', 'outer'):
        case('boundaries', i, L + f'output a = boundaries(labels, {mode})', segmentation.find_boundaries(labels.astype(np.int32), mode=mode), 0)
    sieve = (np.indices(v.shape).sum(0) % 3 == 0) & mask
    case('mask_labels', i, L + 'output a = mask_labels(labels, (x_of(labels) + y_of(labels) + z_of(labels)) % 3 == 0)',
         renumber(np.where(sieve, labels, 0)), 0)
    case('keep_labels', i, L + 'output a = keep_labels(labels, number(labels) % 2 == 0)',
         renumber(np.where(labels % 2 == 0, labels, 0)), 0)
    case('relabel', i, L + 'output a = relabel(keep_labels(labels, number(labels) % 2 == 0))',
         renumber(np.where(labels % 2 == 0, labels, 0)), 0)
    if i in FINITE and count > 0:
        high = ndi.maximum(v, labels, ids) > files.level(110, i.kind)
        case('keep_labels', i, L + f'output a = keep_labels(labels, property(labels, image, max)[labels] > '
             f'{files.level(110, i.kind)})', renumber(np.where(np.r_[False, high][labels], labels, 0)), 0)
        for name, f in (('label_sum', ndi.sum_labels), ('label_min', ndi.minimum), ('label_max', ndi.maximum)):
            case(name, i, L + f'output a = {name}(labels, image)[labels] if labels > 0 else 0',
                 painted(labels, f(v, labels, ids)))
        case('label_count', i, L + 'output a = label_count(labels)[labels] if labels > 0 else 0',
             painted(labels, sizes[1:]), 0)
    if i in FINITE:
        step = files.level(50, i.kind) - files.level(0, i.kind)
        regions = np.floor(v / step).astype(int)
        case('label_equal', i, f'output a = label_equal(floor(image / {step}))', measure.label(regions, background=0), 0)
        low = files.level(45, i.kind)
        markers = ndi.label(v < low, np.ones((3,) * n))[0]
        W = f'markers = label(image < {low})\n'
        for c, k in COUNTS[n].items():
            case('watershed', i, W + f'output a = watershed(image, markers, connectivity = {k})',
                 files.watershed(v, markers, connectivity=c), 0)
        case('watershed', i, W + f'output a = watershed(image, markers, image < {t}, line = true)',
             files.watershed(v, markers, mask=v < t, watershed_line=True), 0)
        thing = v > files.level(50, i.kind)
        if not thing.all():
            d = ndi.distance_transform_edt(thing).astype(np.float32)
            peaks = ndi.label(morphology.local_maxima(d), np.ones((3,) * n))[0]
            want = files.watershed(-d, peaks, mask=thing)
            case('watershed_distance', i, f'mask = image > {files.level(50, i.kind)}\nd = distance(mask)\n'
                 'output a = watershed(-d, label(local_maxima(d)), mask)', want, 0)
            for tolerance in (0.5, 0.2):  # every object rises above what lies outside of it
                seeds = morphology.h_maxima(np.where(thing, d, -tolerance), tolerance) * thing
                case('split_objects', i, f'output a = split_objects(image > {files.level(50, i.kind)}, {tolerance})',
                     files.watershed(-d, measure.label(seeds), mask=thing), 0)
    at = np.indices(v.shape)
    centres = [ndi.mean(at[k], labels, ids) for k in range(n)]
    away = np.sqrt(sum((at[k] - painted(labels, centres[k])) ** 2 for k in range(n))) * (labels > 0)
    spots = np.zeros(v.shape)
    spots[tuple(np.floor(np.float32(centres)).astype(int))] = ids
    case('centroids', i, L + 'output a = centroids(labels)', spots, 0)
    spots = np.zeros(v.shape)
    for k, s in zip(ids, ndi.find_objects(labels)):
        spots[tuple(part.start for part in s)] = k
    case('points', i, L + 'output a = points(labels, ' + ', '.join(f'{a}_of(labels)' for a in 'xyz'[:n]) + ')', spots, 0)
    here = np.where(np.isfinite(v) & (at[-1] % 2 == 0), at[-1], -9)
    least = ndi.minimum(here, labels, ids)
    spots = np.zeros(v.shape)
    for k, s, x in zip(ids, ndi.find_objects(labels), least):
        if x >= 0:
            spots[tuple(part.start for part in s[:-1]) + (int(x),)] = k
    case('points', i, L + 'x = x_of(labels) if isfinite(image) and x_of(labels) % 2 == 0 else -9\n'
         'output a = points(labels, x' + ''.join(f', {a}_of(labels)' for a in 'yz'[:n - 1]) + ')', spots, 0)
    longest, usual = painted(labels, ndi.maximum(away, labels, ids)), painted(labels, ndi.mean(away, labels, ids))
    case('mean_extension', i, L + 'output a = mean_extension(labels)', usual)
    case('maximum_extension', i, L + 'output a = maximum_extension(labels)', longest)
    case('extension_ratio', i, L + 'output a = extension_ratio(labels)',
         np.where(usual > 1e-6, longest / np.maximum(usual, 1e-6), 0), 1e-4)
    other = ndi.label(v > files.level(110, i.kind), np.ones((3,) * n))[0]
    case('combine_labels', i, L + f'output a = combine_labels(labels, label(image > {files.level(110, i.kind)}))',
         renumber(np.where(other > 0, other + count, labels)), 0)
    if i in FINITE:
        some = np.floor(v / (files.level(30, i.kind) - files.level(0, i.kind))).astype(int)
        case('as_labels', i, f'output a = as_labels(floor(image / {files.level(30, i.kind) - files.level(0, i.kind)}))',
             renumber(np.maximum(some, 0)), 0)
    if n == 2 and min(v.shape) > 1:
        case('hull', i, L + 'output a = hull(labels)', morphology.convex_hull_object(mask, connectivity=2), 0)
    outline = gaussian(v, 1)
    if i in FINITE and i.pattern == 'plain':
        region = outline > filters.threshold_otsu(outline.astype(np.float32))
        case('gauss_otsu', i, 'output a = gauss_otsu(image, 1)', measure.label(region), 0)
        around = box(n)
        around[(1,) * n] = False
        spots = gaussian(v, 0.7)
        spots = (spots > windows(spots, around, 'constant', -INF).max(0)) & region
        case('voronoi_otsu', i, 'output a = voronoi_otsu(image, 0.7, 1)', within(measure.label(spots), region), 0)
        core = ndi.binary_erosion(region, box(n), border_value=1)
        case('eroded_otsu', i, 'output a = eroded_otsu(image, 1, 1)', within(measure.label(core), region), 0)
    if i in FINITE:
        peaks = measure.label(v > files.level(110, i.kind))
        case('masked_voronoi', i, f'peaks = label(image > {files.level(110, i.kind)})\n'
             f'output a = masked_voronoi(peaks, image > {files.level(70, i.kind)})', within(peaks, v > files.level(70, i.kind)), 0)
    if i in FINITE:
        step = files.level(70, i.kind) - files.level(0, i.kind)
        parts = measure.label(np.floor(v / step).astype(int), background=0, connectivity=1)
        pairs = set()
        for axis in range(n):
            a, b = np.moveaxis(parts, axis, 0)[1:].ravel(), np.moveaxis(parts, axis, 0)[:-1].ravel()
            pairs |= {(p, q) for p, q in zip(a, b) if p > 0 and q > 0 and p != q}
        pairs |= {(q, p) for p, q in pairs}
        areas = np.bincount(parts.ravel(), minlength=parts.max() + 1)
        P = f'parts = label_equal(floor(image / {step}), {2 * n})\n'
        beside = [[q for p, q in pairs if p == k] for k in range(1, parts.max() + 1)]
        neighbours(i, parts, P, areas, beside, '', every=True)
        for n_near, limit in ((3, None), (1000, None), (-2, None), (None, 4.2), (2, 4.2)):
            near = near_labels(parts, n_near, limit, np.ones(n))
            given = (f', n = {n_near}' if n_near else '') + (f', distance = {limit}' if limit else '')
            neighbours(i, parts, P, areas, near, given, every=n_near == 3)
        size = np.array([1.25, 0.5, 0.5])[-n:]
        neighbours(i, parts, P, areas, near_labels(parts, None, 2.5, size), ', distance = 2500 nm', size)
        neighbours(i, parts, P, areas, near_labels(parts, 4, None, size), f', n = 4, spacing = {size.tolist()}', size)
    blocks = (np.indices(v.shape) // 2).sum(0) % 4
    B = 'labels = label_equal((x_of(image) // 2 + y_of(image) // 2 + z_of(image) // 2) % 4, {})\n'.format(2 * n)
    touching = measure.label(blocks, background=0, connectivity=1)
    for mode in ('thick', 'inner', 'outer'):
        case('boundaries', i, B + f'output a = boundaries(labels, {mode})', segmentation.find_boundaries(touching.astype(np.int32), mode=mode), 0)
    case('clear_border', i, B + 'output a = clear_border(labels)', renumber(segmentation.clear_border(touching)), 0)

# ---- measures -------------------------------------------------------------------------------

BOTH = ['area', 'num_pixels', 'area_bbox', 'extent', 'equivalent_diameter_area', 'area_convex', 'solidity',
        'area_filled', 'axis_major_length', 'axis_minor_length', 'euler_number', 'intensity_mean', 'intensity_min',
        'intensity_max', 'feret_diameter_max']


def orientation(p):
    """Diagonals: 0.19 has the sign of the other one, later versions this."""
    a, b, _, c = p.inertia_tensor.flat
    return p.orientation if abs(a - c) > 1e-9 else np.pi / 4 if b < -1e-9 else -np.pi / 4


PLANAR = ['eccentricity', 'orientation', 'perimeter', 'perimeter_crofton']
for i in FINITE:
    v, n = i.float, i.ndim
    blocks = np.floor(v / (files.level(60, i.kind) - files.level(0, i.kind))).astype(int) + 1
    labels = measure.label(blocks, background=0, connectivity=1)
    L = f'labels = label_equal(floor(image / {files.level(60, i.kind) - files.level(0, i.kind)}) + 1, {2 * n})\n'
    for name in BOTH + (PLANAR if n == 2 else []):
        try:
            want = [orientation(p) if name == 'orientation' else
                    1.0 * (p.area if name == 'num_pixels' else getattr(p, name))
                    for p in measure.regionprops(labels, v)]
        except Exception as e:
            print(name, i.shape, e)
            continue
        if any(np.isnan(want)) or (name == 'area_convex' and 0 in want):
            continue  # scikit-image has no answer, or Qhull none
        case(name, i, L + f'output a = property(labels, image, {name})[labels] if labels > 0 else 0',
             painted(labels, want), 1e-4)
    each = measure.regionprops(labels, v)
    for axis, name in enumerate('zyx'[-n:]):
        case('centroid_' + name, i, L + f'output a = property(labels, centroid_{name})[labels] if labels > 0 else 0',
             painted(labels, [p.centroid[axis] for p in each]), 1e-5)
        if (v >= 0).all():
            mass = [p.weighted_centroid[axis] for p in each]
            if not np.isnan(mass).any():
                case('mass_center_' + name, i, L + f'output a = property(labels, image, mass_center_{name})[labels] if labels > 0 else 0',
                     painted(labels, mass), 1e-4)
    case('intensity_std', i, L + 'output a = property(labels, image, std)[labels] if labels > 0 else 0',
         painted(labels, [v[labels == p.label].std() for p in each]), 1e-3)
    case('intensity_median', i, L + 'output a = property(labels, image, intensity_median)[labels] if labels > 0 else 0',
         painted(labels, [np.median(v[labels == p.label]) for p in each]))
    case('intensity_sum', i, L + 'output a = property(labels, image, sum)[labels] if labels > 0 else 0',
         painted(labels, ndi.sum_labels(v, labels, np.arange(1, labels.max() + 1))))

# ---- projections and geometry ---------------------------------------------------------------

for i in IMAGES:
    v = i.float
    for axis, name in enumerate('zyx'[-v.ndim:]):
        P = f'(image, {name})'
        case('max_project', i, 'output a = max_project' + P, v.max(axis), 0)
        case('min_project', i, 'output a = min_project' + P, v.min(axis), 0)
        case('sum_project', i, 'output a = sum_project' + P, v.sum(axis))
        case('mean_project', i, 'output a = mean_project' + P, v.mean(axis))
        if i in FINITE:
            case('std_project', i, 'output a = std_project' + P, v.std(axis), 1e-4)
            case('argmax_project', i, 'output a = argmax_project' + P, v.argmax(axis), 0)
        case('median_project', i, 'output a = median_project' + P, np.median(v, axis))
        kept = v > np.float32(files.level(60, i.kind))
        S = f'(image where image > {files.level(60, i.kind)}, {name})'
        case('mean_project', i, 'output a = mean_project' + S, np.where(kept, v, 0).sum(axis) / kept.sum(axis))
        case('median_project', i, 'output a = median_project' + S, of_kept(np.ma.median, v, kept, axis))
        case('sum_project', i, 'output a = sum_project' + S, np.where(kept, v, 0).sum(axis))
        case('max_project', i, 'output a = max_project' + S, np.where(kept, v, -np.inf).max(axis), 0)
        case('min_project', i, 'output a = min_project' + S, np.where(kept, v, np.inf).min(axis), 0)
        if i in FINITE:
            case('std_project', i, 'output a = std_project' + S, of_kept(np.ma.std, v, kept, axis), 1e-4)
        case('sigma_clip', i, f'output a = sigma_clip(image, 1.25, {name})', clipped(v, 1.25, axis), 0)
        case('flip', i, 'output a = flip' + P, np.flip(v, axis), 0)
        case('concatenate', i, f'output a = concatenate(image, image * 2, {name})', np.concatenate((v, v * 2), axis), 0)
    put = v.copy()
    corner = tuple(min(1, s - 1) for s in v.shape)
    cut = tuple(slice(c, None) for c in corner)
    put[cut] = (v * 2)[tuple(slice(0, s - c) for s, c in zip(v.shape, corner))]
    text = ', '.join(f'{a} = {c}' for a, c in zip('zyx'[-v.ndim:], corner))
    case('paste', i, f'output a = paste(image, image * 2, {text})', put, 0)
    case('transpose', i, 'output a = transpose(image)', np.swapaxes(v, -1, -2), 0)
    if v.ndim == 3:
        case('transpose', i, 'output a = transpose(image, x, z)', np.swapaxes(v, 0, 2), 0)
        case('transpose', i, 'output a = transpose(image, z, y)', np.swapaxes(v, 0, 1), 0)
        case('roll', i, 'output a = roll(image, 1, -2, 3)', np.roll(v, (3, -2, 1), (0, 1, 2)), 0)
        case('downscale', i, 'output a = downscale(image, [2, 1, 2])',
             transform.downscale_local_mean(np.pad(v, ((0, v.shape[0] % 2), (0, 0), (0, v.shape[2] % 2)), mode='edge'), (2, 1, 2)))
    else:
        case('roll', i, 'output a = roll(image, 1, -2)', np.roll(v, (-2, 1), (0, 1)), 0)
        case('downscale', i, 'output a = downscale(image, 2)', transform.downscale_local_mean(
            np.pad(v, ((0, v.shape[0] % 2), (0, v.shape[1] % 2)), mode='edge'), (2, 2)))
    if i not in FINITE:
        continue
    for order, how in ((1, 'linear'), (0, 'nearest')):
        for border, mode in (('nearest', 'nearest'), ('reflect', 'reflect'), ('mirror', 'mirror'),
                             ('wrap', 'grid-wrap'), ('constant(7)', 'grid-constant')):
            if order == 0 and border not in ('nearest', 'constant(7)'):
                continue  # scipy rounds what it has mirrored
            move = [0.75, -1.25, 0.625][-v.ndim:]
            text = ', '.join(f'{a} = {s}' for a, s in zip('zyx'[-v.ndim:], move))
            case('translate', i, f'output a = translate(image, {text}, interpolation = {how}, border = {border})',
                 ndi.shift(v, move, order=order, mode=mode, cval=7), 1e-4)
    m = np.array([[1, 0.25, 0], [-0.125, 1, 0.125], [0, 0.5, 0.75]])[:v.ndim, :v.ndim]
    offset = np.array([0.5, -1, 0.25])[:v.ndim]
    literal = [list(map(float, row)) + [float(o)] for row, o in zip(m, offset)]
    turned, back = m[::-1, ::-1], offset[::-1]  # scipy's axes: z y x
    case('affine', i, f'output a = affine(image, {literal}, border = nearest)',
         ndi.affine_transform(v, turned, back, order=1, mode='nearest'), 1e-4)
    case('affine', i, f'output a = affine(image, {literal})',
         ndi.affine_transform(v, turned, back, order=1, mode='grid-constant'), 1e-4)
    size = [n + k for n, k in zip(v.shape, (1, 3, 2))]
    text = ', '.join(f'{a} = {n}' for a, n in zip(('depth', 'height', 'width')[-v.ndim:], size))
    for order, how in ((1, 'linear'), (0, 'nearest')):
        case('resize', i, f'output a = resize(image, {text}, interpolation = {how})', transform.resize(
            v, size, order=order, mode='edge', anti_aliasing=False, preserve_range=True), 1e-4)
    half = [n // 2 for n in v.shape]  # from the middle between two pixels on the next one
    if min(half) > 0:
        text = ', '.join(f'{a} = {n}' for a, n in zip(('depth', 'height', 'width')[-v.ndim:], half))
        even = tuple(slice(0, 2 * n) for n in half)
        cut = ', '.join(f'{a} = {2 * n}' for a, n in zip(('depth', 'height', 'width')[-v.ndim:], half))
        case('resize', i, f'output a = resize(crop(image, {cut}), {text}, interpolation = nearest)', transform.resize(
            v[even], half, order=0, mode='edge', anti_aliasing=False, preserve_range=True), 0)
    case('affine', i, 'output a = affine(image, [[0.5, 0, 0], [0, 1, 0.5]], nearest, nearest)', ndi.affine_transform(
        v, [1] * (v.ndim - 1) + [0.5], [0] * (v.ndim - 2) + [0.5, 0], order=0, mode='nearest'), 0)
    size = v.shape if v.ndim == 2 else (int(np.rint(v.shape[0] * 2.5)),) + v.shape[1:]
    case('make_isotropic', i, 'output a = make_isotropic(image)', transform.resize(
        v, size, order=1, mode='edge', anti_aliasing=False, preserve_range=True), 1e-4)
    if v.ndim == 2:
        wide = np.pad(v, 12)
        case('rotate', i, 'output a = rotate(image, 30)',
             transform.rotate(wide, 30, order=1, preserve_range=True)[12:-12, 12:-12], 1e-3)

# Splines: in f32, of weights that are cut where scipy goes on to the ends.
DEGREES = {'quadratic': 2, 'cubic': 3, 'quartic': 4, 'quintic': 5}
for i in (Image('plain', 'u16', 9, 11), Image('plain', 'f32', 1, 7), Image('plain', 'u8', 4, 5, 6)):
    v, near = i.float, 2e-6 * np.abs(i.float).max()
    move = [0.75, -1.25, 0.625][-v.ndim:]
    text = ', '.join(f'{a} = {s}' for a, s in zip('zyx'[-v.ndim:], move))
    for how, order in DEGREES.items():
        for border, mode in (('nearest', 'nearest'), ('reflect', 'reflect'), ('mirror', 'mirror'), ('wrap', 'grid-wrap'),
                             ('constant(7)', 'grid-constant')):
            if v.ndim == 2 or border == 'nearest' and order < 5:
                case('translate', i, f'output a = translate(image, {text}, interpolation = {how}, border = {border})',
                     ndi.shift(v, move, order=order, mode=mode, cval=7), near)
        if v.shape[0] > 1:
            case('translate', i, f'output a = translate(image, {text}, interpolation = {how}, fill = 7)',
                 ndi.shift(v, move, order=order, mode='constant', cval=7), near)
    for grid, border in (('false', 'mirror'), ('true', 'reflect')):
        case('zoom', i, f'output a = zoom(image, 1.6, quadratic, {grid}, {border})',
             ndi.zoom(v, 1.6, order=2, grid_mode=grid == 'true', mode=border), near)
    if v.ndim == 2:
        case('resize', i, 'output a = resize(image, 13, 8, interpolation = cubic, border = mirror)', transform.resize(
            v, (8, 13), order=3, mode='reflect', anti_aliasing=False, preserve_range=True, clip=False), near)
        case('rotate', i, 'output a = rotate(image, 30, cubic, fill = 0, reshape = true)', ndi.rotate(v, 30, order=3), near)
        case('remap', i, 'output a = remap(image, x_of(image) * 0.75, y_of(image) - x_of(image) * 0.125, interpolation = cubic, '
             'border = reflect)', ndi.map_coordinates(
                 v, np.tensordot([[1, -0.125], [0, 0.75]], np.indices(v.shape), 1), order=3, mode='reflect'), near)
        case('polar', i, 'output a = polar(image, 3, 2, 5, 6, 12, log, border = constant(1))', transform.warp_polar(
            v, center=(2, 3), radius=5, output_shape=(12, 6), scaling='log', preserve_range=True, cval=1), 1e-4)
        case('polar', i, 'output a = polar(image, interpolation = cubic, height = 20, border = mirror)', transform.warp_polar(
            v, order=3, output_shape=(20, int(np.ceil(np.hypot(*v.shape) / 2))), clip=False, preserve_range=True, mode='reflect'), near)
    else:
        for angle, axis, axes in ((30, 'z', (1, 2)), (50, 'y', (0, 2)), (-20, 'x', (0, 1))):
            case('rotate', i, f'output a = rotate(image, {angle}, fill = 0, axis = {axis}, reshape = true)',
                 ndi.rotate(v, angle, axes, order=1), 1e-4)
        case('rotate', i, 'output a = rotate(image, 50, quadratic, fill = 2, axis = y)',
             ndi.rotate(v, 50, (0, 2), order=2, reshape=False, mode='constant', cval=2), near)

# Far from the corner, too, places have the digits that the weights need.
long = Image('plain', 'u16', 1, 4001)
v = long.float
for name, pipe, want in (
        ('resize', 'resize(image, 6001, 1)', transform.resize(
            v, (1, 6001), order=1, mode='edge', anti_aliasing=False, preserve_range=True)),
        ('translate', 'translate(image, 0.3)', ndi.shift(v, (0, 0.3), order=1, mode='nearest')),
        ('affine', 'affine(image, [[0.7, 0, 0.1], [0, 1, 0]])',
         ndi.affine_transform(v, [1, 0.7], [0, 0.1], order=1, mode='nearest'))):
    case(name, long, f'output a = crop({pipe}, 3970, width = 30)', want[:, 3970:4000], 1e-6)

# ---- what is told of images, kernels and footprints -------------------------------------------

for i in IMAGES:
    v, n = i.float, i.ndim
    at, zero = np.indices(v.shape), np.zeros(v.shape)
    extent = dict(zip('zyx'[-n:], v.shape))
    size = {'x': 0.5, 'y': 0.5, 'z': 1.25}
    for name, axis in (('width', 'x'), ('height', 'y'), ('depth', 'z')):
        case(name, i, f'output a = x_of(image) * 0 + {name}(image)', zero + extent.get(axis, 1), 0)
    for k, axis in enumerate('zyx'[-n:]):
        case(f'{axis}_of', i, f'output a = {axis}_of(image)', at[k], 0)
        case('pixel_size', i, f'output a = {axis}_of(image) * pixel_size({axis})', at[k] * size[axis])
    case('dimensions', i, 'output a = x_of(image) + dimensions(image)', at[-1] + n, 0)
    case('has_axis', i, 'output a = x_of(image) + (1 if has_axis(image, z) else 2)', at[-1] + 4 - n, 0)
    case('channels', i, 'output a = x_of(image) + channels(image)', at[-1] + 1, 0)
    case('canvas', i, 'c = canvas(image, width = 3)\noutput a = f32(x_of(c)) + c', np.indices(v.shape[:-1] + (3,))[-1], 0)
    case('ramp', i, 'output a = ramp(x = 7, y = 2) * 2', np.arange(7) * 2 + np.zeros((2, 1)), 0)
    case('pick', i, 'output a = pick(x_of(image) - 1, [5, 7, 2])', np.array([5, 7, 2])[np.clip(at[-1] - 1, 0, 2)], 0)
    t = files.level(70, i.kind)
    case('number', i, f'output a = number(image > {t}) * 3', (v > t) * 3, 0)
    case('f32', i, f'output a = f32(label(image > {t}))', measure.label(v > t), 0)
    case('is_mask', i, f'output a = x_of(image) + (1 if is_mask(image > {t}) and not is_mask(image) else 0)', at[-1] + 1, 0)
    case('is_list', i, 'output a = x_of(image) + (1 if is_list([1, 2]) else 0)', at[-1] + 1, 0)
    case('list_length', i, 'output a = x_of(image) + list_length([4, 4, 4])', at[-1] + 3, 0)
    case('known_zero', i, 'output a = x_of(image) + (1 if known_zero(0) and not known_zero(2) else 0)', at[-1] + 1, 0)
    case('parts', i, f'p = parts(image where image > {t})\noutput a = p.image if p.mask else 0', np.where(v > t, v, 0), 0)
    whole = i.kind != 'f32'
    case('is_whole', i, 'output a = x_of(image) + (1 if is_whole(image) else 0)', at[-1] + whole, 0)
    case('white', i, 'output a = image / white(image) + x_of(image) * white(image * 2)',
         v / {'u8': 255, 'u16': 65535, 'f32': 1}[i.kind] + at[-1] * 255, 1e-6)
    case('footprint_has', i, 'output a = x_of(image) + (1 if footprint_has(disk(1), 1) and not footprint_has(disk(1), 1, 1) '
         'else 0)', at[-1] + 1, 0)
    case('has_shape', i, 'output a = x_of(image) + (1 if has_shape([[1, 0, 1]], literal) and not has_shape(disk(1), literal) else 0)',
         at[-1] + 1, 0)
    case('is_large', i, 'output a = x_of(image) + (1 if is_large(image, box(30)) and not is_large(image, box([1, 1])) else 0)'
         if n == 2 else 'output a = x_of(image) + (1 if is_large(image, box(30)) else 0)', at[-1] + 1, 0)
    case('window_rank', i, 'output a = window_rank(image, 50, box(1))', np.sort(windows(v, box(n)), 0)[3**n // 2], 0)
    case('kernel_extent', i, 'output a = x_of(image) + kernel_extent([[1, 0, -1, 0]]).x', at[-1] + 4, 0)
    case('kernel_radius', i, 'output a = x_of(image) + kernel_radius([[1, 0, -1]]).x', at[-1] + 1, 0)
    if i not in FINITE:
        continue
    case('turned', i, 'output a = max_filter(image, turned([[1, 1, 0]]))',
         np.maximum(v, windows(v, box(n))[3**n // 2 + 1]), 0)
    line = np.array([1, -2, 4]).reshape((1,) * (n - 1) + (3,))
    case('literal_kernel', i, 'output a = literal_kernel(image, [[1, -2, 4]], reflect, true)',
         ndi.convolve(v, line, mode='reflect'))
    case('squared_border', i, 'w = image * image\noutput a = w[dx = 1, border = squared_border(constant(3))]',
         np.pad(v, [(0, 0)] * (n - 1) + [(0, 1)], constant_values=3)[..., 1:] ** 2)
    case('f64', i, 'w = f64(image)\noutput a = f32(w * w - (w - 1) * (w + 1))', zero + 1, 1e-6)
    case('constant', i, 'output a = image[dx = -1, border = constant(3)]',
         np.pad(v, [(0, 0)] * (n - 1) + [(1, 0)], constant_values=3)[..., :-1], 0)
    estimate = v + 100
    for _ in range(2):
        estimate = estimate * gaussian((v + 100) / np.maximum(gaussian(estimate, 0.8), 1e-6), 0.8)
    case('richardson_lucy', i, 'output a = richardson_lucy(image + 100, 0.8, 2)', estimate, 1e-4)
    case('li_counted', i, V + 'li_counted(image)', [filters.threshold_li(i.array) if whole else np.nan])
    for factor in (2, 1.5):
        case('scale', i, f'output a = scale(image, {factor})', transform.resize(
            v, np.rint(np.array(v.shape) * factor), order=1, mode='edge', anti_aliasing=False, preserve_range=True), 1e-4)
    if min(v.shape[-2:]) > 1:
        case('crop', i, 'output a = crop(image, 1, 1)', v[..., 1:, 1:], 0)
        case('crop', i, 'output a = crop(image, width = 2, height = 2)', v[..., :2, :2], 0)
    if n == 2:
        case('c_of', i, f'rgb = label2rgb(label(image > {t}))\noutput a = c_of(rgb) + 10 * channels(rgb)',
             np.arange(3)[:, None, None] + 30 + zero, 0)
        paint = np.rint(color.label2rgb(measure.label(v > t), bg_label=0) * 255)
        case('colours', i, f'output a = colours(label(image > {t}))', np.moveaxis(paint, -1, 0), 0)
        case('rgb2gray', i, f'output a = rgb2gray(colours(label(image > {t})))', color.rgb2gray(paint / 255) * 255, 1e-4)

# ---- colour ---------------------------------------------------------------------------------

for i in FLAT:
    if i in FINITE:
        v = i.float
        labels = measure.label(v > files.level(95, i.kind))
        L = f'labels = label(image > {files.level(95, i.kind)})\n'
        case('label2rgb', i, L + 'output a = label2rgb(labels)',
             np.moveaxis(np.rint(color.label2rgb(labels, bg_label=0) * 255), -1, 0), 0)
        f = np.float32
        paint = np.rint(color.label2rgb(labels, bg_label=0) * 255).astype(f)
        white = {'u8': 255, 'u16': 65535, 'f32': 1}[i.kind]
        mixed = f(0.4) * paint + f(0.6) * i.array[..., None].astype(f) * f(255 / white)
        want = color.label2rgb(labels, i.array, bg_label=0, alpha=0.4)
        assert np.allclose(mixed, want * 255, 1e-3, 0.2)  # the palette in bytes
        case('label2rgb', i, L + 'output a = label2rgb(labels, image, 0.4, contrast = type)',
             np.moveaxis(np.clip(np.rint(mixed), 0, 255), -1, 0), 0)
        means = color.label2rgb(labels, i.float, bg_label=0, kind='avg')[..., 0] * (255 / white)
        case('label2rgb', i, L + 'output a = label2rgb(labels, image, kind = avg, contrast = type)',
             np.repeat(np.clip(np.floor(means.astype(f)), 0, 255)[None], 3, 0), 1)
        if i.kind == 'u8' and i.pattern == 'plain':
            image = np.rint(color.label2rgb(labels, bg_label=0) * 255).astype(np.uint8)
            case('rgb2hed', i, L + 'output a = rgb2hed(label2rgb(labels))',
                 np.moveaxis(color.rgb2hed(image), -1, 0), 1e-4)
        if i.pattern == 'plain' and v.size > 1:
            t = (v - v.min()) / (v.max() - v.min())
            hot = [255 * np.clip(e, 0, 1) for e in (0.0416 + t / 0.365079 * 0.9584, (t - 0.365079) / 0.380953,
                                                    (t - 0.746032) / 0.253968)]
            case('colormap', i, 'output a = f32(colormap(image, hot)) / 255', np.array(hot) / 255, 3e-3)
            case('colormap', i, 'output a = f32(colormap(image, yellow)) / 255', np.array([t, t, 0 * t]), 3e-3)
            stops = np.linspace(0, 1, 10)
            viridis = [np.interp(t, stops, c) / 255 for c in (
                [0x44, 0x48, 0x3e, 0x31, 0x26, 0x1f, 0x35, 0x6e, 0xb5, 0xfd],
                [0x01, 0x28, 0x4a, 0x68, 0x82, 0x9e, 0xb7, 0xce, 0xde, 0xe7],
                [0x54, 0x78, 0x89, 0x8e, 0x8c, 0x89, 0x79, 0x58, 0x2b, 0x25])]
            case('colormap', i, 'output a = f32(colormap(image)) / 255', np.array(viridis), 6e-3)

# ---- NaN and infinity -------------------------------------------------------------------------

SPECIAL = [i for i in IMAGES if i not in FINITE]


def slopes(v, across):
    """sobel and its like: a difference along each axis, smoothed along the others."""
    squares = 0
    for axis in range(v.ndim):
        s = v
        for other in range(v.ndim):
            if other != axis:
                s = along(s, np.array(across) / sum(across), other, 'edge', 0)
        s = np.pad(s, [(1, 1) if k == axis else (0, 0) for k in range(v.ndim)], 'edge')
        size = s.shape[axis]
        squares = squares + (s.take(range(2, size), axis) - s.take(range(size - 2), axis)) ** 2
    return np.sqrt(squares) / np.sqrt(v.ndim)


def derivative(v, sigma, order):
    for axis, o in reversed(list(enumerate(order))):
        i = np.arange(-int(4 * sigma + 0.5), int(4 * sigma + 0.5) + 1)
        w = np.exp(-0.5 * i * i / sigma**2)
        w *= [1, i / sigma**2, (i * i / sigma**2 - 1) / sigma**2][o] / w.sum()
        v = blend(v, w, axis, 'edge', 0)
    return v


for i in SPECIAL:
    v, n, t = i.float, i.ndim, files.level(70, i.kind)
    case('difference_of_gaussians', i, 'output a = difference_of_gaussians(image, 0.7)',
         gaussian(v, 0.7) - gaussian(v, 1.12), 1e-3)
    case('subtract_gaussian_background', i, 'output a = subtract_gaussian_background(image, 1)', v - gaussian(v, 1), 1e-3)
    case('divide_by_gaussian_background', i, 'output a = divide_by_gaussian_background(image, 0.5)', v / gaussian(v, 0.5), 1e-3)
    case('unsharp', i, 'output a = unsharp(image, 0.5, 2)', v + 2 * (v - gaussian(v, 0.5, 'symmetric')), 1e-3)
    case('laplacian_of_gaussian', i, 'output a = laplacian_of_gaussian(image, 0.5)',
         sum(derivative(v, 0.5, 2 * np.eye(n, dtype=int)[k]) for k in range(n)), 1e-2)
    case('laplace', i, 'output a = laplace(image)', sum(along(v, (1, -2, 1), k, 'symmetric', 0) for k in range(n)), 1e-4)
    case('sobel', i, 'output a = sobel(image)', slopes(v, (1, 2, 1)), 1e-4)
    case('prewitt', i, 'output a = prewitt(image)', slopes(v, (1, 1, 1)), 1e-4)
    case('scharr', i, 'output a = scharr(image)', slopes(v, (3, 10, 3)), 1e-4)
    first = [1] + [0] * (n - 1)
    case('gaussian_derivative', i, f'output a = gaussian_derivative(image, 0.4, {first})', derivative(v, 0.4, first), 1e-3)
    each = [derivative(v, 0.4, np.eye(n, dtype=int)[k]) for k in range(n)]
    case('gradient_magnitude', i, 'output a = gradient_magnitude(image, 0.4)', np.sqrt(sum(e * e for e in each)), 1e-3)
    case('variance_filter', i, 'output a = variance_filter(image, 1)', windows(v, box(n)).var(0), 1e-5)
    case('std_filter', i, 'output a = std_filter(image, diamond(1))', windows(v, diamond(n, 1)).std(0), 1e-5)
    w = windows(v, diamond(n, 1), 'reflect')
    case('niblack', i, 'output a = niblack(image, diamond(1), 0.3)', w.mean(0) - 0.3 * w.std(0), 1e-4)
    case('sauvola', i, 'output a = sauvola(image, diamond(1), 0.3, 2)', w.mean(0) * (1 + 0.3 * (w.std(0) / 2 - 1)), 1e-4)
    k = np.arange(1, 3**n + 1).reshape((3,) * n)
    literal = re.sub(r'\s', '', str(k.tolist()))
    turned = k[(slice(None, None, -1),) * n].ravel()[(slice(None),) + (None,) * n]
    case('convolve_full', i, f'output a = convolve(image, {literal}, mode = full)',
         (windows(padded(v, 1, 'constant', 0), box(n), 'constant', 0) * turned).sum(0))
    for text, footprint in footprints(n):
        mirrored = footprint[(slice(None, None, -1),) * n]

        def eroded(x):
            return windows(x, footprint, 'constant', INF).min(0)

        def dilated(x):
            return windows(x, mirrored, 'constant', -INF).max(0)

        e, d = eroded(v), dilated(v)
        case('erode', i, f'output a = erode(image, {text})', e, 0)
        case('dilate', i, f'output a = dilate(image, {text})', d, 0)
        case('opening', i, f'output a = opening(image, {text})', dilated(e), 0)
        case('closing', i, f'output a = closing(image, {text})', eroded(d), 0)
        case('tophat', i, f'output a = tophat(image, {text})', v - dilated(e), 1e-6)
        case('bottomhat', i, f'output a = bottomhat(image, {text})', eroded(d) - v, 1e-6)
        case('morphological_gradient', i, f'output a = morphological_gradient(image, {text})', d - e, 1e-6)
    around = box(n)
    around[(1,) * n] = False
    case('detect_maxima', i, 'output a = detect_maxima(image)', v > windows(v, around, 'constant', -INF).max(0), 0)
    case('detect_minima', i, 'output a = detect_minima(image)', v < windows(v, around, 'constant', INF).min(0), 0)
    case('hysteresis', i, f'output a = hysteresis(image, {files.level(60, i.kind)}, {files.level(100, i.kind)})',
         filters.apply_hysteresis_threshold(v, files.level(60, i.kind), files.level(100, i.kind)), 0)
    case('label_spots', i, f'output a = label_spots(image > {t})', numbered(v > t), 0)
    known = v[~np.isnan(v)]
    lo, hi = np.percentile(known, 20), np.percentile(known, 75)
    case('normalize', i, 'output a = normalize(image, 20, 75)', np.clip((v - lo) / (hi - lo), 0, 1))
    kept = kappa_sigma(v[np.isfinite(v)], 1.5)
    case('kappa_sigma', i, V + 'kappa_sigma(image where isfinite(image), 1.5).std', [kept.std()])
    for axis, name in enumerate('zyx'[-n:]):
        case('std_project', i, f'output a = std_project(image, {name})', v.std(axis), 1e-4)
        case('argmax_project', i, f'output a = argmax_project(image, {name})', v.argmax(axis), 0)
    blocks = (np.indices(v.shape) // 2).sum(0) % 3 + 1
    labels = measure.label(blocks, background=0, connectivity=1)
    B = f'labels = label_equal((x_of(image) // 2 + y_of(image) // 2 + z_of(image) // 2) % 3 + 1, {2 * n})\n'
    parts = [v[labels == k] for k in range(1, labels.max() + 1)]
    for name, f in (('mean', np.mean), ('min', np.min), ('max', np.max), ('std', np.std), ('sum', np.sum), ('median', np.median)):
        case('intensity_' + name, i, B + f'output a = property(labels, image, {name})[labels]',
             painted(labels, [f(p) for p in parts]), 1e-4)
    for name, f in (('label_sum', np.nansum), ('label_min', np.nanmin), ('label_max', np.nanmax)):
        case(name, i, B + f'output a = {name}(labels, image)[labels]', painted(labels, [f(p) for p in parts]))
    known = np.where(np.isinf(v), np.nan, v)  # whether infinity stays one depends on the side that it is on
    for order, how, source, name in ((1, 'linear', known, 'known'), (0, 'nearest', v, 'image')):
        K = 'known = image - image + image\n' if name == 'known' else ''
        move = [0.75, -1.25, 0.625][-n:]
        text = ', '.join(f'{a} = {s}' for a, s in zip('zyx'[-n:], move))
        for border, mode in (('nearest', 'nearest'), ('constant(7)', 'grid-constant')):
            case('translate', i, K + f'output a = translate({name}, {text}, interpolation = {how}, border = {border})',
                 ndi.shift(source, move, order=order, mode=mode, cval=7), 1e-4)
        size = [s + k for s, k in zip(v.shape, (1, 3, 2))]
        text = ', '.join(f'{a} = {s}' for a, s in zip(('depth', 'height', 'width')[-n:], size))
        case('resize', i, K + f'output a = resize({name}, {text}, interpolation = {how})', transform.resize(
            source, size, order=order, mode='edge', anti_aliasing=False, preserve_range=True, clip=False), 1e-4)
    case('pad', i, 'output a = pad(image, 2)', padded(v, 2, 'constant', 0), 0)
    case('crop', i, 'output a = crop(image, 1, 1, width = 3, height = 2)', v[..., 1:3, 1:4], 0)
    case('turned', i, 'output a = max_filter(image, turned([[1, 1, 0]]))',
         np.maximum(v, windows(v, box(n))[3**n // 2 + 1]), 0)
    case('f64', i, 'w = f64(image)\noutput a = f32(w - w)', v - v, 0)

# ---- hulls in space, and of one row -----------------------------------------------------------

for i in FINITE:
    v = i.float
    objects = measure.label(v > files.level(80, i.kind))
    flat = [p for p in measure.regionprops(objects) if np.linalg.matrix_rank(p.coords - p.coords[0]) < min(i.ndim, 3)]
    if i.ndim == 3 and not flat or i.ndim == 2 and min(v.shape) == 1:
        want = np.zeros(v.shape, int)
        for p in measure.regionprops(objects):
            want[p.slice][p.image_convex] = p.label
        case('hull', i, f'output a = hull(label(image > {files.level(80, i.kind)}))', want > 0, 0)

# ---- NaN and infinity where order counts, in curvature and in pictures ------------------------


def reconstructed(seed, mask, method='dilation'):
    """scikit-image reads outside of its arrays where a seed is NaN: NaN is the end that a number never comes from."""
    low, high, values = ranks('lowest' if method == 'dilation' else 'highest', seed, mask)
    return values[morphology.reconstruction(low, high, method, np.ones((3,) * mask.ndim)).astype(int)]


def eigenvalues(v):
    """Largest first; scikit-image's, whose solver stops at matrices in space that are not finite."""
    h = hessian(v, 0)
    if v.ndim == 2:
        return feature.hessian_matrix_eigvals(h)
    finite = np.isfinite(h).all(0)
    return np.where(finite, feature.hessian_matrix_eigvals([np.where(finite, e, 0) for e in h]), np.nan)


for i in SPECIAL:
    v, n = i.float, i.ndim
    known = np.where(np.isnan(v), 0, v)
    K = 'known = nan_to_num(image)\n'
    below, above = ranks('lowest', v)[0], ranks('highest', v)[0]
    for c, k in COUNTS[n].items():
        case('local_maxima', i, f'output a = local_maxima(image, {k})',
             morphology.local_maxima(below, connectivity=c) & ~np.isnan(v), 0)
        case('local_minima', i, f'output a = local_minima(image, {k})',
             morphology.local_minima(above, connectivity=c) & ~np.isnan(v), 0)
        case('local_maxima', i, K + f'output a = local_maxima(known, {k})', morphology.local_maxima(known, connectivity=c), 0)
        case('local_minima', i, K + f'output a = local_minima(known, {k})', morphology.local_minima(known, connectivity=c), 0)
    markers = ndi.label(v < 0.5, np.ones((3,) * n))[0]
    W = 'markers = label(image < 0.5)\n'
    for c, k in COUNTS[n].items():
        case('watershed', i, W + f'output a = watershed(image, markers, connectivity = {k})',
             files.watershed(above, markers, connectivity=c), 0)
        case('watershed', i, K + W + f'output a = watershed(known, markers, connectivity = {k})',
             files.watershed(known, markers, connectivity=c), 0)
    case('watershed', i, W + 'output a = watershed(image, markers, not image > 8, line = true)',
         files.watershed(above, markers, mask=~(v > 8), watershed_line=True), 0)
    full = np.ones((3,) * n)
    same(reconstructed(known - 2, known), morphology.reconstruction(known - 2, known, footprint=full))
    case('reconstruct', i, 'output a = reconstruct(image - 2, image)', reconstructed(v - 2, v))
    case('reconstruct', i, 'output a = reconstruct(image + 2, image, method = erosion)', reconstructed(v + 2, v, 'erosion'))
    case('reconstruct', i, K + 'output a = reconstruct(known - 2, known)', reconstructed(known - 2, known))
    some = np.where(np.indices(v.shape)[-1] % 4 == 0, v - 2, np.nan)
    case('reconstruct', i, 'output a = reconstruct(image - 2 if x_of(image) % 4 == 0 else nan, image)', reconstructed(some, v))
    case('h_maxima', i, 'output a = h_maxima(image, 2)', v - reconstructed(v - 2, v) >= 2, 0)
    deep = np.where(known == INF, 0, known)
    case('h_maxima', i, 'output a = h_maxima(image if image < inf else 0, 2)', morphology.h_maxima(deep, 2), 0)
    for text, footprint in footprints(n):
        case('mode_filter', i, f'output a = mode_filter(floor(image / 3), {text})',
             most_frequent(windows(np.floor(v / 3), footprint)), 0)
    case('mode_filter', i, 'output a = mode_filter(image if isfinite(image) else nan, [[0, 0, 0], [0, 1, 0], [0, 0, 0]])',
         np.where(np.isfinite(v), v, np.nan), 0)
    for values, name in ((v, 'image'), (known, 'known')):
        e = eigenvalues(values)
        for k, which in ((0, 'largest'), (-1, 'least')):
            case('hessian_eigenvalue', i, (K if name == 'known' else '') +
                 f'output a = hessian_eigenvalue({name}, 0, {which})', e[k], 1e-4)
    for sign, ridges in ((-1, 'bright'), (1, 'dark')):
        e = np.maximum(eigenvalues(sign * v), 0)
        case('sato', i, f'output a = sato(image, 0.1, {ridges})', 0.01 * (e[0] if n == 2 else np.sqrt(e[0] * e[1])), 1e-4)
    steps = np.floor(v / 8)
    for c, k in COUNTS[n].items():
        case('label_equal', i, f'output a = label_equal(floor(image / 8), {k})', measure.label(
            np.where(np.isnan(steps) | (steps == 0), 0, 1 + ranks('lowest', steps)[0]), background=0, connectivity=c), 0)
    case('as_labels', i, 'output a = as_labels(image)',
         np.unique(np.rint(np.maximum(known, 0)), return_inverse=True)[1].reshape(v.shape), 0)
    finite = np.where(np.isfinite(v), v, np.nan)
    B = 'known = image if isfinite(image) else nan\n'
    region = finite > filters.threshold_otsu(finite[~np.isnan(finite)].astype(np.float32))
    around = box(n)
    around[(1,) * n] = False
    spots = (finite > windows(finite, around, 'constant', -INF).max(0)) & region
    case('gauss_otsu', i, B + 'output a = gauss_otsu(known, 0)', measure.label(region), 0)
    case('voronoi_otsu', i, B + 'output a = voronoi_otsu(known, 0, 0)', within(measure.label(spots), region), 0)
    core = ndi.binary_erosion(region, box(n), border_value=1)
    case('eroded_otsu', i, B + 'output a = eroded_otsu(known, 1, 0)', within(measure.label(core), region), 0)
    for name in ('gauss_otsu', 'voronoi_otsu', 'eroded_otsu'):
        case(name, i, f'output a = {name}(image)', np.zeros(v.shape), 0)
for i in [i for i in SPECIAL if i.ndim == 2]:
    v = i.float
    C = 'c = c_of(canvas(image, channels = 3))\nrgb = image * 8 if c == 0 else image + 60 if c == 1 else 90 - image\n'
    picture = np.stack([v * 8, v + 60, 90 - v], -1)
    case('rgb2gray', i, C + 'output a = rgb2gray(rgb)', color.rgb2gray(picture), 1e-4)
    case('rgb2hed', i, C + 'output a = rgb2hed(rgb)', np.moveaxis(color.rgb2hed(picture / 255), -1, 0), 1e-4)
    labels = measure.label(v > 7)
    L = 'labels = label(image > 7)\n'
    for kind, how in (('overlay', 'labels, image * 8, 0.4, contrast = type'), ('avg', 'labels, image * 8, kind = avg, contrast = type')):
        mixed = color.label2rgb(labels, v * 8 / 255, bg_label=0, alpha=0.4, kind=kind) * 255
        case('label2rgb', i, L + f'output a = f32(label2rgb({how})) / 255',
             np.moveaxis(np.nan_to_num(np.clip(mixed, 0, 255)), -1, 0) / 255, 4e-3)
    t = np.clip((v + 5) / 20, 0, 1)
    stops = [[68, 72, 62, 49, 38, 31, 53, 110, 181, 253], [1, 40, 74, 104, 130, 158, 183, 206, 222, 231],
             [84, 120, 137, 142, 142, 137, 121, 88, 43, 37]]
    for name, want in (('gray', [255 * t] * 3), ('viridis', [np.interp(t, np.linspace(0, 1, 10), s) for s in stops])):
        case('colormap', i, f'output a = f32(colormap(image, {name}, -5, 15)) / 255',
             np.rint(np.nan_to_num(np.array(want))) / 255, 6e-3)
        case('colormap', i, f'output a = colormap(image, {name})', np.zeros((3, *v.shape)), 0)  # its range is infinite


def audit():
    """Which operator is held against which images: a letter each."""
    columns = ('2-D', '3-D', 'u8', 'u16', 'f32', '1-wide', 'constant', 'NaN/inf', 'smaller', 'border')
    table = {}
    for name, image, pipe, *_ in cases:
        row = table.setdefault(name.split('.')[0], set())
        row |= {f'{image.ndim}-D', image.kind}
        row |= {'1-wide'} if min(image.shape) == 1 else set()
        row |= {'constant'} if image.pattern == 'even' else set()
        row |= {'NaN/inf'} if image.pattern == 'special' else set()
        row |= {'smaller'} if max(image.shape) < 4 else set()
        row |= {'border'} if ' border = ' in pipe or name.startswith('pad') else set()
    print(f'{"operator":32}' + ''.join(f'{c:>9}' for c in columns))
    for name in sorted(table):
        print(f'{name:32}' + ''.join(f'{"x" if c in table[name] else ".":>9}' for c in columns))


if '--audit' in sys.argv:
    audit()
else:
    files.write('sweeps.txt', cases)
