/*
 * word_param: params that are words, `param method = otsu in [otsu, li]`, or true and false.
 *
 * For everybody but the user such a param is the number of its word, from 0 on: what depends on it is a choice that the
 * host makes, `otsu(v) if method == otsu else li(v)`.  Where an operator takes a word, such a param makes one call for each of
 * its words, and a choice between what they give.
 */
#include "elab.h"

#include <ctype.h>
#include <string.h>

/* The number of a word in "otsu|li", or -1. */
static int place_of(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (int i = 0; words != NULL && *words != '\0'; i++) {
        size_t length = strcspn(words, "|");
        if (length == n && memcmp(words, word, n) == 0) {
            return i;
        }
        words += length + (words[length] == '|');
    }
    return -1;
}

/* The word that is written, or NULL. */
static const char *word_of(const AstExpr *e)
{
    bool word = e->kind == AST_NAME || (e->kind == AST_STRING && e->name[0] != '\0');
    for (const char *c = e->name; word && *c != '\0'; c++) {
        word = isalnum((unsigned char)*c) || *c == '_' || *c == '-';
    }
    return word ? e->name : NULL;
}

static bool read_words(Elab *el, const AstStmt *s, Str *words, int *n)
{
    for (const AstArg *arg = s->lo->args; arg != NULL; arg = arg->next) {
        const char *word = word_of(arg->value);
        if (word == NULL || place_of(words->at, word) >= 0) {
            Diag *d = el_error(el, PARAM_WORDS, arg->value->span, el_words(el, arg->value->span));
            diag_help(el->diags, d, "words differ: param %s = otsu in [otsu, li, triangle]", s->name);
            return false;
        }
        str_addf(words, "%s%s", *n > 0 ? "|" : "", word);
        (*n)++;
    }
    return true;
}

bool el_word_param(Elab *el, const AstStmt *s, IrParam *p)
{
    Str words;
    int n = 0;
    str_init(&words, el->arena);
    str_add(&words, "");
    if (s->lo->args->value->kind == AST_NUMBER) {
        Diag *d = el_error(el, EXPECTED_RANGE, s->lo->span, arena_printf(el->arena, "`%s`", el_words(el, s->lo->span)));
        const AstArg *lo = s->lo->args, *hi = lo->next;
        diag_help(el->diags, d, "a range has two dots: `in %s .. %s`", el_words(el, lo->value->span),
                  hi != NULL ? el_words(el, hi->value->span) : "10");
        return false;
    }
    if (!read_words(el, s, &words, &n)) {
        return false;
    }
    const char *word = word_of(s->a);
    int place = word != NULL ? place_of(words.at, word) : -1;
    if (place < 0) {
        Diag *d = el_error(el, PARAM_WORDS, s->a->span, el_words(el, s->a->span));
        diag_help(el->diags, d, "the default is one of the words behind `in`");
        return false;
    }
    *p = (IrParam){p->name, p->help, place, 0, n - 1, true, words.at};
    return true;
}

Val el_word_of(Elab *el, const AstExpr *e, Val beside)
{
    const Binding *b = e->kind == AST_NAME ? el_find(el->scope, e->name) : NULL;
    bool itself = b != NULL && (b->val.words != NULL || b->val.kind == VAL_WORD);
    return beside.words != NULL && e->kind == AST_NAME && !itself ? el_word(e->name) : el_expr(el, e);
}

Val el_compare_param(Elab *el, IrExprOp op, Val param, Val other, Span span)
{
    bool word = (other.kind == VAL_WORD || other.kind == VAL_TEXT) && other.words == NULL;
    int place = word ? place_of(param.words, other.text) : -1;
    if (place < 0) {
        Diag *d = el_error(el, PARAM_WORDS, span, word ? other.text : el_describe(el, other));
        diag_help(el->diags, d, "`%s` is one of %s", param.text, param.words);
        return el_err();
    }
    return el_host(ir_op2(el->g, op, param.expr, ir_const(el->g, place)));
}

/* ---- in place of an operator's word ------------------------------------------------------ */

static bool takes_word(const OpParam *p)
{
    return p->choices != NULL || (p->types & (OP_BORDER | OP_WORD)) != 0;
}

static const Val *word_param(Elab *el, const AstExpr *e)
{
    const Binding *b = e->kind == AST_NAME ? el_find(el->scope, e->name) : NULL;
    return b != NULL && b->val.words != NULL ? &b->val : NULL;
}

const AstArg *el_word_argument(Elab *el, const Op *op, const AstExpr *call)
{
    int i = 0;
    for (const AstArg *arg = call->args; arg != NULL; arg = arg->next, i++) {
        bool takes = arg->name == NULL && i < op->n_params && takes_word(&op->param[i]);
        for (int k = 0; arg->name != NULL && k < op->n_params; k++) {
            takes = takes || (strcmp(op->param[k].name, arg->name) == 0 && takes_word(&op->param[k]));
        }
        if (takes && word_param(el, arg->value) != NULL) {
            return arg;
        }
    }
    return NULL;
}

/* The call with a word in place of an argument. */
static const AstExpr *call_with(Elab *el, const AstExpr *call, const AstArg *instead, const char *word)
{
    AstExpr *to = arena_new(el->arena, AstExpr), *value = arena_new(el->arena, AstExpr);
    AstArg **at = &to->args;
    *to = *call;
    *value = *instead->value;
    value->name = word;
    for (const AstArg *arg = call->args; arg != NULL; arg = arg->next) {
        AstArg *copy = arena_new(el->arena, AstArg);
        *copy = *arg;
        copy->value = arg == instead ? value : arg->value;
        *at = copy;
        at = &copy->next;
    }
    return to;
}

Val el_call_by_word(Elab *el, const AstExpr *call, const AstArg *arg)
{
    const Val param = el_expr(el, arg->value); /* it is used */
    const bool guarded = el->guarded;
    Val chosen = {0};
    el->guarded = true;
    for (const char *at = param.words; *at != '\0';) {
        const size_t n = strcspn(at, "|");
        const char *word = arena_strndup(el->arena, at, n);
        const Val given = el_call(el, call_with(el, call, arg, word));
        const Val is = el_compare_param(el, IR_X_EQ, param, el_word(word), arg->value->span);
        chosen = at == param.words ? given : el_is_bad(chosen) ? chosen : el_select(el, is, given, chosen, call->span);
        at += n + (at[n] == '|');
    }
    el->guarded = guarded;
    return chosen;
}
