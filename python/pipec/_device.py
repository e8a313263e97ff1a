"""Devices, each with a limit of memory."""

import ctypes
import threading
import weakref

from . import _library as lib
from ._errors import failure

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def bytes_of(size):
    """2_000_000, "2GiB", "512 MiB": bytes; None: 0, which is no limit."""
    if size is None:
        return 0
    if isinstance(size, str):
        text = size.strip().lower()
        number = text.rstrip("bikmgt ").strip()
        unit = text[len(number) :].strip().removesuffix("b")
        try:
            return int(float(number) * _UNITS[unit])
        except (ValueError, KeyError):
            raise ValueError(f"memory={size!r}: write a size such as '8GiB' or '512MiB'") from None
    return int(size)


class Device:
    """An open device: `choice` as --device takes it ("gpu", "cpu", "#1", a part of its name), None for the best one.

    Runs hold at most `memory` bytes on it; larger images go in parts.  Runs on one device wait for each other: for
    runs at once open one for each thread.
    """

    def __init__(self, choice=None, memory=None):
        handle, error = ctypes.c_void_p(), lib.Error()
        name = choice.encode() if choice is not None else None
        if lib.library.open(name, bytes_of(memory), ctypes.byref(handle), ctypes.byref(error)):
            raise failure(error)
        self.choice, self.memory, self._handle = choice, memory, handle
        self._close = weakref.finalize(self, lib.library.close, handle)

    def __repr__(self):
        return f"pipec.Device({self.choice!r}, memory={self.memory!r})"

    def close(self):
        """Gives its memory back; a device that nobody holds any more closes by itself."""
        self._close()


_open, _lock = {}, threading.Lock()


def device_for(choice, memory):
    """The Device that a call asks for; the same one each time."""
    if isinstance(choice, Device):
        return choice
    key = choice, bytes_of(memory)
    if key in _open:
        return _open[key]
    with _lock:
        if key not in _open:
            _open[key] = Device(choice, memory)
        return _open[key]


def devices():
    """The devices that there are, as dicts: choice, name, platform, driver, kind, units, memory, doubles."""
    import json

    text, error = ctypes.c_void_p(), lib.Error()
    if lib.library.devices(ctypes.byref(text), ctypes.byref(error)):
        raise failure(error)
    return json.loads(lib.take_text(text))
