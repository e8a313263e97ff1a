"""The plugin for napari: pipelines with sliders for their params.  napari.yaml says what napari finds here."""
