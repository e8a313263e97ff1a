#!/usr/bin/env python3
"""Writes tracks.txt: objects that move, and the tracks that linear assignment makes of them (base/track.h).

Of objects that lie anywhere the assignments are scipy's (linear_sum_assignment of Jaqaman's block matrix: links, ends, beginnings,
and nothing).  Of objects on a grid, where many assignments are equally good, all of them are tried, and of the best ones the
first is taken by the order of labels.

    make_tracks.py > tracks.txt

A case is a line "case limit gap splits merges", then a line "frame x y z track parent second" for each object.
"""
import numpy as np
from scipy.optimize import linear_sum_assignment

NONE = 10 ** 9


def by_scipy(rows, columns, cost, free_row, free_column):
    """Links {row: column} of the least cost; those without a link cost free_row and free_column."""
    n, m = len(rows), len(columns)
    matrix = np.full((n + m, n + m), 1e6)
    matrix[n:, m:] = 0
    for i, r in enumerate(rows):
        matrix[i, m + i] = free_row[r]
        for j, c in enumerate(columns):
            if (r, c) in cost:
                matrix[i, j] = cost[r, c]
    for j, c in enumerate(columns):
        matrix[n + j, j] = free_column[c]
    return {rows[i]: columns[j] for i, j in zip(*linear_sum_assignment(matrix)) if i < n and j < m}


def by_trying_all(rows, columns, cost, free_row, free_column):
    """The same; of equally good ones the first by the order of labels.  Costs are whole numbers of 2 ** -40."""
    unit = 1 << 40
    best = [None, None]

    def go_on(i, used, links, total):
        if i == len(rows):
            total += sum(int(free_column[c]) * unit for c in columns if c not in used)
            key = (total, [NONE if c is None else c for c in links])
            if best[0] is None or key < best[0]:
                best[:] = key, list(links)
            return
        for c in columns:
            if (rows[i], c) in cost and c not in used:
                go_on(i + 1, used | {c}, links + [c], total + int(np.rint(cost[rows[i], c] * unit)))
        go_on(i + 1, used, links + [None], total + int(free_row[rows[i]]) * unit)

    go_on(0, frozenset(), [], 0)
    return {r: c for r, c in zip(rows, best[1]) if c is not None}


def in_pieces(assign, cost, free_row, free_column):
    """Assigns what hangs together through links by itself."""
    pieces = []
    for r, c in cost:
        joined = [p for p in pieces if r in p[0] or c in p[1]]
        pieces = [p for p in pieces if p not in joined]
        pieces.append((set().union({r}, *(p[0] for p in joined)), set().union({c}, *(p[1] for p in joined))))
    links = {}
    for rows, columns in pieces:
        part = {k: v for k, v in cost.items() if k[0] in rows}
        links.update(assign(sorted(rows), sorted(columns), part, free_row, free_column))
    return links


def tracks(frame, places, limit, gap, splits, merges, assign):
    labels = range(1, len(frame))
    cost = {}
    for a in labels:
        for b in labels:
            if 1 <= frame[b] - frame[a] <= gap + 1:
                square = sum((float(p[b]) - float(p[a])) ** 2 for p in places)
                if square <= limit * limit:
                    cost[a, b] = square / (limit * limit)
    ones = {i: 1 for i in labels}
    after = in_pieces(assign, {k: v for k, v in cost.items() if frame[k[1]] - frame[k[0]] == 1}, ones, ones)
    before = {b: a for a, b in after.items()}
    later = {}
    for (a, b), c in cost.items():
        end, beginning, beside = a not in after, b not in before, frame[b] - frame[a] == 1
        if (end and beginning) or (end and merges and beside) or (beginning and splits and beside and not end):
            later[a, b] = c
    more = in_pieces(assign, later, {i: int(i not in after) for i in labels}, {i: int(i not in before) for i in labels})
    merged, mothers = {}, {}
    for a, b in more.items():
        if a not in after and b not in before:
            after[a] = b
    for a, b in more.items():
        if after.get(a) != b:
            (mothers if a in after else merged)[b] = a
    before = {b: a for a, b in after.items()}
    track, parent, second = ([0] * len(frame) for _ in range(3))
    for i in sorted(labels, key=lambda i: (frame[i], i)):
        b = before.get(i)
        if b is not None and i not in merged and b not in mothers.values():
            track[i], parent[i], second[i] = track[b], parent[b], second[b]
        else:
            track[i] = max(track) + 1
            parent[i] = track[b] if b is not None else track[mothers[i]] if i in mothers else 0
            second[i] = track[merged[i]] if i in merged and b is not None else 0
    return track, parent, second


def write(frame, places, limit, gap, splits, merges, assign):
    print("case", limit, gap, int(splits), int(merges))
    for row in list(zip(frame, *places, *tracks(frame, places, limit, gap, splits, merges, assign)))[1:]:
        print(*(np.format_float_positional(v, trim="-") if isinstance(v, np.float32) else v for v in row))


def moving(rng, frames, objects, deep):
    """Objects that wander, of which some are not seen in some frames, shuffled within each frame."""
    at = rng.random((objects, 3)) * [60, 60, 20 if deep else 0]
    rows = []
    for t in range(frames):
        at = at + rng.normal(0, 1.5, at.shape) * [1, 1, deep]
        seen = at[rng.random(objects) < 0.9]
        rows += [(t, *p) for p in rng.permutation(seen)]
    columns = np.array([(0, 0, 0, 0)] + rows, np.float32).T
    return [int(t) for t in columns[0]], list(columns[1:])


def main():
    rng = np.random.default_rng(34)
    for gap, splits, merges in [(0, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (2, 1, 1)]:
        for deep in (0, 1):
            write(*moving(rng, 8, 14, deep), 6.5, gap, splits, merges, by_scipy)
    for k in range(60):
        frame = [0] + sorted(int(t) for t in rng.integers(0, 4, 14))
        if k % 3 == 0:
            frame = [0] + [int(t) for t in rng.permutation(frame[1:])]
        places = [rng.integers(0, 4, len(frame)).astype(np.float32) for _ in range(2)]
        places.append(np.zeros(len(frame), np.float32))
        write(frame, places, float(rng.choice([1, 1.5, 2])), k % 3, k // 2 % 2, k // 4 % 2, by_trying_all)


if __name__ == "__main__":
    main()
