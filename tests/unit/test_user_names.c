/*
 * test_user_names: no name that a user can think of meets a name of generated code.
 *
 * Every identifier of the texts in front of kernels, of generated kernels and of the C program becomes the name of an
 * input, a param, a variable, a function with its argument and a local, an output and a member of a record.  What is
 * made of such a pipeline is the text that is made with other names of the same lengths, but for names of users, and
 * these stand for one another one to one.  So it means the same.  Some of the pipelines run on a device as well.
 */
#include "base/file.h"
#include "base/user_text.h"
#include "codegen/codegen.h"
#include "tests/support/both.h"
#include "tests/support/fixtures.h"
#include "tests/support/on_device.h"
#include "tests/support/pipelines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 40, MOST = 12 };

typedef Vec(const char *) Names;

/* Outlives the tests, which have an arena each. */
static Arena kept;
static Names hostile; /* sorted by length, then by letters */

/* ---- words of texts ---------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *behind_literal(const char *p)
{
    char quote = *p++;
    while (*p != '\0' && *p != quote) {
        p += *p == '\\' ? 2 : 1;
    }
    return *p != '\0' ? p + 1 : p;
}

/* The next word of a text of C outside of comments and literals, or the next other character; NULL at the end. */
static const char *token(const char **text, size_t *length)
{
    const char *p = *text;
    for (;;) {
        if (isspace((unsigned char)*p)) {
            p++;
        } else if (strncmp(p, "//", 2) == 0) {
            p += strcspn(p, "\n");
        } else if (strncmp(p, "/*", 2) == 0) {
            p = strstr(p, "*/") + 2;
        } else if (*p == '"' || *p == '\'') {
            p = behind_literal(p);
        } else {
            break;
        }
    }
    *length = 1;
    while (is_letter(p[0]) && is_letter(p[*length])) {
        (*length)++;
    }
    *text = p + *length;
    return *p != '\0' ? p : NULL;
}

static void add_name(Names *names, const char *word, size_t length)
{
    vec_push(&kept, names, arena_strndup(&kept, word, length));
}

static void add_words(const char *text)
{
    size_t length;
    for (const char *word; (word = token(&text, &length)) != NULL;) {
        if (is_letter(word[0]) && !isdigit((unsigned char)word[0]) && length <= LONGEST) {
            add_name(&hostile, word, length);
        }
    }
}

/* As it is in generated text, where long expressions get names of their own. */
static size_t length_of(const char *name)
{
    return strlen(user_name(&arena, name));
}

static int by_length(const void *a, const void *b)
{
    const char *p = *(const char *const *)a, *q = *(const char *const *)b;
    size_t m = length_of(p), n = length_of(q);
    return m != n ? (m > n) - (m < n) : strcmp(p, q);
}

static bool is_keyword(const char *name)
{
    static const char *const KEYWORDS[] = {"input", "param", "output", "fn",    "repeat", "if", "else",
                                           "for",   "while", "return", "where", "and",    "or", "xor",
                                           "not",   "true",  "false",  "inf",   "nan",    "pi", "none",
                                           "in",    "is",    "until",  "as",    "um",     "nm"};
    for (size_t i = 0; i < sizeof KEYWORDS / sizeof *KEYWORDS; i++) {
        if (strcmp(KEYWORDS[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void sort_names(void)
{
    int n = 0;
    qsort(hostile.at, (size_t)hostile.n, sizeof *hostile.at, by_length);
    for (int i = 0; i < hostile.n; i++) {
        if (!is_keyword(hostile.at[i]) && (n == 0 || strcmp(hostile.at[n - 1], hostile.at[i]) != 0)) {
            hostile.at[n++] = hostile.at[i];
        }
    }
    hostile.n = n;
}

/* ---- pipelines of names ------------------------------------------------------------------ */

enum { INPUT, PARAM, VARIABLE, FUNCTION, ARGUMENT, LOCAL, MEMBER, OUTPUT, ROLES };

/* Operators that the pipelines below call, so that a function of that name would be called in their place; what a param
 * cannot be called, because it is an option of every pipeline; and an argument of measure, which is no column. */
static bool is_refused(int role, const char *name)
{
    static const char *const CALLED[] = {"constant", "gaussian", "label", "measure", "sum"};
#define OPTION(name, ...) name,
    static const char *const OPTIONS[] = {
#include "base/options.def"
    };
#undef OPTION
    static const char *const ARGUMENTS[] = {"labels", "order", "sort", "spacing"};
#define LIST(names)                            \
    {                                          \
        names, sizeof(names) / sizeof *(names) \
    }
    static const struct {
        const char *const *at;
        size_t n;
    } LISTS[ROLES] = {[FUNCTION] = LIST(CALLED), [PARAM] = LIST(OPTIONS), [MEMBER] = LIST(ARGUMENTS)};
#undef LIST
    const char *const *list = LISTS[role].at;
    for (size_t i = 0; i < LISTS[role].n; i++) {
        size_t k = 0; /* --pixel-size is what pixel_size would be */
        while (name[k] != '\0' && (name[k] == list[i][k] || (name[k] == '_' && list[i][k] == '-'))) {
            k++;
        }
        if (name[k] == list[i][k]) {
            return true;
        }
    }
    return false;
}

/* A pipeline with n names in each role, those of role r beginning at name[r * n]. */
static const char *pipeline_of(const char *const *name, int n)
{
    Str s;
    str_init(&s, &arena);
    const char *const *role[ROLES];
    for (int r = 0; r < ROLES; r++) {
        role[r] = name + r * n;
    }
    for (int i = 0; i < n; i++) {
        str_addf(&s, "input %s[y, x]\nparam %s = %d.5 in 0 .. 99\n", role[INPUT][i], role[PARAM][i], i);
    }
    for (int i = 0; i < n; i++) {
        const char *arg = role[ARGUMENT][i], *local = role[LOCAL][i];
        str_addf(&s, "fn %s(%s) {\n  %s = %s\n  while %s > 3 { %s = %s / 2 - 1 }\n  return %s + %d\n}\n",
                 role[FUNCTION][i], arg, local, arg, local, local, local, local, i);
    }
    str_add(&s, "the_fixed_record = (");
    for (int i = 0; i < n; i++) {
        str_addf(&s, "%s%s = %s[dx = %d]", i > 0 ? ", " : "", role[MEMBER][i], role[INPUT][i], i % 3);
    }
    str_addf(&s, ")\nthe_fixed_table = measure(label(%s > 3), %s = %s, mean_intensity)\noutput the_fixed_table\n",
             role[INPUT][0], role[MEMBER][0], role[INPUT][n - 1]);
    for (int i = 0; i < n; i++) {
        str_addf(&s, "%s = %s(%s) * %s + the_fixed_record.%s\n", role[VARIABLE][i], role[FUNCTION][i], role[INPUT][i],
                 role[PARAM][i], role[MEMBER][i]);
        str_addf(&s, i == 0 ? "output %s = gaussian(%s, %s)\n" : "output %s = %s[dy = -1, border = constant(0)] - %s\n",
                 role[OUTPUT][i], role[VARIABLE][i], role[PARAM][i]);
    }
    str_addf(&s, "output the_fixed_sum = sum(%s)\n", role[VARIABLE][0]);
    return s.at;
}

/* Its kernels and its C program. */
static const char *generated(IrGraph *g)
{
    PassContext cx = {.fuse = FUSE_ALL};
    const Program *p = cg_program(g, pass_run_all(g, &cx), "0123456789abcdef0123456789abcdef");
    Str s;
    str_init(&s, &arena);
    for (int i = 0; i < p->n_kernels; i++) {
        str_add(&s, p->kernels[i].source);
    }
    cg_emit_c(p, "program", &s);
    return s.at;
}

/* ---- texts that mean the same ------------------------------------------------------------ */

/* What names of users in one text are called in the other. */
typedef struct Pairs {
    Names from, to;
} Pairs;

static bool are_paired(Pairs *pairs, const char *p, size_t m, const char *q, size_t n)
{
    const char *from = arena_strndup(&arena, p, m), *to = arena_strndup(&arena, q, n);
    for (int i = 0; i < pairs->from.n; i++) {
        bool first = strcmp(pairs->from.at[i], from) == 0, second = strcmp(pairs->to.at[i], to) == 0;
        if (first || second) {
            return first && second;
        }
    }
    add_name(&pairs->from, from, m);
    add_name(&pairs->to, to, n);
    return true;
}

/* The same words, but for those of users. */
static void mean_the_same(const char *want, const char *got, const char *what)
{
    Pairs pairs = {0};
    const char *p, *q;
    do {
        size_t m, n;
        p = token(&want, &m);
        q = token(&got, &n);
        bool users =
            p != NULL && q != NULL && user_owns(arena_strndup(&arena, p, m)) && user_owns(arena_strndup(&arena, q, n));
        bool same = users       ? are_paired(&pairs, p, m, q, n)
                    : p == NULL ? q == NULL
                                : q != NULL && m == n && memcmp(p, q, m) == 0;
        if (!same) {
            fail_msg("the text differs here:\n%.300s\n---- with other names:\n%.300s\n---- made of\n%s",
                     q != NULL ? q : "", p != NULL ? p : "", what);
        }
    } while (p != NULL);
}

/* ---- the tests --------------------------------------------------------------------------- */

static bool is_hostile(const char *name)
{
    return bsearch(&name, hostile.at, (size_t)hostile.n, sizeof *hostile.at, by_length) != NULL;
}

/* Name number i of this length, of those that begin with few letters. */
static const char *any_name(int length, int i)
{
    static const char LETTERS[] = "QZXJKVWYABCDEFGHILMNOPRSTUqzxjkvwyabcdefghilmnoprst";
    enum { N = sizeof LETTERS - 1 };
    char *name = arena_alloc(&arena, (size_t)length + 1);
    memset(name, 'Q', (size_t)length);
    name[0] = LETTERS[i % N];
    name[length - 1] = length > 1 ? LETTERS[i / N % N] : name[0];
    return name;
}

/* Names of one length, filled up to `all` with others. */
static void fill(const char *const *names, int n, int length, const char **to, int all)
{
    for (int i = 0, next = 0; i < all; i++) {
        to[i] = i < n ? names[i] : NULL;
        while (to[i] == NULL) {
            const char *name = any_name(length, next++);
            to[i] = is_hostile(name) || is_keyword(name) ? NULL : name;
        }
    }
}

/* The pipeline in which the names have roles, `turn` of them further than they stand. */
static const char *turned(const char *const *names, int each, int turn)
{
    const int all = each * ROLES;
    const char **name = arena_array(&arena, const char *, all);
    for (int i = 0; i < all; i++) {
        name[i] = names[(i + turn * each) % all];
        name[i] = is_refused(i / each, name[i]) ? arena_printf(&arena, "Z_%d", i) : name[i];
    }
    return pipeline_of(name, each);
}

/* All names of one length, each in each role. */
static void try_names(const char *const *names, int n, int length)
{
    const int each = n < ROLES * MOST ? (n + ROLES - 1) / ROLES : MOST, all = each * ROLES;
    const char *want = NULL;
    for (int from = 0; from < n; from += all) {
        for (int turn = 0; turn < ROLES; turn++) {
            const char **filled = arena_array(&arena, const char *, all);
            fill(names + from, n - from, length, filled, all);
            const char *text = turned(filled, each, turn), *complaints;
            IrGraph *g = pipeline_graph(&arena, "names.pipe", text, &complaints);
            if (g == NULL) {
                fail_msg("%s\nof\n%s", complaints, text);
            }
            const char *got = generated(g);
            want = want != NULL ? want : arena_strdup(&kept, got);
            mean_the_same(want, got, text);
            arena_free(&arena);
            arena_init(&arena);
        }
    }
}

static void no_name_meets_generated_code(void **state)
{
    (void)state;
    assert_true(hostile.n > 3000);
    for (int i = 0, n; i < hostile.n; i += n) {
        const size_t length = length_of(hostile.at[i]);
        for (n = 0; i + n < hostile.n && length_of(hostile.at[i + n]) == length;) {
            n++;
        }
        try_names(hostile.at + i, n, (int)length - 1);
    }
}

/* Those that were taken for others, and what is left of names beside them. */
static void names_mean_what_users_mean(void **state)
{
    static const char *const NAMES[] = {"r",        "s",       "tap", "sum1",    "r0",     "r0_inside",
                                        "x0",       "generic", "x",   "x_",      "main",   "w",
                                        "__FILE__", "_x",      "u_x", "image_t", "kernel", "px_nearest"};
    (void)state;
    const int each = (int)(sizeof NAMES / sizeof *NAMES) / ROLES;
    for (int turn = 0; turn < 3; turn++) {
        IrGraph *g = pipeline_must("names.pipe", turned(NAMES, each, 3 * turn));
        BothCase in = {.n_inputs = each};
        for (int i = 0; i < each; i++) {
            in.inputs[i] = both_image(37, 29, 1, 1, ELEM_U8, (unsigned)i, BOTH_NOISE);
            in.params[i] = g->params.at[i].value;
        }
        char why[400];
        PassContext cx = {.fuse = FUSE_ALL, .verify = true};
        if (!both_run(g, &cx, &in, device, why, sizeof why)) {
            fail_msg("%s", why);
        }
        for (int i = 0; i < each; i++) {
            free((void *)(uintptr_t)in.inputs[i].pixels);
        }
    }
}

/* Lines of characters that no compiler acts on, of which only directives go on in the next line. */
static void has_plain_lines(const char *text)
{
    bool directive = false, joined = false;
    for (const char *line = text; *line != '\0';) {
        const size_t n = strcspn(line, "\n");
        for (size_t i = 0; i < n; i++) {
            assert_true((unsigned char)line[i] >= ' ');
        }
        directive = line[strspn(line, " ")] == '#' || (directive && joined);
        joined = n > 0 && (line[n - 1] == '\\' || (n > 2 && strncmp(line + n - 3, "?\?/", 3) == 0));
        assert_true(directive || !joined);
        line += n + (line[n] == '\n');
    }
}

/* Comments, strings and paths are no part of any program. */
static void text_stays_text(void **state)
{
    static const char *const TEXTS[] = {
        "C:\\data\\",
        "why ?\?/",
        "*/ int a; /*",
        "\f\v\x1b[2J",
        "\xE2\x80\xA8int a;",
        "// \\ \t ",
        "\"); int a; (\"",
        "%s %n",
        "a line that is longer than any line of a kernel should be, as people write them who explain what they mean, and more",
    };
    (void)state;
    const char *want = NULL;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        const char *text = arena_printf(&arena,
                                        "input image[y, x] # %s\nparam s = 1 in 0 .. 2 # %s\n"
                                        "output a = gaussian(image, s) + 1 # %s\noutput b = sum(a) # %s\r\n",
                                        TEXTS[i], TEXTS[i], TEXTS[i], TEXTS[i]);
        const char *got = generated(pipeline_must(arena_printf(&arena, "p*/\n%s.pipe", TEXTS[i]), text));
        want = want != NULL ? want : got;
        has_plain_lines(got);
        mean_the_same(want, got, text);
    }
}

/* ---- where names come from --------------------------------------------------------------- */

static void each_file(const char *pattern, void (*take)(const char *text))
{
    glob_t found;
    char path[400];
    snprintf(path, sizeof path, "%s/%s", TEST_ROOT, pattern);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *text;
        size_t size;
        Err err = {0};
        must(file_read(found.gl_pathv[i], &text, &size, &err), &err);
        take(text);
        free(text);
    }
    globfree(&found);
}

/* The texts in front of kernels. */
static void each_library_text(void (*take)(const char *text))
{
    static const char *const TEXTS[] = {"ir/px_*.h",
                                        "base/f64_math.h",
                                        "base/measure_formulae.h",
                                        "codegen/kernels/*.cl",
                                        "runtime/primitives/*.cl",
                                        "runtime/primitives/*/*.cl",
                                        "runtime/device/*.cl"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        each_file(TEXTS[i], take);
    }
}

static void add_words_of_pipeline(const char *text)
{
    add_words(text);
    add_words(generated(pipeline_must("sample.pipe", text)));
}

/* The halves of names that a macro joins are nobody's names. */
static void has_no_name_of_users(const char *text)
{
    size_t length;
    const char *before[2] = {"", ""};
    for (const char *word; (word = token(&text, &length)) != NULL; before[1] = before[0], before[0] = word) {
        const char *name = arena_strndup(&arena, word, length);
        bool argument = strncmp(before[1], "PX_JOIN(", 8) == 0 || strncmp(before[1], "PX_PASTE(", 9) == 0;
        bool joined = strncmp(text, "##", 2) == 0 || *before[0] == '#' || argument;
        if (user_owns(name) && !joined) {
            fail_msg("'%s' in a text in front of kernels looks like a name of users", name);
        }
    }
}

static void libraries_have_no_name_of_users(void **state)
{
    (void)state;
    each_library_text(has_no_name_of_users);
}

static int collect(void **state)
{
    static const char *const OTHERS =
        "auto break case char const continue default do double else enum extern float for goto if inline int long register "
        "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof bool "
        "__kernel __global __local __constant __private __read_only __attribute__ __FILE__ __LINE__ __func__ _Pragma NULL "
        "event_t image2d_t sampler_t ulong16 half native_exp half_exp convert_int4_sat_rte as_float4 vload4 vstore_half "
        "get_global_id barrier mem_fence CLK_LOCAL_MEM_FENCE async_work_group_copy prefetch atomic_cmpxchg atom_add printf "
        "FLT_MAX INT_MIN M_PI_F MAXFLOAT HUGE_VALF INFINITY NAN fp_contract OPENCL cl_khr_fp64 unix linux i386 main argc "
        "_ __ ___ u u_ uu u__ u___";
    arena_init(&kept);
    (void)arena_setup(state);
    each_library_text(add_words);
    each_file("samples/*.pipe", add_words_of_pipeline);
    add_words(OTHERS);
    sort_names();
    (void)arena_teardown(state);
    return open_device(state);
}

static int forget(void **state)
{
    arena_free(&kept);
    return close_device(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(libraries_have_no_name_of_users, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(no_name_meets_generated_code, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(names_mean_what_users_mean, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(text_stays_text, arena_setup, arena_teardown),
    };
    return cmocka_run_group_tests(tests, collect, forget);
}
