/* columns: see columns.h. */
#include "columns.h"

#include "names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* What every table has already (merge.h). */
static const char *const TAKEN[] = {"image", "frame", "channel", "z", "label"};

int columns_find(const Columns *columns, const char *name, size_t n)
{
    int i = columns->n - 1;
    while (i >= 0 && (strlen(columns->names[i]) != n || memcmp(columns->names[i], name, n) != 0)) {
        i--;
    }
    return i;
}

static bool is_name(const char *name, size_t n)
{
    bool fine = n > 0 && !isdigit((unsigned char)name[0]);
    for (size_t i = 0; i < n; i++) {
        fine = fine && (isalnum((unsigned char)name[i]) || name[i] == '_');
    }
    return fine;
}

static bool add_column(Columns *columns, const char *name, size_t n, Err *err)
{
    if (!is_name(name, n)) {
        return err_set(err, CODE_USAGE, "--columns '%s': '%.*s' is no name of a column; letters, digits and _ are",
                       columns->text, (int)n, name);
    }
    bool taken = columns_find(columns, name, n) >= 0;
    for (size_t i = 0; i < sizeof TAKEN / sizeof *TAKEN; i++) {
        taken = taken || (strlen(TAKEN[i]) == n && memcmp(TAKEN[i], name, n) == 0);
    }
    if (taken) {
        return err_set(err, CODE_USAGE, "--columns '%s': the tables would have two columns '%.*s'", columns->text,
                       (int)n, name);
    }
    if (columns->n == COLUMNS_MOST) {
        return err_set(err, CODE_USAGE, "--columns '%s' has more than %d columns", columns->text, COLUMNS_MOST);
    }
    columns->names[columns->n] = strndup(name, n);
    return columns->names[columns->n++] != NULL || err_set(err, CODE_MEMORY, "out of memory");
}

bool columns_parse(const char *text, Columns *out, Err *err)
{
    *out = (Columns){.text = text};
    for (const char *at = text; at != NULL && *at != '\0';) {
        size_t plain = strcspn(at, "{}");
        at += plain;
        if (*at == '\0') {
            break;
        }
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        if (end == NULL || memchr(at + 1, '{', (size_t)(end - at - 1)) != NULL) {
            return err_set(err, CODE_USAGE, "--columns '%s' has a brace without partner", text);
        }
        if (plain == 0 && out->n > 0) {
            return err_set(err, CODE_USAGE,
                           "--columns '%s': nothing tells where '%s' ends; write what stands behind it", text,
                           out->names[out->n - 1]);
        }
        TRY(add_column(out, at + 1, (size_t)(end - at - 1), err));
        at = end + 1;
    }
    return text == NULL || out->n > 0 ||
           err_set(err, CODE_USAGE, "--columns '%s' names no column; write them in braces: '{well}_{field}'", text);
}

void columns_free(Columns *columns)
{
    for (int i = 0; i < columns->n; i++) {
        free(columns->names[i]);
    }
    columns->n = 0;
}

/* The end of a path with as many slashes as the template, without the extension. */
static bool name_of(const Columns *columns, const char *path, char *to, size_t size, const char **name, Err *err)
{
    const NameFields fields = {.input = path, .index = -1};
    TRY(names_expand("{dir}/{stem}", &fields, to, size, err));
    int slashes = 0;
    for (const char *c = columns->text; *c != '\0'; c++) {
        slashes += *c == '/';
    }
    *name = to + strlen(to);
    for (; *name > to && (slashes > 0 || (*name)[-1] != '/'); (*name)--) {
        slashes -= (*name)[-1] == '/';
    }
    return true;
}

/* Takes the text of the template up to the next brace off the name. */
static bool take_plain(const char **template, const char **name)
{
    size_t n = strcspn(*template, "{");
    bool same = strncmp(*template, *name, n) == 0;
    *template += n;
    *name += same ? n : 0;
    return same;
}

/* How much of the name a field takes: up to the plain text behind it, at least a character; 0: it does not fit. */
static size_t field_length(const char *template, const char *name)
{
    size_t plain = strcspn(template, "{");
    if (template[0] == '\0') {
        return strchr(name, '/') == NULL ? strlen(name) : 0;
    }
    for (size_t n = 1; *name != '\0' && name[n] != '\0' && name[n - 1] != '/'; n++) {
        bool last = template[plain] == '\0' && strlen(name + n) != plain;
        if (strncmp(name + n, template, plain) == 0 && !last) {
            return n;
        }
    }
    return 0;
}

bool columns_match(const Columns *columns, const char *path, char **values, Err *err)
{
    char whole[PATH_BYTES];
    const char *name, *template = columns->text;
    if (columns->n == 0) {
        return true;
    }
    TRY(name_of(columns, path, whole, sizeof whole, &name, err));
    bool fits = take_plain(&template, &name);
    for (int i = 0; i < columns->n && fits; i++) {
        template = strchr(template, '}') + 1;
        size_t n = field_length(template, name);
        fits = n > 0;
        values[i] = fits ? strndup(name, n) : NULL;
        if (fits && values[i] == NULL) {
            return err_set(err, CODE_MEMORY, "out of memory");
        }
        name += n;
        fits = fits && take_plain(&template, &name);
    }
    return (fits && *name == '\0') ||
           err_set(err, CODE_USAGE, "'%s' is not named as --columns '%s' says (without its extension)", path,
                   columns->text);
}
