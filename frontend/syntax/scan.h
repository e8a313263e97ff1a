/*
 * scan: the text that lex.l cuts into tokens, for it and for what it does with spellings of other languages (spellings.c).
 */
#ifndef FRONTEND_SCAN_H
#define FRONTEND_SCAN_H

#include "tokens.h"

#define BACKSLASH_HELP "a line that ends in an operator or inside brackets goes on by itself"

typedef struct Scan {
    Arena *arena;
    const Source *source;
    Diags *diags; /* NULL: no complaints */
    TokenList *raw;
    int at;           /* offset of the current match */
    int depth;        /* of ( and [, to know where a statement begins */
    bool told;        /* that this is not a text file */
    bool semicolon;   /* said of one */
    const char *word; /* in letters of another alphabet, the last one that was spoken of */
} Scan;

/* Of lex.l: tokens, and complaints, of `length` bytes from s->at on. */
Span lex_span_at(const Scan *s, int length);
const char *lex_copy(const Scan *s, int length);
void lex_add(Scan *s, int kind, int length, const char *text);
Token lex_back(const Scan *s, int places);
void lex_complain(Scan *s, int length, const char *help);
void lex_add_foreign(Scan *s, int kind, int length, const char *text, const char *help);
void lex_add_unknown(Scan *s, int length, const char *help);
void lex_unsilence(Scan *s);
bool lex_at_statement(const Scan *s);

/* Of spellings.c: what a rule has found; what returns a number returns the bytes taken. */
int lex_add_semicolon(Scan *s);
int lex_add_dashes(Scan *s);
void lex_add_caret(Scan *s);
void lex_add_compound(Scan *s, int length);
void lex_add_dots(Scan *s);
void lex_add_arrow(Scan *s);
void lex_add_double_arrow(Scan *s);
void lex_add_walrus(Scan *s);
void lex_add_pipe(Scan *s, int length);
int lex_add_step(Scan *s);
void lex_add_not(Scan *s);
void lex_add_dollar(Scan *s);
void lex_add_continued(Scan *s, int length);
int lex_add_markup(Scan *s);
int lex_add_divided(Scan *s);
int lex_add_percent(Scan *s);
int lex_add_long_string(Scan *s);
const char *lex_quote_help(const Scan *s);
int lex_add_comment(Scan *s, int length);

#endif
