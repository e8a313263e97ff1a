#!/usr/bin/env python3
"""How long pipec takes for long pipelines: python3 bench/compiling.py [PIPEC].

Each kind is checked and compiled to kernels at n and at 2 n: seconds, peak memory, and how many times as long 2 n take.
Time should grow with the pipeline: below 2.5 times."""
import os
import subprocess
import sys
import tempfile
import time

HEAD = "input image[y, x]\n"
KINDS = {
    "outputs of image * k": (1000, lambda n: HEAD + "param k = 2.0 in 0 .. 9\n"
                             + "".join(f"output o{i} = image * k + {i}\n" for i in range(n))),
    "gaussians in a chain": (1000, lambda n: HEAD + "g0 = gaussian(image, 1)\n"
                             + "".join(f"g{i} = gaussian(g{i - 1}, 1)\n" for i in range(1, n)) + f"output g{n - 1}\n"),
    "pointwise statements": (1000, lambda n: HEAD + "p0 = image * 2\n"
                             + "".join(f"p{i} = p{i - 1} * 1.5 + image\n" for i in range(1, n)) + f"output p{n - 1}\n"),
    "labels, each measured": (250, lambda n: HEAD + "".join(
        f"l{i} = label(image > {i})\noutput t{i} = measure(l{i}, image, area, mean)\n" for i in range(n))),
    "a trivial file": (1, lambda n: HEAD + "output a = image + 1\n"),
}


def measure(pipec, text):
    """Seconds (the least of three) and MiB."""
    with tempfile.NamedTemporaryFile("w", suffix=".pipe") as file:
        file.write(text)
        file.flush()
        seconds, mib = float("inf"), 0
        for _ in range(3):
            begin = time.perf_counter()
            child = subprocess.Popen([pipec, "check", file.name])
            _, status, used = os.wait4(child.pid, 0)
            if status != 0:
                sys.exit(f"{pipec} check failed")
            seconds = min(seconds, time.perf_counter() - begin)
            mib = used.ru_maxrss / 1024
    return seconds, mib


def main():
    pipec = sys.argv[1] if len(sys.argv) > 1 else "build/pipec"
    print(f"{'':26}{'n':>6}{'s':>9}{'MiB':>7}{'2 n, s':>10}{'MiB':>7}{'times':>7}")
    for name, (n, text) in KINDS.items():
        once, twice = measure(pipec, text(n)), measure(pipec, text(2 * n))
        print(f"{name:26}{n:6}{once[0]:9.3f}{once[1]:7.0f}{twice[0]:10.3f}{twice[1]:7.0f}{twice[0] / once[0]:7.2f}")


if __name__ == "__main__":
    main()
