/*
 * runs: deflate for images that are mostly runs of one pixel, as labels and masks are: ten to twenty times as fast as a
 * compressor that looks for any repetition, and about as short.  What comes out is a zlib stream like any other.
 */
#ifndef RUNTIME_RUNS_H
#define RUNTIME_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RUNS_LONGEST = 258, RUNS_UNIT_MOST = 4 };

/* Bits of a code word, the first one lowest. */
typedef struct RunsWord {
    uint32_t bits;
    int n;
} RunsWord;

/* The code of a block; `match`: by length, from 3 on, with its distance. */
typedef struct RunsCode {
    RunsWord literal[256], end, match[RUNS_LONGEST + 1];
} RunsCode;

void runs_code(RunsCode *code);

/* A stream in the making. */
typedef struct Runs {
    const RunsCode *code;
    size_t unit;
    unsigned char *begin, *at, *end;
    uint64_t bits;
    int n;
    uint32_t sum;
    bool begun;
} Runs;

/* A zlib stream in `to`, of pixels of `unit` bytes (1 .. RUNS_UNIT_MOST).  The code is borrowed. */
void runs_begin(Runs *runs, const RunsCode *code, size_t unit, void *to, size_t room);
/* Appends bytes; before those of the second call and later ones stand the last `unit` bytes of the call before.  False:
 * the stream would have more than `room` bytes; these are not runs then. */
bool runs_add(Runs *runs, const void *from, size_t bytes);
/* Its length. */
size_t runs_end(Runs *runs);
/* All of it; 0: more than `room` bytes. */
size_t runs_pack(const RunsCode *code, size_t unit, const void *from, size_t bytes, void *to, size_t room);

#endif
