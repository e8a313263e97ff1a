#!/usr/bin/env python3
"""Writes samples/* here: what the sample pipelines must give, computed with scipy and scikit-image.

    python3 make_samples_golden.py

NAME.labels  extents, largest label and FNV-1a hash of all labels as little-endian 32-bit numbers
NAME.points  extents, smallest and largest value, then "z y x value" at points spread by a fixed sequence
NAME.csv     a table

Everything is computed in double precision from the files in samples/, without a look at what
pipec gives.  Needs numpy, scipy, scikit-image and tifffile.
"""
import os

import numpy as np
import tifffile
from scipy import ndimage
from skimage import color, filters, measure, morphology

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, '..', '..', 'samples')
POINTS = 200


def read_fits(name):
    """A two-dimensional 32-bit float image whose header is one block."""
    with open(os.path.join(SAMPLES, name), 'rb') as file:
        data = file.read()
    cards = [data[i:i + 80].decode('ascii') for i in range(0, 2880, 80)]
    header = {c[:8].strip(): c[10:].split('/')[0].strip() for c in cards if c[8:9] == '='}
    assert header['BITPIX'] == '-32' and header['NAXIS'] == '2'
    x, y = int(header['NAXIS1']), int(header['NAXIS2'])
    return np.frombuffer(data, '>f4', x * y, 2880).reshape(y, x).astype(np.float64)


def read_tiff(name):
    return tifffile.imread(os.path.join(SAMPLES, name))


def path_of(name):
    return os.path.join(HERE, 'samples', name)


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return value


def axes(image):
    return (1,) * (3 - image.ndim) + image.shape


def save_labels(name, labels):
    z, y, x = axes(labels)
    with open(path_of(name + '.labels'), 'w') as to:
        hashed = fnv(labels.astype('<u4').tobytes())
        print(f'{x} {y} {z} {labels.max()} {hashed:016x}', file=to)


def save_points(name, image):
    z, y, x = axes(image)
    flat = image.astype(np.float64).ravel()
    with open(path_of(name + '.points'), 'w') as to:
        print(f'{x} {y} {z} {flat.min():.17g} {flat.max():.17g}', file=to)
        for i in range(POINTS):
            at = (i * 2654435761 + 12345) % flat.size
            print(f'{at // (x * y)} {at // x % y} {at % x} {flat[at]:.17g}', file=to)


def save_table(name, columns):
    with open(path_of(name + '.csv'), 'w') as to:
        print(','.join(columns), file=to)
        for row in zip(*columns.values()):
            print(','.join(f'{value:.17g}' for value in row), file=to)


def blur(image, sigma):
    return ndimage.gaussian_filter(image.astype(np.float64), sigma, mode='nearest', truncate=4)


def properties(labels, image, names):
    table = measure.regionprops_table(labels, image.astype(np.float64), ('label',) + names)
    rename = {'intensity_mean': 'mean', 'intensity_max': 'max'}
    return {rename.get(name, name): column for name, column in table.items()}


def blobs():
    image = read_tiff('blobs.tif')
    for name, sigma in (('blobs', 2), ('blobs_sigma3', 3)):
        blurred = blur(image, sigma).astype(np.float32)
        labels = measure.label(blurred > filters.threshold_otsu(blurred), connectivity=2)
        save_labels(name, labels)
        save_table(name, properties(labels, image, ('area', 'centroid', 'intensity_mean', 'intensity_max')))


def timelapse():
    tables = []
    stack = []
    for number, image in enumerate(read_tiff('timelapse.tif')):
        blurred = blur(image, 2).astype(np.float32)
        labels = measure.label(blurred > filters.threshold_otsu(blurred), connectivity=2)
        table = properties(labels, image, ('area', 'centroid', 'intensity_mean', 'intensity_max'))
        tables.append({'frame': np.full(len(table['label']), number), **table})
        stack.append(labels)
    save_labels('timelapse', np.array(stack))
    save_table('timelapse', {name: np.concatenate([t[name] for t in tables]) for name in tables[0]})


def nuclei():
    green = read_tiff('nuclei.tif')[..., 1]
    blurred = blur(green, 5).astype(np.float32)
    mask = ndimage.binary_erosion(blurred > filters.threshold_otsu(blurred), morphology.disk(2), border_value=1)
    labels = measure.label(mask, connectivity=2)
    save_labels('nuclei', labels)
    save_table('nuclei', properties(labels, green, ('intensity_mean', 'area', 'solidity')))
    picture = np.rint(color.label2rgb(labels, bg_label=0) * 255).astype(np.uint32)
    save_labels('nuclei_overlay', picture.transpose(2, 0, 1))


def clipped(sky, kappa):
    lo, hi = -np.inf, np.inf
    left = None
    for _ in range(100):
        kept = sky[(sky > lo) & (sky < hi)]
        if left is not None and kept.size == left:
            break
        left = kept.size
        median, std = np.median(kept), kept.std()
        lo, hi = max(lo, median - kappa * std), min(hi, median + kappa * std)
    return std


def sources():
    sky = read_fits('sky.fits')
    std = clipped(sky, 3)
    mask = sky > 5 * std
    save_labels('clip', mask.astype(np.uint32) * 255)
    labels = measure.label(mask, connectivity=1)
    save_labels('sources', labels)
    ids = np.arange(1, labels.max() + 1)
    centers = np.array(ndimage.center_of_mass(sky, labels, ids))
    save_table('sources', {'label': ids, 'center_of_mass-0': centers[:, 0],
                           'center_of_mass-1': centers[:, 1], 'sum': ndimage.sum(sky, labels, ids)})


def convolve():
    image = read_tiff('blobs.tif').astype(np.float64)
    bell = np.exp(-(np.arange(-7, 8) * 2 / 7) ** 2 / 2)
    save_points('convolve', ndimage.correlate(image, np.outer(bell, bell), mode='nearest'))


def harris():
    image = read_tiff('blobs.tif').astype(np.float64)

    def box3(v):
        return ndimage.uniform_filter(v, 3, mode='nearest')

    gx = ndimage.correlate1d(image, [-1, 0, 1], 1, mode='nearest')
    gy = ndimage.correlate1d(image, [-1, 0, 1], 0, mode='nearest')
    xx, yy, xy = box3(gx * gx), box3(gy * gy), box3(gx * gy)
    save_points('harris', xx * yy - xy * xy - 0.04 * (xx + yy) ** 2)


def deconvolve():
    image = read_tiff('volume.tif').astype(np.float64)
    estimate = image
    for _ in range(20):
        estimate = estimate * blur(image / np.maximum(blur(estimate, 2), 1e-6), 2)
    save_points('deconvolve', estimate)


def primes():
    prime = np.ones(10000, bool)
    prime[:2] = False
    for d in range(2, 100):
        prime[2 * d::d] = False
    save_labels('primes', prime[None].astype(np.uint32) * 255)
    save_table('primes', {'count': [prime.sum()]})


if __name__ == '__main__':
    os.makedirs(os.path.join(HERE, 'samples'), exist_ok=True)
    for make in (blobs, timelapse, nuclei, sources, convolve, harris, deconvolve, primes):
        make()
