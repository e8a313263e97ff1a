/*
 * preprocess: a kernel's text as the tokens that its compiler would see.
 *
 * What C11 has, without #include: macros of both kinds, # and ##, __VA_ARGS__, conditions, _Pragma.  Macros that a
 * compiler defines by itself, which texts ask for to find out where they are, are those of OpenCL C 1.2 with doubles,
 * and of no vendor's.
 */
#ifndef RUNTIME_PREPROCESS_H
#define RUNTIME_PREPROCESS_H

#include "../../base/arena.h"

#include <setjmp.h>
#include <stdbool.h>

typedef enum TokenKind { TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN, TOKEN_END } TokenKind;

typedef struct Hidden Hidden; /* macros that a token came from, which it does not call again */

typedef struct Token {
    TokenKind kind;
    bool first;  /* of its line */
    bool spaced; /* there is space in front of it */
    const char *text;
    const char *pragma; /* lines that stood in front of it; NULL: none */
    Hidden *hidden;
    struct Token *next; /* of TOKEN_END: itself */
} Token;

/* Where a text is given up that nobody can read: `why` is set, and `jump` taken. */
typedef struct TextFault {
    jmp_buf jump;
    char why[200];
} TextFault;

_Noreturn void text_fault(TextFault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool token_is(const Token *token, const char *text);
/* `options`: those of the driver's compiler, of which -DNAME and -DNAME=VALUE are read. */
Token *preprocess(Arena *arena, TextFault *fault, const char *source, const char *options);

#endif
