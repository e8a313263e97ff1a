/*
 * elaborate: that the tour's pipelines become the graphs that they should, that what the pages of
 * diag.def show is what happens, and that wrong programs are told so in the right place.
 */
#include "frontend/diag.h"
#include "frontend/elaborate.h"
#include "frontend/ops.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "pipe_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *name, *code, *page;
    bool warning;
} rows[] = {
#define ERROR false
#define WARNING true
#define D(NAME, code, severity, format, page) {#NAME, code, page, severity},
#include "frontend/diag.def"
#undef D
#undef ERROR
#undef WARNING
};
enum { ROWS = sizeof rows / sizeof *rows };

static Arena arena;
static Diags diags;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static IrGraph *elaborate_as(const char *path, const char *text)
{
    Source *source = arena_new(&arena, Source);
    *source = (Source){path, text};
    diags_init(&diags, &arena);
    return fe_elaborate(&arena, fe_parse(&arena, source, &diags), &diags);
}

static IrGraph *elaborate(const char *text)
{
    return elaborate_as("test.pipe", text);
}

static const char *complaints(void)
{
    Str s;
    str_init(&s, &arena);
    diags_render(&diags, &s, false, 0);
    return s.n > 0 ? s.at : "";
}

static int count_codes(const char *code)
{
    int n = 0;
    for (const Diag *d = diags.first; d != NULL; d = diag_next(d)) {
        n += code == NULL || strcmp(diag_code(d), code) == 0;
    }
    return n;
}

/* ---- the tour --------------------------------------------------------------------------- */

static void the_tour_elaborates_without_a_word(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pipe_samples / sizeof *pipe_samples; i++) {
        const IrGraph *g = elaborate_as(pipe_samples[i].name, pipe_samples[i].text);
        if (g == NULL || count_codes(NULL) != 0) {
            print_error("%s\n%s", pipe_samples[i].name, complaints());
            fail();
        }
        Str report;
        str_init(&report, &arena);
        ir_verify_report(g, &report);
        if (report.n != 0) {
            print_error("%s\n%s", pipe_samples[i].name, report.at);
            fail();
        }
        assert_true(g->outputs.n >= 1);
    }
}

/* ---- pages ------------------------------------------------------------------------------ */

/* The indented lines after a heading of the page. */
static const char *example(const char *page, const char *heading)
{
    const char *p = strstr(page, heading);
    assert_non_null(p);
    Str text;
    str_init(&text, &arena);
    p = strchr(p, '\n') + 1;
    while (strncmp(p, "    ", 4) == 0) {
        size_t n = strcspn(p, "\n") + 1;
        str_addn(&text, p + 4, n - 4);
        p += n;
    }
    return text.at;
}

static void pages_show_what_happens(void **state)
{
    (void)state;
    int checked = 0, wrong = 0;
    for (int i = 0; i < ROWS; i++) {
        if (strncmp(rows[i].code, "P01", 3) == 0) {
            continue;
        }
        checked++;
        elaborate(example(rows[i].page, "Wrong:"));
        bool kind = (diags.errors == 1) == !rows[i].warning;
        if (count_codes(rows[i].code) != 1 || count_codes(NULL) != 1 || !kind) {
            print_error("%s %s is not what its page shows:\n%s\n%s", rows[i].code, rows[i].name,
                        example(rows[i].page, "Wrong:"), complaints());
            wrong++;
        }
        elaborate(example(rows[i].page, "Right:"));
        if (count_codes(NULL) != 0) {
            print_error("%s %s is right only on its page:\n%s\n%s", rows[i].code, rows[i].name,
                        example(rows[i].page, "Right:"), complaints());
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(checked >= 100);
}

/* ---- operators -------------------------------------------------------------------------- */

static void examples_of_operators_elaborate(void **state)
{
    (void)state;
    int wrong = 0;
    const Ops *ops = ops_load(&arena);
    for (int i = 0; i < ops->n; i++) {
        const char *text = arena_printf(
            &arena, "input image[y, x]\nmask = image > 3\nlabels = label(mask)\n%s\n",
            ops->at[i].example);
        const IrGraph *g = elaborate(text);
        if (g == NULL || diags.errors != 0) {
            print_error("%s\n%s\n%s", ops->at[i].name, text, complaints());
            wrong++;
            continue;
        }
        Str report;
        str_init(&report, &arena);
        ir_verify_report(g, &report);
        if (report.n != 0) {
            print_error("%s\n%s", ops->at[i].name, report.at);
            wrong++;
        }
        assert_true(strstr(ops->at[i].example, ops->at[i].name) != NULL);
        assert_true(ops->at[i].doc[0] != '\0');
    }
    assert_int_equal(wrong, 0);
}

/* What is suggested instead of a peer's name, on arguments of the kinds that it says. */
static const char *suggestion(const Peer *peer)
{
    Str s;
    str_init(&s, &arena);
    for (const char *p = peer->here; *p != '\0'; p++) {
        if (*p != '$') {
            str_addn(&s, p, 1);
            continue;
        }
        int k = *++p - '1';
        assert_true(k >= 0 && k < (int)strlen(peer->arguments));
        char kind = peer->arguments[k];
        str_add(&s, kind == 'i'   ? "image"
                    : kind == 'v' ? "volume"
                    : kind == 'm' ? "mask"
                    : kind == 'l' ? "labels"
                                  : "3");
    }
    return s.n > 0 ? s.at : "";
}

static void suggestions_for_peers_elaborate(void **state)
{
    (void)state;
    int wrong = 0;
    const Ops *ops = ops_load(&arena);
    for (int i = 0; i < OPS_PEERS_N; i++) {
        const Peer *peer = &OPS_PEERS[i];
        assert_null(ops_find(ops, peer->name));
        assert_ptr_equal(ops_peer(peer->name), peer);
        const char *here = suggestion(peer);
        if (here[0] == '\0' || strncmp(here, "input ", 6) == 0) {
            continue;
        }
        const char *text = arena_printf(
            &arena,
            "input image[y, x]\ninput volume[z, y, x]\nmask = image > 3\nlabels = label(mask)\n%s%s\n",
            strncmp(here, "output ", 7) == 0 ? "" : "output a = ", here);
        elaborate(text);
        if (diags.errors != 0) {
            print_error("%s\n%s", peer->name, complaints());
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(OPS_PEERS_N > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_tour_elaborates_without_a_word, setup, teardown),
        cmocka_unit_test_setup_teardown(pages_show_what_happens, setup, teardown),
        cmocka_unit_test_setup_teardown(examples_of_operators_elaborate, setup, teardown),
        cmocka_unit_test_setup_teardown(suggestions_for_peers_elaborate, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
