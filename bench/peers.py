#!/usr/bin/env python3
"""Times the cases of bench/cases.def against what users would write in Python, side by side in one run.

    bench/peers.py [--bench build/bench] [--device NAME] [--divide N] [--runs N] [--only CASE]
                   [--limit SECONDS] [--cpu] [--keep]

build/bench runs a case, leaves its input and results in a folder and waits; then the same work is done
here, on the same image, which is on the device before: by CuPy and cuCIM where there are a GPU and both
packages, else by numpy, scipy and scikit-image.  One row of PEERS is one case; whoever has the operation
under the same name takes part.  The figure is the median of CUDA events (of the clock on a CPU) after a
run to warm up; runs that would take longer than --limit are given up.

Results must agree.  Labels: the same number at every pixel; where they are found in a blurred image,
which the peers round otherwise, the pixels that fall on the other side of the threshold are counted, and
may be one in 100 000.  Floats: to 1e-4 of the largest.  Whole-image values and numbers of tables: to 1e-3 (of a
measure's largest), as the peers sum in f32.  Colours: to one step of a byte.

--keep writes what is printed to bench/results/.
"""
import argparse
import datetime
import importlib
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Peers:
    """The libraries of one side: `xp` arrays, `nd` scipy.ndimage, `sk` scikit-image by module name."""

    def __init__(self, gpu):
        self.gpu = gpu
        self.xp = importlib.import_module("cupy" if gpu else "numpy")
        self.nd = importlib.import_module("cupyx.scipy.ndimage" if gpu else "scipy.ndimage")
        self.skimage = "cucim.skimage" if gpu else "skimage"
        self.name = "cupy, cucim" if gpu else "scipy, skimage"
        self.disk2 = self.xp.hypot(*self.xp.mgrid[-2:3, -2:3]) <= 2

    def sk(self, module):
        return importlib.import_module(f"{self.skimage}.{module}")

    def versions(self):
        names = ["cupy", "cucim"] if self.gpu else ["numpy", "scipy", "skimage"]
        return ", ".join(f"{n} {getattr(importlib.import_module(n), '__version__', '')}" for n in names)

    def there(self, plane, planes):
        """A case's input in the peer's memory."""
        image = self.xp.asarray(plane)
        return self.xp.ascontiguousarray(self.xp.broadcast_to(image, (planes, *image.shape))) if planes else image

    def here(self, result):
        return result.get() if hasattr(result, "get") else result

    def time_once(self, work):
        if not self.gpu:
            begin = time.perf_counter()
            result = work()
            return 1e3 * (time.perf_counter() - begin), result
        begin, end = self.xp.cuda.Event(), self.xp.cuda.Event()
        begin.record()
        result = work()
        end.record()
        end.synchronize()
        return self.xp.cuda.get_elapsed_time(begin, end), result

    def forget(self):
        if self.gpu:
            self.xp.get_default_memory_pool().free_all_blocks()


def f32(m, v):
    return v.astype(m.xp.float32)


def gaussian(m, v, sigma):
    return m.nd.gaussian_filter(f32(m, v), sigma, mode="nearest")


def chain(m, v):
    a = m.xp.sqrt(v * m.xp.float32(0.0039215689)) * m.xp.float32(1.7) - m.xp.float32(0.2)
    b = m.xp.minimum(m.xp.maximum(a, 0), 1)
    c = b * b * (3 - 2 * b)
    return {"chain": m.xp.abs(1 - m.xp.exp(-c * 2) - m.xp.float32(0.5)) * 255}


def harris(m, v):
    gx = m.nd.correlate1d(v, m.xp.asarray([-1, 0, 1], "f4"), axis=1, mode="nearest")
    gy = m.nd.correlate1d(v, m.xp.asarray([-1, 0, 1], "f4"), axis=0, mode="nearest")
    xx, yy, xy = (m.nd.uniform_filter(p, 3, mode="nearest") for p in (gx * gx, gy * gy, gx * gy))
    return {"corners": xx * yy - xy * xy - m.xp.float32(0.04) * (xx + yy) ** 2}


def convolve15(m, v):
    j, i = m.xp.mgrid[-7:8, -7:8]
    weights = m.xp.exp(-(i * i + j * j + i * j) / 30).astype("f4")
    return {"smooth": m.nd.correlate(v, weights, mode="nearest")}


def moments(m, v):
    return {"average": v.mean(), "spread": v.std(), "lowest": v.min(), "highest": v.max()}


def over_otsu(m, blurred):
    return blurred > m.sk("filters").threshold_otsu(blurred)


def label(m, mask, connectivity=2):
    return m.sk("measure").label(mask, connectivity=connectivity)


def nuclei(m, v):
    eroded = m.nd.binary_erosion(over_otsu(m, gaussian(m, v, 5)), m.disk2, border_value=1)
    return {"labels": label(m, eroded)}


# How a table's columns are called by pipec, for what regionprops_table gives.
TABLE_NAMES = {"mean_intensity": "mean"}


def regions(m, labels, image, properties):
    table = m.sk("measure").regionprops_table(labels, image, properties=("label", *properties))
    return {"table": {TABLE_NAMES.get(k, k): v for k, v in table.items()}}


def measure(m, v):
    blurred = gaussian(m, v, 2)
    return regions(m, label(m, over_otsu(m, blurred)), v, ("area", "mean_intensity", "solidity"))


def measure_all(m, v):
    words = re.sub(r"#.*", "", (ROOT / "bench/cases/measure_all.pipe").read_text())
    names = re.split(r"[,\s]+", re.search(r"image,(.*)\)", words, re.S)[1].strip())
    theirs = importlib.import_module(f"{m.skimage}.measure._regionprops").COL_DTYPES
    names = [n for n in names if n in theirs]
    return regions(m, label(m, v > 127), v, names)


def label2rgb(m, labels):
    return {"picture": m.xp.moveaxis(m.sk("color").label2rgb(labels, bg_label=0), -1, 0) * 255}


def distance(m, v):
    if m.gpu:
        edt = importlib.import_module("cucim.core.operations.morphology").distance_transform_edt
        return {"depth": edt(v > 127)}
    return {"depth": m.nd.distance_transform_edt(v > 127)}


def watershed(m, v):
    segment = m.sk("segmentation").watershed
    mask = v > 127
    depth = m.nd.distance_transform_edt(mask).astype("f4")
    peaks = m.sk("morphology").local_maxima(depth)
    return {"parts": segment(-depth, label(m, peaks), mask=mask)}


def noise(m, v):
    """The deviation of what is left when nothing is beyond three of them."""
    kept = v.ravel()
    while True:
        middle, spread = m.xp.median(kept), m.xp.std(kept)
        inside = kept[(kept > middle - 3 * spread) & (kept < middle + 3 * spread)]
        if inside.size == kept.size:
            return spread
        kept = inside


def bell(m, v):
    t = m.xp.arange(-7, 8, dtype="f4") * m.xp.float32(2 / 7)
    weights = m.xp.exp(-t * t / 2)
    return {"smooth": m.nd.correlate1d(m.nd.correlate1d(f32(m, v), weights, 0, mode="nearest"), weights, 1, mode="nearest")}


def deconvolve(m, v):
    estimate = v
    for _ in range(20):
        estimate = estimate * gaussian(m, v / m.xp.maximum(gaussian(m, estimate, 2), m.xp.float32(1e-6)), 2)
    return {"estimate": estimate}


def sources(m, v):
    labels, n = m.nd.label(v > 5 * noise(m, v))
    index = m.xp.arange(1, int(n) + 1)
    return {"table": {"label": index, "center_of_mass": m.nd.center_of_mass(v, labels, index),
                      "sum": m.nd.sum_labels(v, labels, index)}}


# ---- pipelines as users write them --------------------------------------------------------------

def beside(m, v, dx=0, dy=0, mode="nearest"):
    """Each pixel's neighbour, as v[dx = ..., dy = ...]."""
    shift = (0,) * (v.ndim - 2) + (-dy, -dx)
    return m.nd.shift(v, shift, order=0, mode=mode)


def local_contrast(m, v):
    d = f32(m, v) - gaussian(m, v, 8)
    return {"result": d / m.xp.maximum(m.xp.sqrt(gaussian(m, d * d, 8)), 1)}


def perona(m, v):
    u = f32(m, v)
    for _ in range(10):
        steps = [beside(m, u, *by) - u for by in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        u = u + m.xp.float32(0.2) * sum(m.xp.exp(-((d / 15) ** 2)) * d for d in steps)
    return {"result": u}


def scales(m, v):
    each = (m.xp.float32(-s * s) * m.nd.gaussian_laplace(f32(m, v), s, mode="nearest") for s in range(1, 7))
    largest = next(each)
    for one in each:
        largest = m.xp.maximum(largest, one)
    return {"result": largest}


def tensor(m, v):
    v = f32(m, v)
    gx = (beside(m, v, 1) - beside(m, v, -1)) / 2
    gy = (beside(m, v, 0, 1) - beside(m, v, 0, -1)) / 2
    a, b, c = (gaussian(m, p, 3) for p in (gx * gx, gx * gy, gy * gy))
    return {"result": m.xp.sqrt((a - c) ** 2 + 4 * b * b) / m.xp.maximum(a + c, m.xp.float32(0.001))}


def total_variation(m, v):
    v = f32(m, v) / 255
    px, py = 0 * v, 0 * v

    def divergence():
        return px - beside(m, px, -1, mode="constant") + py - beside(m, py, 0, -1, mode="constant")

    for _ in range(20):
        u = v + divergence() / 8
        gx, gy = beside(m, u, 1) - u, beside(m, u, 0, 1) - u
        n = 1 + m.xp.float32(0.25) * m.xp.sqrt(gx * gx + gy * gy) / m.xp.float32(0.1)
        px, py = (px + m.xp.float32(0.25) * gx) / n, (py + m.xp.float32(0.25) * gy) / n
    return {"result": v + divergence() / 8}


def bilateral(m, v):
    v = f32(m, v)
    weighted, weights = 0 * v, 0 * v
    for j in range(-3, 4):
        for i in range(-3, 4):
            near = beside(m, v, i, j)
            w = m.xp.float32(np.exp(-(i * i + j * j) / 18)) * m.xp.exp(-(((near - v) / 20) ** 2))
            weighted, weights = weighted + w * near, weights + w
    return {"result": weighted / weights}


def edges(m, v):
    each = [m.nd.gaussian_gradient_magnitude(f32(m, v), s, mode="nearest") for s in (1, 3)]
    return {"result": m.xp.maximum(*each)}


def local_spread(m, v):
    v = f32(m, v)
    mean, square = (m.nd.uniform_filter(p, 15, mode="nearest") for p in (v, v * v))
    return {"result": m.xp.sqrt(m.xp.maximum(square - mean * mean, 0))}


def band_pass(m, v):
    band = gaussian(m, v, 1) - gaussian(m, v, 12)
    return {"result": band > 2 * band.std()}


def sauvola(m, v):
    labels = label(m, v > m.sk("filters").threshold_sauvola(v, 25))
    keep = m.xp.bincount(labels.ravel()) >= 40
    keep[0] = False
    labels = (m.xp.cumsum(keep) * keep)[labels]
    names = ("area", "mean_intensity", "bbox", "perimeter", "solidity")
    m.sk("measure").regionprops_table(labels, v, properties=names)
    return {"labels": labels}


def top_hat(m, v):
    y, x = m.xp.mgrid[-7:8, -7:8]
    top = v - m.nd.grey_opening(v, footprint=x * x + y * y <= 49, mode="nearest")
    return {"labels": label(m, top > m.sk("filters").threshold_yen(top))}


def flat_field(m, v):
    ground = gaussian(m, v, 50)
    flat = v / m.xp.maximum(ground, 1) * ground.mean()
    low, high = flat.min(), flat.max()
    return {"result": m.xp.clip((flat - low) / (high - low) * 255, 0, 255).astype("u1")}


def spots(m, v):
    band = gaussian(m, v, 1) - gaussian(m, v, 2.5)
    peaks = (band == m.nd.maximum_filter(band, 3, mode="nearest")) & (band > 3 * band.std())
    peaks.sum()
    return {}  # of plateaus it has other pixels


def clean_mask(m, v):
    mask = m.nd.binary_closing(m.nd.binary_opening(over_otsu(m, v), m.disk2), m.disk2)
    labels, n = m.nd.label(m.nd.binary_fill_holes(mask))
    sizes = m.xp.bincount(labels.ravel(), minlength=int(n) + 1)
    return {"result": (sizes[labels] >= 64) & (labels > 0)}


def heat(m, v):
    u = f32(m, v)
    for _ in range(40):
        around = beside(m, u, 1) + beside(m, u, -1) + beside(m, u, 0, 1) + beside(m, u, 0, -1)
        u = u + m.xp.float32(0.2) * (around - 4 * u)
    return {"result": u}


def background(m, v):
    low = m.nd.grey_opening(m.nd.median_filter(v, size=7, mode="nearest"), size=15, mode="nearest")
    return {"result": v - gaussian(m, low, 8)}


def fibres(m, v):
    v = gaussian(m, v, 2)
    xx = beside(m, v, 1) + beside(m, v, -1) - 2 * v
    yy = beside(m, v, 0, 1) + beside(m, v, 0, -1) - 2 * v
    xy = (beside(m, v, 1, 1) + beside(m, v, -1, -1) - beside(m, v, 1, -1) - beside(m, v, -1, 1)) / 4
    half = (xx + yy) / 2
    return {"result": m.xp.maximum(m.xp.sqrt(((xx - yy) / 2) ** 2 + xy * xy) - half, 0)}


def texture(m, v):
    return {"a": gaussian(m, v, 2), "b": m.nd.gaussian_laplace(f32(m, v), 2, mode="nearest"),
            "c": m.nd.gaussian_gradient_magnitude(f32(m, v), 2, mode="nearest"),
            "d": gaussian(m, v, 1) - gaussian(m, v, 4),
            "e": f32(m, m.nd.maximum_filter(v, 7, mode="nearest")) - m.nd.minimum_filter(v, 7, mode="nearest")}


def volume_peaks(m, v):
    d = (lambda u: gaussian(m, u, 1) - gaussian(m, u, 3))(m.nd.median_filter(v, size=3, mode="nearest"))
    _ = (d == m.nd.maximum_filter(d, size=3, mode="nearest")) & (d > 3)
    return {"n": (d > 3).sum()}  # of plateaus the peaks are other pixels


def bright_parts(m, v):
    blurred = gaussian(m, v, 1)
    return {"result": blurred > blurred.mean()}


# By case: what a user writes, as results by the names of the pipeline's outputs.
PEERS = {
    "chain of 10": chain,
    "gaussian 2": lambda m, v: {"blurred": gaussian(m, v, 2)},
    "gaussian 5": lambda m, v: {"blurred": gaussian(m, v, 5)},
    "gaussian 40": lambda m, v: {"blurred": gaussian(m, v, 40)},
    "gaussians 1 - 2": lambda m, v: {"difference": gaussian(m, v, 1) - gaussian(m, v, 2)},
    "two gaussians": lambda m, v: {"fine": gaussian(m, v, 1), "coarse": gaussian(m, v, 2)},
    "harris": harris,
    "convolve 15 x 15": convolve15,
    "median of disk(2)": lambda m, v: {"filtered": m.nd.median_filter(v, footprint=m.disk2, mode="nearest")},
    "median of 7 x 7": lambda m, v: {"filtered": m.nd.median_filter(v, size=7, mode="nearest")},
    "otsu": lambda m, v: {"threshold": m.sk("filters").threshold_otsu(v)},
    "median": lambda m, v: {"middle": m.xp.median(v)},
    "mean std min max": moments,
    "label blobs": lambda m, v: {"labels": label(m, v > 127)},
    "label noise": lambda m, v: {"labels": label(m, v > 127)},
    "blobs": lambda m, v: {"labels": label(m, over_otsu(m, gaussian(m, v, 2)))},
    "blobs 2048": lambda m, v: {"labels": label(m, over_otsu(m, gaussian(m, v, 2)))},
    "nuclei": nuclei,
    "measure": measure,
    "measure all": measure_all,
    "label2rgb": label2rgb,
    "rotate": lambda m, v: {"turned": m.sk("transform").rotate(v.astype("f8"), 30)},  # its places have the image's type
    "distance": distance,
    "watershed": watershed,
    "sources": sources,
    "gaussian 2 in 3-D": lambda m, v: {"blurred": gaussian(m, v, 2)},
    "clip": lambda m, v: {"mask": (v > 5 * noise(m, v)).astype("u1")},
    "bell": bell,
    "deconvolve": deconvolve,
    "bilateral": bilateral,
    "local contrast": local_contrast,
    "perona malik": perona,
    "sauvola": sauvola,
    "scales": scales,
    "structure tensor": tensor,
    "top hat": top_hat,
    "total variation": total_variation,
    "volume peaks": volume_peaks,
    "unsharp mask": lambda m, v: {"result": m.xp.clip(v + m.xp.float32(1.5) * (v - gaussian(m, v, 3)), 0, 255)},
    "band pass": band_pass,
    "edges at two scales": edges,
    "local spread": local_spread,
    "texture": texture,
    "flat field": flat_field,
    "spots": spots,
    "clean mask": clean_mask,
    "gamma": lambda m, v: {"result": (255 * m.xp.clip((f32(m, v) - 20) / 200, 0, 1) ** m.xp.float32(0.45)).astype("u1")},
    "heat": heat,
    "background": background,
    "fibres": fibres,
    "bright parts in 3-D": bright_parts,
    "projection of a volume": lambda m, v: {
        "result": f32(m, v - m.nd.minimum_filter(v, size=5, mode="nearest")).max(axis=0)},
}
PLANES = {"gaussian 2 in 3-D": 512, "deconvolve": 64, "volume peaks": 256, "bright parts in 3-D": 128,
          "projection of a volume": 128}  # bench gives one plane, which is in each place
BLURRED_FIRST = {"blobs", "blobs 2048", "nuclei", "measure", "sources", "clip", "band pass", "bright parts in 3-D"}


# ---- results ------------------------------------------------------------------------------------

def compare_labels(case, got, want):
    differ = np.count_nonzero(got != want)
    if differ == 0:
        return "equal"
    if case not in BLURRED_FIRST:
        return f"WRONG: {differ} labels differ"
    pixels = int(np.count_nonzero((got > 0) != (want > 0)))
    return f"{pixels} pixels differ" if pixels <= 1e-5 * got.size else f"WRONG: {pixels} pixels differ"


def compare_floats(got, want, of_largest, scale=0.0):
    """`scale`: the largest number that belongs with these, where it is not among them."""
    if got.shape != want.shape:
        return f"WRONG: {got.shape} for {want.shape}"
    largest = 0.0
    for part in range(0, max(1, got.size), 1 << 26):  # not all at once: there may be 2 GB of them
        a, b = (v.reshape(-1)[part:part + (1 << 26)] for v in (got, want))
        largest = max(largest, float(np.nanmax(np.abs(np.subtract(a, b, dtype="f8")), initial=0)))
    scale = max(float(np.nanmax(np.abs(want), initial=0)), scale, 1e-30)
    return "close" if largest <= of_largest * scale else f"WRONG by {largest / scale:.1e} of the largest"


def columns_of(table, here):
    """A column for each number; a list has a tuple of numbers for each row."""
    columns = {}
    for name, values in table.items():
        if isinstance(values, list):
            rows = np.array([[float(v) for v in row] for row in values])
            columns.update({f"{name}-{k}": rows[:, k] for k in range(rows.shape[1])})
        else:
            columns[name] = np.asarray(here(values))
    return columns


def compare_tables(case, got, names, want):
    rows, count = got.shape[1], len(want["label"])
    if rows != count:
        close = case in BLURRED_FIRST and abs(rows - count) <= 1e-4 * count
        return f"{rows - count:+d} of {count} rows" if close else f"WRONG: {rows} rows for {count}"
    known = [n for n in want if n in names and want[n].dtype.kind in "iuf"]
    scales = {}  # of a measure: some of its columns may be 0 but for rounding
    for n in known:
        stem = n.split("-")[0]
        scales[stem] = max(scales.get(stem, 0.0), float(np.nanmax(np.abs(want[n]), initial=0)))
    wrong = [n for n in known if compare_floats(got[names.index(n)], want[n].astype("f8"), 1e-3,
                                                scales[n.split("-")[0]]) != "close"]
    return f"WRONG: {', '.join(wrong)}" if wrong else f"{len(known)} columns close"


def compare(case, folder, results, here):
    """What there is to say of each result, once."""
    said = []
    for name, want in results.items():
        got = np.load(folder / f"{name}.npy", mmap_mode="r")
        if isinstance(want, dict):
            names = (folder / f"{name}.names").read_text().split()
            said.append(compare_tables(case, got[0, 0], names, columns_of(want, here)))
            continue
        want = np.asarray(here(want))
        got = got.reshape(want.shape)
        if name in ("labels", "parts", "mask") or want.dtype == bool:
            said.append(compare_labels(case, got, want))
        else:
            of_largest = 1e-4 if want.ndim else 1e-3
            step = 1.01 / 255 if name == "picture" or want.dtype == "u1" else of_largest
            said.append(compare_floats(got, want, step))
    return ", ".join(dict.fromkeys(said))


# ---- running ------------------------------------------------------------------------------------

class TooLong(Exception):
    pass


def give_up(*_):
    raise TooLong


def median_ms(m, work, runs, limit):
    """The median of as many runs as there is time for, and the last result."""
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(limit)
    try:
        begin = time.perf_counter()
        result = work()
        times = []
        while not times or (len(times) < runs and time.perf_counter() - begin < limit / 4):
            result = None
            ms, result = m.time_once(work)
            times.append(ms)
        return statistics.median(times), result
    finally:
        signal.alarm(0)


def peer_columns(m, case, folder, own_ms, options):
    """What is printed behind bench's row: the peer's time, how many times faster, the comparison."""
    work = PEERS.get(case)
    if work is None:
        return f"{'-':>10} {'-':>7}  no peer"
    try:
        plane = np.load(folder / "input.npy")[0, 0]
        there = m.there(plane, PLANES.get(case))
        ms, results = median_ms(m, lambda: work(m, there), options.runs, options.limit)
        return f"{ms:10.2f} {ms / own_ms:6.1f}x  {compare(case, folder, results, m.here)}"
    except TooLong:
        return f"{'-':>10} {'-':>7}  given up after {options.limit} s"
    except (ImportError, AttributeError, NotImplementedError) as error:
        return f"{'-':>10} {'-':>7}  the peer has no such operation ({str(error).splitlines()[0][:60]})"
    except Exception as error:  # whatever a library throws when memory is out or an image too large
        return f"{'-':>10} {'-':>7}  the peer fails: {type(error).__name__} {str(error).splitlines()[0][:60] if str(error) else ''}"
    finally:
        m.forget()


def has_gpu():
    try:
        import cucim.skimage  # noqa: F401
        import cupy
        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:  # no library, no device, no driver: all the same here
        return False


def start_bench(options, folder):
    command = [options.bench, "--hand", folder, "--runs", str(options.runs), "--divide", str(options.divide)]
    for name in ("device", "only"):
        command += [f"--{name}", getattr(options, name)] if getattr(options, name) else []
    return subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def side_by_side(m, options, folder, say):
    """Prints bench's lines, with the peer's columns behind each row; True when all is as it should be."""
    good, row = True, ""
    with start_bench(options, folder) as bench:
        for line in bench.stdout:
            line = line.rstrip("\n")
            if not line.startswith("ready"):
                if row:
                    say(row)
                row = line
                continue
            if line == "ready":
                say(row)
            else:
                case = re.match(r"\S+( \S+)*", row)[0]
                row = f"{row} {peer_columns(m, case, folder, float(line.split()[1]), options)}"
                good = good and "WRONG" not in row
                say(row)
            row = ""
            for file in folder.iterdir():
                file.unlink()
            bench.stdin.write("\n")
            bench.stdin.flush()
        if row:
            say(row)
    return good and bench.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", default=ROOT / "build" / "bench")
    parser.add_argument("--device")
    parser.add_argument("--only")
    parser.add_argument("--divide", type=int, default=1)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--cpu", action="store_true", help="scipy and scikit-image, even where there is CuPy")
    parser.add_argument("--keep", action="store_true", help="into bench/results, too")
    options = parser.parse_args()
    m = Peers(not options.cpu and has_gpu())
    lines = []

    def say(line):
        if line.startswith("case "):
            line += f" {'peer ms':>10} {'faster':>7}  results against the peer's"
        lines.append(line)
        print(line, flush=True)

    say(f"{datetime.date.today()}; peers: {m.versions()}; medians of {options.runs}")
    with tempfile.TemporaryDirectory(dir="/dev/shm" if shutil.os.path.isdir("/dev/shm") else None) as folder:
        good = side_by_side(m, options, pathlib.Path(folder), say)
    if options.keep:
        device = re.search(r"device ([^,]*)", "\n".join(lines))[1].split()[-1].lower()
        path = ROOT / "bench" / "results" / f"{datetime.date.today()}-{device}-peers.txt"
        path.write_text("\n".join(lines) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
