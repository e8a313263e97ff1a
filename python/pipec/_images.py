"""Arrays and the library's images: numpy arrays where they lie, other arrays slice by slice."""

import ctypes
import os
from functools import lru_cache

from . import _library as lib
from ._errors import ImageError

_AXES = "xyzc"
_NUMBERS = {name: i for i, name in enumerate(lib.TYPES)}


@lru_cache(maxsize=None)
def _order(axes, own, name):
    """For each axis of the library the array's dimension, or None; `own` are the axes of the array, outermost first."""
    missing = [axis for axis in axes if axis not in own]
    if missing:
        raise ImageError(f"'{name}' has axes {own!r}, but the pipeline takes {axes!r}")
    return tuple(own.index(axis) if axis in axes else None for axis in _AXES)


def own_axes(array, declared, given, name):
    """The axes of an array, one letter each, outermost first: as given, or those of the input."""
    axes = given if given is not None else declared
    shape = array.shape
    if len(axes) != len(shape):
        extents = "x".join(map(str, shape))
        raise ImageError(
            f"'{name}' takes the axes {', '.join(declared)}, but the array has {len(shape)} dimensions ({extents}); "
            "say what they are with axes='...', or call once for each image of a stack"
        )
    for axis, n in zip(axes, shape):
        if axis not in declared and n != 1:
            raise ImageError(f"'{name}' takes the axes {', '.join(declared)}; call once for each of its {n} images along {axis}")
    return "".join(axes)


@lru_cache(maxsize=None)
def _native(kind, name):
    """The library's type for pixels of a numpy type, and the type that they are converted to before, if any."""
    import numpy

    kind = numpy.dtype(kind)
    if kind.name in _NUMBERS:
        return _NUMBERS[kind.name], None if kind.isnative else kind.newbyteorder("=")
    if kind == numpy.float16:
        return _NUMBERS["float32"], numpy.dtype("float32")
    if kind == numpy.int8:
        return _NUMBERS["int16"], numpy.dtype("int16")
    if kind in (numpy.dtype("int64"), numpy.dtype("uint64")):
        return _NUMBERS["int32"], None  # see _narrow
    raise ImageError(f"'{name}' has pixels of type {kind}; take one of {', '.join(lib.TYPES[1:])}")


def _narrow(array, name):
    """Whole numbers of 64 bits in 32, where they fit."""
    import numpy

    if array.dtype.itemsize != 8 or array.dtype.kind not in "iu":
        return array
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for kind in ("int32", "uint32"):
        if numpy.iinfo(kind).min <= low and high <= numpy.iinfo(kind).max:
            return array.astype(kind)
    raise ImageError(f"'{name}' has whole numbers from {low} to {high}, which do not fit into 32 bits")


def fill_input(to, array, declared, given, name):
    """Describes an array to the library; what it returns must live as long as the run."""
    import numpy

    to.size = ctypes.sizeof(lib.Input)
    if array is None or isinstance(array, (str, bytes, os.PathLike)):
        raise ImageError(f"'{name}' takes an array, not {array!r}; batch() takes files")
    if isinstance(array, numpy.ma.MaskedArray) and array.mask.any():
        raise ImageError(f"'{name}' has pixels that are masked: say what they are, as {name}.filled(numpy.nan) does")
    if given is None and set(map(str, getattr(array, "dims", ()))) == set(declared):  # xarray's names of axes
        given = "".join(map(str, array.dims))
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        array = numpy.asarray(array)
    order = _order(declared, own_axes(array, declared, given, name), name)
    in_memory = isinstance(array, numpy.ndarray) or not hasattr(array, "__getitem__")
    if in_memory:
        array = _narrow(numpy.asarray(array), name)
    number, convert = _native(array.dtype, name)
    if in_memory and convert is not None:
        array = array.astype(convert)
    image, shape = to.image, array.shape
    image.type = number
    image.extent[:] = [shape[at] if at is not None else 1 for at in order]
    if in_memory:
        strides = array.strides
        image.stride[:] = [strides[at] if at is not None else 0 for at in order]
        image.data = array.ctypes.data
        return array
    reader = Reader(array, order, lib.TYPES[number])
    to.read = reader.function
    return reader


def _index(shape, order, c, z, rows):
    """The index of rows of a plane of an array."""
    at = {0: slice(None), 1: rows, 2: z, 3: c}
    index = [0] * len(shape)
    for axis, dimension in enumerate(order):
        if dimension is not None:
            index[dimension] = at[axis]
    return tuple(index)


class Reader:
    """Rows of an array that is not in memory: zarr, HDF5, dask, anything with a shape, a dtype and slices.

    Slices are as high as its chunks, so that each is fetched once.
    """

    def __init__(self, array, order, dtype):
        self.array, self.order, self.dtype, self.error = array, order, dtype, None
        self.turned = order[1] is not None and order[0] is not None and order[0] < order[1]
        self.chunk = self._chunk_rows()
        self.held = None  # (c, z, first row, pixels)
        self.function = lib.ReadRows(self._read)

    def _chunk_rows(self):
        chunks = getattr(self.array, "chunks", None)
        if not chunks or self.order[1] is None:
            return 1
        rows = chunks[self.order[1]]
        return max(rows) if isinstance(rows, tuple) else int(rows)

    def _slab(self, c, z, row):
        import numpy

        first = row // self.chunk * self.chunk
        if self.held is None or self.held[:3] != (c, z, first):
            pixels = numpy.asarray(self.array[_index(self.array.shape, self.order, c, z, slice(first, first + self.chunk))])
            pixels = pixels.T if self.turned else pixels
            self.held = c, z, first, numpy.atleast_2d(pixels)
        return self.held[3], row - first

    def _read(self, _, c, z, row, rows, to, pitch):
        import numpy

        try:
            kind = numpy.dtype(self.dtype)
            while rows > 0:
                if self.chunk == 1:
                    self.held, pixels, skip = None, self._rows(c, z, row, rows), 0
                else:
                    pixels, skip = self._slab(c, z, row)
                n = min(rows, len(pixels) - skip)
                buffer = (ctypes.c_char * (pitch * n)).from_address(to)
                view = numpy.ndarray((n, pixels.shape[1]), kind, buffer, strides=(pitch, kind.itemsize))
                view[...] = pixels[skip : skip + n]
                row, rows, to = row + n, rows - n, to + pitch * n
            return 0
        except BaseException as error:  # a callback cannot raise; the run does afterwards
            self.error = error
            return 1

    def _rows(self, c, z, row, rows):
        import numpy

        pixels = numpy.asarray(self.array[_index(self.array.shape, self.order, c, z, slice(row, row + rows))])
        return numpy.atleast_2d(pixels.T if self.turned else pixels)


class Writer:
    """Rows of an output into an array that takes slices."""

    def __init__(self, array, order, width, dtype):
        self.array, self.order, self.width, self.dtype, self.error = array, order, width, dtype, None
        self.turned = order[1] is not None and order[0] is not None and order[0] < order[1]
        self.function = lib.WriteRows(self._write)

    def _check(self, pixels):
        """Whole numbers fit into an array of a narrower type."""
        import numpy

        kind = numpy.dtype(self.array.dtype)
        if kind.kind in "iu" and pixels.dtype.kind in "iu" and kind.itemsize < pixels.dtype.itemsize:
            low, high = int(pixels.min()), int(pixels.max())
            if low < numpy.iinfo(kind).min or high > numpy.iinfo(kind).max:
                raise ImageError(f"the output has numbers from {low} to {high}, which do not fit into an array of {kind}")

    def _write(self, _, c, z, row, rows, at, pitch):
        import numpy

        try:
            kind = numpy.dtype(self.dtype)
            buffer = (ctypes.c_char * (pitch * rows)).from_address(at)
            view = numpy.ndarray((rows, self.width), kind, buffer, strides=(pitch, kind.itemsize))
            index = _index(self.array.shape, self.order, c, z, slice(row, row + rows))
            pixels = view if self.order[1] is not None else view[0]
            self._check(pixels)
            self.array[index] = pixels.T if self.turned else pixels
            return 0
        except BaseException as error:
            self.error = error
            return 1


def order_of(axes):
    """For each axis of the library the dimension of an array with these axes, or None."""
    return [axes.index(axis) if axis in axes else None for axis in _AXES]


def to_numpy(image, axes, owner):
    """The pixels of a result as an array with these axes, not copied; `owner` frees them."""
    import numpy

    extent, stride = image.extent[:], image.stride[:]
    at = [_AXES.index(axis) for axis in axes]
    memory = (ctypes.c_char * (extent[3] * stride[3])).from_address(image.data)
    memory.owner = owner
    return numpy.ndarray([extent[i] for i in at], lib.TYPES[image.type], memory, strides=[stride[i] for i in at])
