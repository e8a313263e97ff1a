/*
 * syntax: the place where the grammar could not go on, and the explanations of it; private to frontend/syntax.
 */
#ifndef FRONTEND_SYNTAX_H
#define FRONTEND_SYNTAX_H

#include "tokens.h"

typedef struct SyntaxCase {
    Parser *p;
    const Expected *e;
    const Token *found, *before; /* before: an empty NEWLINE at the beginning of the file */
    const Token *first;          /* of the statement */
    bool at_start;               /* found is the first */
} SyntaxCase;

/* The text of a token, cut off where it is long. */
const char *syntax_shown(const SyntaxCase *c, const Token *token);
/* The found token; the end of a line shows right behind the last token, not behind a comment. */
Span syntax_place(const SyntaxCase *c);
bool syntax_is(const Token *token, const char *text);
void syntax_help(const SyntaxCase *c, Diag *d, const char *text);
/* A name that a statement would have given: uses of it are no mistakes of their own. */
void syntax_note_name(const Parser *p, const Token *name);

/* Explanations (foreign.c): true when taken. */
bool foreign_loop(const SyntaxCase *c);
bool foreign_ternary(const SyntaxCase *c);
bool foreign_statement(const SyntaxCase *c);
bool foreign_number(const SyntaxCase *c);
bool foreign_word(const SyntaxCase *c);
bool foreign_comment(const SyntaxCase *c);
/* "a sum is written ..." for a loop that adds something up; NULL: it does not. */
const char *foreign_summed(const SyntaxCase *c);
const char *foreign_over_pixels(const SyntaxCase *c, const Token *loop); /* of a loop over the pixels of an image */
/* Notes the names that a block gives which is not taken. */
void foreign_note_block(const SyntaxCase *c, const Token *t);
bool foreign_print(const SyntaxCase *c);
bool foreign_unnamed(const SyntaxCase *c);
bool foreign_at(const SyntaxCase *c);
bool foreign_typed_input(const SyntaxCase *c);
/* u8 of uint8; NULL: it is no type. */
const char *foreign_type(const char *word);
/* "`max(f(v, pick(k, [1, 2])) for k in 0 .. 1)`", of a loop over a list that begins at a token; NULL: it is not that. */
const char *foreign_listed(const SyntaxCase *c, const Token *loop);
/* "a function is written `fn f(v) = v * 2`" for def f(v): return v * 2, of one line; NULL: it is not that. */
const char *foreign_function(const SyntaxCase *c);
/* Whether the file gives a name a meaning of its own, in front of the found token. */
bool foreign_is_given(const SyntaxCase *c, const char *name);
/* What to do about a word that stands alone where other languages have one, as `end` and `pass`; NULL: it is none. */
const char *foreign_stray(const char *word);

/* Whether a statement begins as what has a body, and has no braces: its body is what is indented below it. */
bool foreign_header(const Parser *p, int first);
/* The token behind that body, which begins at `at`; its names are noted. */
int foreign_behind_body(const Parser *p, int header, int at);

/* Shared by the explanations (syntax.c) and what they say of a surplus (surplus.c). */
extern const char SYNTAX_SLICES[]; /* what stands for image[10:20] */
/* The nearest token of a kind in front of the place, in its bracket; NULL: none. */
const Token *syntax_earlier(const SyntaxCase *c, int kind);
/* "1 .. 3" of 1, 3, which begin at a token; else the usual range. */
const char *syntax_range_of_two(const SyntaxCase *c, const Token *lo, const char *usual);
/* a_b of a-b, which begins at a token; NULL: it is not that. */
const char *syntax_name_with_dash(const SyntaxCase *c, const Token *name);
/* The names of a, b = ...: the first, and the last; NULL: it is not that. */
const Token *syntax_first_name(const SyntaxCase *c);
const Token *syntax_names_before_assign(const SyntaxCase *c);
/* The sign with which a comment of another language begins, and what to say of it; NULL: none. */
const Token *syntax_foreign_comment_sign(const SyntaxCase *c);
void syntax_help_comment(const SyntaxCase *c, Diag *d);
/* The operator that joins the line with the next one; NULL: none. */
const Token *syntax_joins_lines(const SyntaxCase *c);
/* What to do about something that does not belong behind a value. */
void syntax_help_surplus(const SyntaxCase *c, Diag *d);

#endif
