/*
 * search: operators by any word: their names, what people look for (effects.def), what other packages call them, and
 * what their pages say.
 *
 * Names are compared by their letters and digits alone, so that gaussianBlur finds gaussian_blur.  In sentences a word
 * counts from its beginning, so that "edge" finds edges, and "ran" no operator whose page speaks of a grand total.
 */
#include "ops.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *words, *operators;
} EFFECTS[] = {
#define EFFECT(words, operators) {words, operators},
#include "effects.def"
#undef EFFECT
};
enum { EFFECTS_N = sizeof EFFECTS / sizeof *EFFECTS, MAX_LETTERS = 64 };

/* The letters and digits of a word, small; what is too long to be a name is cut off. */
typedef struct Letters {
    char at[MAX_LETTERS];
} Letters;

static Letters letters_of(const char *text)
{
    Letters letters = {{0}};
    int n = 0;
    for (; *text != '\0' && n < MAX_LETTERS - 1; text++) {
        if (isalnum((unsigned char)*text)) {
            letters.at[n++] = (char)tolower((unsigned char)*text);
        }
    }
    return letters;
}

/* A word that is searched for, and which effects are what it says. */
typedef struct Wanted {
    Letters letters;
    bool effect[EFFECTS_N];
} Wanted;

static bool in_name(const char *name, const Letters *word)
{
    const Letters n = letters_of(name);
    return word->at[0] != '\0' && strstr(n.at, word->at) != NULL;
}

/* Whether a word of the text begins with this one. */
static bool in_text(const char *text, const Letters *word)
{
    const size_t n = strlen(word->at);
    for (const char *p = text; n > 0 && *p != '\0'; p++) {
        if ((p == text || !isalnum((unsigned char)p[-1])) && strncasecmp(p, word->at, n) == 0) {
            return true;
        }
    }
    return false;
}

/* A word without the s of its plural. */
static Letters singular_of(const char *word)
{
    Letters letters = letters_of(word);
    const size_t n = strlen(letters.at);
    if (n > 4 && letters.at[n - 1] == 's' && letters.at[n - 2] != 's') {
        letters.at[n - 1] = '\0';
    }
    return letters;
}

static Wanted wanted_of(const char *word)
{
    Wanted w = {.letters = singular_of(word)};
    for (int i = 0; i < EFFECTS_N; i++) {
        w.effect[i] = in_text(EFFECTS[i].words, &w.letters);
    }
    return w;
}

static bool has_effect(const Op *op, const Wanted *w)
{
    for (int i = 0; i < EFFECTS_N; i++) {
        if (w->effect[i] && ops_lists(EFFECTS[i].operators, op->name)) {
            return true;
        }
    }
    return false;
}

/* The first operator of such a row is the one that most people mean. */
static bool is_first(const Op *op, const Wanted *w)
{
    const size_t n = strlen(op->name);
    for (int i = 0; i < EFFECTS_N; i++) {
        const char *first = EFFECTS[i].operators;
        if (w->effect[i] && strncmp(first, op->name, n) == 0 && (first[n] == ' ' || first[n] == '\0')) {
            return true;
        }
    }
    return false;
}

static OpFound found_by(const Op *op, const Wanted *w, OpFound least)
{
    const Letters *word = &w->letters;
    if (is_first(op, w)) {
        return OP_FOUND_FIRST;
    }
    if (in_name(op->name, word)) {
        return OP_FOUND_NAME;
    }
    if (has_effect(op, w) || in_name(op->clesperanto, word) || in_name(op->skimage, word) || in_name(op->scipy, word)) {
        return OP_FOUND_EFFECT;
    }
    if (least <= OP_FOUND_LINE && (in_text(op->doc, word) || (op->group != NULL && in_text(op->group, word)))) {
        return OP_FOUND_LINE;
    }
    return least <= OP_FOUND_TEXT && in_text(op->text, word) ? OP_FOUND_TEXT : OP_FOUND_NOT;
}

/* Words of menus and questions that say nothing of what is done. */
static bool is_filler(const char *word)
{
    const Letters letters = letters_of(word);
    return ops_lists(
        "find detect make convert to of the and a an image images object objects cells filter apply analyze analyse set get compute how 2 2d 3d",
        letters.at);
}

int ops_telling_words(char **words, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        kept += !is_filler(words[i]);
    }
    for (int i = 0, to = 0; i < n && kept > 0; i++) {
        if (!is_filler(words[i])) {
            words[to++] = words[i];
        }
    }
    return kept > 0 ? kept : n;
}

const OpFound *ops_search(Arena *arena, const Ops *ops, char *const *words, int n, OpFound least)
{
    OpFound *found = arena_array(arena, OpFound, ops->n);
    for (int k = 0; k < n; k++) {
        const Wanted w = wanted_of(words[k]);
        for (int i = 0; i < ops->n; i++) {
            const OpFound one = k > 0 && found[i] == OP_FOUND_NOT ? OP_FOUND_NOT : found_by(&ops->at[i], &w, least);
            found[i] = k == 0 || one < found[i] ? one : found[i];
        }
    }
    return found;
}

bool ops_search_peer(const Peer *peer, char *const *words, int n)
{
    for (int i = 0; i < n; i++) {
        const Letters word = letters_of(words[i]);
        if (!in_name(peer->name, &word)) {
            return false;
        }
    }
    return n > 0;
}

bool ops_is_interface(const Interface *row, char *const *words, int n)
{
    char name[MAX_LETTERS], wanted[MAX_LETTERS] = "";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(row->name, "("), row->name);
    for (int i = 0; i < n; i++) {
        const size_t have = strlen(wanted);
        snprintf(wanted + have, sizeof wanted - have, "%s", letters_of(words[i]).at);
    }
    bool call = row->kind == INTERFACE_SAME || row->kind == INTERFACE_LIKE || row->kind == INTERFACE_NONE;
    return call && strcmp(letters_of(name).at, wanted) == 0;
}
