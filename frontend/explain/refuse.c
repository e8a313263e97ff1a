/* refuse: what is said about arguments of the wrong kind: what would be right, in the user's own words. */
#include "../elaborate/elab.h"

#include <ctype.h>
#include <string.h>

static void help_for_mask(Elab *el, Diag *d, const Call *call, Val v, Span at)
{
    const char *words = el_words(el, at);
    if (v.kind == VAL_IMAGE && v.image == IR_K_IMAGE) {
        diag_help(el->diags, d, "threshold it: %s(%s > otsu(%s))", call->op->name, words, words);
    } else if (v.kind == VAL_IMAGE) {
        diag_help(el->diags, d, "make a mask of the labels: %s(%s > 0)", call->op->name, words);
    } else if (v.kind == VAL_UNIFORM) {
        diag_help(el->diags, d, "a threshold is compared with: %s(image > %s)", call->op->name, words);
    }
}

static void help_for_labels(Elab *el, Diag *d, const Call *call, Val v, Span at)
{
    const char *words = el_words(el, at);
    bool first = at.begin == call->at[0].begin;
    if (el_is_mask(el, v)) {
        diag_help(el->diags, d, "number its objects first: %s(%slabel(%s)%s)", call->op->name, first ? "" : "..., ",
                  words, first ? ", ..." : "");
    } else if (v.kind == VAL_IMAGE && (el_reads_labels(el, at) || ir_expr(el->g, v.expr)->type == ELEM_U32)) {
        diag_help(el->diags, d, "what is read from labels are numbers: as_labels(%s)", words);
    } else if (v.kind == VAL_IMAGE) {
        diag_help(el->diags, d, "threshold and label it first: label(%s > otsu(%s))", words, words);
    }
}

static void help_for_image(Elab *el, Diag *d, const Call *call, Val v, Span at)
{
    const char *words = el_words(el, at);
    bool labels = v.kind == VAL_IMAGE && v.image == IR_K_LABELS;
    const char *moved = labels ? el_moved_labels(el, call, at) : NULL;
    if (moved != NULL) {
        diag_help(el->diags, d, "labels are names, not amounts: %s", moved);
    } else if (labels) {
        diag_help(el->diags, d,
                  "labels are names, not amounts: use the mask of one (number(%s == 1)) or of all "
                  "(number(%s > 0))",
                  words, words);
    } else if (el_is_mask(el, v)) {
        diag_help(el->diags, d, "number(%s) is an image of 0 and 1", words);
    } else if (v.kind == VAL_SELECTION) {
        diag_help(el->diags, d, "%s needs every pixel: keep the image and select afterwards", call->op->name);
    } else if (v.kind == VAL_UNIFORM && strcmp(call->op->name, "f64") == 0) {
        diag_help(el->diags, d, "it is f64 already: %s", words);
    }
}

static void help_for_number(Elab *el, Diag *d, Val v)
{
    if (v.kind == VAL_UNIFORM) {
        diag_help(el->diags, d,
                  "a whole-image value is found on the device, after memory has been "
                  "planned; use a param or a number");
    } else if (v.kind == VAL_TEXT) {
        diag_help(el->diags, d, "numbers are written without quotes");
    } else if (v.kind == VAL_IMAGE) {
        diag_help(el->diags, d,
                  "one number for the whole image: mean(...), otsu(...), or a "
                  "param");
    }
}

bool el_help_for_images(Elab *el, Diag *d, Val v)
{
    bool images = v.kind == VAL_LIST && v.n > 0 && v.items[0].val.kind == VAL_IMAGE;
    if (images) {
        diag_help(
            el->diags, d,
            "images in colours are a picture: merge(red, green, blue); images become channels with concatenate(a, b, axis = c)");
    }
    return images;
}

const Op *el_filter_of(const Elab *el, const Op *op)
{
    bool whole = op->n_params > 0 && (op->param[0].types & OP_SELECTION) != 0;
    const char *name = strcmp(op->name, "var") == 0 ? "variance" : op->name;
    return whole ? ops_find(el->ops, arena_printf(el->arena, "%s_filter", name)) : NULL;
}

Diag *el_refuse_window(Elab *el, const Op *op, const char *window, Span at)
{
    const Op *filter = el_filter_of(el, op);
    const char *rank = op->n_params > 1 && !op->param[1].rest ? "q, " : "";
    Diag *d = el_error(el, WHOLE_IMAGE, at, op->name);
    diag_help(el->diags, d,
              "%s(image, %s%s) is that of the neighbours of each pixel; a number is the "
              "radius of a box: 1 for 3 x 3 pixels",
              filter->name, rank, window);
    return d;
}

/* 2,5: the words of the number; NULL where no comma stands between two digits. */
static const char *decimal_comma(Elab *el, Span at)
{
    const char *text = at.source->text;
    int begin = at.begin - 1;
    if (begin < 1 || text[begin] != ',' || !isdigit((unsigned char)text[begin - 1]) ||
        !isdigit((unsigned char)text[at.begin])) {
        return NULL;
    }
    while (begin > 0 && isdigit((unsigned char)text[begin - 1])) {
        begin--;
    }
    char *words = arena_strndup(el->arena, text + begin, (size_t)(at.end - begin));
    words[at.begin - 1 - begin] = '.';
    return words;
}

Diag *el_wrong_kind(Elab *el, const Call *call, const OpParam *p, Val v, Span at)
{
    if (v.kind == VAL_FOOTPRINT && el_filter_of(el, call->op) != NULL) {
        return el_refuse_window(el, call->op, el_words(el, at), at);
    }
    Str takes;
    str_init(&takes, el->arena);
    ops_types_phrase(p, &takes);
    Diag *d = el_error(el, ARGUMENT_KIND, at, call->op->name, takes.at, p->name, el_describe(el, v));
    if ((p->types & (OP_IMAGE | OP_MASK)) != 0 && el_help_for_images(el, d, v)) {
        return d;
    }
    if (v.kind == VAL_NUMBER && decimal_comma(el, at) != NULL) {
        diag_help(el->diags, d, "decimals are written with a point: `%s`", decimal_comma(el, at));
    } else if (v.kind == VAL_VECTOR && (p->types & (OP_IMAGE | OP_MASK)) != 0) {
        const char *words = el_words(el, at);
        diag_help(el->diags, d, strchr(words, ' ') != NULL ? "paint it: (%s)[%s]" : "paint it: %s[%s]", words,
                  el_labels_name(el, v));
    } else if ((p->types & OP_IMAGE) != 0) {
        help_for_image(el, d, call, v, at);
    } else if ((p->types & OP_MASK) != 0) {
        help_for_mask(el, d, call, v, at);
    } else if ((p->types & OP_LABELS) != 0) {
        help_for_labels(el, d, call, v, at);
    } else if ((p->types & OP_FOOTPRINT) != 0) {
        diag_help(el->diags, d,
                  "footprints are disk(2), ball(2), box(1), diamond(1), or rows of 0 "
                  "and 1: [[0, 1, 0], [1, 1, 1], [0, 1, 0]]");
    } else if ((p->types & OP_BORDER) != 0) {
        diag_help(el->diags, d, "borders are nearest, reflect, mirror, wrap and constant(0)");
    } else if ((p->types & OP_AXIS) != 0) {
        diag_help(el->diags, d, "axes are x, y and z; channels are named one by one: max(v[c = k] for k in 0 .. 2)");
    } else if ((p->types & (OP_NUMBER | OP_INTEGER | OP_VALUE | OP_PER_AXIS | OP_LENGTH)) != 0) {
        help_for_number(el, d, v);
    }
    return d;
}
