/* prune: a text is cut into declarations and functions; kernels stay, and whatever is named by what stays. */
#include "prune.h"

#include "preprocess.h"

#include "../../base/str.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 512 };

/* A declaration or a function. */
typedef struct Piece {
    const Token *first, *end; /* end: the first token after it */
    const char *name;         /* of what is left out where nothing names it; NULL: it stays */
    unsigned stays_in;        /* the latest text that it stays in */
    struct Piece *other;      /* in its bucket */
    struct Piece *next;       /* that stays, and whose words nobody has looked at yet */
} Piece;

typedef struct Pieces {
    Vec(Piece *) all;
    Piece *named[BUCKETS];
} Pieces;

struct Pruner {
    Arena arena;
    Pieces head;
    unsigned text; /* how many there were */
    Piece *found;
};

/* ---- pieces ---------------------------------------------------------------------------- */

static Piece **bucket(Pieces *p, const char *name)
{
    return &p->named[str_hash(STR_HASH, name) % BUCKETS];
}

/* Behind __attribute__((...)). */
static const Token *skip_attribute(const Token *t)
{
    int depth = 0;
    do {
        t = t->next;
        depth += token_is(t, "(") ? 1 : token_is(t, ")") ? -1 : 0;
    } while (depth > 0 && t->kind != TOKEN_END);
    return t->next;
}

/* The name of a function or of a constant: the word before its bracket or "=".  Kernels have none here, and neither
 * has whatever else is declared. */
static const char *name_of(const Token *t, const Token *end)
{
    static const char *const OTHER[] = {"kernel", "__kernel", "typedef", "struct", "enum", "union", "{", ";"};
    const char *name = NULL;
    while (t != end && !token_is(t, "(") && !token_is(t, "[") && !token_is(t, "=")) {
        for (size_t i = 0; i < sizeof OTHER / sizeof *OTHER; i++) {
            if (token_is(t, OTHER[i])) {
                return NULL;
            }
        }
        const bool attribute = token_is(t, "__attribute__");
        name = t->kind == TOKEN_NAME && !attribute ? t->text : name;
        t = attribute ? skip_attribute(t) : t->next;
    }
    return t == end ? NULL : name;
}

/* A function ends with its block, anything else with ";". */
static const Token *end_of(const Token *t)
{
    bool function = false;
    for (int depth = 0; t->kind != TOKEN_END; t = t->next) {
        depth += token_is(t, "(") || token_is(t, "{") || token_is(t, "[");
        depth -= token_is(t, ")") || token_is(t, "}") || token_is(t, "]");
        function |= depth == 0 && token_is(t, ")");
        if (depth == 0 && (token_is(t, ";") || (function && token_is(t, "}")))) {
            return t->next;
        }
    }
    return t;
}

static void cut(Arena *arena, Pieces *p, const Token *t)
{
    while (t->kind != TOKEN_END) {
        Piece *piece = arena_new(arena, Piece);
        *piece = (Piece){.first = t, .end = end_of(t)};
        piece->name = name_of(t, piece->end);
        vec_push(arena, &p->all, piece);
        if (piece->name) {
            piece->other = *bucket(p, piece->name);
            *bucket(p, piece->name) = piece;
        }
        t = piece->end;
    }
}

/* ---- what stays ------------------------------------------------------------------------ */

static void keep(Pruner *pruner, Piece *piece)
{
    if (piece->stays_in != pruner->text) {
        piece->stays_in = pruner->text;
        piece->next = pruner->found;
        pruner->found = piece;
    }
}

static void keep_nameless(Pruner *pruner, const Pieces *p)
{
    for (int i = 0; i < p->all.n; i++) {
        if (!p->all.at[i]->name) {
            keep(pruner, p->all.at[i]);
        }
    }
}

static void keep_named(Pruner *pruner, Pieces *p, const char *name)
{
    for (Piece *piece = *bucket(p, name); piece; piece = piece->other) {
        if (strcmp(piece->name, name) == 0) {
            keep(pruner, piece);
        }
    }
}

static void follow_found(Pruner *pruner, Pieces *source)
{
    while (pruner->found) {
        const Piece *piece = pruner->found;
        pruner->found = piece->next;
        for (const Token *t = piece->first; t != piece->end; t = t->next) {
            if (t->kind == TOKEN_NAME) {
                keep_named(pruner, source, t->text);
                keep_named(pruner, &pruner->head, t->text);
            }
        }
    }
}

/* ---- a text ---------------------------------------------------------------------------- */

/* Pragmas in front of a piece are about all that follows. */
static void write(const Pruner *pruner, const Pieces *p, Str *out)
{
    for (int i = 0; i < p->all.n; i++) {
        const Piece *piece = p->all.at[i];
        const bool stays = piece->stays_in == pruner->text;
        for (const Token *t = piece->first; t != piece->end && (stays || t == piece->first); t = t->next) {
            str_add(out, t->pragma || t->first ? "\n" : " ");
            str_add(out, t->pragma ? t->pragma : "");
            str_add(out, stays ? t->text : "");
        }
    }
}

/* False: it cannot be read. */
static bool read_pieces(Arena *arena, const char *text, const char *options, Pieces *p)
{
    TextFault *const fault = arena_new(arena, TextFault);
    if (setjmp(fault->jump) != 0) {
        return false;
    }
    cut(arena, p, preprocess(arena, fault, text, options));
    return true;
}

static char *pruned(Pruner *pruner, Arena *arena, const char *source, const char *options)
{
    Pieces *const own = arena_new(arena, Pieces);
    Str out;
    if (!read_pieces(arena, source, options, own)) {
        return NULL;
    }
    pruner->found = NULL; /* memory may have run out over the text before */
    pruner->text++;
    keep_nameless(pruner, &pruner->head);
    keep_nameless(pruner, own);
    follow_found(pruner, own);
    str_init(&out, arena);
    write(pruner, &pruner->head, &out);
    write(pruner, own, &out);
    str_add(&out, "\n");
    return strdup(out.at);
}

char *prune(Pruner *pruner, const char *source, const char *options)
{
    Arena arena;
    jmp_buf no_memory;
    char *volatile text = NULL;
    arena_init(&arena);
    arena.out_of_memory = &no_memory;
    if (setjmp(no_memory) == 0) {
        text = pruned(pruner, &arena, source, options);
    }
    arena_free(&arena);
    return text;
}

static bool read_head(Pruner *pruner, const char *head)
{
    jmp_buf no_memory;
    pruner->arena.out_of_memory = &no_memory;
    if (setjmp(no_memory) != 0) {
        return false;
    }
    const bool ok = read_pieces(&pruner->arena, head, "", &pruner->head);
    pruner->arena.out_of_memory = NULL; /* nothing more is taken from it */
    return ok;
}

Pruner *pruner_new(const char *head)
{
    Pruner *pruner = calloc(1, sizeof *pruner);
    if (!pruner) {
        return NULL;
    }
    arena_init(&pruner->arena);
    if (!read_head(pruner, head)) {
        pruner_free(pruner);
        return NULL;
    }
    return pruner;
}

void pruner_free(Pruner *pruner)
{
    if (pruner) {
        arena_free(&pruner->arena);
        free(pruner);
    }
}
