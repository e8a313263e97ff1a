/*
 * parse: the grammar of .pipe files.
 *
 * The tokens come from a list in which every bracket has its partner and every statement ends
 * with NEWLINE (tokens.c), so the grammar is plain: one level of precedence, one rule.  After a
 * mistake the parser goes on at the end of the statement, or with the block that belongs to it.
 * What may stand where beyond that (a `return` outside a function, say) is the checker's to know.
 */
%code requires {
#include "tokens.h"

typedef struct ArgList { AstArg *first, *last; } ArgList;
typedef struct ForList { AstFor *first, *last; } ForList;
typedef struct NameList { AstName *first, *last; } NameList;
typedef struct StmtList { AstStmt *first, *last; } StmtList;
typedef struct TypeName { const char *name; Span span; } TypeName;
typedef struct WrittenAs { const Token *name; Span span; AstArg *options; } WrittenAs;
}

%define api.pure full
%define api.prefix {fe_parse_}
%define api.token.prefix {T_}
%define api.location.type {Span}
%define parse.error custom
%define lr.type ielr
%define lr.default-reduction consistent
%locations
%expect 0
%param {Parser *parser}
%initial-action { @$ = (Span){parser->source, 0, 0}; }

%union {
    const Token *token;
    AstExpr *expr;
    AstStmt *stmt;
    AstArg *arg;
    AstFor *range;
    AstName *name;
    ArgList args;
    ForList fors;
    NameList names;
    StmtList stmts;
    TypeName type;
    WrittenAs format;
}

%code {
#include "syntax.h"

#include <string.h>

/* The parser's stacks live in the arena like everything else. */
#define YYMALLOC(bytes) arena_alloc(parser->arena, (bytes))
#define YYFREE(block) ((void)(block))
#define YYMAXDEPTH 6000
/* From the first to the last symbol of a rule; an empty rule has no width. */
#define YYLLOC_DEFAULT(here, rhs, n)                                                               \
    do {                                                                                           \
        (here).source = parser->source;                                                            \
        (here).begin = (n) ? YYRHSLOC(rhs, 1).begin : YYRHSLOC(rhs, 0).end;                        \
        (here).end = YYRHSLOC(rhs, n).end;                                                         \
    } while (0)

static int fe_parse_lex(YYSTYPE *value, Span *place, Parser *parser);
static void fe_parse_error(const Span *place, Parser *parser, const char *message);
static AstExpr *new_expr(Parser *parser, AstExprKind kind, Span span, Span word);
static AstExpr *joined(Parser *parser, AstExprKind kind, Span span, Span word, AstExpr *a,
                       AstExpr *b, AstExpr *c);
static AstExpr *leaf(Parser *parser, AstExprKind kind, Span span, const Token *token);
static AstExpr *unary(Parser *parser, Span span, Span word, const Token *op, AstExpr *a);
static AstExpr *binary(Parser *parser, Span span, Span word, const Token *op, AstExpr *a,
                       AstExpr *b);
static AstExpr *chained(Parser *parser, Span span, Span word, const Token *op,
                        const AstExpr *first, const AstExpr *last);
static AstExpr *reduction(Parser *parser, Span span, Span word, const Token *name, AstExpr *body,
                          AstFor *ranges, AstExpr *where, AstArg *args);
static AstExpr *with_args(Parser *parser, AstExpr *expr, AstArg *args);
static AstExpr *tuple(Parser *parser, Span span, Span close, ArgList args, AstArg *rest);
static AstArg *new_arg(Parser *parser, const Token *name, Span span, AstExpr *value);
static AstFor *new_for(Parser *parser, const Token *name, Span span, AstExpr *lo, AstExpr *hi);
static AstName *new_name(Parser *parser, const Token *name, Span span, TypeName type,
                         AstExpr *value);
static AstStmt *new_stmt(Parser *parser, AstStmtKind kind, Span span, const Token *name,
                         Span name_span);
static AstStmt *typed(AstStmt *stmt, AstName *names, TypeName type);
static AstStmt *noted(AstStmt *stmt, const Token *text, Span span);
static AstStmt *formatted(AstStmt *stmt, WrittenAs format);
static AstStmt *assignment(Parser *parser, Span span, Span at, const Token *name,
                           const Token *assign, AstExpr *value);
static AstStmt *lone_expression(Parser *parser, Span span, AstExpr *expr);
static void add_to_file(Parser *parser, AstStmt *stmt);
static StmtList add_to_block(Parser *parser, StmtList list, AstStmt *stmt);

#define DEFINE_APPEND(function, List, Item)                                                        \
    static List function(List list, Item *item)                                                    \
    {                                                                                              \
        if (list.last == NULL) {                                                                   \
            list.first = item;                                                                     \
        } else {                                                                                   \
            list.last->next = item;                                                                \
        }                                                                                          \
        list.last = item;                                                                          \
        return list;                                                                               \
    }
DEFINE_APPEND(add_arg, ArgList, AstArg)
DEFINE_APPEND(add_for, ForList, AstFor)
DEFINE_APPEND(add_name, NameList, AstName)
DEFINE_APPEND(add_stmt, StmtList, AstStmt)
}

%token END 0
%token <token> NAME NUMBER STRING TRUE FALSE
%token <token> PLUS MINUS FACTOR POWER COMPARE AND OR XOR NOT ASSIGN
%token INCLUDE INPUT PARAM OUTPUT FN REPEAT UNTIL IS STABLE AT MOST FOR IN IF ELSE WHILE RETURN WHERE AS
%token OPEN CLOSE OPEN_SQUARE CLOSE_SQUARE OPEN_BRACE CLOSE_BRACE
%token COMMA COLON DOT RANGE NEWLINE
%token COMMENT INVALID

%type <stmt> statement simple if
%type <stmts> statements block
%type <expr> expr selection disjunction exclusive conjunction negation comparison compared sum
%type <expr> term factor power postfix primary
%type <expr> bound slice
%type <args> args arguments named_args items places place_list
%type <arg> arg named_arg place
%type <fors> ranges
%type <range> range
%type <names> axes parameters parameter_list
%type <name> parameter
%type <type> type
%type <token> help
%type <format> format

%%

file
    : %empty
    | file statement { add_to_file(parser, $2); }
    ;

statement
    : simple NEWLINE { $$ = $1; }
    | error NEWLINE { $$ = NULL; yyerrok; }
    | error block NEWLINE { $$ = NULL; yyerrok; }
    ;

block
    : OPEN_BRACE statements CLOSE_BRACE { $$ = $2; }
    ;

statements
    : %empty { $$ = (StmtList){0}; }
    | statements statement { $$ = add_to_block(parser, $1, $2); }
    ;

simple
    : INPUT NAME OPEN_SQUARE axes CLOSE_SQUARE type
      { $$ = typed(new_stmt(parser, AST_INPUT, @$, $2, @2), $4.first, $6); }
    | PARAM NAME ASSIGN expr help
      { $$ = noted(new_stmt(parser, AST_PARAM, @$, $2, @2), $5, @5); $$->a = $4; }
    | PARAM NAME ASSIGN expr IN sum RANGE sum help
      { $$ = noted(new_stmt(parser, AST_PARAM, @$, $2, @2), $9, @9);
        $$->a = $4; $$->lo = $6; $$->hi = $8; }
    | PARAM NAME ASSIGN expr IN OPEN_SQUARE items CLOSE_SQUARE help
      { $$ = noted(new_stmt(parser, AST_PARAM, @$, $2, @2), $9, @9);
        const Span list = {parser->source, @6.begin, @8.end};
        $$->a = $4; $$->lo = with_args(parser, new_expr(parser, AST_LIST, list, list), $7.first); }
    | FN NAME OPEN parameters CLOSE type ASSIGN expr
      { $$ = typed(new_stmt(parser, AST_FN, @$, $2, @2), $4.first, $6); $$->a = $8; }
    | FN NAME OPEN parameters CLOSE type block
      { $$ = typed(new_stmt(parser, AST_FN, @$, $2, @2), $4.first, $6); $$->body = $7.first; }
    | NAME ASSIGN expr
      { $$ = assignment(parser, @$, @1, $1, $2, $3); }
    | OUTPUT NAME format
      { $$ = formatted(new_stmt(parser, AST_OUTPUT, @$, $2, @2), $3); }
    | OUTPUT NAME ASSIGN expr format
      { $$ = formatted(new_stmt(parser, AST_OUTPUT, @$, $2, @2), $5); $$->a = $4; }
    | INCLUDE STRING
      { $$ = noted(new_stmt(parser, AST_INCLUDE, @$, NULL, @1), $2, @2); }
    | REPEAT expr block
      { $$ = new_stmt(parser, AST_REPEAT, @$, NULL, @1); $$->a = $2; $$->body = $3.first; }
    | REPEAT UNTIL expr IS STABLE COMMA AT MOST expr block
      { $$ = new_stmt(parser, AST_UNTIL, @$, NULL, @1);
        $$->a = $3; $$->b = $9; $$->body = $10.first; }
    | if { $$ = $1; }
    | FOR NAME IN sum RANGE sum block
      { $$ = new_stmt(parser, AST_FOR, @$, $2, @2); $$->lo = $4; $$->hi = $6; $$->body = $7.first; }
    | WHILE expr block
      { $$ = new_stmt(parser, AST_WHILE, @$, NULL, @1); $$->a = $2; $$->body = $3.first; }
    | RETURN expr
      { $$ = new_stmt(parser, AST_RETURN, @$, NULL, @1); $$->a = $2; }
    | expr { $$ = lone_expression(parser, @$, $1); }
    ;

if
    : IF expr block
      { $$ = new_stmt(parser, AST_IF, @$, NULL, @1); $$->a = $2; $$->body = $3.first; }
    | IF expr block ELSE block
      { $$ = new_stmt(parser, AST_IF, @$, NULL, @1);
        $$->a = $2; $$->body = $3.first; $$->other = $5.first; }
    | IF expr block ELSE if
      { $$ = new_stmt(parser, AST_IF, @$, NULL, @1);
        $$->a = $2; $$->body = $3.first; $$->other = $5; }
    ;

axes
    : NAME { $$ = add_name((NameList){0}, new_name(parser, $1, @1, (TypeName){0}, NULL)); }
    | axes COMMA NAME { $$ = add_name($1, new_name(parser, $3, @3, (TypeName){0}, NULL)); }
    ;

type
    : %empty { $$ = (TypeName){0}; }
    | COLON NAME { $$ = (TypeName){$2->text, @2}; }
    ;

parameters
    : %empty { $$ = (NameList){0}; }
    | parameter_list { $$ = $1; }
    | parameter_list COMMA { $$ = $1; }
    ;

parameter_list
    : parameter { $$ = add_name((NameList){0}, $1); }
    | parameter_list COMMA parameter { $$ = add_name($1, $3); }
    ;

parameter
    : NAME type { $$ = new_name(parser, $1, @1, $2, NULL); }
    | NAME type ASSIGN expr { $$ = new_name(parser, $1, @1, $2, $4); }
    ;

help
    : %empty { $$ = NULL; }
    | STRING { $$ = $1; }
    ;

format
    : %empty { $$ = (WrittenAs){0}; }
    | AS NAME { $$ = (WrittenAs){$2, @2, NULL}; }
    | AS NAME OPEN arguments CLOSE { $$ = (WrittenAs){$2, @2, $4.first}; }
    ;

/* Expressions, from what binds least to what binds most. */

expr
    : selection
    | selection IF selection ELSE expr
      { $$ = joined(parser, AST_COND, @$, @2, $1, $3, $5); }
    ;

selection
    : disjunction
    | selection WHERE disjunction
      { $$ = joined(parser, AST_WHERE, @$, @2, $1, $3, NULL); }
    ;

disjunction
    : exclusive
    | disjunction OR exclusive { $$ = binary(parser, @$, @2, $2, $1, $3); }
    ;

exclusive
    : conjunction
    | exclusive XOR conjunction { $$ = binary(parser, @$, @2, $2, $1, $3); }
    ;

conjunction
    : negation
    | conjunction AND negation { $$ = binary(parser, @$, @2, $2, $1, $3); }
    ;

negation
    : comparison
    | NOT negation { $$ = unary(parser, @$, @1, $1, $2); }
    ;

comparison
    : sum
    | compared
    ;

compared
    : sum COMPARE sum { $$ = binary(parser, @$, @2, $2, $1, $3); }
    | compared COMPARE sum { $$ = chained(parser, @$, @2, $2, $1, $3); }
    ;

sum
    : term
    | sum PLUS term { $$ = binary(parser, @$, @2, $2, $1, $3); }
    | sum MINUS term { $$ = binary(parser, @$, @2, $2, $1, $3); }
    ;

term
    : factor
    | term FACTOR factor { $$ = binary(parser, @$, @2, $2, $1, $3); }
    ;

factor
    : power
    | MINUS factor { $$ = unary(parser, @$, @1, $1, $2); }
    ;

power
    : postfix
    | postfix POWER factor { $$ = binary(parser, @$, @2, $2, $1, $3); }
    ;

postfix
    : primary
    | NAME OPEN arguments CLOSE
      { $$ = new_expr(parser, AST_CALL, @$, @1); $$->name = $1->text;
        $$ = with_args(parser, $$, $3.first); }
    | NAME OPEN expr FOR ranges CLOSE
      { $$ = reduction(parser, @$, @1, $1, $3, $5.first, NULL, NULL); }
    | NAME OPEN expr FOR ranges COMMA named_args CLOSE
      { $$ = reduction(parser, @$, @1, $1, $3, $5.first, NULL, $7.first); }
    | NAME OPEN expr FOR ranges WHERE disjunction CLOSE
      { $$ = reduction(parser, @$, @1, $1, $3, $5.first, $7, NULL); }
    | NAME OPEN expr FOR ranges WHERE disjunction COMMA named_args CLOSE
      { $$ = reduction(parser, @$, @1, $1, $3, $5.first, $7, $9.first); }
    | postfix DOT NAME OPEN arguments CLOSE
      { $$ = joined(parser, AST_CALL, @$, @3, $1, NULL, NULL); $$->name = $3->text;
        $$ = with_args(parser, $$, $5.first); }
    | postfix OPEN_SQUARE places CLOSE_SQUARE
      { $$ = new_expr(parser, AST_INDEX, @$, @2); $$->word.end = @4.end; $$->a = $1;
        $$ = with_args(parser, $$, $3.first); }
    | postfix DOT NAME
      { $$ = joined(parser, AST_MEMBER, @$, @3, $1, NULL, NULL); $$->name = $3->text; }
    ;

primary
    : NAME { $$ = leaf(parser, AST_NAME, @$, $1); }
    | NUMBER { $$ = leaf(parser, AST_NUMBER, @$, $1); }
    | STRING { $$ = leaf(parser, AST_STRING, @$, $1); }
    | TRUE { $$ = leaf(parser, AST_BOOL, @$, $1); $$->num = 1; }
    | FALSE { $$ = leaf(parser, AST_BOOL, @$, $1); }
    | OPEN expr CLOSE { $$ = $2; $$->span = @$; }
    | OPEN named_args CLOSE
      { $$ = with_args(parser, new_expr(parser, AST_RECORD, @$, @$), $2.first); }
    | OPEN named_args COMMA CLOSE
      { $$ = with_args(parser, new_expr(parser, AST_RECORD, @$, @$), $2.first); }
    | OPEN expr COMMA CLOSE { $$ = tuple(parser, @$, @4, add_arg((ArgList){0}, new_arg(parser, NULL, @2, $2)), NULL); }
    | OPEN expr COMMA items CLOSE
      { $$ = tuple(parser, @$, @5, add_arg((ArgList){0}, new_arg(parser, NULL, @2, $2)), $4.first); }
    | OPEN expr COMMA items COMMA CLOSE
      { $$ = tuple(parser, @$, @6, add_arg((ArgList){0}, new_arg(parser, NULL, @2, $2)), $4.first); }
    | OPEN_SQUARE CLOSE_SQUARE { $$ = new_expr(parser, AST_LIST, @$, @$); }
    | OPEN_SQUARE items CLOSE_SQUARE
      { $$ = with_args(parser, new_expr(parser, AST_LIST, @$, @$), $2.first); }
    | OPEN_SQUARE items COMMA CLOSE_SQUARE
      { $$ = with_args(parser, new_expr(parser, AST_LIST, @$, @$), $2.first); }
    ;

items
    : expr { $$ = add_arg((ArgList){0}, new_arg(parser, NULL, @1, $1)); }
    | items COMMA expr { $$ = add_arg($1, new_arg(parser, NULL, @3, $3)); }
    ;

arguments
    : %empty { $$ = (ArgList){0}; }
    | args { $$ = $1; }
    | args COMMA { $$ = $1; }
    ;

args
    : arg { $$ = add_arg((ArgList){0}, $1); }
    | args COMMA arg { $$ = add_arg($1, $3); }
    ;

arg
    : expr { $$ = new_arg(parser, NULL, @1, $1); }
    | named_arg { $$ = $1; }
    ;

/* Of an index: slices are numpy's, and the checker says how they are written. */
places
    : %empty { $$ = (ArgList){0}; }
    | place_list { $$ = $1; }
    | place_list COMMA { $$ = $1; }
    ;

place_list
    : place { $$ = add_arg((ArgList){0}, $1); }
    | place_list COMMA place { $$ = add_arg($1, $3); }
    ;

place
    : arg { $$ = $1; }
    | slice { $$ = new_arg(parser, NULL, @1, $1); }
    | NAME ASSIGN slice { $$ = new_arg(parser, $1, @1, $3); }
    ;

slice
    : bound COLON bound { $$ = joined(parser, AST_SLICE, @$, @2, $1, $3, NULL); }
    | bound COLON bound COLON bound { $$ = joined(parser, AST_SLICE, @$, @2, $1, $3, $5); }
    ;

bound
    : %empty { $$ = NULL; }
    | expr
    ;

named_args
    : named_arg { $$ = add_arg((ArgList){0}, $1); }
    | named_args COMMA named_arg { $$ = add_arg($1, $3); }
    ;

named_arg
    : NAME ASSIGN expr { $$ = new_arg(parser, $1, @1, $3); }
    ;

ranges
    : range { $$ = add_for((ForList){0}, $1); }
    | ranges COMMA range { $$ = add_for($1, $3); }
    ;

range
    : NAME IN sum RANGE sum { $$ = new_for(parser, $1, @1, $3, $5); }
    ;

%%

/* ---- tokens ---- */

static int fe_parse_lex(YYSTYPE *value, Span *place, Parser *parser)
{
    if (parser->header >= 0 && parser->tokens[parser->at - 1].kind == T_NEWLINE) {
        parser->at = foreign_behind_body(parser, parser->header, parser->at);
        parser->header = -1;
    }
    const Token *token = &parser->tokens[parser->at];
    parser->found = parser->at;
    if (parser->at < parser->n - 1) {
        parser->at++;
    }
    value->token = token;
    *place = token_span(parser->source, token);
    return token->kind;
}

/* Called only when the parser's stack is at its limit. */
static void fe_parse_error(const Span *place, Parser *parser, const char *message)
{
    (void)message;
    diag_add(parser->diags, DIAG_TOO_DEEP, *place);
}

/*
 * Whether the parser, as it stands, would get to shift `token`: the reductions that come first
 * are only played through.  (The sets that bison offers are those of the state alone, and after
 * `x = 3` that state cannot tell an assignment from the lower end of a range.)
 */
static bool would_shift(const yypcontext_t *context, int token)
{
    enum { LIMIT = 64 };
    const yy_state_t *below = context->yyssp;
    int above[LIMIT]; /* states on top of those */
    int n = 0;
    while (n < LIMIT) {
        int state = n > 0 ? above[n - 1] : *below;
        int rule = yydefact[state];
        int index = yypact[state] + token;
        if (!yypact_value_is_default(yypact[state]) && index >= 0 && index <= YYLAST &&
            yycheck[index] == token) {
            if (yytable[index] > 0) {
                return true;
            }
            rule = -yytable[index];
        }
        if (rule == 0) {
            return false;
        }
        for (int left = yyr2[rule]; left > 0; left--) {
            if (n > 0) {
                n--;
            } else {
                below--;
            }
        }
        state = n > 0 ? above[n - 1] : *below;
        int symbol = yyr1[rule] - YYNTOKENS;
        index = yypgoto[symbol] + state;
        bool listed = index >= 0 && index <= YYLAST && yycheck[index] == state;
        above[n++] = listed ? yytable[index] : yydefgoto[symbol];
    }
    return false;
}

static int yyreport_syntax_error(const yypcontext_t *context, Parser *parser)
{
#define EXPECTS(token) would_shift(context, YYSYMBOL_##token)
    Expected expected = {
        .expression = EXPECTS(NUMBER),
        .after_value = EXPECTS(PLUS),
        .end = EXPECTS(NEWLINE),
        .name = EXPECTS(NAME),
        .block = EXPECTS(OPEN_BRACE),
        .range = EXPECTS(RANGE),
        .assign = EXPECTS(ASSIGN),
        .open = EXPECTS(OPEN),
        .comma = EXPECTS(COMMA),
        .close = EXPECTS(CLOSE),
        .close_square = EXPECTS(CLOSE_SQUARE),
        .else_word = EXPECTS(ELSE),
        .in_word = EXPECTS(IN),
        .is_word = EXPECTS(IS),
        .at_word = EXPECTS(AT),
    };
#undef EXPECTS
    fe_syntax_error(parser, &expected);
    return 0;
}

/* ---- expressions ---- */

static AstExpr *new_expr(Parser *parser, AstExprKind kind, Span span, Span word)
{
    AstExpr *expr = arena_new(parser->arena, AstExpr);
    expr->kind = kind;
    expr->span = span;
    expr->word = word;
    expr->depth = 1;
    return expr;
}

static int deeper(int depth, const AstExpr *child)
{
    return child != NULL && child->depth > depth ? child->depth : depth;
}

/* Knows how high the tree has grown, so that walking it never exhausts the stack. */
static AstExpr *measured(Parser *parser, AstExpr *expr)
{
    int depth = deeper(deeper(deeper(0, expr->a), expr->b), expr->c);
    for (const AstArg *arg = expr->args; arg != NULL; arg = arg->next) {
        depth = deeper(depth, arg->value);
    }
    for (const AstFor *loop = expr->fors; loop != NULL; loop = loop->next) {
        depth = deeper(deeper(depth, loop->lo), loop->hi);
    }
    expr->depth = depth + 1;
    if (expr->depth <= FE_MAX_DEPTH) {
        return expr;
    }
    diag_add(parser->diags, DIAG_TOO_DEEP, expr->span);
    return new_expr(parser, AST_ERROR, expr->span, expr->word);
}

static AstExpr *leaf(Parser *parser, AstExprKind kind, Span span, const Token *token)
{
    bool quoted = kind == AST_STRING && token->silent; /* other quotes: that was said */
    AstExpr *expr = new_expr(parser, quoted ? AST_ERROR : kind, span, span);
    expr->name = kind == AST_NAME || kind == AST_STRING ? token->text : NULL; /* also of what was quoted */
    expr->num = kind == AST_BOOL ? token->kind == T_TRUE : token->num;
    expr->is_int = token->is_int;
    expr->unit = token->unit;
    return expr;
}

static AstExpr *joined(Parser *parser, AstExprKind kind, Span span, Span word, AstExpr *a,
                       AstExpr *b, AstExpr *c)
{
    AstExpr *expr = new_expr(parser, kind, span, word);
    expr->a = a;
    expr->b = b;
    expr->c = c;
    return measured(parser, expr);
}

static AstExpr *unary(Parser *parser, Span span, Span word, const Token *op, AstExpr *a)
{
    AstExpr *expr = joined(parser, AST_UNARY, span, word, a, NULL, NULL);
    expr->op = op->text;
    return expr;
}

static AstExpr *binary(Parser *parser, Span span, Span word, const Token *op, AstExpr *a,
                       AstExpr *b)
{
    const bool unit = a != NULL && a->kind == AST_NUMBER && a->unit != NULL;
    const bool caret = op->kind == T_POWER && op->silent && unit; /* 3 um^2: the scanner has said it */
    AstExpr *expr = joined(parser, caret ? AST_ERROR : AST_BINARY, span, word, a, b, NULL);
    expr->op = op->text;
    return expr;
}

static const char *source_text(const Parser *parser, Span span)
{
    return arena_strndup(parser->arena, parser->source->text + span.begin,
                         (size_t)(span.end - span.begin));
}

/* a < b < c: `first` is a < b, or the error that the comparison before has become. */
static AstExpr *chained(Parser *parser, Span span, Span word, const Token *op,
                        const AstExpr *first, const AstExpr *last)
{
    if (first->kind == AST_BINARY) {
        Diag *d = diag_add(parser->diags, DIAG_CHAINED_COMPARISON, word);
        diag_note(parser->diags, d, first->word, "the first comparison");
        if (span.end - span.begin <= 60) {
            const char *middle = source_text(parser, first->b->span);
            diag_help(parser->diags, d, "write `%s and %s %s %s`",
                      source_text(parser, first->span), middle, op->text,
                      source_text(parser, last->span));
        }
    }
    return new_expr(parser, AST_ERROR, span, word);
}

static AstExpr *reduction(Parser *parser, Span span, Span word, const Token *name, AstExpr *body,
                          AstFor *ranges, AstExpr *where, AstArg *args)
{
    AstExpr *expr = new_expr(parser, AST_COMPREHENSION, span, word);
    expr->name = name->text;
    expr->a = body;
    expr->b = where;
    expr->fors = ranges;
    return with_args(parser, expr, args);
}

static AstExpr *with_args(Parser *parser, AstExpr *expr, AstArg *args)
{
    expr->args = args;
    return measured(parser, expr);
}

/* (5, 5) of Python, a list; where the bracket was put in by tokens.c, its place was wrong and what it holds says nothing. */
static AstExpr *tuple(Parser *parser, Span span, Span close, ArgList args, AstArg *rest)
{
    AstExpr *expr = new_expr(parser, close.begin == close.end ? AST_ERROR : AST_LIST, span, span);
    args.first->next = rest;
    expr->op = "(";
    return with_args(parser, expr, args.first);
}

static AstArg *new_arg(Parser *parser, const Token *name, Span span, AstExpr *value)
{
    AstArg *arg = arena_new(parser->arena, AstArg);
    arg->value = value;
    if (name != NULL) {
        arg->name = name->text;
        arg->name_span = span;
    }
    return arg;
}

static AstFor *new_for(Parser *parser, const Token *name, Span span, AstExpr *lo, AstExpr *hi)
{
    AstFor *loop = arena_new(parser->arena, AstFor);
    *loop = (AstFor){name->text, span, lo, hi, NULL};
    return loop;
}

static AstName *new_name(Parser *parser, const Token *name, Span span, TypeName type,
                         AstExpr *value)
{
    AstName *item = arena_new(parser->arena, AstName);
    *item = (AstName){name->text, span, type.name, type.span, value, NULL};
    return item;
}

/* ---- statements ---- */

static AstStmt *new_stmt(Parser *parser, AstStmtKind kind, Span span, const Token *name,
                         Span name_span)
{
    AstStmt *stmt = arena_new(parser->arena, AstStmt);
    stmt->kind = kind;
    stmt->span = span;
    stmt->name = name == NULL ? NULL : name->text;
    stmt->name_span = name_span;
    return stmt;
}

static AstStmt *typed(AstStmt *stmt, AstName *names, TypeName type)
{
    stmt->names = names;
    stmt->type = type.name;
    stmt->type_span = type.span;
    return stmt;
}

/* The help of a parameter, the path of a file. */
static AstStmt *noted(AstStmt *stmt, const Token *text, Span span)
{
    if (text != NULL) {
        stmt->text = text->text;
        stmt->text_span = span;
    }
    return stmt;
}

static AstStmt *formatted(AstStmt *stmt, WrittenAs format)
{
    stmt->options = format.options;
    return noted(stmt, format.name, format.span);
}

/* What the scanner has complained about as `x += 1` leaves x what it was. */
static AstStmt *assignment(Parser *parser, Span span, Span at, const Token *name,
                           const Token *assign, AstExpr *value)
{
    if (assign->text[0] != '=') {
        return NULL;
    }
    AstStmt *stmt = new_stmt(parser, AST_ASSIGN, span, name, at);
    stmt->a = value;
    return stmt;
}

/* x <- 3 */
static AstStmt *arrow(Parser *parser, const AstExpr *expr)
{
    Span word = {expr->span.source, expr->word.begin, expr->word.begin + 2};
    Diag *d = diag_add(parser->diags, DIAG_FOREIGN_SPELLING, word, "<-");
    diag_help(parser->diags, d, "write `=`");
    syntax_note_name(parser, &(Token){.text = expr->a->name});
    return NULL;
}

/* A minus at the beginning of a line was meant to go on with the line above. */
static AstStmt *lone_expression(Parser *parser, Span span, AstExpr *expr)
{
    if (parser->source->text[span.begin] == '-') {
        Span minus = {span.source, span.begin, span.begin + 1};
        Diag *d = diag_add(parser->diags, DIAG_LEADING_OPERATOR, minus, "-");
        diag_help(parser->diags, d, "to go on with the line above, end that line with `-`");
        return NULL;
    }
    if (expr->kind == AST_NAME && foreign_stray(expr->name) != NULL) {
        Diag *d = diag_add(parser->diags, DIAG_UNKNOWN_STATEMENT, span, expr->name);
        diag_help(parser->diags, d, "%s", foreign_stray(expr->name));
        return NULL;
    }
    if (expr->kind == AST_BINARY && expr->a->kind == AST_NAME && strcmp(expr->op, "==") == 0) {
        Diag *d = diag_add(parser->diags, DIAG_LONE_EXPRESSION, span, "");
        diag_help(parser->diags, d, "a name gets its value with `=`: %s = ...", expr->a->name);
        syntax_note_name(parser, &(Token){.text = expr->a->name});
        return NULL;
    }
    if (expr->kind == AST_BINARY && expr->a->kind == AST_NAME &&
        strncmp(parser->source->text + expr->word.begin, "<-", 2) == 0) {
        return arrow(parser, expr);
    }
    AstStmt *stmt = new_stmt(parser, AST_EXPR, span, NULL, span);
    stmt->a = expr;
    return stmt;
}

static void add_to_file(Parser *parser, AstStmt *stmt)
{
    if (stmt == NULL) {
        return;
    }
    if (parser->last == NULL) {
        parser->file->statements = stmt;
    } else {
        parser->last->next = stmt;
    }
    parser->last = stmt;
}

/* Declarations that stand in a block are complained about and then read as if outside. */
static StmtList add_to_block(Parser *parser, StmtList list, AstStmt *stmt)
{
    static const char *const words[] = {
        [AST_INPUT] = "input", [AST_PARAM] = "param", [AST_FN] = "fn", [AST_OUTPUT] = "output",
        [AST_INCLUDE] = "include"};
    size_t kind = stmt == NULL ? AST_EXPR : stmt->kind;
    if (stmt == NULL) {
        return list;
    }
    if (kind >= sizeof words / sizeof *words || words[kind] == NULL) {
        return add_stmt(list, stmt);
    }
    Span word = stmt->span;
    word.end = word.begin + (int)strlen(words[kind]);
    if (word.begin >= parser->refused_end) {
        Diag *d = diag_add(parser->diags, DIAG_DECLARATION_IN_BLOCK, word, words[kind]);
        diag_help(parser->diags, d, "move it out of the braces");
    }
    if (kind != AST_OUTPUT) {
        add_to_file(parser, stmt);
    } else if (stmt->a != NULL) {
        stmt->kind = AST_ASSIGN;
        return add_stmt(list, stmt);
    }
    return list;
}

/* ---- */

/* The same tokens with others in front of them and behind, so that explanations may look around anywhere. */
static const Token *surrounded(Arena *arena, const TokenList *list)
{
    enum { AROUND = 4 };
    Token *all = arena_array(arena, Token, list->n + 2 * AROUND);
    for (int i = 0; i < AROUND; i++) {
        all[i] = (Token){.kind = T_NEWLINE, .text = ""};
        all[AROUND + list->n + i] = list->at[list->n - 1];
    }
    memcpy(all + AROUND, list->at, sizeof *all * (size_t)list->n);
    return all + AROUND;
}

AstFile *fe_parse(Arena *arena, const Source *source, Diags *diags)
{
    Tokens *tokens = arena_new(arena, Tokens);
    fe_tokens(arena, source, diags, tokens);
    Parser parser = {.arena = arena, .source = source, .diags = diags, .header = -1};
    parser.file = arena_new(arena, AstFile);
    parser.file->source = source;
    parser.tokens = surrounded(arena, &tokens->clean);
    parser.n = tokens->clean.n;
    fe_parse_parse(&parser);
    return parser.file;
}
