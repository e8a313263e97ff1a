#!/usr/bin/env python3
"""Writes measures.txt: trained forests, and what scikit-learn and APOC themselves make of them.

Run it in this folder with scikit-learn 1.4 or newer, apoc 0.12 and an OpenCL device for pyclesperanto_prototype.
"""
import os
import sys
import tempfile

import apoc
import numpy as np
import pyclesperanto_prototype as cle
from scipy import ndimage as ndi
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import cases as files

sys.path.insert(0, os.path.join('..', '..', 'python', 'pipec'))
from _forest import forest_text

cases = []


def case(name, image, pipe, want, tolerance=0):
    cases.append((name, image, pipe, want, tolerance))


def inline(text):
    return text.replace('\n', '\\n')


def trained(image, forest, features, classes):
    """The forest, as text, and its classes and shares of all pixels."""
    x = np.stack([f.ravel() for f in features], 1)
    v = image.float.ravel()
    noisy = v + np.random.default_rng(1).normal(0, v.std() / 3, v.size)
    y = np.asarray(classes)[np.digitize(noisy, np.quantile(v, [0.3, 0.7]))]
    forest.fit(x, y)
    return (' '.join(forest_text(forest).split()), forest.predict(x).reshape(image.shape),
            forest.predict_proba(x)[:, 1].reshape(image.shape))


def learned(name, image, forest, classes):
    """Of the pixel, the largest one around it and the one to the left."""
    v = image.array.astype(np.float32)
    largest = ndi.maximum_filter(v, 3, mode='nearest')
    beside = np.concatenate([v[..., :1], v[..., :-1]], -1)
    text, want, share = trained(image, forest, [v, largest, beside], classes)
    call = 'output a = classify(image, max_filter(image, 1), image[dx = -1], forest = "%s"%s)'
    case(name, image, call % (text, ''), want)
    case(name + '_share', image, call % (text, ', share_of = %d' % classes[1]), share, 1e-6)


plain, solid = files.Image('plain', 'u8', 13, 17), files.Image('plain', 'u8', 4, 7, 9)
learned('forest_deep', plain, RandomForestClassifier(6, random_state=0), [0, 1, 2])
learned('forest_shallow', plain, RandomForestClassifier(7, max_depth=3, random_state=0), [2, 5, 9])
learned('forest_trees_at_random', plain, ExtraTreesClassifier(5, max_depth=4, random_state=0), [1, 2, 3])
learned('forest_3d', solid, RandomForestClassifier(4, max_depth=4, random_state=0), [1, 2, 3])
learned('forest_u16', files.Image('plain', 'u16', 9, 11), RandomForestClassifier(4, max_depth=4, random_state=0), [1, 2, 3])
learned('forest_f32', files.Image('plain', 'f32', 9, 11), RandomForestClassifier(4, random_state=0), [1, 2, 3])

# NaN goes where the forest has learned that it goes.
holes = plain.float.copy()
holes[plain.array > 90] = np.nan
text, want, _ = trained(plain, RandomForestClassifier(5, max_depth=4, random_state=0), [plain.float, holes], [0, 1, 2])
case('forest_nan', plain, 'output a = classify(image, nan if image > 90 else image, forest = "%s")' % text, want)

# More features than are chosen among: moved images.
many = [np.roll(plain.array.astype(np.float32), k, axis=1) for k in range(20)]
text, want, _ = trained(plain, RandomForestClassifier(4, max_depth=6, random_state=0), many, [0, 1, 2])
case('forest_many_features', plain, 'output a = classify(%s, forest = "%s")' % (
    ', '.join('image[dx = %d, border = wrap]' % -k for k in range(20)), text), want)


def apoc_case(name, image, kind, features, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'forest.cl')
        truth = np.where(image.array > 100, 2, np.where(image.array < 60, 1, 0))
        truth.ravel()[::3] = 0
        classifier = kind(opencl_filename=path, **options)
        classifier.train(features, truth, image.array)
        want = np.asarray(classifier.predict(image=image.array))
        text = open(path).read()
    share = ', share_of = 2' if kind is apoc.ProbabilityMapper else ''
    case(name, image, 'output a = classify(image, forest = "%s", features = named%s)' % (inline(text), share), want, 1e-6)


apoc_case('apoc_original', plain, apoc.PixelClassifier, 'original', max_depth=2, num_ensembles=5)
apoc_case('apoc_classes', plain, apoc.PixelClassifier,
          'original gaussian_blur=1 difference_of_gaussian=2 laplace_box_of_gaussian_blur=1 sobel_of_gaussian_blur=1',
          max_depth=3, num_ensembles=6)
apoc_case('apoc_boxes', plain, apoc.PixelClassifier,
          'mean_box=1 median_box=1 minimum_box=2 maximum_box=1 top_hat_box=2 bottom_hat_box=2', max_depth=2, num_ensembles=6)
apoc_case('apoc_3d', solid, apoc.PixelClassifier, 'gaussian_blur=1 difference_of_gaussian=1 laplace_box_of_gaussian_blur=1',
          max_depth=2, num_ensembles=6)
apoc_case('apoc_share', plain, apoc.ProbabilityMapper, 'original sobel_of_gaussian_blur=2', max_depth=2, num_ensembles=6,
          output_probability_of_class=2)

# Objects: large ones are of class 2, painted.
labels = ndi.label(plain.array > 90)[0]
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'objects.cl')
    sizes = np.bincount(labels.ravel())
    truth = np.where(labels > 0, 1 + (sizes[labels] > 3), 0)
    classifier = apoc.ObjectClassifier(path, max_depth=2, num_ensembles=5)
    classifier.train('area mean_intensity', labels, truth, plain.array)
    case('apoc_objects', plain, 'labels = label(image > 90)\n'
         'output a = classify(property(labels, area), property(labels, image, mean), forest = "%s")[labels]'
         % inline(open(path).read()), np.asarray(classifier.predict(labels, plain.array)))

files.write('measures.txt', cases)
