/*
 * amount: numbers that are allowed and were probably meant in another unit: fractions where an operator takes percent,
 * radians where it takes degrees.
 *
 * The lowest percent are asked for, too: percentile(image, 0.1) of an image that is stretched from there to 99.9.  So a
 * small fraction counts only where nothing else of the file is in percent.
 */
#include "../elaborate/elab.h"

#include "../../ir/range.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Whether a word stands in a text by itself. */
static bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = strstr(text, word); p != NULL; p = strstr(p + 1, word)) {
        const bool begins = p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_');
        if (begins && !isalnum((unsigned char)p[n]) && p[n] != '_') {
            return true;
        }
    }
    return false;
}

static void note_degrees(Elab *el, const OpParam *p, const char *op, Val v, Span at)
{
    double value;
    const char *words = el_words(el, at);
    if (!has_word(words, "pi") || strstr(words, "180") != NULL) {
        return;
    }
    Diag *d = el_error(el, DEGREES, at, p->name, op);
    if (el_constant(el, v, &value)) {
        diag_help(el->diags, d, "write `%g`", value * 180 / 3.14159265358979323846);
    } else {
        diag_help(el->diags, d, "write `(%s) * 180 / pi`", words);
    }
}

void el_note_amount(Elab *el, const Call *call, const OpParam *p, Val v, Span at)
{
    const bool given = at.begin != call->span.begin || at.source != call->span.source;
    if (el->call.source != NULL || v.kind != VAL_NUMBER || !given) {
        return;
    }
    if (strcmp(p->name, "degrees") == 0 || strcmp(p->name, "angle") == 0) {
        note_degrees(el, p, call->op->name, v, at);
    }
    const IrRange r = ir_range(el->g, v.expr);
    double value;
    if (!p->ranged || p->lo != 0 || p->hi != 100 || !ir_default(el->g, v.expr, (double)NAN, &value) || value == 0) {
        return;
    }
    const bool most = value == 1 && strcmp(p->name, "high") == 0; /* normalize(v, 0, 1) */
    const bool fraction = r.lo == r.hi ? value < 1 || most : r.hi <= 1;
    vec_push(el->arena, &el->percents, ((ElPercent){at, p->name, call->op->name, value, fraction}));
}

void el_report_amounts(Elab *el)
{
    bool percent = false;
    for (int i = 0; i < el->percents.n; i++) {
        percent = percent || (!el->percents.at[i].fraction && el->percents.at[i].value > 1);
    }
    for (int i = 0; i < el->percents.n; i++) {
        const ElPercent *p = &el->percents.at[i];
        if (!p->fraction || (p->value <= 0.5 && percent)) {
            continue;
        }
        Diag *d = el_error(el, PERCENT, p->at, p->name, p->op, p->value);
        const char *words = el_words(el, p->at);
        if (strspn(words, "0123456789.") == strlen(words)) {
            diag_help(el->diags, d, "write `%g`", 100 * p->value);
        } else {
            diag_help(el->diags, d, strchr(words, ' ') != NULL ? "write `100 * (%s)`" : "write `100 * %s`", words);
        }
    }
}
