/* stored: one table; the compiler checks what is written by it, and graphs are printed and read by it. */
#include "stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = sizeof(((StoredRow *)NULL)->words) / sizeof(StoredWord) };

#define TRUTH                  \
    {                          \
        {"true", STORED_YES},  \
        {                      \
            "false", STORED_NO \
        }                      \
    }

const StoredRow STORED_ROWS[] = {
    {"tif",
     "compress",
     STORED_COMPRESS,
     {{"none", STORED_NO}, {"deflate", STORED_DEFLATE}, {"zstd", STORED_ZSTD}},
     0,
     0},
    {"tif", "pyramid", STORED_PYRAMID, TRUTH, 0, 0},
    {"tif", "tile", STORED_TILE, {{NULL, 0}}, 16, 4096},
    {"zarr", "compress", STORED_COMPRESS, {{"none", STORED_NO}, {"lz4", STORED_LZ4}, {"zstd", STORED_ZSTD}}, 0, 0},
    {"zarr", "pyramid", STORED_PYRAMID, TRUTH, 0, 0},
    {"zarr", "chunk", STORED_TILE, {{NULL, 0}}, 16, 4096},
    {"zarr", "shard", STORED_SHARD, TRUTH, 0, 0},
    {"zarr", "version", STORED_VERSION, {{"0.4", STORED_ZARR_TWO}, {"0.5", STORED_ZARR_THREE}}, 0, 0},
};
const int STORED_ROW_COUNT = (int)(sizeof STORED_ROWS / sizeof *STORED_ROWS);

const StoredRow *stored_row(const char *format, const char *name)
{
    for (int i = 0; i < STORED_ROW_COUNT; i++) {
        if (strcmp(STORED_ROWS[i].format, format) == 0 && strcmp(STORED_ROWS[i].name, name) == 0) {
            return &STORED_ROWS[i];
        }
    }
    return NULL;
}

int stored_value(const StoredRow *row, const char *text)
{
    for (int i = 0; i < WORDS && row->words[i].word != NULL; i++) {
        if (strcmp(row->words[i].word, text) == 0) {
            return row->words[i].value;
        }
    }
    char *end;
    long number = strtol(text, &end, 10);
    return row->step > 0 && *end == '\0' && number > 0 && number <= row->most && number % row->step == 0 ? (int)number
                                                                                                         : 0;
}

const char *stored_text(const StoredRow *row, int value, char to[16])
{
    for (int i = 0; i < WORDS && row->words[i].word != NULL; i++) {
        if (row->words[i].value == value) {
            return row->words[i].word;
        }
    }
    snprintf(to, 16, "%d", value);
    return to;
}

void stored_values(const StoredRow *row, char *to, size_t size)
{
    size_t n = 0;
    if (row->step > 0) {
        snprintf(to, size, "a multiple of %d up to %d", row->step, row->most);
        return;
    }
    to[0] = '\0';
    for (int i = 0; i < WORDS && row->words[i].word != NULL && n < size; i++) {
        bool last = i + 1 == WORDS || row->words[i + 1].word == NULL;
        n += (size_t)snprintf(to + n, size - n, "%s%s", i == 0 ? "" : last ? " or " : ", ", row->words[i].word);
    }
}
