/*
 * table_zarr: a table of objects as a folder of zarr that anndata reads, and with it SpatialData, Fractal and ngio.
 *
 * In an image of OME-Zarr it stands beside the label images, in tables/NAME, and names the one that it is of.
 */
#ifndef RUNTIME_TABLE_ZARR_H
#define RUNTIME_TABLE_ZARR_H

#include "../files/image.h"
#include "columns.h"
#include "csv.h"

typedef struct ZarrTable ZarrTable;

/* `region`: what the label image is called; NULL: it is not written. */
bool zarr_table_open(const char *path, ZarrVersion version, const char *region, ZarrTable **out, Err *err);
/* As csv_rows: tables with the same columns, one below the other. */
bool zarr_table_rows(ZarrTable *t, const PrimTable *table, const CsvColumn *front, int n_front, Err *err);
/*
 * A table of several images, in place of zarr_table_rows: what its columns are called, once, and for each image so many rows,
 * each of which is filled by the caller: the numbers of `front`, of `names`, and the label.  Image and fields are borrowed
 * until the end.  zarr_table_columns is false without memory.
 */
bool zarr_table_columns(ZarrTable *t, const Columns *fields, const char *const *front, int n_front, char (*names)[64],
                        int n);
bool zarr_table_joins(ZarrTable *t, const char *image, const char *const *fields, int64_t rows, Err *err);
double *zarr_table_row(ZarrTable *t);
/* The folder appears under its name.  Both free the table; zarr_table_abort takes NULL. */
bool zarr_table_commit(ZarrTable *t, Err *err);
void zarr_table_abort(ZarrTable *t);

/* Of a name among the label images of an image makes that among its tables, which is as long. */
void zarr_table_place(char *path);

#endif
