/*
 * subject: a pipeline together with the images that it is run on, as one small file.
 *
 * The file is a .pipe file; the images are comments in it, one line for each run:
 *
 *   # case 17 x 33 x 1 x 1, u8 noise 5, f32 special 3, params 2.5 3
 *
 * gives the extents along x, y, z and c, then for each input its element type, what its pixels are
 * like (BOTH_KIND_NAMES) and their seed, and perhaps values of the params, which have their
 * defaults otherwise.  An axis that an input does not have is left out there; a type that an input
 * declares stands.
 */
#ifndef TESTS_SUBJECT_H
#define TESTS_SUBJECT_H

#include "tests/support/both.h"

enum { SUBJECT_TEXT = 8192, SUBJECT_CASES = 8, SUBJECT_INPUTS = 4, SUBJECT_PARAMS = 4 };

typedef struct SubjectImage {
    Elem elem;
    BothKind kind;
    unsigned seed;
} SubjectImage;

typedef struct SubjectCase {
    int extent[IR_AXES];
    SubjectImage images[SUBJECT_INPUTS];
    int n_images;
    double params[SUBJECT_PARAMS];
    int n_params;
} SubjectCase;

/* Plain data: copied to try something out, and shared with a child process. */
typedef struct Subject {
    char text[SUBJECT_TEXT]; /* the pipeline without its cases */
    SubjectCase cases[SUBJECT_CASES];
    int n_cases;
} Subject;

/* False when a case line cannot be read, or there is too much of something. */
bool subject_read(Subject *subject, const char *text);
void subject_write(const Subject *subject, Str *out);

/* The graph of the text, or NULL when it has errors. */
IrGraph *subject_compile(Arena *arena, const char *text);
/* The images of case `i` for the inputs of the graph; freed with subject_free. */
bool subject_case(const Subject *subject, int i, const IrGraph *g, BothCase *out);
void subject_free(BothCase *images);

#endif
