"""Pipelines that are called like functions."""

import ctypes
import json
import os
import weakref

from . import _library as lib
from ._device import device_for, bytes_of
from ._errors import ArgumentError, CompileError, ImageError, failure
from ._images import Writer, fill_input, order_of
from ._results import Result

_OPTIONS = ("device", "memory", "progress", "pixel_size", "axes", "out", "params")


def compile(source, name=None):  # noqa: A001 - as in re.compile
    """Compiles a pipeline: the path of a .pipe file, or its text (anything with a line break in it).

    >>> blobs = pipec.compile("blobs.pipe")
    >>> result = blobs(image, sigma=3)
    >>> result.labels, result.table["area"]
    """
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"compile takes the path of a pipeline or its text, not {type(source).__name__}")
    handle, error = ctypes.c_void_p(), lib.Error()
    text = source if isinstance(source, str) and "\n" in source else None
    path = os.fspath(source) if text is None else (name or "pipeline") + ".pipe"
    data = text.encode() if text is not None else None
    code = lib.library.compile(os.fsencode(path), data, len(data or b""), ctypes.byref(handle), ctypes.byref(error))
    if handle:
        pipeline = _Handle(handle)
        if code:
            mistakes = json.loads(pipeline.text(lib.MISTAKES_JSON))
            raise CompileError(pipeline.text(lib.MISTAKES).rstrip(), mistakes)
        made = _made(pipeline)
        made._origin = (os.path.abspath(path) if text is None else text, name)
        return made
    if code == lib.IMAGE:
        raise FileNotFoundError(error.text.decode()) if not os.path.exists(path) else failure(error)
    raise failure(error)


class _Handle:
    """The library's pipeline."""

    def __init__(self, handle):
        self.handle = handle
        self._free = weakref.finalize(self, lib.library.pipeline_free, handle)

    def text(self, what):
        text, error = ctypes.c_void_p(), lib.Error()
        if lib.library.text(self.handle, what, ctypes.byref(text), ctypes.byref(error)):
            raise failure(error)
        return lib.take_text(text)


class Pipeline:
    """A compiled pipeline.  Call it with its images, by position or by name, and with its params by name."""

    _handle = _description = None

    def __reduce__(self):  # for pickle, joblib, dask: compiled again where it is unpickled
        return compile, self._origin

    # ---- what it is ----

    @property
    def name(self):
        return self._description["name"]

    @property
    def inputs(self):
        """Dicts with name, axes and pixels."""
        return self._description["inputs"]

    @property
    def params(self):
        """Dicts with name, default, min, max, integer and help."""
        return self._description["params"]

    @property
    def outputs(self):
        """Dicts with name, kind, axes ..."""
        return self._description["outputs"]

    @property
    def source(self):
        """The text of the pipeline."""
        return self._handle.text(lib.SOURCE)

    def kernels(self):
        """The OpenCL kernels that it became."""
        return self._handle.text(lib.KERNELS)

    def graph(self):
        """The graph after fusion, in the language of Graphviz."""
        return self._handle.text(lib.GRAPH)

    def explain(self):
        """What became of each step, and why: as `pipec explain` says it."""
        from ._command import explain

        return explain(self)

    def __repr__(self):
        names = [i["name"] for i in self.inputs] + [f"{p['name']}={_kind(p)[1]}" for p in self.params]
        return f"<pipeline {self.name}({', '.join(names)}) -> {', '.join(o['name'] for o in self.outputs)}>"

    def _repr_html_(self):
        from ._html import pipeline_html

        return pipeline_html(self)

    # ---- calls ----

    def __call__(self, *images, device=None, memory=None, progress=None, pixel_size=None, axes=None, out=None, params=None,
                 **named):
        call = _Call(self, images, named, params, pixel_size, axes)
        call.take_out(out or {}, lambda: self._plan(call, None, 0)[1])
        call.take_progress(progress)
        handle, error = ctypes.c_void_p(), lib.Error()
        run = device_for(device, memory)
        code = lib.library.run(run._handle, self._handle.handle, call.run, ctypes.byref(handle), ctypes.byref(error))
        if code:
            raise call.error() or failure(error)
        return Result(handle, self.outputs, call.out)

    def plan(self, *images, device=None, memory=None, pixel_size=None, axes=None, params=None, **named):
        """What a run takes: bytes on the device, whether in parts, and what outputs will be like.

        Instead of images shapes with a type will do: `plan(((20000, 30000), "uint16"), memory="2GiB")`.
        """
        images = [_Shape(*i) if isinstance(i, tuple) else i for i in images]
        named = {k: _Shape(*v) if isinstance(v, tuple) else v for k, v in named.items()}
        call = _Call(self, images, named, params, pixel_size, axes)
        plan, outputs = self._plan(call, device, bytes_of(memory))
        return Plan(plan.peak, bool(plan.in_parts), outputs)

    def _plan(self, call, device, memory):
        plan, error = lib.Plan(size=ctypes.sizeof(lib.Plan)), lib.Error()
        images = (lib.Image * len(self.outputs))()
        handle = device_for(device, None)._handle if device is not None else None
        if lib.library.plan(self._handle.handle, handle, memory, call.run, ctypes.byref(plan), images, ctypes.byref(error)):
            raise failure(error)
        outputs = {}
        for image, output in zip(images, self.outputs):
            if "axes" in output:
                extents = [image.extent["xyzc".index(axis)] for axis in output["axes"]]
                outputs[output["name"]] = (tuple(extents), lib.TYPES[image.type])
        return plan, outputs

    def batch(self, images, out, **options):
        """Runs the command on files and folders: see `pipec.batch`."""
        from ._command import batch

        return batch(self, images, out, **options)


class Plan:
    """What a run takes: `peak` bytes on the device, `in_parts`, `outputs`: shape and type by name."""

    def __init__(self, peak, in_parts, outputs):
        self.peak, self.in_parts, self.outputs = peak, in_parts, outputs

    def __repr__(self):
        return f"<plan: {self.peak / 2**20:.1f} MiB on the device{', in parts' if self.in_parts else ''}>"


class _Shape:
    """Stands for an image in a plan."""

    def __init__(self, shape, dtype="uint16"):
        import numpy

        self.shape, self.dtype = tuple(shape), numpy.dtype(dtype)

    def __getitem__(self, index):
        raise TypeError("a shape has no pixels")


class _Call:
    """The arguments of one call, as the library takes them, and what has to live as long as it."""

    def __init__(self, pipeline, images, named, params, pixel_size, axes):
        self.pipeline, self.out, self.raised = pipeline, {}, None
        self.readers, self.writers = [], []
        values = self._take_params(named, params or {})
        arrays = self._take_images(images, named)
        self.inputs = (lib.Input * max(len(arrays), 1))()
        for i, (to, array, about) in enumerate(zip(self.inputs, arrays, pipeline.inputs)):
            given = axes.get(about["name"]) if isinstance(axes, dict) else axes if i == 0 else None
            if i == 0 and pixel_size is not None:
                to.pixel_um[:] = _pixel_um(pixel_size, about["axes"])
            self.readers.append(fill_input(to, array, about["axes"], given, about["name"]))
        self.values = (ctypes.c_double * max(len(values), 1))(*values)
        self.progress = None
        self.run = lib.Run(size=ctypes.sizeof(lib.Run), inputs=self.inputs, params=self.values)

    def _take_params(self, named, params):
        values = []
        for about in self.pipeline.params:
            name = about["name"]
            value = params.get(name, named.pop(name, about["default"]))
            words = about.get("words")
            if words and isinstance(value, (str, bool)):
                value = str(value).lower() if isinstance(value, bool) else value
                if value not in words:
                    raise ArgumentError(f"'{name}' is one of {', '.join(words)}, not {value!r}")
                value = words.index(value)
            try:
                values.append(float(value))
            except (TypeError, ValueError):
                raise ArgumentError(f"'{name}' takes a number, not {value!r}") from None
        unknown = set(params) - {about["name"] for about in self.pipeline.params} if params else None
        if unknown:
            raise ArgumentError(f"{self.pipeline.name} has no param '{unknown.pop()}'")
        return values

    def _take_images(self, images, named):
        names = [about["name"] for about in self.pipeline.inputs]
        if len(images) > len(names):
            raise TypeError(f"{self.pipeline.name} takes {len(names)} image{'s' * (len(names) != 1)}, not {len(images)}")
        arrays = dict(zip(names, images))
        for name, value in named.items():
            if name in arrays:
                raise TypeError(f"{self.pipeline.name} got '{name}' twice")
            if name not in names:
                known = names + [about["name"] for about in self.pipeline.params] + list(_OPTIONS)
                raise TypeError(f"{self.pipeline.name} has no '{name}'; it takes {', '.join(known)}")
            arrays[name] = value
        missing = [name for name in names if name not in arrays]
        if missing:
            raise TypeError(f"{self.pipeline.name} lacks the image '{missing[0]}'")
        return [arrays[name] for name in names]

    def take_out(self, out, shapes):
        """Arrays that outputs go into."""
        if not out:
            return
        import numpy

        known = shapes()
        self.sinks = (lib.Sink * len(self.pipeline.outputs))()
        for sink, about in zip(self.sinks, self.pipeline.outputs):
            sink.size = ctypes.sizeof(lib.Sink)
            name = about["name"]
            if name not in out:
                continue
            if name not in known or about["kind"] == "series":
                raise ArgumentError(f"'{name}' is no image, so it cannot go into an array")
            (shape, dtype), array = known[name], out[name]
            if not hasattr(array, "shape") or not hasattr(array, "__setitem__"):
                raise ArgumentError(f"out[{name!r}] must be an array that takes slices, not {array!r}")
            if tuple(array.shape) != shape:
                raise ImageError(f"out[{name!r}] has the shape {tuple(array.shape)}, but the output has {shape}")
            kind = getattr(array, "dtype", None)
            if kind is not None and not numpy.can_cast(dtype, kind, "same_kind"):
                raise ImageError(f"out[{name!r}] is an array of {kind}, but the output has {dtype}")
            order = order_of(about["axes"])
            writer = Writer(array, order, shape[order[0]], dtype)
            sink.write = writer.function
            self.writers.append(writer)
            self.out[name] = array
        if set(out) - set(self.out):
            raise ArgumentError(f"there is no output '{(set(out) - set(self.out)).pop()}'")
        self.run.sinks = self.sinks

    def take_progress(self, progress):
        if progress is None:
            return
        if not callable(progress):
            raise TypeError(f"progress takes a function of the share that is done, not {progress!r}")

        def tell(_, done):
            try:
                return bool(progress(done))
            except BaseException as error:
                self.raised = error
                return 1

        self.progress = lib.Progress(tell)
        self.run.progress = self.progress

    def error(self):
        """What a function of the caller's has raised, if any."""
        for one in [*self.readers, *self.writers]:
            if getattr(one, "error", None) is not None:
                return one.error
        return self.raised


def _um(size):
    """Micrometres of a number, or of a text with a unit, as the command takes it."""
    units = {"nm": 1e-3, "um": 1, "\u00b5m": 1, "\u03bcm": 1, "mm": 1e3}
    text, unit = (size[:-2].strip(), size[-2:]) if isinstance(size, str) and size[-2:] in units else (size, "um")
    try:
        return float(text) * units[unit]
    except (TypeError, ValueError):
        raise ArgumentError(f"pixel_size takes micrometres, or a length such as '0.65um', not {size!r}") from None


def _pixel_um(size, axes):
    """Micrometres along x, y and z: one number for all axes, or one for each as the input's axes stand."""
    space = [axis for axis in axes if axis != "c"]
    one = isinstance(size, str) or not hasattr(size, "__len__")
    sizes = [_um(size)] * len(space) if one else [_um(s) for s in size]
    if len(sizes) != len(space):
        raise ArgumentError(f"pixel_size takes one number, or one for each of {', '.join(space)}")
    by_axis = dict(zip(space, sizes))
    return tuple(by_axis.get(axis, 0) for axis in "xyz")


# ---- help -----------------------------------------------------------------------------------


def _range(param):
    low, high = param["min"], param["max"]
    if low is not None and high is not None:
        return f"{low:g} .. {high:g}"
    return f"at least {low:g}" if low is not None else f"at most {high:g}" if high is not None else ""


def _kind(param):
    """The Python type of a param, and its default as a value of that."""
    if "words" in param:
        word = param["words"][int(param["default"])]
        return (bool, word == "true") if sorted(param["words"]) == ["false", "true"] else (str, word)
    kind = int if param["integer"] else float
    return kind, kind(param["default"])


def _document(about):
    lines = [about["summary"] or f"The pipeline {about['name']}.", ""]
    for one in about["inputs"]:
        lines.append(f"{one['name']}[{', '.join(one['axes'])}]: {one['pixels']}")
    for one in about["params"]:
        kind, default = _kind(one)
        parts = [one["help"], "one of " + ", ".join(one["words"]) if "words" in one else _range(one)]
        lines.append(f"{one['name']}: {kind.__name__} = {default}" + "".join(f", {part}" for part in parts if part))
    lines += ["", "Results:"]
    for one in about["outputs"]:
        lines.append(f"{one['name']}: {one['kind']}" + (f"[{', '.join(one['axes'])}]" if "axes" in one else ""))
    lines += [
        "",
        "device, memory: where it runs, and the most bytes there ('8GiB').  progress: a function of the share that is done.",
        "pixel_size: micrometres.  axes: of the first array.  out: arrays by output.  params: params by name.",
    ]
    return "\n".join(lines)


class _Signature:
    """The signature, made when somebody looks."""

    def __get__(self, pipeline, owner=None):
        import inspect

        kinds, about = inspect.Parameter, (pipeline or owner)._description
        parameters = [kinds(i["name"], kinds.POSITIONAL_OR_KEYWORD) for i in about["inputs"]]
        for p in about["params"]:
            kind, default = _kind(p)
            parameters.append(kinds(p["name"], kinds.KEYWORD_ONLY, default=default, annotation=kind))
        taken = {p.name for p in parameters}
        parameters += [kinds(name, kinds.KEYWORD_ONLY, default=None) for name in _OPTIONS if name not in taken]
        return inspect.Signature(parameters, return_annotation=Result)


def _made(handle):
    """A pipeline of a class of its own, so that help() of it says what it takes; its memory goes with it, not with the class."""
    about = json.loads(handle.text(lib.DESCRIPTION))
    for one in [*about["inputs"], *about["outputs"]]:
        if "axes" in one:
            one["axes"] = "".join(one["axes"])
    for one in about["params"]:
        if "words" in one:
            one["words"] = one["words"].split("|")
    members = {"_description": about, "__doc__": _document(about), "__signature__": _Signature()}
    made = type(about["name"], (Pipeline,), members)()
    made._handle = handle
    return made
