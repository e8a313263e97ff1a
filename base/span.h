/*
 * span: where in a source file something was written.  Spans are kept from the scanner to the
 * generated kernels, so that every message can show the user's own words.
 */
#ifndef BASE_SPAN_H
#define BASE_SPAN_H

#include "arena.h"

typedef struct Source {
    const char *path; /* as the user gave it; "prelude/NAME.pipe" for the prelude */
    const char *text; /* whole file, terminated */
    Vec(int) lines;   /* where each begins; one at least */
    int size;
} Source;

typedef struct Span {
    const Source *source; /* NULL: no place */
    int begin, end;       /* byte offsets into source->text, half open */
} Span;

/* Borrows path and text. */
Source *source_new(Arena *arena, const char *path, const char *text);

/* A line ends in a newline, a carriage return or both: the bytes of that at `p`; 0 where it goes on. */
int source_line_end(const char *p);
/* The 1-based line of a byte offset. */
int source_line_of(const Source *source, int offset);
/* 1-based line and column of a byte offset. */
void span_line_column(Span span, int *line, int *column);
/* The text of line `line` (1-based) without its newline: start and length. */
const char *source_line(const Source *source, int line, int *length);

#endif
