/* test_names: templates of output names, and outputs that would overwrite one another. */
#include "../../runtime/batch/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_expand(void **state)
{
    static const struct {
        const char *text, *input, *want;
    } rows[] = {
        {"{stem}_{output}.{ext}", "plate/A01.tif", "A01_labels.tif"},
        {"{stem}_{output}.{ext}", "A01.ome.tif", "A01_labels.tif"},
        {"{stem}_{output}.{ext}", "A01.OME.TIFF", "A01_labels.tif"},
        {"{stem}", "sky.fits.gz", "sky"},
        {"{stem}", "sky.FIT.FZ", "sky"},
        {"{stem}", "sky.fts.gz", "sky"},
        {"{stem}", "a.fits.gz[ERR]", "a"},
        {"{stem}", "a.fits[SCI,2]", "a"},
        {"{stem}", "a.Ome.Tf2", "a"},
        {"{stem}", "a.ome.png", "a.ome"},
        {"{stem}", "a.tif.gz", "a.tif"},
        {"{stem}", "a.b]", "a"},
        {"{stem}", "a.b.c.tif", "a.b.c"},
        {"{stem}", "noext", "noext"},
        {"{stem}", ".hidden", ".hidden"},
        {"{stem}", ".ome.tif", ".ome"},
        {"{stem}", "dir.d/noext", "noext"},
        {"{name}", "x/A01.tif", "A01.tif"},
        {"{dir}/out/{stem}", "x/y/A01.tif", "x/y/out/A01"},
        {"{dir}", "A01.tif", "."},
        {"{dir}", "/A01.tif", "/"},
        {"out/{index}.{ext}", "A01.tif", "out/42.tif"},
        {"{{{stem}}}", "A01.tif", "{A01}"},
        {"plain", "A01.tif", "plain"},
        {"", "A01.tif", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        NameFields fields = {rows[i].input, "labels", "tif", 42};
        char to[256];
        Err err = {0};
        assert_true(names_check(rows[i].text, &err));
        assert_true(names_expand(rows[i].text, &fields, to, sizeof to, &err));
        assert_string_equal(to, rows[i].want);
    }
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"{stme}.tif", "unknown field '{stme}'"},
        {"{stme}.tif", "{stem} {name} {dir} {output} {ext} {index}"},
        {"{}", "unknown field '{}'"},
        {"{stem", "brace without partner"},
        {"stem}", "brace without partner"},
        {"{st{em}", "brace without partner"},
    };
    NameFields fields = {"a.tif", NULL, NULL, -1};
    char to[8];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Err err = {0};
        assert_false(names_check(rows[i].text, &err));
        assert_int_equal(err.code, CODE_USAGE);
        assert_non_null(strstr(err.text, rows[i].why));
    }
    const char *const empty[] = {"{output}", "{ext}", "{index}"};
    for (int i = 0; i < 3; i++) {
        Err err = {0};
        assert_false(names_expand(empty[i], &fields, to, sizeof to, &err));
        assert_non_null(strstr(err.text, "has no value"));
    }
    Err err = {0};
    assert_true(names_expand("1234567", &fields, to, sizeof to, &err));
    assert_false(names_expand("12345678", &fields, to, sizeof to, &err));
    assert_non_null(strstr(err.text, "too long"));
}

static void test_template(void **state)
{
    char to[64];
    Err err = {0};
    (void)state;
    assert_true(names_template(NULL, to, sizeof to, &err));
    assert_string_equal(to, "{stem}_{output}.{ext}");
    assert_true(names_template("new/", to, sizeof to, &err));
    assert_string_equal(to, "new/{stem}_{output}.{ext}");
    assert_true(names_template("/", to, sizeof to, &err));
    assert_string_equal(to, "/{stem}_{output}.{ext}");
    assert_true(names_template(".", to, sizeof to, &err)); /* a folder that exists */
    assert_string_equal(to, "./{stem}_{output}.{ext}");
    assert_true(names_template("x_{output}.tif", to, sizeof to, &err));
    assert_string_equal(to, "x_{output}.tif");
    assert_false(names_template("{oops}", to, sizeof to, &err));
    err_clear(&err);
    assert_false(names_template("x_{output}.tif", to, 10, &err));
    assert_non_null(strstr(err.text, "too long"));
}

static void test_distinct(void **state)
{
    const char *const inputs[] = {"a/x.tif", "b/x.tif"};
    NameUse good[] = {{"out/a_x.tif", "a/x.tif"}, {"out/b_x.tif", "b/x.tif"}};
    NameUse same[] = {{"out/x.tif", "a/x.tif"}, {"out/y.tif", "a/x.tif"}, {"./out//x.tif", "b/x.tif"}};
    NameUse twice[] = {{"out/x.tif", "a/x.tif"}, {"out/x.tif", "a/x.tif"}};
    NameUse over[] = {{"./a/x.tif", "a/x.tif"}};
    Err err = {0};
    (void)state;
    assert_true(names_distinct(good, 2, inputs, 2, &err));
    assert_true(names_distinct(NULL, 0, inputs, 2, &err));
    const char *const again[] = {"a/x.tif", "a/x.tif"};
    assert_true(names_distinct(good, 2, again, 2, &err));
    assert_false(names_distinct(same, 3, inputs, 2, &err));
    assert_int_equal(err.code, CODE_USAGE);
    assert_non_null(strstr(err.text, "'a/x.tif' and 'b/x.tif' would both be written to"));
    err_clear(&err);
    assert_false(names_distinct(twice, 2, inputs, 2, &err));
    assert_non_null(strstr(err.text, "two outputs of 'a/x.tif'"));
    err_clear(&err);
    assert_false(names_distinct(over, 1, inputs, 2, &err));
    assert_non_null(strstr(err.text, "would replace an input"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expand),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_template),
        cmocka_unit_test(test_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
