/*
 * ast_print: the syntax tree as an indented list, one node a line (pipec show --ast).
 *
 * A node's line begins with the part it plays in its parent, where that is not plain from the
 * order: the name of an argument, `if`, `in`, `where`.
 */
#include "ast.h"

static const char *const expr_names[] = {
    [AST_NUMBER] = "number", [AST_BOOL] = "bool",     [AST_STRING] = "string",      [AST_NAME] = "name",
    [AST_UNARY] = "unary",   [AST_BINARY] = "binary", [AST_COND] = "choice",        [AST_CALL] = "call",
    [AST_INDEX] = "index",   [AST_MEMBER] = "member", [AST_COMPREHENSION] = "over", [AST_WHERE] = "selection",
    [AST_SLICE] = "slice",   [AST_LIST] = "list",     [AST_RECORD] = "record",      [AST_ERROR] = "error",
};

static const char *const stmt_names[] = {
    [AST_INPUT] = "input",     [AST_PARAM] = "param",   [AST_FN] = "fn",           [AST_ASSIGN] = "assign",
    [AST_OUTPUT] = "output",   [AST_REPEAT] = "repeat", [AST_INCLUDE] = "include", [AST_UNTIL] = "repeat until",
    [AST_IF] = "if",           [AST_FOR] = "for",       [AST_WHILE] = "while",     [AST_RETURN] = "return",
    [AST_EXPR] = "expression",
};

static void indent(Str *out, int depth)
{
    for (int i = 0; i < depth; i++) {
        str_add(out, "  ");
    }
}

/* What a node has beside its children. */
static void print_head(const AstExpr *e, Str *out)
{
    str_add(out, expr_names[e->kind]);
    if (e->kind == AST_NUMBER || e->kind == AST_BOOL || e->kind == AST_STRING) {
        str_add(out, " ");
        ast_expr_format(e, out);
    } else if (e->op != NULL) {
        str_addf(out, " %s", e->op);
    } else if (e->name != NULL) {
        str_addf(out, " %s", e->name);
    }
    str_add(out, "\n");
}

/* `role` is the part that the expression plays, or "". */
static void print_expr(const AstExpr *e, const char *role, int depth, Str *out)
{
    if (e == NULL) {
        return;
    }
    indent(out, depth);
    str_add(out, role);
    print_head(e, out);
    print_expr(e->a, "", depth + 1, out);
    for (const AstFor *loop = e->fors; loop != NULL; loop = loop->next) {
        indent(out, depth + 1);
        str_addf(out, "for %s\n", loop->name);
        print_expr(loop->lo, "", depth + 2, out);
        print_expr(loop->hi, "", depth + 2, out);
    }
    bool condition = e->kind == AST_COMPREHENSION || e->kind == AST_WHERE;
    print_expr(e->b, e->kind == AST_COND ? "if " : condition ? "where " : "", depth + 1, out);
    print_expr(e->c, "else ", depth + 1, out);
    for (const AstArg *arg = e->args; arg != NULL; arg = arg->next) {
        Str name;
        str_init(&name, out->arena);
        if (arg->name != NULL) {
            str_addf(&name, "%s = ", arg->name);
        }
        print_expr(arg->value, name.at, depth + 1, out);
    }
}

static void print_names(const AstStmt *stmt, Str *out)
{
    if (stmt->kind == AST_INPUT || stmt->kind == AST_FN) {
        str_add(out, stmt->kind == AST_FN ? " (" : " [");
        for (const AstName *name = stmt->names; name != NULL; name = name->next) {
            str_addf(out, "%s%s%s", name->name, name->type == NULL ? "" : " : ", name->type == NULL ? "" : name->type);
            if (name->value != NULL) {
                str_add(out, " = ");
                ast_expr_format(name->value, out);
            }
            str_add(out, name->next == NULL ? "" : ", ");
        }
        str_add(out, stmt->kind == AST_FN ? ")" : "]");
    }
}

static void print_stmt(const AstStmt *stmt, int depth, Str *out)
{
    indent(out, depth);
    str_add(out, stmt_names[stmt->kind]);
    if (stmt->name != NULL) {
        str_addf(out, " %s", stmt->name);
    }
    print_names(stmt, out);
    if (stmt->type != NULL) {
        str_addf(out, " : %s", stmt->type);
    }
    if (stmt->text != NULL) {
        str_add(out, stmt->kind == AST_OUTPUT ? " as \"" : " \"");
        str_add_escaped(out, stmt->text);
        str_add(out, "\"");
    }
    for (const AstArg *a = stmt->options; a != NULL; a = a->next) {
        str_add(out, a == stmt->options ? " (" : ", ");
        if (a->name != NULL) {
            str_addf(out, "%s = ", a->name);
        }
        ast_expr_format(a->value, out);
        str_add(out, a->next == NULL ? ")" : "");
    }
    str_add(out, "\n");
    print_expr(stmt->a, "", depth + 1, out);
    print_expr(stmt->b, "at most ", depth + 1, out);
    print_expr(stmt->lo, "from ", depth + 1, out);
    print_expr(stmt->hi, "to ", depth + 1, out);
    for (const AstStmt *s = stmt->body; s != NULL; s = s->next) {
        print_stmt(s, depth + 1, out);
    }
    if (stmt->other != NULL) {
        indent(out, depth);
        str_add(out, "else\n");
    }
    for (const AstStmt *s = stmt->other; s != NULL; s = s->next) {
        print_stmt(s, depth + 1, out);
    }
}

void ast_print(const AstFile *file, Str *out)
{
    str_addf(out, "%s\n", file->source->path == NULL ? "file" : file->source->path);
    for (const AstStmt *stmt = file->statements; stmt != NULL; stmt = stmt->next) {
        print_stmt(stmt, 1, out);
    }
}
