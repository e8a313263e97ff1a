#!/usr/bin/env python3
"""Times batches of many images, as processes, from their start to their end.

    bench/batch.py [--pipec build/pipec] [--images 1000] [--folder /dev/shm/batch] [--devices '#0' all] [--cases blobs nuclei sources]

Images are 2048 x 2048: blobs, a sky for `sources`, RGB of 8 bits for `nuclei`.  A tenth of them is made, the others are
links to these.  For each case and choice of devices the whole process is timed, `--runs` times, and the digest of all
files that it writes is printed: it is the same for any number of devices.  `--options` are more options of `pipec run`.
Kernels are compiled by a run that is not timed.
"""
import argparse
import hashlib
import os
import shutil
import subprocess
import time
from multiprocessing import Pool

import numpy as np

SIZE = 2048
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def picture(kind, seed):
    """About 300 round objects on noise, as u16, or as the green of an RGB image."""
    rng = np.random.default_rng(seed)
    image = np.zeros((SIZE, SIZE), np.float32)
    for y, x, s in zip(rng.integers(0, SIZE, 300), rng.integers(0, SIZE, 300), rng.uniform(3, 10, 300)):
        s = s / 4 if kind == "sources" else s
        w = int(4 * s) + 1
        y0, y1, x0, x1 = max(0, y - w), min(SIZE, y + w), max(0, x - w), min(SIZE, x + w)
        yy, xx = np.ogrid[y0:y1, x0:x1]
        image[y0:y1, x0:x1] += 6000 * np.exp(-((yy - y) ** 2 + (xx - x) ** 2) / (2 * s * s))
    image += rng.normal(500, 60, image.shape).astype(np.float32)
    image = np.clip(image, 0, 65535).astype(np.uint16)
    if kind != "nuclei":
        return image
    green = np.minimum(image >> 5, 255)
    return np.stack([image >> 8, green, green // 2], -1).astype(np.uint8)


def write_tiff(path, image):
    """Baseline TIFF, one strip."""
    samples = 3 if image.ndim == 3 else 1
    bits = image.dtype.itemsize * 8
    tags = [(256, 4, SIZE), (257, 4, SIZE), (258, 3, bits), (259, 3, 1), (262, 3, 2 if samples == 3 else 1),
            (273, 4, 8), (277, 3, samples), (278, 4, SIZE), (279, 4, image.nbytes)]
    at = 8 + image.nbytes
    with open(path, "wb") as f:
        f.write(b"II*\0" + at.to_bytes(4, "little") + image.tobytes() + len(tags).to_bytes(2, "little"))
        for tag, kind, value in tags:
            count, after = 1, value
            if tag == 258 and samples == 3:
                count, after = 3, at + 2 + 12 * len(tags) + 4
            f.write(tag.to_bytes(2, "little") + kind.to_bytes(2, "little") + count.to_bytes(4, "little") +
                    after.to_bytes(4, "little"))
        f.write(bytes(4) + (bits.to_bytes(2, "little") * 3 if samples == 3 else b""))


def make_one(job):
    path, kind, seed = job
    write_tiff(path, picture(kind, seed))


def make_images(folder, kind, images):
    os.makedirs(folder, exist_ok=True)
    made = max(1, images // 10)
    paths = [os.path.join(folder, f"i{i:05d}.tif") for i in range(images)]
    with Pool() as pool:
        pool.map(make_one, [(path, kind, i) for i, path in enumerate(paths[:made]) if not os.path.exists(path)])
    for i, path in enumerate(paths):
        if not os.path.exists(path):
            os.link(paths[i % made], path)


def digest(folder):
    """Of names and contents, without the journal, whose stamps are times."""
    total, size = hashlib.sha256(), 0
    for name in sorted(os.listdir(folder)):
        if not name.startswith("."):
            data = open(os.path.join(folder, name), "rb").read()
            total.update(name.encode() + b"\0" + data)
            size += len(data)
    return total.hexdigest()[:12], size


def run(pipec, pipe, source, out, device, options):
    shutil.rmtree(out, ignore_errors=True)
    command = [pipec, "run", pipe, source, "-o", out, "-q", "--device", device, *options]
    begin, used = time.monotonic(), os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.monotonic() - begin, os.times()
    return seconds, after.children_user + after.children_system - used.children_user - used.children_system


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pipec", default=os.path.join(ROOT, "build", "pipec"))
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--folder", default="/dev/shm/batch")
    parser.add_argument("--out", help="where outputs go; FOLDER/out if it is not given")
    parser.add_argument("--devices", nargs="+", default=["#0", "all"])
    parser.add_argument("--cases", nargs="+", default=["blobs", "nuclei", "sources"])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--options", nargs="*", default=[])
    args = parser.parse_args()
    out = args.out or os.path.join(args.folder, "out")
    print(f"{'case':10}  {'device':10}  {'seconds':>8}  {'a second':>8}  {'CPU ms':>8}  {'MB':>8}  files")
    for case in args.cases:
        source = os.path.join(args.folder, f"{case}-{args.images}")
        pipe = os.path.join(ROOT, "samples", case + ".pipe")
        make_images(source, case, args.images)
        run(args.pipec, pipe, os.path.join(source, "i00000.tif"), out, args.devices[-1], args.options)
        for device in args.devices:
            for _ in range(args.runs):
                seconds, cpu = run(args.pipec, pipe, source, out, device, args.options)
                name, size = digest(out)
                print(f"{case:10}  {device:10}  {seconds:8.2f}  {args.images / seconds:8.0f}  "
                      f"{1e3 * cpu / args.images:8.1f}  {size / 1e6:8.1f}  {name}", flush=True)
    shutil.rmtree(out, ignore_errors=True)


if __name__ == "__main__":
    main()
