"""A reader of images for the tests, in Python's standard library: docs/readers.md shows it.

A .raw file is a line of JSON that describes the image, as pipec wants it, and the pixels behind it, little-endian, in the order
t, c, z, y, x.
"""

import json
import sys

SIZES = {"u8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "f32": 4, "f64": 8}


def say(answer, pixels=b""):
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + pixels)
    sys.stdout.buffer.flush()


file, about = None, None
for line in sys.stdin.buffer:
    request = json.loads(line.decode("utf-8", "surrogateescape"))
    if "open" in request:
        file = open(request["open"], "rb")
        try:
            about = json.loads(file.readline())
        except ValueError:
            say({"error": "it is no .raw file"})
            continue
        start = file.tell()
        say(about)
    else:
        at, axes = request["read"], about["axes"]
        row = axes["x"] * SIZES[about["type"]]
        plane = (at["t"] * axes.get("c", 1) + at["c"]) * axes.get("z", 1) + at["z"]
        file.seek(start + (plane * axes["y"] + at["row"]) * row)
        pixels = file.read(at["rows"] * row)
        say({"bytes": len(pixels)}, pixels)
