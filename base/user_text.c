/* user_text: what users write, as it may stand in text that a compiler reads. */
#include "user_text.h"

#include "utf8.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------------- */

bool user_is_word(const char *name)
{
    size_t n = 0;
    while (isalnum((unsigned char)name[n]) || name[n] == '_') {
        n++;
    }
    return n > 0 && name[n] == '\0' && !isdigit((unsigned char)name[0]);
}

/* `_x` becomes `u_x`; so that this is nobody else's, `u_x` becomes `uu_x`, and so on. */
static const char *in_front(const char *name)
{
    return name[strspn(name, "u")] == '_' ? "u" : "";
}

const char *user_name(Arena *arena, const char *name)
{
    assert(user_is_word(name));
    return arena_printf(arena, "%s%s_", in_front(name), name);
}

const char *user_part(Arena *arena, const char *name, const char *part)
{
    assert(user_is_word(name) && isalnum((unsigned char)part[0]) && strstr(part, "__") == NULL);
    return arena_printf(arena, "%s%s__%s", in_front(name), name, part);
}

bool user_owns(const char *identifier)
{
    size_t n = strlen(identifier);
    return n > 1 && identifier[0] != '_' && (identifier[n - 1] == '_' || strstr(identifier, "__") != NULL);
}

/* ---- literals and comments --------------------------------------------------------------- */

static void literal_character(Str *out, char c)
{
    if (c == '"' || c == '\\' || c == '?') { /* two question marks may begin a trigraph */
        str_addf(out, "\\%c", c);
    } else if (c < ' ' || c > '~') {
        str_addf(out, "\\%03o", (unsigned)(unsigned char)c);
    } else {
        str_addn(out, &c, 1);
    }
}

void user_literal(Str *out, const char *text)
{
    if (text == NULL) {
        str_add(out, "NULL");
        return;
    }
    str_add(out, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\n') {
            str_add(out, p[1] != '\0' ? "\\n\"\n    \"" : "\\n");
        } else {
            literal_character(out, *p);
        }
    }
    str_add(out, "\"");
}

/* The most bytes of whole characters that fit into `room`. */
static size_t whole_characters(const char *text, size_t room)
{
    while (room > 0 && ((unsigned char)text[room] & 0xC0) == 0x80) {
        room--;
    }
    return room;
}

/* The text without what ends comments or begins others, without tabs and blanks at its end. */
static void comment_line(Str *line, const char *text, size_t n)
{
    Str shown;
    str_init(&shown, line->arena);
    utf8_add_clean(&shown, text, (int)n);
    for (size_t i = 0; i < shown.n; i++) {
        const char *p = &shown.at[i];
        bool marks = i > 0 && ((p[-1] == '*' && *p == '/') || (p[-1] == '/' && *p == '*'));
        str_add(line, marks ? " " : "");
        str_addn(line, *p == '\n' || *p == '\t' ? " " : p, 1);
    }
    while (line->n > 0 && line->at[line->n - 1] == ' ') {
        str_cut(line, line->n - 1, line->n);
    }
}

void user_comment(Str *out, const char *text, size_t n, size_t room)
{
    static const char CUT[] = "...";
    Str line;
    str_init(&line, out->arena);
    comment_line(&line, text, n);
    if (line.n >= room) {
        str_addn(out, line.at, whole_characters(line.at, room - sizeof CUT));
        str_add(out, CUT);
        return;
    }
    char last = line.n > 0 ? line.at[line.n - 1] : ' ';
    str_add(out, line.at);
    str_add(out, last == '\\' || last == '/' ? "." : ""); /* it, or the trigraph for it, would join the next line */
}
