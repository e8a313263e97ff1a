/* scene: a pipeline of one image, lowered and compiled, and what the evaluator makes of the image. */
#ifndef SUPPORT_SCENE_H
#define SUPPORT_SCENE_H

#include "both.h"

typedef struct Subject {
    Arena arena;
    const Program *program;
    BothCase in;
    BothResult want;
} Subject;

/* The parameters have their defaults; `kind` is a BOTH_ of both.h.  A mistake fails the test. */
void scene_open(Subject *s, const char *text, const int extent[4], Elem elem, int kind);
void scene_close(Subject *s);

#endif
