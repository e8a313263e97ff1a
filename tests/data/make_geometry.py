#!/usr/bin/env python3
"""Writes geometry.txt: ways, polygons and tiles.

Run it in this folder with numpy, scipy 1.17 and scikit-image 0.26; cases.py says what a case is.
"""
import numpy as np
from scipy import ndimage
from skimage import graph, measure, registration

import cases as files
from cases import Image

np.seterr(all='ignore')
FLAT = [Image('plain', kind, 19, 23) for kind in files.TYPES]
SOLID = [Image('plain', 'u8', 4, 9, 7)]
cases = []


def case(name, image, pipe, want, tolerance=1e-6):
    full = f'{name}.{image.pattern}.{image.kind}.{"x".join(map(str, image.shape))}'
    k = sum(1 for c in cases if c[0] == full or c[0].startswith(full + '.'))
    cases.append((full + (f'.{k}' if k else ''), image, pipe, np.asarray(want, float), tolerance))


# ---- ways ------------------------------------------------------------------------------------------

for i in FLAT + SOLID:
    v = i.float
    t = float(np.quantile(v, 0.8))
    starts = np.argwhere(v < t)[[9, -7]]
    place = ' or '.join('(' + ' and '.join(f'{a}_of(image) == {n}' for a, n in zip('zyx'[3 - i.ndim:], s)) + ')' for s in starts)
    for cost, costs in (('image - min(image)', v - v.min()), (f'1 if image < {t!r} else -1', np.where(v < t, 1, -1)),
                        (f'image + 40 if image < {t!r} else inf', np.where(v < t, v + 40, np.inf))):
        want = graph.MCP_Geometric(costs).find_costs(starts)[0]
        case('geodesic_distance', i, f'cost = {cost}\noutput a = geodesic_distance({place}, cost)', want)

# ---- polygons ----------------------------------------------------------------------------------------

POLYGONS = (([3.2, 5.5, 9.4, 20.7], [2.5, 15.3, 8.1, 11.2]), ([-4.3, 30.1, 12.2], [3.1, 8.4, 25.3]),
            ([2.1, 20.3, 2.2, 20.4, 11.6], [2.3, 2.4, 15.7, 15.1, 0.8]))
for x, y in POLYGONS:
    inside = measure.grid_points_in_poly(FLAT[0].shape, list(zip(y, x)))
    case('polygon', FLAT[0], f'output a = polygon(image, {x}, {y})', inside, 0)
    case('polygon', SOLID[0], f'output a = polygon(image, {x}, {y})',
         np.broadcast_to(measure.grid_points_in_poly(SOLID[0].shape[1:], list(zip(y, x))), SOLID[0].shape), 0)

# ---- tiles -------------------------------------------------------------------------------------------

def tile(v, shape, x, y):
    """A tile at its place on the canvas, and how far each pixel is from the tile's ends; 0 outside."""
    rows, columns = np.indices(shape)
    at = np.stack([rows - y, columns - x]).astype(float)
    last = np.array(v.shape)[:, None, None] - 1
    weight = np.where(((at >= 0) & (at <= last)).all(0), np.minimum(at + 1, last + 1 - at).min(0), 0)
    return ndimage.map_coordinates(v, at, order=1, mode='nearest'), weight


for i in FLAT + SOLID:
    v = i.float if i.ndim == 3 else i.float[None]
    for a, b, x, y, dx, dy, blending in (((0, 0, 5, 8), (3, 2, 4, 7), 3, 2, 0, 0, 'linear'), ((0, 0, 5, 8), (3, 2, 4, 7), 3, 2, 0.3, -0.4, 'linear'),
                                         ((3, 2, 4, 7), (0, 0, 5, 8), -3, -2, -0.25, 0.5, 'linear'), ((0, 1, 4, 6), (3, 0, 4, 5), 5, -1, 0, 0, 'first')):
        out = []
        for p in v:
            one, two = (p[t[1]:t[1] + t[3], t[0]:t[0] + t[2]] for t in (a, b))
            shape = max(one.shape[0], y + b[3]) - min(y, 0), max(one.shape[1], x + b[2]) - min(x, 0)
            (first, u), (second, w) = tile(one, shape, -min(x, 0), -min(y, 0)), tile(two, shape, x - min(x, 0) + dx, y - min(y, 0) + dy)
            w = np.where(u > 0, 0, w) if blending == 'first' else w
            out.append(np.divide(u * first + w * second, u + w, out=np.zeros(shape), where=u + w > 0))
        crops = [f'crop(image, {t[0]}, {t[1]}, width = {t[2]}, height = {t[3]})' for t in (a, b)]
        case('stitch', i, f'output a = stitch({crops[0]}, {crops[1]}, {x}, {y}, {dx}, {dy}, {blending})', np.stack(out) if i.ndim == 3 else out[0], 1e-5)

for i in FLAT:
    for upsample, normalization in ((1, 'phase'), (10, 'phase'), (1, 'plain')):
        shift = registration.phase_cross_correlation(i.float[3:, 9:15], i.float[2:18, 8:14],
                                                     upsample_factor=upsample, normalization=normalization if normalization == 'phase' else None)[0]
        for k, axis in enumerate('yx'):
            case('overlap_shift', i, 'one = crop(image, 0, 0, width = 15, height = 19)\ntwo = crop(image, 8, 2, width = 14, height = 17)\n'
                 f'output a = x_of(ramp(x = 1)) + overlap_shift(one, two, 9, 3, {upsample}, {normalization}).{axis}', [shift[k]], 1e-5)

files.write('geometry.txt', cases)
