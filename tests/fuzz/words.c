/*
 * words: the dictionary of the targets that take text, as libFuzzer and AFL read it, from the tables of the language: its
 * operators with the names and the choices of their arguments, its keywords, the operations of graphs, options.
 */
#include "base/arena.h"
#include "frontend/ops/ops.h"
#include "frontend/syntax/tokens.h"
#include "frontend/syntax/words.h"
#include "ir/ir.h"
#include "runtime/command/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void put(const char *text, size_t n)
{
    printf("\"%.*s\"\n", (int)n, text);
}

/* The words of a text: what stands between other characters. */
static void put_words(const char *text)
{
    while (text != NULL && *text != '\0') {
        size_t n = 0;
        while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '-') {
            n++;
        }
        if (n > 1) {
            put(text, n);
        }
        text += n > 0 ? n : 1;
    }
}

static void put_operators(void)
{
    Arena arena;
    arena_init(&arena);
    const Ops *ops = ops_load(&arena);
    for (int i = 0; i < ops->n; i++) {
        put_words(ops->at[i].name);
        for (int k = 0; k < ops->at[i].n_params; k++) {
            put_words(ops->at[i].param[k].name);
            put_words(ops->at[i].param[k].choices);
        }
    }
    arena_free(&arena);
}

int main(void)
{
    put_operators();
    for (size_t i = 0; fe_keyword(i) != NULL; i++) {
        put_words(fe_keyword(i));
    }
    for (int i = 0; i < WORDS_CONSTANTS_N; i++) {
        put_words(WORDS_CONSTANTS[i].name);
    }
    for (int op = 1; op < IR_OPS; op++) {
        put_words(ir_op_info((IrOp)op)->name);
    }
    for (int i = 0; i < OPTION_ROW_COUNT; i++) {
        printf("\"--%s\"\n", OPTION_ROWS[i].name);
    }
    return 0;
}
