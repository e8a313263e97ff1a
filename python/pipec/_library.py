"""libpipec through ctypes: structures, functions, and where the library is.  pipec.h says what they mean."""

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

OK, IMAGE, USAGE, DEVICE, MEMORY, OUTPUT, CANCELLED = 0, 1, 2, 3, 4, 5, 130
MISTAKES, MISTAKES_JSON, DESCRIPTION, SOURCE, KERNELS, GRAPH, IR = range(7)

# numpy's names of the types, by PipecType
TYPES = (None, "bool", "uint8", "uint16", "int16", "uint32", "int32", "float32", "float64")


class Error(Structure):
    _fields_ = [("code", c_int), ("text", c_char * 1000)]


class Image(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("extent", c_int64 * 4),
        ("stride", c_int64 * 4),
        ("type", c_int),
        ("place", c_double * 4 * 3),
    ]


ReadRows = CFUNCTYPE(c_int, c_void_p, c_int64, c_int64, c_int64, c_int64, c_void_p, c_size_t)
WriteRows = ReadRows
Progress = CFUNCTYPE(c_int, c_void_p, c_double)


class Input(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("image", Image),
        ("pixel_um", c_double * 3),
        ("read", ReadRows),
        ("context", c_void_p),
    ]


class Sink(Structure):
    _fields_ = [("size", c_size_t), ("write", WriteRows), ("context", c_void_p)]


class Run(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("inputs", POINTER(Input)),
        ("params", POINTER(c_double)),
        ("sinks", POINTER(Sink)),
        ("progress", Progress),
        ("context", c_void_p),
    ]


class Plan(Structure):
    _fields_ = [("size", c_size_t), ("peak", c_uint64), ("in_parts", c_int)]


class Table(Structure):
    _fields_ = [
        ("rows", c_int64),
        ("columns", c_int),
        ("at", c_void_p),
        ("names", POINTER(c_char * 64)),
        ("whole", c_void_p),
    ]


_FUNCTIONS = {
    "version": (c_char_p,),
    "compile": (c_int, c_char_p, c_char_p, c_size_t, POINTER(c_void_p), POINTER(Error)),
    "pipeline_free": (None, c_void_p),
    "text": (c_int, c_void_p, c_int, POINTER(c_void_p), POINTER(Error)),
    "text_free": (None, c_void_p),
    "open": (c_int, c_char_p, c_uint64, POINTER(c_void_p), POINTER(Error)),
    "close": (None, c_void_p),
    "devices": (c_int, POINTER(c_void_p), POINTER(Error)),
    "plan": (c_int, c_void_p, c_void_p, c_uint64, POINTER(Run), POINTER(Plan), POINTER(Image), POINTER(Error)),
    "run": (c_int, c_void_p, c_void_p, POINTER(Run), POINTER(c_void_p), POINTER(Error)),
    "result_free": (None, c_void_p),
    "image": (c_int, c_void_p, c_int, POINTER(Image), POINTER(Error)),
    "value": (c_double, c_void_p, c_int),
    "table": (c_int, c_void_p, c_int, POINTER(Table), POINTER(Error)),
}


def _offer_cpu_runtime():
    """Names PoCL of `pip install pipec[cpu]` to the OpenCL loader, beside the drivers of the system."""
    if "OCL_ICD_FILENAMES" in os.environ:
        return
    from importlib.util import find_spec

    found = find_spec("pocl_binary_distribution")
    for folder in (found.submodule_search_locations or []) if found else []:
        for root, _, files in os.walk(folder):
            for name in files:
                if name.startswith("libpocl.so"):
                    os.environ["OCL_ICD_FILENAMES"] = os.path.join(root, name)
                    return


def _paths():
    """Where the library may be: beside this file in a wheel, where PIPEC_LIBRARY says, or wherever the loader looks."""
    here = os.path.dirname(os.path.abspath(__file__))
    if "PIPEC_LIBRARY" in os.environ:
        yield os.environ["PIPEC_LIBRARY"]
    yield os.path.join(here, "libpipec.so.0")
    yield "libpipec.so.0"


def _load():
    _offer_cpu_runtime()
    why = []
    for path in _paths():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            why.append(str(error))
            continue
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(library, "pipec_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(library, name, function)
        return library
    hint = ""
    if any("libOpenCL" in text for text in why):
        hint = "\nThe OpenCL loader is missing: install ocl-icd-libopencl1 (Debian, Ubuntu) or ocl-icd (conda, Fedora)."
    raise ImportError("libpipec cannot be loaded:\n  " + "\n  ".join(why) + hint)


library = _load()


def take_text(pointer):
    """A text of the library as str; the library's copy is freed."""
    try:
        return ctypes.string_at(pointer).decode("utf-8", "backslashreplace")
    finally:
        library.text_free(pointer)
