/*
 * scope: names, what they stand for, and what to say about names that stand for
 * nothing or that nobody uses.
 */
#include "elab.h"

#include "../syntax/tokens.h"
#include "../syntax/words.h"
#include "../../base/measures.h"

#include <ctype.h>
#include <string.h>

Scope *el_push(Elab *el, Scope *parent)
{
    Scope *before = el->scope;
    el->scope = arena_new(el->arena, Scope);
    el->scope->parent = parent;
    return before;
}

/* ---- bindings -------------------------------------------------------------------------- */

enum { MANY = 16 }; /* bindings: from here on a scope has slots */

/* The slot of a name, or the free one where it would be. */
static Binding **slot_of(const Scope *scope, const char *name)
{
    uint32_t hash = 2166136261u;
    for (const char *p = name; *p != '\0'; p++) {
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    }
    int at = (int)(hash & (uint32_t)(scope->n_slots - 1));
    while (scope->slot[at] != NULL && strcmp(scope->slot[at]->name, name) != 0) {
        at = (at + 1) & (scope->n_slots - 1);
    }
    return &scope->slot[at];
}

static Binding *find_bound(const Scope *scope, const char *name)
{
    if (scope->n_slots > 0) {
        return *slot_of(scope, name);
    }
    Binding *b = scope->first;
    while (b != NULL && strcmp(b->name, name) != 0) {
        b = b->next;
    }
    return b;
}

static void add_binding(Elab *el, Scope *scope, Binding *b)
{
    b->next = scope->first;
    scope->first = b;
    scope->n++;
    if (scope->n < MANY || 2 * scope->n <= scope->n_slots) {
        if (scope->n_slots > 0) {
            *slot_of(scope, b->name) = b;
        }
        return;
    }
    scope->n_slots = 4 * scope->n_slots > 4 * MANY ? 4 * scope->n_slots : 4 * MANY;
    scope->slot = arena_array(el->arena, Binding *, scope->n_slots);
    for (Binding *all = scope->first; all != NULL; all = all->next) {
        *slot_of(scope, all->name) = all;
    }
}

static Binding *bind_in(Elab *el, Scope *scope, const char *name, Span span, Val val, BindKind kind)
{
    Binding *b = find_bound(scope, name);
    if (b == NULL) {
        b = arena_new(el->arena, Binding);
        b->name = name;
        b->loop = el->loop;
        add_binding(el, scope, b);
    }
    b->span = span;
    b->val = val;
    b->kind = kind;
    b->lost = KEPT;
    return b;
}

/* A function of the prelude that nobody has called so far. */
static Binding *bind_from_library(const Scope *scope, const char *name)
{
    Elab *el = scope->library_of;
    const AstStmt *fn = fe_library_function(el->library, name);
    if (fn == NULL) {
        return NULL;
    }
    Val v = {.kind = VAL_FUNCTION, .grid = -1, .fn = fn, .env = el->prelude};
    return bind_in(el, el->prelude, fn->name, fn->name_span, v, BIND_FN);
}

Binding *el_find_here(const Scope *scope, const char *name)
{
    Binding *b = find_bound(scope, name);
    return b == NULL && scope->library_of != NULL ? bind_from_library(scope, name) : b;
}

Binding *el_find(const Scope *scope, const char *name)
{
    Binding *b = NULL;
    for (; scope != NULL && b == NULL; scope = scope->parent) {
        b = el_find_here(scope, name);
    }
    return b;
}

Binding *el_bind(Elab *el, const char *name, Span span, Val val, BindKind kind)
{
    return bind_in(el, el->scope, name, span, val, kind);
}

/* ---- names that are nothing ------------------------------------------------------------ */

typedef Vec(const char *) Names;

static void add_names(Elab *el, Names *names, const Scope *scope, bool functions)
{
    for (; scope != NULL; scope = scope->parent) {
        for (const Binding *b = scope->first; b != NULL; b = b->next) {
            if ((b->val.kind == VAL_FUNCTION) == functions) {
                vec_push(el->arena, names, b->name);
            }
        }
    }
}

/* The statement further down that gives the name its meaning, if there is one. */
static const AstStmt *assigned_later(const AstStmt *s, const char *name, Span before)
{
    for (; s != NULL; s = s->next) {
        bool defines = s->kind == AST_ASSIGN || s->kind == AST_INPUT || s->kind == AST_PARAM ||
                       (s->kind == AST_OUTPUT && s->a != NULL);
        if (defines && s->name != NULL && strcmp(s->name, name) == 0 && s->name_span.begin >= before.begin) {
            return s;
        }
        const AstStmt *inside = s->body != NULL ? assigned_later(s->body, name, before) : NULL;
        if (inside != NULL && s->kind != AST_FN) {
            return inside;
        }
    }
    return NULL;
}

/* A statement that could not be parsed would have given this name: that was said. */
bool el_is_broken(const Elab *el, const char *name)
{
    if (el->file->incomplete) {
        return true;
    }
    const AstName *n = el->file->broken;
    while (n != NULL && strcmp(n->name, name) != 0) {
        n = n->next;
    }
    return n != NULL;
}

bool el_is_near_name(Elab *el, const char *name)
{
    Names names = {0};
    add_names(el, &names, el->scope, false);
    return fe_nearest(name, names.at, names.n) != NULL;
}

bool el_is_given_somewhere(const Elab *el, const char *name)
{
    return el_is_broken(el, name) || assigned_later(el->file->statements, name, (Span){.begin = 0}) != NULL;
}

static bool has_input(const AstFile *file)
{
    const AstStmt *s = file->statements;
    while (s != NULL && s->kind != AST_INPUT) {
        s = s->next;
    }
    return s != NULL;
}

static bool is_unit(const char *name)
{
    size_t i = 0;
    while (fe_unit(i) != NULL && strcmp(fe_unit(i), name) != 0) {
        i++;
    }
    return fe_unit(i) != NULL;
}

/* #@ Float (label = "Sigma", value = 2) sigma: a script's parameter in ImageJ, a comment here. */
static bool help_script(Elab *el, Diag *d, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = strstr(el->file->source->text, "#@"); at != NULL; at = strstr(at + 2, "#@")) {
        size_t length = strcspn(at, "\r\n");
        while (length > 0 && strchr(" \t;", at[length - 1]) != NULL) {
            length--;
        }
        const char *type = at + 2 + strspn(at + 2, " \t"), *word = at + length - n;
        if (word <= type || strncmp(word, name, n) != 0 || strchr(" \t)", word[-1]) == NULL) {
            continue;
        }
        const char *value = strstr(at, "value");
        value = value != NULL && value < word ? value + 5 + strspn(value + 5, " =\"") : "";
        const int digits = (int)strspn(value, "0123456789.-");
        const char *comment = arena_strndup(el->arena, at, length < 40 ? length : 40);
        if (strchr("FIDS", type[0]) != NULL && strncmp(type, "File", 4) != 0 && strncmp(type, "Im", 2) != 0 &&
            strncmp(type, "Dataset", 7) != 0) {
            diag_help(el->diags, d, "`%s%s` is a comment here: write `param %s = %.*s in 1 .. 50`", comment,
                      length > 40 ? "..." : "", name, digits > 0 ? digits : 1, digits > 0 ? value : "2");
        } else {
            diag_help(el->diags, d, "`%s` is a comment here: write `input %s[y, x]`", comment, name);
        }
        return true;
    }
    return false;
}

/* #define SIGMA 2 of C, a comment here. */
static bool help_define(Elab *el, Diag *d, const char *name)
{
    const char *at = strstr(el->file->source->text, "#define ");
    while (at != NULL && (strncmp(at + 8, name, strlen(name)) != 0 || strchr(" \t", at[8 + strlen(name)]) == NULL)) {
        at = strstr(at + 8, "#define ");
    }
    if (at == NULL) {
        return false;
    }
    const char *value = at + 8 + strlen(name);
    value += strspn(value, " \t");
    const size_t n = strcspn(value, "\r\n");
    diag_help(el->diags, d, "`#define` is a comment here: write `%s = %.*s`", name, n <= 60 ? (int)n : 3,
              n <= 60 ? value : "...");
    return true;
}

/* a = b % blur, and // blur: a comment of one word. */
static bool help_comment(Elab *el, Diag *d, Span span)
{
    const char *text = span.source->text;
    int at = span.begin;
    while (at > 0 && text[at - 1] == ' ') {
        at--;
    }
    const bool ends = strchr("\r\n", text[span.end]) != NULL,
               slashes = at > 1 && text[at - 1] == '/' && text[at - 2] == '/';
    if (!ends || at == 0 || (text[at - 1] != '%' && !slashes)) {
        return false;
    }
    diag_help(el->diags, d,
              slashes ? "a comment starts with `#`; `//` divides and rounds down"
                      : "a comment starts with `#`; `%%` is the remainder");
    return true;
}

/* What further images of an analysis are called. */
static bool is_further_image(const char *name)
{
    return ops_lists(
        "background bg flat flatfield dark bias darkfield mask roi seg segmentation reference ref blank empty", name);
}

Val el_unknown(Elab *el, const char *name, Span span)
{
    if (el_is_broken(el, name)) {
        return el_err();
    }
    const AstStmt *later = assigned_later(el->file->statements, name, span);
    if (later != NULL && el->call.source == NULL) {
        Diag *d = el_error(el, USED_BEFORE, span, name);
        diag_note(el->diags, d, later->name_span, "`%s` gets its meaning here", name);
        diag_help(el->diags, d, "move this line below, or that one up");
        return el_err();
    }
    if (ops_find(el->ops, name) != NULL) {
        Diag *d = el_error(el, OPERATOR_AS_NAME, span, name);
        const char *dots = ops_find(el->ops, name)->n_params > 0 ? "..." : "";
        if (words_border_elsewhere(name) != NULL) {
            diag_help(el->diags, d, "as a border: %s", words_border_elsewhere(name));
            return el_err();
        }
        const Op *op = ops_find(el->ops, name);
        const char *text = span.source->text, *inside = text + span.end + 1;
        const size_t member =
            text[span.end] == '.' ? strspn(inside, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") : 0;
        const char *joined =
            member > 0 && member < 40 ? arena_printf(el->arena, "%s_%.*s", name, (int)member, inside) : "";
        if (measure_find(joined, strlen(joined)) != NULL) { /* mean.intensity */
            diag_help(el->diags, d, "did you mean `%s`?", joined);
            return el_err();
        }
        const size_t n = text[span.end] == '[' ? strcspn(inside, "[]\r\n") : 0;
        const bool bracket = n > 0 && n <= 60 && inside[n] == ']'; /* gaussian[image, 2] */
        dots = bracket                                                   ? arena_strndup(el->arena, inside, n)
               : op->n_params > 0 && (op->param[0].types & OP_AXIS) != 0 ? "x"
                                                                         : dots;
        diag_help(el->diags, d, "operators take their arguments in parentheses: %s(%s)", name, dots);
        if (bracket || op->n_params == 0 || (op->param[0].types & OP_AXIS) != 0) {
            return el_err();
        }
        diag_help(el->diags, d, "to give it to a function, make a function of it: fn my_%s(v) = %s(v%s)", name, name,
                  ops_find(el->ops, name)->n_params > 1 ? ", ..." : "");
        return el_err();
    }
    Names names = {0};
    add_names(el, &names, el->scope, false);
    for (int i = 0; i < WORDS_CONSTANTS_N; i++) {
        vec_push(el->arena, &names, WORDS_CONSTANTS[i].name);
    }
    for (int i = 0; i < BORDER_CONSTANT; i++) {
        vec_push(el->arena, &names, IR_BORDER_NAMES[i]);
    }
    vec_push(el->arena, &names, "none");
    vec_push(el->arena, &names, "true");
    vec_push(el->arena, &names, "false");
    const char *near = fe_nearest(name, names.at, names.n);
    Diag *d = el_error(el, UNKNOWN_NAME, span, name);
    if (help_script(el, d, name) || help_define(el, d, name) || help_comment(el, d, span)) {
        return el_err();
    }
    if (strcmp(name, "None") == 0 || strcmp(name, "null") == 0 || strcmp(name, "NULL") == 0) {
        diag_help(el->diags, d,
                  "leave it out: an argument that is not given has its default, and a name gets a value "
                  "where there is one");
    } else if (ops_lists("NA NaN NAN Nan", name)) {
        diag_help(el->diags, d, "NaN is `nan`; pixels without a value are those where isnan(image) is true");
    } else if (strlen(name) == 1 && strchr("xyzXYZ", name[0]) != NULL) {
        diag_help(el->diags, d, "the coordinate of a pixel is %c_of(image)", tolower((unsigned char)name[0]));
    } else if (measure_find(name, strlen(name)) != NULL && near == NULL) {
        diag_help(el->diags, d, "a value for each label is property(labels, %s); with [labels] behind it an image",
                  name);
    } else if (words_border_elsewhere(name) != NULL) {
        diag_help(el->diags, d, "as a border: %s", words_border_elsewhere(name));
    } else if (is_unit(name)) {
        diag_help(el->diags, d, "a unit stands behind a number: `2 %s`, or `sigma * 1 %s`", name, name);
    } else if (near != NULL) {
        diag_help(el->diags, d, "did you mean `%s`?", near);
    } else if (ops_peer(name) != NULL && ops_peer(name)->here[0] != '\0') {
        diag_help(el->diags, d, "here: %s", el_peer_help(el, ops_peer(name), NULL));
    } else if (has_input(el->file) && strncmp(name, "label", 5) == 0) {
        diag_help(el->diags, d, "labels are the objects of a mask: %s = label(image > otsu(image))", name);
    } else if (!has_input(el->file)) {
        diag_help(el->diags, d, "a pipeline begins with its input: input %s[y, x]", name);
    } else if (is_further_image(name)) {
        diag_help(el->diags, d, "a second image is an input: input %s[y, x]; what is computed is named above: %s = ...",
                  name, name);
    } else {
        diag_help(el->diags, d, "give it a meaning above: %s = ...", name);
    }
    return el_err();
}

/* The words of remove_border_objects and DiscreteGaussian. */
static int words_of_name(Elab *el, const char *name, char **words, int most)
{
    Str text;
    str_init(&text, el->arena);
    for (const char *p = name; *p != '\0'; p++) {
        const bool begins = p > name && isupper((unsigned char)*p) && islower((unsigned char)p[-1]);
        str_addf(&text, begins ? " %c" : "%c", *p == '_' ? ' ' : *p);
    }
    int n = 0;
    for (char *at = arena_strdup(el->arena, text.at); *at != '\0' && n < most;) {
        words[n++] = at;
        at += strcspn(at, " ");
        if (*at == ' ') {
            *at++ = '\0';
        }
    }
    return n;
}

static bool any_found(const Elab *el, const OpFound *of)
{
    int i = 0;
    while (i < el->ops->n && ((int)of[i] < OP_FOUND_EFFECT || el->ops->at[i].group == NULL)) {
        i++;
    }
    return i < el->ops->n;
}

/* Operators that do what the word says, the first few of them; false: none. */
static bool find_by_word(Elab *el, const char *word, Str *found)
{
    enum { MOST = 4 };
    enum { WORDS = 8 };
    char *words[WORDS];
    const int n_words = ops_telling_words(words, words_of_name(el, word, words, WORDS));
    const OpFound *of = ops_search(el->arena, el->ops, words, strlen(word) >= 4 ? n_words : 0, OP_FOUND_EFFECT);
    const int skip = n_words > 1 && ops_lists("remove add create do apply", words[0]); /* of what? */
    for (int i = skip; i < n_words && n_words > 1 && !any_found(el, of);
         i++) { /* one of them: what is done comes first */
        of = ops_search(el->arena, el->ops, &words[i], strlen(words[i]) >= 4 ? 1 : 0, OP_FOUND_EFFECT);
    }
    int n = 0;
    for (int place = OP_FOUND_FIRST; place >= OP_FOUND_EFFECT; place--) {
        for (int i = 0; i < el->ops->n; i++) {
            if ((int)of[i] == place && el->ops->at[i].group != NULL && n++ < MOST) {
                str_addf(found, "%s%s", found->n > 0 ? ", " : "", el->ops->at[i].name);
            }
        }
    }
    str_add(found, n > MOST ? " ..." : "");
    return n > 0;
}

/* A function of a peer that is one of the words: invert of invert_image; NULL: none. */
static const Peer *peer_in_name(Elab *el, const char *name)
{
    char *words[8];
    const int n = ops_telling_words(words, words_of_name(el, name, words, 8));
    const Peer *peer = NULL;
    for (int i = 0; i < n && peer == NULL; i++) {
        peer = ops_peer(words[i]);
        peer = peer != NULL && peer->here[0] != '\0' && ops_find(el->ops, words[i]) == NULL ? peer : NULL;
    }
    return peer;
}

/* The property that is one of the words: area of cell_areas; NULL: none. */
static const char *measured_in_name(Elab *el, const char *name)
{
    char *words[8];
    const int n = words_of_name(el, name, words, 8);
    if (measure_find(name, strlen(name)) != NULL) {
        return name;
    }
    for (int i = 0; i < n && n > 1; i++) {
        const size_t length = strlen(words[i]);
        const size_t single = length > 3 && words[i][length - 1] == 's' ? length - 1 : length;
        const Measure *m = measure_find(words[i], single);
        if (m != NULL && !m->intensity) {
            return m->name;
        }
    }
    return NULL;
}

static void help_search(Elab *el, Diag *d, const char *word)
{
    Str found;
    str_init(&found, el->arena);
    if (find_by_word(el, word, &found)) {
        diag_help(el->diags, d, "operators that do such things: %s", found.at);
    } else {
        diag_help(el->diags, d, "`pipec ops WORD` searches the operators by what they do");
    }
}

/* Commands of ImageJ's menus, where the last word says little. */
static const struct {
    const char *command, *here;
} COMMANDS[] = {
    {"convert to mask", "image > otsu(image)"},
    {"make binary", "image > otsu(image)"},
    {"auto threshold", "image > otsu(image)"},
    {"auto local threshold", "image > sauvola(image)"},
    {"gaussian blur", "gaussian(image, 2)"},
    {"median", "median_filter(image, 2)"},
    {"mean", "mean_filter(image, 2)"},
    {"subtract background", "image - rolling_ball(image, 50)"},
    {"analyze particles", "measure(label(image > otsu(image)), image, area, centroid, mean)"},
    {"find maxima", "peak_local_max(image, 2)"},
    {"find edges", "sobel(image)"},
    {"sharpen", "unsharp(image, 1)"},
    {"despeckle", "median_filter(image, 1)"},
    {"watershed", "split_objects(image > otsu(image))"},
    {"distance map", "distance(image > otsu(image))"},
    {"z project", "max_project(image)"},
    {"enhance contrast", "normalize(image, 0.35, 99.65)"},
    {"8-bit", "u8(image)"},
    {"16-bit", "u16(image)"},
    {"32-bit", "f32(image)"},
    {"invert", "white(image) - image"},
    {"set measurements", "measure(label(image > otsu(image)), image, area, mean)"},
    {"measure", "mean(image)"},
    {"split channels", "image[c = 0]"},
    {"merge channels", "merge(image)"},
    {"duplicate", "a value keeps its name, and never changes: leave it out"},
    {"close", "there are no windows: leave it out"},
    {"close all", "there are no windows: leave it out"},
    {"set scale", "the run is told: --pixel-size 0.5um"},
    {"properties", "the run is told: --pixel-size 0.5um"},
};

static const char *of_command(const char *text)
{
    size_t n = strcspn(text, ".");
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        bool same = strlen(COMMANDS[i].command) == n;
        for (size_t k = 0; k < n && same; k++) {
            same = tolower((unsigned char)text[k]) == COMMANDS[i].command[k];
        }
        if (same) {
            return COMMANDS[i].here;
        }
    }
    return NULL;
}

/* "blur" of "Gaussian Blur...". */
static const char *last_word(Elab *el, const char *text)
{
    const char *begin = text, *end = text + strcspn(text, ".");
    for (const char *p = text; p < end; p++) {
        begin = *p == ' ' && p + 1 < end ? p + 1 : begin;
    }
    char *word = arena_strndup(el->arena, begin, (size_t)(end - begin));
    for (char *p = word; *p != '\0'; p++) {
        *p = (char)tolower((unsigned char)*p);
    }
    return word;
}

/* The operator that was probably meant, or the peer's function where that is nearer and near enough. */
static const char *nearest_operator(Elab *el, const Names *names, const char *name)
{
    Names peers = {0};
    const char *near = NULL;
    for (int i = 0; i < OPS_PEERS_N; i++) {
        vec_push(el->arena, &peers, OPS_PEERS[i].name);
    }
    for (int distance = 0; distance <= 2 && distance <= (int)strlen(name) / 3 && near == NULL; distance++) {
        near = fe_nearest_within(name, names->at, names->n, distance);
        near = near == NULL ? fe_nearest_within(name, peers.at, peers.n, distance) : near;
    }
    return near != NULL ? near : fe_nearest(name, names->at, names->n);
}

/* Every operator and function. */
static Names all_operators(Elab *el)
{
    Names names = {0};
    add_names(el, &names, el->scope, true);
    for (int i = 0; i < el->ops->n; i++) {
        vec_push(el->arena, &names, el->ops->at[i].name);
    }
    return names;
}

const Op *el_nearest_op(Elab *el, const char *name)
{
    const Names names = all_operators(el);
    const char *near = nearest_operator(el, &names, name);
    return near != NULL ? ops_find(el->ops, near) : NULL;
}

/* The operator that a line of Python has given another name: import opening as op; NULL: none. */
static const char *imported_as(Elab *el, const char *name)
{
    const char *text = el->file->source->text, *as = strstr(text, " as ");
    while (as != NULL && (strncmp(as + 4, name, strlen(name)) != 0 || strchr(" ,\r\n", as[4 + strlen(name)]) == NULL)) {
        as = strstr(as + 4, " as ");
    }
    const char *begin = as;
    while (begin != NULL && begin > text && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_')) {
        begin--;
    }
    const char *own = as != NULL ? arena_strndup(el->arena, begin, (size_t)(as - begin)) : "";
    return ops_find(el->ops, own) != NULL ? own : NULL;
}

Val el_unknown_operator(Elab *el, const AstExpr *call)
{
    if (el_is_broken(el, call->name) || diags_has(el->diags, DIAG_RESERVED_WORD, call->word)) {
        return el_err();
    }
    const Peer *peer = ops_peer(call->name);
    if (strcmp(call->name, "dict") == 0 && call->args != NULL) {
        Diag *d = el_error(el, PEER_OPERATOR, call->word, call->name, "Python");
        Span inside = {call->span.source, call->word.end + 1, call->span.end - 1};
        diag_help(el->diags, d, "several values have names: `a = (%s)`, and then `a.%s`", el_words(el, inside),
                  call->args->name != NULL ? call->args->name : "name");
        return el_err();
    }
    if (peer != NULL) {
        Diag *d = el_error(el, PEER_OPERATOR, call->word, call->name, peer->package);
        if (peer->here[0] != '\0') {
            diag_help(el->diags, d, "here: %s", el_peer_help(el, peer, call));
        } else {
            diag_help(el->diags, d, "there is nothing like it here: leave it out, or look what `pipec ops` has");
        }
        return el_err();
    }
    const Names names = all_operators(el);
    const char *near = nearest_operator(el, &names, call->name), *alias = imported_as(el, call->name);
    if (alias != NULL) {
        Diag *d = el_error(el, UNKNOWN_OPERATOR, call->word, call->name);
        Span inside = {call->span.source, call->word.end, call->span.end};
        diag_help(el->diags, d, "by its own name: %s%s", alias, el_words(el, inside));
        return el_err();
    }
    Str meant; /* a word that says what is wanted is no slip, though another be near */
    str_init(&meant, el->arena);
    const char *const one[] = {near};
    if (near != NULL && fe_nearest_within(call->name, one, 1, strlen(call->name) > 9 ? 2 : 1) == NULL &&
        find_by_word(el, call->name, &meant)) {
        near = NULL;
    }
    Diag *d = el_error(el, UNKNOWN_OPERATOR, call->word, call->name);
    if (el_is_format(call->name)) {
        const char *value = call->args != NULL ? el_words(el, call->args->value->span) : "image";
        diag_help(el->diags, d, "a format stands behind the value: output result = %s as %s", value, call->name);
    } else if (near != NULL && ops_peer(near) != NULL && ops_find(el->ops, near) == NULL &&
               ops_peer(near)->here[0] != '\0') {
        diag_help(el->diags, d, "did you mean `%s`? here: %s", near, el_peer_help(el, ops_peer(near), call));
    } else if (near != NULL) {
        diag_help(el->diags, d, "did you mean `%s`?", near);
    } else if (measured_in_name(el, call->name) != NULL) {
        const char *property = measured_in_name(el, call->name);
        const Measure *m = measure_find(property, strlen(property));
        const char *image = m->intensity ? "image, " : "";
        diag_help(el->diags, d, "for each label: property(labels, %s%s), or a column of measure(labels, %s%s)", image,
                  property, image, property);
    } else {
        const AstExpr *first = call->args != NULL ? call->args->value : NULL;
        bool macro = strcmp(call->name, "run") == 0 && first != NULL && first->name != NULL && first->kind != AST_NAME;
        if (macro && of_command(first->name) != NULL) {
            diag_help(el->diags, d, "here: %s", of_command(first->name));
        } else {
            const Peer *near_peer = macro ? NULL : peer_in_name(el, call->name);
            Str none;
            str_init(&none, el->arena);
            if (near_peer != NULL && !find_by_word(el, call->name, &none)) {
                diag_help(el->diags, d, "%s of others is here: %s", near_peer->name, el_peer_help(el, near_peer, call));
                return el_err();
            }
            help_search(el, d, macro ? last_word(el, first->name) : call->name);
        }
        if (macro) {
            diag_help(el->diags, d, "`pipec import macro.ijm` writes a whole macro of ImageJ anew");
            return el_err();
        }
        diag_help(el->diags, d, "a function of your own is written: fn %s(v) = ...", call->name);
    }
    return el_err();
}

/* ---- names that nobody uses ------------------------------------------------------------ */

void el_report_unused(Elab *el)
{
    for (const Binding *b = el->top->first; b != NULL; b = b->next) {
        bool included = b->span.source != el->file->source; /* others may need it */
        if (b->used || b->name[0] == '_' || included || el_is_bad(b->val)) {
            continue;
        }
        if (b->kind == BIND_INPUT) {
            Diag *d = el_error(el, UNUSED_INPUT, b->span, b->name);
            diag_help(el->diags, d, "the run still reads a file for it: remove the line");
        } else if (b->kind == BIND_PARAM) {
            el_error(el, UNUSED_PARAM, b->span, b->name);
        } else if (b->kind == BIND_FN) {
            el_error(el, UNUSED_FUNCTION, b->span, b->name);
        } else if (b->kind == BIND_VARIABLE) {
            Diag *d = el_error(el, UNUSED_VARIABLE, b->span, b->name);
            diag_help(el->diags, d, "write it: output %s; or remove the line", b->name);
        }
    }
}

/* ---- functions that nobody calls ------------------------------------------------------- */

typedef struct Locals {
    const char *name;
    const struct Locals *up;
} Locals;

static bool is_local(const Locals *locals, const char *name)
{
    for (; locals != NULL; locals = locals->up) {
        if (strcmp(locals->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static const Locals *with_local(Elab *el, const Locals *locals, const char *name)
{
    Locals *l = arena_new(el->arena, Locals);
    l->name = name;
    l->up = locals;
    return l;
}

/* Words that an operator takes are no names; which of its arguments may be one only a call tells. */
bool el_takes_words(const Op *op)
{
    bool takes = false;
    for (int i = 0; op != NULL && i < op->n_params; i++) {
        takes = takes || (op->param[i].types & OP_WORD) != 0;
    }
    return takes;
}

static void check_expr(Elab *el, const Locals *locals, const AstExpr *e)
{
    if (e == NULL || e->kind == AST_ERROR) {
        return;
    }
    if (e->kind == AST_NAME && !is_local(locals, e->name) && el_find(el->top, e->name) == NULL &&
        !words_is_known(e->name) && ops_find(el->ops, e->name) == NULL) {
        el_unknown(el, e->name, e->span);
    }
    bool call = e->kind == AST_CALL || e->kind == AST_COMPREHENSION;
    if (call && !is_local(locals, e->name) && el_find(el->top, e->name) == NULL && ops_find(el->ops, e->name) == NULL &&
        !words_is_fold(e->name)) {
        el_unknown_operator(el, e);
    }
    for (const AstFor *f = e->fors; f != NULL; f = f->next) {
        check_expr(el, locals, f->lo);
        check_expr(el, locals, f->hi);
        locals = with_local(el, locals, f->name);
    }
    check_expr(el, locals, e->a);
    check_expr(el, locals, e->b);
    check_expr(el, locals, e->c);
    const bool words = e->kind == AST_CALL && el_takes_words(ops_find(el->ops, e->name));
    for (const AstArg *a = e->args; a != NULL; a = a->next) {
        check_expr(el, locals, words && a->value != NULL && a->value->kind == AST_NAME ? NULL : a->value);
    }
}

static const Locals *collect(Elab *el, const Locals *locals, const AstStmt *s)
{
    for (; s != NULL; s = s->next) {
        if ((s->kind == AST_ASSIGN || s->kind == AST_FOR) && s->name != NULL) {
            locals = with_local(el, locals, s->name);
        }
        locals = collect(el, locals, s->body);
        locals = collect(el, locals, s->other);
    }
    return locals;
}

static void check_stmts(Elab *el, const Locals *locals, const AstStmt *s)
{
    for (; s != NULL; s = s->next) {
        check_expr(el, locals, s->a);
        check_expr(el, locals, s->b);
        check_expr(el, locals, s->lo);
        check_expr(el, locals, s->hi);
        check_stmts(el, locals, s->body);
        check_stmts(el, locals, s->other);
    }
}

void el_check_uncalled(Elab *el)
{
    for (const AstStmt *s = el->file->statements; s != NULL && el->diags->errors < DIAG_ENOUGH; s = s->next) {
        if (s->kind != AST_FN || !el_mark_called(el, s)) {
            continue;
        }
        const Locals *locals = NULL;
        for (const AstName *p = s->names; p != NULL; p = p->next) {
            locals = with_local(el, locals, p->name);
        }
        locals = collect(el, locals, s->body);
        check_expr(el, locals, s->a);
        check_stmts(el, locals, s->body);
    }
}
