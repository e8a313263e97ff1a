"""The plugin for napari with a real viewer, which needs a display: `xvfb-run -a python3 -m pytest python/tests`."""

import os

import numpy as np
import pytest

import pipec

napari = pytest.importorskip("napari")
pytest.importorskip("qtpy")
if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
    pytest.skip("there is no display", allow_module_level=True)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCE = """# counts what is bright.
input image[y, x]
param least = 100 in 0 .. 255 "of what is an object"
param bright = true "the bright ones"
param size = small in [small, large] "of the blur"
mask = image >= least if bright else image < least
objects = label(mask)
output objects
output blurred = gaussian(image, 1 if size == small else 3)
output half = downscale(image, 2)
output n = count(objects)
output table = measure(objects, area, centroid)
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "bright.pipe"
    path.write_text(SOURCE)
    return str(path)


@pytest.fixture
def image():
    pixels = np.zeros((48, 64), "uint8")
    pixels[6:10, 5:9], pixels[20:25, 30:35] = 200, 250
    return pixels


@pytest.fixture
def viewer():
    viewer = napari.Viewer(show=os.environ.get("PIPEC_SHOW") is not None)
    yield viewer
    viewer.close()


def settle(widget):
    """Until the run is done and its layers are there."""
    from qtpy.QtCore import QCoreApplication, QEventLoop

    widget.runner.wait()
    for _ in range(20):
        QCoreApplication.processEvents(QEventLoop.AllEvents, 50)


def opened(viewer, path):
    _, widget = viewer.window.add_plugin_dock_widget("pipec", "Pipeline")
    widget = getattr(widget, "_magic_widget", widget)
    widget.open(path)
    return widget


def test_runs_on_the_chosen_layer(viewer, path, image):
    viewer.add_image(image, name="cells", scale=(0.5, 0.5), units=("um", "um"))
    widget = opened(viewer, path)
    assert widget.inputs["image"].value == "cells" and widget.values() == {"least": 100, "bright": True, "size": "small"}
    widget.run()
    settle(widget)
    assert widget.said.value == "n = 2<br>table: 2 rows"
    kinds = {layer.name: layer._type_string for layer in viewer.layers}
    assert kinds == {"cells": "image", "objects": "labels", "blurred": "image", "half": "image", "table": "points"}
    assert viewer.layers["objects"].data.max() == 2
    assert viewer.layers["objects"].features["area"].tolist()[1:] == [16, 25]
    assert tuple(viewer.layers["objects"].scale) == (0.5, 0.5) and tuple(viewer.layers["half"].scale) == (1, 1)
    assert np.allclose(viewer.layers["table"].data, [[7.5, 6.5], [22, 32]])
    assert widget.inputs["image"].choices == ("cells",)  # results are not offered


def test_follows_the_slider(viewer, path, image):
    viewer.add_image(image, name="cells")
    widget = opened(viewer, path)
    widget.run()
    settle(widget)
    layer = viewer.layers["objects"]
    layer.opacity = 0.3
    widget.params["least"].value = 225
    assert widget._timer.isActive()
    widget._timer.stop()
    widget.run()
    settle(widget)
    assert viewer.layers["objects"] is layer and layer.opacity == 0.3 and layer.data.max() == 1
    widget.live.value = False
    widget.params["least"].value = 10
    assert not widget._timer.isActive()


def test_frames_and_mistakes(viewer, path, image, tmp_path):
    viewer.add_image(np.stack([image, image * 0]), name="film")
    viewer.dims.set_current_step(0, 1)
    widget = opened(viewer, path)
    widget.run()
    settle(widget)
    assert "n = 0" in widget.said.value
    broken = tmp_path / "broken.pipe"
    broken.write_text("input image[y, x]\noutput a = gausian(image, 1)\n")
    widget.open(broken)
    assert "did you mean" in widget.said.value and widget.pipeline is None
    widget.run()  # nothing
    volume = tmp_path / "volume.pipe"
    volume.write_text("input image[z, y, x]\noutput a = max_project(image)\n")
    viewer.layers.clear()
    viewer.add_image(image)
    widget.open(volume)
    widget.run()
    assert "2 axes" in widget.said.value


def test_folder(viewer, path, image, tmp_path):
    tifffile = pytest.importorskip("tifffile")
    (tmp_path / "plate").mkdir()
    for i in range(2):
        tifffile.imwrite(tmp_path / "plate" / f"{i}.tif", image)
    widget = opened(viewer, path)
    widget.run_folder(str(tmp_path / "plate"), str(tmp_path / "out"))
    settle(widget)
    assert (tmp_path / "out" / "table.csv").exists() and "Done" in widget.said.value


def test_opens_by_its_file(viewer, path):
    viewer.open(path, plugin="pipec")
    assert len(viewer.layers) == 0


def test_screenshot(viewer, image, tmp_path):
    tifffile = pytest.importorskip("tifffile")
    viewer.add_image(tifffile.imread(os.path.join(ROOT, "samples", "blobs.tif")), name="blobs")
    widget = opened(viewer, os.path.join(ROOT, "samples", "blobs.pipe"))
    widget.run()
    settle(widget)
    shot = viewer.screenshot(path=os.environ.get("PIPEC_SHOW"), canvas_only=False, flash=False)
    assert len(np.unique(shot.reshape(-1, shot.shape[-1]), axis=0)) > 50
    assert isinstance(widget.pipeline, pipec.Pipeline)
