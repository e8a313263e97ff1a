"""What a run came to: images, values and tables by name."""

import ctypes
import weakref
from collections.abc import Mapping

from . import _library as lib
from ._errors import failure
from ._images import to_numpy


class _Memory:
    """The library's result; arrays that lie in it keep it."""

    def __init__(self, handle):
        self.handle = handle
        self._free = weakref.finalize(self, lib.library.result_free, handle)


class Table(dict):
    """Columns by name, each a numpy array with a number for each row.  A dict, so that pandas.DataFrame(table) is one, too."""

    def __missing__(self, name):
        raise KeyError(f"there is no column {name!r}; there are {', '.join(self)}")

    @property
    def rows(self):
        """How many rows there are."""
        return len(next(iter(self.values()), ()))

    def __repr__(self):
        return f"<table of {self.rows} rows: {', '.join(self)}>"

    def _repr_html_(self):
        from ._html import table_html

        return table_html(self)

    def to_pandas(self):
        """A pandas DataFrame."""
        import pandas

        return pandas.DataFrame(dict(self))

    def to_arrow(self):
        """A pyarrow Table."""
        import pyarrow

        return pyarrow.table(dict(self))

    def __arrow_c_stream__(self, requested_schema=None):
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _column(at, rows, whole, owner):
    import numpy

    if rows == 0:
        return numpy.empty(0, "int64" if whole else "float64")
    memory = (ctypes.c_double * rows).from_address(at)
    memory.owner = owner
    column = numpy.ndarray((rows,), "float64", memory)
    return column.astype("int64") if whole and not numpy.isnan(column).any() else column


def _table(memory, output):
    table, error = lib.Table(), lib.Error()
    if lib.library.table(memory.handle, output, ctypes.byref(table), ctypes.byref(error)):
        raise failure(error)
    whole = ctypes.string_at(table.whole, table.columns) if table.columns else b""
    columns = {}
    for i in range(table.columns):
        at = (table.at or 0) + i * table.rows * 8
        columns[table.names[i].value.decode()] = _column(at, table.rows, whole[i], memory)
    return Table(columns)


class Result(Mapping):
    """The outputs of a run by name, as attributes and as items; in a loop the names."""

    def __init__(self, handle, outputs, elsewhere):
        self._memory, self._outputs, self._known = _Memory(handle), outputs, dict(elsewhere)

    def __getitem__(self, name):
        if name not in self._known:
            for i, output in enumerate(self._outputs):
                if output["name"] == name:
                    self._known[name] = self._make(i, output)
        if name not in self._known:
            raise KeyError(f"there is no output {name!r}; there are {', '.join(self)}")
        return self._known[name]

    def _make(self, i, output):
        if output["kind"] == "table":
            return _table(self._memory, i)
        if output["kind"] == "value":
            return lib.library.value(self._memory.handle, i)
        image, error = lib.Image(), lib.Error()
        if lib.library.image(self._memory.handle, i, ctypes.byref(image), ctypes.byref(error)):
            raise failure(error)
        return to_numpy(image, output["axes"], self._memory)

    def __reduce__(self):  # for pickle and copy.deepcopy: the pixels themselves, in memory of their own
        labels = [o["name"] for o in self._outputs if o["kind"] == "labels"]
        images = [o["name"] for o in self._outputs if "axes" in o]
        return _Copied, (self._outputs, dict(self), {n: self.count(n) for n in labels}, {n: self.scale(n) for n in images})

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no output {name!r}; there are {', '.join(self)}") from None

    def __iter__(self):
        return (output["name"] for output in self._outputs)

    def __len__(self):
        return len(self._outputs)

    def __dir__(self):
        return [*super().__dir__(), *self]

    def count(self, name):
        """How many labels there are in an output of labels."""
        for i, output in enumerate(self._outputs):
            if output["name"] == name and output["kind"] == "labels":
                return int(lib.library.value(self._memory.handle, i))
        raise KeyError(f"{name!r} is no output of labels")

    def scale(self, name):
        """Where the pixels of an output lie on the first input: a 3 x 4 matrix from (x, y, z, 1)."""
        import numpy

        image, error = lib.Image(), lib.Error()
        i = [output["name"] for output in self._outputs].index(name)
        if lib.library.image(self._memory.handle, i, ctypes.byref(image), ctypes.byref(error)):
            raise failure(error)
        return numpy.array(image.place)

    def __repr__(self):
        return "<result: " + ", ".join(f"{name} {_short(self[name])}" for name in self) + ">"

    def _repr_html_(self):
        from ._html import result_html

        return result_html(self)


class _Copied(Result):
    """A result that came from another process, or is a copy."""

    def __init__(self, outputs, known, counts, places):
        self._outputs, self._known, self._counts, self._places = outputs, known, counts, places

    def count(self, name):
        if name not in self._counts:
            raise KeyError(f"{name!r} is no output of labels")
        return self._counts[name]

    def scale(self, name):
        return self._places[name]


def _short(value):
    if isinstance(value, Table):
        return f"({value.rows} rows)"
    if hasattr(value, "shape") and value.shape:
        return f"({'x'.join(map(str, value.shape))} {value.dtype})"
    return f"= {value:g}" if isinstance(value, (int, float)) else type(value).__name__
