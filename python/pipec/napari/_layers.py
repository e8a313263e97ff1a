"""Between napari's layers and a pipeline's images: no Qt here."""

import numpy


def array_of(layer, axes, step):
    """The pixels that a pipeline with such axes reads of a layer: of leading axes the place that is shown."""
    data = layer.data[0] if getattr(layer, "multiscale", False) else layer.data
    more = data.ndim - len(axes)
    if more < 0:
        raise ValueError(f"{layer.name} has {data.ndim} axes, but the pipeline takes {len(axes)}: {', '.join(axes)}")
    return data[tuple(step[:more])] if more else data


def pixel_size_of(layer, axes):
    """Micrometres along the axes but channels; None where the layer's unit is no length."""
    n = sum(axis != "c" for axis in axes)
    try:
        return [float((1 * unit).to("micrometer").magnitude * scale)
                for scale, unit in zip(layer.scale[-n:], layer.units[-n:])]
    except Exception:  # pixels, which are no length to pint
        return None


def placed(result, output, like):
    """scale and translate of an output's layer, which lies on the layer that it comes from."""
    axes = [axis for axis in output["axes"] if axis != "c"]
    own = [axis for axis in "zyx" if axis in axes]
    place = result.scale(output["name"])
    rows = {"x": 0, "y": 1, "z": 2}
    scale, translate = [], []
    of = dict(zip("xyz", list(like.scale)[::-1]))
    at = dict(zip("xyz", list(like.translate)[::-1]))
    for axis in own:
        row = rows[axis]
        scale.append(abs(place[row][row]) * of.get(axis, 1) or 1)
        translate.append(place[row][3] * of.get(axis, 1) + at.get(axis, 0))
    return {"scale": scale, "translate": translate}


def _points(table):
    """Centres of objects in pixels, one row an object; None where the table has none."""
    names = [name for name in table if name.startswith("centroid-")]
    names.sort(key=lambda name: int(name.split("-")[1]))
    return numpy.stack([table[name] for name in names], axis=1) if names else None


def _features(table, most):
    """Rows by label for a layer of labels: the row of index i is label i."""
    import pandas

    frame = pandas.DataFrame(dict(table))
    if "label" not in frame or (len(frame) and frame["label"].max() > most):
        return None
    return frame.set_index("label").reindex(range(int(most) + 1)).reset_index(names="label")


def layers_of(pipeline, result, like):
    """What napari shows of a result: tuples of data, keywords and type, and the values as text."""
    layers, values, tables = [], [], []
    for output in pipeline.outputs:
        name, kind = output["name"], output["kind"]
        if kind == "table":
            tables.append((name, result[name]))
            values.append(f"{name}: {result[name].rows} rows")
        elif kind == "value":
            values.append(f"{name} = {result[name]:g}")
        elif "axes" in output and kind in ("labels", "mask", "image"):
            data = numpy.asarray(result[name])
            about = {"name": name, **placed(result, output, like)}
            if kind == "image":
                about["rgb"] = output["axes"].endswith("c") and data.shape[-1] in (3, 4)
                layers.append((data, about, "image"))
            else:
                layers.append((data.astype("uint8") if data.dtype == bool else data, about, "labels"))
    _join(layers, tables)
    return layers, values


def _join(layers, tables):
    """Tables go to the labels whose ids they have, and their centres become points."""
    for name, table in tables:
        points = _points(table)
        labels = [one for one in layers if one[2] == "labels" and one[0].dtype == numpy.uint32]
        for data, about, _ in labels:
            features = _features(table, data.max(initial=0))
            if features is not None and "features" not in about:
                about["features"] = features
                break
        if points is not None and labels:
            about = {key: labels[0][1][key] for key in ("scale", "translate")}
            layers.append((points, {"name": name, **about, "features": dict(table), "face_color": "transparent",
                                    "border_color": "yellow", "size": 5}, "points"))
