#!/usr/bin/env python3
"""Writes astronomy.txt: backgrounds, stars and cosmic rays.

Run it in this folder with numpy, scipy 1.17, astropy 8.0, photutils 3.0 and astroscrappy 1.3; cases.py says what a case is.
"""
import numpy as np
from astropy.stats import sigma_clip
from photutils import background

import cases as files
from cases import Image

np.seterr(all='ignore')
FLAT = [Image('plain', kind, 37, 45) for kind in files.TYPES]
cases = []


def case(name, image, pipe, want, tolerance=1e-6):
    full = f'{name}.{image.pattern}.{image.kind}.{"x".join(map(str, image.shape))}'
    k = sum(1 for c in cases if c[0] == full or c[0].startswith(full + '.'))
    cases.append((full + (f'.{k}' if k else ''), image, pipe, np.asarray(want, float), tolerance))


# ---- statistics of boxes ------------------------------------------------------------------------

def boxes(v, size, f):
    """f of each box of an image."""
    ends = [range(0, n, s) for n, s in zip(v.shape, size)]
    at = np.stack(np.meshgrid(*ends, indexing='ij'), -1).reshape(-1, v.ndim)
    out = [f(v[tuple(slice(a, a + s) for a, s in zip(corner, size))]) for corner in at]
    return np.reshape(out, [len(e) for e in ends])


FOLDS = {'count': np.size, 'median': np.median, 'mean': np.mean, 'std': np.std}


def clipped(kappa, rounds, f):
    return lambda v: f(sigma_clip(v[np.isfinite(v)], kappa, maxiters=rounds, masked=False) if rounds else v[np.isfinite(v)])


for i in FLAT + [Image('special', 'f32', 20, 30), Image('even', 'u8', 9, 11), Image('plain', 'u8', 7, 9, 11)]:
    size = [4, 5, 6][3 - i.ndim:]
    for name, f in FOLDS.items():
        case('box_' + name, i, f'output a = box_statistics(image, {size}).{name}', boxes(i.float, size, clipped(3, 0, f)))
        for kappa, rounds in ((1.5, 10), (1.2, 1)):
            case('box_' + name, i, f'output a = box_statistics(image, {size}, {kappa}, {rounds}).{name}',
                 boxes(i.float, size, clipped(kappa, rounds, f)))

# ---- backgrounds ------------------------------------------------------------------------------------

# Meshes of a dozen boxes to a side: scipy's splines are not exact at the ends of shorter ones.
WIDE = [Image('plain', kind, 72, 65) for kind in files.TYPES]
ESTIMATORS = {'sextractor': background.SExtractorBackground(), 'median': background.MedianBackground(),
              'mean': background.MeanBackground(), 'mode': background.MMMBackground()}


def sky(i, estimator, filter_size, kappa, rounds, mask=None):
    clip = background.core.SigmaClip(kappa, maxiters=rounds)
    return background.Background2D(i.float, (6, 5), mask=mask, exclude_percentile=100, filter_size=filter_size, sigma_clip=clip,
                                   bkg_estimator=ESTIMATORS[estimator], bkg_rms_estimator=background.StdBackgroundRMS())


for i in WIDE:
    for estimator, radius, kappa, rounds in (('sextractor', 1, 3, 10), ('median', 0, 1.5, 2), ('mean', 2, 2, 1), ('mode', 1, 1.4, 10)):
        want = sky(i, estimator, 2 * radius + 1, kappa, rounds)
        call = f'background_mesh(image, [6, 5], {radius}, {kappa}, {rounds}, {estimator}, 100)'
        for name, values in (('background', want.background), ('rms', want.background_rms), ('mesh', want.background_mesh),
                             ('rms_mesh', want.background_rms_mesh)):
            if i.kind == 'u8' or name in ('mesh', 'rms_mesh'):
                case('background_mesh', i, f'output a = {call}.{name}', values, 3e-6)

i = WIDE[0]
masked = i.float > 100
want = sky(i, 'median', 3, 3, 10, masked)
case('background_mesh', i, 'output a = background_mesh(image where image <= 100, [6, 5], estimator = median, exclude = 100).mesh', want.background_mesh)

files.write('astronomy.txt', cases)
