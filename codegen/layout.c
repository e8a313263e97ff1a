/* layout: how the text of kernels looks to a reader. */
#include "layout.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { DEEPER = 8 }; /* columns that the rest of a line is indented by */

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* ---- long lines -------------------------------------------------------------------------- */

/* Where to cut: as few brackets deep as can be, there behind a comma rather than at an operator, and as far right. */
static size_t cut_of(const char *line, size_t n, size_t indent, size_t most)
{
    size_t best = 0;
    int least = 0, depth = 0;
    for (size_t i = indent; i < n && i <= most; i++) {
        depth += strchr("([{", line[i]) != NULL;
        depth -= strchr(")]}", line[i]) != NULL;
        bool inside = line[i] == ' ' && i > indent + DEEPER;
        int cost = 2 * depth + (line[i - (i > 0)] != ',');
        if (inside && (best == 0 || cost <= least)) {
            best = i;
            least = cost;
        }
    }
    return best;
}

/* Lines of the preprocessor go on behind a backslash; of comments, as comments. */
static void wrap_line(Str *out, const char *line, size_t n)
{
    const size_t indent = strspn(line, " ");
    const bool directive = line[indent] == '#', comment = strncmp(line + indent, "//", 2) == 0;
    size_t before = 0; /* columns that stand before the rest */
    while (before + n > CG_COLUMNS) {
        size_t cut = cut_of(line, n, before == 0 ? indent : 0, CG_COLUMNS - before - (directive ? 2 : 0));
        if (cut == 0) {
            break;
        }
        str_addn(out, line, cut);
        before = comment ? indent : indent + DEEPER;
        str_addf(out, "%s\n%*s%s", directive ? " \\" : "", (int)before, "", comment ? "// " : "");
        before += comment ? 3 : 0;
        line += cut + 1;
        n -= cut + 1;
    }
    str_addn(out, line, n);
}

const char *cg_wrap(Arena *arena, const char *text)
{
    Str out;
    str_init(&out, arena);
    while (*text != '\0') {
        const size_t n = strcspn(text, "\n");
        wrap_line(&out, text, n);
        str_add(&out, text[n] == '\n' ? "\n" : "");
        text += n + (text[n] == '\n');
    }
    return out.at;
}

/* ---- macros ------------------------------------------------------------------------------ */

static const struct Macro {
    const char *name, *what;
} MACROS[] = {
#define MACRO(name, what) {name, what},
#include "macros.def"
#undef MACRO
};
enum { N_MACROS = sizeof MACROS / sizeof *MACROS };

/* The number of the macro that a word is; -1: none. */
static int macro_of(const char *word, size_t n)
{
    for (int i = 0; i < N_MACROS; i++) {
        if (strlen(MACROS[i].name) == n && memcmp(MACROS[i].name, word, n) == 0) {
            return i;
        }
    }
    return -1;
}

static void explain_line(Str *out, const char *line, size_t n, size_t indent, bool *known)
{
    for (size_t i = 0, length; i < n; i += length) {
        for (length = 0; i + length < n && is_letter(line[i + length]);) {
            length++;
        }
        const int macro = length > 1 ? macro_of(line + i, length) : -1;
        if (macro >= 0 && !known[macro]) {
            known[macro] = true;
            str_addf(out, "%*s// %s: %s\n", (int)indent, "", MACROS[macro].name, MACROS[macro].what);
        }
        length += length == 0;
    }
}

/* The next line is a part of the same directive, or statement. */
static bool goes_on_behind(const char *line, size_t n, bool *directive)
{
    const char first = line[strspn(line, " ")], last = n > 0 ? line[n - 1] : ';';
    *directive = *directive || first == '#';
    bool whole = *directive || first == '/' || strchr(";{}", last) != NULL, goes_on = last == '\\' || !whole;
    *directive = *directive && goes_on;
    return goes_on;
}

const char *cg_explain_macros(Arena *arena, const char *text)
{
    bool known[N_MACROS] = {false}, goes_on = false, directive = false;
    Str out, notes;
    str_init(&out, arena);
    size_t begin = 0; /* of the line that may go on in several */
    while (*text != '\0') {
        const size_t n = strcspn(text, "\n");
        str_init(&notes, arena);
        begin = goes_on ? begin : out.n;
        if (strncmp(text + strspn(text, " "), "//", 2) != 0) {
            explain_line(&notes, text, n, strspn(begin < out.n ? out.at + begin : text, " "), known);
        }
        str_addn(&out, text, n + (text[n] == '\n'));
        if (notes.n > 0) { /* in front of all of it */
            const char *line = arena_strdup(arena, out.at + begin);
            str_cut(&out, begin, out.n);
            str_addf(&out, "%s%s", notes.at, line);
            begin += notes.n;
        }
        goes_on = goes_on_behind(text, n, &directive);
        text += n + (text[n] == '\n');
    }
    return out.at;
}
