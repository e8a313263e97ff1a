/* soften_types: what declarations say, read and written again with soft doubles. */
#include "soften_state.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const SCALARS[] = {"void", "bool", "char", "uchar", "short", "ushort",
                                      "int",  "uint", "long", "ulong", "float", "double"};
enum { N_SCALARS = sizeof SCALARS / sizeof *SCALARS };

static const struct {
    const char *name;
    Scalar scalar;
} OTHER_NAMES[] = {{"size_t", ULONG},    {"ptrdiff_t", LONG}, {"intptr_t", LONG},
                   {"uintptr_t", ULONG}, {"unsigned", UINT},  {"signed", INT}};

static const char *const QUALIFIERS[] = {"const",   "volatile", "restrict",   "static",  "inline",    "extern",
                                         "typedef", "kernel",   "__kernel",   "global",  "__global",  "local",
                                         "__local", "constant", "__constant", "private", "__private", "__attribute__"};

bool soften_accept(Softener *s, const char *text)
{
    const bool is = token_is(s->at, text);
    s->at = is ? s->at->next : s->at;
    return is;
}

void soften_expect(Softener *s, const char *text)
{
    if (!soften_accept(s, text)) {
        text_fault(&s->fault, "'%s' is expected before '%.40s'", text, s->at->text);
    }
}

/* ---- types ----------------------------------------------------------------------------- */

const Type *soften_scalar(Scalar scalar)
{
#define TYPE_OF(SCALAR) [SCALAR] = {.form = FORM_NUMBER, .scalar = (SCALAR), .lanes = 1 }
    static const Type TYPES[N_SCALARS] = {TYPE_OF(VOID),  TYPE_OF(BOOL),   TYPE_OF(CHAR),  TYPE_OF(UCHAR),
                                          TYPE_OF(SHORT), TYPE_OF(USHORT), TYPE_OF(INT),   TYPE_OF(UINT),
                                          TYPE_OF(LONG),  TYPE_OF(ULONG),  TYPE_OF(FLOAT), TYPE_OF(DOUBLE)};
    return &TYPES[scalar];
}

const Type *soften_pointer(Softener *s, const Type *to)
{
    Type *type = arena_new(s->arena, Type);
    *type = (Type){.form = FORM_POINTER, .to = to, .lanes = 1};
    return type;
}

bool soften_is_double(const Type *type)
{
    return type->form == FORM_NUMBER && type->scalar == DOUBLE && type->lanes == 1;
}

const char *soften_scalar_name(Scalar scalar)
{
    return SCALARS[scalar];
}

const Type *soften_find(const Fields *fields, const char *name)
{
    int i = fields->n - 1;
    while (i >= 0 && !(fields->at[i].name && strcmp(fields->at[i].name, name) == 0)) {
        i--;
    }
    return i >= 0 ? fields->at[i].type : NULL;
}

const Type *soften_named_type(Softener *s, const char *name)
{
    for (size_t i = 0; i < sizeof OTHER_NAMES / sizeof *OTHER_NAMES; i++) {
        if (strcmp(name, OTHER_NAMES[i].name) == 0) {
            return soften_scalar(OTHER_NAMES[i].scalar);
        }
    }
    size_t n = strlen(name);
    while (n > 0 && isdigit((unsigned char)name[n - 1])) {
        n--;
    }
    for (int i = 0; i < N_SCALARS; i++) {
        if (strlen(SCALARS[i]) == n && strncmp(name, SCALARS[i], n) == 0) {
            if (!name[n]) {
                return soften_scalar((Scalar)i);
            }
            Type *type = arena_new(s->arena, Type);
            *type = (Type){.form = FORM_NUMBER, .scalar = (Scalar)i, .lanes = atoi(name + n)};
            return type;
        }
    }
    return soften_find(&s->types, name);
}

/* ---- words of a type ------------------------------------------------------------------- */

static bool is_qualifier(const Token *t)
{
    for (size_t i = 0; i < sizeof QUALIFIERS / sizeof *QUALIFIERS; i++) {
        if (token_is(t, QUALIFIERS[i])) {
            return true;
        }
    }
    return false;
}

static bool is_tagged(const Token *t)
{
    return token_is(t, "struct") || token_is(t, "union") || token_is(t, "enum");
}

bool soften_starts_type(Softener *s, const Token *t)
{
    return t->kind == TOKEN_NAME &&
           (is_qualifier(t) || is_tagged(t) || (!soften_find(&s->names, t->text) && soften_named_type(s, t->text)));
}

const char *soften_attributes(Softener *s)
{
    Str text;
    str_init(&text, s->arena);
    while (token_is(s->at, "__attribute__")) {
        int depth = 0;
        do {
            depth += token_is(s->at, "(") ? 1 : token_is(s->at, ")") ? -1 : 0;
            str_addf(&text, s->at->kind == TOKEN_NAME ? " %s" : "%s", s->at->text);
            s->at = s->at->next;
        } while (s->at->kind != TOKEN_END && (depth > 0 || token_is(s->at, "(")));
        str_add(&text, " ");
    }
    return text.at ? text.at : "";
}

/* Those of a structure, from its "{" on. */
static void read_fields(Softener *s, Fields *fields, Str *text)
{
    soften_expect(s, "{");
    str_add(text, " {\n");
    while (!soften_accept(s, "}")) {
        const Type *base;
        bool is_typedef;
        str_add(text, soften_specifiers(s, &base, &is_typedef));
        do {
            Field field = {0};
            str_add(text, soften_declarator(s, base, &field.name, &field.type));
            vec_push(s->arena, fields, field);
            str_add(text, token_is(s->at, ",") ? "," : ";\n");
        } while (soften_accept(s, ","));
        soften_expect(s, ";");
    }
    str_add(text, "}");
}

/* Those of an enumeration, which are whole numbers. */
static void read_enumerators(Softener *s, Str *text)
{
    soften_expect(s, "{");
    str_add(text, " {");
    while (!soften_accept(s, "}")) {
        const Field field = {s->at->text, soften_scalar(INT)};
        if (s->at->kind != TOKEN_NAME) {
            text_fault(&s->fault, "a name is expected before '%.40s'", field.name);
        }
        vec_push(s->arena, &s->names, field);
        str_add(text, field.name);
        s->at = s->at->next;
        if (soften_accept(s, "=")) {
            str_addf(text, " = %s", soften_assignment(s).text);
        }
        str_add(text, soften_accept(s, ",") ? ", " : "");
    }
    str_add(text, "}");
}

/* After `struct`, `union` or `enum`. */
static const Type *read_tagged(Softener *s, bool is_enum, Str *text)
{
    const char *attributes = soften_attributes(s), *tag = s->at->kind == TOKEN_NAME ? s->at->text : NULL;
    s->at = tag ? s->at->next : s->at;
    str_addf(text, "%s %s", attributes, tag ? tag : "");
    if (is_enum) {
        if (token_is(s->at, "{")) {
            read_enumerators(s, text);
        }
        return soften_scalar(INT);
    }
    const Type *known = tag ? soften_find(&s->records, tag) : NULL;
    if (!token_is(s->at, "{") && known) {
        return known;
    }
    Fields *fields = arena_new(s->arena, Fields);
    Type *type = arena_new(s->arena, Type);
    *type = (Type){.form = FORM_RECORD, .fields = fields, .lanes = 1};
    if (tag) {
        const Field field = {tag, type};
        vec_push(s->arena, &s->records, field);
    }
    if (token_is(s->at, "{")) {
        read_fields(s, fields, text);
    }
    return type;
}

/* A double's name is that of its structure. */
static void add_type_name(const char *name, const Type *type, Str *text)
{
    const bool is_own = strncmp(name, "double", 6) == 0 && type->form == FORM_NUMBER && type->scalar == DOUBLE;
    str_addf(text, "%s%s ", is_own ? "SoftDouble" : name, is_own ? name + 6 : "");
}

const char *soften_specifiers(Softener *s, const Type **type, bool *is_typedef)
{
    Str text;
    str_init(&text, s->arena);
    *type = NULL;
    *is_typedef = false;
    bool sign = false; /* the last word was one that others may follow */
    while (s->at->kind == TOKEN_NAME) {
        const Token *t = s->at;
        if (token_is(t, "__attribute__")) {
            str_add(&text, soften_attributes(s));
        } else if (is_qualifier(t)) {
            *is_typedef |= token_is(t, "typedef");
            str_addf(&text, "%s ", t->text);
            s->at = t->next;
        } else if (is_tagged(t)) {
            str_add(&text, t->text);
            s->at = t->next;
            *type = read_tagged(s, token_is(t, "enum"), &text);
            str_add(&text, " ");
        } else {
            const Type *named = soften_named_type(s, t->text);
            if (!named || (*type && !sign)) {
                break;
            }
            sign = token_is(t, "unsigned") || token_is(t, "signed");
            add_type_name(t->text, named, &text);
            *type = named;
            s->at = t->next;
        }
    }
    if (!*type) {
        text_fault(&s->fault, "a type is expected before '%.40s'", s->at->text);
    }
    return text.at;
}

/* ---- names with their brackets and stars ------------------------------------------------- */

static const Type *read_parameters(Softener *s, const Type *result, Str *text)
{
    Fields *params = arena_new(s->arena, Fields);
    str_add(text, "(");
    while (!soften_accept(s, ")")) {
        const Type *base;
        bool is_typedef;
        Field field = {0};
        str_add(text, soften_specifiers(s, &base, &is_typedef));
        str_add(text, soften_declarator(s, base, &field.name, &field.type));
        if (field.type->form != FORM_NUMBER || field.type->scalar != VOID) {
            vec_push(s->arena, params, field);
        }
        str_add(text, soften_accept(s, ",") ? ", " : "");
    }
    str_add(text, ")");
    Type *type = arena_new(s->arena, Type);
    *type = (Type){.form = FORM_FUNCTION, .to = result, .fields = params, .lanes = 1};
    return type;
}

/* What stands behind a name. */
static const Type *read_suffix(Softener *s, const Type *base, Str *text)
{
    if (soften_accept(s, "[")) {
        const char *size = token_is(s->at, "]") ? "" : soften_assignment(s).text;
        soften_expect(s, "]");
        str_addf(text, "[%s]", size);
        return soften_pointer(s, read_suffix(s, base, text));
    }
    return soften_accept(s, "(") ? read_parameters(s, base, text) : base;
}

/* From a "(" to behind its ")". */
static void skip_brackets(Softener *s)
{
    int depth = 0;
    do {
        depth += token_is(s->at, "(") ? 1 : token_is(s->at, ")") ? -1 : 0;
        s->at = s->at->next;
    } while (depth > 0 && s->at->kind != TOKEN_END);
}

const char *soften_declarator(Softener *s, const Type *base, const char **name, const Type **type)
{
    Str text, behind;
    str_init(&text, s->arena);
    str_init(&behind, s->arena);
    *name = NULL;
    while (token_is(s->at, "*") || is_qualifier(s->at)) {
        if (token_is(s->at, "__attribute__")) {
            str_add(&text, soften_attributes(s));
            continue;
        }
        base = token_is(s->at, "*") ? soften_pointer(s, base) : base;
        str_addf(&text, "%s ", s->at->text);
        s->at = s->at->next;
    }
    Token *inner = NULL;
    if (token_is(s->at, "(") && token_is(s->at->next, "*")) {
        inner = s->at->next;
        skip_brackets(s);
    } else if (s->at->kind == TOKEN_NAME) {
        *name = s->at->text;
        s->at = s->at->next;
        str_add(&text, *name);
    }
    *type = read_suffix(s, base, &behind);
    str_add(&behind, soften_attributes(s));
    if (inner) {
        Token *end = s->at;
        s->at = inner;
        str_addf(&text, "(%s)", soften_declarator(s, *type, name, type));
        s->at = end;
    }
    return arena_printf(s->arena, "%s%s", text.at ? text.at : "", behind.at ? behind.at : "");
}

const char *soften_type_name(Softener *s, const Type **type)
{
    const Type *base;
    const char *name;
    bool is_typedef;
    const char *words = soften_specifiers(s, &base, &is_typedef), *behind = soften_declarator(s, base, &name, type);
    const size_t n = strlen(words) - (*behind ? 0 : 1); /* a space follows each word */
    return arena_printf(s->arena, "%.*s%s", (int)n, words, behind);
}
