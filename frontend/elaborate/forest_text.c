/*
 * forest_text: see forest_text.h.
 *
 * Both kinds of text have their trees in preorder, so one reader of nodes, with a stack of the splits whose second side
 * is still to come, serves both.  Messages never quote the file: its name comes from a pipeline that somebody else may
 * have written.
 */
#include "forest_text.h"

#include "../../base/str.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Node {
    int feature; /* FOREST_LEAF: none */
    bool nan;    /* goes to the left */
    float threshold;
    uint32_t left, right; /* nodes; of a leaf `left` is its number */
} Node;

typedef struct Trees {
    Arena *arena;
    const char *p;
    int line;
    Err *err;
    Forest f;
    int expected;    /* trees */
    bool whole;      /* all weights are whole numbers */
    double heaviest; /* leaf, all classes together */
    Vec(Node) nodes;
    Vec(uint32_t) roots;
    Vec(uint32_t) open; /* splits around what is read, and for each of them whether its left side is complete */
    Vec(bool) second;
    Vec(double) weights; /* a row for each leaf */
    uint32_t *slot;      /* of leaves by their weights, number + 1; open addressing */
    uint32_t n_slots;
    double row[FOREST_CLASSES];
} Trees;

static bool wrong(Trees *t, const char *what)
{
    return err_set(t->err, CODE_USAGE, "line %d: %s", t->line, what);
}

/* ---- words ------------------------------------------------------------------------------- */

static void skip_blanks(Trees *t)
{
    for (; *t->p == ' ' || *t->p == '\n' || *t->p == '\t' || *t->p == '\r'; t->p++) {
        t->line += *t->p == '\n';
    }
}

static bool accept(Trees *t, const char *word)
{
    size_t n = strlen(word);
    const char *before = t->p;
    const int line = t->line;
    skip_blanks(t);
    if (strncmp(t->p, word, n) == 0) {
        t->p += n;
        return true;
    }
    t->p = before;
    t->line = line;
    return false;
}

static bool expect(Trees *t, const char *word)
{
    skip_blanks(t);
    return accept(t, word) || err_set(t->err, CODE_USAGE, "line %d: expected `%s`", t->line, word);
}

static bool number(Trees *t, double *v)
{
    char *end;
    skip_blanks(t);
    *v = strtod(t->p, &end);
    bool fine = end > t->p && end - t->p < 64 && !isnan(*v);
    t->p = end;
    return fine || wrong(t, "expected a number");
}

static bool whole_number(Trees *t, const char *what, long lo, long hi, int *to)
{
    double v;
    if (!number(t, &v)) {
        return false;
    }
    *to = v >= (double)lo && v <= (double)hi ? (int)v : 0;
    bool fine = (double)*to == v && v >= (double)lo;
    return fine ||
           err_set(t->err, CODE_USAGE, "line %d: %s must be a whole number from %ld to %ld", t->line, what, lo, hi);
}

/* ---- trees ------------------------------------------------------------------------------- */

static uint32_t hash_of(const double *row, int n)
{
    uint64_t h = 1469598103934665603u;
    for (int c = 0; c < n; c++) {
        uint64_t bits;
        memcpy(&bits, &row[c], sizeof bits);
        h = (h ^ bits) * 1099511628211u;
        h ^= h >> 29;
    }
    return (uint32_t)(h ^ h >> 32);
}

static void grow_slots(Trees *t)
{
    uint32_t old = t->n_slots, *before = t->slot;
    t->n_slots = old > 0 ? old * 4 : 64;
    t->slot = arena_array(t->arena, uint32_t, (int)t->n_slots);
    for (uint32_t i = 0; i < old; i++) {
        if (before[i] != 0) {
            const double *row = &t->weights.at[(before[i] - 1) * (uint32_t)t->f.classes];
            uint32_t k = hash_of(row, t->f.classes) & (t->n_slots - 1);
            while (t->slot[k] != 0) {
                k = (k + 1) & (t->n_slots - 1);
            }
            t->slot[k] = before[i];
        }
    }
}

/* The number of a leaf with the weights in t->row. */
static uint32_t leaf_number(Trees *t)
{
    size_t bytes = (size_t)t->f.classes * sizeof *t->row;
    if (t->n_slots < 2 * (t->f.leaves + 1)) {
        grow_slots(t);
    }
    uint32_t k = hash_of(t->row, t->f.classes) & (t->n_slots - 1);
    for (; t->slot[k] != 0; k = (k + 1) & (t->n_slots - 1)) {
        if (memcmp(&t->weights.at[(t->slot[k] - 1) * (uint32_t)t->f.classes], t->row, bytes) == 0) {
            return t->slot[k] - 1;
        }
    }
    for (int c = 0; c < t->f.classes; c++) {
        vec_push(t->arena, &t->weights, t->row[c]);
    }
    t->slot[k] = ++t->f.leaves;
    return t->f.leaves - 1;
}

/* Puts a node where it belongs; false: there are too many of them. */
static bool add_node(Trees *t, Node node)
{
    if (t->nodes.n >= FOREST_WORDS / 2) {
        return wrong(t, "the forest has too many nodes: at most 2097152");
    }
    uint32_t id = (uint32_t)t->nodes.n;
    vec_push(t->arena, &t->nodes, node);
    if (t->open.n == 0) {
        vec_push(t->arena, &t->roots, id);
    } else {
        Node *above = &t->nodes.at[t->open.at[t->open.n - 1]];
        *(t->second.at[t->second.n - 1] ? &above->right : &above->left) = id;
    }
    return t->roots.n <= t->expected || wrong(t, "there are more trees than the head says");
}

static bool add_split(Trees *t, int feature, float threshold, bool nan)
{
    if (!add_node(t, (Node){.feature = feature, .threshold = threshold, .nan = nan})) {
        return false;
    }
    vec_push(t->arena, &t->open, (uint32_t)t->nodes.n - 1);
    vec_push(t->arena, &t->second, false);
    return t->open.n <= FOREST_DEPTH || wrong(t, "a tree is more than 1000 splits deep");
}

/* A leaf with the weights in t->row. */
static bool add_leaf(Trees *t)
{
    double most = 0;
    for (int c = 0; c < t->f.classes; c++) {
        if (t->row[c] < 0 || t->row[c] > 1e15) {
            return wrong(t, "weights are from 0 to 1e15");
        }
        t->row[c] += 0.0; /* of -0 */
        t->whole = t->whole && t->row[c] == floor(t->row[c]);
        most += t->row[c];
    }
    t->heaviest = most > t->heaviest ? most : t->heaviest;
    return add_node(t, (Node){.feature = FOREST_LEAF, .left = leaf_number(t)});
}

/* ---- the plain text ---------------------------------------------------------------------- */

static bool plain_head(Trees *t)
{
    int version;
    if (!whole_number(t, "the version behind `forest`", 1, 1, &version) || !expect(t, "features") ||
        !whole_number(t, "the number of features", 1, FOREST_FEATURES, &t->f.features) || !expect(t, "classes")) {
        return false;
    }
    while (!accept(t, "trees")) {
        int called;
        if (t->f.classes == FOREST_CLASSES) {
            return wrong(t, "there are more than 64 classes");
        }
        if (!whole_number(t, "a class", -2147483647, 2147483647, &called)) {
            return false;
        }
        t->f.number[t->f.classes++] = called;
    }
    return (t->f.classes > 0 || wrong(t, "there are no classes")) &&
           whole_number(t, "the number of trees", 1, FOREST_TREES, &t->expected);
}

/* The largest float that is not above v: a float is not above v where it is not above that one. */
static float float_up_to(double v)
{
    float f = v > FLT_MAX && v < INFINITY ? FLT_MAX : v < -FLT_MAX ? -INFINITY : (float)v;
    return (double)f > v ? nextafterf(f, -INFINITY) : f;
}

static bool plain_split(Trees *t)
{
    int feature;
    double threshold;
    return whole_number(t, "a feature", 0, t->f.features - 1, &feature) && number(t, &threshold) &&
           add_split(t, feature, float_up_to(threshold), accept(t, "nan"));
}

static bool plain_leaf(Trees *t)
{
    for (int c = 0; c < t->f.classes; c++) {
        if (!number(t, &t->row[c])) {
            return false;
        }
    }
    if (!add_leaf(t)) {
        return false;
    }
    while (t->open.n > 0 && t->second.at[t->second.n - 1]) {
        t->open.n--;
        t->second.n--;
    }
    if (t->open.n > 0) {
        t->second.at[t->second.n - 1] = true;
    }
    return true;
}

static bool read_plain(Trees *t)
{
    if (!plain_head(t)) {
        return false;
    }
    while (t->roots.n < t->expected || t->open.n > 0) {
        skip_blanks(t);
        bool fine = accept(t, "split")  ? plain_split(t)
                    : accept(t, "leaf") ? plain_leaf(t)
                                        : wrong(t, "expected `split` or `leaf`");
        if (!fine) {
            return false;
        }
    }
    skip_blanks(t);
    return *t->p == '\0' || wrong(t, "there is something behind the last tree");
}

/* ---- APOC's OpenCL files ----------------------------------------------------------------- */

static const char *rest_of_line(Trees *t)
{
    size_t n = strcspn(t->p, "\n");
    const char *rest = arena_strndup(t->arena, t->p, n);
    t->p += n;
    return rest;
}

/* The lines NAME = VALUE of the comment in front; what they do not say is found in the code. */
static bool apoc_head(Trees *t, const char **features)
{
    while (!accept(t, "*/")) {
        skip_blanks(t);
        if (*t->p == '\0') {
            return wrong(t, "the comment in front has no end");
        } else if (accept(t, "feature_specification =")) {
            const char *rest = rest_of_line(t);
            *features = strncmp(rest, " Custom", 7) == 0 ? "" : rest;
        } else if (accept(t, "num_classes =")) {
            if (!whole_number(t, "num_classes", 1, FOREST_CLASSES, &t->f.classes)) {
                return false;
            }
        } else if (accept(t, "num_features =")) {
            if (!whole_number(t, "num_features", 1, FOREST_FEATURES, &t->f.features)) {
                return false;
            }
        } else if (accept(t, "num_trees =")) {
            if (!whole_number(t, "num_trees", 1, FOREST_TREES, &t->expected)) {
                return false;
            }
        } else {
            (void)rest_of_line(t);
        }
    }
    bool all = t->f.classes > 0 && t->f.features > 0 && t->expected > 0;
    return all || wrong(t, "the comment in front lacks num_classes, num_features or num_trees");
}

/* Up to the first line behind the declarations of the sums, ` float s0=0;` and so on. */
static bool apoc_declarations(Trees *t)
{
    for (int c = 0; c < t->f.classes; c++) {
        const char *declares = arena_printf(t->arena, "float s%d=0;", c);
        while (c == 0 && *t->p != '\0' && !accept(t, declares)) {
            (void)rest_of_line(t);
            skip_blanks(t);
        }
        if (*t->p == '\0' || (c > 0 && !accept(t, declares))) {
            return wrong(t, "expected a sum for each class, `float s0=0;`");
        }
    }
    return true;
}

/* if(i3<115.5){ */
static bool apoc_split(Trees *t)
{
    int feature;
    double threshold;
    if (!whole_number(t, "a feature", 0, t->f.features - 1, &feature) || !expect(t, "<") || !number(t, &threshold) ||
        !expect(t, "){")) {
        return false;
    }
    float up_to = float_up_to(threshold);
    return add_split(t, feature, (double)up_to == threshold ? nextafterf(up_to, -INFINITY) : up_to, false);
}

/* s0+=3.0; s2+=1.0; in the order of their classes: one that goes back begins another leaf. */
static bool apoc_leaf(Trees *t)
{
    int c, last = -1;
    memset(t->row, 0, sizeof t->row);
    for (const char *before = t->p; accept(t, "s"); before = t->p) {
        double weight;
        if (!whole_number(t, "a class", 0, t->f.classes - 1, &c) || !expect(t, "+=") || !number(t, &weight) ||
            !expect(t, ";")) {
            return false;
        }
        if (c <= last) {
            t->p = before;
            break;
        }
        last = c;
        t->row[c] = weight;
    }
    return add_leaf(t);
}

static bool apoc_side(Trees *t)
{
    if (t->open.n == 0) {
        return wrong(t, "there is a } too many");
    }
    bool *second = &t->second.at[t->second.n - 1];
    if (*second) {
        t->open.n--;
        t->second.n--;
        return true;
    }
    *second = true;
    return expect(t, "else") && expect(t, "{");
}

/* A side that has its node is closed next. */
static bool apoc_is_full(const Trees *t)
{
    if (t->open.n == 0) {
        return false;
    }
    const Node *above = &t->nodes.at[t->open.at[t->open.n - 1]];
    return (t->second.at[t->second.n - 1] ? above->right : above->left) != 0;
}

static bool read_apoc(Trees *t, const char **features)
{
    if (!apoc_head(t, features) || !apoc_declarations(t)) {
        return false;
    }
    for (bool fine = true; t->open.n > 0 || (!accept(t, "float max_s") && !accept(t, "float sum_s"));) {
        skip_blanks(t);
        bool full = apoc_is_full(t);
        if (accept(t, "}")) {
            fine = full ? apoc_side(t) : wrong(t, "a side of a split is empty");
        } else if (full) {
            fine = wrong(t, "expected `}`");
        } else if (accept(t, "if(i")) {
            fine = apoc_split(t);
        } else {
            fine = *t->p == 's' ? apoc_leaf(t) : wrong(t, "expected `if(i`, a sum `s0+=` or `}`");
        }
        if (!fine) {
            return false;
        }
    }
    return t->roots.n == t->expected || wrong(t, "there are fewer trees than the head says");
}

/* ---- the table --------------------------------------------------------------------------- */

static void add_word(Str *out, uint32_t word)
{
    str_addf(out, "%08x", (unsigned)word);
}

static void add_weight(const Trees *t, double weight, Str *out)
{
    uint64_t bits;
    float narrow = (float)weight;
    uint32_t word;
    memcpy(&bits, &weight, sizeof bits);
    memcpy(&word, &narrow, sizeof word);
    add_word(out, t->f.sums == FOREST_F32 ? word : (uint32_t)bits);
    if (t->f.sums != FOREST_F32) {
        add_word(out, (uint32_t)(bits >> 32));
    }
}

/* Level by level, all roots first. */
static void add_nodes(Trees *t, Str *out)
{
    uint32_t *order = arena_array(t->arena, uint32_t, t->nodes.n), n = 0;
    for (int i = 0; i < t->roots.n; i++) {
        order[n++] = t->roots.at[i];
    }
    for (uint32_t i = 0; i < (uint32_t)t->nodes.n; i++) {
        const Node *node = &t->nodes.at[order[i]];
        bool leaf = node->feature == FOREST_LEAF;
        uint32_t bits;
        memcpy(&bits, &node->threshold, sizeof bits);
        add_word(out, bits);
        add_word(out, (uint32_t)node->feature << 24 | (node->nan ? FOREST_NAN : 0u) | (leaf ? node->left : n));
        if (!leaf) {
            order[n++] = node->left;
            order[n++] = node->right;
        }
    }
}

bool forest_from_text(Arena *arena, const char *text, const char **forest, const char **features, Err *err)
{
    Trees t = {.arena = arena, .p = text, .line = 1, .err = err, .whole = true};
    *features = "";
    bool apoc = accept(&t, "/*");
    bool fine = apoc                   ? expect(&t, "OpenCL RandomForestClassifier") && read_apoc(&t, features)
                : accept(&t, "forest") ? read_plain(&t)
                                       : wrong(&t, "this is neither a forest of APOC nor one of pipec.forest_text()");
    if (!fine) {
        return false;
    }
    t.f.trees = t.roots.n;
    t.f.nodes = (uint32_t)t.nodes.n;
    bool exact = t.whole && t.heaviest * t.f.trees <= 16777216;
    t.f.sums = exact ? FOREST_F32 : apoc ? FOREST_MIXED : FOREST_F64;
    if (forest_length(&t.f) > FOREST_WORDS) {
        return err_set(err, CODE_USAGE, "the forest is larger than 16 MiB");
    }
    Str out;
    str_init(&out, arena);
    str_addf(&out, "%d %d %d %d %u %u", t.f.features, t.f.classes, t.f.trees, (int)t.f.sums, t.f.nodes, t.f.leaves);
    for (int c = 0; c < t.f.classes; c++) {
        str_addf(&out, " %d", apoc ? c + 1 : (int)t.f.number[c]);
    }
    str_add(&out, ":");
    add_nodes(&t, &out);
    for (int i = 0; i < t.weights.n; i++) {
        add_weight(&t, t.weights.at[i], &out);
    }
    *forest = out.at;
    return true;
}
