/* measure_rows: the rows of objects in the work area; what follows from them. */
#ifndef RUNTIME_MEASURE_ROWS_H
#define RUNTIME_MEASURE_ROWS_H

#include "measuring.h"

typedef struct MeasureRows {
    /* Slices of work, [..][rows]: two ends; for hulls, and for those in 3-D; powers; sums weighted with
     * an image, only in parts. */
    DevMem *ends, *corners, *points, *powers, *weights;
    DevMem *kept; /* in parts: for what was kept of rows */
    DevProgram *reads, *hull;
} MeasureRows;

/* The programs that find rows, that make hulls of them (none where none is wanted), and moments. */
bool measure_rows_reads(const Measuring *m, DevProgram **program);
bool measure_rows_hull(const Measuring *m, DevProgram **program);
bool measure_rows_moments(const Measuring *m, DevProgram **program);

/* To be closed even if it fails. */
bool measure_rows_open(Measuring *m, MeasureRows *r);
void measure_rows_close(const Measuring *m, MeasureRows *r);

/* Where rows begin and end, and their power sums, as far as they lie in the part. */
bool measure_rows_find(Measuring *m, const MeasureRows *r, const MeasureShare *share);
/* The sums weighted with an image. */
bool measure_rows_weigh(Measuring *m, const MeasureRows *r, const MeasureShare *share, int image);

/* Moments and hulls from whole objects' rows; overwrites the ends. */
bool measure_rows_finish(Measuring *m, MeasureRows *r, const MeasureShare *share);
/* Hulls in 3-D (measure_space.c): their pixels, diameters, and rows, which replace the objects'. */
bool measure_space_program(const Measuring *m, DevProgram **program);
bool measure_space(Measuring *m, const MeasureRows *r, const MeasureShare *share);
/* Paints the hulls that were found into the mask. */
bool measure_rows_paint(Measuring *m, const MeasureRows *r, const MeasureShare *share);
/* Weighted moments. */
bool measure_rows_finish_weighted(Measuring *m, const MeasureRows *r, const MeasureShare *share, int image);

#endif
