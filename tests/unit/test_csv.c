/*
 * test_csv: tables as text: numbers read back exactly and are as short as can be, files are whole or
 * absent.
 */
#include "../../runtime/batch/csv.h"

#include "../../base/file.h"
#include "../../runtime/host/decimal.h"
#include "images.h"

#include <float.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <cmocka.h>

static char names[3][64] = {"label", "area", "centroid-0"};
static bool integer[3] = {true, true, false};

static void assert_content(const char *path, const char *want)
{
    char *text;
    size_t size;
    Err err = {0};
    assert_true(file_read(path, &text, &size, &err));
    assert_string_equal(text, want);
    free(text);
}

static bool write_table(const char *path, const PrimTable *table, const CsvColumn *front, int n_front, Err *err)
{
    CsvWriter *writer;
    TRY(csv_open(path, &writer, err));
    if (!csv_rows(writer, table, front, n_front, NULL, err)) {
        csv_abort(writer);
        return false;
    }
    return csv_commit(writer, err);
}

static void test_numbers(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {-17, "-17"},
        {1e15, "1000000000000000"},
        {9007199254740991, "9007199254740991"},
        {9007199254740992, "9007199254740992"},
        {1e22, "1e+22"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {2.0 / 3, "0.6666666666666666"},
        {-123.456, "-123.456"},
        {1e-7, "1e-07"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {(double)INFINITY, "inf"},
        {-(double)INFINITY, "-inf"},
        {(double)NAN, "nan"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[DECIMAL_BYTES];
        assert_int_equal(decimal_shortest(rows[i].value, text), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
    }
}

static uint64_t next_bits(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Numbers of kinds: any bits at all; as people have them; quotients; small ones; near to powers of ten. */
static double draw_number(uint64_t *seed, int kind)
{
    static const double TENS[] = {1e-9, 1e-5, 1e-4, 0.001, 0.1, 1, 10, 1e6, 1e14, 1e15};
    uint64_t bits = next_bits(seed);
    double value;
    memcpy(&value, &bits, sizeof value);
    switch (kind) {
    case 0:
        return value;
    case 1:
        return (double)(bits >> 40) / 1000;
    case 2:
        return -(double)(bits >> 20) / (double)(1 + (bits & 1023));
    case 3:
        return ldexp((double)(bits >> 11), -(int)(bits % 190));
    default:
        return TENS[bits % 10] * (1 + ldexp((double)(int)(bits >> 16 & 255) - 128, -52));
    }
}

/* The text is the first of those with 15, 16, 17 digits that reads back as the same bits. */
static void test_numbers_back(void **state)
{
    uint64_t seed = 88172645463325252u;
    (void)state;
    for (int i = 0; i < 400000; i++) {
        char text[DECIMAL_BYTES], want[DECIMAL_BYTES];
        double value = draw_number(&seed, i % 5), back;
        if (isnan(value)) {
            continue;
        }
        size_t n = decimal_shortest(value, text);
        assert_int_equal(n, strlen(text));
        back = strtod(text, NULL);
        assert_memory_equal(&back, &value, sizeof value);
        bool reads_back = fabs(value) < 0x1p53 && value == floor(value);
        for (int digits = 15; digits <= 17 && !reads_back; digits++) {
            (void)snprintf(want, sizeof want, "%.*g", digits, value);
            reads_back = isinf(value) || strtod(want, NULL) == value;
            assert_true(!reads_back || strcmp(text, want) == 0);
        }
    }
}

static void test_table(void **state)
{
    double at[] = {1, 2, 4, 10, 20, 1e6, 0.5, (double)NAN, -3};
    PrimTable table = {.rows = 3, .columns = 3, .names = names, .integer = integer, .at = at};
    CsvColumn front[] = {{"frame", 7}, {"z", 0}};
    Err err = {0};
    (void)state;
    const char *path = scratch_path("deep/table.csv");
    assert_true(write_table(path, &table, NULL, 0, &err));
    assert_content(path, "label,area,centroid-0\n1,10,0.5\n2,20,\n4,1000000,-3\n");
    assert_true(write_table(path, &table, front, 2, &err));
    assert_content(path, "frame,z,label,area,centroid-0\n7,0,1,10,0.5\n7,0,2,20,\n7,0,4,1000000,-3\n");
    table.rows = 0;
    assert_true(write_table(path, &table, NULL, 0, &err));
    assert_content(path, "label,area,centroid-0\n");
    unlink(path);
    rmdir(scratch_path("deep"));
}

/* Rows that several threads print are those that one prints. */
static void test_many_rows(void **state)
{
    enum { ROWS = 100000 };
    static double at[3 * ROWS];
    PrimTable table = {.rows = ROWS, .columns = 3, .names = names, .integer = integer, .at = at};
    char alone[64], together[64];
    uint64_t seed = 1;
    Err err = {0};
    (void)state;
    for (int i = 0; i < 3 * ROWS; i++) {
        at[i] = i < ROWS ? i + 1 : i % 7 == 0 ? (double)NAN : draw_number(&seed, 1 + i % 4);
    }
    snprintf(alone, sizeof alone, "%s", scratch_path("alone.csv"));
    snprintf(together, sizeof together, "%s", scratch_path("together.csv"));
    Crew *crew = crew_new(3);
    const char *paths[] = {alone, together};
    for (int i = 0; i < 2; i++) {
        CsvWriter *writer;
        assert_true(csv_open(paths[i], &writer, &err));
        assert_true(csv_rows(writer, &table, NULL, 0, i == 0 ? NULL : crew, &err));
        assert_true(csv_commit(writer, &err));
    }
    crew_free(crew);
    char *one, *many;
    size_t one_bytes, many_bytes;
    assert_true(file_read(alone, &one, &one_bytes, &err));
    assert_true(file_read(together, &many, &many_bytes, &err));
    assert_int_equal(one_bytes, many_bytes);
    assert_memory_equal(one, many, one_bytes);
    free(one);
    free(many);
    unlink(alone);
    unlink(together);
}

static void test_merged(void **state)
{
    double first[] = {1, 11, 0.25}, second[] = {1, 2, 21, 22, 1, 2};
    PrimTable one = {.rows = 1, .columns = 3, .names = names, .integer = integer, .at = first};
    PrimTable two = {.rows = 2, .columns = 3, .names = names, .integer = integer, .at = second};
    CsvColumn front = {"frame", 0};
    CsvWriter *writer;
    Err err = {0};
    (void)state;
    const char *path = scratch_path("merged.csv");
    assert_true(csv_open(path, &writer, &err));
    assert_true(csv_rows(writer, &one, &front, 1, NULL, &err));
    front.number = 1;
    assert_true(csv_rows(writer, &two, &front, 1, NULL, &err));
    assert_int_equal(access(path, F_OK), -1);
    assert_true(csv_commit(writer, &err));
    assert_content(path, "frame,label,area,centroid-0\n0,1,11,0.25\n1,1,21,1\n1,2,22,2\n");

    assert_true(csv_open(path, &writer, &err));
    assert_true(csv_rows(writer, &two, &front, 1, NULL, &err));
    csv_abort(writer);
    csv_abort(NULL);
    assert_content(path, "frame,label,area,centroid-0\n0,1,11,0.25\n1,1,21,1\n1,2,22,2\n");
    unlink(path);
}

/* More than the buffer holds, and a disk that does not take it. */
static void test_large(void **state)
{
    enum { ROWS = 30000 };
    double *at = malloc(3 * ROWS * sizeof *at);
    PrimTable table = {.rows = ROWS, .columns = 3, .names = names, .integer = integer, .at = at};
    struct rlimit old, small;
    Err err = {0};
    char *text;
    size_t size, lines = 0;
    (void)state;
    for (int i = 0; i < 3 * ROWS; i++) {
        at[i] = i < 2 * ROWS ? i : i / 7.0;
    }
    const char *path = scratch_path("large.csv");
    assert_true(write_table(path, &table, NULL, 0, &err));
    assert_true(file_read(path, &text, &size, &err));
    for (char *line = strchr(text, '\n'); line[1] != '\0'; line = strchr(line + 1, '\n')) {
        assert_true(strtod(line + 1, NULL) == (double)lines);
        lines++;
    }
    assert_int_equal(lines, ROWS);
    free(text);
    unlink(path);

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 70000;
    setrlimit(RLIMIT_FSIZE, &small);
    bool ok = write_table(path, &table, NULL, 0, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_false(ok);
    assert_int_equal(err.code, CODE_OUTPUT);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(rmdir(scratch_path("")), 0); /* nothing was left behind */
    free(at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_numbers_back), cmocka_unit_test(test_table),
        cmocka_unit_test(test_merged),  cmocka_unit_test(test_many_rows),    cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
