/*
 * search: operators by any word: their names, what people look for (effects.def), what other packages call them, and
 * what their pages say.
 *
 * Names are compared by their letters and digits alone, so that gaussianBlur finds gaussian_blur.  In sentences a word
 * counts from its beginning, so that "edge" finds edges, and "ran" no operator whose page speaks of a grand total.
 */
#include "ops.h"

#include <ctype.h>
#include <string.h>

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

static bool in_name(const char *name, const char *word)
{
    const Letters n = letters_of(name), w = letters_of(word);
    return w.at[0] != '\0' && strstr(n.at, w.at) != NULL;
}

/* Whether a word of the text begins with this one. */
static bool in_text(const char *text, const char *word)
{
    const Letters w = letters_of(word);
    const size_t n = strlen(w.at);
    for (const char *p = text; n > 0 && *p != '\0'; p++) {
        size_t same = 0;
        while (same < n && tolower((unsigned char)p[same]) == w.at[same]) {
            same++;
        }
        if (same == n && (p == text || !isalnum((unsigned char)p[-1]))) {
            return true;
        }
    }
    return false;
}

static bool has_effect(const Op *op, const char *word)
{
    for (int i = 0; i < EFFECTS_N; i++) {
        if (ops_lists(EFFECTS[i].operators, op->name) && in_text(EFFECTS[i].words, word)) {
            return true;
        }
    }
    return false;
}

static OpFound found_by(const Op *op, const char *word)
{
    if (in_name(op->name, word)) {
        return OP_FOUND_NAME;
    }
    if (has_effect(op, word) || in_name(op->clesperanto, word) || in_name(op->skimage, word) ||
        in_name(op->scipy, word)) {
        return OP_FOUND_EFFECT;
    }
    return in_text(op->doc, word) || (op->group != NULL && in_text(op->group, word)) ? OP_FOUND_LINE
           : in_text(op->text, word)                                                 ? OP_FOUND_TEXT
                                                                                     : OP_FOUND_NOT;
}

OpFound ops_search(const Op *op, char *const *words, int n)
{
    OpFound found = n > 0 ? OP_FOUND_NAME : OP_FOUND_NOT;
    for (int i = 0; i < n; i++) {
        OpFound one = found_by(op, words[i]);
        found = one < found ? one : found;
    }
    return found;
}

bool ops_search_peer(const Peer *peer, char *const *words, int n)
{
    for (int i = 0; i < n; i++) {
        if (!in_name(peer->name, words[i])) {
            return false;
        }
    }
    return n > 0;
}
