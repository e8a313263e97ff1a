#!/usr/bin/env python3
"""Writes astronomy.txt: backgrounds, stars, cosmic rays and deblended sources.

Run it in this folder with numpy, scipy 1.17, astropy 8.0, photutils 3.0 and astroscrappy 1.3; cases.py says what a case is.
"""
import astroscrappy
import numpy as np
from astropy.stats import sigma_clip
from photutils import background
from photutils.aperture import CircularAnnulus, CircularAperture, EllipticalAperture
from photutils.detection.core import _StarFinderKernel
from photutils.detection.daofinder import _DAOStarFinderCatalog
from photutils.segmentation import SegmentationImage, SourceCatalog, deblend_sources
from photutils.psf_matching import HanningWindow, TopHatWindow, TukeyWindow, make_kernel
from scipy import ndimage

import cases as files
from cases import Image

np.seterr(all='ignore')
FLAT = [Image('plain', kind, 19, 23) for kind in files.TYPES]
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

# ---- cosmic rays ---------------------------------------------------------------------------------------

RAYS = {'readnoise': 3, 'gain': 1.5, 'sigclip': 4, 'sigfrac': 0.5, 'objlim': 2, 'niter': 3}
for i, satlevel in ((Image('plain', 'u8', 29, 31), 65536), (Image('plain', 'f32', 29, 31), 300), (Image('plain', 'u8', 2, 20, 23), 65536)):
    planes = i.float if i.ndim == 3 else i.float[None]
    rows, columns = np.indices(planes.shape[1:])
    planes = [(v + np.where((7 * columns + 13 * rows) % 41 == 0, 400, 0)).astype('f4') for v in planes]
    hit = 'hit = image + (400 if (7 * x_of(image) + 13 * y_of(image)) % 41 == 0 else 0)\n'
    for square in (False, True):
        for bad in (False, True):
            found = [astroscrappy.detect_cosmics(v, v > 440 if bad else None, sepmed=not square, satlevel=satlevel, **RAYS) for v in planes]
            assert sum(f[0].sum() for f in found) > 10
            call = f'cosmic_rays(hit{" where hit <= 440" if bad else ""}, 3, 1.5, 4, 0.5, 2, {satlevel}, 3, {"square" if square else "crossed"})'
            for k, name in enumerate(('mask', 'clean')):
                case('cosmic_rays', i, f'{hit}output a = {call}.{name}', np.reshape([f[k] for f in found], i.shape))

# ---- stars -------------------------------------------------------------------------------------------------

for i, fwhm in ((Image('plain', 'u8', 19, 23), 2), (Image('plain', 'u16', 19, 23), 4.5), (Image('plain', 'f32', 19, 23), 3)):
    v = i.float - np.median(i.float)
    places = np.argwhere(np.ones(v.shape))[:, ::-1]
    kernel = _StarFinderKernel(fwhm)
    height = ndimage.convolve(v, kernel.data, mode='constant')
    of = _DAOStarFinderCatalog(v, height, places, 0, kernel)
    least = height.max() / 10
    for name, want in (('sharpness', of.sharpness), ('roundness1', of.roundness1), ('roundness2', of.roundness2),
                       ('x', of.x_centroid), ('y', of.y_centroid)):
        case('star_' + name, i, f'v = image - median(image)\noutput a = star_shape(v, {fwhm}).{name} if star_height(v, {fwhm}) > {least} else 0',
             np.where(height > least, np.reshape(want, v.shape), 0), 1e-4)

i = Image('plain', 'u8', 29, 31)
y, x = np.indices(i.shape) - np.array([14, 15])[:, None, None]
psf = [np.exp(-(x * x + y * y) / s) for s in (4, 9)]
for window, words in ((None, ''), (HanningWindow(), ', taper = 1'), (TukeyWindow(0.4), ', taper = 0.4, inner = 0.6'), (TopHatWindow(0.5), ', taper = 0, inner = 0.5')):
    case('matching_kernel', i, 'x = x_of(image) - 15\ny = y_of(image) - 14\nsource = exp(-(x * x + y * y) / 4)\ntarget = exp(-(x * x + y * y) / 9)\n'
         f'output a = matching_kernel(source, target, 0.001{words})', make_kernel(psf[0] / psf[0].sum(), psf[1] / psf[1].sum(), window=window, regularization=0.001), 1e-5)

# ---- apertures of objects --------------------------------------------------------------------------------------

for i in (Image('plain', 'u8', 29, 33), Image('plain', 'f32', 29, 33)):
    y, x = np.indices(i.shape)
    v = 200 * np.exp(-((x - 9.2) ** 2 + (y - 7.7) ** 2) / 8) + 150 * np.exp(-(x - 22.3) ** 2 / 18 - (y - 18.6) ** 2 / 6 -
        (x - 22.3) * (y - 18.6) / 20) + 120 * np.exp(-((x - 1) ** 2 + (y - 26) ** 2) / 6) + np.maximum(i.float, 0) / 100
    seg, _ = ndimage.label(v > 40, np.ones((3, 3)))
    text = ('x = x_of(image)\ny = y_of(image)\nv = 200 * exp(-((x - 9.2) ** 2 + (y - 7.7) ** 2) / 8) + 150 * exp(-(x - 22.3) ** 2 / 18 - '
            '(y - 18.6) ** 2 / 6 - (x - 22.3) * (y - 18.6) / 20) + 120 * exp(-((x - 1) ** 2 + (y - 26) ** 2) / 6) + max(image, 0) / 100\n'
            'seg = label(v > 40)\noutput a = {}[seg] if seg > 0 else 0')
    assert seg.max() == 3

    def of_labels(name, values, tolerance):
        values = np.asarray(getattr(values, 'value', values), float)
        case(name, i, text.format(f'({call})'), np.concatenate([[0], values])[seg], tolerance)

    for method, words in (('mask', ''), ('none', ', neighbours = counted')):
        catalog = SourceCatalog(v, SegmentationImage(seg), aperture_mask_method=method, kron_params=(2, 1.2, 0))
        for name, values in (('radius', catalog.kron_radius), ('flux', catalog.kron_flux)):
            call = f'kron(seg, v, 2, 1.2, 25, objects = 5{words}).{name}'
            of_labels('kron_' + name, values, 2e-6)
        for part in (0.5, 0.9):
            call = f'flux_radius(seg, v, {part}, 2, 1.2, 25, objects = 3{words})'
            of_labels('flux_radius', catalog.flux_radius(part), 2e-5)
    middles = np.transpose([catalog.x_centroid, catalog.y_centroid])
    call = 'aperture_flux(seg, v, 3.3)'
    of_labels('aperture_flux', CircularAperture(middles, 3.3).do_photometry(v)[0], 2e-6)
    call = 'aperture_flux(seg, v, 4.1, 2.6, neighbours = left_out, objects = 2)'
    alone = [np.where((seg == 0) | (seg == k), v, 0) for k in (1, 2)]
    of_labels('aperture_flux', [*(CircularAnnulus(m, 2.6, 4.1).do_photometry(w)[0][0] for m, w in zip(middles, alone)), np.nan], 2e-6)
    # What is no number counts inside alone: at the corner of the circle's square, and in the hole of the ring.
    places = np.transpose([ndimage.mean(axis, seg, range(1, 4)) for axis in (x, y)])
    for ring, hole, at in ((CircularAperture(places, 3.3), (12, 11), '3.3'), (CircularAnnulus(places, 2.6, 4.1), (9, 8), '4.1, 2.6')):
        call = f'aperture_flux(seg, nan if x == {hole[0]} and y == {hole[1]} else v, {at}, x = x, y = y)'
        with_hole = np.where((x == hole[0]) & (y == hole[1]), np.nan, v)
        assert np.isfinite(ring.do_photometry(with_hole)[0]).all()
        of_labels('aperture_flux', ring.do_photometry(with_hole)[0], 2e-6)
    ring = CircularAnnulus(np.transpose([x.ravel(), y.ravel()]), 1.2, 2.5)
    case('aperture_sum', i, 'output a = aperture_sum(nan if x_of(image) == 12 and y_of(image) == 11 else image, 2.5, 1.2)',
         ring.do_photometry(np.where((x == 12) & (y == 11), np.nan, i.float))[0].reshape(i.shape), 1e-5)
    call = 'aperture_flux(seg, v, 2.2, x = x + 0.25, y = y / 2)'
    places = [(x[seg == k].mean() + 0.25, y[seg == k].mean() / 2) for k in (1, 2, 3)]
    of_labels('aperture_flux', CircularAperture(places, 2.2).do_photometry(v)[0], 2e-6)
    for call in ('aperture_flux(seg, 0 * v, 2)', 'kron(seg, 0 * v, reach = 12, objects = 3).radius', 'flux_radius(seg, 0 * v, reach = 12, objects = 3)'):
        of_labels('dark', [np.nan] * 3, 0)
for at in ((12.3, 7.8, 5.2, 2.4, 35), (0.4, 20.2, 3.3, 0.2, -70), (25, 28, 6, 6, 0), (8.6, 9.1, 0.3, 0.2, 10)):
    mask = EllipticalAperture(at[:2], at[2], at[3], theta=np.deg2rad(at[4])).to_mask(method='exact').to_image(i.shape)
    case('ellipse', i, f'output a = ellipse(image, {", ".join(map(str, at))})', mask, 3e-6)

# ---- deblending ---------------------------------------------------------------------------------------

def deblended(v, seg, size, **words):
    """photutils' labels, numbered source by source and within a source in their order."""
    parts = deblend_sources(v, SegmentationImage(seg), size, progress_bar=False, relabel=False, n_processes=1, **words).data
    return np.unique(np.where(seg > 0, seg * 10 ** 6 + parts, 0), return_inverse=True)[1].reshape(seg.shape)


BUMPS = ('w = sum(f32(image)[dx = i, dy = j, border = nearest] for j in -1 .. 1, i in -1 .. 1) + (x_of(image) + width(image) * y_of(image)) / 1024\n'
         'v = w - {}\nseg = label(v > {}, connectivity = {})\n')
i = Image('plain', 'u8', 41, 37)
y, x = np.mgrid[:41, :37]
bumps = ndimage.uniform_filter(i.float, 3, mode='nearest').__mul__(9).round() + (x + 37 * y) / 1024  # no two pixels are equal
for less, above, neighbours, size, words in ((0, 900, 8, 1, {}), (0, 800, 8, 4, {'contrast': 0.05}), (0, 800, 8, 3, {'mode': 'linear', 'n_levels': 7}),
                                             (0, 900, 8, 2, {'mode': 'sinh', 'contrast': 0.2}), (950, -100, 8, 3, {'contrast': 0.02}),
                                             (0, 850, 4, 2, {'connectivity': 4, 'contrast': 0}), (0, 900, 8, 2, {'contrast': 1})):
    v = bumps - less
    seg = ndimage.label(v > above, ndimage.generate_binary_structure(2, 2 if neighbours == 8 else 1))[0]
    call = ''.join(f', {name.removeprefix("n_")} = {value}' for name, value in words.items())
    want = deblended(v, seg, size, **words)
    assert want.max() > seg.max() or words.get('contrast') == 1
    case('deblend', i, BUMPS.format(less, above, neighbours) + f'output a = number(deblend(seg, v, {size}{call}))', want, 0)

files.write('astronomy.txt', cases)
