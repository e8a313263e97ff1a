#!/usr/bin/env python3
"""What a second GPU of a host is worth: batches of many images, and one large image, with one GPU and with all.

    bench/two_gpus.py [--pipec build/pipec] [--images 1000] [--side 70000] [--folder /dev/shm/two] [--disk FOLDER]

Batches are those of batch.py: 1000 images of 2048 x 2048, and one image, whose time is the start of the process and of the driver. The
large image is u16 in one strip of a TIFF file, 3500 x 3500 pixels of blobs side by side, and the same as OME-Zarr that pipec has written.
Choices of devices come in turn, `--runs` times; medians are printed, of whole processes and without the start, and how many times as fast
all devices are as the first. All files that one choice writes are those of the others, or the script fails. `--folder` is a memory file
system if its numbers are to be those of GPUs and cores; `--disk` is another one, where batches are timed too. With --profile, one more
run of each choice, which is not timed, leaves what pipec says of it in FOLDER/profiles.
"""
import argparse
import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np

import batch

TILE = 3500

LARGE = {
    "labels": "labels = label(gaussian(image, 2) > {level})\noutput labels{form}\n",
    "blobs": "b = gaussian(image, 2)\nlabels = label(b > otsu(b), connectivity = 8)\noutput labels{form}\n"
             "output table = measure(labels, image, area, centroid, mean, max)\n",
    "smooth": "s = gaussian(median(image, disk(3)), 40)\noutput mask = image > s + 300{form}\n",
}


def digest(folder):
    """Of names and contents, without the journal, whose stamps are times."""
    total, size = hashlib.sha256(), 0
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if path != folder or not name.startswith("."))
        for name in sorted(names):
            if path != folder or not name.startswith("."):
                total.update(os.path.relpath(os.path.join(path, name), folder).encode() + b"\0")
                with open(os.path.join(path, name), "rb") as f:
                    for piece in iter(lambda: f.read(16 << 20), b""):
                        total.update(piece)
                        size += len(piece)
    return total.hexdigest()[:12], size


class Bench:
    def __init__(self, args):
        self.args = args
        self.differs = False

    def once(self, pipe, source, out, device, profile):
        shutil.rmtree(out, ignore_errors=True)
        command = [self.args.pipec, "run", pipe, source, "-o", out, "-q", "--device", device, *self.args.options]
        begin, used = time.monotonic(), os.times()
        said = subprocess.run(command + ["--profile"] * (profile is not None), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        seconds, after = time.monotonic() - begin, os.times()
        if said.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {said.returncode}\n{said.stdout[-2000:]}")
        if profile is not None:
            with open(profile, "w") as f:
                f.write(said.stdout)
        return seconds, after.children_user + after.children_system - used.children_user - used.children_system

    def medians(self, pipe, source, out, runs, name=None):
        """By choice of devices: median seconds, median seconds of the cores, the digest and the bytes of the files."""
        times = {device: [] for device in self.args.devices}
        files = {}
        for k in range(runs):
            for device in self.args.devices:
                times[device].append(self.once(pipe, source, out, device, None))
                if name is not None and k == 0:
                    files[device] = digest(out)
        for device in self.args.devices if name is not None and self.args.profile else []:
            profile = os.path.join(self.args.folder, "profiles", f"{name}-{device.replace('#', '')}.txt")
            self.once(pipe, source, out, device, profile)
        shutil.rmtree(out, ignore_errors=True)
        return {device: (statistics.median(t[0] for t in times[device]), statistics.median(t[1] for t in times[device]),
                         files.get(device)) for device in self.args.devices}

    def show(self, name, got, start):
        first, last = self.args.devices[0], self.args.devices[-1]
        for device in self.args.devices:
            seconds, cpu, (text, size) = got[device]
            print(f"{name:18}  {device:6}  {seconds:8.2f}  {seconds - start[device]:8.2f}  {cpu:8.1f}  {size / 1e6:8.1f}  {text}")
        whole = got[first][0] / got[last][0]
        net = (got[first][0] - start[first]) / max(1e-9, got[last][0] - start[last])
        same = len({got[device][2] for device in got}) == 1
        self.differs = self.differs or not same
        print(f"{name:18}  {last} is {whole:.2f} times as fast as {first}, {net:.2f} without the start; files are "
              f"{'the same' if same else 'NOT THE SAME'}", flush=True)

    def batches(self, folder, where):
        args = self.args
        for case in args.cases:
            source = os.path.join(folder, f"{case}-{args.images}")
            pipe = os.path.join(batch.ROOT, "samples", case + ".pipe")
            batch.make_images(source, case, args.images)
            out, one = os.path.join(folder, "out"), os.path.join(source, "i00000.tif")
            self.once(pipe, source, out, args.devices[-1], None)  # kernels are compiled, files are in memory
            start = {d: t[0] for d, t in self.medians(pipe, one, out, args.runs).items()}
            self.show(f"{case}{where}", self.medians(pipe, source, out, args.runs, f"{case}{where}"), start)
            shutil.rmtree(source)

    def large(self):
        args = self.args
        folder = args.folder
        tif, zarr = os.path.join(folder, "large.tif"), os.path.join(folder, "large.ome.zarr")
        make_large(tif, args.side)
        copy = os.path.join(folder, "copy.pipe")
        write(copy, "input image[y, x]\noutput large = image as zarr\n")
        if "zarr" in args.forms:
            self.once(copy, tif, os.path.join(folder, "copied"), args.devices[0], None)
            os.rename(os.path.join(folder, "copied", "large_large.ome.zarr"), zarr)
        for name in args.large:
            for form, source in (("tif", tif), ("zarr", zarr)):
                if form not in args.forms:
                    continue
                pipe, out = os.path.join(folder, f"{name}.pipe"), os.path.join(folder, "out")
                text = LARGE[name].format(form=" as zarr" if form == "zarr" else "", level=1500)
                write(pipe, "input image[y, x]\n" + text)
                small = os.path.join(folder, "small.tif")
                make_large(small, TILE)
                for device in args.devices:  # kernels are compiled, files are in memory
                    self.once(pipe, source, out, device, None)
                start = {d: t[0] for d, t in self.medians(pipe, small, out, args.runs).items()}
                self.show(f"{name}, {form}", self.medians(pipe, source, out, args.large_runs, f"{name}-{form}"), start)
        os.remove(tif)
        shutil.rmtree(zarr, ignore_errors=True)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def make_large(path, side):
    """BigTIFF, one strip."""
    size, batch.SIZE = batch.SIZE, TILE
    tile = batch.picture("blobs", 1)
    batch.SIZE = size
    tags = [(256, 4, side), (257, 4, side), (258, 3, 16), (259, 3, 1), (262, 3, 1), (273, 16, 16), (277, 3, 1),
            (278, 4, side), (279, 16, 2 * side * side)]
    with open(path, "wb") as f:
        f.write(b"II+\0\x08\0\0\0" + (16 + 2 * side * side).to_bytes(8, "little"))
        for y in range(0, side, TILE):
            np.tile(tile, (1, -(-side // TILE)))[:side - y, :side].tofile(f)
        f.write(len(tags).to_bytes(8, "little"))
        for tag, kind, value in tags:
            f.write(tag.to_bytes(2, "little") + kind.to_bytes(2, "little") + (1).to_bytes(8, "little") + value.to_bytes(8, "little"))
        f.write(bytes(8))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pipec", default=os.path.join(batch.ROOT, "build", "pipec"))
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--side", type=int, default=70000, help="of the large image; 0: none")
    parser.add_argument("--folder", default="/dev/shm/two")
    parser.add_argument("--disk", help="a folder on a disk")
    parser.add_argument("--devices", nargs="+", default=["#0", "#1", "all"])
    parser.add_argument("--cases", nargs="*", default=["blobs", "nuclei", "sources"])
    parser.add_argument("--large", nargs="*", default=list(LARGE), choices=list(LARGE))
    parser.add_argument("--forms", nargs="+", default=["tif", "zarr"], choices=["tif", "zarr"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--large-runs", type=int, default=1)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--options", nargs="*", default=[])
    args = parser.parse_args()
    os.makedirs(os.path.join(args.folder, "profiles"), exist_ok=True)
    bench = Bench(args)
    print(f"{'case':18}  {'device':6}  {'seconds':>8}  {'no start':>8}  {'CPU s':>8}  {'MB':>8}  files")
    bench.batches(args.folder, "")
    if args.disk:
        os.makedirs(args.disk, exist_ok=True)
        bench.batches(args.disk, ", disk")
    if args.side > 0:
        bench.large()
    sys.exit(bench.differs)


if __name__ == "__main__":
    main()
