/*
 * parts_state: a run in parts under way, for parts_run.c, which goes through segments and tasks, and
 * parts_rows.c, which moves rows.
 */
#ifndef RUNTIME_PARTS_STATE_H
#define RUNTIME_PARTS_STATE_H

#include "parts_pixels.h"
#include "../device/staging.h"
#include "../host/owners.h"

/* Rows of pixels next to each other on both sides, counted from the first row of all planes. */
typedef struct Stretch {
    int buffer;
    DevMem *mem;
    int64_t there, line, lines; /* there: the first one on the device; line: on the host */
    bool given;                 /* on their way down: to outputs, too, from line `first` on */
    int64_t first;
} Stretch;

/* How what a store has was shared out: in parts of so many rows (planes); 0: every owner has all of it. */
typedef struct PartsMade {
    bool planes;
    int extent, rows;
} PartsMade;

typedef struct Run {
    Exec *exec;
    Owners *owners;  /* who shares it (parts_share.h); NULL: nobody */
    PartsMade *made; /* by buffer */
    int64_t *grain;  /* by buffer: owners give rows from such a multiple on; 0: the first gives all */
    const Program *program;
    const ExecPlan *plan;
    PartsPlan *parts;
    PartsPixels pixels;
    int64_t *vectors;                /* by buffer: elements */
    double *labels;                  /* by value slot, of the segment under way; NaN: not known */
    void **state;                    /* by step */
    uint64_t *notes;                 /* by step: what it tells its next round */
    bool *done;                      /* by step: its remaining passes have nothing to do */
    PartsStore **scratch;            /* by step: between passes */
    uint64_t *resident;              /* by buffer: where in the arena all of it still is; NOWHERE */
    int *filled;                     /* by PartsPlan.residents: so many rows are there */
    Stretch fetched[STAGING_BLOCKS]; /* on their way from the device, the oldest first */
    int n_fetched;
    int again;    /* segments before it have given their outputs already */
    int laid_out; /* the one that has been laid out again, and is to run now; -1: none */
    bool muted;   /* the one under way is one of these */
    Err *err;
} Run;

#define NOWHERE UINT64_MAX

/* Rows of a window that the next part needs again: [from, to), each channel apart. */
typedef struct Rest {
    char *rows;
    int from, to;
} Rest;

/* Which rows of a part are fetched next. */
typedef struct Saving {
    int at, rows, slot; /* the part; rows 0: none */
    int window, slab;
    int64_t line;
} Saving;

/* A segment under way. */
typedef struct Segment {
    Run *run;
    PartsSegment *plan;
    DevMem **mem;         /* by window, for the part under way */
    DevMem **places[2];   /* by window: its memory, and that of every other part where it is double-buffered */
    DevMem **scratch;     /* by task */
    DevMem **residents;   /* by PartsPlan.residents; NULL: nothing of it is resident in this segment */
    Rest *rests;          /* by window */
    PartsBox *boxes[2];   /* by window: what was loaded last to each place; n[0] == 0: nothing */
    DevMark *computed[2]; /* by slot: the latest part there is computed, */
    DevMark *used[2];     /* and the latest one for which rows went up */
    bool loads;           /* they do for this part */
    Saving saving;
    int from, to;       /* rows (planes) of the parts that this owner does */
    bool shared;        /* others do the rest */
    int at, rows, slot; /* the part */
    int round;          /* of the part */
    int slab;           /* rows of a slab while it is asked which of them the part wants; else 0 */
    int col, cols;      /* where parts are tiles: its columns */
} Segment;

/* Task t of the segment on the part under way (parts_tasks.c). */
bool parts_run_task(Segment *seg, int t);

const ExecGrid *parts_grid_of(const Run *run, int buffer);
/* Rows (planes) of a window for the part. */
void parts_window_rows(const Segment *seg, const PartsWindow *w, int *from, int *to);
/* Where all rows of window i that the part needs are resident on the device: it reads them there, as in the whole image.
 * NULL: they are, or come, into the window. */
DevMem *parts_resident(const Segment *seg, int i);
/* What the segment makes of it comes in another order than outputs take it: these get it from the store. */
bool parts_gives_late(const Segment *seg, int buffer);
/* Or it comes in their order, and is shared out: each owner's rows follow those of the one before. */
bool parts_gives_in_turn(const Segment *seg, int buffer);
/* Rows of pixels in a row of the part: a plane has many. */
int64_t parts_lines_of(const Segment *seg, int buffer);
/* Bytes of a row on the device. */
size_t parts_pitch_of(const Run *run, int buffer);

/* As much of `lines` rows from `line` on as is of one plane. */
PartsSpan parts_span_of(const Run *run, int buffer, int64_t line, int64_t lines);
/* Rows [line, line + lines) of all planes of an input or kept buffer, close together. */
bool parts_read_lines(Run *run, int buffer, int64_t line, int64_t lines, char *to);
/* Opens what is resident on the device from segment to segment; the segment overwrites the rest. */
bool parts_open_residents(Segment *seg);
void parts_close_residents(Segment *seg);
/* Rows that the part has made become resident, as many as are to. */
bool parts_keep_made(Segment *seg);
/* A whole image from its input or store, or to its store and outputs. */
bool parts_load_image(Run *run, int buffer, DevMem *mem);
bool parts_save_image(Run *run, int buffer, DevMem *mem);

/* The rows of the part on their way to its slot; tasks come after them. */
bool parts_load_rows(Segment *seg);
/* The slab of the round, when the one before is computed. */
bool parts_load_slab(Segment *seg);
/* Rows of the part that is computed begin to come back, as many as have room; those of the part before
 * are all there. */
bool parts_begin_saving(Segment *seg);
bool parts_finish_saving(Segment *seg);

#endif
