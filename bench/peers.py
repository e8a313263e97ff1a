#!/usr/bin/env python3
"""Times the samples against what users would write in Python, on one machine in one run.

    bench/peers.py [--size 2048] [--device cpu] [--runs 5] [--pipec build/pipec]

Peers that can be imported take part: scikit-image and scipy, and CuPy with cuCIM where there are.  The
image is made here; both sides have it in memory (pipec: "compute" of its --profile, kernels compiled
before).  Objects must be as many, floats within tolerance, or the row says so; a few pixels whose blurred
value is next to the threshold may fall on either side, as the peers blur with other roundings.  Figures
are medians.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import tifffile
from scipy import ndimage
from skimage import color, filters, measure, morphology

ROOT = pathlib.Path(__file__).resolve().parent.parent


def scene(size):
    """Round bright objects in noise, u8."""
    rng = np.random.default_rng(1)
    field = ndimage.gaussian_filter(rng.normal(size=(size, size)), 4)
    return np.clip(field / field.std() * 40 + 100, 0, 255).astype(np.uint8)


def blobs(image):
    blurred = filters.gaussian(image.astype(np.float32), 2, preserve_range=True, mode="nearest")
    labels = measure.label(blurred > filters.threshold_otsu(blurred), connectivity=2)
    measure.regionprops_table(
        labels, image, properties=("label", "area", "centroid", "mean_intensity", "max_intensity"))
    return {"labels": labels}


def nuclei(image):
    green = image[..., 1].astype(np.float32)
    blurred = filters.gaussian(green, 5, preserve_range=True, mode="nearest")
    mask = morphology.binary_erosion(blurred > filters.threshold_otsu(blurred), morphology.disk(2))
    labels = measure.label(mask)
    color.label2rgb(labels)
    measure.regionprops_table(
        labels, green, properties=("label", "mean_intensity", "area", "solidity"))
    return {"labels": labels}


def harris(image):
    image = image.astype(np.float32)
    gx = ndimage.correlate1d(image, [-1, 0, 1], axis=1, mode="nearest")
    gy = ndimage.correlate1d(image, [-1, 0, 1], axis=0, mode="nearest")
    box = lambda v: ndimage.uniform_filter(v, 3, mode="nearest")
    xx, yy, xy = box(gx * gx), box(gy * gy), box(gx * gy)
    return {"corners": xx * yy - xy * xy - 0.04 * (xx + yy) ** 2}


def cupy_blobs(image):
    import cupy
    from cucim.skimage import filters as cf, measure as cm
    blurred = cf.gaussian(image.astype(cupy.float32), 2, preserve_range=True, mode="nearest")
    labels = cm.label(blurred > cf.threshold_otsu(blurred), connectivity=2)
    cupy.cuda.Device().synchronize()
    return {"labels": labels.get()}


CASES = {"blobs": (blobs, cupy_blobs), "nuclei": (nuclei, None), "harris": (harris, None)}


def median_ms(work, runs):
    """The median time, and what the last run gave; the first run is not counted."""
    result = work()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        result = work()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times), result


def pipec_ms(options, name, path, out):
    """The median of what --profile calls compute."""
    command = [options.pipec, "run", ROOT / "samples" / f"{name}.pipe", path, "-o", out, "--profile"]
    command += ["--device", options.device] if options.device else []
    times = []
    for run in range(options.runs + 1):
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        lines = (said.stdout + said.stderr).splitlines()
        times += [float(s.split()[2]) for s in lines if s.startswith("compute ")] if run else []
    return statistics.median(times)


def compare(out, path, results):
    """What differs between pipec's files and a peer's arrays."""
    for name, want in results.items():
        got = tifffile.imread(out / f"{path.stem}_{name}.tif")
        if name == "labels":
            pixels = int(np.count_nonzero((got > 0) != (want > 0)))
            same = got.max() == want.max() and pixels <= 1e-5 * got.size
            return f"{want.max()} objects, {pixels} pixels differ" if same else "WRONG labels"
        if not np.allclose(got, want, rtol=1e-4, atol=1e-4 * np.abs(want).max()):
            return f"WRONG {name}"
    return "same"


def has_cucim():
    try:
        import cucim.skimage  # noqa: F401
        import cupy
        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:  # no library, no device, no driver: all the same here
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--device")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pipec", default=ROOT / "build" / "pipec")
    options = parser.parse_args()
    image = scene(options.size)
    print(f"{options.size} x {options.size}, medians of {options.runs}, ms")
    print(f"{'sample':8} {'pipec':>10} {'skimage':>10} {'times':>7} {'cucim':>10} {'times':>7}  results")
    wrong = False
    for name, (work, gpu_work) in CASES.items():
        given = np.stack([image, image[::-1], image[:, ::-1]], -1) if name == "nuclei" else image
        with tempfile.TemporaryDirectory() as folder:
            path, out = pathlib.Path(folder) / "image.tif", pathlib.Path(folder) / "out"
            tifffile.imwrite(path, given, photometric="rgb" if given.ndim == 3 else "minisblack")
            own = pipec_ms(options, name, path, out)
            peer, results = median_ms(lambda: work(given), options.runs)
            verdict = compare(out, path, results)
            row = f"{name:8} {own:10.1f} {peer:10.1f} {peer / own:6.1f}x"
            if gpu_work and has_cucim():
                import cupy
                there = cupy.asarray(given)
                gpu, results = median_ms(lambda: gpu_work(there), options.runs)
                verdict += ", " + compare(out, path, results)
                row += f" {gpu:10.1f} {gpu / own:6.1f}x"
            else:
                row += f" {'-':>10} {'-':>7}"
            print(f"{row}  {verdict}")
            wrong = wrong or "WRONG" in verdict
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
