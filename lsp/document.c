/* document: compiling, and where things are. */
#include "document.h"

#include "../base/stack.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf no_memory;

/* "/home/me/my blobs.pipe" of "file:///home/me/my%20blobs.pipe", for messages and the pipeline's name. */
static char *path_of(Arena *arena, const char *uri)
{
    static const char FILE_URI[] = "file://";
    const char *from = strncmp(uri, FILE_URI, sizeof FILE_URI - 1) == 0 ? uri + sizeof FILE_URI - 1 : uri;
    char *path = arena_strdup(arena, from), *to = path;
    for (; *from != '\0'; from++) {
        char hex[3] = {from[0] == '%' ? from[1] : '\0', from[0] == '%' && from[1] != '\0' ? from[2] : '\0', '\0'};
        bool escaped = isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1]);
        *to++ = escaped ? (char)strtol(hex, NULL, 16) : *from;
        from += escaped ? 2 : 0;
    }
    *to = '\0';
    return path;
}

typedef struct Opening {
    Document *to;
    const char *text;
} Opening;

static int compile_document(void *context)
{
    const Opening *opening = context;
    Document *d = opening->to;
    CompileOptions options = {.fuse = FUSE_ALL, .plan_for = *figures_known(NULL)};
    Err ignored = {0};
    if (setjmp(no_memory) != 0) {
        return false;
    }
    compile_begin(&d->c, &options, &no_memory);
    compile_text(&d->c, path_of(&d->c.arena, d->uri), opening->text, strlen(opening->text));
    d->graph = compile_to(&d->c, STAGE_GRAPH, &ignored);
    return true;
}

Document *document_open(const char *uri, const char *text, bool bytes)
{
    Document *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return NULL;
    }
    d->bytes = bytes;
    d->uri = strdup(uri);
    if (d->uri == NULL || !stack_run(compile_document, &(Opening){d, text})) {
        document_close(d);
        return NULL;
    }
    d->c.arena.out_of_memory = NULL; /* what is asked later is small */
    return d;
}

void document_close(Document *d)
{
    if (d == NULL) {
        return;
    }
    compile_free(&d->c);
    free(d->uri);
    free(d);
}

/* ---- places ---------------------------------------------------------------------------- */

/* Bytes of the letter at `p`, and its UTF-16 units. */
static int letter(const char *p, int *units)
{
    unsigned char first = (unsigned char)*p;
    int n = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    for (int i = 1; i < n; i++) {
        n = (p[i] & 0xC0) == 0x80 ? n : i; /* no UTF-8: a byte is a letter */
    }
    *units = n == 4 ? 2 : 1;
    return n;
}

cJSON *document_position(const Document *d, int byte)
{
    const char *text = d->c.source.text, *end = text + byte;
    int line = 0, column = 0;
    const char *begin = text;
    for (const char *p = text; p < end && *p != '\0';) {
        int n = source_line_end(p);
        line += n > 0;
        p += n > 0 ? n : 1;
        begin = n > 0 ? p : begin;
    }
    for (const char *p = begin; p < end && *p != '\0';) {
        int units, n = letter(p, &units);
        column += d->bytes ? n : units;
        p += n;
    }
    cJSON *position = cJSON_CreateObject();
    cJSON_AddNumberToObject(position, "line", line);
    cJSON_AddNumberToObject(position, "character", column);
    return position;
}

static double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) && item->valuedouble > 0 ? item->valuedouble : 0;
}

int document_byte(const Document *d, const cJSON *position)
{
    const char *text = d->c.source.text, *p = text;
    double line = number(position, "line"), column = number(position, "character");
    for (; line > 0 && *p != '\0'; line--) {
        while (*p != '\0' && source_line_end(p) == 0) {
            p++;
        }
        p += source_line_end(p);
    }
    while (column > 0 && *p != '\0' && source_line_end(p) == 0) {
        int units, n = letter(p, &units);
        column -= d->bytes ? n : units;
        p += n;
    }
    return (int)(p - text);
}

cJSON *document_range(const Document *d, int begin, int end)
{
    cJSON *range = cJSON_CreateObject();
    cJSON_AddItemToObject(range, "start", document_position(d, begin));
    cJSON_AddItemToObject(range, "end", document_position(d, end));
    return range;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

Word document_word(const Document *d, int byte)
{
    const char *text = d->c.source.text;
    Word word = {byte, byte};
    while (word.begin > 0 && in_word(text[word.begin - 1])) {
        word.begin--;
    }
    while (in_word(text[word.end])) {
        word.end++;
    }
    return word;
}

const char *document_text(Document *d, Word word)
{
    return arena_strndup(&d->c.arena, d->c.source.text + word.begin, (size_t)(word.end - word.begin));
}

/* ---- names ----------------------------------------------------------------------------- */

static bool gives(const AstStmt *s, const char *name)
{
    bool names = s->kind == AST_INPUT || s->kind == AST_PARAM || s->kind == AST_FN || s->kind == AST_ASSIGN ||
                 (s->kind == AST_OUTPUT && s->a != NULL);
    return names && s->name != NULL && strcmp(s->name, name) == 0;
}

static void find_definition(const AstStmt *s, const char *name, int byte, const AstStmt **found)
{
    for (; s != NULL; s = s->next) {
        bool before = s->span.begin <= byte;
        if (gives(s, name) && (*found == NULL || before)) {
            *found = s;
        }
        if (s->kind == AST_REPEAT || s->kind == AST_UNTIL || (s->span.begin <= byte && byte <= s->span.end)) {
            find_definition(s->body, name, byte, found);
        }
    }
}

const AstStmt *document_definition(const Document *d, const char *name, int byte)
{
    const AstStmt *found = NULL;
    find_definition(d->c.file != NULL ? d->c.file->statements : NULL, name, byte, &found);
    return found;
}

static void add_axes(const IrGraph *g, const IrNode *n, Str *to)
{
    static const char ORDER[] = "zyxc";
    const char *comma = "[";
    if (n->grid < 0) {
        return;
    }
    for (int i = 0; i < 4; i++) {
        int axis = (int)(strchr("xyzc", ORDER[i]) - "xyzc");
        if (g->grids.at[n->grid].has[axis]) {
            str_addf(to, "%s%c", comma, ORDER[i]);
            comma = ", ";
        }
    }
    str_add(to, comma[0] == '[' ? "" : "]");
}

const char *document_kind(Document *d, const char *name)
{
    const IrGraph *g = d->graph ? d->c.graph : NULL;
    for (int i = 1; g != NULL && i < g->nodes.n; i++) {
        const IrNode *n = ir_node(g, (IrId)i);
        if (n->dead || n->name == NULL || strcmp(n->name, name) != 0) {
            continue;
        }
        Str text;
        str_init(&text, &d->c.arena);
        str_add(&text, IR_KIND_NAMES[n->kind]);
        if (n->kind == IR_K_IMAGE) {
            str_addf(&text, " %s", n->elem == ELEM_FILE ? "of the file's type" : elem_name(n->elem));
        }
        add_axes(g, n, &text);
        return text.at;
    }
    return NULL;
}
