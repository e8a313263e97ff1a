/*
 * ast: what was written, with spans.  Every node lives in the arena of the compilation.
 *
 * One node type for expressions, one for statements; lists are linked through `next`.
 */
#ifndef FRONTEND_AST_H
#define FRONTEND_AST_H

#include "../../base/arena.h"
#include "../../base/span.h"
#include "../../base/str.h"

#include <stdbool.h>

typedef struct AstExpr AstExpr;
typedef struct AstStmt AstStmt;
typedef struct AstArg AstArg;
typedef struct AstFor AstFor;
typedef struct AstName AstName;

typedef enum AstExprKind {
    AST_NUMBER,        /* 2.0; num; `unit` "um", "um2", "px" ... when written with one; is_int */
    AST_BOOL,          /* true, false: num */
    AST_STRING,        /* "text" */
    AST_NAME,          /* name */
    AST_UNARY,         /* op ("-", "not"), a */
    AST_BINARY,        /* op ("+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=",
                     "and", "or", "xor"), a, b */
    AST_COND,          /* a if b else c */
    AST_CALL,          /* name(args): callee in `name`, args; a.name(args) is an error that the checker explains */
    AST_INDEX,         /* a[args]: named arguments dx, dy, dz, x, y, z, c, t, border, fill; a positional
                     one and a slice are errors that the checker explains */
    AST_SLICE,         /* a : b : c, each may be NULL; only in an index */
    AST_MEMBER,        /* a.name */
    AST_COMPREHENSION, /* name(a for fors...): reduction over indices; `where` in b or NULL */
    AST_WHERE,         /* a where b */
    AST_LIST,          /* [args]: also nested, a literal kernel or footprint, a per-axis value; op "(" where it was
                     written (a, b), which the checker explains */
    AST_RECORD,        /* (name = expr, ...): several results of a function; args */
    AST_ERROR          /* something the parser has complained about; check silently */
} AstExprKind;

struct AstExpr {
    AstExprKind kind;
    Span span; /* all of it */
    Span word; /* the operator, callee or member alone, for carets */
    const char *name;
    const char *op;
    double num;
    bool is_int;
    const char *unit;
    AstExpr *a, *b, *c;
    AstArg *args;
    AstFor *fors;
    int depth; /* height of the tree; the parser caps it, so walking it may recurse */
};

struct AstArg {       /* value, or name = value */
    const char *name; /* NULL: positional */
    Span name_span;
    AstExpr *value;
    AstArg *next;
};

struct AstFor { /* name in lo .. hi */
    const char *name;
    Span span;
    AstExpr *lo, *hi;
    AstFor *next;
};

struct AstName { /* a list of names: axes, or typed parameters of a function */
    const char *name;
    Span span;
    const char *type; /* NULL: any */
    Span type_span;
    AstExpr *value; /* default, or NULL */
    AstName *next;
};

typedef enum AstStmtKind {
    AST_INPUT,   /* input name[axes] : type */
    AST_PARAM,   /* param name = a in lo .. hi "help"; words: lo is their list */
    AST_FN,      /* fn name(names) : type = a   or   { body } */
    AST_ASSIGN,  /* name = a */
    AST_OUTPUT,  /* output name  |  output name = a   (as format, as format(options)) */
    AST_REPEAT,  /* repeat a { body } */
    AST_UNTIL,   /* repeat until a is stable, at most b { body } */
    AST_IF,      /* if a { body } else { other }: only inside block functions */
    AST_FOR,     /* for name in lo .. hi { body }: only inside block functions */
    AST_WHILE,   /* while a { body }: only inside block functions */
    AST_RETURN,  /* return a */
    AST_INCLUDE, /* include text */
    AST_EXPR     /* an expression alone: an error that the checker explains */
} AstStmtKind;

struct AstStmt {
    AstStmtKind kind;
    Span span;
    const char *name;
    Span name_span;
    AstName *names;   /* axes, or parameters */
    const char *type; /* element type or "labels"/"mask"; return type; NULL when not given */
    Span type_span;
    AstExpr *a, *b, *lo, *hi;
    const char *text; /* help of a param, format of an output */
    Span text_span;
    AstArg *options; /* of that format: tif(compress = zstd) */
    AstStmt *body, *other;
    AstStmt *next;
};

typedef struct AstFile {
    const Source *source;
    AstStmt *statements;
    AstName *broken; /* names that statements would give that could not be parsed */
    bool incomplete; /* what is missing may have had any name */
} AstFile;

/* Indented tree, one node a line (pipec show --ast). */
void ast_print(const AstFile *file, Str *out);
/* The one formatting (pipec fmt): comments and blank lines are kept, text reparses to the same
 * tree, and formatting twice changes nothing. */
void ast_format(const AstFile *file, Str *out);
/* An expression as source text, on one line. */
void ast_expr_format(const AstExpr *expr, Str *out);

struct Diags;
/* Whether the file that `source` was made from is text as a whole: a zero byte would end it early,
 * and what comes behind would be neither compiled nor formatted.  `size`: bytes of the file. */
bool fe_check_text(const Source *source, size_t size, struct Diags *diags);
/* Scans and parses; complaints go to diags; never NULL: what could be understood is in the tree. */
AstFile *fe_parse(Arena *arena, const Source *source, struct Diags *diags);

#endif
