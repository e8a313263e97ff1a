/*
 * pipec.h: pipelines in other programs: the interface of libpipec.
 *
 *     pipec_compile    the text of a pipeline, or a file, to a pipeline
 *     pipec_text       what is said of it: mistakes, inputs and outputs, kernels, the graph
 *     pipec_plan       what a run will take, without a device
 *     pipec_open       a device
 *     pipec_run        one run: images in memory or row by row in, images, values and tables out
 *     pipec_image, pipec_value, pipec_table      the results
 *
 * Results are those of the command `pipec run`, byte for byte.
 *
 * Failures.  Functions that can fail return a PipecCode, PIPEC_OK if they did not, and describe a failure in `error`
 * (which may be NULL) with one sentence.  What they would have given is NULL then, but for pipec_compile.
 *
 * Threads.  All functions may be called from any thread at any time.  Runs on one device wait for each other; open a
 * device for each thread that is not to wait.  A pipeline may run on several devices at once.
 *
 * Versions.  Structures that callers fill begin with their size, so that later versions may add members: set it to
 * sizeof the structure, and all else that is not needed to zero.
 */
#ifndef PIPEC_H
#define PIPEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PIPEC_API __attribute__((visibility("default")))

typedef struct PipecPipeline PipecPipeline;
typedef struct PipecDevice PipecDevice;
typedef struct PipecResult PipecResult;

/* As exit codes of the command. */
typedef enum PipecCode {
    PIPEC_OK = 0,
    PIPEC_IMAGE = 1,      /* an image is not what the pipeline takes */
    PIPEC_USAGE = 2,      /* mistakes in the pipeline, params that are not allowed */
    PIPEC_DEVICE = 3,     /* no device, or it was lost */
    PIPEC_MEMORY = 4,     /* it does not fit, even in parts */
    PIPEC_OUTPUT = 5,     /* a function that takes rows has failed */
    PIPEC_CANCELLED = 130 /* a function that is told of progress wanted an end */
} PipecCode;

typedef struct PipecError {
    int code; /* PipecCode */
    char text[1000];
} PipecError;

/* Types of pixels. */
typedef enum PipecType {
    PIPEC_NONE,
    PIPEC_BOOL, /* a byte, 0 or 1 */
    PIPEC_U8,
    PIPEC_U16,
    PIPEC_I16,
    PIPEC_U32,
    PIPEC_I32,
    PIPEC_F32,
    PIPEC_F64
} PipecType;

/* "0.2.0" */
PIPEC_API const char *pipec_version(void);

/* ---- pipelines ------------------------------------------------------------------------- */

/*
 * Compiles `size` bytes of text, or if it is NULL the file at `path`, which also gives messages and the pipeline a
 * name.  When the text has mistakes the code is PIPEC_USAGE, and *out is a pipeline of which only PIPEC_MISTAKES can be
 * asked.  Free *out in any case.
 */
PIPEC_API int pipec_compile(const char *path, const char *text, size_t size, PipecPipeline **out, PipecError *error);
/* Also while devices still hold it; NULL is allowed. */
PIPEC_API void pipec_pipeline_free(PipecPipeline *pipeline);

typedef enum PipecText {
    PIPEC_MISTAKES,      /* mistakes and warnings as the command prints them; empty without any */
    PIPEC_MISTAKES_JSON, /* the same as a JSON array: code, severity, file, line, column, endLine, endColumn, message ... */
    PIPEC_DESCRIPTION, /* JSON: name, inputs, params and outputs in their order, as `--describe=json` prints it */
    PIPEC_SOURCE,
    PIPEC_KERNELS, /* the kernels in OpenCL C */
    PIPEC_GRAPH,   /* the graph in the language of Graphviz */
    PIPEC_IR       /* the graph as text that pipec reads back */
} PipecText;

/* *out is freed with pipec_text_free. */
PIPEC_API int pipec_text(PipecPipeline *pipeline, int what, char **out, PipecError *error);
PIPEC_API void pipec_text_free(char *text); /* NULL is allowed */

/* ---- runs ------------------------------------------------------------------------------ */

/* An image in memory.  Along x, y, z and channels (c), 1 where it has no such axis. */
typedef struct PipecImage {
    void *data;         /* the first pixel */
    int64_t extent[4];  /* pixels */
    int64_t stride[4];  /* bytes from a pixel to the next; may be negative or zero */
    int type;           /* PipecType */
    double place[3][4]; /* of outputs: pixel (x, y, z) lies on the first input at place[a][0] x + place[a][1] y +
                           place[a][2] z + place[a][3] along its axis a; ignored of inputs */
} PipecImage;

/* Rows [row, row + rows) of channel c, plane z, each `pitch` bytes behind the one before, pixels close together.  Other
 * than 0 ends the run. */
typedef int PipecRead(void *context, int64_t c, int64_t z, int64_t row, int64_t rows, void *to, size_t pitch);
typedef int PipecWrite(void *context, int64_t c, int64_t z, int64_t row, int64_t rows, const void *from, size_t pitch);

typedef struct PipecInput {
    size_t size;
    PipecImage image;   /* data is ignored if there is `read` */
    double pixel_um[3]; /* of a pixel along x, y and z in micrometres; 0: unknown.  Only of the first input */
    PipecRead
        *read; /* asked for rows when they are needed, in runs in parts more than once; NULL: they are in memory */
    void *context;
} PipecInput;

/* Where the rows of an output that is an image go.  Each plane's come in ascending order. */
typedef struct PipecSink {
    size_t size;
    PipecWrite
        *write; /* NULL: into memory, for pipec_image; a series should go there: its rows may lie along any axis */
    void *context;
} PipecSink;

typedef struct PipecRun {
    size_t size;
    const PipecInput *inputs; /* by input */
    const double *params;     /* by param; NULL: the defaults */
    const PipecSink *sinks;   /* by output; NULL: all into memory */
    /* Called between steps with the share that is done, 0 to 1; other than 0 ends the run with PIPEC_CANCELLED. */
    int (*progress)(void *context, double done);
    void *context;
} PipecRun;

/*
 * The device that `--device CHOICE` takes ("cpu", "gpu", "#1", a part of its name); NULL: the first GPU, else the first
 * device.  Runs hold at most `memory` bytes on it, 0: as many as it has; images that do not fit go in parts.
 */
PIPEC_API int pipec_open(const char *choice, uint64_t memory, PipecDevice **out, PipecError *error);
PIPEC_API void pipec_close(PipecDevice *device); /* NULL is allowed */
/* What devices there are, as a JSON array; PIPEC_DEVICE and how to get one when there are none. */
PIPEC_API int pipec_devices(char **out, PipecError *error);

typedef struct PipecPlan {
    size_t size;
    uint64_t peak; /* bytes on the device */
    int in_parts;  /* it does not fit in one piece */
} PipecPlan;

/* Of the inputs the extents, types and pixel sizes are asked, of the rest only params.  `device` may be NULL: a GPU of
 * `memory` bytes, 0: any number.  `outputs`: by output, what images will be like (no data); may be NULL. */
PIPEC_API int pipec_plan(PipecPipeline *pipeline, PipecDevice *device, uint64_t memory, const PipecRun *run,
                         PipecPlan *plan, PipecImage *outputs, PipecError *error);
PIPEC_API int pipec_run(PipecDevice *device, PipecPipeline *pipeline, const PipecRun *run, PipecResult **out,
                        PipecError *error);
PIPEC_API void pipec_result_free(PipecResult *result); /* NULL is allowed */

/* An output that is an image and went into memory.  The pixels belong to the result, may be written to, and are freed
 * with it. */
PIPEC_API int pipec_image(const PipecResult *result, int output, PipecImage *image, PipecError *error);
/* Of a value; of labels, the largest; NaN: it has none. */
PIPEC_API double pipec_value(const PipecResult *result, int output);

/* Columns one behind the other: at[column * rows + row]; NaN: an empty cell. */
typedef struct PipecTable {
    int64_t rows;
    int columns;
    const double *at;
    const char (*names)[64];
    const char *whole; /* by column: 1 where numbers are written without decimals */
} PipecTable;

/* It belongs to the result. */
PIPEC_API int pipec_table(const PipecResult *result, int output, PipecTable *table, PipecError *error);

#ifdef __cplusplus
}
#endif

#endif
