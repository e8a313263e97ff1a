#!/usr/bin/env python3
"""Reads what pipec has written with other people's libraries, and compares every pixel.

    mkdir out; PIPEC_KEEP_IMAGES=out test_image_write; tests/cross/read_back.py out

The file names tell type and shape, the pixels follow the formula of tests/data/make_images.py.
Needs numpy, tifffile with imagecodecs, astropy.
"""
import glob
import os
import re
import sys
import warnings

import imagecodecs
import numpy as np
import tifffile
from astropy.io import fits

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data"))
import make_images  # noqa: E402

NAME = re.compile(r"(\w+?)_(\w+?)_x(\d+)_y(\d+)_z(\d+)_c(\d+)_t(\d+)(_rgb)?\.(\w+)$")


def read(path, kind):
    if path.endswith(".fits"):
        return fits.getdata(path)
    if path.endswith(".png"):
        return imagecodecs.imread(path)
    with tifffile.TiffFile(path) as tif:
        series = tif.series[0]
        expected = "ome" if kind == "ome" else "imagej"
        assert series.kind == expected, "%s is read as %s" % (path, series.kind)
        assert len(tif.series) == 1
        return series.asarray()


def main():
    warnings.simplefilter("error")
    files = sorted(glob.glob(os.path.join(sys.argv[1], "*")))
    for path in files:
        elem, kind, *numbers, rgb, ext = NAME.match(os.path.basename(path)).groups()
        x, y, z, c, t = (int(n) for n in numbers)
        want = make_images.typed(make_images.base(x, y, z, c, t), elem)
        if elem == "bool":
            want = want.astype(np.uint8) * 255
        chunky = rgb and elem in ("u8", "u16") or ext == "png" and c > 1
        if ext != "fits":
            want = np.moveaxis(want, 1, -1) if chunky and c > 1 else np.moveaxis(want, 1, 2)
        got = read(path, kind)
        assert got.dtype.newbyteorder("=") == want.dtype, (path, got.dtype, want.dtype)
        assert np.array_equal(got.squeeze(), want.squeeze()), (path, got.shape, want.shape)
    print("%d files are as they should be" % len(files))


if __name__ == "__main__":
    sys.exit(main())
