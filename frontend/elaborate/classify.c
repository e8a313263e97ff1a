/*
 * classify: a trained random forest as a function of its features.
 *
 * The forest is read when the pipeline is compiled, and is part of the program: a vector of words (IR_FOREST) and a
 * function of the graph that is called at each pixel, or for each label.  What it reads are expressions like all others,
 * so features fuse with it.
 */
#include "elab.h"

#include "forest_text.h"

#include "../../base/file.h"
#include "../../ir/function.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 64 << 20 };

static Val refuse(Elab *el, const Call *call, const char *what, const char *why)
{
    el_error(el, FOREST, call->at[CLASSIFY_FOREST], what, why);
    return el_err();
}

/* A file beside the one that names it; it counts as included, so that what it says is part of the program's identity. */
static const char *read_file(Elab *el, const Call *call, const char *name, Err *err)
{
    const char *own = call->at[CLASSIFY_FOREST].source->path, *slash = own != NULL ? strrchr(own, '/') : NULL;
    bool beside = name[0] != '/' && slash != NULL;
    const char *path =
        arena_printf(el->arena, "%.*s%s", beside ? (int)(slash - own) + 1 : 0, own != NULL ? own : "", name);
    for (int i = 0; i < el->g->included.n; i++) {
        if (strcmp(el->g->included.at[i]->path, path) == 0) {
            return el->g->included.at[i]->text;
        }
    }
    char *text = NULL;
    size_t size = 0;
    if (!file_read_text(path, MOST_TEXT, &text, &size, err)) {
        return NULL;
    }
    bool whole = strlen(text) == size;
    const char *kept = arena_strndup(el->arena, text, size);
    free(text);
    if (!whole) {
        err_set(err, CODE_USAGE, "it is no text");
        return NULL;
    }
    vec_push(el->g->arena, &el->g->included, source_new(el->arena, path, kept));
    return kept;
}

/* ---- the features that a file names ------------------------------------------------------- */

/* "gaussian_blur" of v, by the function of the prelude that does the same; "sobel_of_gaussian_blur", which is none of
 * these, is one after the other. */
static Val feature(Elab *el, const Call *call, const char *name, Val v, double size)
{
    const char *of = strstr(name, "_of_");
    const char *here = arena_printf(el->arena, "apoc_%s", name);
    if (strcmp(name, "sobel") == 0 && el_has(el, v, IR_AX_Z)) {
        return refuse(el, call, call->arg[CLASSIFY_FOREST].text,
                      "its sobel of a volume depends on what lies beside clEsperanto's weights in memory; give the "
                      "features");
    }
    if (fe_library_function(el->library, here) != NULL) {
        const Val args[] = {v, el_number(el, size)};
        const Span at[] = {call->span, call->span};
        return el_from_prelude(el, here, args, at, 2, call->span);
    }
    if (of == NULL) {
        return refuse(
            el, call, call->arg[CLASSIFY_FOREST].text,
            "it names a feature that is not known here; give the features, as in classify(image, gaussian(image, 1), forest = ...)");
    }
    v = feature(el, call, of + strlen("_of_"), v, size);
    return el_is_bad(v) ? v : feature(el, call, arena_strndup(el->arena, name, (size_t)(of - name)), v, size);
}

/* Puts the features of each image, one after the other, into `to`; returns how many, 0 after a complaint. */
static int named_features(Elab *el, const Call *call, const char *names, const Val *images, int n, Val *to)
{
    int made = 0;
    for (int i = 0; i < n; i++) {
        for (const char *p = names + strspn(names, " ,\t\r"); *p != '\0'; p += strspn(p, " ,\t\r")) {
            size_t length = strcspn(p, " ,\t\r"), equals = strcspn(p, "= ,\t\r");
            const char *word = arena_strndup(el->arena, p, equals);
            double size = p[equals] == '=' ? strtod(p + equals + 1, NULL) : 0;
            if (images[i].kind != VAL_IMAGE || made == FOREST_FEATURES) {
                refuse(el, call, "its named features cannot be computed here", "they are of images, at most 60 in all");
                return 0;
            }
            to[made] = feature(el, call, word, images[i], size);
            if (el_is_bad(to[made++])) {
                return 0;
            }
            p += length;
        }
    }
    return made;
}

/* ---- the call ---------------------------------------------------------------------------- */

/* The function of the graph; -1: this forest has none yet. */
static int function_of(const IrGraph *g, const char *text, int wanted)
{
    for (int i = 0; i < g->functions.n; i++) {
        const IrFunction *f = g->functions.at[i];
        if (f->forest != NULL && f->wanted == wanted && strcmp(f->forest->text, text) == 0) {
            return i;
        }
    }
    return -1;
}

static int add_function(Elab *el, const char *text, int wanted)
{
    int at = function_of(el->g, text, wanted);
    if (at < 0) {
        int other = function_of(el->g, text, 0);
        const IrForest *forest = other >= 0 ? el->g->functions.at[other]->forest : ir_forest(el->g->arena, text);
        assert(forest != NULL);
        const char *name = arena_printf(el->arena, "%s%d", wanted > 0 ? "share" : "classes", el->g->functions.n);
        at = ir_forest_function(el->g, name, forest, wanted);
    }
    return at;
}

/* Which class has that number, from 1; 0: none. */
static int class_numbered(const Forest *shape, double number)
{
    for (int c = 0; c < shape->classes; c++) {
        if (shape->number[c] == number) {
            return c + 1;
        }
    }
    return 0;
}

/* The background is no object: painted, it is 0. */
static IrExpr of_objects(Elab *el, IrId labels, IrExpr result, Span span)
{
    IrGraph *g = el->g;
    IrExpr read = ir_read(g, labels), inside = ir_op2(g, IR_X_NE, read, ir_const_typed(g, 0, ELEM_U32));
    IrNode node = {.op = IR_PERLABEL,
                   .kind = IR_K_VECTOR,
                   .elem = ELEM_F32,
                   .of = labels,
                   .perlabel = {.labels = read, .value = ir_cast(g, inside, ELEM_F32), .fold = ir_const(g, LABEL_MAX)}};
    IrExpr is = ir_lookup(g, el_add_once(el, node, "inside", span), ir_coord(g, IR_AX_X));
    IrExpr some = ir_op2(g, IR_X_GT, is, ir_const_typed(g, 0, ELEM_F32));
    return ir_op3(g, IR_X_SELECT, some, result, ir_const_typed(g, 0, ir_expr(g, result)->type));
}

static Val apply(Elab *el, const Call *call, const char *text, Val *features, int n, int wanted)
{
    IrId labels;
    if (!el_by_label(el, features, n, &labels, call->span) || !el_meet(el, features, n, call->span)) {
        return el_err();
    }
    const int owner = add_function(el, text, 0), function = wanted > 0 ? add_function(el, text, wanted) : owner;
    const IrFunction *f = el->g->functions.at[owner];
    IrNode table = {.op = IR_FOREST, .kind = IR_K_VECTOR, .elem = ELEM_U32, .grid = -1, .text = f->name};
    table.forest.length = ir_const(el->g, (double)forest_length(&f->forest->shape));
    IrExpr args[FOREST_FEATURES + 1];
    for (int i = 0; i < n; i++) {
        args[i] = ir_cast(el->g, el_numbers(el, features[i]).expr, ELEM_F32);
    }
    IrExpr none = ir_const_typed(el->g, 0, ELEM_U32);
    args[n] = ir_lookup(el->g, el_add_once(el, table, "forest", call->span), none);
    IrExpr result = ir_call(el->g, function, args, n + 1);
    return labels != 0 ? el_vector(of_objects(el, labels, result, call->span), labels)
                       : el_image(el, result, features[0].grid);
}

Val el_classify(Elab *el, Call *call)
{
    Val given[CALL_MAX_ARGS], features[CALL_MAX_ARGS];
    const char *name = call->arg[CLASSIFY_FOREST].text, *names, *text;
    Err err = {0};
    bool itself = strncmp(name, "forest ", strlen("forest ")) == 0 || strncmp(name, "/*", 2) == 0;
    const char *source = itself ? name : read_file(el, call, name, &err);
    if (source == NULL || !forest_from_text(el->arena, source, &text, &names, &err)) {
        return refuse(el, call, itself ? "the forest" : name, err.text);
    }
    int n = 0;
    given[n++] = call->arg[CLASSIFY_V];
    for (int i = el_first_of_rest(call->op); i < call->n; i++) {
        given[n++] = call->arg[i];
    }
    bool named = strcmp(call->arg[CLASSIFY_FEATURES].text, "named") == 0;
    if (named && names[0] == '\0') {
        return refuse(el, call, name, "it does not name its features: leave out features = named");
    }
    memcpy(features, given, sizeof given);
    n = named ? named_features(el, call, names, given, n, features) : n;
    Forest shape;
    const char *digits;
    double number;
    bool asks = el_constant(el, call->arg[CLASSIFY_SHARE_OF], &number);
    if (n == 0 || !forest_head(text, &shape, &digits)) {
        return el_err();
    }
    if (n != shape.features) {
        Diag *d = el_error(el, FOREST_FEATURES, call->span, shape.features, n);
        if (!named && names[0] != '\0') {
            diag_help(el->diags, d, "`features = named` computes those that the file names: %s", names);
        }
        return el_err();
    }
    int wanted = asks ? class_numbered(&shape, number) : 0;
    if (asks && wanted == 0) {
        return refuse(el, call, name, "it has no class with the number of share_of");
    }
    return apply(el, call, text, features, n, wanted);
}
