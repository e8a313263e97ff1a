"""The command `pipec`, which comes with the package: batches, explanations, and the console script."""

import os
import shutil
import subprocess
import sys
import tempfile

from ._errors import ArgumentError, failure_of_command


def path():
    """The command: beside this file in a wheel, where PIPEC_COMMAND says, or on the PATH."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "pipec")
    found = os.environ.get("PIPEC_COMMAND") or (own if os.access(own, os.X_OK) else shutil.which("pipec"))
    if found is None or os.path.abspath(found) == os.path.abspath(sys.argv[0]):
        raise FileNotFoundError("the command pipec is not installed; set PIPEC_COMMAND to its path")
    return found


def main():
    """The console script: the command takes the place of this process."""
    if sys.argv[1:2] == ["import"]:
        from .importer import main as import_script

        return import_script(sys.argv[2:])
    command = path()
    os.execve(command, [command, *sys.argv[1:]], _environment())


def _environment():
    """Images that the command has read by Python are read by this one."""
    return {"PIPEC_PYTHON": sys.executable, **os.environ}


class _File:
    """The pipeline's text in a file of its own name, while the command runs."""

    def __init__(self, pipeline):
        self.folder = tempfile.TemporaryDirectory(prefix="pipec-")
        self.path = os.path.join(self.folder.name, pipeline.name + ".pipe")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(pipeline.source)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        self.folder.cleanup()


def explain(pipeline):
    """What `pipec explain` says."""
    with _File(pipeline) as file:
        return subprocess.run([path(), "explain", file], capture_output=True, text=True, check=True).stdout


def _option(name, value):
    name = "--" + name.replace("_", "-")
    if value is True:
        return [name]
    return [] if value is None or value is False else [f"{name}={value}"]


def batch(pipeline, images, out, check=True, **options):
    """Runs a pipeline on files and folders, as `pipec run` does: tables for all images, one that fails stops no other.

    `images`: a path or several.  `out`: the folder for results.  Params and options of the command by name, with _ for -:
    `blobs.batch("plate", "results", sigma=3, resume=True, memory="4GiB")`.  Progress goes to stderr.

    Returns the folder.  A failure raises the exception of the command's exit code; with check=False nothing is raised, and
    the exit code is returned.
    """
    images = [images] if isinstance(images, (str, os.PathLike)) else list(images)
    if not images and pipeline.inputs:
        raise ArgumentError("a batch needs images: files or folders")
    with _File(pipeline) as file:
        line = [path(), "run", file, *map(os.fspath, images), "-o", os.fspath(out)]
        for name, value in options.items():
            line += _option(name, value)
        code = subprocess.run(line, env=_environment()).returncode
    if not check:
        return code
    if code != 0:
        raise failure_of_command(code, out)
    return out
