/*
 * parse: the samples and every rule of the grammar give the expected trees, mistakes give the
 * expected codes at the expected places, and no text whatsoever crashes or hangs the parser.
 *
 * Trees are compared in a notation of this file, so that a slip in the tree printer cannot hide
 * one in the parser.
 */
#include "frontend/syntax/ast.h"
#include "frontend/diag/diag.h"
#include "pipe_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

typedef struct Parsed {
    Arena arena;
    Source source;
    Diags diags;
    AstFile *file;
} Parsed;

static void parse(Parsed *p, const char *text)
{
    arena_init(&p->arena);
    diags_init(&p->diags, &p->arena);
    p->source = *source_new(&p->arena, "test.pipe", arena_strdup(&p->arena, text));
    p->file = fe_parse(&p->arena, &p->source, &p->diags);
}

/* ---- trees in short: (op a b), name(args), [index], {statements} ---- */

static void dump_args(const AstArg *args, Str *out);

static void dump(const AstExpr *e, Str *out)
{
    static const char *const heads[] =
        {[AST_COND] = "(if ", [AST_INDEX] = "(at ",     [AST_MEMBER] = "(. ", [AST_WHERE] = "(where ",
         [AST_LIST] = "[",    [AST_RECORD] = "(record", [AST_ERROR] = "ERROR"};
    if (e->kind == AST_NUMBER) {
        str_addf(out, e->is_int ? "%.0f" : "%gr", e->num);
        str_addf(out, "%s%s", e->unit == NULL ? "" : " ", e->unit == NULL ? "" : e->unit);
    } else if (e->kind == AST_BOOL) {
        str_add(out, e->num != 0 ? "true" : "false");
    } else if (e->kind == AST_NAME) {
        str_add(out, e->name);
    } else if (e->kind == AST_STRING) {
        str_addf(out, "'%s'", e->name);
    } else if (e->kind == AST_UNARY || e->kind == AST_BINARY) {
        str_addf(out, "(%s ", e->op);
        dump(e->a, out);
        if (e->kind == AST_BINARY) {
            str_add(out, " ");
            dump(e->b, out);
        }
        str_add(out, ")");
    } else if (e->kind == AST_SLICE) {
        const AstExpr *const bounds[] = {e->a, e->b, e->c};
        str_add(out, "(part");
        for (int i = 0; i < 3; i++) {
            str_add(out, bounds[i] == NULL ? " _" : " ");
            if (bounds[i] != NULL) {
                dump(bounds[i], out);
            }
        }
        str_add(out, ")");
    } else if (e->kind == AST_CALL || e->kind == AST_COMPREHENSION) {
        if (e->kind == AST_CALL && e->a != NULL) {
            dump(e->a, out);
            str_add(out, ".");
        }
        str_addf(out, "%s(", e->name);
        if (e->kind == AST_COMPREHENSION) {
            str_add(out, "over ");
            dump(e->a, out);
        }
        for (const AstFor *loop = e->fors; loop != NULL; loop = loop->next) {
            str_addf(out, " <%s ", loop->name);
            dump(loop->lo, out);
            str_add(out, " ");
            dump(loop->hi, out);
            str_add(out, ">");
        }
        if (e->b != NULL) {
            str_add(out, " where ");
            dump(e->b, out);
        }
        dump_args(e->args, out);
        str_add(out, ")");
    } else {
        str_add(out, e->op != NULL && e->kind == AST_LIST ? "(tuple" : heads[e->kind]);
        const AstExpr *parts[] = {e->a, e->b, e->c};
        for (int i = 0; i < 3 && parts[i] != NULL; i++) {
            str_add(out, i == 0 ? "" : " ");
            dump(parts[i], out);
        }
        str_add(out, e->kind == AST_MEMBER ? " " : "");
        str_add(out, e->kind == AST_MEMBER ? e->name : "");
        dump_args(e->args, out);
        str_add(out, e->kind == AST_LIST ? "]" : e->kind == AST_ERROR ? "" : ")");
    }
}

static void dump_args(const AstArg *args, Str *out)
{
    for (const AstArg *arg = args; arg != NULL; arg = arg->next) {
        str_addf(out, " %s%s", arg->name == NULL ? "" : arg->name, arg->name == NULL ? "" : "=");
        dump(arg->value, out);
    }
}

static void dump_part(const char *before, const AstExpr *e, Str *out)
{
    if (e != NULL) {
        str_add(out, before);
        dump(e, out);
    }
}

static void dump_body(const char *before, const AstStmt *body, Str *out);

static void dump_stmt(const AstStmt *s, Str *out)
{
    static const char *const heads[] =
        {[AST_INPUT] = "input",   [AST_PARAM] = "param",   [AST_FN] = "fn",         [AST_ASSIGN] = "let",
         [AST_OUTPUT] = "output", [AST_REPEAT] = "repeat", [AST_UNTIL] = "until",   [AST_IF] = "if",
         [AST_FOR] = "for",       [AST_WHILE] = "while",   [AST_RETURN] = "return", [AST_EXPR] = "expr"};
    str_add(out, heads[s->kind]);
    str_addf(out, "%s%s", s->name == NULL ? "" : " ", s->name == NULL ? "" : s->name);
    for (const AstName *n = s->names; n != NULL; n = n->next) {
        str_addf(out, " /%s%s%s", n->name, n->type == NULL ? "" : ":", n->type ? n->type : "");
        dump_part("=", n->value, out);
    }
    str_addf(out, "%s%s", s->type == NULL ? "" : " :", s->type == NULL ? "" : s->type);
    dump_part(" ", s->a, out);
    dump_part(" most ", s->b, out);
    dump_part(" from ", s->lo, out);
    dump_part(" to ", s->hi, out);
    str_addf(out, "%s%s", s->text == NULL ? "" : " '", s->text == NULL ? "" : s->text);
    str_add(out, s->text == NULL ? "" : "'");
    dump_body(" {", s->body, out);
    dump_body(" else {", s->other, out);
}

static void dump_body(const char *before, const AstStmt *body, Str *out)
{
    for (const AstStmt *s = body; s != NULL; s = s->next) {
        str_add(out, s == body ? before : "; ");
        dump_stmt(s, out);
    }
    str_add(out, body == NULL ? "" : "}");
}

static const char *tree(Parsed *p)
{
    Str out;
    str_init(&out, &p->arena);
    for (const AstStmt *s = p->file->statements; s != NULL; s = s->next) {
        dump_stmt(s, &out);
        str_add(&out, "\n");
    }
    return out.at;
}

static void complain(Parsed *p, const char *text)
{
    Str out;
    str_init(&out, &p->arena);
    diags_render(&p->diags, &out, false, 0);
    print_error("for:\n%s\n%s\n", text, out.at);
}

static void check_tree(const char *text, const char *want)
{
    Parsed p;
    parse(&p, text);
    if (p.diags.errors != 0) {
        complain(&p, text);
    }
    assert_int_equal(p.diags.errors, 0);
    assert_string_equal(tree(&p), want);
    arena_free(&p.arena);
}

/* ---- the samples ---- */

static const char *const sample_trees[PIPE_SAMPLES] = {
    "input image /y /x\n"
    "param sigma 2r from 0.1r to 50 'blur radius in pixels'\n"
    "let blurred gaussian( image sigma)\n"
    "let mask (> blurred otsu( blurred))\n"
    "let labels label( mask connectivity=8)\n"
    "output labels\n"
    "output table measure( labels image area centroid mean max)\n",

    "input image /y /x /c\n"
    "let green (at image c=1)\n"
    "let blurred gaussian( green sigma=5)\n"
    "let mask erode( (> blurred otsu( blurred)) disk( 2))\n"
    "let labels label( mask)\n"
    "output labels\n"
    "output overlay label2rgb( labels)\n"
    "output table measure( labels green mean area solidity)\n",

    "input sky /y /x\n"
    "param kappa 3r\n"
    "let background kappa_sigma( sky kappa)\n"
    "let sources label( (> sky (* 5 (. background std))) connectivity=4)\n"
    "output sources\n"
    "output table measure( sources sky center_of_mass sum)\n",

    "input image /y /x\n"
    "fn bell /t exp( (/ (* (- t) t) 2))\n"
    "output smooth sum(over (* (* bell( (/ (* i 2) 7)) bell( (/ (* j 2) 7))) "
    "(at image dy=j dx=i)) <j (- 7) 7> <i (- 7) 7>)\n",

    "input image /y /x\n"
    "let gx (- (at image dx=1) (at image dx=(- 1)))\n"
    "let gy (- (at image dy=1) (at image dy=(- 1)))\n"
    "fn box3 /v (/ sum(over (at v dy=j dx=i) <j (- 1) 1> <i (- 1) 1>) 9)\n"
    "let xx box3( (* gx gx))\n"
    "let yy box3( (* gy gy))\n"
    "let xy box3( (* gx gy))\n"
    "output corners (- (- (* xx yy) (* xy xy)) (* 0.04r (** (+ xx yy) 2)))\n",

    "let n ramp( x=10000)\n"
    "fn is_prime /v:i32 :bool {if (< v 2) {return false}; "
    "for d from 2 to (/ v 2) {if (== (% v d) 0) {return false}}; return true}\n"
    "output prime is_prime( n)\n"
    "output count sum( prime)\n",

    "input sky /y /x\n"
    "let lo (- inf)\n"
    "let hi inf\n"
    "until count( (where sky (and (> sky lo) (< sky hi)))) most 100 "
    "{let kept (where sky (and (> sky lo) (< sky hi))); let m median( kept); let s std( kept); "
    "let lo (- m (* 3 s)); let hi (+ m (* 3 s))}\n"
    "output mask (> sky (* 5 s))\n",

    "input image /z /y /x\n"
    "param sigma 2r\n"
    "let estimate image\n"
    "repeat 20 {let estimate (* estimate gaussian( (/ image max( gaussian( estimate sigma) "
    "1e-06r)) sigma))}\n"
    "output estimate\n",
};

static void samples_give_their_trees(void **state)
{
    (void)state;
    for (int i = 0; i < PIPE_SAMPLES; i++) {
        check_tree(pipe_samples[i].text, sample_trees[i]);
    }
}

/* ---- expressions ---- */

static const struct {
    const char *text, *tree;
} expressions[] = {
    {"a + b * c", "(+ a (* b c))"},
    {"a - b - c", "(- (- a b) c)"},
    {"a / b * c // d % e", "(% (// (* (/ a b) c) d) e)"},
    {"-a ** 2", "(- (** a 2))"},
    {"2 ** -1", "(** 2 (- 1))"},
    {"a ** b ** c", "(** a (** b c))"},
    {"-a * b", "(* (- a) b)"},
    {"a - -b", "(- a (- b))"},
    {"(a + b) * c", "(* (+ a b) c)"},
    {"not a == b", "(not (== a b))"},
    {"not not a", "(not (not a))"},
    {"not a and b", "(and (not a) b)"},
    {"a or b xor c and d", "(or a (xor b (and c d)))"},
    {"a < b and c >= d or e != f", "(or (and (< a b) (>= c d)) (!= e f))"},
    {"a <= b + 1", "(<= a (+ b 1))"},
    {"(a < b) < c", "(< (< a b) c)"},
    {"a if b else c", "(if a b c)"},
    {"a if b else c if d else e", "(if a b (if c d e))"},
    {"(a if b else c) + 1", "(+ (if a b c) 1)"},
    {"a + 1 if b < 2 or c else d", "(if (+ a 1) (or (< b 2) c) d)"},
    {"sky where sky > lo and sky < hi", "(where sky (and (> sky lo) (< sky hi)))"},
    {"a where b where c", "(where (where a b) c)"},
    {"a where b or c", "(where a (or b c))"},
    {"a where b if c else d", "(if (where a b) c d)"},
    {"a[dx = 1].mean[dy = 2]", "(at (. (at a dx=1) mean) dy=2)"},
    {"f(a)[dx = 1]", "(at f( a) dx=1)"},
    {"f(a).std ** 2", "(** (. f( a) std) 2)"},
    {"(a + b)[dx = 1]", "(at (+ a b) dx=1)"},
    {"v[1]", "(at v 1)"},
    {"v[:, 1:2, ::-1, 3:]", "(at v (part _ _ _) (part 1 2 _) (part _ _ (- 1)) (part 3 _ _))"},
    {"v[x = 1:9, c = 0]", "(at v x=(part 1 9 _) c=0)"},
    {"v.max(1).min(axis = 0)", "v.max( 1).min( axis=0)"},
    {"np.random.f()", "(. np random).f()"},
    {"f((1, 2), (3,))", "f( (tuple 1 2] (tuple 3])"},
    {"f()", "f()"},
    {"f(a, b,)", "f( a b)"},
    {"f(a, k = b + 1, \"s\")", "f( a k=(+ b 1) 's')"},
    {"f(\n a,\n\n b # why\n )", "f( a b)"},
    {"a +\n b", "(+ a b)"},
    {"a and\n # why\n b", "(and a b)"},
    {"(a\n + b)", "(+ a b)"},
    {"(a\n - b)", "(- a b)"},
    {"(mean = a, std = b)", "(record mean=a std=b)"},
    {"(mean = a,)", "(record mean=a)"},
    {"[1, 2.5, .5]", "[ 1 2.5r 0.5r]"},
    {"[[0, 1, 0],\n [1, 1, 1],]", "[ [ 0 1 0] [ 1 1 1]]"},
    {"[]", "[]"},
    {"true xor false", "(xor true false)"},
    {"0x1F + 12 + 2.0 + 1e3 + 2. + 1e-6", "(+ (+ (+ (+ (+ 31 12) 2r) 1000r) 2r) 1e-06r)"},
    {"0.5 um", "0.5r um"},
    {"20um2 * 3px + 4 mm", "(+ (* 20 um2 3 px) 4 mm)"},
    {"1 um3 / 2 nm", "(/ 1 um3 2 nm)"},
    {"um + 3 * px", "(+ um (* 3 px))"},
    {"\"a\\\"b\\\\c\\nd\"", "'a\"b\\c\nd'"},
    {"sum(v[dx = i] for i in -1 .. 1)", "sum(over (at v dx=i) <i (- 1) 1>)"},
    {"max(v for i in 0 .. n - 1 where i != 2 or c)", "max(over v <i 0 (- n 1)> where (or (!= i 2) c))"},
    {"percentile(v[dx = i] for i in -2..2, q = 30)", "percentile(over (at v dx=i) <i (- 2) 2> q=30)"},
    {"percentile(v for j in 0 .. 1, i in 0 .. 2 where i < j, q = 30, k = 1)",
     "percentile(over v <j 0 1> <i 0 2> where (< i j) q=30 k=1)"},
    {"any(a where b for i in 0 .. 1)", "any(over (where a b) <i 0 1>)"},
    {"all(a if b else c for i in 0 .. 1)", "all(over (if a b c) <i 0 1>)"},
    {"f(input = 1, for = 2, where = 3, stable = 4, in = 5, as = 6)", "f( input=1 for=2 where=3 stable=4 in=5 as=6)"},
    {"a.in + a.where + a.output", "(+ (+ (. a in) (. a where)) (. a output))"},
    {"at + most + is + until + stable + in + as", "(+ (+ (+ (+ (+ (+ at most) is) until) stable) in) as)"},
};

static void expressions_give_their_trees(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        Parsed p;
        parse(&p, "");
        const char *text = arena_printf(&p.arena, "x = %s\n", expressions[i].text);
        const char *want = arena_printf(&p.arena, "let x %s\n", expressions[i].tree);
        check_tree(text, want);
        arena_free(&p.arena);
    }
}

/* ---- statements ---- */

static const struct {
    const char *text, *tree;
} statements[] = {
    {"", ""},
    {"\n\n# only a comment", ""},
    {"\xEF\xBB\xBFx = 1", "let x 1\n"},
    {"x = 1\r\ny = 2\r\n", "let x 1\nlet y 2\n"},
    {"\tx\t=\t1 # c\r\n", "let x 1\n"},
    {"x = 1 # c\ry = 2\r\rz = 3", "let x 1\nlet y 2\nlet z 3\n"},
    {"x = 1\n\xC2\xA0\ny = 2", "let x 1\nlet y 2\n"},
    {"input a[x]", "input a /x\n"},
    {"input a[z, y, x] : u16", "input a /z /y /x :u16\n"},
    {"param n = 3", "param n 3\n"},
    {"param n = -3 in -5 .. 2 * 2", "param n (- 3) from (- 5) to (* 2 2)\n"},
    {"param d = 0.5 um in 0 um .. 9um \"how \\\"far\\\"\"", "param d 0.5r um from 0 um to 9 um 'how \"far\"'\n"},
    {"param mode = \"wrap\" \"border\"", "param mode 'wrap' 'border'\n"},
    {"fn f() = 1", "fn f 1\n"},
    {"fn f(a : image, b = 2, c : f32 = -1,) : mask = a > b", "fn f /a:image /b=2 /c:f32=(- 1) :mask (> a b)\n"},
    {"fn f(a)\n{\n  b = a\n\n  return b }", "fn f /a {let b a; return b}\n"},
    {"fn f(a) { }", "fn f /a\n"},
    {"fn f(a) {\n if a { return 1 }\n else if b { return 2 } else\n { return 3 }\n}",
     "fn f /a {if a {return 1} else {if b {return 2} else {return 3}}}\n"},
    {"fn f(a) { while a < 3 { a = a + 1\n }\n return a }", "fn f /a {while (< a 3) {let a (+ a 1)}; return a}\n"},
    {"output a", "output a\n"},
    {"output a as png", "output a 'png'\n"},
    {"output a = f(b) as png", "output a f( b) 'png'\n"},
    {"repeat n + 1 { a = b }", "repeat (+ n 1) {let a b}\n"},
    {"repeat until a is stable,\n at most 2 * n { repeat 2 { a = b } }", "until a most (* 2 n) {repeat 2 {let a b}}\n"},
    {"f(x)", "expr f( x)\n"},
    {"in = 1\nis = in\nat = is\nuntil = at\nas = until\nmost = as\nstable = most",
     "let in 1\nlet is in\nlet at is\nlet until at\nlet as until\nlet most as\nlet stable most\n"},
    {"x =\n 1", "let x 1\n"},
    {"x = f(a,\n b = 2)\ny = 3", "let x f( a b=2)\nlet y 3\n"},
};

static void statements_give_their_trees(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        check_tree(statements[i].text, statements[i].tree);
    }
}

static void check_span(Span span, const char *want)
{
    char text[100];
    size_t n = (size_t)(span.end - span.begin);
    assert_true(n < sizeof text);
    memcpy(text, span.source->text + span.begin, n);
    text[n] = '\0';
    assert_string_equal(text, want);
}

static void spans_cover_what_was_written(void **state)
{
    (void)state;
    Parsed p;
    parse(&p, "param s = 2 um in 0 .. 9 \"help\" # c\n"
              "y = (a + b) * f(c, k = -d)[dx = 1].std\n"
              "output o = y as png\n"
              "fn g(v : i32) : bool { return v }");
    assert_int_equal(p.diags.errors, 0);
    const AstStmt *s = p.file->statements;
    check_span(s->span, "param s = 2 um in 0 .. 9 \"help\"");
    check_span(s->name_span, "s");
    check_span(s->a->span, "2 um");
    check_span(s->text_span, "\"help\"");
    s = s->next;
    check_span(s->span, "y = (a + b) * f(c, k = -d)[dx = 1].std");
    check_span(s->a->span, "(a + b) * f(c, k = -d)[dx = 1].std");
    check_span(s->a->word, "*");
    check_span(s->a->a->span, "(a + b)");
    check_span(s->a->a->word, "+");
    check_span(s->a->b->word, "std");
    const AstExpr *index = s->a->b->a;
    check_span(index->word, "[dx = 1]");
    check_span(index->a->span, "f(c, k = -d)");
    check_span(index->a->word, "f");
    check_span(index->a->args->next->name_span, "k");
    check_span(index->a->args->next->value->span, "-d");
    s = s->next;
    check_span(s->text_span, "png");
    s = s->next;
    check_span(s->span, "fn g(v : i32) : bool { return v }");
    check_span(s->type_span, "bool");
    check_span(s->names->type_span, "i32");
    check_span(s->body->span, "return v");
    arena_free(&p.arena);
}

/* ---- mistakes: @< and >@ stand around the place of each expected message ---- */

static const struct {
    const char *codes, *text;
} mistakes[] = {
    {"P0101", "x = a @<$>@ b"},
    {"P0101", "x = gr@<\xC3\xB6\xC3\x9F"
              "e>@ + 1"},
    {"P0101", "x = a + @<\\>@\n  2"},
    {"P0102", "x = @<\"abc>@\ny = 2"},
    {"P0102", "param s = 2 @<\"abc>@\r\ny = 2"},
    {"P0103", "param s = 2 \"a@<\\q>@b\""},
    {"P0104", "x = @<1_000>@"},
    {"P0104", "x = @<2.0f>@ + 1"},
    {"P0104", "x = @<1.2.3>@"},
    {"P0104", "x = @<0b11>@"},
    {"P0104", "x = @<1e999>@"},
    {"P0104 P0104", "x = @<1e>@ * @<3pix>@"},
    {"P0105", "x = a @<\xC3\x97>@ b"},
    {"P0105", "x = 3 @<\xE2\x80\x93>@ 2"},
    {"P0105", "x = a @<^>@ 2"},
    {"P0105 P0105 P0105", "x = a @<&&>@ b @<||>@ @<!>@c"},
    {"P0105 P0105 P0105", "x = a @<&>@ b @<|>@ @<~>@c"},
    {"P0105", "param s = 2 @<\xE2\x80\x9C>@help\xE2\x80\x9D"},
    {"P0105", "x = @<'help'>@"},
    {"P0105", "x @<:=>@ 3"},
    {"P0105", "x @<+=>@ 3"},
    {"P0105", "x = 3@<;>@\ny = 4"},
    {"P0105", "x = mask @<?>@ a : b\ny = 2"},
    {"P0105", "x = 0.5 @<\xC2\xB5m>@"},
    {"P0105", "x = a @<\xE2\x89\xA5>@ 3"},
    {"P0105", "x = a @<\xC2\xB2>@"},
    {"P0106", "x = @<\x01>@"},
    {"P0106", "x = @<\xFF>@\xFE\xFF"},
    {"P0107", "@<//>@ it's a note\nx = 1"},
    {"P0107", "@</*>@ note\n more */\nx = 1"},
    {"P0108", "x = @<{>@1, 2, 3}"},
    {"P0110", "x = f(a @<b>@)"},
    {"P0110", "fn f @<x>@ = 3"},
    {"P0212", "@<for>@ i = 0 .. 3 { x = 1 }"},
    {"P0110", "x = sum(v for i in 0 .. 3 @<if>@ i > 1)"},
    {"P0111", "x = a +@<>@\ny = 2"},
    {"P0111", "x =@<>@"},
    {"P0111", "x =@<>@\ny = 3"},
    {"P0111", "x = a + @<*>@ b"},
    {"P0111", "x = f(@<,>@)"},
    {"P0111", "x = (@<)>@"},
    {"P0111", "fn f() { return@<>@ }"},
    {"P0111", "fn f(x) = @<{>@ return x }"},
    {"P0112", "x = f(a@<>@\ny = 2"},
    {"P0112", "x = f(a,@<>@\noutput x"},
    {"P0112", "x = [f(a@<>@]"},
    {"P0112", "x = f(a@<>@"},
    {"P0112", "fn f(x) {\n  return x@<>@"},
    {"P0112", "fn f(x) {\n  return x\n@<>@output y\n"},
    {"P0112", "fn f(x@<>@ { return x }"},
    {"P0113", "x = a@<)>@\ny = 2"},
    {"P0113", "x = a\n@<}>@\ny = 2"},
    {"P0114", "x = a[dx = 1@<)>@"},
    {"P0115", "x = a @<b>@"},
    {"P0115", "param s = 2@<,>@5"},
    {"P0115", "x = y @<=>@ 3"},
    {"P0115", "x = 3 // a @<note>@"},
    {"P0115", "repeat 3 { a = b } @<x>@ = 3"},
    {"P0116", "x = a < b @<<>@ c"},
    {"P0116", "x = a < b @<<>@ c < d"},
    {"P0117", "x = 1 if a @<=>@ 3 else 2"},
    {"P0117", "fn f(a) { if a @<=>@ 3 { return 1 } }"},
    {"P0117", "x = count(a where a @<=>@ 3, b = 2)"},
    {"P0118", "input @<input>@[y, x]"},
    {"P0118 P0118", "@<output>@ = 3\nx = @<output>@ + 1"},
    {"P0119", "input @<[>@y, x]"},
    {"P0119", "output@<>@\nx = 1"},
    {"P0119", "output @<f(>@x)"},
    {"P0119", "param @<3>@ = 2"},
    {"P0120", "input @<image>@"},
    {"P0120", "input @<image>@ : u16"},
    {"P0121", "repeat 3@<>@\nx = 1"},
    {"P0212", "@<while>@ x:"},
    {"P0121", "fn f(x) {\nwhile x@<:>@\n}"},
    {"P0121", "fn f(x) :@<>@\nx = 1"},
    {"P0122", "x = a @<if>@ b"},
    {"P0122", "x = f(a @<if>@ b, c)"},
    {"P0123", "x = sum(v for i in @<range(3)>@)"},
    {"P0123", "param s = 2 in 3@<>@"},
    {"P0123", "for i in 0@<:>@3 { x = 1 }"},
    {"P0124", "repeat until x @<{>@ x = 1 }"},
    {"P0124", "repeat until x is stable @<{>@ x = 1 }"},
    {"P0124", "repeat until x is stable, @<{>@ x = 1 }"},
    {"P0124", "repeat until x is @<3>@ { x = 1 }"},
    {"P0125", "x = a\n  @<+>@ b"},
    {"P0125", "x = a\n  @<->@ b"},
    {"P0125", "@<and>@ b"},
    {"P0127", "@<else>@ { x = 1 }\ny = 2"},
    {"P0128", "repeat 3 {\n  @<output>@ x\n}"},
    {"P0128", "repeat 3 {\n  @<param>@ x = 3\n}"},
    {"P0130", "@<ouput>@ x"},
    {"P0130", "@<def>@ f(x)"},
    {"P0130", "fn f(a) {\n if a { return 1 } @<elif>@ b { return 2 }\n}"},
    /* Several in one file: each statement is read on its own. */
    {"P0111 P0115 P0112 P0111", "a =@<>@\nb = 1\nc = b @<b>@\nd = (b@<>@\ne = 1\nf = 1 +@<>@"},
    {"P0111 P0115", "fn f(x) {\n  a = @<*>@ 3\n  b = x @<x>@\n  return b\n}\nc = f(2)"},
    {"P0110 P0111", "fn f @<x>@ { a = @<*>@ 3 }"},
};

/* Takes the marks out of the text and notes where they were. */
static int take_marks(char *text, int begin[], int end[])
{
    int n = 0;
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        if (strncmp(from, "@<", 2) == 0) {
            begin[n] = (int)(to - text);
            from += 2;
        } else if (strncmp(from, ">@", 2) == 0) {
            end[n++] = (int)(to - text);
            from += 2;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return n;
}

static bool has_diag(const Diags *diags, const char *code, int begin, int end)
{
    for (const Diag *d = diags->first; d != NULL; d = diag_next(d)) {
        Span span = diag_span(d);
        if (strncmp(diag_code(d), code, 5) == 0 && span.begin == begin && span.end == end) {
            return true;
        }
    }
    return false;
}

static void mistakes_are_named_and_placed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        int begin[8], end[8];
        char text[200];
        assert_true(strlen(mistakes[i].text) < sizeof text);
        strcpy(text, mistakes[i].text);
        int n = take_marks(text, begin, end);
        Parsed p;
        parse(&p, text);
        bool good = p.diags.errors == n;
        for (int k = 0; k < n; k++) {
            good = good && has_diag(&p.diags, mistakes[i].codes + 6 * k, begin[k], end[k]);
        }
        if (!good) {
            complain(&p, mistakes[i].text);
        }
        assert_true(good);
        arena_free(&p.arena);
    }
}

static void what_is_right_beside_mistakes_is_kept(void **state)
{
    (void)state;
    static const struct {
        const char *text, *tree;
    } cases[] = {
        {"a = 1\nb = f(a\nc = 2\n", "let a 1\nlet b f( a)\nlet c 2\n"},
        {"a = +\nb = 2\n", "let b 2\n"},
        {"a = 1 \xC3\x97 2;", "let a (* 1 2)\n"},
        {"a = [1, 2)\n", "let a [ 1 2]\n"},
        {"a = {{1}, {2}}\n", "let a [ [ 1] [ 2]]\n"},
        {"a = b < c < d\n", "let a ERROR\n"},
        {"repeat 3 { input a[x]\n b = 1\n output c = 3\n output b }\n", "input a /x\nrepeat 3 {let b 1; let c 3}\n"},
        {"fn f(x) {\n a = \n return x\n}\n", "fn f /x {return x}\n"},
        {"input = 3\n", "let input 3\n"},
        {"x = 1 if a = 3 else 2\n", "let x (if 1 (== a 3) 2)\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Parsed p;
        parse(&p, cases[i].text);
        assert_int_not_equal(p.diags.errors, 0);
        assert_string_equal(tree(&p), cases[i].tree);
        arena_free(&p.arena);
    }
}

static void files_are_text_to_their_end(void **state)
{
    (void)state;
    Parsed p;
    parse(&p, "x = 1\ny = 2\n");
    assert_true(fe_check_text(&p.source, 12, &p.diags));
    assert_int_equal(p.diags.errors, 0);
    assert_false(fe_check_text(&p.source, 20, &p.diags));
    assert_true(has_diag(&p.diags, "P0106", 12, 12));
    arena_free(&p.arena);
}

/* ---- any text ---- */

/* Parses, prints and renders; every place that is named lies inside of the text. */
static void survive(const char *text)
{
    Parsed p;
    parse(&p, text);
    int size = (int)strlen(text);
    int count = 0;
    for (const Diag *d = p.diags.first; d != NULL; d = diag_next(d), count++) {
        Span span = diag_span(d);
        assert_ptr_equal(span.source, &p.source);
        assert_true(0 <= span.begin && span.begin <= span.end && span.end <= size);
    }
    assert_int_equal(count, p.diags.errors + p.diags.warnings);
    Str out;
    str_init(&out, &p.arena);
    ast_print(p.file, &out);
    diags_render(&p.diags, &out, true, 20);
    diags_render_json(&p.diags, &out);
    arena_free(&p.arena);
}

static void broken_samples_do_no_harm(void **state)
{
    (void)state;
    for (int i = 0; i < PIPE_SAMPLES; i++) {
        const char *sample = pipe_samples[i].text;
        size_t n = strlen(sample);
        char *text = test_malloc(n + 2);
        for (size_t at = 0; at < n; at++) {
            memcpy(text, sample, at); /* without the byte */
            strcpy(text + at, sample + at + 1);
            survive(text);
            memcpy(text, sample, at + 1); /* twice */
            strcpy(text + at + 1, sample + at);
            survive(text);
            memcpy(text, sample, at); /* cut off */
            text[at] = '\0';
            survive(text);
        }
        test_free(text);
    }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void soup_does_no_harm(void **state)
{
    (void)state;
    static const char *const words[] = {"input", "param", "output", "fn",     "repeat",   "until",    "is",    "stable",
                                        "at",    "most",  "for",    "in",     "if",       "else",     "while", "return",
                                        "where", "and",   "or",     "not",    "xor",      "as",       "true",  "x",
                                        "img",   "3",     "2.5",    "0.5 um", "\"s\"",    "(",        ")",     "[",
                                        "]",     "{",     "}",      ",",      ":",        ".",        "..",    "=",
                                        "==",    "<",     "+",      "-",      "*",        "/",        "//",    "**",
                                        "\n",    "\n",    "# c\n",  "$",      "\xC3\xA9", "\xC3\x97", ";",     "'",
                                        "\"",    "\\",    "\t",     "\r\n",   "\x80"};
    enum { WORDS = sizeof words / sizeof *words };
    uint32_t seed = 1;
    for (int round = 0; round < 4000; round++) {
        char text[1000] = "";
        int n = 1 + (int)(next_random(&seed) % 40);
        for (int i = 0; i < n; i++) {
            strcat(text, words[next_random(&seed) % WORDS]);
            strcat(text, next_random(&seed) % 8 == 0 ? "" : " ");
        }
        survive(text);
    }
}

static void bytes_do_no_harm(void **state)
{
    (void)state;
    uint32_t seed = 7;
    char *text = test_malloc(65537);
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < 65536; i++) {
            text[i] = (char)(1 + next_random(&seed) % (round % 2 == 0 ? 255 : 127));
        }
        text[65536] = '\0';
        survive(text);
    }
    test_free(text);
}

/* `unit` again and again, 64 KiB of it, between `before` and `after`. */
static void survive_many(const char *before, const char *unit, const char *after, bool deep)
{
    size_t n = 65536 / strlen(unit);
    char *text = test_malloc(strlen(before) + n * strlen(unit) + strlen(after) + 1);
    char *to = text + sprintf(text, "%s", before);
    for (size_t i = 0; i < n; i++) {
        to += sprintf(to, "%s", unit);
    }
    strcpy(to, after);
    survive(text);
    Parsed p;
    parse(&p, text);
    bool told = false;
    for (const Diag *d = p.diags.first; d != NULL; d = diag_next(d)) {
        told = told || strcmp(diag_code(d), "P0126") == 0;
    }
    assert_true(told == deep);
    arena_free(&p.arena);
    test_free(text);
}

static void depth_is_capped(void **state)
{
    (void)state;
    survive_many("x = ", "(", "", true);
    survive_many("x = ", "[", "", true);
    survive_many("", "{", "", true);
    survive_many("x = ", "-", "1", true);
    survive_many("x = ", "not ", "a", true);
    survive_many("x = ", "a + ", "a", true);
    survive_many("x = ", "a ** ", "a", true);
    survive_many("x = ", "a if b else ", "c", true);
    survive_many("x = a", "[dx = 1]", "", true);
    survive_many("x = a", ".b", "", true);
    survive_many("x = ", "f(g for i in ", "", true);
    survive_many("fn f(x) { ", "if x { return 1 } else ", "{ return 2 } }", true);
    survive_many("x = f(a", ", a", ")", false);
    survive_many("", "x = 1\n", "", false);
    survive_many("", "x = $\n", "", false);
    survive_many("", ")}]", "", false);
    survive_many("", "\"\n", "", false);
}

/* A scanner that keeps a state for each character of a word does so in 16 KiB: flex's, for rules whose end and context
 * both vary in length. */
static void words_have_any_length(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"x = 1\n#", "\ny = x\n"}, {"x = 1", "\ny = x\n"},
        {"x = 1.", "\ny = x\n"},   {"x = 1\nparam p = 1 in 0 .. 2 \"", "\"\ny = x\n"},
        {"x", " = 1\ny = 2\n"},
    };
    static const char units[] = " 01a\xC2";
    enum { LENGTH = 1 << 20 };
    char *text = test_malloc(LENGTH + 100);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int n = sprintf(text, "%s", texts[i][0]);
        memset(text + n, i == 1 ? ' ' : '0', LENGTH);
        strcpy(text + n + LENGTH, texts[i][1]);
        Parsed p;
        parse(&p, text);
        assert_int_equal(p.diags.errors, 0);
        assert_non_null(p.file);
        arena_free(&p.arena);
    }
    for (size_t i = 0; i + 1 < sizeof units; i++) {
        memset(text, units[i], LENGTH);
        text[LENGTH] = '\0';
        survive(text);
    }
    test_free(text);
}

static void nesting_just_below_the_cap_is_fine(void **state)
{
    (void)state;
    char text[600] = "x = ";
    for (int i = 0; i < 256; i++) {
        text[4 + i] = '(';
        text[4 + 256 + 1 + i] = ')';
    }
    text[4 + 256] = '1';
    check_tree(text, "let x 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_give_their_trees),
        cmocka_unit_test(expressions_give_their_trees),
        cmocka_unit_test(statements_give_their_trees),
        cmocka_unit_test(spans_cover_what_was_written),
        cmocka_unit_test(mistakes_are_named_and_placed),
        cmocka_unit_test(what_is_right_beside_mistakes_is_kept),
        cmocka_unit_test(files_are_text_to_their_end),
        cmocka_unit_test(broken_samples_do_no_harm),
        cmocka_unit_test(soup_does_no_harm),
        cmocka_unit_test(bytes_do_no_harm),
        cmocka_unit_test(depth_is_capped),
        cmocka_unit_test(words_have_any_length),
        cmocka_unit_test(nesting_just_below_the_cap_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
