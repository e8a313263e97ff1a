"""A .pipe file that is dropped on napari opens as the widget that runs it."""


def reader_of(path):
    """For napari: a function that reads this file, or None."""
    return _open if isinstance(path, str) and path.lower().endswith(".pipe") else None


def _open(path):
    import napari

    viewer = napari.current_viewer()
    if viewer is not None:
        from ._widget import PipelineWidget

        widget = PipelineWidget(viewer)
        viewer.window.add_dock_widget(widget, name=path.rsplit("/", 1)[-1], area="right")
        widget.open(path)
    return [(None,)]  # no layers
