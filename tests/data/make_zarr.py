#!/usr/bin/env python3
"""Makes zarr.tar.gz, the folders of zarr that tests/unit/test_zarr.c reads: every type, codec, chunking and version, as
zarr-python, tensorstore and ome-zarr write them, with pixels by the formula of make_images.py.

Needs numpy, zarr 3, numcodecs, tensorstore, ome-zarr.
"""
import gzip
import io
import json
import os
import shutil
import sys
import tarfile
import tempfile

import numcodecs
import numpy as np
import tensorstore
import zarr
from ome_zarr.writer import write_image, write_labels, write_plate_metadata, write_well_metadata
from zarr import codecs

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from make_images import base, typed  # noqa: E402

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "zarr.tar.gz")
X, Y = 7, 5


def plane(kind, x=X, y=Y):
    wide = {"i64": "i32", "u64": "u32"}
    a = typed(base(x=x, y=y), wide.get(kind, kind))[0, 0, 0]
    return a.astype({"i64": np.int64, "u64": np.uint64}.get(kind, a.dtype))


def two(name, a, chunks=(3, 4), **options):
    zarr.create_array(name, data=a, chunks=chunks, zarr_format=2, **options)


def three(name, a, chunks=(3, 4), **options):
    zarr.create_array(name, data=a, chunks=chunks, zarr_format=3, **options)


def make_types():
    for kind in ("bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64"):
        two("two_%s.zarr" % kind, plane(kind))
        three("three_%s.zarr" % kind, plane(kind))
    for kind in ("u16", "f32", "i64"):
        two("two_big_%s.zarr" % kind, plane(kind).astype(plane(kind).dtype.newbyteorder(">")))
        three("three_big_%s.zarr" % kind, plane(kind), serializer=codecs.BytesCodec(endian="big"))


def make_codecs():
    a = plane("u16", x=70, y=50)
    two("two_none.zarr", a, (50, 70), compressors=None)
    two("two_zlib.zarr", a, (16, 32), compressors=numcodecs.Zlib(3))
    two("two_gzip.zarr", a, (16, 32), compressors=numcodecs.GZip(3))
    two("two_zstd.zarr", a, (16, 32), compressors=numcodecs.Zstd(3))
    for packer in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        for shuffle in range(3):
            two("two_blosc_%s_%d.zarr" % (packer, shuffle), a, (16, 32),
                compressors=numcodecs.Blosc(cname=packer, shuffle=shuffle))
    three("three_none.zarr", a, (16, 32), compressors=None)
    three("three_gzip.zarr", a, (16, 32), compressors=codecs.GzipCodec())
    three("three_zstd.zarr", a, (16, 32), compressors=codecs.ZstdCodec(level=3, checksum=True))
    three("three_blosc.zarr", a, (16, 32), compressors=codecs.BloscCodec(cname="lz4", shuffle="bitshuffle"))
    three("three_crc.zarr", a, (16, 32), compressors=[codecs.Crc32cCodec()])
    three("three_chain.zarr", a, (16, 32), compressors=[codecs.Crc32cCodec(), codecs.GzipCodec(), codecs.ZstdCodec(), codecs.Crc32cCodec()])
    three("three_shards.zarr", a, (8, 16), shards=(16, 64))
    three("three_shards_crc.zarr", a, (5, 7), shards=(50, 70), compressors=[codecs.ZstdCodec(), codecs.Crc32cCodec()])


def make_orders():
    b = base(x=6, y=5, z=4, c=3)[0]
    a = typed(b, "u16")
    two("two_columns.zarr", a, (2, 3, 3, 4), order="F")
    two("two_slash.zarr", a, (1, 4, 2, 6), chunk_key_encoding={"name": "v2", "separator": "/"})
    three("three_points.zarr", a, (1, 4, 2, 6), chunk_key_encoding={"name": "v2", "separator": "."})
    three("three_turned.zarr", a, (2, 3, 3, 4), filters=codecs.TransposeCodec(order=(1, 3, 0, 2)))
    three("three_twice.zarr", a, (2, 3, 3, 4),
          filters=[codecs.TransposeCodec(order=(1, 3, 0, 2)), codecs.TransposeCodec(order=(1, 3, 0, 2))])
    three("three_named.zarr", np.moveaxis(a, (0, 1, 2, 3), (3, 2, 0, 1)), (2, 3, 3, 2), dimension_names=("y", "x", "z", "c"))
    three("three_line.zarr", a[0, 0, 0], (4,))
    three("three_five.zarr", typed(base(x=3, y=4, z=2, c=2, t=3), "f32"), (2, 1, 2, 3, 2))
    three("three_one.zarr", plane("u16"), (1, 1))


def sharded_by_tensorstore(name, a, where, index):
    store = tensorstore.open({
        "driver": "zarr3", "kvstore": {"driver": "file", "path": os.path.abspath(name)},
        "metadata": {
            "shape": a.shape, "data_type": "uint16", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": (20, 30)}},
            "codecs": [{"name": "sharding_indexed", "configuration": {
                "chunk_shape": (10, 10), "index_location": where,
                "index_codecs": index,
                "codecs": [{"name": "transpose", "configuration": {"order": (1, 0)}},
                           {"name": "bytes", "configuration": {"endian": "big"}},
                           {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 5, "shuffle": "shuffle"}}]}}],
            "fill_value": 0}, "create": True}).result()
    store[...] = a


def make_tensorstore():
    a = plane("u16", x=70, y=50)
    little, big = ({"name": "bytes", "configuration": {"endian": e}} for e in ("little", "big"))
    sharded_by_tensorstore("store_end.zarr", a, "end", [little, {"name": "crc32c"}])
    sharded_by_tensorstore("store_start.zarr", a, "start", [big])
    store = tensorstore.open({
        "driver": "zarr", "kvstore": {"driver": "file", "path": os.path.abspath("store_two.zarr")},
        "metadata": {"shape": a.shape, "chunks": (16, 32), "dtype": "<u2", "order": "F", "fill_value": None, "filters": None,
                     "dimension_separator": "/", "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1}},
        "create": True}).result()
    store[...] = a


def make_missing():
    """Only the chunk in the middle is there; the others have the fill value."""
    for name, fill, form, shards in (("two_missing_u8.zarr", 9, 2, None), ("three_missing_f32.zarr", -2.5, 3, None),
                                     ("three_missing_nan.zarr", np.nan, 3, None), ("two_missing_inf.zarr", np.inf, 2, None),
                                     ("three_missing_shards.zarr", 7, 3, (4, 4)), ("three_missing_bool.zarr", True, 3, None)):
        kind = "u1" if isinstance(fill, int) else "f4"
        kind = "?" if fill is True else kind
        a = zarr.create_array(name, shape=(6, 6), chunks=(2, 2), shards=shards, dtype=kind, fill_value=fill, zarr_format=form)
        a[2:4, 2:4] = 5
    path = "three_missing_bits.zarr"
    shutil.copytree("three_missing_nan.zarr", path)
    with open(path + "/zarr.json") as f:
        meta = json.load(f)
    meta["fill_value"] = "0x40490fdb"
    with open(path + "/zarr.json", "w") as f:
        json.dump(meta, f)


def axis(name, kind, unit=None):
    return {"name": name, "type": kind, **({"unit": unit} if unit else {})}


def make_ome():
    """Images of two channels and three planes in two levels, with label images."""
    from ome_zarr.format import FormatV04, FormatV05

    axes = [axis("c", "channel"), axis("z", "space", "micrometer"), axis("y", "space", "micrometer"),
            axis("x", "space", "micrometer")]
    a = typed(base(x=16, y=12, z=3, c=2)[0], "u16")
    scales = [[{"type": "scale", "scale": [1, 2, 0.5 * k, 0.25 * k]},
               {"type": "translation", "translation": [0, 4, 0.25 * (k - 1), 10 + 0.125 * (k - 1)]}] for k in (1, 2)]
    omero = {"channels": [{"label": "DAPI", "color": "0000FF", "window": {"start": 0, "end": 9, "min": 0, "max": 65535}, "active": True},
                          {"label": "GFP \u00b5", "color": "00FF00", "window": {"start": 0, "end": 9, "min": 0, "max": 65535}, "active": True}]}
    for name, form in (("image_04.ome.zarr", FormatV04()), ("image_05.ome.zarr", FormatV05())):
        root = zarr.open_group(name, mode="w", zarr_format=form.zarr_format)
        from ome_zarr.writer import write_multiscale
        write_multiscale([a, a[:, :, ::2, ::2]], root, fmt=form, axes=axes, coordinate_transformations=scales, metadata={"omero": omero},
                         storage_options={"chunks": (1, 2, 5, 7)})
        write_labels(typed(base(x=16, y=12), "u8")[0, 0, 0], root, name="spots", fmt=form, axes=axes[2:], scaler=None)


def make_plate():
    root = zarr.open_group("plate.zarr", mode="w", zarr_format=2)
    from ome_zarr.format import FormatV04
    write_plate_metadata(root, ["A", "B"], ["1", "2"], ["A/1", "B/2"], fmt=FormatV04())
    for i, well in enumerate(("A/1", "B/2")):
        group = root.require_group(well)
        write_well_metadata(group, ["0", "1"], fmt=FormatV04())
        for field in ("0", "1"):
            write_image(plane("u16"), group.require_group(field), axes="yx", scaler=None, fmt=FormatV04())


def make_series():
    """What bioformats2raw writes: images in folders 0, 1."""
    from ome_zarr.format import FormatV04
    root = zarr.open_group("series.zarr", mode="w", zarr_format=2)
    root.attrs["bioformats2raw.layout"] = 3
    for field in ("0", "1"):
        write_image(plane("u16"), root.require_group(field), axes="yx", scaler=None, fmt=FormatV04())


def pack():
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        def plain(info):
            info.mtime = info.uid = info.gid = 0
            info.uname = info.gname = ""
            info.mode = 0o755 if info.isdir() else 0o644
            return info
        for name in sorted(os.listdir(".")):
            tar.add(name, filter=plain)
    with open(OUT, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
        z.write(raw.getvalue())


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for make in (make_types, make_codecs, make_orders, make_tensorstore, make_missing, make_ome, make_plate, make_series):
            make()
        pack()
        os.chdir("/")


if __name__ == "__main__":
    sys.exit(main())
