"""What make_operators.py, make_sweeps.py and make_measures.py share: images, and the file of cases.

A case is

    case NAME TOLERANCE PATTERN TYPE PIXELS...   the extents of the input: z y x, or y x
    | a line of the pipeline                     it has one input, `image`, and one output, `a`
    = extents of the result
    values...

Pixels are 0.5 micrometres wide and high and 1.25 deep.

PATTERN and TYPE give the input's pixels by formulas that test_operators.c repeats.
"""
import numpy as np
from scipy import ndimage

TYPES = {'u8': np.uint8, 'u16': np.uint16, 'f32': np.float32}


def pixels(*shape):
    """Whole numbers 0 .. 255 with some structure: steps and noise, all from integers."""
    n = int(np.prod(shape))
    state, out = 12345, np.empty(n)
    for i in range(n):
        state = (state * 1103515245 + 12345) % 2**31
        out[i] = state // 65536 % 64
    out = out.reshape(shape)
    for axis, index in enumerate(np.indices(shape)):
        out += (index * (axis + 3) // 4 % 5) * 16
    return out.astype(np.float32)


def level(p, kind):
    """The pixel of a type that stands for p of u8."""
    return p if kind == 'u8' else p * 200 + 7 if kind == 'u16' else p / 8 - 5


def high(p, kind):
    """A small deviation from a large mean, in the digits that the type has."""
    return p % 4 + (250 if kind == 'u8' else 60000) if kind != 'f32' else p / 16 + 10000


class Image:
    """An input: its pattern (plain, even, special, high), type and pixels."""

    def __init__(self, pattern, kind, *shape):
        self.pattern, self.kind, self.shape, self.ndim = pattern, kind, shape, len(shape)
        p = np.full(shape, 42.0) if pattern == 'even' else pixels(*shape).astype(float)
        v = (high(p, kind) if pattern == 'high' else level(p, kind)).ravel()
        if pattern == 'special':
            at = np.arange(v.size)
            v[at % 11 == 3], v[at % 13 == 5], v[at % 17 == 7] = np.nan, np.inf, -np.inf
        self.array = v.reshape(shape).astype(TYPES[kind])
        self.float = self.array.astype(float)


def ranks(nan_is, *images):
    """Whole numbers in the order of the images' values, NaN 'lowest' or 'highest', and what they stand for."""
    values, at = np.unique(np.concatenate([v.ravel() for v in images]), return_inverse=True)  # NaN is last
    if nan_is == 'lowest' and np.isnan(values[-1]):
        values, at = np.roll(values, 1), (at + 1) % len(values)
    return [*at.reshape(len(images), *images[0].shape), values]


class Queue:
    """scikit-image's binary heap of (level, age, ...), whose order of equal items must be kept."""

    def __init__(self):
        self.items = []

    def push(self, item):
        items, at = self.items, len(self.items)
        items.append(item)
        while at > 0 and item[:2] < items[(at - 1) // 2][:2]:
            items[at] = items[(at - 1) // 2]
            at = (at - 1) // 2
        items[at] = item

    def pop(self):
        items, at = self.items, 0
        first, last = items[0], items.pop()
        while items:
            child = 2 * at + 1
            if child + 1 < len(items) and items[child + 1][:2] < items[child][:2]:
                child += 1
            if child >= len(items) or items[child][:2] >= last[:2]:
                items[at] = last
                break
            items[at], at = items[child], child
        return first


def watershed(image, markers, connectivity=1, mask=None, watershed_line=False):
    """skimage.segmentation.watershed as it is since 0.25: the level of the flood never falls, and all neighbours
    spread around a line.  make_shapes.py has what 0.26 itself gives."""
    inside = np.pad(np.ones(image.shape, bool) if mask is None else mask, 1).ravel()
    shape = [n + 2 for n in image.shape]
    value, out = np.pad(image.astype(float), 1).ravel(), np.pad(markers, 1).ravel() * inside
    around = np.argwhere(ndimage.generate_binary_structure(image.ndim, connectivity)) - 1
    around = around[np.argsort((around ** 2).sum(axis=1), kind='stable')][1:]
    steps = [int(np.dot(a, [np.prod(shape[k + 1:], dtype=int) for k in range(len(shape))])) for a in around]
    queue, age = Queue(), 1
    for at in np.flatnonzero(out):
        queue.push((value[at], 0, at, at))
    while queue.items:
        level, _, at, source = queue.pop()
        if watershed_line:
            if out[at] and at != source:
                continue
            beside = {out[at + s] for s in steps if inside[at + s]} - {0, out[source]}
            inside[at] &= not beside
            if inside[at]:
                out[at] = out[source]
        for to in (at + s for s in steps):
            if inside[to] and not out[to]:
                age += 1
                out[to] = 0 if watershed_line else out[at]
                queue.push((max(value[to], level), age, to, source))
    return out.reshape(shape)[(slice(1, -1),) * image.ndim]


def number(v):
    return 'nan' if np.isnan(v) else str(v) if np.isinf(v) else np.format_float_positional(np.float32(v), trim='-')


def write(path, cases):
    """cases: name, image, pipeline, wanted pixels, tolerance."""
    with open(path, 'w') as out:
        for name, image, pipe, want, tolerance in cases:
            want = np.asarray(want)
            print('case', name, tolerance, image.pattern, image.kind, *image.shape, file=out)
            for line in pipe.split('\n'):
                print('|', line, file=out)
            print('=', *want.shape, file=out)
            print(*(number(v) for v in want.ravel()), file=out)
