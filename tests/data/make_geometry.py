#!/usr/bin/env python3
"""Writes geometry.txt: ways, polygons and projections.

Run it in this folder with numpy and scikit-image 0.26; cases.py says what a case is.
"""
import numpy as np
from skimage import graph, measure

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

files.write('geometry.txt', cases)
