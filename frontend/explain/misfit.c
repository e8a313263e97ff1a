/*
 * misfit: arguments that an operator would take, or complain about in general terms,
 * while it can be told what was meant: reductions along an axis, axes by number, settings that
 * others have or call otherwise, axes that the image lacks, colours for what has channels,
 * and labels that are to be moved or resized.
 */
#include "../elaborate/elab.h"

#include "../../base/measures.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------------------- */

/* What others call arguments. */
static const struct {
    const char *theirs, *ours, *how;
} PEER_ARGUMENTS[] = {
    {"mode", "border", "nearest, reflect, mirror, wrap or constant(0)"},
    {"cval", "border", "constant(0)"},
    {"selem", "footprint", "disk(2), ball(2), box(1) or rows of 0 and 1"},
    {"structure", "footprint", "disk(2), ball(2), box(1) or rows of 0 and 1"},
    {"size", "radius", "that of a box, 1 for 3 x 3 pixels"},
    {"footprint", "radius", "disk(2), ball(2), box(1) or rows of 0 and 1"},
    {"radius_x", "footprint", "one radius for all axes, or a list with one for each, x last"},
    {"radius_y", "footprint", "one radius for all axes, or a list with one for each, x last"},
    {"radius_z", "footprint", "one radius for all axes, or a list with one for each, x last"},
    {"radius", "footprint", "a number is the radius of a box; disk(2), ball(2)"},
    {"size", "footprint", "a number is the radius of a box, 1 for 3 x 3 pixels; disk(2), ball(2)"},
    {"kernel", "footprint", "disk(2), ball(2), box(1) or rows of 0 and 1"},
    {"kernel", "radius", "that of a box, 1 for 3 x 3 pixels; disk(2), ball(2)"},
    {"ksize", "radius", "that of a box, 1 for 3 x 3 pixels; disk(2), ball(2)"},
    {"kernel_size", "radius", "that of a box, 1 for 3 x 3 pixels; disk(2), ball(2)"},
    {"radius_x", "radius", "one number, or a list with one for each axis, x last"},
    {"radius_y", "radius", "one number, or a list with one for each axis, x last"},
    {"radius_z", "radius", "one number, or a list with one for each axis, x last"},
    {"sigma_x", "sigma", "one number, or a list with one for each axis, x last"},
    {"sigma_y", "sigma", "one number, or a list with one for each axis, x last"},
    {"sigma_z", "sigma", "one number, or a list with one for each axis, x last"},
    {"sampling", "spacing", "one number, or a list with one for each axis, x last"},
    {"radius", "sigma", "standard deviation of the blur"},
    {"min_size", "size", "objects with fewer pixels go"},
    {"area_threshold", "size", "holes with fewer pixels go"},
    {"low_sigma", "low", "a number, or a list with one for each axis"},
    {"high_sigma", "high", "a number, or a list with one for each axis"},
    {"order", "interpolation", "nearest is their 0, linear their 1"},
    {"watershed_line", "line", "true or false"},
    {"buffer_size", "buffer", "a number of pixels"},
    {"iterations", "footprint", "a larger one, such as diamond(3) for 3 of them"},
    {"ascending", "order", "ascending or descending"},
    {"reverse", "order", "ascending or descending"},
    {"sort_by", "sort", "the name of a column"},
    {"std", "sigma", "standard deviation of the blur"},
    {"stddev", "sigma", "standard deviation of the blur"},
    {"sigma", "kappa", "how many standard deviations"},
    {"maxiters", "rounds", "a whole number"},
    {"area", "size", "objects with fewer pixels go"},
    {"min_area", "size", "objects with fewer pixels go"},
    {"max_size", "size", "objects or holes with fewer pixels go"},
    {"kernel", "weights", "rows of numbers"},
    {"angle", "degrees", "a number, in degrees"},
    {"factor", "by", "a number"},
    {"seeds", "markers", "labels of one mark for each object"},
    {"seed", "markers", "labels of one mark for each object"},
    {"dx", "x", "how far to the right"},
    {"dy", "y", "how far down"},
    {"dz", "z", "how many planes further"},
    {"w", "width", "a number of pixels"},
    {"h", "height", "a number of pixels"},
    {"theta", "angle", "a number, in degrees"},
    {"degrees", "angle", "a number, in degrees"},
    {"deg", "angle", "a number, in degrees"},
    {"element", "footprint", "disk(2), ball(2), box(1) or rows of 0 and 1"},
    {"strel", "footprint", "disk(2), ball(2), box(1) or rows of 0 and 1"},
    {"structuring_element", "footprint", "disk(2), ball(2), box(1) or rows of 0 and 1"},
    {"window", "radius", "that of a box, 1 for 3 x 3 pixels; disk(2), ball(2)"},
    {"thickness", "width", "a number of pixels"},
    {"linewidth", "width", "a number of pixels"},
    {"line_width", "width", "a number of pixels"},
    {"standard_deviation", "sigma", "standard deviation of the blur"},
    {"blur", "sigma", "standard deviation of the blur"},
    {"neighbors", "connectivity", "4 or 8, in a volume 6 or 26"},
    {"neighbours", "connectivity", "4 or 8, in a volume 6 or 26"},
    {"pixels", "distance", "a number of pixels"},
    {"pixels", "radius", "a number of pixels"},
    {"amount", "distance", "a number of pixels"},
    {"iterations", "rounds", "a whole number"},
    {"niter", "rounds", "a whole number"},
    {"sd", "sigma", "standard deviation of the blur"},
    {"fwhm", "sigma", "the full width at half maximum / 2.355"},
    {"a_min", "lo", "the lowest value"},
    {"a_max", "hi", "the highest value"},
    {"min", "lo", "the lowest value"},
    {"max", "hi", "the highest value"},
    {"lower", "lo", "the lowest value"},
    {"upper", "hi", "the highest value"},
    {"intensity_image", "columns", "images by themselves, after the labels: measure(labels, image, mean)"},
    {"properties", "columns", "words, after labels and images: measure(labels, image, area, mean)"},
};

const char *el_peer_argument(Elab *el, const Op *op, const char *name)
{
    int places = 0;
    for (int k = 0; k < op->n_params; k++) {
        places += strcmp(op->param[k].name, "x") == 0 || strcmp(op->param[k].name, "y") == 0;
    }
    if (places == 2 && (strcmp(name, "axis") == 0 || strcmp(name, "axes") == 0)) {
        return arena_printf(el->arena, "places and shifts have the names of the axes: %s(..., x = 5), or y or z",
                            op->name);
    }
    for (size_t i = 0; i < sizeof PEER_ARGUMENTS / sizeof *PEER_ARGUMENTS; i++) {
        bool meant = strcmp(PEER_ARGUMENTS[i].theirs, name) == 0;
        for (int k = 0; meant && k < op->n_params; k++) {
            if (strcmp(op->param[k].name, PEER_ARGUMENTS[i].ours) == 0) {
                return arena_printf(el->arena, "here it is `%s`: %s", PEER_ARGUMENTS[i].ours, PEER_ARGUMENTS[i].how);
            }
        }
    }
    return NULL;
}

/* What others have to say and this language has not. */
static const struct {
    const char *names, *why;
} NEEDLESS[] = {
    {"truncate", "a blur reaches as far as its weights count"},
    {"preserve_range", "values stay what they are"},
    {"channel_axis multichannel", "channels are filtered one by one; one of them is image[c = 0]"},
    {"output out dst destination", "the result is the value of the call: `result = ...`"},
    {"dtype", "a type is an operator around it: u8(...), u16(...), f32(...)"},
    {"return_num return_labels num", "how many there are is count(labels)"},
    {"background", "pixels where the mask is false are 0"},
    {"connectivity", "objects are numbered in front of it: label(mask, connectivity = 8)"},
    {"min_area min_size max_area max_size", "small objects are left out in front: remove_small_objects(mask, 20)"},
    {"keepdims", "the axes that are left keep their names"},
    {"inplace in_place copy", "a value never changes"},
    {"indices exclude_border num_peaks", "the result is an image; `pipec ops` has what can be done with it"},
    {"axis axes", "all axes are taken; for each axis by itself there are lists: [1, 2, 2] is less along z"},
    {"device backend workers n_jobs num_threads chunks", "the run decides where and how it is computed"},
    {"verbose progress", "the run says how far it is"},
};

const char *el_needless_argument(const char *name)
{
    for (size_t i = 0; i < sizeof NEEDLESS / sizeof *NEEDLESS; i++) {
        if (ops_lists(NEEDLESS[i].names, name)) {
            return NEEDLESS[i].why;
        }
    }
    return NULL;
}

void el_help_choice(Elab *el, Diag *d, const char *choices, const char *word)
{
    enum { MOST = 32 };
    const char *each[MOST] = {NULL};
    int n = 0;
    for (const char *c = choices; *c != '\0' && n < MOST; c += *c == '|') {
        size_t length = strcspn(c, "|");
        each[n++] = arena_strndup(el->arena, c, length);
        c += length;
    }
    const char *near = fe_nearest_part(word, each, n);
    Str all;
    str_init(&all, el->arena);
    for (int i = 0; i < n; i++) {
        str_addf(&all, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ", each[i]);
    }
    if (near != NULL) {
        diag_help(el->diags, d, "did you mean `%s`?", near);
    }
    diag_help(el->diags, d, "it is %s", all.at);
}

/* ---- arguments that stand in each other's place -------------------------------------------- */

/* The call with two arguments in each other's place. */
static const char *exchanged(Elab *el, const AstExpr *e, const AstArg *a, const AstArg *b)
{
    Str out;
    str_init(&out, el->arena);
    str_addf(&out, "%s(", e->name);
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        const AstArg *other = arg == a ? b : arg == b ? a : arg;
        str_add(&out, arg == e->args ? "" : ", ");
        if (arg->name != NULL) {
            str_addf(&out, "%s = ", arg->name);
        }
        str_add(&out, el_words(el, other->value->span));
    }
    str_add(&out, ")");
    return out.at;
}

/* The value that an argument without a name has got, and the parameter that it is for. */
typedef struct Placed {
    const AstArg *arg;
    const OpParam *p;
    Val v;
} Placed;

static bool fits(const Elab *el, const OpParam *p, Val v)
{
    return el_is_bad(v) || v.kind == VAL_VECTOR || el_fits(el, p, v);
}

bool el_refuse_swapped(Elab *el, const Call *call, const AstExpr *e)
{
    enum { LOOKED_AT = 4 };
    Placed placed[LOOKED_AT];
    int n = 0, rest = 0;
    while (rest < call->op->n_params && !call->op->param[rest].rest) {
        rest++;
    }
    for (const AstArg *arg = e->args; arg != NULL && arg->name == NULL && n < LOOKED_AT; arg = arg->next, n++) {
        int i = n < rest ? n : el_first_of_rest(call->op) + n - rest; /* those of "..." stand behind the others */
        if (n >= rest && rest == call->op->n_params) {
            break;
        }
        placed[n] = (Placed){arg, &call->op->param[n < rest ? n : rest], call->arg[i]};
    }
    for (int i = 0; i < n; i++) {
        for (int k = i + 1; k < n; k++) {
            const Placed *a = &placed[i], *b = &placed[k];
            if (fits(el, a->p, a->v) || fits(el, b->p, b->v) || !fits(el, a->p, b->v) || !fits(el, b->p, a->v)) {
                continue;
            }
            Str takes;
            str_init(&takes, el->arena);
            ops_types_phrase(a->p, &takes);
            Diag *d = el_error(el, ARGUMENT_KIND, a->arg->value->span, call->op->name, takes.at, a->p->name,
                               el_describe(el, a->v));
            diag_help(el->diags, d, "the other way round: %s", exchanged(el, e, a->arg, b->arg));
            return true;
        }
    }
    return false;
}

/* ---- reductions along an axis ------------------------------------------------------------ */

/* What reduces along an axis as these reduce the whole image, where it is not NAME_project. */
static const struct {
    const char *whole, *project, *behind;
} ALONG[] = {
    {"any", "max_project", ""},
    {"count", "sum_project", ""},
    {"all", "min_project", ""},
    {"var", "std_project", " ** 2"},
};

/* "median_project(image, z)"; NULL: the operator has no such form. */
static const char *along_words(Elab *el, const Op *op, const char *image, const char *axis)
{
    for (size_t i = 0; i < sizeof ALONG / sizeof *ALONG; i++) {
        if (strcmp(ALONG[i].whole, op->name) == 0) {
            return arena_printf(el->arena, "%s(%s, %s)%s", ALONG[i].project, image, axis, ALONG[i].behind);
        }
    }
    const char *project = arena_printf(el->arena, "%s_project", op->name);
    return ops_find(el->ops, project) != NULL ? arena_printf(el->arena, "%s(%s, %s)", project, image, axis) : NULL;
}

/* Whether an image is an input with channels in front: image[c, y, x]. */
static bool has_channels_first(Elab *el, const Call *call)
{
    const char *image = call->given[0] ? el_words(el, call->at[0]) : "";
    for (const AstStmt *s = el->file->statements; s != NULL; s = s->next) {
        if (s->kind == AST_INPUT && s->name != NULL && s->names != NULL && strcmp(s->name, image) == 0) {
            return strcmp(s->names->name, "c") == 0;
        }
    }
    return false;
}

/* numpy's axis as one of z, y, x: it counts those of the image from the first; NULL: none of them. */
static const char *numbered_axis(double number, int ndim)
{
    static const char *const LAST_FIRST[] = {"x", "y", "z"};
    double whole = trunc(number), from_last = whole < 0 ? -whole - 1 : ndim - 1 - whole;
    return from_last >= 0 && from_last < ndim ? LAST_FIRST[(int)from_last] : NULL;
}

static const char *axis_meant(Elab *el, const Call *call, const AstExpr *e)
{
    bool minus = e->kind == AST_UNARY && e->a != NULL && e->a->kind == AST_NUMBER;
    const AstExpr *number = minus ? e->a : e;
    const char *word = e->kind == AST_NAME || e->kind == AST_STRING ? e->name : NULL;
    if (word != NULL && strlen(word) == 1 && strchr("xyz", word[0]) != NULL) {
        return e->kind == AST_STRING || el_find(el->scope, word) == NULL ? word : NULL;
    }
    const Val v = call->arg[0];
    if (number->kind != AST_NUMBER || !call->given[0] || v.kind != VAL_IMAGE) {
        return NULL;
    }
    const bool first = !minus && has_channels_first(el, call);
    return numbered_axis(minus ? -number->num : number->num - first, el_ndim(el, v));
}

/* axis = (0, 1) of [y, x], axis = None */
static bool names_all_axes(const Elab *el, const Call *call, const AstExpr *e)
{
    int n = 0;
    for (const AstArg *item = e->kind == AST_LIST ? e->args : NULL; item != NULL; item = item->next) {
        n++;
    }
    bool all = n > 0 && call->arg[0].kind == VAL_IMAGE && n == el_ndim(el, call->arg[0]);
    return all || (e->kind == AST_NAME && strcmp(e->name, "None") == 0);
}

/* axis = 2 or -1 of [y, x, c], 0 of [c, y, x] */
static bool names_channels(Elab *el, const Call *call, const AstExpr *e)
{
    const Val v = call->arg[0];
    if (has_channels_first(el, call)) {
        return e->kind == AST_NUMBER && e->num == 0;
    }
    bool minus = e->kind == AST_UNARY && e->a->kind == AST_NUMBER;
    double number = minus ? -e->a->num : e->kind == AST_NUMBER ? e->num : 0;
    return call->given[0] && v.kind == VAL_IMAGE && el_has(el, v, IR_AX_C) &&
           (number == -1 || number == el_ndim(el, v));
}

static bool refuse_reduction(Elab *el, const Call *call, const AstExpr *e, const AstArg *arg)
{
    bool named = arg->name != NULL && (strcmp(arg->name, "axis") == 0 || strcmp(arg->name, "axes") == 0);
    bool behind = arg->name == NULL && arg != e->args;
    if ((!named && !behind) || along_words(el, call->op, "", "") == NULL) {
        return false;
    }
    if (named && names_all_axes(el, call, arg->value)) {
        Diag *d = el_error(el, ALONG_AXIS, arg->name_span, call->op->name);
        diag_help(el->diags, d, "of all axes it is %s(%s)", call->op->name, el_words(el, e->args->value->span));
        return true;
    }
    if (named && names_channels(el, call, arg->value)) {
        Diag *d = el_error(el, ALONG_AXIS, arg->name_span, call->op->name);
        diag_help(el->diags, d, "channels are named one by one: %s(%s[c = k] for k in 0 .. 2)", call->op->name,
                  el_words(el, e->args->value->span));
        return true;
    }
    const char *axis = axis_meant(el, call, arg->value);
    if (behind && arg->value->kind == AST_NAME && strcmp(arg->value->name, "c") == 0 &&
        el_find(el->scope, "c") == NULL) {
        Diag *d = el_error(el, ALONG_AXIS, arg->value->span, call->op->name);
        diag_help(el->diags, d, "channels are named one by one: %s(%s[c = k] for k in 0 .. 2)", call->op->name,
                  el_words(el, e->args->value->span));
        return true;
    }
    /* A number by itself may be a window or a bound: 0 is an axis where there are no bounds. */
    bool number = arg->value->kind != AST_NAME && arg->value->kind != AST_STRING;
    bool bounds = call->op->n_params > 1 || arg->value->num != 0 || arg->value->kind != AST_NUMBER;
    if (behind && (axis == NULL || (number && bounds))) {
        return false;
    }
    const char *image = el_words(el, e->args->value->span);
    Diag *d = el_error(el, ALONG_AXIS, named ? arg->name_span : arg->value->span, call->op->name);
    diag_help(el->diags, d, axis != NULL ? "here: %s" : "here: %s, or x or y",
              along_words(el, call->op, image, axis != NULL ? axis : "z"));
    return true;
}

/* ---- axes by number, and settings that others have ------------------------------------------ */

/* The place of a positional argument. */
static int place_among(const AstExpr *e, const AstArg *arg)
{
    int place = 0;
    for (const AstArg *before = e->args; before != arg; before = before->next) {
        place += before->name == NULL;
    }
    return place;
}

/* The parameter that an argument is for; NULL: there is none of that name or at that place. */
static const OpParam *param_for(const Call *call, const AstExpr *e, const AstArg *arg)
{
    for (int i = 0; i < call->op->n_params; i++) {
        const OpParam *p = &call->op->param[i];
        bool meant = arg->name != NULL ? strcmp(arg->name, p->name) == 0 : place_among(e, arg) == i;
        if (meant && !p->rest) {
            return p;
        }
    }
    return NULL;
}

/* flip(image, 0) of those who count the axes. */
static bool refuse_numbered_axis(Elab *el, const Call *call, const AstExpr *e, const AstArg *arg)
{
    const OpParam *p = param_for(call, e, arg);
    const char *axis = arg->value->kind == AST_NAME ? NULL : axis_meant(el, call, arg->value);
    if (p == NULL || axis == NULL || (p->types & OP_AXIS) == 0) {
        return false;
    }
    Diag *d = el_error(el, ARGUMENT_KIND, arg->value->span, call->op->name, "an axis", p->name, "a number");
    diag_help(el->diags, d, "axes have names: %s = %s", p->name, axis);
    return true;
}

/* concatenate(a, b, c): it takes two. */
static bool refuse_third_image(Elab *el, const Call *call, const AstExpr *e, const AstArg *arg)
{
    const Binding *b = arg->value->kind == AST_NAME ? el_find(el->scope, arg->value->name) : NULL;
    bool image = b != NULL && b->val.kind == VAL_IMAGE;
    if (strcmp(call->op->name, "concatenate") != 0 || !image || arg->name != NULL || place_among(e, arg) != 2) {
        return false;
    }
    const OpParam *p = &call->op->param[2];
    Diag *d =
        el_error(el, ARGUMENT_KIND, arg->value->span, call->op->name, "an axis", p->name, el_describe(el, b->val));
    diag_help(el->diags, d, "two at a time: concatenate(concatenate(%s, %s), %s)", el_words(el, call->at[0]),
              el_words(el, call->at[1]), el_words(el, arg->value->span));
    return true;
}

/* Settings of others, and how it is written here; $ stands for the first argument. */
static const struct {
    const char *op, *setting, *how;
} SETTINGS[] = {
    {"label", "structure", "with corners: label($, connectivity = 8), 26 in a volume; without: 4 and 6"},
    {"std", "ddof", "std divides by n; by n - 1: std($) * sqrt(n / (n - 1)) with n = count($ == $)"},
    {"var", "ddof", "var divides by n; by n - 1: var($) * n / (n - 1) with n = count($ == $)"},
};

static const char *with_words(Elab *el, const char *how, const char *words)
{
    Str out;
    str_init(&out, el->arena);
    for (const char *p = how; *p != '\0'; p++) {
        str_addn(&out, *p == '$' ? words : p, *p == '$' ? strlen(words) : 1);
    }
    return out.at;
}

/* box(1), or square(3) of scikit-image. */
static bool is_footprint_call(const AstExpr *e)
{
    static const char *const MAKERS[] = {"box", "ball", "disk", "diamond"};
    bool makes = e->kind == AST_CALL && ops_peer(e->name) != NULL;
    for (size_t i = 0; i < sizeof MAKERS / sizeof *MAKERS && e->kind == AST_CALL; i++) {
        makes = makes || strcmp(MAKERS[i], e->name) == 0;
    }
    return makes;
}

static bool refuse_setting(Elab *el, const Call *call, const AstExpr *e, const AstArg *arg)
{
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++) {
        bool named = arg->name != NULL && strcmp(SETTINGS[i].setting, arg->name) == 0;
        bool shape = strcmp(SETTINGS[i].setting, "structure") == 0 && arg->name == NULL && place_among(e, arg) == 1 &&
                     (arg->value->kind == AST_LIST || is_footprint_call(arg->value));
        if (strcmp(SETTINGS[i].op, call->op->name) != 0 || (!named && !shape)) {
            continue;
        }
        Diag *d = named ? el_error(el, UNKNOWN_ARGUMENT, arg->name_span, call->op->name, arg->name)
                        : el_error(el, ARGUMENT_KIND, arg->value->span, call->op->name, "a whole number",
                                   call->op->param[1].name, "a footprint");
        diag_help(el->diags, d, "%s", with_words(el, SETTINGS[i].how, el_words(el, e->args->value->span)));
        return true;
    }
    return false;
}

/* measure(labels, [area, mean]). */
static bool refuse_properties(Elab *el, const Call *call, const AstArg *arg)
{
    const AstExpr *list = arg->value;
    const AstExpr *first = list->kind == AST_LIST && list->args != NULL ? list->args->value : NULL;
    const bool quoted = first != NULL && first->kind == AST_ERROR && first->name != NULL;
    const bool word = first != NULL && (first->kind == AST_NAME || first->kind == AST_STRING || quoted);
    const Op *op = call->op;
    if (arg->name != NULL || !word || op->n_params < 2 || !op->param[1].rest || (op->param[1].types & OP_WORD) == 0 ||
        measure_find(first->name, strlen(first->name)) == NULL) {
        return false;
    }
    Str names;
    str_init(&names, el->arena);
    for (const AstArg *a = list->args; a != NULL; a = a->next) {
        str_addf(&names, ", %s", a->value->name != NULL ? a->value->name : "...");
    }
    diags_drop(el->diags, DIAG_FOREIGN_SPELLING, list->span);
    Diag *d = el_error(el, ARGUMENT_KIND, list->span, op->name, "words", "columns", "a list");
    diag_help(el->diags, d, "one after the other, without brackets: %s(%s%s)", op->name, "labels", names.at);
    return true;
}

/* sort = -area of those who sort by numbers. */
static bool refuse_minus(Elab *el, const Call *call, const AstArg *arg)
{
    const AstExpr *value = arg->value;
    bool minus = value->kind == AST_UNARY && strcmp(value->op, "-") == 0 && value->a->kind == AST_NAME;
    if (!minus || arg->name == NULL || strcmp(arg->name, "sort") != 0 || el_argument(call, "order") < 0) {
        return false;
    }
    Diag *d = el_error(el, ARGUMENT_KIND, value->span, call->op->name, "a word", "sort", "a number");
    diag_help(el->diags, d, "the largest first: sort = %s, order = descending", value->a->name);
    return true;
}

/* Rows of a kernel without the brackets around them: convolve(image, [0, 1, 0], [1, 1, 1], [0, 1, 0]). */
static bool refuse_rows(Elab *el, const Call *call, const AstExpr *e, const AstArg *arg)
{
    if (place_among(e, arg) > 1 && e->args->next->value->kind == AST_LIST && arg->value->kind == AST_LIST &&
        strcmp(call->op->name, "convolve") == 0 && !call->given[1]) {
        return true; /* it was said of the first row */
    }
    const AstArg *next = arg->next;
    bool list = arg->name == NULL && arg != e->args && arg->value->kind == AST_LIST && arg->value->args != NULL &&
                arg->value->args->value->kind == AST_NUMBER;
    if (!list || next == NULL || next->value->kind != AST_LIST || next->name != NULL ||
        strcmp(call->op->name, "convolve") != 0) {
        return false;
    }
    Diag *d = el_error(el, ARGUMENT_KIND, arg->value->span, call->op->name, "rows of numbers", call->op->param[1].name,
                       "one row");
    while (next->next != NULL && next->next->name == NULL && next->next->value->kind == AST_LIST) {
        next = next->next;
    }
    Span rows = {arg->value->span.source, arg->value->span.begin, next->value->span.end};
    diag_help(el->diags, d, "the rows stand in brackets of their own: [%s]", el_words(el, rows));
    return true;
}

/* Whatever of these it is, an axis first of all. */
/* sigma == 2, where an argument gets its value. */
static bool refuse_equals(Elab *el, const Call *call, const AstArg *arg)
{
    const AstExpr *e = arg->value;
    bool equals = arg->name == NULL && e->kind == AST_BINARY && strcmp(e->op, "==") == 0 && e->a->kind == AST_NAME;
    bool known = false;
    for (int i = 0; i < call->op->n_params && equals; i++) {
        known = known || strcmp(call->op->param[i].name, e->a->name) == 0;
    }
    if (!known || el_find(el->scope, e->a->name) != NULL) {
        return false;
    }
    Diag *d = el_error(el, UNKNOWN_NAME, e->a->span, e->a->name);
    diag_help(el->diags, d, "an argument is named with `=`: `%s = %s`", e->a->name, el_words(el, e->b->span));
    return true;
}

/* The parameter that a text names; NULL: it names none. */
static const char *named_by(Elab *el, const Op *op, const AstExpr *e)
{
    const bool text = (e->kind == AST_STRING || e->kind == AST_ERROR) && e->name != NULL;
    char *name = arena_strdup(el->arena, text ? e->name : "");
    for (char *p = name; *p != '\0'; p++) {
        *p = (char)tolower((unsigned char)*p);
    }
    for (int i = 0; i < op->n_params; i++) {
        if (strcmp(op->param[i].name, name) == 0 && !op->param[i].rest) {
            return op->param[i].name;
        }
    }
    return NULL;
}

/* gaussian(image, "sigma", 2), as Matlab and macros name arguments: said of the name, and not of the value again. */
static bool refuse_pair(Elab *el, const Call *call, const AstExpr *e, const AstArg *arg)
{
    for (const AstArg *before = e->args; before != arg; before = before->next) {
        if (before->next == arg && before->name == NULL && named_by(el, call->op, before->value) != NULL) {
            return true;
        }
    }
    const char *name = arg->name == NULL && arg->next != NULL ? named_by(el, call->op, arg->value) : NULL;
    if (name == NULL) {
        return false;
    }
    diags_drop(el->diags, DIAG_FOREIGN_SPELLING, arg->value->span);
    const Span pair = {arg->value->span.source, arg->value->span.begin, arg->next->value->span.end};
    Diag *d = el_error(el, FOREIGN_SPELLING, pair, el_words(el, pair));
    diag_help(el->diags, d, "an argument is named with `=`: `%s = %s`", name, el_words(el, arg->next->value->span));
    return true;
}

bool el_refuse_misfit(Elab *el, const Call *call, const AstExpr *e, const AstArg *arg)
{
    return refuse_pair(el, call, e, arg) || refuse_reduction(el, call, e, arg) ||
           refuse_numbered_axis(el, call, e, arg) || refuse_minus(el, call, arg) || refuse_rows(el, call, e, arg) ||
           refuse_third_image(el, call, e, arg) || refuse_setting(el, call, e, arg) ||
           refuse_properties(el, call, arg) || refuse_equals(el, call, arg);
}

/* ---- axes that an image lacks ------------------------------------------------------------ */

/* Numbers in the order that others have: x, y, width, height. */
static void help_for_flat(Elab *el, Diag *d, const Call *call)
{
    bool crop = strcmp(call->op->name, "crop") == 0;
    bool five = crop && call->n >= 5 && call->given[1] && call->given[2] && call->given[3] && call->given[4];
    const char *image = el_words(el, call->at[0]);
    if (five && !call->given[5]) {
        diag_help(el->diags, d, "%s(%s, x = %s, y = %s, width = %s, height = %s)", call->op->name, image,
                  el_words(el, call->at[1]), el_words(el, call->at[2]), el_words(el, call->at[3]),
                  el_words(el, call->at[4]));
    } else if (crop) {
        diag_help(el->diags, d, "with names: %s(%s, x = ..., y = ..., width = ..., height = ...)", call->op->name,
                  image);
    } else {
        diag_help(el->diags, d, "its arguments are %s", call->op->signature);
    }
}

/* False after a complaint about the argument i, an axis, a matrix or the rows of a kernel. */
static bool has_that_axis(Elab *el, const Call *call, const OpParam *p, int i)
{
    const Val image = call->arg[0], v = call->arg[i];
    if (el_names_axis(p, v)) {
        return el_need_axis(el, image, v.text[0] - 'x', call->at[i]);
    }
    if (v.kind == VAL_LIST && strcmp(call->op->name, "affine") == 0) {
        return v.n != 3 || el_need_axis(el, image, IR_AX_Z, call->at[i]);
    }
    bool fine = true;
    for (int ax = 0; ax < 3 && v.kind == VAL_FOOTPRINT && v.n > 3; ax++) {
        double r = 0;
        fine = fine && (!el_constant(el, v.items[ax].val, &r) || r == 0 || el_has(el, image, ax) ||
                        el_no_axis(el, image, ax, call->at[i]));
    }
    return fine;
}

/* Does an operator move pixels by its arguments x, y and z, or give an image its width, height and depth? */
static bool moves_pixels(const Op *op, bool named)
{
    static const char *const MOVES[] = {"crop", "roll", "translate", "resize", "paste"};
    bool moves = strcmp(op->name, "canvas") == 0 && named; /* others get an axis more of it */
    for (size_t i = 0; i < sizeof MOVES / sizeof *MOVES; i++) {
        moves = moves || strcmp(MOVES[i], op->name) == 0;
    }
    return moves;
}

/* False after a complaint about a place or a size along an axis that is not there.  What says nothing, no shift or one
 * pixel, may be given; and the prelude gives what it has asked for. */
static bool fits_axes(Elab *el, const Call *call, const OpParam *p, int i)
{
    static const struct {
        const char *name;
        double nothing;
    } ARGUMENTS[] = {{"x", 0}, {"y", 0}, {"z", 0}, {"width", 1}, {"height", 1}, {"depth", 1}};
    for (int k = 0; k < 6; k++) {
        double value;
        bool along = call->arg[i].kind == VAL_NUMBER && strcmp(p->name, ARGUMENTS[k].name) == 0;
        bool known = along && el_constant(el, call->arg[i], &value);
        if (!along || el_has(el, call->arg[0], el_axis(el, call->arg[0], k % 3)) ||
            (known ? value == ARGUMENTS[k].nothing : el->call.source != NULL)) {
            continue;
        }
        Diag *d = el_error(el, ABSENT_AXIS, call->at[i], p->name, call->op->name, "xyz"[k % 3],
                           el_axes(el, call->arg[0].grid));
        help_for_flat(el, d, call);
        return false;
    }
    return true;
}

bool el_check_axes(Elab *el, const Call *call)
{
    const Val v = call->arg[0];
    bool fine = true;
    for (int i = 1; i < call->op->n_params && (v.kind == VAL_IMAGE || v.kind == VAL_SELECTION); i++) {
        const OpParam *p = &call->op->param[i];
        fine = fine && has_that_axis(el, call, p, i) &&
               (!call->given[i] || !moves_pixels(call->op, el_are_named(el, v.grid)) || fits_axes(el, call, p, i));
    }
    return fine;
}

/* ---- what has channels already ----------------------------------------------------------- */

bool el_check_channels(Elab *el, const Call *call)
{
    static const struct {
        const char *name;
        int images;
    } PAINTERS[] = {{"colormap", 1}, {"colours", 1}, {"label2rgb", 1}, {"outline", 1}, {"merge", 7}};
    int images = 0, i = 0;
    for (size_t k = 0; k < sizeof PAINTERS / sizeof *PAINTERS; k++) {
        images += strcmp(PAINTERS[k].name, call->op->name) == 0 ? PAINTERS[k].images : 0;
    }
    while (i < images && (call->arg[i].kind != VAL_IMAGE || !el_has(el, call->arg[i], IR_AX_C))) {
        i++;
    }
    if (i == images) {
        return true;
    }
    const Val v = call->arg[i];
    Diag *d = el_error(el, IN_CHANNELS, call->at[i], call->op->name, el_describe(el, v));
    if (v.image == IR_K_IMAGE) {
        const char *image = el_words(el, call->at[i]);
        diag_help(el->diags, d, strchr(image, ' ') != NULL ? "one of them is (%s)[c = 0]" : "one of them is %s[c = 0]",
                  image);
    } else {
        diag_help(el->diags, d, "paint labels of one channel: label(image[c = 0] > 100)");
    }
    return false;
}

/* ---- labels that are moved or read ------------------------------------------------------- */

/* Operators that take values from other places as they are. */
static const char *const MOVERS[] = {
    "crop",  "flip",   "roll",           "pad",         "transpose",   "translate",   "rotate", "resize",
    "scale", "affine", "make_isotropic", "mode_filter", "max_project", "min_project",
};

const char *el_moved_labels(Elab *el, const Call *call, Span at)
{
    bool moves = false;
    for (size_t i = 0; i < sizeof MOVERS / sizeof *MOVERS; i++) {
        moves = moves || strcmp(MOVERS[i], call->op->name) == 0;
    }
    bool first = call->given[0] && call->at[0].begin == at.begin && call->span.source == at.source;
    if (!moves || !first || at.end >= call->span.end) {
        return NULL;
    }
    const char *how = "";
    for (int i = 1; i < call->op->n_params; i++) {
        bool open = strcmp(call->op->param[i].name, "interpolation") == 0 && !call->given[i];
        how = open ? ", interpolation = nearest" : how;
    }
    Span rest = {at.source, at.end, call->span.end - 1};
    return arena_printf(el->arena, "as_labels(%s(number(%s)%s%s))", call->op->name, el_words(el, at),
                        rest.end > rest.begin ? el_words(el, rest) : "", how);
}

bool el_reads_labels(Elab *el, Span at)
{
    const char *words = el_words(el, at);
    size_t n = strcspn(words, "[( ");
    const Binding *b = words[n] == '[' ? el_find(el->scope, arena_strndup(el->arena, words, n)) : NULL;
    bool labels = b != NULL && b->val.kind == VAL_IMAGE && b->val.image == IR_K_LABELS;
    return labels || strstr(words, "(number(") != NULL;
}
