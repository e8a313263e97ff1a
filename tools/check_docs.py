#!/usr/bin/env python3
"""Checks that every pipeline in the documentation compiles.

    tools/check_docs.py build/pipec docs/language.md README.md ...

Takes the blocks that begin with ```pipe and runs `pipec check` on each; a block with an error, or
with any warning, is printed with its line and ends the run with 1.
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def blocks(path):
    text = path.read_text(encoding="utf-8")
    for match in re.finditer(r"^```pipe\n(.*?)^```$", text, re.M | re.S):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tried = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "example.pipe"
        for name in sys.argv[2:]:
            for line, text in blocks(pathlib.Path(name)):
                file.write_text(text, encoding="utf-8")
                run = subprocess.run([sys.argv[1], "check", file], capture_output=True, text=True)
                tried += 1
                if run.returncode != 0 or run.stdout or run.stderr:
                    failed += 1
                    print(f"{name}:{line}:\n{run.stdout}{run.stderr}")
    print(f"{tried} examples, {failed} failed")
    sys.exit(1 if failed or not tried else 0)


if __name__ == "__main__":
    main()
