"""A pipeline in a dock of napari: layers for its inputs, sliders for its params, layers for its outputs."""

import os
import threading

from magicgui.widgets import CheckBox, ComboBox, Container, FileEdit, FloatSlider, FloatSpinBox, Label, PushButton, Slider, SpinBox
from qtpy.QtCore import QObject, QTimer, Signal

from .._errors import PipecError
from .._pipeline import compile as compile_pipeline
from . import _layers

_PAUSE = 100  # ms after the last change of a value, before a live run


def _editor(param):
    """The widget in which a param is set."""
    about = {"name": param["name"], "tooltip": param["help"]}
    low, high, value = param["min"], param["max"], param["default"]
    if "words" in param:
        words = param["words"]
        if sorted(words) == ["false", "true"]:
            return CheckBox(value=words[int(value)] == "true", text=param["name"], **about)
        return ComboBox(choices=words, value=words[int(value)], **about)
    if low is not None and high is not None:
        kind = Slider if param["integer"] else FloatSlider
        return kind(min=low, max=high, value=value, **about)
    kind = SpinBox if param["integer"] else FloatSpinBox
    limit = 2**31 - 1 if param["integer"] else 1e9
    return kind(min=-limit if low is None else low, max=limit if high is None else high, value=value, **about)


class _Runner(QObject):
    """Runs in a thread of its own, one at a time.  What is asked meanwhile cancels the run; only the newest is kept."""

    done = Signal(object, object)

    def __init__(self):
        super().__init__()
        self._lock, self._next, self._busy, self._thread = threading.Lock(), None, False, None

    def start(self, work):
        """`work(cancelled)` gives the result; `done` tells it, or the exception."""
        with self._lock:
            self._next = work
            if self._busy:
                return
            self._busy = True
        self._thread = threading.Thread(target=self._loop, daemon=True)
        self._thread.start()

    def _loop(self):
        while True:
            with self._lock:
                work, self._next = self._next, None
                if work is None:
                    self._busy = False
                    return
            result = error = None
            try:
                result = work(lambda: self._next is not None)
            except Exception as failure:
                error = failure
            if self._next is None:
                self.done.emit(result, error)

    def wait(self):
        """Until all is done; for tests and for the end."""
        if self._thread is not None:
            self._thread.join()


class PipelineWidget(Container):
    """Opens a .pipe file, and runs it on layers."""

    def __init__(self, napari_viewer):
        super().__init__(labels=True)
        self.viewer, self.pipeline, self.runner = napari_viewer, None, _Runner()
        self.file = FileEdit(label="pipeline", mode="r", filter="*.pipe", value="")
        self.inputs, self.params = Container(labels=True), Container(labels=True)
        self.live = CheckBox(text="run when a value changes", value=True)
        self.go, self.folder = PushButton(text="Run"), PushButton(text="Run on a folder ...")
        self.said = Label(value="Open a .pipe file.")
        self.extend([self.file, self.inputs, self.params, self.live, self.go, self.folder, self.said])
        self._timer = QTimer(singleShot=True, interval=_PAUSE)
        self._timer.timeout.connect(self.run)
        self.file.changed.connect(lambda path: self.open(path))
        self.go.changed.connect(self.run)
        self.folder.changed.connect(self._ask_folder)
        self.runner.done.connect(self._take)
        self.viewer.layers.events.inserted.connect(self._layers_changed)
        self.viewer.layers.events.removed.connect(self._layers_changed)

    def open(self, path):
        """Compiles a file, and makes its widgets."""
        path = os.fspath(path)
        if not os.path.isfile(path):
            return
        try:
            self.pipeline = compile_pipeline(path)
        except PipecError as error:
            self.pipeline = None
            self.said.value = f"<pre>{error}</pre>"
            return
        if os.fspath(self.file.value) != path:
            with self.file.changed.blocked():
                self.file.value = path
        self.inputs.clear()
        self.params.clear()
        for about in self.pipeline.inputs:
            self.inputs.append(ComboBox(name=about["name"], choices=lambda widget: self._choices()))
        for about in self.pipeline.params:
            editor = _editor(about)
            editor.changed.connect(self._value_changed)
            self.params.append(editor)
        self.said.value = self.pipeline.__doc__.split("\n")[0]
        self._choose_layers()

    # ---- inputs ----

    def _choices(self):
        return [layer.name for layer in self.viewer.layers if layer._type_string in ("image", "labels")
                and layer.metadata.get("pipec") is None]

    def _layers_changed(self, event=None):
        if event is None or event.value.metadata.get("pipec") is None:
            for one in self.inputs:
                one.reset_choices()

    def _choose_layers(self):
        """The layers in turn, the active one first."""
        names, active = self._choices(), self.viewer.layers.selection.active
        if active is not None and active.name in names:
            names.insert(0, names.pop(names.index(active.name)))
        for one, name in zip(self.inputs, names):
            one.value = name

    # ---- runs ----

    def values(self):
        """The params by name, as a call takes them."""
        return {editor.name: editor.value for editor in self.params}

    def _value_changed(self, _=None):
        if self.live.value:
            self._timer.start()

    def run(self, _=None):
        """Runs on the layers that are chosen, in the background."""
        if self.pipeline is None:
            return
        missing = [one.name for one in self.inputs if one.value is None]
        if missing:
            self.said.value = f"Choose a layer for {missing[0]}."
            return
        step, pipeline, values = self.viewer.dims.current_step, self.pipeline, self.values()
        layers = [self.viewer.layers[one.value] for one in self.inputs]
        try:
            arrays = [_layers.array_of(layer, about["axes"], step) for layer, about in zip(layers, pipeline.inputs)]
        except ValueError as error:
            self.said.value = str(error)
            return
        size = _layers.pixel_size_of(layers[0], pipeline.inputs[0]["axes"]) if layers else None
        self.said.value = "Running ..."

        def work(cancelled):
            result = pipeline(*arrays, params=values, pixel_size=size, progress=lambda done: cancelled())
            return pipeline, *_layers.layers_of(pipeline, result, layers[0])

        self.runner.start(work)

    def _take(self, result, error):
        if error is not None:
            self.said.value = f"<pre>{error}</pre>"
            return
        pipeline, layers, values = result
        for data, about, kind in layers:
            self._show(pipeline, data, about, kind)
        self.said.value = "<br>".join(values) or "Done."

    def _show(self, pipeline, data, about, kind):
        """A layer of the same output takes the new pixels, and keeps how it looks."""
        key = (pipeline.name, about["name"], kind)
        for layer in self.viewer.layers:
            if layer.metadata.get("pipec") == key:
                layer.data = data
                layer.scale, layer.translate = about["scale"], about["translate"]
                if "features" in about:
                    layer.features = about["features"]
                return
        getattr(self.viewer, f"add_{kind}")(data, **about, metadata={"pipec": key})

    # ---- folders ----

    def _ask_folder(self, _=None):
        from qtpy.QtWidgets import QFileDialog

        images = QFileDialog.getExistingDirectory(self.native, "Images")
        out = QFileDialog.getExistingDirectory(self.native, "Results") if images else ""
        if images and out:
            self.run_folder(images, out)

    def run_folder(self, images, out):
        """The pipeline with these values on all images of a folder, in the background."""
        pipeline, values = self.pipeline, self.values()
        if pipeline is None:
            return
        values = {name: str(value).lower() if isinstance(value, bool) else value for name, value in values.items()}
        self.said.value = "Running on a folder ..."

        def work(cancelled):
            code = pipeline.batch(images, out, check=False, **values)
            return pipeline, [], [f"Done: {out}" if code == 0 else f"Some images failed: {out}/failures.csv"]

        self.runner.start(work)
