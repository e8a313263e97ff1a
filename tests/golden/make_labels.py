#!/usr/bin/env python3
"""Writes labels.txt: what scipy says about connected components, and exact sums by label.

    python3 tests/golden/make_labels.py > tests/golden/labels.txt

Every case is a line `KIND name w h d connectivity-or-fold count` followed by numbers: the input
pixels in raster order, then the expected result.  Values of `perlabel` are bit patterns of f32.
"""
import math
import struct
from fractions import Fraction

import numpy as np
from scipy import ndimage


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def show(array):
    flat = np.asarray(array).ravel()
    for i in range(0, len(flat), 40):
        print(" ".join(str(v) for v in flat[i:i + 40]))


def head(kind, name, shape, argument, count):
    d, h, w = (1,) + shape if len(shape) == 2 else shape
    print(kind, name, w, h, d, argument, count)


def label(name, mask):
    for connectivity in range(1, mask.ndim + 1):
        structure = ndimage.generate_binary_structure(mask.ndim, connectivity)
        labels, count = ndimage.label(mask, structure)
        head("label", f"{name}-{connectivity}", mask.shape, connectivity, count)
        show(mask.astype(int))
        show(labels)


def label_equal(name, image):
    for connectivity in range(1, image.ndim + 1):
        structure = ndimage.generate_binary_structure(image.ndim, connectivity)
        joined = np.zeros(image.shape, int)
        for value in np.unique(image[image != 0]):
            part, _ = ndimage.label(image == value, structure)
            joined[part != 0] = part[part != 0] + joined.max()
        _, first, inverse = np.unique(joined, return_index=True, return_inverse=True)
        ids = [i for i in np.argsort(first) if joined.ravel()[first[i]] != 0]
        order = np.zeros(len(first), int)
        order[ids] = np.arange(1, len(ids) + 1)
        head("equal", f"{name}-{connectivity}", image.shape, connectivity, len(ids))
        show(image)
        show(order[inverse])


def compact(name, labels, kept):
    keep = np.isin(labels, kept)
    ids = np.unique(labels[keep])
    head("compact", name, labels.shape, 0, len(ids))
    show(labels)
    show(keep.astype(int))
    show(np.where(keep, np.searchsorted(ids, labels) + 1, 0))


def nearest_f32(value):
    """The f32 nearest to a Fraction, ties to even, with subnormal numbers and overflow."""
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = math.floor(math.log2(size.numerator) - math.log2(size.denominator))
    exponent += (Fraction(2) ** (exponent + 1) <= size) - (Fraction(2) ** exponent > size)
    unit = Fraction(2) ** max(exponent - 23, -149)
    rounded = round(size / unit) * unit
    result = math.inf if rounded >= Fraction(2) ** 128 else float(rounded)
    return math.copysign(result, value)


def perlabel(name, labels, values):
    values = values.astype(np.float32)
    count = int(labels.max())
    groups = [[float(v) for v in values[labels == i] if not math.isnan(v)]
              for i in range(count + 1)]
    results = {
        0: [nearest_f32(sum((Fraction(v) for v in g), Fraction(0))) for g in groups],
        1: [min(g, default=math.inf) for g in groups],
        2: [max(g, default=-math.inf) for g in groups],
        3: [float(len(g)) for g in groups],
    }
    for fold, result in results.items():
        head("perlabel", f"{name}-{fold}", labels.shape, fold, count)
        show(labels)
        show([bits(v) for v in values.ravel()])
        show([bits(v) for v in result])


def spiral(n):
    out = np.zeros((n, n), bool)
    x, y, dx, dy = 0, 0, 1, 0
    steps = n - 1
    out[0, 0] = True
    turns = 0
    while steps > 0:
        for _ in range(steps):
            x, y = x + dx, y + dy
            out[y, x] = True
        dx, dy = -dy, dx
        turns += 1
        if turns >= 3 and turns % 2 == 1:
            steps -= 2
    return out


def main():
    rng = np.random.default_rng(7)
    label("one", np.ones((1, 1), bool))
    label("none", np.zeros((3, 5), bool))
    label("full", np.ones((4, 37), bool))
    label("checkers", np.indices((6, 35)).sum(0) % 2 == 0)
    label("spiral", spiral(17))
    label("comb", (np.indices((9, 33))[1] % 2 == 0) | (np.indices((9, 33))[0] == 8))
    label("random", rng.random((16, 40)) < 0.45)
    label("sparse", rng.random((12, 70)) < 0.2)
    label("volume", rng.random((5, 6, 9)) < 0.3)
    label("dense-volume", rng.random((4, 5, 34)) < 0.15)
    label_equal("bands", np.arange(8)[:, None] // 3 * np.ones((1, 12), int))
    label_equal("random", rng.integers(0, 3, (10, 36)))
    label_equal("volume", rng.integers(0, 4, (3, 5, 7)))
    labels = rng.integers(0, 9, (5, 12))
    compact("some", labels, [2, 3, 7])
    compact("none", labels, [])
    compact("all", labels, range(1, 9))
    compact("large", np.array([[5, 0, 4294967295, 70000, 5, 4294967295]]), [5, 4294967295])
    labels = rng.integers(0, 5, (6, 30))
    perlabel("plain", labels, rng.normal(size=labels.shape) * 100)
    perlabel("wide", labels,
             rng.normal(size=labels.shape) * 2.0 ** rng.integers(-20, 20, labels.shape))
    perlabel("far", labels,
             rng.normal(size=labels.shape) * 10.0 ** np.array([0, 30, -30, 5, -39])[labels])
    perlabel("cancelling", labels, np.where(rng.random(labels.shape) < 0.5, 1e20, -1e20)
             + rng.integers(-3, 3, labels.shape))
    perlabel("tiny", labels, rng.integers(-9, 9, labels.shape) * 2.0 ** -149)
    perlabel("huge", labels, np.full(labels.shape, 3e38) * rng.choice([1, 1, -1], labels.shape))
    special = rng.normal(size=labels.shape)
    special[rng.random(labels.shape) < 0.3] = math.nan
    perlabel("nan", labels, special)


main()
