/*
 * peer: what to write instead of a call as another package has it.
 *
 * peers.def says how a call is written here, as one line, or as several where it depends on the
 * arguments.  Of these the one is taken that leaves the fewest of the user's arguments out, and
 * those that it leaves out are named: a suggestion that is copied must not change the analysis
 * without a word.
 */
#include "../elaborate/elab.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { SLOTS = 9, ARGUMENTS = 32, LEFT_OUT = 100 /* what an argument that is missing weighs */ };

/* One way to write a call, and where the user's arguments go. */
typedef struct Spelling {
    const char *here, *arguments, *parameters, *note;
    const AstArg *slot[SLOTS]; /* of $1 ... $9; NULL: not given */
    bool used[ARGUMENTS];      /* of the arguments in the user's order */
    int lost;                  /* how badly it fits */
    const char *rounded;       /* the even side of a window, which has no radius */
    int grid_axes;             /* of the image that the call is about; 0: not known */
} Spelling;

/* Settings, which are never what an operator is about. */
static const char *const SETTINGS[] = {
    "mode", "cval", "output", "out",      "order",   "axis",     "axes",  "origin",     "border_value",
    "k",    "r",    "nbins",  "sampling", "spacing", "truncate", "dtype", "iterations", "preserve_range",
};

static bool is_setting(const char *name)
{
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++) {
        if (strcmp(SETTINGS[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* The place of a name in "input|image size footprint"; -1: there is none. */
static int place_of(const char *parameters, const char *name)
{
    size_t n = strlen(name);
    int place = 0;
    for (const char *p = parameters; *p != '\0'; place += *p == ' ', p += *p != '\0') {
        size_t size = strcspn(p, "| ");
        if (size == n && strncmp(p, name, n) == 0) {
            return place;
        }
        p += size;
    }
    return -1;
}

/* Where radius_y belongs: beside the radius along x. */
static int place_of_axis(const char *arguments, const char *name)
{
    size_t n = strlen(name);
    const char *along = strpbrk(arguments, "ae");
    bool axis = n > 2 && name[n - 2] == '_' && strchr("xyz", name[n - 1]) != NULL;
    return axis && along != NULL ? (int)(along - arguments) + (name[n - 1] - 'x') : -1;
}

static int place_in(const Spelling *s, const AstArg *arg, int *next)
{
    if (arg->name == NULL) {
        return (*next)++;
    }
    if (s->parameters != NULL) {
        return place_of(s->parameters, arg->name);
    }
    int axis = place_of_axis(s->arguments, arg->name);
    return axis >= 0 ? axis : is_setting(arg->name) ? -1 : (*next)++;
}

/* ---- one argument in other words ------------------------------------------------------- */

/* disk(2) of morphology.disk(2), box(1) of np.ones((3, 3)). */
static const char *without_module(Elab *el, const AstExpr *call)
{
    const AstExpr *shape = call->args != NULL ? call->args->value : NULL;
    const AstExpr *side = shape != NULL && shape->kind == AST_LIST && shape->args != NULL ? shape->args->value : NULL;
    bool ones = strcmp(call->name, "ones") == 0 && side != NULL && side->kind == AST_NUMBER;
    return ones ? arena_printf(el->arena, "box(%g)", floor(side->num / 2))
                : el_words(el, (Span){call->span.source, call->word.begin, call->span.end});
}

/* ---- calls of peers within others ---- */

static const char *call_here(Elab *el, const Peer *peer, const AstExpr *call);

typedef struct Rewritten {
    Str *out;
    int at; /* bytes of the source that are there */
} Rewritten;

/* Whether words hold together, whatever stands beside them. */
static bool holds_together(const char *words)
{
    int depth = 0;
    for (const char *p = words; *p != '\0'; p++) {
        depth += (strchr("([", *p) != NULL) - (strchr(")]", *p) != NULL);
        if (*p == ' ' && depth == 0) {
            return false;
        }
    }
    return true;
}

static bool is_peer_call(const Elab *el, const AstExpr *e)
{
    const bool call = e->kind == AST_CALL && e->name != NULL && (e->a == NULL || el_is_of_module(el, e));
    const Peer *peer = call ? ops_peer(e->name) : NULL;
    return peer != NULL && peer->here[0] != '\0' && strncmp(peer->here, "output ", 7) != 0 &&
           strncmp(peer->here, "input ", 6) != 0 && el_find(el->scope, e->name) == NULL;
}

/* Puts what is written here in place of each call of a peer. */
static void rewrite(Elab *el, Rewritten *r, const AstExpr *e, bool alone)
{
    if (e == NULL || e->kind == AST_ERROR) {
        return;
    }
    const char *text = e->span.source->text;
    if (is_peer_call(el, e) && (alone || strcmp(e->name, "ones") != 0)) { /* ones(3) / 9 is no window */
        const char *here = call_here(el, ops_peer(e->name), e);
        const bool bare = alone || holds_together(here);
        str_addn(r->out, text + r->at, (size_t)(e->span.begin - r->at));
        str_addf(r->out, bare ? "%s" : "(%s)", here);
        r->at = e->span.end;
        return;
    }
    if (e->kind == AST_CALL && e->a != NULL && el_is_of_module(el, e)) { /* np.sqrt(v) */
        str_addn(r->out, text + r->at, (size_t)(e->span.begin - r->at));
        r->at = e->word.begin;
    } else {
        rewrite(el, r, e->a, false);
    }
    rewrite(el, r, e->b, false);
    rewrite(el, r, e->c, false);
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        rewrite(el, r, arg->value, e->kind == AST_CALL || e->kind == AST_LIST);
    }
}

/* The words of an expression with all that it calls as it is called here. */
static const char *words_here(Elab *el, const AstExpr *e)
{
    Str out;
    str_init(&out, el->arena);
    Rewritten r = {&out, e->span.begin};
    rewrite(el, &r, e, true);
    str_addn(&out, e->span.source->text + r.at, (size_t)(e->span.end - r.at));
    return out.at;
}

static const char *words_of(Elab *el, const AstArg *arg)
{
    if (arg->value->kind == AST_CALL && el_is_of_module(el, arg->value) && !is_peer_call(el, arg->value)) {
        return without_module(el, arg->value);
    }
    const char *words = words_here(el, arg->value);
    bool tuple = arg->value->kind == AST_LIST && arg->value->op != NULL && words[strlen(words) - 1] == ')';
    return tuple ? arena_printf(el->arena, "[%.*s]", (int)strlen(words) - 2, words + 1) : words;
}

static bool same_words(Elab *el, const AstArg *a, const AstArg *b)
{
    return strcmp(words_of(el, a), words_of(el, b)) == 0;
}

static bool is_zero(const AstArg *arg)
{
    return arg != NULL && arg->value->kind == AST_NUMBER && arg->value->num == 0;
}

/* The radius of a window from its side. */
static const char *radius_words(Elab *el, const char **rounded, const AstExpr *side)
{
    if (side->kind == AST_NUMBER && side->unit == NULL) {
        bool even = fmod(side->num, 2) == 0;
        *rounded = even ? el_words(el, side->span) : *rounded;
        return arena_printf(el->arena, "%g", even ? side->num / 2 : (side->num - 1) / 2);
    }
    const char *words = el_words(el, side->span);
    if (side->kind != AST_LIST) {
        return arena_printf(el->arena, strchr(words, ' ') != NULL ? "((%s) - 1) / 2" : "(%s - 1) / 2", words);
    }
    Str list;
    str_init(&list, el->arena);
    for (const AstArg *item = side->args; item != NULL; item = item->next) {
        str_addf(&list, item == side->args ? "[%s" : ", %s", radius_words(el, rounded, item->value));
    }
    str_add(&list, "]");
    return list.at;
}

/* A number for each axis, which others write as x, y, z and a list here has in the order z, y, x. */
static const char *axis_words(Elab *el, const Spelling *s, int k)
{
    const AstArg *const each[3] = {s->slot[k], s->slot[k + 1], s->slot[k + 2]};
    if (each[0] != NULL && each[1] == NULL && each[2] == NULL) {
        return words_of(el, each[0]);
    }
    bool flat = each[2] == NULL || (is_zero(each[2]) && s->grid_axes == 2);
    int n = flat && s->grid_axes != 3 ? 2 : 3;
    bool same = true;
    Str list;
    str_init(&list, el->arena);
    for (int ax = n - 1; ax >= 0; ax--) {
        same = same && each[ax] != NULL && each[0] != NULL && same_words(el, each[ax], each[0]);
        str_addf(&list, ax == n - 1 ? "[%s" : ", %s", each[ax] != NULL ? words_of(el, each[ax]) : "0");
    }
    str_add(&list, "]");
    return same ? words_of(el, each[0]) : list.at;
}

/* "2, 3" for [3, 2], which has x last; one number goes for each axis. */
static const char *steps_words(Elab *el, const Spelling *s, const AstExpr *e)
{
    const char *steps = el_words(el, e->span);
    if (e->kind != AST_LIST) {
        return arena_printf(el->arena, s->grid_axes == 3 ? "%s, %s, %s" : "%s, %s", steps, steps, steps);
    }
    steps = "";
    for (const AstArg *item = e->args; item != NULL; item = item->next) {
        steps = arena_printf(el->arena, item == e->args ? "%s" : "%s, %s", words_of(el, item), steps);
    }
    return steps;
}

/* 640, 480 of [640, 480]. */
static const char *bare_words(Elab *el, const AstArg *list)
{
    const char *words = words_of(el, list);
    return words[0] == '[' ? arena_printf(el->arena, "%.*s", (int)strlen(words) - 2, words + 1) : words;
}

/* The operator that a method is called by: otsu for 'Otsu dark'; NULL: it is none. */
static const char *method_words(Elab *el, const AstExpr *e)
{
    bool word = e->kind == AST_NAME || e->kind == AST_STRING || e->kind == AST_ERROR;
    if (!word || e->name == NULL) {
        return NULL;
    }
    const char *text = strncmp(e->name, "threshold_", 10) == 0 ? e->name + 10 : e->name;
    char *name = arena_strndup(el->arena, text, strcspn(text, " "));
    for (char *p = name; *p != '\0'; p++) {
        *p = (char)tolower((unsigned char)*p);
    }
    return ops_find(el->ops, name) != NULL ? name : NULL;
}

static bool is_text(const AstExpr *e)
{
    return e->kind == AST_STRING || (e->kind == AST_ERROR && e->name != NULL);
}

/* A text, or the name of an operator: no image, labels or number. */
static bool is_method(Elab *el, const AstExpr *e)
{
    return is_text(e) || (e->kind == AST_NAME && el_find(el->top, e->name) == NULL && method_words(el, e) != NULL);
}

static const char *slot_words(Elab *el, Spelling *s, int k)
{
    char kind = s->arguments[k];
    if (kind == 'w' && s->slot[k] != NULL) {
        const char *method = method_words(el, s->slot[k]->value);
        return method != NULL ? method : "otsu";
    }
    if (s->slot[k] != NULL && strchr("ivmln", kind) != NULL && is_text(s->slot[k]->value)) {
        const char *value = strchr(s->slot[k]->value->name, '{'); /* print(f"{mean(image)}") */
        return value != NULL                         ? arena_strndup(el->arena, value + 1, strcspn(value + 1, "}:!"))
               : strncmp(s->here, "output ", 7) == 0 ? "mean(image)"
                                                     : "image";
    }
    if (kind == 'l' && s->slot[k] != NULL && el_looks_like_mask(el, s->slot[k]->value)) {
        return arena_printf(el->arena, "label(%s)", words_of(el, s->slot[k]));
    }
    return kind == 'a'          ? axis_words(el, s, k)
           : s->slot[k] == NULL ? NULL
           : kind == 's'        ? radius_words(el, &s->rounded, s->slot[k]->value)
           : kind == 't'        ? steps_words(el, s, s->slot[k]->value)
           : kind == 'u'        ? bare_words(el, s->slot[k])
                                : words_of(el, s->slot[k]);
}

/* ---- one way to write it --------------------------------------------------------------- */

/* True when what stands from `at` to `end` is a whole argument: between brackets and commas. */
static bool is_argument(const char *text, const char *at, const char *end)
{
    const char *before = at;
    while (before > text && before[-1] == ' ') {
        before--;
    }
    bool opens = before > text && (before[-1] == '(' || before[-1] == ',' || before[-1] == '[');
    return opens && (*end == ')' || *end == ',' || *end == ']');
}

static bool is_given(const Spelling *s, int k)
{
    return s->slot[k] != NULL || (s->arguments[k] == 'a' && (s->slot[k + 1] != NULL || s->slot[k + 2] != NULL));
}

/* "$1 > otsu($1)" with the user's own words in place. */
static const char *filled(Elab *el, Spelling *s)
{
    static const char *const STAND_IN[SLOTS] = {"v", "w", "1", "2", "3", "4", "5", "6", "7"};
    Str out;
    str_init(&out, el->arena);
    for (const char *p = s->here; *p != '\0'; p++) {
        if (*p != '$') {
            str_addn(&out, p, 1);
            continue;
        }
        int k = p[1] - '1';
        bool given = is_given(s, k);
        const char *words = given ? slot_words(el, s, k) : STAND_IN[k];
        const char *end = p + 2;
        if (*end == '{') { /* what to take where there is no such argument */
            size_t n = strcspn(end + 1, "}");
            words = given ? words : arena_strndup(el->arena, end + 1, n);
            end += n + 2;
        }
        bool fallback = p[2] == '{' && !given;
        const AstExpr *value = given && s->slot[k] != NULL ? s->slot[k]->value : NULL;
        bool whole = value != NULL && strchr("ivml", s->arguments[k]) != NULL &&
                     (value->kind == AST_CALL || value->kind == AST_INDEX || strncmp(words, "label(", 6) == 0);
        bool bare = fallback || whole || strchr(words, ' ') == NULL || words[0] == '[' || is_argument(s->here, p, end);
        str_addf(&out, bare ? "%s" : "(%s)", words);
        p = end - 1;
    }
    return out.at;
}

/* A call, rows of numbers or an image: they are not the side of a window. */
static bool has_no_side(const Elab *el, const AstExpr *e)
{
    if (e->kind == AST_BINARY || e->kind == AST_UNARY) {
        return has_no_side(el, e->a) || (e->b != NULL && has_no_side(el, e->b));
    }
    const Binding *b = e->kind == AST_NAME ? el_find(el->scope, e->name) : NULL;
    bool rows = e->kind == AST_LIST && e->args != NULL && e->args->value->kind == AST_LIST;
    return rows || e->kind == AST_CALL || (b != NULL && b->val.kind == VAL_IMAGE);
}

/* A parameter 'square' is just this text: one that is another speaks against the spelling.  True when it is so. */
static bool is_quoted(Spelling *s, int k, const AstArg *arg)
{
    const char *p = s->parameters;
    for (int i = 0; i < k && p != NULL; i++) {
        p = strchr(p, ' ');
        p = p != NULL ? p + 1 : NULL;
    }
    if (p == NULL || p[0] != '\'') {
        return false;
    }
    const size_t n = strcspn(p + 1, "'");
    const bool same = is_text(arg->value) && strlen(arg->value->name) == n && strncmp(arg->value->name, p + 1, n) == 0;
    s->lost += same ? 0 : LEFT_OUT;
    return same;
}

/* Marks the arguments that the text uses, and counts those that it lacks. */
static void mark_used(Elab *el, Spelling *s, const int *place, const AstArg *args)
{
    bool used[SLOTS] = {false};
    for (const char *p = strchr(s->here, '$'); p != NULL; p = strchr(p + 1, '$')) {
        int k = p[1] - '1';
        char kind = s->arguments[k];
        bool there = is_given(s, k);
        s->lost += there || p[2] == '{' ? 0 : LEFT_OUT;
        s->lost += there && (kind == 'w') != is_method(el, s->slot[k]->value) ? LEFT_OUT : 0;
        s->lost += kind == 'p' && there && (is_zero(s->slot[k]) || has_no_side(el, s->slot[k]->value)) ? LEFT_OUT : 0;
        s->lost += kind == 'u' && there && s->slot[k]->value->kind != AST_LIST ? LEFT_OUT : 0;
        s->lost += kind == 's' && there && has_no_side(el, s->slot[k]->value) ? LEFT_OUT : 0;
        used[k] = true;
        for (int i = k + 1; (kind == 'a' || kind == 'e') && i < k + 3; i++) {
            bool both = s->slot[i] != NULL && s->slot[k] != NULL;
            used[i] = kind == 'a' || (both && same_words(el, s->slot[i], s->slot[k]));
        }
    }
    int i = 0;
    for (const AstArg *arg = args; arg != NULL && i < ARGUMENTS; arg = arg->next, i++) {
        bool none = arg->value->kind == AST_NAME && strcmp(arg->value->name, "None") == 0;
        const bool quoted = place[i] >= 0 && arg->name == NULL && is_quoted(s, place[i], arg);
        s->used[i] =
            none || quoted || (place[i] >= 0 && place[i] < SLOTS && used[place[i]] && s->slot[place[i]] == arg);
        s->lost += !s->used[i];
    }
}

static Spelling spell(Elab *el, Spelling s, const AstExpr *call)
{
    int place[ARGUMENTS], next = 0, i = 0;
    const AstArg *args = call != NULL ? call->args : NULL;
    const Binding *b = args != NULL && args->value->kind == AST_NAME ? el_find(el->scope, args->value->name) : NULL;
    s.grid_axes = b != NULL && b->val.kind == VAL_IMAGE ? el_ndim(el, b->val) : 0;
    for (const AstArg *arg = args; arg != NULL && i < ARGUMENTS; arg = arg->next, i++) {
        place[i] = place_in(&s, arg, &next);
        bool none = arg->value->kind == AST_NAME && strcmp(arg->value->name, "None") == 0;
        if (!none && place[i] >= 0 && place[i] < SLOTS && s.slot[place[i]] == NULL) {
            s.slot[place[i]] = arg;
        }
    }
    mark_used(el, &s, place, args);
    return s;
}

/* A text that names a file, which the command line does here. */
static const char *file_name(Elab *el, const AstExpr *call)
{
    const char *file = NULL;
    for (const AstArg *arg = call->args; arg != NULL; arg = arg->next) {
        const AstExpr *value = arg->value;
        bool text = (value->kind == AST_STRING || value->kind == AST_ERROR) && value->name != NULL;
        const char *dot = text ? strrchr(value->name, '.') : NULL;
        file = dot != NULL && strlen(dot) >= 3 && strlen(dot) <= 5 ? value->name : file;
    }
    return file != NULL ? arena_strdup(el->arena, file) : NULL;
}

/* Says what the suggestion leaves out: "; `offset` and `10` are not in it". */
static void add_left_out(Elab *el, const Spelling *s, const AstExpr *call, Str *out)
{
    int n = 0, said = 0, i = 0;
    for (const AstArg *arg = call->args; arg != NULL && i < ARGUMENTS; arg = arg->next) {
        n += !s->used[i++];
    }
    i = 0;
    for (const AstArg *arg = call->args; arg != NULL && i < ARGUMENTS; arg = arg->next) {
        if (!s->used[i++]) {
            const char *name = arg->name != NULL ? arg->name : words_of(el, arg);
            str_addf(out, said == 0 ? "; `%s`" : said < n - 1 ? ", `%s`" : " and `%s`", name);
            said++;
        }
    }
    str_add(out, n == 0 ? "" : n == 1 ? " is not in it" : " are not in it");
}

const char *el_radius_words(Elab *el, const AstExpr *side)
{
    const char *rounded = NULL;
    return radius_words(el, &rounded, side);
}

/* Of the ways to write a call the one that leaves the least out. */
static Spelling best_spelling(Elab *el, const Peer *peer, const AstExpr *call)
{
    Spelling best = {.here = peer->here, .arguments = peer->arguments, .lost = 0};
    best = spell(el, best, call);
    for (int i = 0; i < OPS_PEER_CALLS_N && call != NULL; i++) {
        const PeerCall *c = &OPS_PEER_CALLS[i];
        if (strcmp(c->name, peer->name) == 0) {
            Spelling s = {.here = c->here, .arguments = c->arguments, .parameters = c->parameters, .note = c->note};
            s = spell(el, s, call);
            best = s.lost < best.lost + (best.parameters == NULL) ? s : best;
        }
    }
    return best;
}

static const char *call_here(Elab *el, const Peer *peer, const AstExpr *call)
{
    Spelling best = best_spelling(el, peer, call);
    const char *text = filled(el, &best);
    const size_t n = strcspn(text, "#;");
    return arena_strndup(el->arena, text, n > 0 && text[n] != '\0' && text[n - 1] == ' ' ? n - 1 : n);
}

const char *el_peer_help(Elab *el, const Peer *peer, const AstExpr *call)
{
    Spelling best = best_spelling(el, peer, call);
    const bool reads = call != NULL && file_name(el, call) != NULL && ops_lists("open read load imread", call->name);
    if (reads) {
        best = (Spelling){.here = "input image[y, x]", .arguments = ""};
    }
    Str out;
    str_init(&out, el->arena);
    str_add(&out, filled(el, &best));
    str_addf(&out, best.note != NULL && best.note[0] != '\0' ? "; %s" : "%s", best.note != NULL ? best.note : "");
    if (best.rounded != NULL) {
        str_addf(&out, "; a window of %s has no middle, the next larger one has", best.rounded);
    }
    const char *file = call != NULL ? file_name(el, call) : NULL;
    if (file != NULL && strncmp(best.here, "input ", 6) == 0) {
        str_addf(&out, "; the run is given the file: pipec run FILE.pipe %s", file);
    } else if (file != NULL && strncmp(best.here, "output ", 7) == 0) {
        str_addf(&out, "; files have the names of outputs, in the folder of -o");
    } else if (call != NULL && best.arguments[0] != '\0') {
        add_left_out(el, &best, call, &out);
    }
    return out.at;
}
