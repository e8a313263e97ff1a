/* soften: statements and declarations, from top to bottom. */
#include "soften.h"

#include "soften_state.h"

#include <stdlib.h>
#include <string.h>

extern const char kernel_text_soft_double[], kernel_text_soft[];

enum { MOST_NESTED = 200 };

/* ---- declarations ---------------------------------------------------------------------- */

/* Lines of pragmas that stand in front of what comes, but for those about double precision. */
static void add_pragma(Softener *s)
{
    for (const char *line = s->at->pragma; line && *line;) {
        const int n = (int)strcspn(line, "\n");
        const char *doubles = strstr(line, "cl_khr_fp64");
        if (!doubles || doubles > line + n) {
            str_addf(&s->out, "\n%.*s\n", n, line);
        }
        line += n + 1;
    }
}

static void read_block(Softener *s);

static void read_body(Softener *s, const Type *function)
{
    const int known = s->names.n;
    for (int i = 0; i < function->fields->n; i++) {
        vec_push(s->arena, &s->names, function->fields->at[i]);
    }
    s->result = function->to;
    str_add(&s->out, "\n");
    read_block(s);
    s->names.n = known;
}

/* Names with what they are and begin with, to the ";"; or a function. */
static void read_declaration(Softener *s)
{
    const Type *base;
    bool is_typedef;
    add_pragma(s);
    str_add(&s->out, soften_specifiers(s, &base, &is_typedef));
    while (!soften_accept(s, ";")) {
        Field field;
        str_add(&s->out, soften_declarator(s, base, &field.name, &field.type));
        if (!field.name) {
            text_fault(&s->fault, "a name is expected before '%.40s'", s->at->text);
        }
        if (is_typedef) {
            vec_push(s->arena, &s->types, field);
        } else {
            vec_push(s->arena, &s->names, field);
        }
        if (token_is(s->at, "{") && field.type->form == FORM_FUNCTION) {
            read_body(s, field.type);
            return;
        }
        if (soften_accept(s, "=")) {
            str_addf(&s->out, " = %s", soften_initializer(s, field.type));
        }
        if (!soften_accept(s, ",") && !token_is(s->at, ";")) {
            text_fault(&s->fault, "';' is expected before '%.40s'", s->at->text);
        }
        str_add(&s->out, token_is(s->at, ";") ? "" : ", ");
    }
    str_add(&s->out, ";\n");
}

/* ---- statements ------------------------------------------------------------------------ */

static void read_statement(Softener *s);

static void read_block(Softener *s)
{
    const int names = s->names.n, types = s->types.n;
    soften_expect(s, "{");
    str_add(&s->out, "{\n");
    while (!soften_accept(s, "}")) {
        if (soften_starts_type(s, s->at) && !token_is(s->at, "__attribute__")) {
            read_declaration(s);
        } else {
            read_statement(s);
        }
    }
    str_add(&s->out, "}\n");
    s->names.n = names;
    s->types.n = types;
}

static const char *read_condition(Softener *s)
{
    soften_expect(s, "(");
    const char *text = soften_condition(s, soften_expression(s));
    soften_expect(s, ")");
    return text;
}

static void read_for(Softener *s)
{
    const int names = s->names.n;
    soften_expect(s, "(");
    str_add(&s->out, "for (");
    if (soften_starts_type(s, s->at)) {
        read_declaration(s);
    } else {
        str_addf(&s->out, "%s;", token_is(s->at, ";") ? "" : soften_expression(s).text);
        soften_expect(s, ";");
    }
    str_addf(&s->out, " %s;", token_is(s->at, ";") ? "" : soften_condition(s, soften_expression(s)));
    soften_expect(s, ";");
    str_addf(&s->out, " %s)\n", token_is(s->at, ")") ? "" : soften_expression(s).text);
    soften_expect(s, ")");
    read_statement(s);
    s->names.n = names;
}

static void read_if(Softener *s)
{
    str_addf(&s->out, "if (%s)\n", read_condition(s));
    read_statement(s);
    if (soften_accept(s, "else")) {
        str_add(&s->out, "else ");
        read_statement(s);
    }
}

static void read_do(Softener *s)
{
    str_add(&s->out, "do ");
    read_statement(s);
    soften_expect(s, "while");
    str_addf(&s->out, "while (%s);\n", read_condition(s));
    soften_expect(s, ";");
}

static void read_return(Softener *s)
{
    if (token_is(s->at, ";")) {
        str_add(&s->out, "return;\n");
    } else {
        str_addf(&s->out, "return %s;\n", soften_as(s, soften_expression(s), s->result));
    }
    soften_expect(s, ";");
}

static void read_case(Softener *s, bool named)
{
    if (named) {
        str_addf(&s->out, "case %s:\n", soften_expression(s).text);
    } else {
        str_add(&s->out, "default:\n");
    }
    soften_expect(s, ":");
}

static void read_simple(Softener *s)
{
    str_addf(&s->out, "%s;\n", token_is(s->at, ";") ? "" : soften_expression(s).text);
    soften_expect(s, ";");
}

static void read_statement(Softener *s)
{
    if (++s->nested > MOST_NESTED || s->at->kind == TOKEN_END) {
        text_fault(&s->fault, s->at->kind == TOKEN_END ? "it ends within a block" : "blocks are nested too deeply");
    }
    add_pragma(s);
    str_add(&s->out, soften_attributes(s));
    if (token_is(s->at, "{")) {
        read_block(s);
    } else if (soften_accept(s, "if")) {
        read_if(s);
    } else if (soften_accept(s, "for")) {
        read_for(s);
    } else if (soften_accept(s, "while")) {
        str_addf(&s->out, "while (%s)\n", read_condition(s));
        read_statement(s);
    } else if (soften_accept(s, "do")) {
        read_do(s);
    } else if (soften_accept(s, "switch")) {
        str_addf(&s->out, "switch (%s)\n", read_condition(s));
        read_statement(s);
    } else if (token_is(s->at, "case") || token_is(s->at, "default")) {
        const bool named = soften_accept(s, "case");
        s->at = named ? s->at : s->at->next;
        read_case(s, named);
    } else if (soften_accept(s, "return")) {
        read_return(s);
    } else if (token_is(s->at, "break") || token_is(s->at, "continue")) {
        str_addf(&s->out, "%s;\n", s->at->text);
        s->at = s->at->next;
        soften_expect(s, ";");
    } else {
        read_simple(s);
    }
    s->nested--;
}

/* ---- a text ---------------------------------------------------------------------------- */

static const char *softened(Softener *s, const char *source, const char *options)
{
    str_init(&s->out, s->arena);
    str_add(&s->out, kernel_text_soft_double);
    str_add(&s->out, kernel_text_soft);
    s->at = preprocess(s->arena, &s->fault, source, options);
    while (s->at->kind != TOKEN_END) {
        if (!soften_accept(s, ";")) {
            read_declaration(s);
        }
    }
    return s->out.at;
}

/* What is known after a jump lies in the arena. */
static bool softened_in(Arena *arena, const char *name, const char *source, const char *options, bool fma, char **out,
                        Err *err)
{
    Softener *const s = arena_new(arena, Softener);
    s->arena = arena;
    s->fma = fma;
    if (setjmp(s->fault.jump) != 0) {
        return err_set(err, CODE_DEVICE,
                       "the text of kernel '%s' cannot be put into integer arithmetic, which a device "
                       "without double precision needs: %s",
                       name, s->fault.why);
    }
    *out = strdup(softened(s, source, options));
    return *out != NULL || err_set(err, CODE_MEMORY, "out of host memory for the text of kernel '%s'", name);
}

bool soften(const char *name, const char *source, const char *options, bool fma, char **out, Err *err)
{
    Arena arena;
    arena_init(&arena);
    jmp_buf no_memory;
    *out = NULL;
    arena.out_of_memory = &no_memory;
    if (setjmp(no_memory) != 0) {
        err_set(err, CODE_MEMORY, "out of host memory for the text of kernel '%s'", name);
    } else {
        (void)softened_in(&arena, name, source, options, fma, out, err);
    }
    arena_free(&arena);
    return *out != NULL;
}
