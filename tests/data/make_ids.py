#!/usr/bin/env python3
"""Writes ids.txt: labels whose numbers are few and large, and what scikit-image, scipy and numpy give for them.

Run it in this folder with numpy, scipy and scikit-image 0.26.  tests/support/golden.h says what the file is like.
"""
import numpy as np
from scipy import ndimage as ndi
from skimage import measure, segmentation

import cases as files

IDS = np.array([0, 1, 7, 16777216, 16777217, 2147483647, 2147483648, 4000000000, 4294967294, 4294967295], np.uint32)
image = files.pixels(15, 18)
dense = np.zeros(image.shape, int)
for i, place in enumerate([(2, 3), (1, 11), (4, 15), (6, 6), (8, 11), (10, 2), (12, 8), (13, 15), (9, 16)]):
    dense[place] = i + 1
dense = segmentation.expand_labels(dense, 3.5) * (files.pixels(15, 18) > 45)
assert dense.max() == len(IDS) - 1
seg = IDS[dense]
ids = IDS[1:]
number = files.number


def by_label(f):
    """f of each label, in the order of the labels."""
    return np.array([f(seg == k) for k in ids], float)


def painted(values):
    return np.concatenate([[0], values])[dense]


def around(p):
    """The labels that touch those of p through edges."""
    beside = ndi.binary_dilation(p, ndi.generate_binary_structure(2, 1)) & ~p & (seg > 0)
    return np.unique(seg[beside])


def sides():
    """How many edges of pixels lie between two labels."""
    pairs = {}
    for a, b in ((seg[:, :-1], seg[:, 1:]), (seg[:-1], seg[1:])):
        for k, m in zip(a.ravel(), b.ravel()):
            if k and m and k != m:
                pair = min(k, m), max(k, m)
                pairs[pair] = pairs.get(pair, 0) + 1
    return pairs


def outline(k):
    p = np.pad(seg == k, 1, mode='edge')
    return sum(np.sum(p[1:-1, 1:-1] & ~np.roll(p, s, a)[1:-1, 1:-1]) for a in (0, 1) for s in (-1, 1))


# scikit-image's table takes memory for as many labels as the largest number says: this one is of their places.
table = measure.regionprops_table(dense, image, properties=('label', 'area', 'centroid', 'bbox', 'intensity_mean',
                                                          'intensity_max', 'solidity', 'perimeter'))
table['label'] = ids[table['label'] - 1]
centroids = np.array(ndi.center_of_mass(np.ones_like(image), dense, range(1, len(IDS))))
way = np.sqrt(((centroids[:, None] - centroids[None]) ** 2).sum(axis=2))
areas = by_label(np.sum)
nearest = [sorted((way[i, k], k) for k in range(len(ids)) if k != i)[0] for i in range(len(ids))]
touching = sides()
pairs = sorted(touching)
grown = segmentation.expand_labels(seg, 2)
small = np.where(painted(areas) >= 20, seg, 0)

outputs = [
    ('measure(seg, image, area, centroid, bbox, mean, max, solidity, perimeter)', np.array(list(table.values()))),
    ('count(seg)', np.array(len(ids))),
    ('max(seg)', np.array(ids.max())),
    ('label_sum(seg, image)[seg]', np.where(seg > 0, painted(by_label(lambda p: image[p].sum())), image[seg == 0].sum())),
    ('property(seg, area)[expand_labels(seg, 2)]', np.concatenate([[0], areas])[segmentation.expand_labels(dense, 2)]),
    ('median(label_count(seg))', np.median(areas)),
    ('expand_labels(seg, 2)', grown),
    ('measure(expand_labels(seg, 2), area)', np.array(np.unique(grown[grown > 0], return_counts=True))),
    ('watershed(image, seg)', files.watershed(image, seg.astype(np.int64))),
    ('voronoi(seg)', segmentation.expand_labels(seg, 100)),
    ('relabel(seg)', segmentation.relabel_sequential(dense)[0]),
    ('remove_small_objects(seg, 20)', segmentation.relabel_sequential(np.where(small > 0, dense, 0))[0]),
    ('mask_labels(seg, image > 90)', segmentation.relabel_sequential(np.where(image > 90, dense, 0))[0]),
    ('number(boundaries(seg))', segmentation.find_boundaries(seg)),
    ('number(boundaries(seg, inner))', segmentation.find_boundaries(seg, mode='inner')),
    ('number(boundaries(seg, outer))', segmentation.find_boundaries(dense.astype(np.int32), mode='outer')),
    ('label_equal(seg)', measure.label(dense, connectivity=2)),
    ('neighbour_count(seg)', painted(by_label(lambda p: len(around(p))))),
    ('neighbour_value(seg, number(seg > 2147483647), max)', painted(by_label(lambda p: max([*(around(p) > 2147483647), 0])))),
    ('neighbour_value(seg, label_count(seg), n = 1)', painted(areas[[k for _, k in nearest]])),
    ('near_pairs(seg, n = 1)', np.array([ids, ids[[k for _, k in nearest]], [d for d, _ in nearest]])),
    ('touching_pairs(seg)', np.array([np.arange(1, len(pairs) + 1), *np.transpose(pairs),
                                      [outline(a) for a, _ in pairs], [outline(b) for _, b in pairs],
                                      [touching[p] for p in pairs]])),
    ('overlapping_pairs(seg, seg)', np.array([np.arange(1, len(ids) + 1), ids, ids, areas, areas, areas])),
    ('number(centroids(seg) > 0)',
     np.isin(np.arange(seg.size).reshape(seg.shape), np.ravel_multi_index(np.floor(centroids).astype(int).T, seg.shape))),
    ('u32(seg)', seg),
    ('number(seg == 4000000000)', seg == 4000000000),
    ('number(seg >= 2147483648)', seg >= 2147483648),
    ('number(seg[dx = 1] != seg)', np.pad(seg, ((0, 0), (0, 1)), mode='edge')[:, 1:] != seg),
    ('seg if image > 90 else 0', np.where(image > 90, seg, 0)),
    ('seg', seg),
]

with open('ids.txt', 'w') as out:
    for name, kind, v in (('image', 'u8', image), ('seg', 'u32', seg)):
        print('image', name, kind, *v.shape, file=out)
        print(*(str(int(p)) for p in v.ravel()), file=out)
    for i, (text, want) in enumerate(outputs):
        print('case', text.split('(')[0].replace(' ', '_'), 1e-5, 'image seg', file=out)
        print('| input image[y, x]\n| input seg[y, x] : labels', file=out)
        if text == 'expand_labels(seg, 2)':
            print('| a = seg\n| repeat 2 { a = expand_labels(a, 1) }\n| output by_steps = count(a)', file=out)
            print('| output with_table = measure(a, area)', file=out)
        print('| output a_%d = %s\n| output t = measure(seg, area)' % (i, text), file=out)
        if text == 'expand_labels(seg, 2)':
            steps = segmentation.expand_labels(segmentation.expand_labels(seg, 1), 1)
            print('=\n%d' % len(ids), file=out)
            print('=', 2, len(ids), file=out)
            print(*ids, *(int((steps == k).sum()) for k in ids), file=out)
        print('=', *want.shape, file=out)
        print(*('nan' if np.isnan(p) else repr(float(p)) for p in np.asarray(want, float).ravel()), file=out)
        print('=', 2, len(ids), file=out)
        print(*ids, *(int(a) for a in areas), file=out)
