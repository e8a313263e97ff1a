"""What goes wrong, as exceptions: one for each exit code of the command."""

import os
import re

from . import _library as lib


class PipecError(Exception):
    """The root of all.  `code` is the exit code that the command would have had."""

    code = None


class CompileError(PipecError):
    """The text of a pipeline has mistakes.  `mistakes` are dicts with code, severity, line, column, message, help."""

    code = lib.USAGE

    def __init__(self, text, mistakes):
        super().__init__(text)
        self.mistakes = mistakes


class ArgumentError(PipecError, ValueError):
    """An argument of a call is not what the pipeline takes."""

    code = lib.USAGE


class ImageError(PipecError, ValueError):
    """An image is not what the pipeline takes."""

    code = lib.IMAGE


class DeviceError(PipecError, RuntimeError):
    """There is no device, or it was lost."""

    code = lib.DEVICE


class NoMemoryError(PipecError, MemoryError):
    """It does not fit, even in parts."""

    code = lib.MEMORY


class OutputError(PipecError, OSError):
    """Results cannot be written."""

    code = lib.OUTPUT


class Cancelled(PipecError):
    """The function that is told of progress returned something true."""

    code = lib.CANCELLED


_BY_CODE = {kind.code: kind for kind in (ArgumentError, ImageError, DeviceError, NoMemoryError, OutputError, Cancelled)}


def failure(error):
    """The exception for a failure of the library."""
    text = error.text.decode("utf-8", "replace")
    for option, argument in (("memory", r"\1"), ("pixel-size", r"'\1'"), ("device", r"'\1'")):  # as they are called here
        text = re.sub(rf"--{option} ([\w.]+)", rf"{option.replace('-', '_')}={argument}", text)
    return _BY_CODE.get(error.code, PipecError)(text)


def failure_of_command(code, out):
    """The exception for an exit code of the command, which has said why on stderr."""
    kind = _BY_CODE.get(code, PipecError)
    error = kind(f"the command ended with code {code}; what it said is on stderr, what is done is in {os.fspath(out)}")
    error.code = code
    return error
