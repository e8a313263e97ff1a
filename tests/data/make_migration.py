#!/usr/bin/env python3
"""Writes migration.txt: what clEsperanto itself gives for the rows of docs/migration.md.

Run it in this folder with pyclesperanto 0.25.1, pyclesperanto_prototype 0.24.6 and an OpenCL device (made with PoCL 3.1):
both are asked where both have a name, and the present package's values are written.  That one may abort with its memory corrupted,
so each row has a process of its own, and is asked again.  With names behind the command only these rows are asked; the others stay as
they are in the file.  tests/support/golden.h says what the file is like; in its pipelines @name(arguments) is what the
table says for this name (tests/unit/test_migration.c).
"""
import inspect
import os
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pyclesperanto as present
import pyclesperanto_prototype as prototype

warnings.filterwarnings('ignore')
CHILD = int(sys.argv[2]) if sys.argv[1:2] == ['--row'] else None  # the one row that this process is for
NAMES = sys.argv[1:] if CHILD is None else []
ATTEMPTS = 5
if CHILD is not None:
    result = os.dup(1)
    os.dup2(2, 1)  # what the packages print is not the result
    present.select_device('cpu')
    prototype.select_device('pthread')


class Package:
    """A package whose functions take what they compute from in order, and make their results themselves."""

    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        f = getattr(self.module, name)
        given = [k for k, p in inspect.signature(f).parameters.items()
                 if k != 'device' and not (p.default is not p.empty and ('destination' in k or 'dst' in k or k.startswith('output')))]
        return lambda *args, **named: f(**dict(zip(given, args)), **named)

    def pull(self, v):
        return self.module.pull(v)

    def push(self, v):
        return self.module.push(v)


rng = np.random.default_rng(7)
F = np.float32
image = rng.integers(0, 20, (6, 7)).astype(F)
other = rng.integers(1, 9, (6, 7)).astype(F)
signed = (rng.integers(-8, 9, (6, 7)) / 4).astype(F)
unit = (rng.integers(-3, 4, (6, 7)) / 4).astype(F)
broken = np.array([[np.nan, np.inf, 1], [-np.inf, 2, 0]], F)
smooth = (100 * np.exp(-((np.indices((16, 18)) - [[[7]], [[9]]]) ** 2).sum(axis=0) / 20)
          + 60 * np.exp(-((np.indices((16, 18)) - [[[12]], [[3]]]) ** 2).sum(axis=0) / 6)).round().astype(F)
volume = rng.integers(0, 20, (3, 4, 5)).astype(F)
volume2 = rng.integers(0, 20, (3, 4, 5)).astype(F)
square = rng.integers(0, 9, (5, 5)).astype(F)
mask = np.zeros((9, 10), np.uint8)
mask[1:6, 1:6], mask[2, 7:9], mask[7, 2:9], mask[3, 3] = 1, 1, 1, 0
mask2 = np.zeros((9, 10), np.uint8)
mask2[0:4, 3:9] = 1
spots = np.zeros((9, 10), np.uint8)
spots[1, 1] = spots[2, 7] = spots[7, 3] = spots[7, 8] = 1
labels = np.zeros((9, 10), np.uint32)
labels[1:6, 1:4], labels[1:4, 4:8], labels[4:8, 4:6], labels[6:9, 7:10], labels[0, 9] = 1, 2, 3, 4, 5
apart = np.zeros((9, 10), np.uint32)
apart[1:6, 1:6], apart[1:4, 7:9], apart[7, 2:8] = 1, 2, 3
more = np.zeros((9, 10), np.uint32)
more[2:5, 2:6], more[7:9, 8:10] = 1, 2
marks = np.zeros((9, 10), np.uint32)
marks[2, 7], marks[5, 1], marks[6, 6] = 1, 2, 3
values = (rng.integers(0, 40, 6)).astype(F)
value_map = values[labels] * (labels > 0)
grey = rng.integers(0, 20, (9, 10)).astype(F)
images = {k: v for k, v in globals().items() if isinstance(v, np.ndarray) and v.ndim > 1}
KIND = {np.dtype('float32'): 'f32', np.dtype('uint8'): 'u8', np.dtype('uint32'): 'u32'}
TYPE = {'mask': 'mask', 'mask2': 'mask', 'spots': 'mask', 'labels': 'labels', 'apart': 'labels', 'more': 'labels', 'marks': 'labels'}
cases = []


def pulled(m, v):
    """An array of doubles; of vectors (one value for each label) without the background."""
    if isinstance(v, (np.ndarray, list, tuple)) or np.isscalar(v):
        return np.asarray(v, float)
    return np.asarray(m.pull(v), float)


def run(f, m):
    try:
        return pulled(m, f(m))
    except Exception as e:
        return e


def agree(a, b):
    return a.size == b.size and np.allclose(a.ravel(), b.ravel(), rtol=1e-4, atol=1e-4, equal_nan=True)


def number(v):
    return 'nan' if np.isnan(v) else 'inf' if v == np.inf else '-inf' if v == -np.inf else repr(float(F(v)))


def words(pipe):
    return [k for k in images if k in pipe.replace('(', ' ').replace(')', ' ').replace(',', ' ').replace('.', ' ').replace('+', ' ').split()]


def case(name, pipe, want, tolerance):
    inputs = words(pipe)
    lines = [f'case {name} {tolerance} ' + ' '.join(inputs)]
    for i in inputs:
        axes = 'z, y, x' if images[i].ndim == 3 else 'y, x'
        lines.append(f'| input {i}[{axes}]' + (f' : {TYPE[i]}' if i in TYPE else ''))
    lines += [f'| output a = {pipe}', ' '.join(['='] + [str(n) for n in want.shape]), ' '.join(number(p) for p in want.ravel())]
    return '\n'.join(lines) + '\n'


asked = 0
before = {}
if NAMES:
    for text in re.split(r'^(?=case )', open('migration.txt').read(), flags=re.M)[1:]:
        before.setdefault(text.split()[1], []).append(text)


def in_its_own_process(number):
    """What the packages give for a row: values, or what they said."""
    for _ in range(ATTEMPTS):
        child = subprocess.run([sys.executable, __file__, '--row', str(number)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if child.returncode == 0:
            return pickle.loads(child.stdout)
    return [RuntimeError('aborts')] * 2


def row(name, pipe, f, old=None, tolerance=1e-4, shape=None, only=None):
    """`pipe` ends in the output's value; f(m) and old(m) are the calls in the present package and in the prototype."""
    global asked
    number, asked = asked, asked + 1
    if CHILD == number:
        values = run(f, Package(present)), run(old or f, Package(prototype))
        with os.fdopen(result, 'wb') as out:
            out.write(pickle.dumps([RuntimeError(str(v)) if isinstance(v, Exception) else v for v in values]))
        sys.exit()
    if CHILD is not None:
        return
    if NAMES and name not in NAMES:
        cases.append(before[name].pop(0))
        return
    new_value, old_value = in_its_own_process(number)
    wanted = old_value if only == 'prototype' or isinstance(new_value, Exception) else new_value
    if isinstance(wanted, Exception):
        print(f'{name}: neither: {str(new_value)[:150]!r} / {str(old_value)[:150]!r}', file=sys.stderr)
        return
    if hasattr(prototype, name) and hasattr(present, name):
        if isinstance(old_value, Exception):
            print(f'{name}: prototype: {str(old_value)[:90]!r}', file=sys.stderr)
        elif isinstance(new_value, Exception):
            print(f'{name}: present: {str(new_value)[:90]!r}', file=sys.stderr)
        elif not agree(new_value, old_value):
            print(f'{name}: present and prototype differ', file=sys.stderr)
    cases.append(case(name, pipe, wanted.reshape(shape) if shape else wanted, tolerance))


def paint(m, vector, of=labels):
    v = pulled(m, vector).ravel()
    v = np.concatenate([[0], v]) if len(v) == of.max() else v
    return np.where(of > 0, v[of], 0)


def in_raster_order(v):
    """Numbers of objects in the order of their first pixels, as ours; theirs go along x first."""
    found, first = np.unique(v[v > 0], return_index=True)
    out = np.zeros_like(v)
    for i, k in enumerate(found[np.argsort(first)]):
        out[v == k] = i + 1
    return out


def matrices(m, of=labels):
    spots_list = m.centroids_of_labels(of)
    return m.generate_distance_matrix(spots_list, spots_list), m.generate_touch_matrix(of)


# ---- pixel by pixel -----------------------------------------------------------------------------

for name in ('absolute', 'sign', 'ceil', 'floor', 'round', 'truncate', 'cubic_root', 'exponential', 'exponential2',
             'degrees_to_radians', 'radians_to_degrees', 'cos', 'cosh', 'sin', 'sinh', 'tan', 'tanh', 'square', 'atan', 'invert'):
    row(name, f'@{name}(signed)', lambda m: getattr(m, name)(signed))
for name in ('acos', 'asin'):
    row(name, f'@{name}(unit)', lambda m: getattr(m, name)(unit))
for name in ('logarithm', 'logarithm2', 'logarithm10', 'square_root', 'reciprocal', 'exponential10'):
    row(name, f'@{name}(other)', lambda m: getattr(m, name)(other))
row('undefined_to_zero', '@undefined_to_zero(broken)', lambda m: m.undefined_to_zero(broken))
row('nan_to_num', '@nan_to_num(broken)', lambda m: m.nan_to_num(broken))
for name in ('absolute_difference', 'add_images', 'subtract_images', 'multiply_images', 'divide_images', 'modulo_images',
             'maximum_images', 'minimum_images', 'squared_difference', 'power_images'):
    row(name, f'@{name}(image, other)', lambda m: getattr(m, name)(image, other), tolerance=1e-3)
for name in ('equal', 'not_equal', 'greater', 'greater_or_equal', 'smaller', 'smaller_or_equal'):
    row(name, f'number(@{name}(image, other))', lambda m: getattr(m, name)(image, other))
    row(f'{name}_constant', f'number(@{name}_constant(image, 7))', lambda m: getattr(m, f'{name}_constant')(image, 7))
row('add_images_weighted', '@add_images_weighted(image, other, 2, 3)', lambda m: m.add_images_weighted(image, other, factor1=2, factor2=3))
row('add_images_weighted', '@add_images_weighted(image, other)', lambda m: m.add_images_weighted(image, other))
row('add_image_and_scalar', '@add_image_and_scalar(image, 3)', lambda m: m.add_image_and_scalar(image, scalar=3))
row('subtract_image_from_scalar', '@subtract_image_from_scalar(image, 3)', lambda m: m.subtract_image_from_scalar(image, scalar=3))
row('multiply_image_and_scalar', '@multiply_image_and_scalar(image, 3)', lambda m: m.multiply_image_and_scalar(image, scalar=3))
row('divide_scalar_by_image', '@divide_scalar_by_image(other, 3)', lambda m: m.divide_scalar_by_image(other, scalar=3))
row('multiply_image_and_position', '@multiply_image_and_position(image)', lambda m: m.multiply_image_and_position(image, dimension=0))
row('maximum_image_and_scalar', '@maximum_image_and_scalar(image, 7)', lambda m: m.maximum_image_and_scalar(image, scalar=7))
row('minimum_image_and_scalar', '@minimum_image_and_scalar(image, 7)', lambda m: m.minimum_image_and_scalar(image, scalar=7))
row('power', '@power(image, 2)', lambda m: m.power(image, 2))
row('gamma_correction', '@gamma_correction(other, 0.5)', lambda m: m.gamma_correction(other, gamma=0.5))
row('clip', '@clip(image, 5, 12)', lambda m: m.clip(image, 5, 12))
row('mask', '@mask(grey, mask)', lambda m: m.mask(grey, mask))
row('mask_label', '@mask_label(grey, labels, 2)', lambda m: m.mask_label(grey, labels, 2))
row('replace_value', '@replace_value(image, 7, 99)', lambda m: m.replace_value(image, 7, 99))
row('replace_intensity', '@replace_intensity(image, 7, 99)', lambda m: m.replace_intensity(image, 7, 99))
row('array_equal', '1 if @array_equal(image, other) else 0', lambda m: float(m.array_equal(image, other)))
for name in ('binary_and', 'binary_or', 'binary_xor', 'binary_subtract'):
    row(name, f'number(@{name}(mask, mask2))', lambda m: getattr(m, name)(mask, mask2))
row('binary_not', 'number(@binary_not(mask))', lambda m: m.binary_not(mask))

# ---- filters ------------------------------------------------------------------------------------

row('gaussian_blur', '@gaussian_blur(smooth, 1.5)', lambda m: m.gaussian_blur(smooth, sigma_x=1.5, sigma_y=1.5), tolerance=2e-3)
row('difference_of_gaussian', '@difference_of_gaussian(smooth, 1, 2)',
    lambda m: m.difference_of_gaussian(smooth, 1, 1, 0, 2, 2, 0), tolerance=2e-3)
row('subtract_gaussian_background', '@subtract_gaussian_background(smooth, 2)',
    lambda m: m.subtract_gaussian_background(smooth, 2, 2, 0), tolerance=2e-3)
row('divide_by_gaussian_background', '@divide_by_gaussian_background(smooth + 1, 2)',
    lambda m: m.divide_by_gaussian_background(smooth + 1, 2, 2, 0), tolerance=2e-3)
for name, here in (('mean', 'mean'), ('median', 'median'), ('maximum', 'maximum'), ('minimum', 'minimum'), ('mode', 'mode'),
                   ('standard_deviation', 'standard_deviation'), ('variance', 'variance')):
    for shape in ('box', 'sphere'):
        n = f'{name}_{shape}'
        row(n, f'@{n}(image, 1)', lambda m: getattr(m, n)(image, 1, 1, 0), tolerance=1e-3)
for name in ('maximum_filter', 'minimum_filter', 'mean_filter', 'median', 'mode', 'standard_deviation', 'variance_filter'):
    row(name, f'@{name}(image, 1)', lambda m: getattr(m, name)(image, 1, 1, 0, connectivity='box'), tolerance=1e-3)
for name in ('nonzero_maximum', 'nonzero_minimum'):
    for shape in ('_box', '_diamond'):
        row(name + shape, f'@{name + shape}(other)', lambda m: getattr(m, name + shape)(other, np.zeros((1, 1, 1), F)))
    row(name, f'@{name}(other)', lambda m: getattr(m, name)(other, np.zeros((1, 1, 1), F)))
for shape in ('_box', '_diamond', ''):
    n = 'onlyzero_overwrite_maximum' + shape
    row(n, f'number(@{n}(apart))', lambda m: getattr(m, n)(apart, np.zeros((1, 1, 1), F)))
row('laplace_box', '@laplace_box(image)', lambda m: m.laplace_box(image))
row('laplace_diamond', '@laplace_diamond(image)', lambda m: m.laplace_diamond(image))
row('laplace', '@laplace(image)', lambda m: m.laplace(image))
for axis in 'xyz':
    n = f'gradient_{axis}'
    row(n, f'@{n}({"volume" if axis == "z" else "image"})', lambda m: getattr(m, n)(volume if axis == 'z' else image))
for name in ('small_hessian_eigenvalue', 'large_hessian_eigenvalue'):
    row(name, f'@{name}(image)', lambda m: getattr(m, name)(image), lambda m: pulled(m, m.hessian_eigenvalues(image)[0 if name[0] == 's' else -1]))
row('hessian_eigenvalues', '@hessian_eigenvalues(image)', lambda m: m.hessian_eigenvalues(image)[-1])
row('hessian_gaussian_eigenvalues', '@hessian_gaussian_eigenvalues(smooth, 1.5)',
    lambda m: m.hessian_gaussian_eigenvalues(smooth, sigma=1.5)[-1], tolerance=1e-2)
row('sato_filter', '@sato_filter(smooth, 1.5)', lambda m: m.sato_filter(smooth, 1.5, 1.5, 1), tolerance=1e-2)
row('tubeness', '@tubeness(smooth, 1.5)', lambda m: m.tubeness(smooth, sigma=1.5), tolerance=1e-2)
row('sobel', '@sobel(image)', lambda m: m.sobel(image))
row('gaussian_derivative', '@gaussian_derivative(smooth, 1.5, [0, 1])', lambda m: m.gaussian_derivative(smooth, 1.5, 1.5, 0, 1, 0, 0), tolerance=2e-3)
kernel = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]], F)
row('convolve', '@convolve(image, [[1, 2, 3], [4, 5, 6], [7, 8, 10]])', lambda m: m.convolve(image, kernel))
row('clahe', '@clahe(smooth)', lambda m: m.clahe(smooth, tile_size=8, clip_limit=0.01))
row('normalize', '@normalize(image)', lambda m: m.normalize(image))
row('percentile', '@percentile(image, 30)', lambda m: m.percentile(image, 30), shape=())
row('histogram', '@histogram(image, 10, 0, 20)', lambda m: m.histogram(image, 10, 0, 20), lambda m: m.histogram(image, None, 10, 0, 20, False))

# ---- shapes -------------------------------------------------------------------------------------

for name in ('erode', 'dilate'):
    for shape in ('box', 'sphere'):
        row(f'{name}_{shape}', f'number(@{name}_{shape}(mask))', lambda m: getattr(m, f'{name}_{shape}')(mask))
    row(f'binary_{name}', f'number(@binary_{name}(mask, 1))', lambda m: getattr(m, f'binary_{name}')(mask, 1, 1, 0))
row('binary_opening', 'number(@binary_opening(mask, 1))', lambda m: m.binary_opening(mask, 1, 1, 0))
row('binary_closing', 'number(@binary_closing(mask, 1))', lambda m: m.binary_closing(mask, 1, 1, 0))
cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], F)
for name in ('erosion', 'dilation', 'opening', 'closing'):
    row(name, f'@{name}(image, [[0, 1, 0], [1, 1, 1], [0, 1, 0]])', lambda m: getattr(m, name)(image, cross))
for name in ('grayscale_erode', 'grayscale_dilate', 'grayscale_opening', 'grayscale_closing', 'opening_box', 'closing_box',
             'top_hat', 'top_hat_box', 'bottom_hat', 'bottom_hat_box', 'opening_sphere', 'closing_sphere', 'top_hat_sphere', 'bottom_hat_sphere'):
    row(name, f'@{name}(image, 1)', lambda m: getattr(m, name)(image, 1, 1, 0), lambda m: getattr(m, name)(image, radius_x=1, radius_y=1, radius_z=0))
for name in ('binary_edge_detection', 'binary_infsup', 'binary_supinf'):
    row(name, f'number(@{name}(mask))', lambda m: getattr(m, name)(mask))
for name in ('detect_maxima', 'detect_minima'):
    row(name, f'number(@{name}(smooth))', lambda m: getattr(m, name)(smooth, 0, 0, 0))
    row(f'{name}_box', f'number(@{name}_box(image, 1))', lambda m: getattr(m, f'{name}_box')(image, 1, 1, 0))
    row(f'{name}_box', f'number(@{name}_box(image, 0))', lambda m: getattr(m, f'{name}_box')(image, 0, 0, 0))

# ---- values of the whole image -------------------------------------------------------------------

for name in ('sum', 'mean', 'maximum', 'minimum', 'standard_deviation'):
    n = f'{name}_of_all_pixels'
    row(n, f'@{n}(image)', lambda m: getattr(m, n)(image), shape=())
row('minimum_of_masked_pixels', '@minimum_of_masked_pixels(grey, mask)', lambda m: m.minimum_of_masked_pixels(grey, mask), shape=())
row('mean_squared_error', '@mean_squared_error(image, other)', lambda m: m.mean_squared_error(image, other), shape=())
row('jaccard_index', '@jaccard_index(mask, mask2)', lambda m: m.jaccard_index(mask, mask2), shape=())
row('center_of_mass', '@center_of_mass(image).x', lambda m: np.ravel(m.center_of_mass(image))[0], shape=())
row('bounding_box', '@bounding_box(mask)', lambda m: m.bounding_box(mask)[0], shape=())
row('maximum_position', '@maximum_position(image)', lambda m: np.ravel(m.maximum_position(image))[0], shape=())
row('minimum_position', '@minimum_position(image)', lambda m: np.ravel(m.minimum_position(image))[0], shape=())
row('sum_reduction_x', '@sum_reduction_x(image)', lambda m: m.sum_reduction_x(image, blocksize=7), only='prototype')
for name in ('otsu', 'yen', 'mean'):
    row(f'threshold_{name}', f'number(@threshold_{name}(smooth))', lambda m: getattr(m, f'threshold_{name}')(smooth))

# ---- labels -------------------------------------------------------------------------------------

for name in ('connected_component_labeling', 'connected_components_labeling'):
    row(name, f'number(@{name}(mask))', lambda m: getattr(m, name)(mask, connectivity='box'))
row('label_spots', 'number(@label_spots(spots))', lambda m: m.label_spots(spots))
ORDER = ['label', 'area', 'centroid_y', 'centroid_x', 'bbox_min_y', 'bbox_min_x', 'bbox_max_y', 'bbox_max_x',
         'mean_intensity', 'min_intensity', 'max_intensity', 'sum_intensity', 'standard_deviation_intensity']


def statistics(t):
    d = {k: np.asarray(v, float) for k, v in dict(t).items()}
    d = {'label': d.get('label', d.get('original_label')), **{k: d[k] for k in ORDER[1:]}}
    keep = d['label'] > 0
    d['bbox_max_x'], d['bbox_max_y'] = d['bbox_max_x'] + 1, d['bbox_max_y'] + 1  # ours is one past the last
    return np.array([d[k][keep] for k in ORDER])


row('statistics_of_labelled_pixels', '@statistics_of_labelled_pixels(grey, labels)', lambda m: statistics(m.statistics_of_labelled_pixels(grey, labels)))
row('labels_statistics', '@labels_statistics(labels, grey)', lambda m: statistics(m.labels_statistics(labels, grey)))
row('statistics_of_background_and_labelled_pixels', '@statistics_of_background_and_labelled_pixels(grey, labels)',
    lambda m: statistics(m.statistics_of_background_and_labelled_pixels(grey, labels)))


def points(m, v):
    """A list of points as our table has it: label, then rows and columns."""
    p = pulled(m, v)
    return np.array([np.arange(1, p.shape[-1] + 1), p[1], p[0]])


row('centroids_of_labels', '@centroids_of_labels(labels)', lambda m: points(m, m.centroids_of_labels(labels)))
row('labelled_spots_to_pointlist', '@labelled_spots_to_pointlist(marks)', lambda m: points(m, m.labelled_spots_to_pointlist(marks)))
row('spots_to_pointlist', '@spots_to_pointlist(spots)', lambda m: points(m, m.spots_to_pointlist(spots)))
row('reduce_labels_to_centroids', 'number(@reduce_labels_to_centroids(labels))', lambda m: m.reduce_labels_to_centroids(labels))
row('exclude_labels_on_edges', 'number(@exclude_labels_on_edges(labels))', lambda m: m.exclude_labels_on_edges(labels))
row('remove_labels_on_edges', 'number(@remove_labels_on_edges(labels))', lambda m: m.remove_labels_on_edges(labels))
for name in ('exclude_small_labels', 'remove_small_labels', 'exclude_large_labels', 'remove_large_labels'):
    row(name, f'number(@{name}(labels, 9))', lambda m: getattr(m, name)(labels, 9))
    row(name, f'number(@{name}(labels, 12))', lambda m: getattr(m, name)(labels, 12))
for name in ('filter_label_by_size', 'exclude_labels_outside_size_range'):
    row(name, f'number(@{name}(labels, 8, 12))', lambda m: getattr(m, name)(labels, minimum_size=8, maximum_size=12))
flags = np.array([[0, 0, 1, 0, 0, 0]], np.uint32)
row('exclude_labels', 'number(@exclude_labels(labels, 2))', lambda m: m.exclude_labels(labels, flags), lambda m: m.exclude_labels(flags, labels))
row('remove_labels', 'number(@remove_labels(labels, 2))', lambda m: m.remove_labels(labels, flags))
for name in ('out_of_range', 'within_range'):
    n = f'exclude_labels_with_map_values_{name}'
    row(n, f'number(@{n}(labels, value_map, 9, 25))', lambda m: getattr(m, n)(value_map, labels, minimum_value_range=9, maximum_value_range=25), only='prototype')
    n2 = f'remove_labels_with_map_values_{name}'
    row(n2, f'number(@{n2}(labels, value_map, 9, 25))', lambda m: getattr(m, n2)(labels, values[None], min_value=9, max_value=25))
gaps = apart * 3
images['gaps'] = gaps
TYPE['gaps'] = 'labels'
row('relabel_sequential', 'number(@relabel_sequential(gaps))', lambda m: m.relabel_sequential(gaps))
row('combine_labels', 'number(@combine_labels(apart, more))', lambda m: m.combine_labels(apart, more))
for r in (1, 2):
    row('dilate_labels', f'number(@dilate_labels(apart, {r}))', lambda m: m.dilate_labels(apart, radius=r))
    row('erode_labels', f'number(@erode_labels(labels, {r}))', lambda m: m.erode_labels(labels, radius=r))
    row('erode_connected_labels', f'number(@erode_connected_labels(labels, {r}))', lambda m: m.erode_connected_labels(labels, radius=r))
    row('smooth_labels', f'number(@smooth_labels(labels, {r}))', lambda m: m.smooth_labels(labels, radius=r))
    row('smooth_connected_labels', f'number(@smooth_connected_labels(labels, {r}))', lambda m: m.smooth_connected_labels(labels, radius=r))
for r in (1, 2, 3):
    row('opening_labels', f'number(@opening_labels(labels, {r}))', lambda m: m.opening_labels(labels, radius=r))
    row('closing_labels', f'number(@closing_labels(apart, {r}))', lambda m: m.closing_labels(apart, radius=r))
row('extend_labeling_via_voronoi', 'number(@extend_labeling_via_voronoi(apart))', lambda m: m.extend_labeling_via_voronoi(apart))
row('voronoi_labeling', 'number(@voronoi_labeling(spots))', lambda m: m.voronoi_labeling(spots))
row('masked_voronoi_labeling', 'number(@masked_voronoi_labeling(spots, mask))', lambda m: m.masked_voronoi_labeling(spots, mask))
row('voronoi_otsu_labeling', 'number(@voronoi_otsu_labeling(smooth, 1, 1))', lambda m: m.voronoi_otsu_labeling(smooth, spot_sigma=1, outline_sigma=1))
row('gauss_otsu_labeling', 'number(@gauss_otsu_labeling(smooth, 1))', lambda m: m.gauss_otsu_labeling(smooth, outline_sigma=1))
row('eroded_otsu_labeling', 'number(@eroded_otsu_labeling(smooth, 2, 1))', lambda m: m.eroded_otsu_labeling(smooth, number_of_erosions=2, outline_sigma=1))
row('detect_label_edges', 'number(@detect_label_edges(labels))', lambda m: m.detect_label_edges(labels))
row('reduce_labels_to_label_edges', 'number(@reduce_labels_to_label_edges(labels))', lambda m: m.reduce_labels_to_label_edges(labels))
row('merge_touching_labels', 'number(@merge_touching_labels(labels))', lambda m: in_raster_order(pulled(m, m.merge_touching_labels(labels))))
for name in ('mean_intensity_map', 'maximum_intensity_map', 'minimum_intensity_map', 'standard_deviation_intensity_map'):
    row(name, f'@{name}(grey, labels)', lambda m: getattr(m, name)(grey, labels))
row('label_mean_intensity_map', '@label_mean_intensity_map(grey, labels)', lambda m: m.label_mean_intensity_map(grey, labels))
for name in ('pixel_count_map', 'label_pixel_count_map', 'maximum_extension_map', 'mean_extension_map'):
    row(name, f'@{name}(labels)', lambda m: getattr(m, name)(labels))
row('extension_ratio_map', '@extension_ratio_map(apart)', lambda m: m.extension_ratio_map(apart))
row('touching_neighbor_count_map', 'neighbour_count(labels)', lambda m: m.touching_neighbor_count_map(labels))
row('replace_values', '@replace_values(labels, property(labels, area))', lambda m: m.replace_values(labels, np.array([[0, 15, 12, 8, 9, 1]], F)))
row('replace_intensities', '@replace_intensities(labels, property(labels, area))', lambda m: m.replace_intensities(labels, np.array([[0, 15, 12, 8, 9, 1]], F)))
row('read_values_from_positions', 'max(@read_values_from_positions(image, 2, 1))', lambda m: np.ravel(m.pull(m.read_values_from_positions(image, np.array([[2], [1], [0]], F))))[0], shape=())

# ---- neighbours of labels -------------------------------------------------------------------------

row('count_touching_neighbors', '@count_touching_neighbors(labels)', lambda m: paint(m, m.count_touching_neighbors(matrices(m)[1])))
for name in ('maximum', 'minimum', 'mean', 'median', 'mode', 'standard_deviation'):
    n = f'{name}_of_touching_neighbors'
    row(n, f'@{n}(labels)', lambda m: paint(m, getattr(m, n)(np.array([[0, 15, 12, 8, 9, 1]], F), matrices(m)[1])), tolerance=1e-3)
    row(n + '_map', f'@{n}_map(value_map, labels)', lambda m: getattr(m, n + '_map')(value_map, labels), tolerance=1e-3)
for name, with_touch in (('average_distance_of_n_far_off_distances', False), ('average_distance_of_n_nearest_distances', False),
                         ('maximum_distance_n_nearest_neighbors', False), ('maximum_distance_of_n_shortest_distances', False),
                         ('mean_distance_n_farthest_neighbors', False), ('mean_distance_n_nearest_neighbors', False)):
    row(name, f'@{name}(labels, 2)', lambda m: paint(m, getattr(m, name)(matrices(m)[0], n=2)))
for name in ('average_distance_touching_neighbors', 'maximum_distance_touching_neighbors', 'mean_distance_touching_neighbors',
             'minimum_distance_touching_neighbors'):
    row(name, f'@{name}(labels)', lambda m: paint(m, getattr(m, name)(*matrices(m))))
for name in ('proximal_neighbor_count', 'proximal_neighbor_count_map'):
    f = (lambda m: paint(m, m.proximal_neighbor_count(labels, min_distance=0, max_distance=5))) if name[-1] == 't' else \
        (lambda m: m.proximal_neighbor_count_map(labels, min_distance=0, max_distance=5))
    row(name, f'@{name}(labels, 5)', f)
for name in ('maximum', 'minimum', 'mean'):
    n = f'symmetric_{name}_matrix'
    row(n, f'@{n}(square)', lambda m: getattr(m, n)(square))
row('set_nonzero_pixels_to_pixelindex', '@set_nonzero_pixels_to_pixelindex(image)', lambda m: m.set_nonzero_pixels_to_pixelindex(image))



def outline(of, k):
    p = np.pad(of == k, 1, mode='edge')
    return sum(np.sum(p[1:-1, 1:-1] & ~np.roll(p, s, a)[1:-1, 1:-1]) for a in (0, 1) for s in (-1, 1))


def contacts(counts):
    """The table touching_pairs has: who touches whom, outlines (counted here), how many sides."""
    pairs = [(a, b) for a in range(1, len(counts)) for b in range(a + 1, len(counts)) if counts[a, b] > 0]
    return np.array([np.arange(1, len(pairs) + 1), *np.transpose(pairs), [outline(labels, a) for a, _ in pairs],
                     [outline(labels, b) for _, b in pairs], [counts[p] for p in pairs]], float)


def overlaps(matrix):
    """The table overlapping_pairs has; sizes are counted here."""
    pairs = [(a, b) for a, b in np.argwhere(matrix) if a > 0 and b > 0]
    return np.array([np.arange(1, len(pairs) + 1), *np.transpose(pairs), [(apart == a).sum() for a, _ in pairs],
                     [(more == b).sum() for _, b in pairs], [((apart == a) & (more == b)).sum() for a, b in pairs]], float)


def distances(matrix, most=np.inf):
    """The table near_pairs has: for each label the others, the nearest first."""
    n = len(matrix)
    rows = [(a, b, matrix[a, b]) for a in range(1, n) for b in sorted(range(1, n), key=lambda k: (round(float(matrix[a, k]), 3), k)) if a != b and matrix[a, b] <= most]
    return np.transpose(rows)


for name in ('generate_touch_count_matrix', 'generate_touching_area_matrix'):
    row(name, f'@{name}(labels)', lambda m: contacts(pulled(m, getattr(m, name)(labels))))
row('generate_binary_overlap_matrix', '@generate_binary_overlap_matrix(apart, more)', lambda m: overlaps(pulled(m, m.generate_binary_overlap_matrix(more, apart))))
row('generate_distance_matrix', '@generate_distance_matrix(labels)', lambda m: distances(pulled(m, matrices(m)[0])))
row('generate_proximal_neighbors_matrix', '@generate_proximal_neighbors_matrix(labels, 5)', lambda m: distances(pulled(m, matrices(m)[0]), 5))
row('read_intensities_from_map', '@read_intensities_from_map(labels, value_map)', lambda m: np.array([np.arange(1, 6), pulled(m, m.read_intensities_from_map(labels, value_map)).ravel()[1:]]))
row('read_map_values', '@read_map_values(labels, value_map)', lambda m: np.array([np.arange(1, 6), pulled(m, m.read_map_values(value_map, labels)).ravel()[1:]]))


def existing(flags, of):
    """The table of labels that are there; their areas are counted here."""
    there = [k for k in range(1, len(flags)) if flags[k] > 0]
    return np.array([there, [(of == k).sum() for k in there]], float)


row('flag_existing_labels', '@flag_existing_labels(gaps)', lambda m: existing(pulled(m, m.flag_existing_labels(gaps)).ravel(), gaps))


def touching(matrix):
    """What touching_pairs has for labels whose numbers in the matrix are not 0; sides are counted here."""
    across = [(labels[:, :-1], labels[:, 1:]), (labels[:-1], labels[1:])]
    counts = np.zeros(matrix.shape)
    for first, second in across:
        np.add.at(counts, (first, second), 1)
    return contacts(np.where((matrix > 0) | (matrix.T > 0), counts + counts.T, 0))


for name in ('generate_touch_matrix', 'generate_touch_portion_matrix', 'generate_partial_touching_area_matrix'):
    row(name, f'@{name}(labels)', lambda m: touching(pulled(m, getattr(m, name)(labels))))


def boxes(m):
    box = np.array([m.module.label_bounding_box(labels, k) for k in range(1, 6)]).T
    return np.array([np.arange(1, 6), box[1], box[0], box[4] + 1, box[3] + 1])  # ours is one past the last


row('label_bounding_box', '@label_bounding_box(labels)', boxes)
NEIGHBOURS = ['touching_neighbor_count', 'average_distance_of_touching_neighbors', 'average_distance_of_n1_nearest_neighbors']
for name in ('statistics_of_labelled_neighbors', 'labels_neighbors_statistics'):
    row(name, f'@{name}(labels)', lambda m: np.array([np.arange(1, 6), *(np.ravel(dict(getattr(m, name)(labels))[k])[-5:] for k in NEIGHBOURS)]))
matrix = np.array([[1, 0, 0, 2], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]], float)
row('affine_transform', '@affine_transform(image, [[1, 0, 2], [0, 1, 1]])', lambda m: m.affine_transform(image, transform=matrix))

# ---- geometry -----------------------------------------------------------------------------------

row('translate', '@translate(image, 2, 1)', lambda m: m.translate(image, translate_x=2, translate_y=1))
row('translate', '@translate(image, 1.5, -0.5)', lambda m: m.translate(image, translate_x=1.5, translate_y=-0.5))
row('rotate', '@rotate(square, 90)', lambda m: m.rotate(square, angle_z=90), lambda m: m.rotate(square, angle_around_z_in_degrees=90))
row('rigid_transform', '@rigid_transform(square, 90, 1)', lambda m: m.rigid_transform(square, translate_x=1, angle_z=90),
    lambda m: m.rigid_transform(square, translate_x=1, angle_around_z_in_degrees=90))
row('scale', '@scale(image, 2)', lambda m: m.scale(image, 2, 2, 1, resize=True), lambda m: m.scale(image, 2, 2, 1, auto_size=True))
row('flip', '@flip(image)', lambda m: m.flip(image, True, False, False))
row('circular_shift', '@circular_shift(image, 2, 1)', lambda m: m.circular_shift(image, 2, 1, 0))
row('transpose_xy', '@transpose_xy(image)', lambda m: m.transpose_xy(image))
row('transpose_xz', '@transpose_xz(volume)', lambda m: m.transpose_xz(volume))
row('transpose_yz', '@transpose_yz(volume)', lambda m: m.transpose_yz(volume))
row('crop', '@crop(image, 1, 2, width = 4, height = 3)', lambda m: m.crop(image, 1, 2, 0, 4, 3, 1))
row('crop_border', '@crop_border(image, 1)', lambda m: m.crop_border(image, border_size=1))
row('sub_stack', '@sub_stack(volume, 1, 2)', lambda m: m.sub_stack(volume, 1, 2))
row('reduce_stack', '@reduce_stack(volume, 2)', lambda m: m.reduce_stack(volume, 2, 0))
row('range', '@range(image, 2, 3)', lambda m: m.range(image, start_x=2, stop_x=5, step_x=1))
row('copy', '@copy(image)', lambda m: m.copy(image))
# Neither package gives slices here (the one a whole volume, the other's kernels are not compiled by PoCL): what they are said to be.
row('copy_slice', '@copy_slice(volume, 1)', lambda m: volume[1])
row('copy_horizontal_slice', '@copy_horizontal_slice(volume, 1)', lambda m: volume[:, 1])
row('copy_vertical_slice', '@copy_vertical_slice(volume, 1)', lambda m: volume[:, :, 1])
for axis in 'xyz':
    n = f'concatenate_along_{axis}'
    row(n, f'@{n}(volume, volume2)', lambda m: getattr(m, n)(volume, volume2))
row('concatenate', '@concatenate(volume, volume2, x)', lambda m: m.concatenate(volume, volume2, axis=0))
for f in ('maximum', 'minimum', 'mean', 'sum', 'std'):
    for axis in 'xyz':
        n = f'{f}_{axis}_projection'
        row(n, f'@{n}(volume)', lambda m: getattr(m, n)(volume), tolerance=1e-3)
for axis in 'xyz':
    for f in ('maximum', 'minimum'):
        n = f'{axis}_position_of_{f}_{axis}_projection'
        row(n, f'@{n}(volume)', lambda m: getattr(m, n)(volume))
planes = np.array([[0, 1, 2, 1, 0]] * 4, F)
images['planes'] = planes
row('z_position_projection', '@z_position_projection(volume, planes)', lambda m: m.z_position_projection(volume, planes))
row('extended_depth_of_focus_sobel_projection', '@extended_depth_of_focus_sobel_projection(volume)', lambda m: m.extended_depth_of_focus_sobel_projection(volume, sigma=0))
row('extended_depth_of_focus_variance_projection', '@extended_depth_of_focus_variance_projection(volume)',
    lambda m: m.extended_depth_of_focus_variance_projection(volume, 2, 2, 0))
row('pad', 'pad(image, 1)', lambda m: m.pad(image, size_x=9, size_y=8, center=True))
# Pixels of the images are 2 um along x, and 1 um along y (tests/support/golden.c).
row('make_isotropic', '@make_isotropic(smooth)', lambda m: m.make_isotropic(smooth, current_spacing_x=2, current_spacing_y=1, target_spacing=2))
row('make_anisotropic', '@make_anisotropic(smooth)',
    lambda m: m.make_anisotropic(smooth, current_spacing=1, target_spacing_x=2, target_spacing_y=1, target_spacing_z=1))
row('unpad', '@unpad(image, 4, 3)', lambda m: m.unpad(image, size_x=4, size_y=3))
row('paste', 'paste(smooth, image, 5, 3)', lambda m: m.module.paste(image, m.push(smooth.copy()), destination_x=5, destination_y=3))
row('parametric_map', '@parametric_map(labels)',
    lambda m: present.parametric_map(labels, {'label': np.arange(1, 6), 'area': np.bincount(labels.ravel())[1:]}, property='area'))
row('set', '@set(image, 3)', lambda m: m.set(m.push(image.copy()), 3))
row('set_ramp_x', '@set_ramp_x(image)', lambda m: m.set_ramp_x(m.push(image.copy())))
row('set_ramp_y', '@set_ramp_y(image)', lambda m: m.set_ramp_y(m.push(image.copy())))
row('set_ramp_z', '@set_ramp_z(volume)', lambda m: m.set_ramp_z(m.push(volume.copy())))
row('set_column', '@set_column(image, 2, 9)', lambda m: m.set_column(m.push(image.copy()), 2, 9))
row('set_row', '@set_row(image, 2, 9)', lambda m: m.set_row(m.push(image.copy()), 2, 9))
row('set_plane', '@set_plane(volume, 1, 9)', lambda m: m.set_plane(m.push(volume.copy()), 1, 9))
row('set_image_borders', '@set_image_borders(image, 9)', lambda m: m.set_image_borders(m.push(image.copy()), 9))
for name in ('x_equals_y', 'x_greater_than_y', 'x_smaller_than_y'):
    n = f'set_where_{name}'
    row(n, f'@{n}(square, 9)', lambda m: getattr(m, n)(m.push(square.copy()), 9))


with open('migration.txt', 'w') as out:
    for name, v in images.items():
        print('image', name, KIND[v.dtype], *v.shape, file=out)
        print(*(number(p) for p in v.ravel()), file=out)
    out.writelines(cases)
