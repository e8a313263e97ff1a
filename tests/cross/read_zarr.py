#!/usr/bin/env python3
"""Reads the OME-Zarr that pipec has written with other people's libraries.

    mkdir out; PIPEC_KEEP_IMAGES=out test_image_write; PIPEC_KEEP_IMAGES=out test_zarr_write; tests/cross/read_zarr.py out

Every pixel of test_image_write's folders is compared with the formula of make_images.py by zarr-python and tensorstore. Every
folder is opened by ome-zarr, whose levels and label images must be what the metadata say, and checked by
ome-zarr-models. Needs numpy, zarr 3, tensorstore, ome-zarr, ome-zarr-models, tifffile with imagecodecs, astropy.
"""
import glob
import json
import os
import sys

import numpy as np
import ome_zarr_models
import tensorstore
import zarr
from ome_zarr.io import parse_url
from ome_zarr.reader import Reader

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from read_back import NAME, make_images  # noqa: E402


def by_tensorstore(path):
    driver = "zarr3" if os.path.exists(path + "/zarr.json") else "zarr"
    return tensorstore.open({"driver": driver, "kvstore": {"driver": "file", "path": path}}).result().read().result()


def check_pixels(path):
    elem, _, *numbers, _, _ = NAME.match(os.path.basename(path)).groups()
    x, y, z, c, t = (int(n) for n in numbers)
    want = make_images.typed(make_images.base(x, y, z, c, t), elem)
    want = want.astype(np.uint8) * 255 if elem == "bool" else want
    for got in (zarr.open_array(path + "/0", mode="r")[...], by_tensorstore(path + "/0")):
        assert got.dtype == want.dtype, (path, got.dtype)
        assert np.array_equal(got.squeeze(), want.squeeze()), path


def attributes(path):
    name = path + "/.zattrs"
    with open(name if os.path.exists(name) else path + "/zarr.json") as f:
        meta = json.load(f)
    return meta if os.path.exists(name) else meta["attributes"]["ome"]


def check_image(path):
    ome_zarr_models.open_ome_zarr(zarr.open_group(path, mode="r"))
    scales = attributes(path)["multiscales"][0]
    nodes = list(Reader(parse_url(path))())
    levels = nodes[0].data
    assert len(levels) == len(scales["datasets"]), path
    for level, (data, told) in enumerate(zip(levels, scales["datasets"])):
        got = by_tensorstore(os.path.join(path, told["path"]))
        assert np.array_equal(data.compute(), got), (path, level)
        assert len(scales["axes"]) == got.ndim
    if os.path.isdir(path + "/labels"):
        assert sorted(attributes(path + "/labels")["labels"]) == ["a", "b"], path
        assert len(nodes) > 1, path


def check_plate(path):
    fields = glob.glob(path + "/*/*/*/")
    assert len(fields) == 4
    ome_zarr_models.open_ome_zarr(zarr.open_group(path, mode="r"))
    for field in fields:
        check_image(field.rstrip("/"))


def main():
    paths = sorted(p for p in glob.glob(os.path.join(sys.argv[1], "*zarr")) if os.path.isdir(p))
    for path in paths:
        if os.path.basename(path).startswith("plate"):
            check_plate(path)
            continue
        if not path.endswith(".ome.zarr"):
            check_pixels(path)
        check_image(path)
    print("%d folders are as they should be" % len(paths))


if __name__ == "__main__":
    sys.exit(main())
