#!/usr/bin/env python3
"""devices.py: every pipeline of the project on every OpenCL device, in every way to run it, and the same bytes from all.

usage: tests/devices.py make FOLDER [--pipec build/pipec]
       tests/devices.py run FOLDER [--pipec build/pipec] [--devices A,B] [--ways a,b] [--only REGEX] [--once]
                            [--threads N]

make: FOLDER gets the samples, the benchmark's cases, what random pipelines once found, the example of each operator, and
      images for them (needs numpy, scipy and tifffile).  It may then go to another machine.
run:  prints a line for each pipeline and way that gives other files than the first device gives in the plain way, and for
      each that fails.  The exit code is 1 where there is one, and 2 where it was ended (SIGTERM), when it says how far it
      came.  Needs nothing but Python.  --once: the first device, if it is not the only one, runs in the plain way only.

Devices are names or parts of names, as `pipec run --device` takes them; all that are installed, if not said.  "NAME/single" hides
rusticl's double precision; "NAME/small" has small images, as has "oclgrind", which checks each access of memory and takes a
thousand times as long.
Ways: plain; unfused; parts (700 KiB of device memory, or the least that will do); soft (double precision in integer arithmetic)."""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WAYS = {
    "plain": ([], {}),
    "unfused": (["--fuse=none"], {}),
    "parts": (["--memory", "700KiB"], {}),
    "soft": ([], {"PIPEC_SOFT_DOUBLE": "1"}),
}
SIZES = {False: {"x": 301, "y": 203, "z": 11, "c": 3, "t": 5}, True: {"x": 31, "y": 23, "z": 5, "c": 3, "t": 3}}


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def examples(pipec):
    """The text of each operator's example, as `pipec ops NAME` shows it."""
    for name in re.findall(r"^  (\w+)  ", said(pipec, "ops"), re.M):
        page = said(pipec, "ops", name)
        lines = re.search(r"^example:\n((?:  .*\n)+)", page, re.M)
        if lines:
            yield name, re.sub("^  ", "", lines[1], flags=re.M)


def pixels(kind, shape):
    """Smooth bright and dark areas with some noise, as pixels of a kind."""
    import numpy as np
    from scipy import ndimage

    random = np.random.default_rng(5)
    area = ndimage.gaussian_filter(random.random(shape), 3)
    area = (area - area.min()) / (np.ptp(area) or 1)
    area = np.clip(area * 230 + random.integers(0, 25, shape), 0, 255)
    if kind in ("labels", "u32"):
        return ndimage.label(area > 140, structure=np.ones((3,) * len(shape)))[0].astype("u4")
    made = {"mask": (area > 130).astype("u1"), "u16": (area * 211).astype("u2"), "i16": (area * 3 - 300).astype("i2"),
            "i32": (area * 3 - 300).astype("i4"), "i8": (area - 128).astype("i1"),
            "f32": (area * 3.7 - 99).astype("f4"), "f64": (area * 3.7 - 99).astype("f4")}
    return made.get(kind, area.astype("u1"))


def write_image(path, axes, kind, small):
    """A TIFF file that has the axes, as ImageJ or OME name them."""
    import tifffile

    size = dict(SIZES[small])
    if len(axes) - (axes[-1] == "c") > 2 and not small:
        size.update(x=67, y=59, z=13)
    data = pixels(kind, [size.get(axis, 7) for axis in axes])
    if axes[-1] == "c":
        tifffile.imwrite(path, data, photometric="rgb", metadata={"axes": "".join(axes).upper().replace("C", "S")})
    elif len(axes) < 2:
        tifffile.imwrite(path, data.reshape(1, -1))
    elif len(axes) > 2 and set(axes) <= set("xyzct"):
        tifffile.imwrite(path, data, metadata={"axes": "".join(axes).upper()}, ome=True)
    else:
        tifffile.imwrite(path, data)


def make(folder, pipec):
    """FOLDER/pipelines, FOLDER/images and FOLDER/images/small, and plan.json: the images of each pipeline's inputs."""
    pipelines, images = folder / "pipelines", folder / "images"
    shutil.rmtree(pipelines, ignore_errors=True)
    for new in (pipelines, images / "small"):
        new.mkdir(parents=True, exist_ok=True)
    for where in ("samples", "bench/cases", "tests/random/found"):
        for file in sorted((ROOT / where).glob("*.pipe")):
            shutil.copy(file, pipelines / f"{where.split('/')[0]}-{file.name}")
    for name, text in examples(pipec):
        (pipelines / f"operator-{name}.pipe").write_text(text)
    plan = {}
    for file in sorted(pipelines.glob("*.pipe")):
        inputs = json.loads(said(pipec, "run", file, "--describe=json"))["inputs"]
        plan[file.name] = []
        for wanted in inputs:
            image = f"{'_'.join(wanted['axes'])}-{wanted.get('pixels', 'file')}.tif"
            for small in (False, True):
                path = images / ("small" if small else "") / image
                if not path.exists():
                    write_image(path, wanted["axes"], wanted.get("pixels", "file"), small)
            plan[file.name].append([wanted["name"], image])
    (folder / "plan.json").write_text(json.dumps(plan, indent=0))


def command(arguments, folder, pipeline, files, device, way, out):
    """What runs a pipeline on a device, and its environment."""
    options, environment = WAYS[way]
    environment = {**os.environ, "RUSTICL_ENABLE": "llvmpipe", **environment}
    device, _, part = device.partition("/")
    images, start = folder / "images" / ("small" if part == "small" else ""), []
    if device == "oclgrind":
        start = ["oclgrind", "--local-mem-size", "65536", "--build-options", "-Drestrict="]  # it does not know that word
    if part != "single":
        environment["RUSTICL_FEATURES"] = "fp64"
    given = [images / files[0][1]] if files else []
    for name, image in files[1:]:
        given += ["--" + name.replace("_", "-"), images / image]
    if files:
        given += ["--pixel-size", "0.5um"]
    return [*start, arguments.pipec, "run", folder / "pipelines" / pipeline, *given, "-q", "-o", f"{out}/",
            "--device", device, *options], environment


def digests(arguments, folder, pipeline, files, device, way):
    """The digest of each file that a run leaves; where it fails, what it says under the name "failed"; None where pipec refuses
    the device, since it does not compute as IEEE 754 says."""
    with tempfile.TemporaryDirectory() as out:
        words, environment = command(arguments, folder, pipeline, files, device, way, out)
        try:
            run = subprocess.run(words, capture_output=True, text=True, timeout=900, env=environment)
            least = re.search(r"the least that will do is --memory (\d+)", run.stderr)
            if least:
                words = [least[1] if word == "700KiB" else word for word in words]
                run = subprocess.run(words, capture_output=True, text=True, timeout=900, env=environment)
        except subprocess.TimeoutExpired:
            return {"failed": "after 900 seconds"}
        if run.returncode and "PIPEC_ANY_DEVICE" in run.stderr:
            return None
        if run.returncode:
            return {"failed": f"{run.returncode} {run.stderr.strip()[-300:]}"}
        kept = [path for path in sorted(pathlib.Path(out).rglob("*")) if path.is_file()]
        return {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in kept
                if not path.name.startswith(".")}


def all_devices(pipec):
    """The names of what is installed, rusticl's twice."""
    os.environ["RUSTICL_ENABLE"] = "llvmpipe"
    names = re.findall(r"^(#\d+) +(.*)", said(pipec, "devices"), re.M)
    found = [number for number, _ in names] + [f"{number}/single" for number, name in names if "llvmpipe" in name]
    return found + (["oclgrind/small"] if shutil.which("oclgrind") else [])


def run(arguments, folder):
    plan = json.loads((folder / "plan.json").read_text())
    plan = {name: files for name, files in plan.items() if re.search(arguments.only, name)}
    devices = arguments.devices.split(",") if arguments.devices else all_devices(arguments.pipec)
    ways = arguments.ways.split(",")
    jobs = [(name, device, way) for name in plan for device in devices for way in ways
            if not (arguments.once and len(devices) > 1 and device == devices[0] and way != ways[0])]
    # Of small images, each sample once; what to compare with comes first.
    small = [job for job in jobs if job[1].endswith("/small")]
    once = [job for job in small if job[2] == ways[0] and job[0].startswith("samples-")]
    jobs = [job for job in jobs if job not in small] + [(name, f"{devices[0]}/small", ways[0]) for name, *_ in once] + once
    found, files, wrong = {}, 0, 0

    def ended(*_):
        print(f"ended after {len(found)} of {len(jobs)} runs, {files} files: {wrong} runs are wrong", flush=True)
        os._exit(2)

    signal.signal(signal.SIGTERM, ended)
    with concurrent.futures.ThreadPoolExecutor(arguments.threads) as pool:
        for job, got in zip(jobs, pool.map(lambda job: digests(arguments, folder, job[0], plan[job[0]], *job[1:]), jobs)):
            name, device, way = job
            found[job] = got
            expected = found[name, devices[0] + ("/small" if device.endswith("/small") else ""), ways[0]]
            if got is None or expected is None:
                print(f"refused: {name}, {device}, {way}", flush=True)
                continue
            failed = got.get("failed") or expected.get("failed")
            other = [file for file in sorted(got.keys() | expected.keys()) if got.get(file) != expected.get(file)]
            files += len(got)
            wrong += bool(failed or other)
            if failed:
                print(f"fails: {name}, {device}, {way}: {failed}", flush=True)
            elif other:
                print(f"differs: {name}, {device}, {way}: {', '.join(other)}", flush=True)
    print(f"{len(found)} runs of {len(plan)} pipelines on {len(devices)} devices, {files} files: {wrong} runs are wrong")
    return wrong > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "run"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pipec", default=str(ROOT / "build" / "pipec"))
    parser.add_argument("--devices", default="")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--only", default="")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    if arguments.what == "make":
        make(folder, arguments.pipec)
        return 0
    return run(arguments, folder)


if __name__ == "__main__":
    sys.exit(main())
