"""pipec.reader: files of HDF5 and Imaris as h5py writes them, and the answers to pipec."""

import numpy as np
import pytest

from pipec.reader import Image, ReadError, Server, open_image

h5py = pytest.importorskip("h5py")
VOLUME = np.random.default_rng(1).integers(0, 60000, (3, 40, 50), dtype=np.uint16)


def plane(server, **at):
    about, pixels = server.answer({"read": {"t": 0, "c": 0, "z": 0, "row": 0, "rows": 40, **at}})
    assert about == {"bytes": len(pixels)}
    return pixels


@pytest.fixture
def stack(tmp_path):
    path = str(tmp_path / "stack.h5")
    with h5py.File(path, "w") as file:
        raw = file.create_dataset("raw/image", data=VOLUME, chunks=(1, 16, 16), compression="gzip")
        raw.attrs["element_size_um"] = [2, 0.5, 0.25]
        file["signed"] = VOLUME[0].astype(np.int8)
        file["turned"] = VOLUME[0].T.astype(">u2")
        file["turned"].dims[0].label, file["turned"].dims[1].label = "x", "y"
        file["ids"] = VOLUME[0].astype(np.int64)
        file["large"] = VOLUME[0].astype(np.int64) << 20
        file["line"] = np.arange(5)
    return path


def test_hdf5(stack):
    server = Server(open_image)
    about, _ = server.answer({"open": stack, "part": "/raw/image"})
    assert about["axes"] == {"z": 3, "y": 40, "x": 50} and about["type"] == "u16"
    assert about["pixel_size"] == {"x": 0.25, "y": 0.5, "z": 2, "unit": "um"}
    assert plane(server, z=2) == VOLUME[2].astype("<u2").tobytes()
    assert plane(server, z=1, row=7, rows=5) == VOLUME[1, 7:12].astype("<u2").tobytes()
    about, _ = server.answer({"open": stack})
    assert about["images"] == 5


@pytest.mark.parametrize("part, stored", [("signed", "<i2"), ("turned", "<u2"), ("ids", "<i4"), ("3", "<u2")])
def test_types(stack, part, stored):
    server = Server(open_image)
    server.answer({"open": stack, "part": part})
    want = VOLUME[0].astype(np.int8) if part == "signed" else VOLUME[0]
    assert plane(server) == want.astype(stored).tobytes()


@pytest.mark.parametrize("part, says", [("nothing", "it has ids, large"), ("line", "its shape is"), ("9", "no dataset")])
def test_refused(stack, part, says):
    with pytest.raises(ReadError, match=says):
        open_image(stack, part)


def test_too_large(stack):
    server = Server(open_image)
    server.answer({"open": stack, "part": "large"})
    with pytest.raises(ReadError, match="int32 does not hold"):
        plane(server)


def test_imaris(tmp_path):
    path = str(tmp_path / "cells.ims")

    def text(value):
        return np.array([c.encode() for c in value], dtype="S1")

    with h5py.File(path, "w") as file:
        for t in range(2):
            for c in range(2):
                stored = np.zeros((4, 48, 64), np.uint8)  # Imaris pads blocks
                stored[:3, :40, :50] = VOLUME % 200 + 20 * t + 10 * c
                file[f"DataSet/ResolutionLevel 0/TimePoint {t}/Channel {c}/Data"] = stored
                file.require_group(f"DataSetInfo/Channel {c}").attrs["Name"] = text(f"dye {c}")
        about = file.create_group("DataSetInfo/Image").attrs
        said = {"X": "50", "Y": "40", "Z": "3", "ExtMin0": "0", "ExtMax0": "25", "ExtMin1": "0", "ExtMax1": "20"}
        for key, value in {**said, "ExtMin2": "-6", "ExtMax2": "0", "Unit": "um"}.items():
            about[key] = text(value)
    server = Server(open_image)
    about, _ = server.answer({"open": path})
    assert about["axes"] == {"t": 2, "c": 2, "z": 3, "y": 40, "x": 50} and about["channels"] == ["dye 0", "dye 1"]
    assert about["pixel_size"] == {"x": 0.5, "y": 0.5, "z": 2, "unit": "um"}
    assert plane(server, t=1, c=1, z=2) == (VOLUME[2] % 200 + 30).astype(np.uint8).tobytes()


def test_axes_are_checked():
    with pytest.raises(ReadError, match="cannot have the axes"):
        Image(VOLUME, "yx")
