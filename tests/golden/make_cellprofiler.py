#!/usr/bin/env python3
"""Writes cellprofiler.csv here: what tables of samples/include/cellprofiler.pipe must have for a part of samples/nuclei.tif.

Run it with cp-measure 0.3, numpy, scikit-image and tifffile.  Left out are Zernike moments, whose circle cp-measure leaves up to three
pixels out of, the largest Feret diameter, which it measures between the middles of pixels, PerimeterCrofton, which CellProfiler does not have,
and K and Overlap, which it does not have.
"""
import os

import numpy as np
import tifffile
from cp_measure.bulk import get_core_measurements, get_correlation_measurements
from skimage import measure, segmentation

HERE = os.path.dirname(os.path.abspath(__file__))
FRONTS = {'sizeshape': 'AreaShape_', 'texture': 'Texture_'}

pixels = tifffile.imread(os.path.join(HERE, '..', '..', 'samples', 'nuclei.tif'))[40:96, 30:92].astype(float)
first, second = pixels[..., 1] / 255, pixels[..., 2] / 255
labels = measure.label(pixels[..., 1] > 60, connectivity=2)
size = np.bincount(labels.ravel())
labels = segmentation.relabel_sequential(np.where(size[labels] >= 100, labels, 0))[0]

columns = {'label': np.arange(1, labels.max() + 1)}
for name, function in get_core_measurements().items():
    if 'zernike' not in name and name != 'feret':
        columns.update({FRONTS.get(name, '') + key: values for key, values in function(labels, first).items() if 'Crofton' not in key})
for name, function in get_correlation_measurements().items():
    more = {'scale_max': 255} if name == 'costes' else {}
    columns.update(function(pixels_1=first, pixels_2=second, masks=labels, **more))
columns['Correlation_Correlation'] = columns.pop('Correlation_Pearson')
keep = {k: v for k, v in columns.items() if not k.endswith('_Z') and np.isfinite(v).all()}
with open(os.path.join(HERE, 'cellprofiler.csv'), 'w') as out:
    for name, values in keep.items():
        print(name, *(f'{v:.9g}' for v in values), sep=',', file=out)
print(labels.max(), 'objects,', len(keep), 'columns; not finite:', sorted(set(columns) - set(keep)))
