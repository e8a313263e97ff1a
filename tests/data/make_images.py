#!/usr/bin/env python3
"""Makes the small image files that tests/unit/test_image.c reads: every pixel type, layout and
dialect that other programs write, with pixels given by one formula.

    b = (x + 7 y + 31 z + 61 c + 101 t) mod 251

and, by type: u8 b, i8 b - 125, u16 257 b, i16 257 (b - 125), u32 16843009 b,
i32 16843009 (b - 125), f32 and f64 b / 4 - 20, n-bit b mod 2^n, or b 2^(n - 8) above 8 bits.

Needs numpy, tifffile with imagecodecs, astropy, Pillow.
"""
import gzip
import os
import struct
import sys
import zlib

import numpy as np
import tifffile
from astropy.io import fits
from PIL import Image

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "images")
X, Y = 7, 5
UUID = "00000000-0000-0000-0000-000000000001"  # a random one would change the file each time


def base(x=X, y=Y, z=1, c=1, t=1):
    """b as an array [t, c, z, y, x]."""
    T, C, Z, Yy, Xx = np.meshgrid(*(np.arange(n) for n in (t, c, z, y, x)), indexing="ij")
    return (Xx + 7 * Yy + 31 * Z + 61 * C + 101 * T) % 251


def typed(b, kind):
    b = b.astype(np.int64)
    return {
        "u8": lambda: b.astype(np.uint8),
        "i8": lambda: (b - 125).astype(np.int8),
        "u16": lambda: (b * 257).astype(np.uint16),
        "i16": lambda: ((b - 125) * 257).astype(np.int16),
        "u32": lambda: (b * 16843009).astype(np.uint32),
        "i32": lambda: ((b - 125) * 16843009).astype(np.int32),
        "f32": lambda: (b / 4 - 20).astype(np.float32),
        "f64": lambda: (b / 4 - 20).astype(np.float64),
        "f16": lambda: (b / 4 - 20).astype(np.float16),
        "u64": lambda: (b * 16843009).astype(np.uint64),
        "i64": lambda: (b - 125) * 16843009,
        "bool": lambda: (b % 2).astype(bool),
    }[kind]()


def plane(kind, **extents):
    return typed(base(**extents), kind)[0, 0, 0]


def path(name):
    return os.path.join(OUT, name)


def write(name, array, **options):
    options.setdefault("photometric", "minisblack")
    options.setdefault("software", False)
    options.setdefault("metadata", None)
    tifffile.imwrite(path(name), array, **options)


def raw_tiff(name, tags, data, order="<"):
    """A TIFF file by hand: tags are (tag, type, values); the data go first, at offset 8."""
    body = bytearray(struct.pack(order + "2sHI", b"II" if order == "<" else b"MM", 42, 0) + data)
    body += b"\0" * (len(body) % 2)
    entries = []
    for tag, kind, values in sorted(tags):
        code, size = {1: ("B", 1), 2: ("s", 1), 3: ("H", 2), 4: ("I", 4), 5: ("Q", 8)}[kind]
        if kind == 2:
            payload, count = values + b"\0", len(values) + 1
        else:
            payload, count = struct.pack(order + str(len(values)) + code, *values), len(values)
        if len(payload) > 4:
            body += b"\0" * (len(body) % 2)
            where = len(body)
            body += payload
            payload = struct.pack(order + "I", where)
        entries.append(struct.pack(order + "HHI", tag, kind, count) + payload.ljust(4, b"\0"))
    body += b"\0" * (len(body) % 2)
    at = len(body)
    body += struct.pack(order + "H", len(entries)) + b"".join(entries) + struct.pack(order + "I", 0)
    struct.pack_into(order + "I", body, 4, at)
    with open(path(name), "wb") as f:
        f.write(body)


# Sizes of the types of tag values, and how struct calls them.
KINDS = {1: "B", 2: "s", 3: "H", 4: "I", 5: "II", 6: "b", 8: "h", 9: "i", 10: "ii", 11: "f", 12: "d", 16: "Q"}


def raw_pages(name, pages, order="<"):
    """A TIFF file of several pages by hand.  A page is (tags, chunks): tags as in raw_tiff, with fractions as pairs in
    one list, and chunks the strips or tiles, None where one has no bytes.  "at" and "size" as the values of a tag stand
    for where the chunks are and how long."""
    body = bytearray(struct.pack(order + "2sHI", b"II" if order == "<" else b"MM", 42, 0))
    link = 4
    for tags, chunks in pages:
        at = []
        for chunk in chunks:
            body += b"\0" * (len(body) % 2)
            at.append(0 if chunk is None else len(body))
            body += chunk or b""
        values_of = {"at": at, "size": [len(chunk or b"") for chunk in chunks]}
        entries = []
        for tag, kind, values in sorted(tags, key=lambda entry: entry[0]):
            values = values_of[values] if isinstance(values, str) else values
            count = len(values) // len(KINDS[kind].replace("s", "")) if kind != 2 else len(values) + 1
            payload = values + b"\0" if kind == 2 else struct.pack(order + KINDS[kind] * count, *values)
            if len(payload) > 4:
                body += b"\0" * (len(body) % 2)
                body += payload
                payload = struct.pack(order + "I", len(body) - len(payload))
            entries.append(struct.pack(order + "HHI", tag, kind, count) + payload.ljust(4, b"\0"))
        body += b"\0" * (len(body) % 2)
        struct.pack_into(order + "I", body, link, len(body))
        body += struct.pack(order + "H", len(entries)) + b"".join(entries) + bytes(4)
        link = len(body) - 4
    with open(path(name), "wb") as f:
        f.write(body)


def page_tags(x, y, bits, samples=1, photometric=1, compression=1, rows=None, more=()):
    return [(256, 3, [x]), (257, 3, [y]), (258, 3, [bits] * samples), (259, 3, [compression]),
            (262, 3, [photometric]), (273, 4, "at"), (277, 3, [samples]), (278, 3, [rows or y]),
            (279, 4, "size")] + list(more)


def packed(values, bits):
    """Rows of small numbers, each row filled up to a byte."""
    rows = []
    for row in values:
        text = "".join(format(int(v), "0%db" % bits) for v in row)
        text += "0" * (-len(text) % 8)
        rows.append(int(text, 2).to_bytes(len(text) // 8, "big"))
    return b"".join(rows)


def small_tags(x, y, bits, size, photometric=1, samples=1):
    return [(256, 3, [x]), (257, 3, [y]), (258, 3, [bits] * samples), (259, 3, [1]),
            (262, 3, [photometric]), (273, 4, [8]), (277, 3, [samples]), (278, 3, [y]),
            (279, 4, [size])]


def types():
    for kind in "u8 i8 u16 i16 u32 i32 f32 f64 f16 u64 i64 bool".split():
        write("type_%s.tif" % kind, plane(kind))
    for kind in "u16 i32 f32 f64".split():
        write("big_%s.tif" % kind, plane(kind), byteorder=">")
        write("bigtiff_%s.tif" % kind, plane(kind), bigtiff=True)
    write("samples_i64.tif", np.moveaxis(typed(base(c=2), "i64")[0, :, 0], 0, -1), planarconfig="contig", byteorder=">",
          compression="zlib", rowsperstrip=2)
    for kind, value in (("u64", 2**32), ("i64", -(2**31) - 1)):
        wide = plane(kind)
        wide[3, 4] = value
        write("wide_%s.tif" % kind, wide)
    write("bigtiff_big_u16.tif", plane("u16"), bigtiff=True, byteorder=">")
    write("rows_u16.tif", plane("u16", y=40), rowsperstrip=3)
    for bits in (2, 4, 10, 12, 14):
        b = base()[0, 0, 0] * (1 if bits < 8 else 2**bits // 256) % 2**bits
        data = packed(b, bits)
        raw_tiff("bits_%d.tif" % bits, small_tags(X, Y, bits, len(data)), data)
        if bits == 10:  # false colours
            raw_tiff("palette_10.tif", small_tags(X, Y, bits, len(data), 3) + [(320, 3, [i * 21 for i in range(3 * 2**bits)])], data)
    data = packed(4095 - base(c=2)[0, :, 0].transpose(1, 2, 0).reshape(Y, 2 * X), 12)
    raw_tiff("bits_12_white.tif", small_tags(X, Y, 12, len(data), 0, 2), data)
    rows = packed(np.resize(base(x=37)[0, 0, 0], (16, 48)), 12)
    strip = packed(base(y=3)[0, 0, 0], 12)
    raw_pages("sparse_bits.tif", [(page_tags(X, 6, 12, rows=3, more=[(42113, 2, b"77")]), [strip, None])])
    raw_pages("bits_12_jpeg.tif", [(page_tags(X, Y, 12, compression=7), [rows])])
    write("half_tiles.tif", plane("f16", x=37, y=29), byteorder=">", compression="deflate", predictor=3, tile=(16, 16))
    write("half_samples.tif", np.moveaxis(typed(base(c=2), "f16")[0, :, 0], 0, -1), planarconfig="contig")
    data = packed(plane("u8") % 2, 1)
    data = bytes(int(format(v, "08b")[::-1], 2) for v in data)
    raw_tiff("fill_order.tif", small_tags(X, Y, 1, len(data)) + [(266, 3, [2])], data)


def compressions():
    for name in "lzw deflate packbits zstd lzma".split():
        write("z_%s.tif" % name, plane("u16", x=37, y=29), compression=name, rowsperstrip=8)
    write("z_adobe.tif", plane("u16", x=37, y=29), compression=32946, rowsperstrip=8)
    write("z_big.tif", plane("u16", x=37, y=29), compression="deflate", byteorder=">")
    write("z_predictor.tif", plane("u16", x=37, y=29), compression="lzw", predictor=2)
    write("z_float.tif", plane("f32", x=37, y=29), compression="deflate", predictor=3)
    write("z_bool.tif", plane("bool", x=37, y=29), compression="deflate")
    rgb = np.moveaxis(typed(base(x=37, y=29, c=3), "u8")[0, :, 0], 0, -1)
    write("z_webp.tif", rgb, compression="webp", compressionargs={"level": -1}, photometric="rgb", tile=(16, 16))
    flat = np.empty((32, 48, 3), np.uint8)
    flat[:] = (200, 100, 50)
    write("jpeg_gray.tif", flat[..., 1], compression="jpeg", rowsperstrip=16)
    write("jpeg_colours.tif", flat, compression="jpeg", photometric="rgb", tile=(16, 16))
    flat[:] = (124, 86, 182)  # the same in YCbCr, which tifffile does not compute
    write("jpeg_ycbcr.tif", flat, compression="jpeg", photometric="ycbcr", subsampling=(2, 2),
          rowsperstrip=16)


def photos():
    """JPEG files: with an orientation, gray, progressive, and in colours for a printer."""
    flat = np.empty((32, 48, 3), np.uint8)
    flat[:] = (200, 100, 50)
    turned = Image.Exif()
    turned[274] = 6
    Image.fromarray(flat).save(path("photo.jpg"), quality=90, exif=turned)
    Image.fromarray(plane("u8", x=37, y=29)).save(path("photo_gray.jpg"), quality=100)
    rgb = np.moveaxis(typed(base(x=37, y=29, c=3), "u8")[0, :, 0], 0, -1)
    Image.fromarray(rgb).save(path("photo_progressive.jpg"), quality=100, subsampling=0, progressive=True)
    Image.fromarray(flat).convert("CMYK").save(path("photo_cmyk.jpg"))
    Image.fromarray(plane("u8", x=37, y=29)).save(path("photo_gray.jp2"))
    Image.fromarray(plane("u16", x=37, y=29)).save(path("photo_u16.jp2"))
    Image.fromarray(rgb).save(path("photo_rgb.j2k"), no_jp2=True, tile_size=(16, 16))
    Image.fromarray(flat).save(path("photo_flat.jp2"), irreversible=True, quality_mode="dB", quality_layers=[60])


def fax():
    """Runs of white and black in turn, white first, as codes of bits; each row begins a byte."""
    white_none, white_one, black_one = "00110101", "000111", "010"
    data = b""
    for row in plane("bool"):
        bits = (white_none if row[0] else "") + "".join(black_one if v else white_one for v in row)
        bits += "0" * (-len(bits) % 8)
        data += int(bits, 2).to_bytes(len(bits) // 8, "big")
    tags = [(tag, kind, [2] if tag == 259 else values) for tag, kind, values in small_tags(X, Y, 1, len(data))]
    raw_tiff("z_fax.tif", tags, data)
    # the same facsimile, whose 0 is white: what is white is 1
    tags = [(tag, kind, [0] if tag == 262 else values) for tag, kind, values in tags]
    raw_tiff("white_fax.tif", tags, data)


def tiles():
    write("tile_u8.tif", plane("u8", x=40, y=33), tile=(16, 16))
    write("tile_u16.tif", plane("u16", x=40, y=33), tile=(16, 32), compression="deflate")
    write("tile_bool.tif", plane("bool", x=40, y=33), tile=(16, 16), compression="deflate")
    rgb = typed(base(x=40, y=33, c=3), "u8")[0, :, 0]
    write("tile_rgb.tif", np.moveaxis(rgb, 0, -1), tile=(16, 16), photometric="rgb")
    write("tile_planar.tif", rgb, tile=(16, 16), photometric="rgb", planarconfig="separate",
          compression="deflate")


def colours():
    rgb = typed(base(c=3), "u8")[0, :, 0]
    four = typed(base(c=4), "u8")[0, :, 0]
    chunky = np.moveaxis(rgb, 0, -1)
    write("rgb.tif", chunky, photometric="rgb")
    write("rgb_deflate.tif", chunky, photometric="rgb", compression="deflate", rowsperstrip=2)
    write("rgb_planar.tif", rgb, photometric="rgb", planarconfig="separate")
    write("rgb_planar_lzw.tif", rgb, photometric="rgb", planarconfig="separate", compression="lzw",
          rowsperstrip=2)
    write("rgba.tif", np.moveaxis(four, 0, -1), photometric="rgb", extrasamples=["unassalpha"])
    write("rgb_u16.tif", np.moveaxis(typed(base(c=3), "u16")[0, :, 0], 0, -1), photometric="rgb",
          byteorder=">")
    write("gray_alpha.tif", np.moveaxis(four[:2], 0, -1), extrasamples=["unassalpha"],
          planarconfig="contig")
    five = typed(base(c=5), "u16")[0, :, 0]
    write("samples.tif", np.moveaxis(five, 0, -1), planarconfig="contig")
    write("samples_planar.tif", five, planarconfig="separate")
    index = plane("u8") % 16
    ramp = np.arange(256, dtype=np.uint16)
    colour = np.stack([ramp * 257, (255 - ramp) * 257, (ramp * 3 % 256) * 257]).astype(np.uint16)
    gray = np.stack([(ramp * 5 % 256) * 257] * 3).astype(np.uint16)
    write("palette.tif", index, photometric="palette", colormap=colour)
    write("palette_gray.tif", index, photometric="palette", colormap=gray)
    data = packed(index, 4)
    small = [int(v) for v in colour[:, :16].ravel() >> 8]
    raw_tiff("palette_4.tif", small_tags(X, Y, 4, len(data), 3) + [(320, 3, small)], data)
    data = plane("u8").tobytes()
    raw_tiff("palette_imagej.tif", small_tags(X, Y, 8, len(data), 3) +
             [(320, 3, [int(v) for v in colour.ravel()]), (270, 2, b"ImageJ=1.53c\n")], data)
    write("white_u8.tif", 255 - plane("u8"), photometric="miniswhite")
    write("white_u16.tif", 65535 - plane("u16"), photometric="miniswhite", compression="deflate")
    # what tifffile makes of booleans by itself: set bits are True, and 0 is white
    for name, options in (("white_bool.tif", {}), ("white_bool_deflate.tif", {"compression": "deflate"}),
                          ("white_bool_tiles.tif", {"tile": (16, 16)})):
        tifffile.imwrite(path(name), plane("bool"), software=False, metadata=None, **options)
    raw_tiff("white_imagej.tif", small_tags(X, Y, 8, len(data), 0) +
             [(270, 2, b"ImageJ=1.53c\n")], data)
    data = bytes(X * Y * 4)
    raw_tiff("cmyk.tif", small_tags(X, Y, 8, len(data), 5, 4), data)


def imagej():
    all5 = base(z=4, c=2, t=3)
    tzcyx = np.moveaxis(typed(all5, "u16"), 1, 2)
    about = {"unit": "um", "spacing": 1.5, "finterval": 0.25}
    write("imagej_tzc.tif", tzcyx, imagej=True, resolution=(1 / 0.2, 1 / 0.3),
          metadata=dict(about, axes="TZCYX"))
    write("imagej_z.tif", typed(base(z=4), "f32")[0, 0], imagej=True, resolution=(10, 10),
          metadata={"unit": "\\u00B5m", "spacing": 0.5, "axes": "ZYX"})
    write("imagej_t.tif", typed(base(t=3), "u8")[:, 0, 0], imagej=True,
          metadata={"axes": "TYX"})
    write("imagej_minutes.tif", typed(base(t=3), "u8")[:, 0, 0], imagej=True, resolution=(2, 2),
          metadata={"axes": "TYX", "unit": "Micron", "finterval": 2, "tunit": "min"})
    rgb = np.moveaxis(typed(base(z=3, c=3), "u8")[0], 0, -1)
    write("imagej_rgb.tif", rgb, imagej=True, photometric="rgb", metadata={"axes": "ZYXS"})
    for name, dots, unit in (("inch", 72, "inch"), ("cm", 100, "centimeter")):
        write("imagej_%s.tif" % name, plane("u8"), imagej=True, resolution=(dots, dots),
              resolutionunit=unit)

    # The scheme for stacks above 4 GB: one directory, all planes behind its pixels, big-endian.
    data = np.ascontiguousarray(tzcyx).astype(">u2").tobytes()
    size = X * Y * 2
    text = b"ImageJ=1.53c\nimages=24\nchannels=2\nslices=4\nframes=3\nhyperstack=true\n"
    tags = [(t, k, v) for t, k, v in small_tags(X, Y, 16, size)] + [(270, 2, text)]
    raw_tiff("imagej_huge.tif", tags, data, ">")
    rgb_data = np.ascontiguousarray(rgb).tobytes()
    tags = small_tags(X, Y, 8, X * Y * 3, 2, 3) + [(270, 2, b"ImageJ=1.53c\nimages=3\nslices=3\n")]
    raw_tiff("imagej_huge_rgb.tif", tags, rgb_data)
    # A description that outlived its stack.
    raw_tiff("imagej_copied.tif", small_tags(X, Y, 16, size) + [(270, 2, text)],
             plane("u16").tobytes())
    # More pages than the description says, and none of its keys.
    write("stack_imagej_plain.tif", typed(base(z=3), "u8")[0, 0], description="ImageJ=1.53c\n")
    write("stack_imagej_wrong.tif", typed(base(z=3), "u8")[0, 0],
          description="ImageJ=1.53c\nimages=8\nslices=4\nframes=2\n")


def stacks():
    write("stack.tif", typed(base(z=3), "i16")[0, 0])
    write("stack_deflate.tif", typed(base(z=3), "i16")[0, 0], compression="deflate")
    shaped = {"software": False}
    for name, extents, axes in (("shaped_z", (1, 1, 3), ""), ("shaped_cz", (1, 2, 3), ""),
                                ("shaped_tcz", (2, 2, 3), ""), ("shaped_tz", (2, 1, 3), "TZYX"),
                                ("shaped_zc", (1, 2, 3), "ZCYX")):
        t, c, z = extents
        array = typed(base(z=z, c=c, t=t), "u8")
        if axes == "ZCYX":
            array = np.moveaxis(array[0], 0, 1)
        elif axes == "TZYX":
            array = array[:, 0]
        else:
            array = array.reshape(tuple(n for n in extents if n > 1) + (Y, X))
        metadata = {"axes": axes} if axes else {}
        tifffile.imwrite(path(name + ".tif"), array, photometric="minisblack", metadata=metadata,
                         **shaped)
    with tifffile.TiffWriter(path("pyramid.tif")) as tif:
        tif.write(plane("u8", x=16, y=12), photometric="minisblack", software=False, metadata=None)
        tif.write(plane("u8", x=8, y=6), photometric="minisblack", software=False, metadata=None,
                  subfiletype=1)
    with tifffile.TiffWriter(path("subifd.tif")) as tif:
        tif.write(plane("u8", x=16, y=12), photometric="minisblack", software=False, metadata=None,
                  subifds=1)
        tif.write(plane("u8", x=8, y=6), photometric="minisblack", software=False, metadata=None,
                  subfiletype=1)
        tif.write(typed(base(x=16, y=12, z=2), "u8")[0, 0, 1], photometric="minisblack",
                  software=False, metadata=None)
    levels()
    tifffile.imwrite(path("truncated_shape.tif"), typed(base(z=3), "u16")[0, 0],
                     photometric="minisblack", metadata={"truncate": True}, **shaped)


OME = """<?xml version="1.0" encoding="UTF-8"?><!-- <Pixels SizeZ="9"> --><OME:OME
 xmlns:OME="http://www.openmicroscopy.org/Schemas/OME/2016-06"><OME:Image
 ID="Image:0" Name="a &gt; b"><OME:Pixels ID='Pixels:0' DimensionOrder="%s"
 Type="uint8" SizeX="7" SizeY="5" SizeZ="%d" SizeC="%d" SizeT="%d"
 PhysicalSizeX="200" PhysicalSizeXUnit="nm" PhysicalSizeY="0.3"
 PhysicalSizeYUnit="&#181;m" PhysicalSizeZ="1.5" TimeIncrement="250" TimeIncrementUnit="ms">
%s</OME:Pixels></OME:Image></OME:OME>"""


def sparse():
    """Strips and tiles without bytes: pixels of 0, or of what GDAL says stands for no data."""
    whole = typed(base(x=40, y=33, c=3), "u16")[0, :, 0] + 1
    for name, planes, skip, compression, more in (
            ("sparse_tiles.tif", 1, {1, 5}, 1, []), ("sparse_tiles_deflate.tif", 1, {0, 8}, 8, []),
            ("sparse_planar.tif", 3, {4, 9, 26}, 8, []), ("sparse_all.tif", 1, set(range(9)), 1, []),
            ("sparse_nodata.tif", 1, {1, 5}, 8, [(42113, 2, b"77")])):
        chunks = []
        for p in whole[:planes]:
            for r in range(0, 33, 16):
                for q in range(0, 40, 16):
                    tile = np.zeros((16, 16), "<u2")
                    part = p[r:r + 16, q:q + 16]
                    tile[:part.shape[0], :part.shape[1]] = part
                    data = tile.tobytes()
                    chunks.append(None if len(chunks) in skip else zlib.compress(data) if compression == 8 else data)
        tags = [t for t in page_tags(40, 33, 16, planes, 1, compression, more=more) if t[0] not in (273, 278, 279)]
        tags += [(322, 3, [16]), (323, 3, [16]), (324, 4, "at"), (325, 4, "size"), (284, 3, [2 if planes > 1 else 1])]
        raw_pages(name, [(tags, chunks)])
    for name, skip, compression in (("sparse_strips.tif", {0, 2}, 1), ("sparse_strips_deflate.tif", {3}, 8),
                                    ("sparse_one.tif", {0, 1, 2, 3, 4}, 1)):
        rows = [p.astype("<u2").tobytes() for p in np.split(whole[0][:30], 5)]
        chunks = [None if i in skip else zlib.compress(r) if compression == 8 else r for i, r in enumerate(rows)]
        raw_pages(name, [(page_tags(40, 30, 16, 1, 1, compression, 6), chunks)])
    # lengths that nobody has filled in say nothing, when everything has a place
    data = plane("u16").astype("<u2").tobytes()
    tags = [(tag, kind, [0] if tag == 279 else values) for tag, kind, values in page_tags(X, Y, 16)]
    raw_pages("lengths_zero.tif", [(tags, [data])])


def extra_samples():
    """What follows colours or gray is a channel unless it is marked as alpha."""
    many = np.moveaxis(typed(base(c=6), "u8")[0, :, 0], 0, -1)
    for name, samples, photometric, extra in (
            ("extra_rgb_nir.tif", 4, 2, [0]), ("extra_rgb_untold.tif", 4, 2, None),
            ("extra_rgb_mixed.tif", 6, 2, [0, 2, 0]), ("extra_gray.tif", 3, 1, [0, 1])):
        data = many[..., :samples].tobytes()
        more = [(338, 3, extra)] if extra is not None else []
        raw_pages(name, [(page_tags(X, Y, 8, samples, photometric, more=more), [data])])
    planes = typed(base(c=5), "u8")[0, :, 0]
    raw_pages("extra_planar.tif", [(page_tags(X, Y, 8, 5, 2, more=[(338, 3, [2, 0]), (284, 3, [2])]),
                                    [p.tobytes() for p in planes])])


def marks():
    """Pages that are marked as smaller versions or masks, the first ones too."""
    def page(array, more=()):
        bits = 8 * array.dtype.itemsize
        return page_tags(array.shape[1], array.shape[0], bits, more=more), [array.tobytes()]

    like, small = plane("u8"), plane("u8", x=4, y=3)
    stack = typed(base(z=3), "u8")[0, 0]
    raw_pages("marked_first.tif", [page(small, [(254, 4, [1])]), page(like, [(254, 4, [0])])])
    raw_pages("marked_old.tif", [page(small, [(255, 3, [2])]), page(like, [(255, 3, [1])])])
    raw_pages("marked_mask.tif", [page(like, [(254, 4, [4])])] +
              [p for plane_of in stack for p in (page(plane_of), page(255 - plane_of, [(254, 4, [5])]))])
    raw_pages("marked_all.tif", [page(p, [(254, 4, [1])]) for p in stack])


def resolutions():
    """Resolutions of 5 pixels a micrometre along x, and 4 along y, in every type of numbers."""
    for kind in (3, 4, 5, 9, 10, 11, 12, 1, 6, 8):
        more = [(270, 2, b"ImageJ=1.53c\nunit=um\n"), (296, 3, [1])]
        more += [(282, kind, [5] * len(KINDS[kind]) if len(KINDS[kind]) == 1 else [10, 2]),
                 (283, kind, [4] * len(KINDS[kind]) if len(KINDS[kind]) == 1 else [8, 2])]
        raw_pages("resolution_%d.tif" % kind, [(page_tags(X, Y, 8, more=more), [plane("u8").tobytes()])],
                  "<" if kind % 2 else ">")
    for unit in (4, 5):  # millimetres and micrometres, as HALCON and tifffile count
        more = [(282, 5, [10, 2]), (283, 5, [8, 2]), (296, 3, [unit])]
        raw_pages("resolution_unit_%d.tif" % unit, [(page_tags(X, Y, 8, more=more), [plane("u8").tobytes()])])
    for name, kind, values in (("zero", 5, [0, 1]), ("none", 5, [1, 0]), ("negative", 10, [-3 % 2**31 - 2**31, 1]),
                               ("nan", 11, [float("nan")])):
        more = [(270, 2, b"ImageJ=1.53c\nunit=um\n"), (296, 3, [1]), (282, kind, values), (283, kind, values)]
        raw_pages("resolution_%s.tif" % name, [(page_tags(X, Y, 8, more=more), [plane("u8").tobytes()])])


def imagej_odd():
    """What ImageJ's lines may say beside the usual."""
    def write_pages(name, pages, text, order=">", more=()):
        first = [(270, 2, b"ImageJ=1.53t\n" + text)] + list(more)
        kind = pages[0].dtype
        raw_pages(name, [(page_tags(pages[0].shape[1], pages[0].shape[0], 8 * kind.itemsize, more=first if i == 0 else []),
                          [p.astype(kind.newbyteorder(order)).tobytes()]) for i, p in enumerate(pages)], order)

    array = typed(base(z=4, c=2, t=3), "u16")  # t, c, z
    places = {"t": 0, "c": 1, "z": 2}
    for order in ("czt", "ctz", "zct", "ztc", "tcz", "tzc"):
        pages = array.transpose([places[a] for a in reversed(order)] + [3, 4]).reshape((-1, Y, X))
        spelled = {"ztc": "xyztc", "tcz": "TCZ"}.get(order, order)
        write_pages("imagej_order_%s.tif" % order, pages, ("images=24\nchannels=2\nslices=4\nframes=3\nhyperstack=true\n"
                                                           "order=%s\n" % spelled).encode())
    one = plane("u16")
    write_pages("imagej_yunit.tif", [plane("u8")], b"unit=um\nyunit=nm\nzunit=mm\nspacing=0.002\n",
                more=[(282, 5, [5, 1]), (283, 5, [1, 250]), (296, 3, [1])])
    write_pages("imagej_um_cm.tif", [plane("u8")], b"unit=um\n",
                more=[(282, 5, [50000, 1]), (283, 5, [40000, 1]), (296, 3, [3])])
    write_pages("imagej_signed.tif", [(plane("i16").astype(np.int32) + 32768).astype(np.uint16)],
                b"cf=0\nc0=-32768.0\nc1=1.0\nvunit=Gray Value\n")
    write_pages("imagej_line.tif", [plane("u8")], b"cf=0\nc0=-20\nc1=0.25\nvunit=OD\n")  # b / 4 - 20
    write_pages("imagej_square.tif", [(plane("u8") % 16).astype(np.uint16)], b"cf=1\nc0=1\nc1=2\nc2=3\n")
    write_pages("imagej_rodbard.tif", [plane("u8")], b"cf=7\nc0=1\nc1=2\nc2=3\nc3=4\n")
    write_pages("imagej_beyond.tif", [plane("u8")], b"cf=0\nc0=1e300\nc1=1\n")
    write_pages("imagej_same.tif", [one], b"cf=0\nc0=0\nc1=1\n")
    write_pages("imagej_claims.tif", [plane("u8")], b"images=9\nchannels=2\nslices=3\n")
    rgb = np.moveaxis(typed(base(z=2, c=3), "u8")[0], 0, -1)  # Bio-Formats counts samples as channels
    more = [(270, 2, b"ImageJ=\nimages=6\nchannels=3\nslices=2\n")]
    raw_pages("imagej_rgb_channels.tif", [(page_tags(X, Y, 8, 3, 2, more=more if i == 0 else []), [p.tobytes()])
                                          for i, p in enumerate(rgb)])


def tags_of_display():
    """What a file says about pixels that nothing is done with."""
    tags = [(274, 3, [3]), (291, 3, [1, 2]), (42113, 2, b"0")]
    raw_pages("tags_of_display.tif", [(page_tags(X, Y, 8, more=tags), [plane("u8").tobytes()])])


def microscopes():
    """MetaMorph's STK: planes behind one page.  Zeiss' LSM: a page for each plane, with a thumbnail behind it."""
    planes = typed(base(z=3), "u16")[0, 0]
    for name, n, compression in (("stk.stk", 3, 1), ("stk_cut.stk", 9, 1), ("stk_lzw.stk", 3, 5)):
        tags = [(tag, kind, [compression] if tag == 259 else values)
                for tag, kind, values in small_tags(X, Y, 16, 2 * X * Y)]
        raw_tiff(name, tags + [(33629, 5, [0] * n)], planes.tobytes())
    for name, t, z in (("lsm.lsm", 2, 3), ("lsm_line.lsm", 1, Y)):
        table = struct.pack("<I9i6d2H5Id", 0x400494C, 120, X, Y, z, 2, t, 0, 3, 2, 2e-7, 3e-7, 1.5e-6, 0, 0, 0,
                            0, 0, 0, 0, 0, 0, 0, 0.25)
        options = {"planarconfig": "separate", "software": False, "metadata": None, "photometric": "minisblack"}
        pages = [(i, j) for i in range(t) for j in range(z)] if t > 1 else [(0, 0)]
        with tifffile.TiffWriter(path(name)) as tif:
            for i, j in pages:
                tif.write(typed(base(z=z, c=2, t=t), "u8")[i, :, j], contiguous=False, **options,
                          extratags=[(34412, 1, len(table), table, True)] if i + j == 0 else [])
                tif.write(np.zeros((2, 2, 3), np.uint8), subfiletype=1, **options)


def levels():
    """Coarser levels of detail as slide scanners keep them; each has the formula of its own pixels."""
    def colours(x, y):
        return np.moveaxis(typed(base(x=x, y=y, c=3), "u8")[0, :, 0], 0, -1)

    options = {"software": False, "metadata": None}
    tiles = {"tile": (16, 16), "compression": "deflate", **options}
    with tifffile.TiffWriter(path("levels_svs.tif")) as tif:
        tif.write(colours(67, 50), photometric="rgb", **tiles, description=b"Aperio Image Library v11.2.1\r\n67x50 "
                  b"[0,0 67x50] (16x16) JPEG/RGB Q=30|AppMag = 20|MPP = 0.5|Filename = slide")
        tif.write(colours(20, 15), photometric="rgb", **options)  # a thumbnail
        tif.write(colours(16, 12), photometric="rgb", **tiles)  # unordered
        tif.write(colours(33, 25), photometric="rgb", **tiles)
        tif.write(colours(18, 30), photometric="rgb", subfiletype=1, **options)  # the slide's label
        tif.write(colours(31, 10), photometric="rgb", subfiletype=9, **options)  # and all of it
    with tifffile.TiffWriter(path("levels_qptiff.tif")) as tif:
        for x, y, kind in ((40, 32, 0), (20, 16, 1), (10, 8, 1)):  # the last one in strips
            for c in range(3):
                tif.write(typed(base(x=x, y=y, c=3), "u16")[0, c, 0], photometric="minisblack", subfiletype=kind,
                          **(tiles if x > 10 else options), description=b'<?xml version="1.0"?>'
                          b'<PerkinElmer-QPI-ImageDescription></PerkinElmer-QPI-ImageDescription>')
            if kind == 0:
                tif.write(colours(10, 8), photometric="rgb", subfiletype=1, **options)
    with tifffile.TiffWriter(path("levels.ome.tif"), ome=True) as tif:
        data = {"axes": "CZYX", "UUID": UUID, "PhysicalSizeX": 0.25, "PhysicalSizeXUnit": "µm",
                "PhysicalSizeY": 0.25, "PhysicalSizeYUnit": "µm"}
        tif.write(typed(base(x=37, y=29, z=3, c=2), "u16")[0], photometric="minisblack", subifds=2, tile=(16, 16),
                  compression="deflate", software=False, metadata=data)
        for x, y in ((19, 15), (9, 7)):
            tif.write(typed(base(x=x, y=y, z=3, c=2), "u16")[0], photometric="minisblack", subfiletype=1, tile=(16, 16),
                      compression="deflate", software=False, metadata=None)


def ome_pages(name, array, order, data, extents, last=None):
    """Pages of array [t, c, z, y, x] in the order given, fastest axis first, e.g. ZTC."""
    z, c, t = extents
    places = {"T": 0, "C": 1, "Z": 2}
    slow = [places[a] for a in reversed(order)]
    pages = array.transpose(slow + [3, 4]).reshape((-1, Y, X))[:last]
    text = OME % ("XY" + order, z, c, t, data)
    if array.dtype == np.float16:  # of which the standard knows nothing
        text = text.replace('Type="uint8"', 'Type="float"')
    with tifffile.TiffWriter(path(name)) as tif:
        for i, page in enumerate(pages):
            tif.write(page, photometric="minisblack", software=False, metadata=None,
                      contiguous=False, description=text.encode() if i == 0 else None)


def ome():
    array = typed(base(z=4, c=2, t=3), "u8")
    for order in ("CZT", "ZTC", "TCZ"):
        ome_pages("ome_%s.tif" % order.lower(), array, order, '<OME:TiffData IFD="0" '
                  'PlaneCount="24"/>', (4, 2, 3))
    ome_pages("ome_bare.tif", array, "ZCT", "", (4, 2, 3))
    ome_pages("ome_half.tif", typed(base(z=4, c=2, t=3), "f16"), "ZCT", "", (4, 2, 3))
    # one element a plane, against the order that the attribute claims
    order = "TCZ"
    data, page = "", 0
    for z in range(4):
        for c in range(2):
            for t in range(3):
                data += ('<OME:TiffData FirstZ="%d" FirstC="%d" FirstT="%d" IFD="%d" '
                         'PlaneCount="1"><OME:UUID FileName="old name.tif">urn:uuid:1'
                         '</OME:UUID></OME:TiffData>' % (z, c, t, page))
                page += 1
    ome_pages("ome_each.tif", array, order, data, (4, 2, 3))
    # one file of a set: frame 1 of 3; and one where planes are missing
    data = "".join('<TiffData FirstT="%d" IFD="0" PlaneCount="8"><UUID FileName="%s">u</UUID>'
                   '</TiffData>' % (t, "ome_part.tif" if t == 1 else "other_%d.tif" % t)
                   for t in range(3))
    ome_pages("ome_part.tif", array[1:2], "CZT", data, (4, 2, 3))
    data = "".join('<TiffData FirstZ="%d" FirstC="%d" IFD="%d"/>' % (z, c, i)
                   for i, (z, c) in enumerate([(0, 0), (1, 1)]))
    ome_pages("ome_gaps.tif", array[:1, :1, :2], "CZT", data, (2, 2, 1))
    # the acquisition was stopped in the midst of a time point, or of the only one
    ome_pages("ome_stopped.tif", array, "CZT", '<OME:TiffData IFD="0" PlaneCount="24"/>', (4, 2, 3), 19)
    data = "".join('<OME:TiffData FirstZ="%d" FirstC="%d" IFD="%d"/>' % (i // 2, i % 2, i) for i in range(8))
    ome_pages("ome_stopped_z.tif", array[:1], "CZT", data, (4, 2, 1), 7)
    tifffile.imwrite(path("ome_tifffile.ome.tif"), typed(base(z=4, c=2), "u16")[0],
                     photometric="minisblack",
                     metadata={"axes": "CZYX", "UUID": UUID, "PhysicalSizeX": 0.25,
                               "PhysicalSizeXUnit": "µm",
                               "PhysicalSizeY": 0.25, "PhysicalSizeYUnit": "µm"})
    rgb = np.moveaxis(typed(base(z=2, c=3), "u8")[0], 0, -1)
    tifffile.imwrite(path("ome_rgb.ome.tif"), rgb, photometric="rgb",
                     metadata={"axes": "ZYXS", "UUID": UUID})


def ome_odd():
    """OME-XML with everything in it that is legal, or that programs write; 3 z, 2 c, pages [z][c]."""
    pages = np.moveaxis(typed(base(z=3, c=2), "u8")[0], 0, 1).reshape((-1, Y, X))
    sizes = 'SizeX="7" SizeY="5" SizeZ="3" SizeC="2" SizeT="1" Type="uint8"'

    def write_xml(name, text, pages=pages, thumbnail=False):
        text = text if isinstance(text, bytes) else text.encode()
        first = [(270, 2, text)]
        content = [(page_tags(p.shape[1], p.shape[0], 8, more=[]), [p.tobytes()]) for p in pages]
        if thumbnail:
            content.insert(0, (page_tags(4, 3, 8, more=[(254, 4, [1])]), [plane("u8", x=4, y=3).tobytes()]))
        content[0][0].extend(first)
        raw_pages(name, content)

    def xml(data="<TiffData/>", attributes=sizes, order="XYCZT", front="", image="", root=""):
        return ('%s<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"%s><Image ID="Image:0">%s<Pixels '
                'DimensionOrder="%s" %s>%s</Pixels></Image></OME>' % (front, root, image, order, attributes, data))

    wrong = '<Pixels SizeZ="1" SizeC="1" SizeT="6" DimensionOrder="XYTZC"><TiffData IFD="5"/></Pixels>'
    declared = '<?xml version="1.0" encoding="%s"?>'
    micro = sizes + ' PhysicalSizeX="0.5" PhysicalSizeXUnit="%s"'
    write_xml("ome_cdata.tif", xml(image="<Description><![CDATA[was: %s]]></Description>" % wrong))
    write_xml("ome_space.tif", xml(attributes=sizes.replace("=", " \n=\t").replace('"3"', '" 3 "')))
    write_xml("ome_letters.tif", xml(attributes=sizes.replace('"3"', '"&#51;"').replace('"2"', "'&#x32;'") +
                                     ' Name="a &gt; &quot;b&quot; &amp; SizeZ=\'9\'"'))
    write_xml("ome_comment.tif", xml(front=declared % "UTF-8" + "<?pi <OME ?><!-- %s -->\n" % wrong,
                                     image="<!-- %s --><?more %s?>" % (wrong, wrong)))
    write_xml("ome_annotation.tif", xml(image="<Extra><OME><Image>%s</Image></OME>%s</Extra>" % (wrong, wrong)))
    write_xml("ome_latin.tif", xml(front=declared % "ISO-8859-1", attributes=micro % "µm").encode("latin-1"))
    write_xml("ome_latin_untold.tif", xml(front=declared % "UTF-8", attributes=micro % "µm").encode("latin-1"))
    write_xml("ome_mark.tif", b"\xef\xbb\xbf" + xml(front=declared % "utf-8", attributes=micro % "&#xB5;m").encode())
    write_xml("ome_doctype.tif", xml(front="<!DOCTYPE OME SYSTEM 'ome.dtd'>\n"))
    bomb = "".join("<!ENTITY e%d '%s'>" % (i + 1, ("&e%d;" % i) * 10) for i in range(9))
    write_xml("ome_bomb.tif", xml(front="<!DOCTYPE OME [<!ENTITY e0 'ha'>%s]>" % bomb, image="&e9;"))
    write_xml("ome_tail.tif", xml() + "\n<!-- -->\nand more <")
    write_xml("ome_cut.tif", xml()[:-20])
    write_xml("ome_once.tif", xml('<TiffData IFD="0"/>'))
    write_xml("ome_one.tif", xml('<TiffData IFD="0"/>', attributes=sizes.replace('SizeZ="3"', 'SizeZ="2"')))
    write_xml("ome_second.tif", xml('<TiffData IFD="2"/>'))
    write_xml("ome_numplanes.tif", xml('<TiffData IFD="0" NumPlanes="4"/><TiffData IFD="4" FirstZ="2" NumPlanes="2"/>'))
    write_xml("ome_thumbnail.tif", xml('<TiffData IFD="1" PlaneCount="6"/>'), thumbnail=True)
    write_xml("ome_extents.tif", xml(attributes=sizes.replace('"7"', '"70"')))
    write_xml("ome_type.tif", xml(attributes=sizes.replace("uint8", "uint16")))
    write_xml("ome_longer.tif", xml(attributes=sizes.replace('SizeZ="3"', 'SizeZ="5"')))
    write_xml("ome_depth.tif", xml(attributes=sizes + ' PhysicalSizeX="1" PhysicalSizeXUnit="pixel" PhysicalSizeZ="2"'))
    write_xml("ome_beyond.tif", xml(attributes=sizes + ' PhysicalSizeX="1e300" PhysicalSizeY="5e-324" PhysicalSizeZ="2"'))
    write_xml("ome_names.tif", xml('<Channel Name="DAPI"/><Channel/><TiffData/>'))
    for order in ("CTZ", "ZCT", "TZC"):
        ome_pages("ome_%s.tif" % order.lower(), typed(base(z=4, c=2, t=3), "u8"), order, "<OME:TiffData/>", (4, 2, 3))
    part = '<TiffData IFD="%d" FirstZ="%d" FirstC="%d" PlaneCount="%d"><UUID FileName="%s">%s</UUID></TiffData>'
    # of a set: the last two planes of z, by the name; by the identifier, under another name; and all renamed
    for name, ours, ident in (("ome_set_name.tif", "ome_set_name.tif", "urn:x"), ("ome_set_uuid.tif", "old.tif", "urn:me")):
        write_xml(name, xml(part % (0, 0, 0, 2, "first.tif", "urn:a") + part % (0, 1, 0, 4, ours, " urn:%s\n" % ident[4:]),
                            root=' UUID="urn:me"'), pages[2:])
    # the second image is in this file, the first in another one
    images = "".join('<Image><Pixels DimensionOrder="XYCZT" %s>%s</Pixels></Image>' % (attributes, data) for attributes, data in
                     (('SizeX="9" SizeY="9" SizeZ="6" SizeC="1" SizeT="1"', part % (0, 0, 0, 6, "a.tif", "urn:a")),
                      (sizes, part % (0, 0, 0, 6, "ome_set_image.tif", "urn:b"))))
    write_xml("ome_set_image.tif", '<OME>%s</OME>' % images)
    # pages of the second image lie in front of those of the first
    with tifffile.TiffWriter(path("ome_behind.tif")) as tif:
        text = xml('<TiffData IFD="2" PlaneCount="6"/></Pixels></Image><Image><Pixels SizeZ="2" SizeC="1" SizeT="1">'
                   '<TiffData IFD="0" PlaneCount="2"/>')
        for i in range(2):
            tif.write(plane("u16", x=4, y=3), photometric="minisblack", software=False, metadata=None, contiguous=False,
                      description=text.encode() if i == 0 else None)
        for p in pages:
            tif.write(p, photometric="minisblack", software=False, metadata=None, contiguous=False)


def rewrite_last_link(name, link):
    """Makes the last page of a file lead on: to link(where that page's directory is)."""
    with tifffile.TiffFile(path(name)) as tif:
        at = tif.pages[-1].offset
    with open(path(name), "r+b") as f:
        f.seek(at)
        tags, = struct.unpack("<H", f.read(2))
        f.seek(at + 2 + 12 * tags)
        f.write(struct.pack("<I", link(at)))


def unread():
    """Pages and images that are left out: unlike the first, marked as smaller ones, not listed, of another series."""
    like, small = plane("u8"), plane("u8", x=4, y=3)
    options = {"photometric": "minisblack", "software": False, "metadata": None}
    with tifffile.TiffWriter(path("unread_pages.tif")) as tif:
        for page, mark in ((like, 0), (typed(base(z=2), "u8")[0, 0, 1], 0), (small, 0), (small, 1), (like, 0),
                           (plane("u16"), 0)):
            tif.write(page, subfiletype=mark, contiguous=False, **options)
    with tifffile.TiffWriter(path("stack_thumbnails.tif")) as tif:
        for page in typed(base(z=3), "u8")[0, 0]:
            tif.write(page, contiguous=False, **options)
            tif.write(np.stack([small] * 3, -1), subfiletype=1, photometric="rgb", software=False, metadata=None)
    with tifffile.TiffWriter(path("unread_marked.tif")) as tif:
        tif.write(like, **options)
        tif.write(small, subfiletype=1, **options)
        tif.write(plane("bool"), subfiletype=4, **options)
        tif.write(small, extratags=[(255, 3, 1, 2, True)], **options)
    for name, link in (("unread_loop.tif", lambda at: at), ("unread_cut.tif", lambda at: 1 << 30)):
        with tifffile.TiffWriter(path(name)) as tif:
            tif.write(like, **options)
            tif.write(small, **options)
        rewrite_last_link(name, link)
    xml = "<OME:OME xmlns:OME=\"urn:ome\"><OME:BinaryOnly MetadataFile=\"set.companion.ome\" UUID=\"u\"/></OME:OME>"
    write("unread_companion.tif", typed(base(z=2), "u8")[0, 0], description=xml)
    data = "<OME:TiffData IFD=\"0\" PlaneCount=\"2\"/>"
    ome_pages("unread_unlisted.tif", typed(base(z=5), "u8"), "ZCT", data, (2, 1, 1))
    image = "<OME:Image ID=\"Image:%d\"><OME:Pixels SizeZ=\"2\" SizeC=\"1\" SizeT=\"1\">%s</OME:Pixels></OME:Image>"
    part = "<OME:TiffData IFD=\"%d\" PlaneCount=\"2\"><OME:UUID FileName=\"%s\">u</OME:UUID></OME:TiffData>"
    more = "".join(image % (i + 1, part % (at, name)) for i, (at, name) in
                   enumerate(((2, "unread_alike.tif"), (0, "elsewhere.tif"), (4, "unread_alike.tif"))))
    first = part % (0, "unread_alike.tif") + "</OME:Pixels></OME:Image>" + more + "<OME:Image><OME:Pixels>"
    ome_pages("unread_alike.tif", typed(base(z=6), "u8"), "ZCT", first, (2, 1, 1))
    with tifffile.TiffWriter(path("unread_series.ome.tif"), ome=True) as tif:
        for array in (typed(base(z=2), "u8")[0, 0], typed(base(z=3), "u16")[0, 0], small):
            tif.write(array, photometric="minisblack", metadata={"UUID": UUID})


def fits_files():
    for kind in "u8 i16 u16 i32 u32 f32 f64 i64 u64".split():
        fits.PrimaryHDU(plane(kind)).writeto(path("type_%s.fits" % kind), overwrite=True)
    wide = plane("i64")
    wide[3, 4] = 2**31
    fits.PrimaryHDU(wide).writeto(path("wide_i64.fits"), overwrite=True)
    hdu = fits.PrimaryHDU(plane("i16") // 257)  # b - 125; (b - 125) / 4 + 11.25 = b / 4 - 20
    with open(path("scaled.fits"), "wb") as f:
        hdu.header["BSCALE"] = 0.25
        hdu.header["BZERO"] = 11.25
        f.write(hdu.header.tostring(padding=True).encode())
        data = (plane("i16") // 257).astype(">i2").tobytes()
        f.write(data.ljust(2880, b"\0"))
    blank = plane("i16").copy()
    blank[1, 2] = -32768
    hdu = fits.PrimaryHDU(blank)
    hdu.header["BLANK"] = -32768
    hdu.writeto(path("blank.fits"), overwrite=True)
    special = plane("f32").copy()
    special[0, :4] = [np.nan, np.inf, -np.inf, 1e-45]
    fits.PrimaryHDU(special).writeto(path("special.fits"), overwrite=True)
    cube = fits.PrimaryHDU(typed(base(z=3, c=2), "f32")[0][:, :, None])  # stokes, freq, 1, y, x
    for i, name in enumerate(("RA---SIN", "DEC--SIN", "BEAM", "FREQ", "STOKES")):
        cube.header["CTYPE%d" % (i + 1)] = name
        cube.header["CRVAL%d" % (i + 1)] = 10.0 * i
    cube.writeto(path("cube.fits"), overwrite=True)
    packed_cube = fits.CompImageHDU(cube.data, cube.header, compression_type="GZIP_1", quantize_level=0)
    fits.HDUList([fits.PrimaryHDU(), packed_cube]).writeto(path("cube.fits.fz"), overwrite=True)
    sky = fits.PrimaryHDU(typed(base(), "f32")[:, 0])  # t = 1, z = 1, y, x: radio's four axes
    sky.header["BUNIT"] = "JY/BEAM"
    sky.header["OBJECT"] = "M 31"
    for i, name in enumerate(("RA---SIN", "DEC--SIN", "FREQ")):
        sky.header["CTYPE%d" % (i + 1)] = name
    sky.header["PC1_2"] = 0.5
    sky.header["PC1_3"] = 0.25
    sky.header["LONGNAME"] = ("a text that goes on and on, longer than the one card that a value "
                              "may fill, and so continues on the next")
    sky.header["HISTORY"] = "made for a test"
    sky.writeto(path("sky.fits"), overwrite=True)
    table = fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(plane("i32"), name="SCI")])
    table.writeto(path("extension.fits"), overwrite=True)
    parts = fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(plane("i32"), name="SCI"),
                          fits.ImageHDU(plane("f32"), name="ERR"),
                          fits.ImageHDU(plane("i16"), name="SCI", ver=2)])
    parts[0].header["EXPTIME"] = 30.0
    parts[0].header["OBJECT"] = "all parts"
    parts[0].header["CRPIX1"] = 3.0
    parts[0].header["HIERARCH ESO INS TEMP"] = 12.5
    parts[0].header["ORIGIN"] = "longer than the one card that a value may fill, and so it continues " * 2
    parts[0].header["HISTORY"] = "made of parts"
    parts[1].header["OBJECT"] = "the first"
    parts[1].header["HIERARCH ESO INS TEMP MEAN"] = 11.5
    parts[3].header["INHERIT"] = False
    parts.writeto(path("parts.fits"), overwrite=True)
    packed_image = fits.HDUList([fits.PrimaryHDU(), fits.CompImageHDU(plane("i16"),
                                                                      compression_type="RICE_1")])
    packed_image.writeto(path("rice.fits"), overwrite=True)
    with open(path("type_f32.fits"), "rb") as f, open(path("zipped.fits.gz"), "wb") as g:
        g.write(gzip.compress(f.read(), mtime=0))
    fits_odd()


def fits_odd():
    """Files that end with their last pixel, gzip files of several members, whole numbers that are moved or turned."""
    with open(path("type_i16.fits"), "rb") as f:
        whole = f.read()
    short = whole[:2880 + 2 * X * Y]
    zipped = lambda *parts: b"".join(gzip.compress(part, mtime=0) for part in parts)
    for name, data in (("short.fits", short), ("short_one.fits", short + b"\x1a"), ("short.fits.gz", zipped(short)),
                       ("members.fits.gz", zipped(whole[:1], b"", whole[1:3000], whole[3000:])),
                       ("tail.fits.gz", zipped(whole) + b"and more"), ("cut.fits.gz", zipped(whole)[:-9])):
        with open(path(name), "wb") as f:
            f.write(data)
    parts = fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(plane("u8")), fits.ImageHDU(plane("i16"), name="LAST")])
    parts.writeto(path("short_parts.fits"), overwrite=True)
    os.truncate(path("short_parts.fits"), os.path.getsize(path("short_parts.fits")) - 2880 + 2 * X * Y)
    for name, kind, bits, cards, stored in (
            ("moved", "u16", 16, {"BZERO": 32768}, lambda v: v - 32768), ("moved_100", "i16", 16, {"BZERO": 100}, lambda v: v - 100),
            ("turned", "f32", 16, {"BSCALE": -0.25, "BZERO": -20}, lambda v: -4 * (v + 20)),
            ("signed_bytes", "i8", 8, {"BZERO": -128}, lambda v: v + 128),
            ("blank_out", "f32", 16, {"BLANK": 99999, "BSCALE": 0.25, "BZERO": -20}, lambda v: 4 * (v + 20))):
        data = stored(plane(kind).astype(np.float64)).astype({8: "u1", 16: ">i2"}[bits]).tobytes()
        header = fits.PrimaryHDU(np.zeros((Y, X), {8: "u1", 16: "i2"}[bits])).header
        header.update(cards)
        with open(path(name + ".fits"), "wb") as f:
            f.write(header.tostring(padding=True).encode() + data)
    series = fits.PrimaryHDU(typed(base(t=3), "u8")[:, 0, 0])
    for key, value in (("CTYPE3", "TIME"), ("CUNIT3", "min"), ("CDELT3", 0.5), ("CUNIT1", "mm"), ("CDELT1", -0.002),
                       ("CUNIT2", "um"), ("CDELT2", 3.0)):
        series.header[key] = value
    series.writeto(path("series.fits"), overwrite=True)
    floats = fits.HDUList([fits.PrimaryHDU(), fits.CompImageHDU(plane("f32"), compression_type="RICE_1", quantize_level=0)])
    floats.writeto(path("rice_floats.fits.fz"), overwrite=True)
    for method, kind in (("GZIP_1", "f32"), ("GZIP_2", "i32"), ("PLIO_1", "u8"), ("HCOMPRESS_1", "i16"), ("NOCOMPRESS", "u8")):
        packed_image = fits.HDUList([fits.PrimaryHDU(), fits.CompImageHDU(
            plane(kind), compression_type=method, quantize_level=0, tile_shape=(Y, X))])
        packed_image.writeto(path("%s.fits.fz" % method.lower()), overwrite=True)
    packed_image = fits.HDUList([fits.PrimaryHDU(), fits.CompImageHDU(plane("i64"), compression_type="GZIP_1")])
    packed_image.writeto(path("gzip_i64.fits.fz"), overwrite=True)
    mixed = np.random.default_rng(5).normal(100, 3, (16, 32)).astype("f4")  # tiles that are rounded but for the second one
    mixed[0, 16:20] = [np.nan, np.inf, -np.inf, 1e-45]
    mixed[3, 4] = mixed[9, 16] = np.nan
    packed_image = fits.HDUList([fits.PrimaryHDU(), fits.CompImageHDU(
        mixed, compression_type="RICE_1", quantize_method=-1, tile_shape=(8, 16))])
    packed_image.writeto(path("mixed_tiles.fits.fz"), overwrite=True)


def folders():
    """Folders that are one image: planes, volumes as time points, and files that do not go together."""
    planes, volumes = typed(base(z=3), "u16")[0, 0], typed(base(z=3, t=2), "u8")[:, 0]
    for name in ("planes", "volumes", "unlike"):
        os.makedirs(path("../folders/" + name), exist_ok=True)
    for name, plane_of in (("p 1", 0), ("p 2", 1), ("p 10", 2)):
        write("../folders/planes/%s.tif" % name, planes[plane_of])
    for i in range(2):
        tifffile.imwrite(path("../folders/volumes/v%d.tif" % i), volumes[i], imagej=True,
                         metadata={"axes": "ZYX"})
    write("../folders/unlike/a.tif", plane("u8"))
    write("../folders/unlike/b.tif", plane("u16"))


def png_chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data) & 0xFFFFFFFF))


def write_png(name, rows, x, y, depth, colour, palette=None, alpha=None, sizes=None, more=()):
    data = b"".join(b"\0" + row for row in rows)
    with open(path(name), "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" +
                png_chunk(b"IHDR", struct.pack(">IIBBBBB", x, y, depth, colour, 0, 0, 0)))
        if sizes is not None:
            f.write(png_chunk(b"pHYs", struct.pack(">IIB", *sizes)))
        for kind, payload in more:
            f.write(png_chunk(kind, payload))
        if palette is not None:
            f.write(png_chunk(b"PLTE", bytes(palette)))
        if alpha is not None:
            f.write(png_chunk(b"tRNS", bytes(alpha)))
        f.write(png_chunk(b"IDAT", zlib.compress(data)) + png_chunk(b"IEND", b""))


def png_files():
    b = base()[0, 0, 0]
    rgb = np.moveaxis(typed(base(c=3), "u8")[0, :, 0], 0, -1)
    four = np.moveaxis(typed(base(c=4), "u16")[0, :, 0], 0, -1)
    two = np.moveaxis(typed(base(c=2), "u8")[0, :, 0], 0, -1)
    write_png("gray.png", [bytes(row) for row in plane("u8")], X, Y, 8, 0)
    for name, sizes in (("um", (5000000, 4000000, 1)), ("ratio", (5, 4, 0)), ("dots", (2835, 2835, 1)), ("none", (0, 0, 1))):
        write_png("sizes_%s.png" % name, [bytes(row) for row in plane("u8")], X, Y, 8, 0, sizes=sizes)
    turned = struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, 0x112, 3, 1, 6, 0, 0)
    write_png("animated.png", [bytes(row) for row in plane("u8")], X, Y, 8, 0,
              more=[(b"acTL", struct.pack(">II", 3, 0)), (b"eXIf", turned)])
    write_png("gray_16.png", [row.astype(">u2").tobytes() for row in plane("u16")], X, Y, 16, 0)
    write_png("rgb.png", [row.tobytes() for row in rgb], X, Y, 8, 2)
    write_png("rgba_16.png", [row.astype(">u2").tobytes() for row in four], X, Y, 16, 6)
    write_png("gray_alpha.png", [row.tobytes() for row in two], X, Y, 8, 4)
    for bits in (1, 2, 4):
        write_png("gray_%d.png" % bits, [packed([row % 2**bits], bits) for row in b], X, Y, bits, 0)
    ramp = np.arange(16)
    colour = np.stack([ramp, 255 - ramp, ramp * 3], axis=-1).astype(np.uint8).ravel()
    gray = np.stack([ramp * 5] * 3, axis=-1).astype(np.uint8).ravel()
    rows = [packed([row % 16], 4) for row in b]
    write_png("palette.png", rows, X, Y, 4, 3, colour)
    write_png("palette_gray.png", rows, X, Y, 4, 3, gray)
    write_png("palette_alpha.png", rows, X, Y, 4, 3, colour, range(9))


def main():
    os.makedirs(OUT, exist_ok=True)
    for make in (types, compressions, photos, fax, tiles, colours, sparse, extra_samples, marks, resolutions, imagej, imagej_odd,
                 stacks, tags_of_display, microscopes, ome, ome_odd, unread, fits_files, folders,
                 png_files):
        make()


if __name__ == "__main__":
    sys.exit(main())
