/*
 * parts: the plan of a run whose image does not fit into the device's memory in one piece.
 *
 * The steps of a program are put together into *segments*.  A segment goes over the image once, part
 * by part; a part is a strip of rows over the full width (of planes, where the grid has a z axis).
 *
 * Where so many planes as the halo takes do not fit, a volume is cut *across* its planes: a part is a
 * strip of rows, too, of all planes.  Not blocks of planes and rows: so halos go in one direction, each
 * part has two neighbours, and whatever goes along z sees all of it.  A window has its planes one behind
 * the other, each with as many rows as the part has, so that what primitives take and make is dense.
 * What goes out waits in its store until the segment is done, as files are written plane by plane.
 * Primitives say whether they can (prim.h); those that cannot have parts of planes, and segments of both
 * kinds follow each other, for stores are whole images.
 *
 * What a segment is for are its *sinks*: one pass of a primitive, or a launch whose result has to
 * outlive the segment.  Launches that only lead there are computed in every segment that needs
 * them, on the part and as many rows around it as are read (one halo, accumulated over all of
 * them), as long as that is cheaper than to carry their pixels to the host and back; else their
 * buffers are *kept*: in a store on the host.  Steps that need whole images, and steps without
 * pixels, are segments of their own.
 *
 * Some launches read an image at places that follow from the part in another way than by a halo:
 * turned round, scaled, projected, round the ends.  What they read is a *box* of that image,
 * computed part by part (parts_box.c); it is loaded, never computed again.  Where rows of the result
 * need too much (a transpose needs all rows for one), parts are tiles of rows and columns.
 *
 * Others may read any row, for pixels decide which (ir/gather.h).  Where that image does not fit beside a part, the
 * program's second form is run (Program.in_rounds): there such a step is a segment of its own, and goes over each part
 * in *rounds*, in each of which a slab of the image is there, the same for all parts.
 *
 * Every byte on the device counts: windows (the rows of a buffer that a part needs), whole buffers,
 * scratch of primitives, values.  The longest part that stays within the limit is taken, unless an
 * image is loaded again and again: then parts are short, and what is left of the memory holds rows of
 * that image that are *resident* from one segment to the next and loaded once (parts_arrange.c).
 */
#ifndef RUNTIME_PARTS_H
#define RUNTIME_PARTS_H

#include "exec_plan.h"

typedef enum PartsKind {
    PARTS_CUT,   /* over the parts of an image */
    PARTS_WHOLE, /* one step in one piece */
    PARTS_LOOP,  /* a loop begins */
    PARTS_END    /* its round ends */
} PartsKind;

/* A step in a segment. */
typedef struct PartsTask {
    int step, pass;
    bool last_pass;
    int lo, hi; /* rows before and behind the part that it computes, too */
    int around; /* a primitive's reader is asked for so many more on both sides */
} PartsTask;

/* Pixels of an image: the first along x, y and z, and how many; those behind the last come round
 * from the first. */
typedef struct PartsBox {
    int from[3], n[3];
} PartsBox;

/* A step that may read an image anywhere along the axis that parts are cut from, which takes so many bytes. */
typedef struct PartsAnywhere {
    int step, buffer;
    bool planes;
    uint64_t bytes;
} PartsAnywhere;

/* A part: rows (planes), and columns; and the round, where a step is run in several. */
typedef struct PartsPart {
    int at, rows, col, cols, round;
} PartsPart;

/* What the boxes of all parts of so many rows and columns come to. */
typedef struct PartsBoxes {
    int rows, cols, most[3]; /* extents that hold all boxes */
    uint64_t loaded;         /* bytes of rows that are read for all parts */
} PartsBoxes;

/* A buffer in a segment. */
typedef struct PartsWindow {
    int buffer;
    bool load;        /* its rows come from an input or a store, else a task makes them */
    bool whole;       /* all of it is there while the segment runs */
    bool boxed;       /* it is loaded as a box for each part */
    bool in_rounds;   /* boxed: the box is a slab of rows (planes, where the image has z), another in each round */
    int most[3];      /* boxed: extents that hold all boxes */
    uint64_t loaded;  /* boxed: bytes of rows that are read for all parts */
    PartsBoxes known; /* boxed: the last ones that were looked at one by one; they take long */
    bool keep;        /* its part goes to a store, and to outputs */
    int lo, hi;       /* rows before and behind the part that it has, too */
    int first, last;  /* tasks that need it */
    int64_t rows;     /* CUT: rows (planes) that it holds; whole: all */
    int planes;       /* cut across planes: those that each channel has room for */
    uint64_t bytes, offset;
    uint64_t second; /* where it is for every other part; see parts_is_double_buffered */
} PartsWindow;

typedef struct PartsSegment {
    PartsKind kind;
    int step;            /* WHOLE, LOOP, END */
    bool planes;         /* parts are planes, not rows; of volumes these are cut across all planes */
    int extent;          /* rows or planes of the image */
    int rows, parts;     /* of the longest part; how many parts */
    int cols;            /* a part has so many columns; 0: all */
    int grain;           /* parts are whole multiples of this many rows, but for the last */
    bool roughly;        /* of many boxes it looks at thousands */
    uint64_t enough;     /* it is laid out to see whether it fits: what boxes have beyond this does not matter */
    bool double_buffers; /* windows whose rows come or go are there twice, so that this overlaps */
    uint64_t slab;       /* bytes of the slab that a round has, if a row (plane) has no more; 0: one row */
    int rounds;          /* of each part: 1, or as many as there are slabs of an image that is read anywhere */
    int most;            /* rows of a part, at most, to leave room for resident rows; 0: any */
    int fixed;           /* so many rows, as other segments that have a pass of the same primitive; 0: any */
    PartsTask *tasks;
    int n_tasks;
    PartsWindow *windows;
    int n_windows;
    uint64_t *scratch, *scratch_at; /* by task */
    int *resident;                  /* by PartsPlan.residents: resident rows of them in this segment; NULL: none */
    uint64_t base;                  /* bytes of the arena before its own, for resident rows */
    bool crowded;                   /* with as many labels as there are it only fits without them: none are resident */
    uint64_t bytes;                 /* all that it needs, with those before */
} PartsSegment;

/* The first rows of an image (planes, where it has z), which lie in the arena, before what segments have
 * for themselves, so that later segments need not load them.  The store or file has them, too. */
typedef struct PartsResident {
    int buffer;
    int first, last;        /* segments that may have them there */
    int rows;               /* the most that any of those has */
    uint64_t offset, bytes; /* in the arena; of a row of one channel.  Channels are `rows` apart */
} PartsResident;

typedef struct PartsPlan {
    PartsSegment *segments;
    int n;
    bool *kept;    /* by buffer: it has a store */
    bool *given;   /* by buffer: the segment that makes it gives it to outputs */
    int *input;    /* by buffer: the input that it is; -1 none */
    int *maker;    /* by buffer: the step that writes it; -1 none */
    int *last_use; /* by buffer: the last segment that loads it; -1 none */
    int *times;    /* by buffer: how often its rows are loaded, in as many rounds as are expected */
    PartsResident *residents;
    int n_residents;
    double labels; /* as many are expected where the number is not known yet */
    void **state;  /* by step: what primitives keep on the host while it runs; NULL before */
    uint64_t room; /* what a primitive may take for labels (PrimCall.room) */
    uint64_t limit, peak;
    uint64_t least;    /* bytes with which it would just run */
    uint64_t beside;   /* bytes of the run that are not the parts' */
    uint64_t pinnable; /* bytes of host memory that may be pinned without its tables outgrowing that */
} PartsPlan;

/*
 * Cuts the run of `plan` so that it needs at most `limit` bytes; CODE_MEMORY when that cannot be.  Owned by the caller (parts_plan_free).
 */
bool parts_plan_new(const ExecPlan *plan, const ExecTarget *target, uint64_t limit, PartsPlan **out, Err *err);
/* Whether so much might do; false is certain, and quickly said. */
bool parts_may_fit(const ExecPlan *plan, const ExecTarget *target, uint64_t limit);
void parts_plan_free(PartsPlan *parts); /* NULL is allowed */

/* Bytes with which the shortest parts would run (parts->least). */
bool parts_find_least(const ExecPlan *plan, const ExecTarget *target, PartsPlan *parts, Err *err);
/* Lays all segments out within parts->limit, which is not less than that, and finds what is resident; the peak. */
bool parts_arrange(const ExecPlan *plan, const ExecTarget *target, PartsPlan *parts, Err *err);
/*
 * Lays segment i out again, and those that have passes of its primitives, with parts as short as the labels that
 * there are ask for; *from, *to: the first and the last of them.  The peak may grow up to the limit.
 */
bool parts_arrange_again(const ExecPlan *plan, const ExecTarget *target, PartsPlan *parts, int i, const double *labels,
                         const int64_t *vectors, int *from, int *to, Err *err);
/* Resident rows of residents[i] in the segment. */
int parts_resident_rows(const PartsSegment *segment, int i);
/* Bytes of its place with so many rows. */
uint64_t parts_resident_bytes(const ExecPlan *plan, const PartsResident *resident, int rows);

/*
 * Lays a segment out anew within `limit` bytes.  labels: by value slot, how many labels there are
 * where that is known, else NaN; vectors: by buffer, the elements of those that have been made.
 */
bool parts_layout(const ExecPlan *plan, const ExecTarget *target, const PartsPlan *parts, PartsSegment *segment,
                  const double *labels, const int64_t *vectors, uint64_t limit, Err *err);

/* The box of window i for a part; one that fits the boxes of all parts (roughly: of thousands of
 * them) goes to w->most. */
bool parts_box(const ExecPlan *plan, const PartsSegment *segment, int i, PartsPart part, PartsBox *box, Err *err);
bool parts_box_all(const ExecPlan *plan, PartsSegment *segment, int i, Err *err);
/* Bytes of window i for boxes as large as those that it has seen. */
/* Elements from row to row of a box or a tile. */
int parts_box_pitch(int cols);
uint64_t parts_box_bytes(const ExecPlan *plan, const PartsWindow *window);
/* The image of which most has to be there because a step may read any row (plane) of it, whichever part
 * it computes; bytes 0: there is none. */
PartsAnywhere parts_read_anywhere(const ExecPlan *plan, const PartsPlan *parts);
/* Bytes that go over the bus, and a share of those that are computed on the device. */
double parts_cost(const ExecPlan *plan, const PartsPlan *parts);
/* The read takes a box, or a slab in each round, rather than rows around the part, or all. */
bool parts_reads_box(const ProgRead *read);
/* The parts of the segment may be tiles. */
bool parts_has_columns(const ExecPlan *plan, const PartsSegment *segment);
/* The window is there twice: its rows come or go while another part is computed. */
bool parts_is_double_buffered(const PartsSegment *segment, const PartsWindow *window);

/* The grid that a step runs over; the rows (planes) of one. */
const ExecGrid *parts_grid(const ExecPlan *plan, int step);
int parts_extent(const ExecGrid *grid, bool planes);
/* Parts of the segment have rows of all planes of such a grid. */
bool parts_is_across(const PartsSegment *segment, const ExecGrid *grid);
/* Rows (planes) that a read reaches to either side; 0 where it is not by rows around the part. */
bool parts_halo(const ExecPlan *plan, bool planes, const ProgRead *read, int *lo, int *hi, Err *err);
/* The task that is about the step; -1 none. */
int parts_task(const PartsSegment *segment, int step);
/* How many of its step's reads the task looks at: all or none. */
int parts_reads(const ExecPlan *plan, const PartsTask *task);
bool parts_is_vector(const ExecPlan *plan, int buffer);

/* The grain that the segment's own primitives ask for. */
int parts_grain(const ExecPlan *plan, const ExecTarget *target, const PartsSegment *seg);
/* Rows for parts that leave room for resident rows, and are not too short; 0: it does not matter. */
int parts_short(const ExecPlan *plan, const PartsSegment *seg, uint64_t limit);
/* The same with parts as short as they can be: segment->bytes is the least that will do. */
bool parts_least(const ExecPlan *plan, const ExecTarget *target, const PartsPlan *parts, PartsSegment *segment,
                 const double *labels, const int64_t *vectors, Err *err);

/* A primitive's call for rows [from, from + rows) of channel c: shapes and part, no memory.
 * `labels` as in PrimCall. */
void parts_call(const ExecPlan *plan, const PartsSegment *segment, const PartsTask *task, Device *dev, int from,
                int rows, int c, double labels, PrimCall *call);

#endif
