/*
 * ops: reads the signatures of ops.def.
 *
 * A signature that cannot be read is a bug of the table, found by the first test that loads it.
 */
#include "ops.h"

#include <ctype.h>
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An operator, or the title of a group: a row without a name. */
typedef struct Row {
    const char *name, *signature, *impl, *doc, *text, *example, *clesperanto, *skimage, *scipy;
} Row;

static const Row ROWS[] = {
#define GROUP(title) {.doc = title},
#define OP(name, signature, impl, doc, text, example, clesperanto, skimage, scipy) \
    {name, signature, #impl, doc, text, example, clesperanto, skimage, scipy},
#include "ops.def"
#undef OP
#undef GROUP
};
enum { ROWS_N = sizeof ROWS / sizeof *ROWS };

static const struct Argument {
    const char *operators, *argument, *words;
    bool pure;
} ARGUMENTS[] = {
#define ARGUMENT(operators, argument, words) {operators, argument, words, false},
#define PURE(operators, argument, words) {operators, argument, words, true},
#include "arguments.def"
#undef PURE
#undef ARGUMENT
};
enum { ARGUMENTS_N = sizeof ARGUMENTS / sizeof *ARGUMENTS };

const Peer OPS_PEERS[] = {
#define PEER(name, package, arguments, here) {name, package, arguments, here},
#define PEER_CALL(name, parameters, arguments, here, note)
#include "peers.def"
#undef PEER_CALL
#undef PEER
};
const int OPS_PEERS_N = (int)(sizeof OPS_PEERS / sizeof *OPS_PEERS);

const PeerCall OPS_PEER_CALLS[] = {
#define PEER(name, package, arguments, here)
#define PEER_CALL(name, parameters, arguments, here, note) {name, parameters, arguments, here, note},
#include "peers.def"
#undef PEER_CALL
#undef PEER
};
const int OPS_PEER_CALLS_N = (int)(sizeof OPS_PEER_CALLS / sizeof *OPS_PEER_CALLS);

const Interface OPS_INTERFACES[] = {
#define PACKAGE(name, version, note) {INTERFACE_PACKAGE, name, version, note},
#define MODULE(name) {INTERFACE_MODULE, name, "", ""},
#define SAME(call, here, note) {INTERFACE_SAME, call, here, note},
#define LIKE(call, here, note) {INTERFACE_LIKE, call, here, note},
#define NONE(name, why) {INTERFACE_NONE, name, "", why},
#include "interfaces.def"
#undef NONE
#undef LIKE
#undef SAME
#undef MODULE
#undef PACKAGE
};
const int OPS_INTERFACES_N = (int)(sizeof OPS_INTERFACES / sizeof *OPS_INTERFACES);

#define PRELUDE(stem) extern const char prelude_##stem[];
#include "prelude.def"
#undef PRELUDE

const PreludeFile OPS_PRELUDE[] = {
#define PRELUDE(stem) {"prelude/" #stem ".pipe", prelude_##stem},
#include "prelude.def"
#undef PRELUDE
};
const int OPS_PRELUDE_N = (int)(sizeof OPS_PRELUDE / sizeof *OPS_PRELUDE);

static const struct {
    const char *name, *phrase;
} TYPES[OP_TYPES] = {
    {"image", "an image"},
    {"mask", "a mask"},
    {"labels", "labels"},
    {"number", "a number"},
    {"integer", "a whole number"},
    {"value", "a whole-image value"},
    {"truth", "true or false"},
    {"per-axis", "a number for each axis"},
    {"border", "a border"},
    {"footprint", "a footprint"},
    {"selection", "a selection of pixels"},
    {"list", "a list"},
    {"function", "a function"},
    {"vector", "a value for each label"},
    {"word", "a word"},
    {"axis", "an axis"},
    {"record", "a record"},
    {"area", "an area"},
    {"length", "a length"},
    {"column", "a column with a name"},
    {"channel", "the axis c"},
};

const char *ops_type_name(unsigned type)
{
    for (int i = 0; i < OP_TYPES; i++) {
        if (type == 1u << i) {
            return TYPES[i].name;
        }
    }
    return "";
}

void ops_types_phrase(const OpParam *param, Str *out)
{
    const unsigned types = param->choices != NULL ? param->types & ~(unsigned)OP_WORD : param->types;
    unsigned left = types;
    if (param->choices != NULL) {
        for (const char *c = param->choices; *c != '\0'; c++) { /* "linear, cubic or quintic" */
            const bool last = strchr(c + 1, '|') == NULL;
            str_addn(out, c, *c != '|');
            str_add(out, *c != '|' ? "" : last ? " or " : ", ");
        }
        str_add(out, left != 0 ? " or " : "");
    }
    for (int i = 0; i < OP_TYPES; i++) {
        if ((left & 1u << i) == 0) {
            continue;
        }
        left &= ~(1u << i);
        bool first = (types & ((1u << i) - 1)) == 0;
        str_addf(out, "%s%s", first ? "" : left != 0 ? ", " : " or ", TYPES[i].phrase);
    }
}

void ops_call(const Op *op, Str *out)
{
    str_addf(out, "%s(", op->name);
    for (int i = 0; i < op->n_params; i++) {
        const OpParam *p = &op->param[i];
        str_addf(out, "%s%s%s%s%s", i > 0 ? ", " : "", p->name, p->rest ? " ..." : "", p->value != NULL ? " = " : "",
                 p->value != NULL ? p->value : "");
    }
    str_add(out, ")");
}

void ops_argument(const OpParam *p, Str *out)
{
    ops_types_phrase(p, out);
    if (p->ranged && p->above) {
        str_addf(out, " above %g", p->lo);
    } else if (p->ranged && p->hi == INFINITY) {
        str_addf(out, " from %g", p->lo);
    } else if (p->ranged) {
        str_addf(out, ", %g .. %g", p->lo, p->hi);
    }
    if (p->rest) {
        str_add(out, ", any number of them");
    } else if (p->value != NULL && strcmp(p->value, "none") == 0) {
        str_add(out, "; may be left out");
    }
}

/* Whether a name stands in a text by itself. */
static bool uses(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = strstr(text, name); p != NULL; p = strstr(p + 1, name)) {
        bool before = p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_');
        if (!before && !isalnum((unsigned char)p[n]) && p[n] != '_') {
            return true;
        }
    }
    return false;
}

void ops_example(const Op *op, Str *out)
{
    bool labels = uses(op->example, "labels"), mask = labels || uses(op->example, "mask");
    bool image = mask || uses(op->example, "image");
    str_addf(out, "%s%s%s%s\n", image ? "input image[y, x]\n" : "", mask ? "mask = image > otsu(image)\n" : "",
             labels ? "labels = label(mask)\n" : "", op->example);
}

static const char *skip_blanks(const char *p)
{
    while (*p == ' ') {
        p++;
    }
    return p;
}

static bool takes(const char **p, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*p, word, n) != 0) {
        return false;
    }
    *p = skip_blanks(*p + n);
    return true;
}

static unsigned read_type(const char **p)
{
    for (int i = 0; i < OP_TYPES; i++) {
        if (takes(p, TYPES[i].name)) {
            return 1u << i;
        }
    }
    assert(false && "a signature in ops.def names a kind that does not exist");
    return 0;
}

static void read_types(Arena *arena, OpParam *param, const char **p)
{
    const char *begin = *p;
    size_t word = strcspn(begin, " ,=");
    bool choices = memchr(begin, '|', word) != NULL;
    if (choices) {
        param->types = OP_WORD;
        param->choices = arena_strndup(arena, begin, word);
        *p = skip_blanks(begin + word);
    }
    while (!choices || takes(p, "or ")) {
        param->types |= read_type(p);
        choices = true;
    }
    const char *end = *p;
    while (end > begin && end[-1] == ' ') {
        end--;
    }
    param->types_text = arena_strndup(arena, begin, (size_t)(end - begin));
}

static void read_range(OpParam *param, const char **p)
{
    param->lo = -INFINITY;
    param->hi = INFINITY;
    if (takes(p, "above ")) {
        param->ranged = param->above = true;
        param->lo = strtod(*p, (char **)p);
    } else if (takes(p, "in ")) {
        param->ranged = true;
        param->lo = strtod(*p, (char **)p);
        *p = skip_blanks(*p);
        bool dots = takes(p, "..");
        assert(dots && "a range in ops.def is written lo .. hi");
        (void)dots;
        param->hi = strtod(*p, (char **)p);
    }
    *p = skip_blanks(*p);
}

/* The end of a default: the next comma outside brackets. */
static const char *default_end(const char *p)
{
    int depth = 0;
    for (; *p != '\0' && (*p != ',' || depth > 0); p++) {
        depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
    }
    return p;
}

bool ops_lists(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = strstr(list, name); p != NULL; p = strstr(p + 1, name)) {
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) {
            return true;
        }
    }
    return false;
}

static struct Argument find_argument(const char *op, const char *argument)
{
    for (int i = 0; i < ARGUMENTS_N; i++) {
        const char *of = ARGUMENTS[i].operators;
        if (strcmp(ARGUMENTS[i].argument, argument) == 0 && (of[0] == '\0' || ops_lists(of, op))) {
            return ARGUMENTS[i];
        }
    }
    return (struct Argument){.words = ""};
}

static const char *read_param(Arena *arena, Op *op, const char *p)
{
    assert(op->n_params < OP_MAX_PARAMS);
    OpParam *param = &op->param[op->n_params++];
    param->rest = takes(&p, "...");
    size_t n = strcspn(p, ":");
    param->name = arena_strndup(arena, p, n);
    const struct Argument argument = find_argument(op->name, param->name);
    param->words = argument.words;
    param->pure = argument.pure;
    p = skip_blanks(p + n + 1);
    read_types(arena, param, &p);
    read_range(param, &p);
    if (takes(&p, "=")) {
        const char *end = default_end(p);
        param->value = arena_strndup(arena, p, (size_t)(end - p));
        p = end;
    }
    assert((*p == '\0' || *p == ',') && "a signature in ops.def has something left over");
    return *p == ',' ? skip_blanks(p + 1) : p;
}

const Ops *ops_load(Arena *arena)
{
    Ops *ops = arena_new(arena, Ops);
    ops->at = arena_array(arena, Op, ROWS_N);
    const char *group = NULL;
    for (int i = 0; i < ROWS_N; i++) {
        const Row *r = &ROWS[i];
        if (r->name == NULL) {
            group = r->doc;
            continue;
        }
        Op *op = &ops->at[ops->n];
        *op = (Op){.name = r->name,
                   .group = group,
                   .signature = r->signature,
                   .doc = r->doc,
                   .text = r->text,
                   .example = r->example,
                   .clesperanto = r->clesperanto,
                   .skimage = r->skimage,
                   .scipy = r->scipy,
                   .prelude = strcmp(r->impl, "el_prelude") == 0,
                   .index = ops->n++};
        for (const char *p = r->signature; *p != '\0';) {
            p = read_param(arena, op, p);
        }
    }
    return ops;
}

const Op *ops_find(const Ops *ops, const char *name)
{
    for (int i = 0; i < ops->n; i++) {
        if (strcmp(ops->at[i].name, name) == 0) {
            return &ops->at[i];
        }
    }
    return NULL;
}

const Peer *ops_peer(const char *name)
{
    for (int i = 0; i < OPS_PEERS_N; i++) {
        if (strcmp(OPS_PEERS[i].name, name) == 0) {
            return &OPS_PEERS[i];
        }
    }
    return NULL;
}

/* "image", or "image2" where there are several images. */
static void add_argument(const Peer *peer, int k, Str *out)
{
    static const struct {
        char letter;
        const char *name;
    } NAMES[] = {{'i', "image"}, {'v', "volume"}, {'m', "mask"}, {'l', "labels"},
                 {'n', "n"},     {'a', "n"},      {'e', "n"},    {'w', "otsu"}};
    int same = 0, number = 0;
    for (int i = 0; peer->arguments[i] != '\0'; i++) {
        same += peer->arguments[i] == peer->arguments[k];
        number += i <= k && peer->arguments[i] == peer->arguments[k];
    }
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (NAMES[i].letter == peer->arguments[k]) {
            str_add(out, NAMES[i].name);
        }
    }
    if (same > 1) {
        str_addf(out, "%d", number);
    }
}

const char *ops_peer_spelled(const Peer *peer, Arena *arena)
{
    Str s;
    str_init(&s, arena);
    for (const char *p = peer->here; *p != '\0'; p++) {
        if (*p != '$') {
            str_addn(&s, p, 1);
            continue;
        }
        p++;
        if (p[1] == '{') {
            size_t n = strcspn(p + 2, "}");
            str_addn(&s, p + 2, n);
            p += n + 2;
        } else {
            add_argument(peer, *p - '1', &s);
        }
    }
    return s.at;
}

void ops_interface_pipeline(const Interface *row, Str *out)
{
    static const struct {
        const char *name, *declaration;
    } INPUTS[] = {
        {"image", "image[y, x]"},
        {"other", "other[y, x]"},
        {"mask", "mask[y, x] : mask"},
        {"labels", "labels[y, x] : labels"},
        {"markers", "markers[y, x] : labels"},
        {"volume", "volume[z, y, x]"},
        {"picture", "picture[y, x, c]"},
    };
    for (size_t i = 0; i < sizeof INPUTS / sizeof *INPUTS; i++) {
        if (uses(row->here, INPUTS[i].name)) {
            str_addf(out, "input %s\n", INPUTS[i].declaration);
        }
    }
    const char *last = strrchr(row->here, '\n');
    bool whole = strncmp(last != NULL ? last + 1 : row->here, "output ", 7) == 0;
    str_addf(out, "%s%s\n", whole ? "" : "output result = ", row->here);
}
