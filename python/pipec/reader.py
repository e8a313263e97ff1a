"""Reads images for a run of pipec that pipec itself does not: CZI, ND2, LIF and what else bioio knows, HDF5, Imaris.

    pipec run cells.pipe plate.nd2                     # pipec starts this module by itself
    pipec run cells.pipe 'stack.h5[/raw/image]'
    pipec run cells.pipe slide.dv --reader 'python3 -m pipec.reader'

docs/readers.md describes the protocol: a request is a line of JSON on standard input, an answer one on standard output, with
the bytes of pixels behind it.  The Server of this module speaks it for readers of your own: give it a function that
opens a file.
"""

import json
import os
import sys

import numpy as np

_TYPES = {"uint8": "u8", "uint16": "u16", "int16": "i16", "uint32": "u32", "int32": "i32", "float32": "f32", "float64": "f64"}
# Whole numbers of 64 bits are read where they fit 32.
_KEPT_AS = {"bool": "uint8", "int8": "int16", "float16": "float32", "int64": "int32", "uint64": "uint32"}
_AXES = "tczyx"


class ReadError(Exception):
    """A sentence for the user."""


class Image:
    """What a function that opens files returns.

    `array`: anything with shape and dtype that is sliced like numpy's arrays; `axes`: a letter of t, c, z, y, x for each of
    its dimensions.  `pixel_size`: {"x": 0.1, "y": 0.1, "unit": "um"}; `interval`: seconds; `images`: how many the file has.
    """

    def __init__(self, array, axes, pixel_size=None, channels=None, interval=None, images=1):
        self.array, self.axes = array, axes
        if len(axes) != len(array.shape) or len(set(axes)) != len(axes) or not {"y", "x"} <= set(axes) <= set(_AXES):
            raise ReadError(f"an image of shape {tuple(array.shape)} cannot have the axes '{axes}'")
        stored = np.dtype(array.dtype)
        self.type = np.dtype(_KEPT_AS.get(stored.name, stored.name)).newbyteorder("<")
        if self.type.name not in _TYPES:
            raise ReadError(f"pixels of the type {stored.name} are not read")
        self.about = {"axes": dict(zip(axes, map(int, array.shape))), "type": _TYPES[self.type.name], "images": images}
        for key, value in (("pixel_size", pixel_size), ("channels", channels), ("interval", interval)):
            if value:
                self.about[key] = value

    def rows(self, first, rows, **plane):
        """Rows of the plane at t, c and z, of which it takes those that it has, as little-endian bytes."""
        cut = {**plane, "y": slice(first, first + rows), "x": slice(None)}
        part = np.asarray(self.array[tuple(cut[axis] for axis in self.axes)])
        if self.axes.index("y") > self.axes.index("x"):
            part = part.T
        if part.dtype.kind in "iu" and part.dtype.itemsize == 8:
            room = np.iinfo(self.type)
            if part.min() < room.min or part.max() > room.max:
                raise ReadError(f"it has a pixel of {part.min()} or {part.max()}, which {self.type.name} does not hold")
        return np.ascontiguousarray(part, self.type).tobytes()


class Server:
    """Answers pipec until it closes standard input.  `open_image(path, part)` returns an Image or raises ReadError."""

    def __init__(self, open_image):
        self.open_image, self.image = open_image, None

    def answer(self, request):
        """The object and the bytes that answer a request."""
        if "open" in request:
            self.image = None  # the one before is closed
            self.image = self.open_image(request["open"], request.get("part", ""))
            return self.image.about, b""
        at = request["read"]
        pixels = self.image.rows(at["row"], at["rows"], t=at["t"], c=at["c"], z=at["z"])
        return {"bytes": len(pixels)}, pixels

    def run(self):
        # What libraries print must not get between the answers.
        out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        for line in sys.stdin.buffer:
            try:
                answer, pixels = self.answer(json.loads(os.fsdecode(line)))
            except Exception as error:  # of whatever library: pipec goes on with the next image
                known = isinstance(error, ReadError)
                answer, pixels = {"error": str(error) if known else f"{type(error).__name__}: {error}"}, b""
            out.write(json.dumps(answer).encode() + b"\n")
            out.write(pixels)
            out.flush()


# ---- HDF5 and Imaris -------------------------------------------------------------------------------


def _import(name, package):
    try:
        return __import__(name)
    except ImportError as error:
        raise ReadError(f"reading it needs {package} (pip install {package}): {error}") from None


def _arrays(h5py, file):
    found = []

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and len(item.shape or ()) >= 2 and item.dtype.kind in "uifb":
            found.append(name)

    file.visititems(visit)
    return found


def _axes_of(dataset):
    """The names of ilastik and of h5py's dimension scales, else the last ones of t, c, z, y, x."""
    n = len(dataset.shape)
    tags = dataset.attrs.get("axistags")
    if tags is not None:
        keys = [axis["key"] for axis in json.loads(tags)["axes"]]
    else:
        keys = [dimension.label.lower() for dimension in dataset.dims]
    axes = "".join(keys)
    if len(axes) == n and len(set(axes)) == n and {"y", "x"} <= set(axes) <= set(_AXES):
        return axes
    if n > len(_AXES):
        raise ReadError(f"'{dataset.name}' has {n} axes, and 5 are the most")
    return _AXES[-n:]


def _element_size(dataset, axes):
    """Fiji's and BigDataViewer's element_size_um, which is for z, y, x."""
    sizes = np.ravel(dataset.attrs.get("element_size_um", []))
    named = {axis: float(size) for axis, size in zip("xyz", sizes[::-1]) if axis in axes}
    return {**named, "unit": "um"} if named else None


def open_hdf5(path, part):
    h5py = _import("h5py", "h5py")
    file = h5py.File(path, "r")
    if not part and "DataSet/ResolutionLevel 0" in file:
        return _open_imaris(file)
    names = _arrays(h5py, file)
    if not names:
        raise ReadError("it has no array of numbers with two axes or more")
    numbered = part.isdigit() and 1 <= int(part) <= len(names)
    name = names[int(part) - 1 if numbered else 0] if numbered or not part else part
    if name not in file or not isinstance(file[name], h5py.Dataset):
        raise ReadError(f"it has no dataset '{name}'; it has {', '.join(names[:8])}")
    dataset = file[name]
    if len(dataset.shape or ()) < 2:
        raise ReadError(f"'{name}' is no image: its shape is {dataset.shape}")
    axes = _axes_of(dataset)
    return Image(dataset, axes, _element_size(dataset, axes), images=1 if part else len(names))


class _Imaris:
    """The array t, c, z, y, x of an Imaris file, whose datasets are one for each time point and channel and have room
    behind the pixels."""

    def __init__(self, level, shape):
        self.level, self.shape = level, shape
        self.dtype = self._data(0, 0).dtype

    def _data(self, t, c):
        return self.level[f"TimePoint {t}/Channel {c}/Data"]

    def __getitem__(self, at):
        t, c, z, y, x = at
        return self._data(t, c)[z, y, x][:, : self.shape[-1]]


def _imaris_number(attributes, key, default):
    text = attributes.get(key)
    return float(b"".join(np.ravel(text).tolist())) if text is not None else default


def _open_imaris(file):
    level, about = file["DataSet/ResolutionLevel 0"], file["DataSetInfo/Image"].attrs
    size = {axis: int(_imaris_number(about, axis.upper(), 1)) for axis in "xyz"}
    length = [
        _imaris_number(about, f"ExtMax{i}", 0) - _imaris_number(about, f"ExtMin{i}", 0) for i in range(3)
    ]
    shape = (len(level), len(level["TimePoint 0"]), size["z"], size["y"], size["x"])
    pixel = {axis: length[i] / size[axis] for i, axis in enumerate("xyz") if length[i] > 0}
    unit = about.get("Unit")
    pixel["unit"] = b"".join(np.ravel(unit).tolist()).decode() if unit is not None else "um"
    names = []
    for c in range(shape[1]):
        group = file.get(f"DataSetInfo/Channel {c}")
        name = group.attrs.get("Name") if group is not None else None
        names.append(b"".join(np.ravel(name).tolist()).decode(errors="replace") if name is not None else f"Channel {c}")
    return Image(_Imaris(level, shape), _AXES, pixel, names)


# ---- bioio -----------------------------------------------------------------------------------------


def _choose_scene(image, part):
    scenes = [str(scene) for scene in image.scenes]
    if part in scenes:
        image.set_scene(scenes.index(part))
    elif part.isdigit() and 1 <= int(part) <= len(scenes):
        image.set_scene(int(part) - 1)
    elif part:
        raise ReadError(f"it has no image '{part}'; it has {', '.join(scenes[:8])}, or numbers from 1 to {len(scenes)}")
    return 1 if part else len(scenes)


class _Planes:
    """bioio's array t, c, z, y, x, of which the last plane is kept, because formats of microscopes decode whole planes."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.at, self.plane = None, None

    def __getitem__(self, at):
        if at[:3] != self.at:
            self.plane = np.asarray(self.array[at[:3]])
            self.at = at[:3]
        return self.plane[at[3:]]


def open_bioio(path, part):
    bioio = _import("bioio", "bioio")
    try:
        image = bioio.BioImage(path)
    except Exception as error:
        raise ReadError(f"bioio does not read it; it may need a package for the format, such as bioio-czi: {error}") from None
    images = _choose_scene(image, part)
    size = image.physical_pixel_sizes
    pixel = {axis: float(getattr(size, axis.upper())) for axis in "xyz" if getattr(size, axis.upper())}
    interval = getattr(image, "time_interval", None)
    seconds = getattr(interval, "total_seconds", lambda: interval)()
    return Image(
        _Planes(image.get_image_dask_data("TCZYX")),
        _AXES,
        {**pixel, "unit": "um"} if pixel else None,
        [str(name) for name in image.channel_names or []],
        float(seconds) if seconds else None,
        images,
    )


def open_image(path, part):
    """By content: HDF5 files begin with its signature."""
    if os.path.isfile(path):
        with open(path, "rb") as file:
            if file.read(8) == b"\x89HDF\r\n\x1a\n":
                return open_hdf5(path, part)
    return open_bioio(path, part)


def main():
    Server(open_image).run()


if __name__ == "__main__":
    main()
