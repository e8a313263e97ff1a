#!/usr/bin/env python3
"""Writes real/* here: what tests/e2e/real/*.pipe must give for real images, by scipy and scikit-image.

    python3 make_real_golden.py FOLDER

FOLDER has the images blobs.tif (ImageJ's sample), nuclei-3-channels.tif (BBBC022), head-stack.tif and
cells-labels.tif; tests/e2e/real.sh runs when they are there.  The formats are those of
make_samples_golden.py.  Needs numpy, scipy, scikit-image 0.25 or newer and tifffile.
"""
import os
import sys

import numpy as np
import tifffile
from scipy import ndimage as ndi
from skimage import color, feature, filters, measure, morphology, segmentation

import make_samples_golden as golden
from make_samples_golden import blur, save_labels, save_points, save_table

NAMES = {'intensity_mean': 'mean', 'intensity_min': 'min', 'intensity_max': 'max', 'centroid_weighted': 'centroid_weighted'}


def read(name):
    return tifffile.imread(os.path.join(sys.argv[1], name + '.tif'))


def table(labels, image, *names):
    """regionprops_table under the names that the pipelines write; functions are called on a region."""
    columns = {'label': np.array([p.label for p in measure.regionprops(labels)])}
    for name in names:
        if callable(name):
            columns[name.__name__] = [name(image[labels == k]) for k in columns['label']]
            continue
        for key, column in measure.regionprops_table(labels, image.astype(float), (name,)).items():
            columns[NAMES.get(key, key)] = column
    return columns


def std(v):
    return v.astype(float).std()


def intensity_median(v):
    return np.median(v)


def otsu_labels(image, sigma):
    blurred = blur(image, sigma).astype(np.float32)
    return measure.label(blurred > filters.threshold_otsu(blurred))


def split(mask):
    depth = ndi.distance_transform_edt(mask).astype(np.float32)
    peaks = measure.label(morphology.h_maxima(depth, 0.5))
    return segmentation.watershed(-depth, peaks, mask=mask)


def voronoi_otsu(image, spot, outline):
    spots, region = blur(image, spot).astype(np.float32), blur(image, outline).astype(np.float32)
    around = np.ones((3,) * image.ndim)
    around[(1,) * image.ndim] = 0
    highest = ndi.maximum_filter(spots, footprint=around, mode='constant', cval=-np.inf)
    region = region > filters.threshold_otsu(region)
    seeds = measure.label((spots > highest) & region)
    nearest = ndi.distance_transform_edt(seeds == 0, return_distances=False, return_indices=True)
    parts = measure.label(region)
    seeded = np.isin(parts, parts[seeds > 0]) & region
    return segmentation.relabel_sequential(np.where(seeded, seeds[tuple(nearest)], 0))[0]


def peaks(image, distance, share):
    """Peaks numbered in raster order."""
    mask = np.zeros(image.shape, bool)
    mask[tuple(feature.peak_local_max(image, distance, threshold_rel=share).T)] = True
    return np.where(mask, np.cumsum(mask).reshape(mask.shape), 0)


def renumber(labels):
    return segmentation.relabel_sequential(labels)[0]


def picture(labels):
    return np.rint(color.label2rgb(labels, bg_label=0) * 255).astype(np.uint32).transpose(2, 0, 1)


def blobs():
    image = read('blobs')
    labels = otsu_labels(image, 2)
    save_labels('blobs_labels', labels)
    save_table('blobs_table', table(
        labels, image, 'area', 'centroid', 'bbox', 'intensity_mean', 'intensity_min', 'intensity_max', std,
        intensity_median, 'centroid_weighted', 'area_convex', 'solidity', 'eccentricity', 'axis_major_length',
        'axis_minor_length', 'orientation', 'perimeter', 'extent', 'equivalent_diameter_area', 'euler_number',
        'area_filled'))
    save_labels('blobs_split', split(image > filters.threshold_otsu(image)))
    save_labels('blobs_spots', voronoi_otsu(image, 5, 1))
    save_labels('blobs_cleared', renumber(segmentation.clear_border(labels)))
    save_labels('blobs_grown', segmentation.expand_labels(labels, 4))
    save_labels('blobs_large', renumber(morphology.remove_small_objects(labels, 300)))
    save_labels('blobs_peaks', peaks(blur(image, 3).astype(np.float32), 5, 0.3))
    save_labels('blobs_edges', segmentation.find_boundaries(labels) * np.uint32(255))
    save_points('blobs_background', ndi.median_filter(image, footprint=morphology.disk(15), mode='nearest'))
    v = image.astype(float)
    save_table('blobs_values', {
        'thresholds_otsu': [filters.threshold_otsu(image)], 'thresholds_li': [filters.threshold_li(image)],
        'thresholds_yen': [filters.threshold_yen(image)], 'thresholds_triangle': [filters.threshold_triangle(image)],
        'thresholds_isodata': [filters.threshold_isodata(image)], 'thresholds_mean': [v.mean()],
        'thresholds_std': [v.std()], 'thresholds_median': [np.median(v)], 'thresholds_p90': [np.percentile(v, 90)]})


def nuclei():
    channels = read('nuclei-3-channels')
    labels = []
    for channel in channels:
        blurred = blur(channel, 5).astype(np.float32)
        labels.append(measure.label(morphology.binary_erosion(blurred > filters.threshold_otsu(blurred),
                                                              morphology.disk(2))))
    for name, of in zip(('red', 'green', 'blue'), labels):
        save_labels(f'nuclei_{name}', of)
    red, v = labels[0], channels.astype(float)
    ids = np.arange(1, red.max() + 1)
    each = measure.regionprops(red)
    columns = {'label': ids, 'area': [p.area for p in each]}
    for name, f in (('mean', ndi.mean), ('std', ndi.standard_deviation), ('sum', ndi.sum_labels)):
        columns.update({f'{name}-{k}': f(v[k], red, ids) for k in range(3)})
    save_table('nuclei_table', {**columns, 'solidity': [p.solidity for p in each]})


def head():
    volume = read('head-stack')
    blurred = blur(volume, 1).astype(np.float32)
    mask = blurred > filters.threshold_otsu(blurred)
    labels = measure.label(mask)
    save_labels('head_labels', labels)
    ids = np.arange(1, labels.max() + 1)
    v = volume.astype(float)
    columns = table(labels, volume, 'centroid', 'bbox', 'intensity_mean', 'intensity_max', 'extent', 'euler_number')
    centers = np.array(ndi.center_of_mass(v, labels, ids))
    order = ('label', 'num_pixels') + tuple(f'centroid-{k}' for k in range(3)) + tuple(f'bbox-{k}' for k in range(6))
    columns['num_pixels'] = np.bincount(labels.ravel())[1:]
    columns['sum'] = ndi.sum_labels(v, labels, ids)
    columns.update({f'center_of_mass-{k}': centers[:, k] for k in range(3)})
    order += ('mean', 'max', 'sum') + tuple(f'center_of_mass-{k}' for k in range(3)) + ('extent', 'euler_number')
    save_table('head_table', {name: columns[name] for name in order})
    save_points('head_depth', ndi.distance_transform_edt(mask))
    save_labels('head_filled', ndi.binary_fill_holes(mask) * np.uint32(255))
    eroded = ndi.binary_erosion(mask, morphology.ball(2), border_value=1)
    save_labels('head_opened', ndi.binary_dilation(eroded, morphology.ball(2)) * np.uint32(255))
    save_labels('head_middle', ndi.median_filter(volume, 5, mode='nearest'))
    save_labels('head_split', split(mask))
    save_labels('head_highest', volume.max(0))
    save_points('head_side', v.mean(2))


def cells():
    labels = read('cells-labels').astype(int)
    save_table('cells_table', table(
        labels, labels, 'area', 'centroid', 'bbox', 'perimeter', 'perimeter_crofton', 'eccentricity', 'solidity',
        'orientation', 'axis_major_length', 'axis_minor_length', 'feret_diameter_max', 'euler_number', 'extent'))
    save_labels('cells_grown', segmentation.expand_labels(labels, 5))
    centres = np.zeros_like(labels)
    for p in measure.regionprops(labels):
        centres[tuple(np.floor(np.float32(p.centroid)).astype(int))] = p.label
    save_labels('cells_centres', centres)
    save_labels('cells_inside', renumber(segmentation.clear_border(labels)))
    save_labels('cells_edges', segmentation.find_boundaries(labels, mode='inner') * np.uint32(255))
    sizes = np.bincount(labels.ravel())
    save_labels('cells_small', renumber(np.where(sizes[labels] <= 400, labels, 0)))
    save_labels('cells_picture', picture(labels))


if __name__ == '__main__':
    golden.path_of = lambda name: os.path.join(golden.HERE, 'real', name)
    os.makedirs(os.path.join(golden.HERE, 'real'), exist_ok=True)
    for make in (blobs, nuclei, head, cells):
        make()
