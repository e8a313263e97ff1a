/*
 * method: calls with a dot, of a value (image.max()) or of a module (np.max(image)).
 *
 * Both are looked at as the call without the dot, so that all else that is wrong with it is said at once: another name,
 * other arguments, a reduction along an axis.
 */
#include "../elaborate/elab.h"

#include <ctype.h>
#include <string.h>

/* What others write before a dot to say which package an operator is of. */
static const char *const MODULES[] = {
    "np",         "numpy",         "cp",      "cupy",     "cupyx",        "xp",        "math",
    "cle",        "pyclesperanto", "scipy",   "scp",      "ndi",          "ndimage",   "signal",
    "special",    "stats",         "skimage", "sk",       "ski",          "filters",   "measure",
    "morphology", "segmentation",  "feature", "exposure", "restoration",  "transform", "rank",
    "util",       "color",         "draw",    "metrics",  "registration", "astropy",   "cv",
    "cv2",        "torch",         "da",      "cucim",    "convolution",  "io",        "tifffile",
    "imageio",    "plt",           "IJ",      "pd",       "os",           "photutils", "sep",
    "mh",         "mahotas",       "sitk",    "Ext",      "random",       "Math",      "pyclesperanto_prototype",
};

/* The name of the module that a chain of names begins with; NULL: it is a value. */
static const char *module_of(const Elab *el, const AstExpr *owner)
{
    while (owner->kind == AST_MEMBER) {
        owner = owner->a;
    }
    const bool free = owner->kind == AST_NAME && el_find(el->scope, owner->name) == NULL;
    for (size_t i = 0; i < sizeof MODULES / sizeof *MODULES && free; i++) {
        if (strcmp(MODULES[i], owner->name) == 0) {
            return owner->name;
        }
    }
    return NULL;
}

/* flt.gaussian(image, 2): a name that nobody gives, in front of a call with an image, is a module of somebody's. */
static const char *unknown_module(const Elab *el, const AstExpr *e)
{
    const AstExpr *owner = e->a, *first = e->args != NULL ? e->args->value : NULL;
    while (owner->kind == AST_MEMBER) {
        owner = owner->a;
    }
    const Binding *b = first != NULL && first->kind == AST_NAME ? el_find(el->scope, first->name) : NULL;
    const bool image =
        first != NULL && (b != NULL ? b->val.kind == VAL_IMAGE : first->kind == AST_CALL || first->kind == AST_BINARY);
    const bool free =
        owner->kind == AST_NAME && el_find(el->scope, owner->name) == NULL && ops_find(el->ops, owner->name) == NULL;
    return image && free && !el_is_given_somewhere(el, owner->name) ? owner->name : NULL;
}

bool el_is_of_module(const Elab *el, const AstExpr *e)
{
    return (e->kind == AST_MEMBER || e->kind == AST_CALL) && e->a != NULL && module_of(el, e->a) != NULL;
}

/* What is nothing to call here. */
static const struct {
    const char *names, *help;
} METHODS[] = {
    {"imread open load fromfile read getdata", "images come in by themselves: `input image[y, x]`"},
    {"imwrite imsave save savetxt tofile to_csv to_excel saveAs write writeto",
     "results go out with `output name = ...`"},
    {"imshow show plot hist figure subplots scatter",
     "results are files that other programs show: `output picture = ... as png`"},
    {"rand randn random normal uniform poisson randint default_rng",
     "nothing is random here, so that each run gives the same; patterns are made of x_of(image), y_of(image)"},
    {"iinfo finfo", "the largest value that a type has is white(image): 65535 of u16"},
    {"channel channels getchannel get_channel band plane frame slice",
     "a channel is image[c = 0], a plane image[z = 0]"},
    {"na nan null", "pixels without a value are those where isnan(image) is true"},
    {"copy", "nothing is copied: a value keeps its name, and never changes"},
    {"reshape flatten ravel squeeze", "axes have names: `image[z = 0]` is a plane, `image[c = 0]` a channel"},
    {"ones ones_like full", "a window of ones is box(1), 3 x 3 pixels; an image of ones is canvas(image) + 1"},
    {"array asarray zeros empty", "images come from `input`; canvas(image) is one of zeros"},
    {"append", "there are no lists that grow: each result has a name, and tables have a row for each object"},
    {"sort_values sort sort_by order_by sortrows",
     "rows are sorted where they are made: measure(labels, area, sort = area)"},
    {"head tail iloc loc groupby describe query drop merge agg pivot",
     "a table is written and not read: objects are chosen before, keep_labels(labels, property(labels, area) > 50), and "
     "`--by` of a run sums up"},
    {"join glob listdir", "the run is given files and folders: pipec run FILE.pipe FOLDER"},
};

static const char *help_for_method(const char *name)
{
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++) {
        if (ops_lists(METHODS[i].names, name)) {
            return METHODS[i].help;
        }
    }
    return NULL;
}

/* CLIJ2_gaussianBlur2D as clEsperanto has it, gaussian_blur. */
static const char *of_clij(Elab *el, const char *name)
{
    const char *from = strchr(name, '_');
    Str out;
    str_init(&out, el->arena);
    for (const char *p = from != NULL ? from + 1 : name; *p != '\0'; p++) {
        if ((p[0] == '2' || p[0] == '3') && p[1] == 'D') {
            p++;
            continue;
        }
        str_addf(&out, isupper((unsigned char)*p) && out.n > 0 ? "_%c" : "%c", tolower((unsigned char)*p));
    }
    return out.at;
}

/* CLIJ2 names its result behind the first image. */
static AstArg *without_second(Elab *el, const AstArg *args)
{
    if (args == NULL || args->next == NULL) {
        return NULL;
    }
    AstArg *first = arena_new(el->arena, AstArg);
    *first = *args;
    first->next = args->next->next;
    return first;
}

static AstExpr *without_dot(Elab *el, const AstExpr *e, const char *module)
{
    AstExpr *call = arena_new(el->arena, AstExpr);
    *call = *e;
    call->a = NULL;
    if (module == NULL) { /* image.max(...): the image is the first argument */
        AstArg *owner = arena_new(el->arena, AstArg);
        *owner = (AstArg){.value = e->a, .next = e->args};
        call->args = owner;
    } else if (strcmp(module, "Ext") == 0) {
        call->name = of_clij(el, e->name);
        call->args = without_second(el, e->args);
    }
    return call;
}

/* The call without the dot in the user's words. */
static const char *call_words(Elab *el, const AstExpr *e, const AstExpr *call, bool whole)
{
    Str out;
    str_init(&out, el->arena);
    str_addf(&out, "%s(", call->name);
    for (const AstArg *arg = call->args; arg != NULL && whole; arg = arg->next) {
        str_add(&out, arg == call->args ? "" : ", ");
        str_addf(&out, arg->name != NULL ? "%s = " : "%s", arg->name != NULL ? arg->name : "");
        str_add(&out, el_words(el, arg->value->span));
    }
    str_add(&out, whole ? ")" : e->args == NULL && call->args != NULL ? el_words(el, e->a->span) : "...");
    str_add(&out, whole ? "" : ")");
    return out.at;
}

static Diag *refuse(Elab *el, const AstExpr *e)
{
    diags_drop(el->diags, DIAG_FOREIGN_SPELLING, e->span); /* 'gray': the call is written otherwise */
    return el_error(el, METHOD_CALL, e->word, e->name);
}

/* image.astype(np.uint8) */
static bool refuse_type(Elab *el, const AstExpr *e)
{
    const AstExpr *type = e->args != NULL ? e->args->value : NULL;
    if (strcmp(e->name, "astype") != 0 || type == NULL) {
        return false;
    }
    const Peer *peer = type->name != NULL ? ops_peer(type->name) : NULL;
    AstArg owner = {.value = e->a};
    const AstExpr call = {.kind = AST_CALL, .name = type->name, .args = &owner};
    const char *image = el_words(el, e->a->span);
    Diag *d = refuse(el, e);
    diag_help(el->diags, d, "a type is an operator: %s",
              peer != NULL && peer->here[0] != '\0' ? el_peer_help(el, peer, &call)
                                                    : arena_printf(el->arena, "u8(%s), u16, f32 and so on", image));
    return true;
}

/* Modules whose functions may have the name of an operator that is something else. */
static const struct {
    const char *modules, *package;
} PACKAGES[] = {
    {"cle pyclesperanto pyclesperanto_prototype Ext", "clEsperanto"},
    {"cv cv2", "OpenCV"},
    {"scipy ndi ndimage scp", "scipy"},
};

/* cle.sobel, ndi.median_filter, cv2.resize. */
static bool refuse_other(Elab *el, const AstExpr *call, const char *module)
{
    const Peer *peer = ops_peer(call->name);
    bool other = false;
    for (size_t i = 0; i < sizeof PACKAGES / sizeof *PACKAGES && module != NULL && peer != NULL; i++) {
        other = other || (ops_lists(PACKAGES[i].modules, module) && strstr(peer->package, PACKAGES[i].package) != NULL);
    }
    if (!other || ops_find(el->ops, call->name) == NULL) {
        return false;
    }
    diags_drop(el->diags, DIAG_FOREIGN_SPELLING, call->span);
    Diag *d = el_error(el, PEER_OPERATOR, call->word, call->name, peer->package);
    diag_help(el->diags, d, "here: %s", el_peer_help(el, peer, call));
    return true;
}

const AstExpr *el_without_dot(Elab *el, const AstExpr *e)
{
    const char *module = module_of(el, e->a);
    const AstExpr *call = without_dot(el, e, module);
    diag_help(el->diags, refuse(el, e), "write `%s`%s", call_words(el, e, call, true),
              module != NULL ? " without the module" : "");
    return call;
}

Val el_method(Elab *el, const AstExpr *e)
{
    const char *module = module_of(el, e->a), *help = help_for_method(e->name);
    module = module == NULL ? unknown_module(el, e) : module;
    if (module == NULL && el_is_bad(el_expr(el, e->a))) {
        return el_err();
    }
    const AstExpr *list = e->args != NULL && e->args->value->kind == AST_LIST ? e->args->value : NULL;
    if (list != NULL && (strcmp(e->name, "array") == 0 || strcmp(e->name, "asarray") == 0)) {
        diag_help(el->diags, refuse(el, e), "a list stands by itself: `%s`", el_words(el, list->span));
        return el_err();
    }
    if (help != NULL) {
        diag_help(el->diags, refuse(el, e), "%s", help);
        return el_err();
    }
    const AstExpr *call = without_dot(el, e, module);
    if (refuse_type(el, e) || refuse_other(el, call, module)) {
        return el_err();
    }
    const int errors = el->diags->errors;
    const Val v = el_call(el, call);
    const bool known = ops_find(el->ops, call->name) != NULL || el_find(el->scope, call->name) != NULL;
    const bool more = el->diags->errors > errors;
    const bool renamed =
        diags_has(el->diags, DIAG_ALONG_AXIS, e->span) || diags_has(el->diags, DIAG_WHOLE_IMAGE, e->span);
    if (known && !(more && renamed)) {
        diag_help(el->diags, el_error(el, METHOD_CALL, e->word, e->name), "write `%s`%s",
                  call_words(el, e, call, !more), module != NULL ? " without the module" : "");
    }
    return v;
}
