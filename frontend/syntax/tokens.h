/*
 * tokens: from the text of a .pipe file to what the grammar reads; private to the frontend.
 *
 * Three steps.  The scanner (lex.l) cuts the text into raw tokens, comments and line ends
 * included.  fe_tokens then decides which line ends end a statement, which words are keywords
 * where they stand, and mends brackets that do not match.  The grammar sees a list in which every
 * bracket has its partner and every statement ends with NEWLINE; the formatter sees the raw one.
 */
#ifndef FRONTEND_TOKENS_H
#define FRONTEND_TOKENS_H

#include "ast.h"
#include "../diag/diag.h"

enum {
    FE_MAX_NESTING = 256, /* brackets and blocks */
    FE_MAX_DEPTH = 1000   /* height of the tree of an expression */
};

typedef struct Token {
    int kind;         /* one of the grammar's T_ codes */
    int begin, end;   /* bytes of the source */
    const char *text; /* a word, an operator as the tree has it, the inside of a string */
    double num;       /* of a NUMBER */
    bool is_int;
    const char *unit; /* of a NUMBER, or NULL */
    bool silent;      /* put in or complained about already: no further message about its statement */
    bool soft;        /* of raw NEWLINEs and what stands between: the statement goes on */
} Token;

typedef struct TokenList {
    Token *at;
    int n, cap;
} TokenList;

typedef struct Tokens {
    TokenList raw;   /* all of the file, kinds as fe_tokens has settled them, then T_END */
    TokenList clean; /* for the grammar, then T_END */
} Tokens;

/* Cuts the text into raw tokens; the last one is T_END.  diags may be NULL: no complaints. */
void fe_scan(Arena *arena, const Source *source, Diags *diags, TokenList *raw);
/* Both lists.  diags may be NULL: no complaints. */
void fe_tokens(Arena *arena, const Source *source, Diags *diags, Tokens *tokens);

/* The keywords in turn, NULL behind the last one. */
const char *fe_keyword(size_t i);

/* The units of numbers in turn, NULL behind the last one. */
const char *fe_unit(size_t i);

Span token_span(const Source *source, const Token *token);
/* True when a value can end with this token, so that `-` after it is a subtraction. */
bool token_ends_value(int kind);
/* True when something must follow: operators, `=`, `,` and the words that join. */
bool token_continues(int kind);

/* ---- the grammar's side ---- */

typedef struct Expected { /* what the grammar could have gone on with */
    bool expression;      /* the beginning of one */
    bool after_value;     /* an operator */
    bool end;             /* of the statement */
    bool name, block, range, assign, open, comma, close, close_square;
    bool else_word, in_word, is_word, at_word;
} Expected;

typedef struct Parser {
    Arena *arena;
    const Source *source;
    Diags *diags;
    AstFile *file;
    AstStmt *last;       /* of the file's statements */
    const Token *tokens; /* with more in front and behind (parse.y) */
    int n, at;           /* at: the next token to hand out */
    int found;           /* the last one handed out */
    int refused_end;     /* bytes up to which statements belong to a loop that was not taken */
    int header;          /* of the statement whose body is to be left out, or -1 */
} Parser;

/* Explains that the grammar cannot go on with the token parser->found. */
void fe_syntax_error(Parser *parser, const Expected *expected);

#endif
