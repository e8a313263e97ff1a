"""How pipelines and results look in a notebook."""

import base64
import html
import shutil
import struct
import subprocess
import zlib

_ROWS = 20  # of a table, at most
_SIDE = 320  # pixels of a picture's longer side, at most


def pipeline_html(pipeline):
    """The text, and the graph where Graphviz is installed."""
    text = f"<pre>{html.escape(pipeline.source)}</pre>"
    return text + _svg(pipeline.graph())


def _svg(graph):
    dot = shutil.which("dot")
    if dot is None:
        return ""
    made = subprocess.run([dot, "-Tsvg"], input=graph, capture_output=True, text=True)
    return made.stdout[made.stdout.find("<svg") :] if made.returncode == 0 else ""


def _png(pixels):
    """An RGB image as the text of a PNG."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _plane(pixels, axes):
    """The middle plane of an image as [y, x] or [y, x, c], thinned to a picture's size."""
    import numpy

    for axis in [a for a in axes if a not in "yxc"]:
        at = axes.index(axis)
        pixels, axes = numpy.take(pixels, pixels.shape[at] // 2, at), axes.replace(axis, "")
    order = [axes.index(a) for a in "yxc" if a in axes]
    pixels = numpy.transpose(pixels, order)
    step = max(1, -(-max(pixels.shape[:2]) // _SIDE))
    return pixels[::step, ::step]


def _grey(pixels):
    import numpy

    low, high = numpy.nanpercentile(pixels, (0.5, 99.5)) if pixels.size else (0, 1)
    scaled = (pixels.astype("float64") - low) / max(high - low, 1e-300)
    return (numpy.nan_to_num(scaled).clip(0, 1) * 255).astype("uint8")


def _coloured(labels):
    """A colour for each label, far from those of its neighbours in number."""
    import numpy

    hue = labels.astype("float64") * 0.6180339887 % 1 * 6
    colours = numpy.stack([abs(hue - 3) - 1, 2 - abs(hue - 2), 2 - abs(hue - 4)], -1).clip(0, 1)
    return (colours * 255 * (labels > 0)[..., None]).astype("uint8")


def picture(pixels, axes, kind):
    """The <img> of an output."""
    import numpy

    plane = _plane(pixels, axes)
    rgb = _coloured(plane) if kind == "labels" else _grey(plane)
    if rgb.ndim == 2:
        rgb = rgb[..., None]
    if rgb.shape[2] != 3:
        rgb = numpy.repeat(rgb[..., :1], 3, 2)
    text = base64.b64encode(_png(numpy.ascontiguousarray(rgb))).decode()
    return f'<img src="data:image/png;base64,{text}">'


def table_html(table):
    """The first rows of a table."""
    names = "".join(f"<th>{html.escape(name)}</th>" for name in table)
    rows = ["<tr>" + "".join(f"<td>{table[name][i]:.6g}</td>" for name in table) + "</tr>" for i in range(min(table.rows, _ROWS))]
    rest = f"<p>{table.rows - _ROWS} more rows</p>" if table.rows > _ROWS else ""
    return f"<table><tr>{names}</tr>{''.join(rows)}</table>{rest}"


def result_html(result):
    """Pictures of images, tables as tables, values as numbers."""
    parts = []
    for about in result._outputs:
        name, value = about["name"], result[about["name"]]
        if about["kind"] == "table":
            body = value._repr_html_()
        elif about["kind"] == "value":
            body = f"{value:g}"
        else:
            body = picture(value, about["axes"], about["kind"])
        parts.append(f"<figure style='display:inline-block'><figcaption>{html.escape(name)}</figcaption>{body}</figure>")
    return "".join(parts)
