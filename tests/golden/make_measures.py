"""Measures of small label scenes by scikit-image 0.19, for tests/unit/test_measure.c.

Usage: python3 make_measures.py > measures.txt

The scenes are painted by integer formulae that the C test repeats.  Each table starts with a line
"scene NAME", then one line of properties, one of column names, and one line a label.
"""
import warnings

import numpy as np
from skimage import measure

warnings.simplefilter("ignore")

# Shapes are painted in order: (kind, label, a, b, c, d[, e, f]).
PLANE = [
    ("box", 1, 2, 3, 9, 6),          # x, y, width, height
    ("disk", 2, 22, 12, 64, 0),      # x, y, radius squared, hole squared
    ("disk", 3, 34, 12, 36, 0),      # touches 2
    ("disk", 4, 52, 14, 100, 30),    # a ring
    ("box", 5, 51, 13, 3, 2),        # inside the ring
    ("box", 6, 0, 20, 12, 3),        # concave, at the border
    ("box", 6, 0, 23, 3, 11),
    ("box", 7, 5, 30, 1, 1),         # one pixel
    ("box", 8, 20, 30, 17, 1),       # one row
    ("box", 9, 40, 28, 1, 14),       # one column
    ("line", 10, 45, 30, 11, 0),     # a diagonal
    ("disk", 11, 69, 47, 130, 0),    # cut by the corner
    ("box", 13, 10, 40, 8, 8),       # a frame with two holes; 12 is absent
    ("box", 0, 11, 41, 2, 5),
    ("box", 0, 15, 42, 1, 3),
    ("disk", 14, 30, 40, 20, 0),     # two parts
    ("box", 14, 20, 45, 3, 2),
]
SPACE = [
    ("ball", 1, 7, 7, 6, 30, 0),         # x, y, z, radius squared, hole squared
    ("ball", 2, 17, 8, 7, 40, 12),       # hollow, touches nothing
    ("block", 3, 1, 15, 1, 6, 4, 5),     # x, y, z, extents
    ("block", 0, 3, 16, 0, 2, 2, 9),     # a tunnel through 3
    ("block", 4, 12, 17, 2, 3, 2, 2),
    ("block", 4, 12, 19, 2, 2, 3, 6),    # concave
    ("block", 6, 20, 18, 0, 4, 4, 4),    # at the border
]


def paint_plane(w, h):
    labels = np.zeros((h, w), int)
    y, x = np.mgrid[:h, :w]
    for kind, label, a, b, c, d in PLANE:
        if kind == "box":
            where = (x >= a) & (x < a + c) & (y >= b) & (y < b + d)
        elif kind == "disk":
            r = (x - a) ** 2 + (y - b) ** 2
            where = (r <= c) & (r >= d)
        else:
            where = (x - a == y - b) & (x >= a) & (x < a + c)
        labels[where] = label
    return labels


def paint_mosaic(w, h):
    y, x = np.mgrid[:h, :w]
    labels = 1 + ((x // 5) * 3 + (y // 4) * 5) % 6
    labels[(x * x * 7 + y * 13 + x * y) % 11 < 3] = 0
    return labels


def paint_space(w, h, d):
    labels = np.zeros((d, h, w), int)
    z, y, x = np.mgrid[:d, :h, :w]
    for kind, label, a, b, c, *rest in SPACE:
        if kind == "ball":
            r = (x - a) ** 2 + (y - b) ** 2 + (z - c) ** 2
            where = (r <= rest[0]) & (r >= rest[1])
        else:
            where = ((x >= a) & (x < a + rest[0]) & (y >= b) & (y < b + rest[1])
                     & (z >= c) & (z < c + rest[2]))
        labels[where] = label
    return labels


def intensities(labels):
    """Like u8; negative and fractional; a small signal on a large offset."""
    z, y, x = np.indices((1,) * (3 - labels.ndim) + labels.shape)
    small = (x * 37 + y * 59 + z * 17) % 256
    mixed = ((x * x * 3 + y * 5 + z * 7) % 1000) * 0.25 - 120
    offset = 1000000 + ((x * 31 + y * 17 + z * 3) % 101) / 8
    return [v.astype(np.float64).reshape(labels.shape) for v in (small, mixed, offset)]


def intensity_std(mask, image):
    return np.std(image[mask])


def intensity_sum(mask, image):
    return np.sum(image[mask])


def intensity_median(mask, image):
    return np.median(image[mask])


EXTRA = (intensity_std, intensity_sum, intensity_median)
SHAPE = ["label", "area", "bbox", "area_bbox", "bbox_area", "centroid", "local_centroid", "extent",
         "equivalent_diameter", "area_convex", "solidity", "feret_diameter_max", "filled_area",
         "major_axis_length", "axis_minor_length", "inertia_tensor", "inertia_tensor_eigvals",
         "moments", "moments_central", "moments_normalized", "euler_number"]
SHAPE_2D = ["eccentricity", "orientation", "moments_hu", "perimeter", "perimeter_crofton"]
INTENSITY = ["label", "mean_intensity", "min_intensity", "intensity_max", "weighted_centroid",
             "centroid_weighted_local", "weighted_moments", "moments_weighted_central",
             "moments_weighted_normalized"]


def write(name, labels, image, properties):
    extra = EXTRA if image is not None else ()
    table = measure.regionprops_table(labels, image, properties=properties, extra_properties=extra)
    print("scene", name)
    print(",".join(list(properties) + [f.__name__ for f in extra]))
    print(",".join(table))
    for row in zip(*table.values()):
        print(",".join("%.17g" % v for v in row))


def main():
    for name, labels in (("plane", paint_plane(74, 52)), ("mosaic", paint_mosaic(40, 31)),
                         ("space", paint_space(25, 23, 14))):
        two = labels.ndim == 2
        write(name, labels, None, SHAPE + (SHAPE_2D if two else []))
        for k, image in enumerate(intensities(labels)):
            write("%s %d" % (name, k), labels, image,
                  INTENSITY + (["weighted_moments_hu"] if two else []))


main()
