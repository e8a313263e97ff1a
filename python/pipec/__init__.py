"""pipec: image-analysis pipelines in a small language, compiled to fused kernels for GPUs and CPUs.

    import pipec
    blobs = pipec.compile("blobs.pipe")
    result = blobs(image, sigma=3)
    result.labels             # numpy arrays, numbers, tables by column
    result.table.to_pandas()

The same file runs on a plate overnight: `blobs.batch("plate", "results")`, or `pipec run blobs.pipe plate -o results`.
"""

from . import _library
from ._device import Device, devices
from ._errors import (
    ArgumentError,
    Cancelled,
    CompileError,
    DeviceError,
    ImageError,
    NoMemoryError,
    OutputError,
    PipecError,
)
from ._forest import forest_text
from ._pipeline import Pipeline, Plan, compile
from ._results import Result, Table

__version__ = _library.library.version().decode()

__all__ = [
    "ArgumentError",
    "Cancelled",
    "CompileError",
    "Device",
    "DeviceError",
    "ImageError",
    "NoMemoryError",
    "OutputError",
    "PipecError",
    "Pipeline",
    "Plan",
    "Result",
    "Table",
    "compile",
    "devices",
    "forest_text",
]
