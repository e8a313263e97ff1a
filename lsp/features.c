/* features: the compiler's answers in the protocol's words. */
#include "features.h"

#include "../base/file.h"
#include "../base/measures.h"
#include "../frontend/elaborate/elaborate.h"
#include "../frontend/syntax/tokens.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Numbers of the protocol. */
enum { SEVERITY_ERROR = 1, SEVERITY_WARNING = 2 };
enum { ITEM_FUNCTION = 3, ITEM_FIELD = 5, ITEM_VARIABLE = 6, ITEM_PROPERTY = 10, ITEM_KEYWORD = 14 };
enum { HINT_TYPE = 1 };

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text != NULL ? text : "";
}

/* ---- mistakes -------------------------------------------------------------------------- */

/* The compiler's own JSON of its complaints (diag.h); the caller deletes it. */
static cJSON *complaints(Document *d)
{
    Str text;
    str_init(&text, &d->c.arena);
    diags_render_json(&d->c.diags, &text);
    return cJSON_Parse(text.at);
}

/* The byte of a line and a column, both from 1. */
static int byte_at(const Document *d, const cJSON *of, const char *line, const char *column)
{
    int row = (int)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(of, line)), length;
    int offset = (int)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(of, column)) - 1;
    const char *at = source_line(&d->c.source, row, &length);
    offset = offset < 0 ? 0 : offset > length ? length : offset;
    return at != NULL ? (int)(at - d->c.source.text) + offset : 0;
}

static int begin_of(const Document *d, const cJSON *complaint)
{
    return byte_at(d, complaint, "line", "column");
}

static int end_of(const Document *d, const cJSON *complaint)
{
    return byte_at(d, complaint, "endLine", "endColumn");
}

static cJSON *diagnostic(Document *d, const cJSON *complaint)
{
    const char *help = text_of(complaint, "help"), *line = help[0] != '\0' ? "\n" : "";
    bool error = strcmp(text_of(complaint, "severity"), "error") == 0;
    cJSON *to = cJSON_CreateObject();
    cJSON_AddItemToObject(to, "range", document_range(d, begin_of(d, complaint), end_of(d, complaint)));
    cJSON_AddNumberToObject(to, "severity", error ? SEVERITY_ERROR : SEVERITY_WARNING);
    cJSON_AddStringToObject(to, "code", text_of(complaint, "code"));
    cJSON_AddStringToObject(to, "source", "pipec");
    cJSON_AddStringToObject(to, "message",
                            arena_printf(&d->c.arena, "%s%s%s", text_of(complaint, "message"), line, help));
    return to;
}

cJSON *feature_diagnostics(Document *d)
{
    cJSON *all = complaints(d), *to = cJSON_CreateArray(), *one;
    cJSON_ArrayForEach(one, all)
    {
        cJSON_AddItemToArray(to, diagnostic(d, one));
    }
    cJSON_Delete(all);
    return to;
}

/* The word that a help proposes in place of the mistake: "did you mean `gaussian`?"; false: none. */
static bool proposal(const char *help, char *to, size_t size)
{
    static const char ASKS[] = "did you mean `";
    const char *from = strstr(help, ASKS), *end = from != NULL ? strchr(from + sizeof ASKS - 1, '`') : NULL;
    if (end == NULL || (size_t)(end - from) >= size) {
        return false;
    }
    from += sizeof ASKS - 1;
    memcpy(to, from, (size_t)(end - from));
    to[end - from] = '\0';
    return true;
}

static cJSON *edits_of(const Document *d, cJSON *edit)
{
    cJSON *edits = cJSON_CreateArray(), *changes = cJSON_CreateObject(), *to = cJSON_CreateObject();
    cJSON_AddItemToArray(edits, edit);
    cJSON_AddItemToObject(changes, d->uri, edits);
    cJSON_AddItemToObject(to, "changes", changes);
    return to;
}

static cJSON *text_edit(const Document *d, int begin, int end, const char *text)
{
    cJSON *edit = cJSON_CreateObject();
    cJSON_AddItemToObject(edit, "range", document_range(d, begin, end));
    cJSON_AddStringToObject(edit, "newText", text);
    return edit;
}

cJSON *feature_fixes(Document *d, int from, int to)
{
    cJSON *all = complaints(d), *fixes = cJSON_CreateArray(), *one;
    cJSON_ArrayForEach(one, all)
    {
        char word[200];
        int begin = begin_of(d, one), end = end_of(d, one);
        if (end < from || begin > to || !proposal(text_of(one, "help"), word, sizeof word)) {
            continue;
        }
        cJSON *fix = cJSON_CreateObject(), *mends = cJSON_CreateArray();
        cJSON_AddItemToArray(mends, diagnostic(d, one));
        cJSON_AddStringToObject(fix, "title", arena_printf(&d->c.arena, "write `%s`", word));
        cJSON_AddStringToObject(fix, "kind", "quickfix");
        cJSON_AddItemToObject(fix, "diagnostics", mends);
        cJSON_AddBoolToObject(fix, "isPreferred", true);
        cJSON_AddItemToObject(fix, "edit", edits_of(d, text_edit(d, begin, end, word)));
        cJSON_AddItemToArray(fixes, fix);
    }
    cJSON_Delete(all);
    return fixes;
}

/* ---- pages ----------------------------------------------------------------------------- */

static void add_page(const Op *op, Str *to)
{
    str_add(to, "```pipe\n");
    ops_call(op, to);
    str_addf(to, "\n```\n%s\n", op->doc);
    for (int i = 0; i < op->n_params; i++) {
        if (op->param[i].words != NULL) {
            str_addf(to, "\n- `%s`: %s (", op->param[i].name, op->param[i].words);
            ops_argument(&op->param[i], to);
            str_add(to, ")");
        }
    }
    if (op->text != NULL && op->text[0] != '\0') {
        str_addf(to, "\n\n%s\n", op->text);
    }
    str_addf(to, "\n```pipe\n%s\n```\n", op->example);
}

/* The lines of a statement up to its first end. */
static void add_statement(const Document *d, const AstStmt *s, Str *to)
{
    int length = (int)strcspn(d->c.source.text + s->span.begin, "\r\n");
    str_add(to, "```pipe\n");
    str_addn(to, d->c.source.text + s->span.begin, (size_t)length);
    str_add(to, "\n```\n");
}

cJSON *feature_hover(Document *d, const Ops *ops, int byte)
{
    Word word = document_word(d, byte);
    const char *name = document_text(d, word);
    const AstStmt *given = document_definition(d, name, byte);
    const Op *op = ops_find(ops, name);
    const char *kind = document_kind(d, name);
    Str text;
    str_init(&text, &d->c.arena);
    if (given != NULL) {
        add_statement(d, given, &text);
        str_addf(&text, "%s%s", kind != NULL ? "\n" : "", kind != NULL ? kind : "");
    } else if (op != NULL) {
        add_page(op, &text);
    }
    if (text.n == 0) {
        return NULL;
    }
    cJSON *hover = cJSON_CreateObject(), *contents = cJSON_CreateObject();
    cJSON_AddStringToObject(contents, "kind", "markdown");
    cJSON_AddStringToObject(contents, "value", text.at);
    cJSON_AddItemToObject(hover, "contents", contents);
    cJSON_AddItemToObject(hover, "range", document_range(d, word.begin, word.end));
    return hover;
}

/* ---- completion ------------------------------------------------------------------------ */

static cJSON *add_item(cJSON *to, const char *label, int kind, const char *detail)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "label", label);
    cJSON_AddNumberToObject(item, "kind", kind);
    if (detail != NULL) {
        cJSON_AddStringToObject(item, "detail", detail);
    }
    cJSON_AddItemToArray(to, item);
    return item;
}

static void add_names(Document *d, const AstStmt *s, int byte, cJSON *to)
{
    for (; s != NULL && s->span.begin <= byte; s = s->next) {
        if (s->name != NULL) {
            add_item(to, s->name, s->kind == AST_FN ? ITEM_FUNCTION : ITEM_VARIABLE, document_kind(d, s->name));
        }
        for (const AstName *n = s->kind == AST_FN && byte <= s->span.end ? s->names : NULL; n != NULL; n = n->next) {
            add_item(to, n->name, ITEM_VARIABLE, "parameter");
        }
        add_names(d, s->body, byte, to);
    }
}

static void add_operators(const Ops *ops, cJSON *to)
{
    for (int i = 0; i < ops->n; i++) {
        const Op *op = &ops->at[i];
        if (op->group != NULL) {
            cJSON *item = add_item(to, op->name, ITEM_FUNCTION, op->signature);
            cJSON_AddStringToObject(item, "documentation", op->doc);
        }
    }
}

/* The operator in whose brackets a place is; NULL: none. */
static const Op *call_around(Document *d, const Ops *ops, int byte)
{
    const char *text = d->c.source.text;
    int depth = 0;
    for (int i = byte - 1; i >= 0 && text[i] != '\n'; i--) {
        depth += text[i] == ')' || text[i] == ']';
        if ((text[i] == '(' || text[i] == '[') && depth-- == 0) {
            return text[i] == '(' ? ops_find(ops, document_text(d, document_word(d, i))) : NULL;
        }
    }
    return NULL;
}

static void add_arguments(Document *d, const Op *op, cJSON *to)
{
    for (int i = 0; i < op->n_params; i++) {
        const OpParam *p = &op->param[i];
        cJSON *item = add_item(to, arena_printf(&d->c.arena, "%s = ", p->name), ITEM_FIELD, p->types_text);
        if (p->words != NULL) {
            cJSON_AddStringToObject(item, "documentation", p->words);
        }
    }
}

cJSON *feature_completion(Document *d, const Ops *ops, int byte)
{
    cJSON *to = cJSON_CreateArray();
    Word word = document_word(d, byte);
    if (word.begin > 0 && d->c.source.text[word.begin - 1] == '.') {
        for (int i = 0; i < MEASURE_IDS; i++) {
            add_item(to, MEASURES[i].name, ITEM_PROPERTY, NULL);
        }
        return to;
    }
    const Op *around = call_around(d, ops, word.begin);
    if (around != NULL) {
        add_arguments(d, around, to);
    }
    add_names(d, d->c.file != NULL ? d->c.file->statements : NULL, byte, to);
    add_operators(ops, to);
    const char *keyword;
    for (size_t i = 0; (keyword = fe_keyword(i)) != NULL; i++) {
        add_item(to, keyword, ITEM_KEYWORD, NULL);
    }
    return to;
}

/* ---- definitions ----------------------------------------------------------------------- */

/* A file of the prelude where an editor can open it, below the folder for caches; NULL: there is none. */
static char *prelude_file(Arena *arena, const Source *source)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool own = cache != NULL && cache[0] == '/';
    if (!own && (home == NULL || home[0] != '/')) {
        return NULL;
    }
    char *folder = own ? arena_strdup(arena, cache) : arena_printf(arena, "%s/.cache", home);
    char *path = NULL;
    static const char *const BELOW[] = {"", "/pipec", "/prelude"};
    for (int i = 0; i < 3; i++) {
        folder = arena_printf(arena, "%s%s", folder, BELOW[i]);
        (void)mkdir(folder, 0700);
    }
    const char *slash = strrchr(source->path, '/');
    path = arena_printf(arena, "%s/%s", folder, slash != NULL ? slash + 1 : source->path);
    Err ignored = {0};
    return file_write(path, source->text, strlen(source->text), &ignored) ? path : NULL;
}

static cJSON *location(const char *uri, cJSON *range)
{
    cJSON *to = cJSON_CreateObject();
    cJSON_AddStringToObject(to, "uri", uri);
    cJSON_AddItemToObject(to, "range", range);
    return to;
}

static cJSON *in_prelude(Document *d, const char *name)
{
    const AstStmt *fn = fe_library_function(fe_library(&d->c.arena), name);
    char *path = fn != NULL ? prelude_file(&d->c.arena, fn->span.source) : NULL;
    if (path == NULL) {
        return NULL;
    }
    const Document prelude = {.c.source = *fn->span.source, .bytes = d->bytes};
    return location(arena_printf(&d->c.arena, "file://%s", path),
                    document_range(&prelude, fn->name_span.begin, fn->name_span.end));
}

cJSON *feature_definition(Document *d, const Ops *ops, int byte)
{
    const char *name = document_text(d, document_word(d, byte));
    const AstStmt *given = document_definition(d, name, byte);
    if (given != NULL) {
        return location(d->uri, document_range(d, given->name_span.begin, given->name_span.end));
    }
    return ops_find(ops, name) != NULL ? in_prelude(d, name) : NULL;
}

/* ---- format and hints ------------------------------------------------------------------ */

cJSON *feature_formatting(Document *d)
{
    cJSON *edits = cJSON_CreateArray();
    if (d->c.file == NULL || d->c.file->incomplete || d->c.file->broken != NULL) {
        return edits;
    }
    Str text;
    str_init(&text, &d->c.arena);
    ast_format(d->c.file, &text);
    if (strcmp(text.at, d->c.source.text) != 0) {
        cJSON_AddItemToArray(edits, text_edit(d, 0, (int)strlen(d->c.source.text), text.at));
    }
    return edits;
}

static void add_hints(Document *d, const AstStmt *s, int from, int to, cJSON *hints)
{
    for (; s != NULL; s = s->next) {
        bool wanted = s->kind == AST_ASSIGN || (s->kind == AST_OUTPUT && s->a != NULL);
        wanted = wanted && s->name_span.end >= from && s->name_span.end <= to;
        const char *kind = wanted ? document_kind(d, s->name) : NULL;
        if (kind != NULL) {
            cJSON *hint = cJSON_CreateObject();
            cJSON_AddItemToObject(hint, "position", document_position(d, s->name_span.end));
            cJSON_AddStringToObject(hint, "label", arena_printf(&d->c.arena, ": %s", kind));
            cJSON_AddNumberToObject(hint, "kind", HINT_TYPE);
            cJSON_AddItemToArray(hints, hint);
        }
        if (s->kind == AST_REPEAT || s->kind == AST_UNTIL) {
            add_hints(d, s->body, from, to, hints);
        }
    }
}

cJSON *feature_hints(Document *d, int from, int to)
{
    cJSON *hints = cJSON_CreateArray();
    add_hints(d, d->c.file != NULL ? d->c.file->statements : NULL, from, to, hints);
    return hints;
}
