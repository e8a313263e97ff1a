#!/usr/bin/env python3
"""Writes thresholds.h: what scikit-image 0.19 gives on six small images, as integers and as floats.

The images come from a linear congruential generator that tests/unit/test_threshold.c repeats in C.
nan stands for "scikit-image raises an error" (minimum finds no two maxima).

    python3 tests/golden/make_thresholds.py > tests/golden/thresholds.h
"""
import numpy as np
from skimage import filters

SIZE = 64
METHODS = ["otsu", "yen", "triangle", "isodata", "minimum", "li"]
IMAGES = 6


class Random:
    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return (self.state >> 16) % n


def pixel(image, random, x, y):
    inside = (x - 30) ** 2 + (y - 34) ** 2 < 400
    if image == 0:  # noise
        return random.below(256)
    if image == 1:  # a bright disk
        low, high = random.below(32) + random.below(32), random.below(48) + random.below(48)
        return 150 + high if inside else 40 + low
    if image == 2:  # a long tail
        a, b = random.below(16), random.below(16)
        return a * b
    if image == 3:  # three grey levels
        return [10, 11, 200][random.below(3)]
    if image == 4:  # 12 bits; strays, since in an empty valley minimum goes by rounding errors
        a, b, c = random.below(700) + random.below(700), random.below(300), random.below(3900)
        if random.below(8) == 0:
            return c
        return 2500 + a if inside else 300 + b
    a = random.below(100) + random.below(100)  # around zero, the longer tail below
    return -400 + 3 * a if inside else a - 60


def make(image):
    random = Random(1000 + image)
    pixels = [[pixel(image, random, x, y) for x in range(SIZE)] for y in range(SIZE)]
    return np.array(pixels, np.int16)


def threshold(method, pixels):
    try:
        return float(getattr(filters, "threshold_" + method)(pixels))
    except RuntimeError:
        return float("nan")


def row(image, integer, pixels):
    methods = METHODS if integer else METHODS[:-1]
    values = [threshold(m, pixels.copy()) for m in methods]
    texts = ["NAN" if np.isnan(v) else v.hex() for v in values + [np.nan] * (6 - len(values))]
    shown = ", ".join(f"{m} {v:.9g}" for m, v in zip(methods, values))
    return f"    /* {shown} */\n    {{{image}, {integer}, {{{', '.join(texts)}}}}},"


print("/* Made by make_thresholds.py: scikit-image's thresholds; the methods as in base/nodes.def. */")
print("#include <math.h>\n")
print("static const struct {\n    int image, integer;\n    double value[6];\n} GOLDEN_THRESHOLDS[] = {")
for number in range(IMAGES):
    integers = make(number)
    floats = integers.astype(np.float32) / np.float32(7)
    print(row(number, 1, integers))
    print(row(number, 0, floats))
print("};")
