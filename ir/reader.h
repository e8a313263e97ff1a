/*
 * reader: what read.c, read_words.c, read_expr.c and read_function.c share: the text of a graph while
 * it is being read (text.h says what it looks like).
 */
#ifndef IR_READER_H
#define IR_READER_H

#include "text.h"

#include "apply.h"
#include "function.h"

enum {
    MAX_NUMBER = 1 << 16, /* of nodes, loops, grids, parts of an expression */
    MAX_INDEX = 4096,     /* of a fold's index */
    MAX_LINES = 1 << 20,  /* of a source */
    MAX_NESTED = 200      /* brackets in one expression */
};

typedef struct Quote {
    int line;
    const char *text;
} Quote;

typedef struct Reader {
    Arena *arena;
    IrGraph *g;
    const Source *source;
    const char *p;
    Err *err;
    int nested;
    bool heads; /* the first time through */
    Vec(const Source *) sources;
    Vec(int) place;       /* by node: where its head begins */
    Vec(IrExpr) parts;    /* t1, t2 ... of the node being read; [0] is unused */
    IrFunction *function; /* that is being read; NULL: none */
} Reader;

/* ---- words (read_words.c) ---- */

/* The first mistake, at a byte of the text; the rest of it is not seen any more. */
void read_fail_at(Reader *r, int at, const char *what);
/* The byte of the text that comes next. */
int read_here(const Reader *r);
/* No mistake so far. */
bool read_ok(const Reader *r);
/* A mistake here; %s in the format is the word. */
void read_fail(Reader *r, const char *format, const char *word);
void read_skip_blanks(Reader *r);
bool read_is_word_char(char c);
/* Takes `text` if it comes next; a word must end there. */
bool read_accept(Reader *r, const char *text);
/* The same, and a mistake if it does not. */
void read_expect(Reader *r, const char *text);
/* Text in quotes, written as str_add_escaped writes it. */
const char *read_string(Reader *r);
/* A bare word, or "" after an error. */
const char *read_bare(Reader *r);
/* A name: a word, or text in quotes where it is not one. */
const char *read_name(Reader *r);
/* A whole number in lo .. hi. */
int read_whole(Reader *r, int lo, int hi);
/* A number as ir_print writes it. */
double read_number(Reader *r);
/* The place of a word in a list. */
int read_one_of(Reader *r, const char *const *words, int n, const char *what);
/* The letter of one of the first n axes. */
int read_axis(Reader *r, int n);
/* An element type. */
Elem read_elem(Reader *r);
/* The type of an expression or of a variable. */
Elem read_arithmetic(Reader *r);
/* Nothing more stands on this line. */
void read_end_line(Reader *r);
/* To the beginning of the next line. */
void read_skip_line(Reader *r);
/* True when the next line belongs to the same part; comments are skipped. */
bool read_indented(Reader *r);

/* ---- expressions (read_expr.c), functions (read_function.c) ---- */

/* %12, a node that is there. */
IrId read_node_id(Reader *r);
/* The number of the variable with that name in the function that is being read. */
int read_variable(Reader *r);
/* An expression up to what cannot belong to it. */
IrExpr read_expression(Reader *r);
/* "function f(v f32) f32" and its block. */
void read_function(Reader *r);

#endif
