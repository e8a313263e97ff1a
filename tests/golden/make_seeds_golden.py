#!/usr/bin/env python3
"""Writes seeds/* here: what tests/e2e/seeds/*.pipe must give, by numpy and scipy.

    python3 make_seeds_golden.py

The formats are those of make_samples_golden.py.
"""
import os

import numpy as np
from scipy import ndimage, signal

import make_samples_golden as golden
from make_samples_golden import read_fits, save_points, save_table


def stars():
    y, x = np.indices((2048, 2048))
    image = np.where((x * 7 + y * 13) % 97 == 0, (x * 31 + y * 17) % 251, 0).astype(float)
    bell = np.exp(-(np.arange(-7, 8) * 2 / 7) ** 2 / 2)
    save_points('stars_wide', signal.convolve2d(image, np.outer(bell, bell)))
    kernel = [[0.25, 0.5, 0.25], [0.5, 1, 0.5], [0, -1, 2]]
    save_points('stars_narrow', signal.convolve2d(image, kernel, mode='same'))


def line():
    n = np.arange(100000)
    image = np.where(n * 7 % 97 == 0, n % 251, 0).astype(float)
    save_points('line_wide', np.convolve(image, [0.25, 0.5, 1, 2, -1])[None])


def clip(v, kappa):
    """The loop of the astronomy lesson: strict, around the median, until nothing goes."""
    while True:
        middle, spread = np.median(v), np.std(v)
        kept = v[v > middle - kappa * spread]
        kept = kept[kept < middle + kappa * spread]
        if kept.size == v.size:
            return kept
        v = kept


def sky():
    image = read_fits('sky.fits')
    y, x = np.indices(image.shape)
    rest = clip(image.ravel(), 3)
    holes = image[(x + 3 * y) % 50 != 0]
    values = {'all': (np.mean, np.median, np.std, np.max), 'rest': (np.mean, np.median, np.std, np.max, np.size),
              'holes': (np.mean, np.median, np.std)}
    names = {np.mean: 'mean', np.median: 'median', np.std: 'std', np.max: 'max', np.size: 'count'}
    table = {f'{key}_{names[f]}': [f({'all': image, 'rest': rest, 'holes': holes}[key])]
             for key, list_of in values.items() for f in list_of}
    table['holes_p99'] = [np.percentile(holes, 99)]
    table['sources'] = [ndimage.label(image > 5 * np.std(rest))[1]]
    save_table('sky', table)


if __name__ == '__main__':
    golden.path_of = lambda name: os.path.join(golden.HERE, 'seeds', name)
    os.makedirs(os.path.join(golden.HERE, 'seeds'), exist_ok=True)
    for make in (stars, line, sky):
        make()
