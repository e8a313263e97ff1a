/*
 * stored: how the file of an output is stored, as `as tif(compress = zstd)` says it: which format takes which options,
 * and what their values may be.
 */
#ifndef BASE_STORED_H
#define BASE_STORED_H

#include <stdbool.h>
#include <stddef.h>

typedef enum StoredOption {
    STORED_COMPRESS,
    STORED_PYRAMID,
    STORED_TILE,
    STORED_SHARD,
    STORED_VERSION,
    STORED_OPTIONS
} StoredOption;

/* Values of words. */
enum { STORED_NO = 1, STORED_YES, STORED_DEFLATE, STORED_LZ4, STORED_ZSTD, STORED_ZARR_TWO, STORED_ZARR_THREE };

/* By option, the value; 0: nothing is said. */
typedef struct Stored {
    int of[STORED_OPTIONS];
} Stored;

typedef struct StoredWord {
    const char *word;
    int value;
} StoredWord;

/* Values are words, or multiples of `step` up to `most`. */
typedef struct StoredRow {
    const char *format, *name;
    StoredOption option;
    StoredWord words[4];
    int step, most;
} StoredRow;

extern const StoredRow STORED_ROWS[];
extern const int STORED_ROW_COUNT;

/* The row of a format's option; NULL: the format has none of this name. */
const StoredRow *stored_row(const char *format, const char *name);
/* The value that a text stands for; 0: none. */
int stored_value(const StoredRow *row, const char *text);
/* The text of a value, which is kept in `to` where it is a number. */
const char *stored_text(const StoredRow *row, int value, char to[16]);
/* "none, deflate or zstd", "a multiple of 16 up to 4096". */
void stored_values(const StoredRow *row, char *to, size_t size);

#endif
