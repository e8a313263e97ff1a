#!/usr/bin/env python3
"""Writes interfaces.txt: what the rows of frontend/ops/interfaces.def that say SAME give in their own package.

Run it in this folder with scikit-image 0.26, scipy 1.17, photutils 3.0 and sep 1.4.  The call of a row is evaluated as it stands there,
where the names are those of its module and the images below.  With --missing it lists the public functions without a row instead.
tests/support/golden.h says what the file is like; tests/unit/test_interfaces.c has the pipelines.
"""
import importlib
import re
import sys
import warnings

import numpy as np

warnings.filterwarnings('ignore')
MODULES = {
    'scikit-image': ('skimage.', 'color exposure feature filters filters.rank graph measure metrics morphology registration '
                     'restoration segmentation transform util'),
    'scipy.ndimage': ('scipy.ndimage', ''),
    'photutils': ('photutils.', 'aperture background centroids detection morphology profiles psf_matching segmentation utils'),
    'sep': ('sep', ''),
}
TOLERANCE = 1e-4
ROW = re.compile(r'^(PACKAGE|MODULE|SAME|LIKE|NONE)\("((?:[^"\\]|\\.)*)"(?:, "((?:[^"\\]|\\.)*)")?', re.M)

rng = np.random.default_rng(5)
Y, X = np.indices((20, 24))
spots = sum(h * np.exp(-((Y - y) ** 2 + (X - x) ** 2) / (2 * s * s))
            for y, x, s, h in ((5, 6, 2, 180), (13, 16, 3, 150), (16, 4, 1.5, 200), (4, 19, 1, 160)))
bytes_ = np.clip(spots + rng.integers(0, 30, spots.shape) + X, 0, 255).round().astype(np.uint8)
other_bytes = np.clip(0.6 * bytes_[::-1] + rng.integers(0, 60, spots.shape), 1, 255).round().astype(np.uint8)
mask = np.asarray(bytes_ > 70)
labels = np.zeros((20, 24), np.uint32)
labels[2:9, 3:10], labels[10:17, 12:20], labels[3:6, 17:21] = 1, 2, 3
markers = np.zeros((20, 24), np.uint32)
markers[5, 6], markers[13, 16], markers[16, 4], markers[4, 19] = 1, 2, 3, 4
picture = rng.integers(0, 256, (12, 14, 3)).astype(np.uint8)
volume = rng.integers(0, 256, (5, 8, 9)).astype(np.uint8)
INPUTS = {'image': bytes_, 'other': other_bytes, 'mask': mask.astype(np.uint8), 'labels': labels, 'markers': markers, 'volume': volume,
          'picture': picture}


def names():
    """What the calls speak of."""
    from skimage import color, measure
    float_of = lambda v: v.astype(float)
    image = float_of(bytes_)
    rgb = picture / 255
    return {
        'np': np, 'image': image, 'other': float_of(other_bytes), 'bytes': bytes_, 'unit': image / 255, 'mask': mask,
        'labels': labels.astype(int), 'markers': markers.astype(int), 'markers16': markers.astype(np.int16), 'volume': float_of(volume),
        'picture': picture, 'rgb': rgb, 'lab1': color.rgb2lab(rgb), 'lab2': color.rgb2lab(rgb / 2), 'box3': np.ones((3, 3)),
        'lch': picture / [1, 1, 50], 'moved': np.roll(image, (2, 3), (0, 1)), 'yy': Y, 'xx': X, 'middle': measure.centroid(mask),
        'k3': np.array([[1, 2, 1], [2, 4, 2], [1, 2, 0]]), 'hit': np.array([[0, 1, 0], [1, 1, 1], [0, 0, 0]]),
        'prewitt_of': lambda v, axis, *rest: importlib.import_module('scipy.ndimage').prewitt(v, axis, *rest),
    }


def module_of(package, module):
    prefix, _ = MODULES[package]
    return importlib.import_module(prefix + module if prefix.endswith('.') else prefix)


def uses(text, name):
    return re.search(rf'(?<![A-Za-z0-9_]){name}(?![A-Za-z0-9_])', text)


def number(v):
    return f'{float(v):.9g}'


def rows():
    """Kind, package, module, call and what to write, of each row."""
    package = module = ''
    for kind, name, here in ROW.findall(open('../../frontend/ops/interfaces.def').read()):
        name, here = (s.replace('\\n', '\n').replace('\\"', '"') for s in (name, here))
        package, module = (name, module) if kind == 'PACKAGE' else (package, name) if kind == 'MODULE' else (package, module)
        if kind not in ('PACKAGE', 'MODULE'):
            yield kind, package, module, name, here


def by_outputs(result, here):
    """The arrays that the outputs of a row should have; a table has the labels in front, and columns one after the other."""
    if isinstance(result, dict):
        return [np.stack(list(result.values()))]
    if here.startswith('measure('):
        v = np.asarray(result, float)
        v = v.reshape(3 if uses(here, 'labels') else 1, -1)
        return [np.concatenate([np.arange(1, len(v) + 1)[:, None], v], axis=1).T]
    if here.count('output ') > 1:
        return [np.asarray(v, float) for v in result]
    v = np.asarray(result, float)
    return [np.moveaxis(v, -1, 0)[:, None] if v.ndim == 3 and v.shape[-1] == 3 else v]


def missing():
    for package, (_, modules) in MODULES.items():
        known = {(m, re.match(r'\w*', call)[0]) for _, p, m, call, _ in rows() if p == package}
        for module in modules.split() or ['']:
            m = module_of(package, module)
            public = getattr(m, '__all__', None) or [n for n in dir(m) if getattr(getattr(m, n), '__module__', '').startswith(package)]
            public = [n for n in public if callable(getattr(m, n, None)) and n[0] != '_']
            print(package, module, *sorted(n for n in public if not any(n == k and (module in ('', mm)) for mm, k in known)))


if sys.argv[1:] == ['--missing']:
    missing()
    sys.exit()
with open('interfaces.txt', 'w') as out:
    for name, v in INPUTS.items():
        v = np.moveaxis(v, -1, 0)[:, None] if name == 'picture' else v
        print('image', name, {'uint8': 'u8', 'uint32': 'u32'}[v.dtype.name], *v.shape, file=out)
        print(*v.ravel(), file=out)
    for kind, package, module, call, here in rows():
        if kind == 'SAME':
            m = module_of(package, module)
            space = {**{n: getattr(m, n) for n in dir(m) if n[0] != '_'}, **names()}
            try:
                got = by_outputs(eval(call, space), here)
            except Exception as e:
                print(package, module, call, repr(e), file=sys.stderr)
                continue
            inputs = [n for n in INPUTS if uses(here, n)]
            print('case', f'{package}/{module}/{call}'.replace(' ', '_'), TOLERANCE, *inputs, file=out)
            for v in got:
                print('=', *v.shape, file=out)
                print(*(number(p) for p in v.ravel()), file=out)
