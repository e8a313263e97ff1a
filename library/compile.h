/*
 * compile: from the text of a pipeline to its program, stage by stage.  Nothing is printed: complaints about the text are
 * in Compilation.diags, whatever else fails is in the Err.
 *
 *     compile_begin(c, options, out_of_memory)
 *     compile_file(c, path, err) or compile_text(c, path, text, size)
 *     compile_to(c, stage, err)
 *     compile_free(c)
 *
 * One compilation at a time: the scanner and the grammar are not reentrant.
 */
#ifndef LIBRARY_COMPILE_H
#define LIBRARY_COMPILE_H

#include "../base/arena.h"
#include "../base/err.h"
#include "../codegen/codegen.h"
#include "../frontend/diag/diag.h"
#include "../frontend/syntax/ast.h"
#include "../ir/schedule.h"
#include "../passes/decisions.h"
#include "../passes/figures.h"
#include "../passes/pass.h"
#include "../passes/search.h"

/* What steers compiling; no bit of any output depends on it. */
typedef struct CompileOptions {
    PassFuse fuse;
    const char *passes;     /* --passes=a,b */
    bool verify;            /* --verify */
    bool json;              /* --json: how a command prints complaints */
    const char *after;      /* --print-after=NAME or all */
    DeviceFigures plan_for; /* --plan-for=NAME; of the table's first device without it */
    bool measured;          /* they do not come from the table */
    bool planned_for;       /* somebody has said --plan-for */
    const double *params;   /* to plan for; NULL: the defaults */
    char tuned_for[128];    /* a device for which `pipec tune` may have found a plan; "": none */
    const Decision *given;  /* answers of a plan (passes/decisions.h), before that plan's */
    int n_given;
    bool tuned; /* they are all: nothing is searched */
    bool ask;   /* Compilation.decisions is wanted with all that was asked for */
} CompileOptions;

/* One compilation; everything lives in the arena. */
typedef struct Compilation {
    Arena arena;
    Source source;
    size_t size; /* bytes of its text, which may hold a NUL */
    Diags diags;
    AstFile *file;
    const IrGraph *lowered; /* as the front end made it */
    IrGraph *graph;         /* that one, or a clone of it that passes have changed */
    const IrSchedule *schedule;
    const Program *program;
    Decisions decisions; /* of the last plan */
    CompileOptions options;
    Str printed; /* of --print-after */
} Compilation;

/* How far to compile. */
typedef enum Stage { STAGE_PARSE, STAGE_GRAPH, STAGE_SCHEDULE, STAGE_PROGRAM } Stage;

/* Where arenas jump that have no memory left is borrowed (base/arena.h). */
void compile_begin(Compilation *c, const CompileOptions *options, jmp_buf *out_of_memory);
/* The pipeline in a file, or in `size` bytes that end with a NUL, as if they came from `path`. */
bool compile_file(Compilation *c, const char *path, Err *err);
void compile_text(Compilation *c, const char *path, const char *text, size_t size);
/* False when the text has mistakes (diags) or for another reason (err). */
bool compile_to(Compilation *c, Stage stage, Err *err);
void compile_free(Compilation *c);

/* The plan that the model of the device holds for the cheapest (passes/search.h); `params` as above, NULL: the defaults. */
PassSearch compile_search(Compilation *c, const double *params, int most);

/* The program of what has been compiled, planned for other parameters; it lives as long as the first one. */
const Program *compile_again(Compilation *c, const double *params);
/* The same as a compilation of its own, to look at: compile_free. */
void compile_aside(const Compilation *c, const double *params, Compilation *aside);

#endif
