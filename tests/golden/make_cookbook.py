#!/usr/bin/env python3
"""Writes cookbook/* here: what recipes of docs/cookbook.md must give for the sample images.

    python3 make_cookbook.py

RECIPE-OUTPUT.csv       a table, as the recipe writes it
RECIPE-values.csv       its values of the whole image
RECIPE-OUTPUT.row.csv   a few pixels of an image

All of it is computed with numpy, scipy, scikit-image, astropy and photutils, without a look at what pipec gives.  Needs tifffile, too.
"""
import os

import numpy as np
import tifffile
from astropy.io import fits
from astropy.stats import sigma_clip, sigma_clipped_stats
from photutils.aperture import CircularAperture, aperture_photometry
from photutils.background import Background2D, StdBackgroundRMS
from scipy import ndimage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from skimage import color, feature, filters, measure, morphology, segmentation

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, '..', '..', 'samples')


def sample(name):
    path = os.path.join(SAMPLES, name)
    pixels = fits.getdata(path) if name.endswith('fits') else tifffile.imread(path)
    return pixels.astype(np.float64)


BLOBS, NUCLEI, MOVIE, VOLUME, SKY = (sample(n) for n in ('blobs.tif', 'nuclei.tif', 'timelapse.tif', 'volume.tif', 'sky.fits'))


def blur(v, sigma):
    return ndimage.gaussian_filter(v, sigma, mode='nearest')


def bright(v):
    """What lies above Otsu's threshold, which counts whole numbers one by one."""
    whole = np.array_equal(v, np.round(v))
    return v > filters.threshold_otsu(v.astype(int) if whole else v.astype(np.float32))


def objects(v, sigma):
    return measure.label(bright(blur(v, sigma)))


def each(labels, fold, image):
    return np.array([fold(image[labels == i]) for i in range(1, labels.max() + 1)])


def area(labels):
    return np.bincount(labels.ravel(), minlength=labels.max() + 1)[1:]


def save(name, columns, order=None):
    """columns: a value for each row; a single value is a row by itself."""
    rows = list(zip(*(np.atleast_1d(c) for c in columns.values())))
    if order is not None:
        rows = [rows[i] for i in order]
    with open(os.path.join(HERE, 'cookbook', name + '.csv'), 'w') as to:
        print(','.join(columns), file=to)
        for row in rows:
            print(','.join(v if isinstance(v, str) else f'{v:.15g}' for v in row), file=to)


def values(recipe, image, **columns):
    save(recipe + '-values', {'image': image, **columns})


def table(recipe, labels, output='table', order=None, **columns):
    names = {k.replace('__', '-'): v for k, v in columns.items()}
    save(f'{recipe}-{output}', {'label': np.arange(1, labels.max() + 1), **names}, order)


def save_row(output, image):
    """Ten pixels of row 1, away from the border: there photutils smooths a mesh in another way."""
    save(output + '.row', {'x': np.arange(10), 'row': image[1, 1:11]})


# ---- cells ----------------------------------------------------------------------------------

def cells():
    labels = segmentation.relabel_sequential(segmentation.clear_border(objects(BLOBS, 2)))[0]
    table('well_counts', labels, area=area(labels), mean=each(labels, np.mean, BLOBS))
    wells = {'well': ['A01', 'A02'], 'count': [2, 1]}
    save('well_counts-values_by_well', {**wells, 'number_mean': 2 * [labels.max()], 'number_median': 2 * [labels.max()]})

    mask = ndimage.binary_fill_holes(bright(blur(BLOBS, 1)))
    mask = morphology.remove_small_objects(mask, max_size=19)
    distance = ndimage.distance_transform_edt(mask)
    seeds = measure.label(morphology.h_maxima(distance, 0.5))
    labels = segmentation.watershed(-distance, seeds, mask=mask)
    values('split', 'blobs.tif', number=labels.max())
    round_ = [4 * np.pi * p.area / p.perimeter ** 2 if p.perimeter > 0 else np.inf for p in measure.regionprops(labels)]
    table('given_labels', labels, area=area(labels), mean=each(labels, np.mean, BLOBS), std=each(labels, np.std, BLOBS),
          circularity=round_)

    labels = objects(BLOBS, 2)
    size = area(labels)
    largest = labels == size.argmax() + 1
    y, x = ndimage.center_of_mass(largest)
    save('largest-table', {'label': 1, 'area': size.max(), 'centroid-0': y, 'centroid-1': x, 'mean': BLOBS[largest].mean()})
    p5, p50, p95 = (each(labels, lambda v: np.percentile(v, q), BLOBS) for q in (5, 50, 95))
    table('brightest', labels, area=size, percentile_5=p5, median=p50, percentile_95=p95, order=np.argsort(-p95, kind='stable'))

    labels = segmentation.expand_labels(labels, 6)
    apart = cdist(*2 * [ndimage.center_of_mass(labels > 0, labels, np.arange(1, labels.max() + 1))])
    np.fill_diagonal(apart, np.inf)
    pairs = {tuple(sorted(p)) for a, b in ((labels[1:], labels[:-1]), (labels[:, 1:], labels[:, :-1]))
             for p in zip(a[(a != b) & (a * b > 0)], b[(a != b) & (a * b > 0)])}
    touching = [sum(i in p for p in pairs) for i in range(1, labels.max() + 1)]
    table('neighbours', labels, area=area(labels), touching=touching, within_40=(apart <= 40).sum(1), nearest=apart.min(1))

    labels = morphology.remove_small_objects(objects(BLOBS, 1 / 0.65), max_size=int(np.ceil(20 / 0.65 ** 2)) - 1)
    of = measure.regionprops(segmentation.relabel_sequential(labels)[0], spacing=(0.65, 0.65))
    save('micrometres-objects', {'label': np.arange(1, len(of) + 1), 'area': [p.area for p in of],
                                 'perimeter': [p.perimeter for p in of], 'feret_diameter_max': [p.feret_diameter_max for p in of]})

    labels = objects(BLOBS, 1)
    of = [p for p in measure.regionprops(labels) if p.area > 30 and 4 * np.pi * p.area / p.perimeter ** 2 > 0.9]
    save('circular-table', {'label': np.arange(1, len(of) + 1), 'area': [p.area for p in of],
                            'circularity': [4 * np.pi * p.area / p.perimeter ** 2 for p in of],
                            'eccentricity': [p.eccentricity for p in of], 'solidity': [p.solidity for p in of]})

    labels = measure.label(bright(BLOBS))
    size = area(labels)
    save('sizes-classes', {'x': np.arange(5), 'classes': np.histogram(size, 5, (0, 500))[0]})
    values('sizes', 'blobs.tif', median_size=np.median(size), small=(size < 100).sum(), large=(size >= 300).sum())


def channels():
    red, green = blur(NUCLEI[..., 0], 1), blur(NUCLEI[..., 1], 1)
    values('colocalisation', 'nuclei.tif', pearson=np.corrcoef(red.ravel(), green.ravel())[0, 1],
           manders_red=red[bright(green)].sum() / red.sum(), manders_green=green[bright(red)].sum() / green.sum())

    nuclei = objects(NUCLEI[..., 1], 3)
    ring = np.where(nuclei > 0, 0, segmentation.expand_labels(nuclei, 6))
    inside, around = (each(l, np.mean, NUCLEI[..., 0]) for l in (nuclei, ring))
    table('ratio', nuclei, 'cells', area=area(nuclei), nucleus=inside, ring=around, ratio=inside / around)
    values('ratio', 'nuclei.tif', median_ratio=np.median(inside / around))
    marker = each(nuclei, np.mean, NUCLEI[..., 1])
    values('positive', 'nuclei.tif', cells_in_all=len(marker), positive=(marker > 150).sum(), percent=100 * np.mean(marker > 150))

    labels = objects(NUCLEI[..., 1], 5)
    fine = blur(NUCLEI[..., 0], 1) - blur(NUCLEI[..., 0], 2)
    noise = sigma_clipped_stats(fine, sigma=3, maxiters=None)[2]
    spots = np.zeros(fine.shape)
    spots[tuple(feature.peak_local_max(fine, min_distance=2, threshold_abs=3 * noise, exclude_border=2).T)] = 1
    n = each(labels, np.sum, spots)
    table('spots', labels, area=area(labels), spots=n, density=n / area(labels))
    values('spots', 'nuclei.tif', spots_per_cell=n.mean())

    hue, saturation, value = np.moveaxis(color.rgb2hsv(NUCLEI.astype(np.uint8)), -1, 0)
    values('colours', 'nuclei.tif', percent=100 * np.mean((hue >= 0.25) & (hue <= 0.45) & (saturation > 0.3) & (value > 0.2)))


def stains():
    hed = color.rgb2hed(NUCLEI.astype(np.uint8))

    def nuclei(v):
        mask = morphology.remove_small_objects(bright(blur(v, 1)), max_size=29)
        distance = ndimage.distance_transform_edt(mask)
        return segmentation.watershed(-distance, measure.label(morphology.h_maxima(distance, 1)), mask=mask)

    labels = nuclei(hed[..., 0])
    table('he', labels, area=area(labels), haematoxylin=each(labels, np.mean, hed[..., 0]), eosin=each(labels, np.mean, hed[..., 1]))
    values('he', 'nuclei.tif', number=labels.max())
    dab = each(nuclei(hed[..., 0] + hed[..., 2]), np.mean, hed[..., 2])
    values('brown', 'nuclei.tif', nuclei_in_all=len(dab), positive=(dab > 0.164).sum(), percent=100 * np.mean(dab > 0.164))


def ridges(v, sigma):
    """scikit-image's sato by differences of the blurred image, as its releases before 0.20 have it."""
    second = feature.hessian_matrix(v, sigma, mode='reflect', use_gaussian_derivatives=False)
    return sigma ** 2 * np.maximum(-feature.hessian_matrix_eigvals(second)[1], 0)


def lines():
    tubes = np.maximum(ridges(BLOBS, 2), ridges(BLOBS, 4))
    threshold = filters.threshold_otsu(tubes.astype(np.float32))
    mask = morphology.remove_small_objects(filters.apply_hysteresis_threshold(tubes, threshold / 2, threshold), max_size=49)
    radius = ndimage.distance_transform_edt(mask)[morphology.skeletonize(mask)]
    values('vessels', 'blobs.tif', percent=100 * mask.mean(), mean_width=2 * radius.mean())

    labels = measure.label(bright(BLOBS))
    s = np.pad(morphology.skeletonize(bright(BLOBS)).astype(int), 1)
    middle, right, down = s[1:-1, 1:-1], s[1:-1, 2:], s[2:, 1:-1]
    length = middle * (right + down) + np.sqrt(2) * middle * (s[2:, 2:] + s[2:, :-2])
    ends = middle * (ndimage.uniform_filter(9.0 * s, 3).round()[1:-1, 1:-1] == 2)
    table('skeleton', labels, area=area(labels), length=each(labels, np.sum, length), ends=each(labels, np.sum, ends))

    profile = blur(BLOBS.mean(0), 3)
    dark = (np.diff(profile, prepend=np.inf) < 0) & (np.diff(profile, append=np.inf) > 0)
    save('rings-profile', {'x': np.arange(len(profile)), 'profile': profile})
    values('rings', 'blobs.tif', rings=dark.sum(), mean_width=len(profile) / dark.sum())


def areas():
    small = measure.block_reduce(NUCLEI, (4, 4, 1), np.mean)
    saturation = blur(color.rgb2hsv(small / 255)[..., 1], 2)
    tissue = morphology.remove_small_holes(morphology.opening(bright(saturation), morphology.disk(2)), max_size=99, connectivity=1)
    values('tissue', 'nuclei.tif', area_um2=4.0 * tissue.sum(), percent=100 * tissue.mean())

    size = []
    for frame in MOVIE:
        mean, square = (ndimage.uniform_filter(v, 7, mode='nearest') for v in (frame, frame ** 2))
        texture = np.sqrt(np.maximum(square - mean ** 2, 0))
        gap = morphology.opening(texture < filters.threshold_li(texture), morphology.disk(2))
        size.append(area(measure.label(gap)).max())
    size = np.array(size)
    save('wound-values', {'image': ['timelapse.tif'] * len(MOVIE), 'frame': np.arange(len(MOVIE)), 'area': size,
                          'percent': 100 * size / MOVIE[0].size})


# ---- volumes and time -----------------------------------------------------------------------

def volumes():
    mask = ndimage.binary_fill_holes(bright(blur(VOLUME, [0.7, 1.5, 1.5])))
    labels = morphology.remove_small_objects(measure.label(mask), max_size=19)
    labels = segmentation.relabel_sequential(labels)[0]
    of = measure.regionprops(labels, VOLUME, spacing=(0.5, 0.25, 0.25))
    z, y, x = np.array([p.centroid for p in of]).T
    table('nuclei_3d', labels, area=[p.area for p in of], centroid__0=z, centroid__1=y, centroid__2=x,
          mean=[p.intensity_mean for p in of])
    values('nuclei_3d', 'volume.tif', number=labels.max())

    sharpness = np.array([ndimage.laplace(v).var() for v in VOLUME])
    gy, gx = (ndimage.correlate1d(VOLUME, [-1, 0, 1], axis, mode='nearest') for axis in (1, 2))
    plane = blur(gx ** 2 + gy ** 2, [0, 2, 2]).argmax(0)
    save_row('all_in_focus-sharp_everywhere', np.take_along_axis(VOLUME, plane[None], 0)[0])
    save('focus-sharpness', {'z': np.arange(len(VOLUME)), 'sharpness': sharpness})
    values('focus', 'volume.tif', best_plane=sharpness.argmax())


def time():
    light = np.where(bright(MOVIE), MOVIE, 0)
    y, x = np.array([ndimage.center_of_mass(v) for v in light]).T
    frames = np.arange(len(MOVIE))
    save('drift-right', {'z': frames, 'right': x - x[0]})
    save('drift-down', {'z': frames, 'down': y - y[0]})

    # In no frame an object is missing, and none splits: linear assignment from frame to frame is all of it.
    found = [(t, p) for t, v in enumerate(bright(blur(MOVIE, [0, 1, 1])))
             for p in measure.regionprops(measure.label(v), MOVIE[t])]
    frame = np.array([t for t, _ in found])
    places = np.array([p.centroid for _, p in found])
    track = np.arange(1, len(found) + 1)
    for t in range(1, len(MOVIE)):
        before, now = np.flatnonzero(frame == t - 1), np.flatnonzero(frame == t)
        way = cdist(places[before], places[now], 'sqeuclidean')
        for i, j in zip(*linear_sum_assignment(way)):
            assert way[i, j] <= 8 ** 2
            track[now[j]] = track[before[i]]
    order = np.lexsort((frame, track))
    save('tracks-table', {name: np.array(v)[order] for name, v in {
        'label': np.arange(1, len(found) + 1), 'track': track, 'frame': frame, 'x': places[:, 1], 'y': places[:, 0],
        'parent': 0 * track, 'num_pixels': [p.num_pixels for _, p in found],
        'mean': [p.intensity_mean for _, p in found]}.items()})
    values('tracks', 'timelapse.tif', number=track.max())

    save_row('kymograph-kymograph', MOVIE[:, 30:39].mean(1))
    inside = bright(MOVIE.mean(0))
    signal = np.array([v[inside].mean() - v[~inside].mean() for v in MOVIE])
    save('intensity-curve', {'z': frames, 'curve': signal / signal[0]})


# ---- astronomy ------------------------------------------------------------------------------

def sky():
    back = Background2D(SKY, 25, filter_size=3, exclude_percentile=50, bkg_rms_estimator=StdBackgroundRMS())
    save_row('mesh-mesh', back.background_mesh)
    save_row('mesh-signal_to_noise', (SKY - back.background) / back.background_rms)

    _, level, noise = sigma_clipped_stats(SKY, sigma=3, maxiters=None)
    clean = SKY - level
    labels = morphology.remove_small_objects(measure.label(clean > 5 * noise), max_size=4)
    labels = segmentation.relabel_sequential(labels)[0]
    y, x = np.array(ndimage.center_of_mass(clean, labels, np.arange(1, labels.max() + 1))).T
    flux = each(labels, np.sum, clean)
    table('catalogue', labels, 'sources', mass_center_x=x, mass_center_y=y, area=area(labels), flux=flux,
          max=each(labels, np.max, clean), order=np.argsort(-flux))
    values('catalogue', 'sky.fits', number=labels.max(), noise=noise)

    smooth = blur(SKY, 2)
    _, level, noise = sigma_clipped_stats(smooth, sigma=3, maxiters=None)
    peaks = feature.peak_local_max(smooth, min_distance=5, threshold_abs=level + 5 * noise, exclude_border=5)
    peaks = peaks[np.lexsort((peaks[:, 1], peaks[:, 0]))]
    stars = np.zeros(SKY.shape, int)
    stars[tuple(peaks.T)] = np.arange(1, len(peaks) + 1)
    between, around = (segmentation.expand_labels(stars, r) for r in (7.5, 10))
    level = each(np.where(between > 0, 0, around), np.median, SKY)
    apertures = CircularAperture(peaks[:, ::-1], 5.001)
    total = aperture_photometry(SKY, apertures, method='center')['aperture_sum']
    flux = np.array(total) - level * np.array([m.data.sum() for m in apertures.to_mask(method='center')])
    save('aperture-table', {'label': np.arange(1, len(peaks) + 1), 'centroid_x': peaks[:, 1], 'centroid_y': peaks[:, 0],
                            'flux': flux, 'background': level}, np.argsort(-flux))

    others = np.ones((3, 3))
    others[1, 1] = 0
    highest = ndimage.maximum_filter(SKY, footprint=others, mode='nearest')
    noise = sigma_clipped_stats(SKY, sigma=3, maxiters=None)[2]
    values('hot_pixels', 'sky.fits', number=(SKY - highest > 5 * noise).sum())

    level = np.median(np.median(VOLUME, 2), 1)
    even = VOLUME - level[:, None, None]
    kept = ~np.ma.getmaskarray(sigma_clip(even, sigma=3, maxiters=5, axis=0))
    stacked = (even * kept).sum(0) / kept.sum(0)
    save_row('stack-stacked', stacked)


# ---- any image ------------------------------------------------------------------------------

def any_image():
    clean = morphology.white_tophat(blur(BLOBS, 1), np.ones((31, 31)))
    values('uneven', 'blobs.tif', number=measure.label(bright(clean)).max())
    low, high = np.percentile(BLOBS, [1, 99.8])
    values('percentiles', 'blobs.tif', low=low, high=high)
    band = blur(BLOBS, 2) - blur(BLOBS, 8)
    labels = measure.label(band > 3 * sigma_clipped_stats(band, sigma=3, maxiters=None)[2])
    y, x = np.array(ndimage.center_of_mass(labels > 0, labels, np.arange(1, labels.max() + 1))).T
    table('bandpass', labels, 'spots', area=area(labels), centroid__0=y, centroid__1=x, max=each(labels, np.max, BLOBS))


# ---- recipes whose inputs the test makes ------------------------------------------------------

def made():
    gain = blur(np.broadcast_to(90.0 + np.arange(BLOBS.shape[1]), BLOBS.shape), 10)
    save_row('illumination-corrected', np.round((BLOBS - 10) * gain.mean() / gain).clip(0))

    bias, dark, flat = (np.median(v, 0) for v in (VOLUME, VOLUME + 5, 3 * VOLUME + np.arange(VOLUME.shape[2])))
    gain = flat - bias
    save_row('ccd-reduced', (VOLUME[3] - bias - 2 * (dark - bias)) / (gain / np.median(gain)))


if __name__ == '__main__':
    os.makedirs(os.path.join(HERE, 'cookbook'), exist_ok=True)
    for make in (cells, channels, stains, lines, areas, volumes, time, sky, any_image, made):
        make()
