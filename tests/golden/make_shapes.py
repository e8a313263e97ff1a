#!/usr/bin/env python3
"""Writes shapes.txt: distances, grown labels, floods, reconstructions, maxima and hulls as scipy and
scikit-image find them.

    python3 tests/golden/make_shapes.py > tests/golden/shapes.txt

Every case is a line `KIND name w h d images a b c` with three arguments, followed by whole numbers:
the input images in raster order, then the expected one (distances are bit patterns of f32).
"""
import warnings

import numpy as np
from scipy import ndimage
from skimage import measure, morphology, segmentation
from skimage.morphology import _util

rng = np.random.default_rng(11)


class StableNumpy:
    """Older scikit-image sorts the neighbours of a pixel with an unstable sort; newer does not."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def argsort(array, **_):
        return np.argsort(array, kind="stable")


_util.np = StableNumpy()


def case(kind, name, arguments, images, expected):
    shape = images[0].shape
    d, h, w = (1,) + shape if len(shape) == 2 else shape
    arguments = list(arguments) + [0] * (3 - len(arguments))
    print(kind, name, w, h, d, len(images), *arguments)
    for array in images + [expected]:
        flat = np.asarray(array).astype(np.int64).ravel()
        for i in range(0, len(flat), 60):
            print(" ".join(str(v) for v in flat[i:i + 60]))


def distance(name, mask, spacing=(1, 1, 1)):
    found = ndimage.distance_transform_edt(mask, sampling=spacing[:mask.ndim][::-1])
    case("distance", name, spacing, [mask], found.astype(np.float32).view(np.uint32))


def nearest(name, labels, limit):
    case("nearest", name, [limit], [labels], segmentation.expand_labels(labels, limit))


def watershed(name, image, markers, mask=None):
    for connectivity in range(1, image.ndim + 1):
        for line in (False, True):
            found = segmentation.watershed(image, markers, connectivity=connectivity, mask=mask,
                                           watershed_line=line)
            images = [image, markers] + ([] if mask is None else [mask])
            case("watershed", f"{name}-{connectivity}-{line:d}", [connectivity, int(line)], images,
                 found)


def reconstruct(name, seed, mask, method):
    for connectivity in range(1, mask.ndim + 1):
        footprint = ndimage.generate_binary_structure(mask.ndim, connectivity)
        found = morphology.reconstruction(seed, mask, method=method, footprint=footprint)
        case("reconstruct", f"{name}-{connectivity}", [connectivity, int(method == "erosion")],
             [seed, mask], found)


def maxima(name, image):
    for connectivity in range(1, image.ndim + 1):
        case("maxima", f"{name}-{connectivity}", [connectivity], [image],
             morphology.local_maxima(image, connectivity=connectivity))


def hull(name, labels):
    found = np.zeros(labels.shape, bool)
    for label in np.unique(labels[labels > 0]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # scikit-image has no hulls of flat objects in space
            found |= morphology.convex_hull_image(labels == label)
    case("hull", name, [], [labels], found)


def masks():
    for shape in [(1, 1), (1, 9), (12, 1), (11, 14), (3, 4, 5), (5, 6, 4)]:
        for percent in (3, 50, 96):
            mask = rng.random(shape) * 100 < percent
            mask.flat[rng.integers(mask.size)] = False
            yield f"{'x'.join(map(str, shape))}-{percent}", mask
    yield "none", np.zeros((4, 5), bool)


def blobs(shape, n):
    grid = np.indices(shape)
    inside = np.zeros(shape, bool)
    for _ in range(n):
        at = [rng.integers(k) for k in shape]
        inside |= sum((g - a) ** 2 for g, a in zip(grid, at)) < rng.integers(9, 50)
    return inside


def seeds(shape, percent, most):
    return np.where(rng.random(shape) * 100 < percent, rng.integers(1, most + 1, shape), 0)


def make_distances():
    for name, mask in masks():
        distance(name, mask)
        distance(name + "-spaced", mask, (0.5, 2, 3))
        distance(name + "-tenths", mask, (0.1, 0.1, 0.1))
    for shape in [(1, 12), (10, 1), (13, 12), (5, 6, 7)]:
        for percent, limit in [(2, 100), (8, 1.5), (15, 2), (15, 100), (50, 1)]:
            labels = seeds(shape, percent, 9)
            labels.flat[rng.integers(labels.size)] = 5
            nearest(f"{'x'.join(map(str, shape))}-{percent}-{limit}", labels, limit)
    nearest("documented", np.array([[0, 1, 0, 0], [2, 0, 0, 0], [0, 3, 0, 0]]), 1)
    nearest("zero", seeds((6, 7), 20, 4), 0)
    nearest("empty", np.zeros((3, 4), int), 5)


def make_floods():
    for levels in (1, 2, 5, 200):
        for shape in [(1, 15), (9, 1), (12, 13), (5, 6, 5)]:
            image = rng.integers(0, levels, shape)
            mask = rng.random(shape) < 0.85
            name = f"{'x'.join(map(str, shape))}-{levels}"
            watershed(name, image, seeds(shape, 8, 20))
            watershed(name + "-masked", image, seeds(shape, 12, 3), mask)
    mask = blobs((30, 32), 12)
    squares = np.rint(ndimage.distance_transform_edt(mask) ** 2).astype(int)
    markers = measure.label(morphology.local_maxima(squares) & mask)
    watershed("blobs", -squares, markers, mask)
    watershed("unmarked", squares[:5], np.zeros((5, 32), int))


def make_greys():
    for levels in (1, 2, 4, 100):
        for shape in [(1, 1), (1, 15), (9, 1), (11, 13), (5, 4, 6)]:
            image = rng.integers(0, levels, shape)
            other = rng.integers(0, levels + 2, shape)
            name = f"{'x'.join(map(str, shape))}-{levels}"
            reconstruct(name, np.minimum(image, other), image, "dilation")
            reconstruct(name + "-up", np.maximum(image, other), image, "erosion")
            maxima(name, image)
    lone = np.zeros((11, 13), int)
    lone[8, 2] = 9
    maxima("lone", lone)
    reconstruct("lone", lone, blobs((11, 13), 5) * 7 + 2 + lone, "dilation")


def make_hulls():
    hull("one", np.ones((1, 1), int))
    hull("row", np.array([[0, 1, 0, 0, 1, 0]]))
    hull("corners", np.eye(6, dtype=int) * 3)
    for percent in (2, 6, 30):
        hull(f"scattered-{percent}", seeds((14, 17), percent, 2))
    labels = measure.label(blobs((24, 26), 7))
    hull("blobs", labels)
    hull("split", np.where(labels > 0, 1 + np.indices(labels.shape)[1] // 7, 0))
    hull("empty", np.zeros((3, 4), int))
    for percent in (15, 60):
        hull(f"space-{percent}", seeds((6, 7, 8), percent, 2))


make_distances()
make_floods()
make_greys()
make_hulls()
