/*
 * table_zarr: a table of objects as a folder of zarr that anndata reads, and with it SpatialData, Fractal and ngio.
 *
 * In an image of OME-Zarr it stands beside the label images, in tables/NAME, and names the one that it is of.
 */
#ifndef RUNTIME_TABLE_ZARR_H
#define RUNTIME_TABLE_ZARR_H

#include "../files/image.h"
#include "csv.h"

typedef struct ZarrTable ZarrTable;

/* `region`: what the label image is called; NULL: it is not written. */
bool zarr_table_open(const char *path, ZarrVersion version, const char *region, ZarrTable **out, Err *err);
/* As csv_rows: tables with the same columns, one below the other. */
bool zarr_table_rows(ZarrTable *t, const PrimTable *table, const CsvColumn *front, int n_front, Err *err);
/* The folder appears under its name.  Both free the table; zarr_table_abort takes NULL. */
bool zarr_table_commit(ZarrTable *t, Err *err);
void zarr_table_abort(ZarrTable *t);

/* Of a name among the label images of an image makes that among its tables, which is as long. */
void zarr_table_place(char *path);

#endif
