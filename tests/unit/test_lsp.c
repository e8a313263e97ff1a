/*
 * The language server, by its protocol: each case opens a text, asks one thing and looks for words in all that is
 * answered.  ^ marks the place that is asked about.
 */
#include "lsp/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define BLOBS                             \
    "input image[y, x]\\n"                \
    "param sigma = 2.0 in 0.1 .. 50\\n"   \
    "blurred = gaussian(image, sigma)\\n" \
    "mask = blurred > otsu(blurred)\\n"   \
    "output labels = label(mask)\\n"

typedef struct Case {
    const char *text, *method, *more; /* in JSON */
    const char *want[4], *none;
} Case;

static const Case CASES[] = {
    {"input image[y, x]\\noutput a = gausian(image, 2)\\n",
     NULL,
     "",
     {"\"code\":\"P0501\"", "\"start\":{\"line\":1,\"character\":11}", "did you mean `gaussian`", "\"severity\":1"},
     NULL},
    {BLOBS, NULL, "", {"\"diagnostics\":[]"}, NULL},
    {"input image[y, x]\\nblurred = gaus^sian(image, 2)\\noutput blurred\\n",
     "hover",
     "",
     {"```pipe\\ngaussian(", "sigma", "\"start\":{\"line\":1,\"character\":10}"},
     NULL},
    {"input image[y, x]\\nblurred = gaussian(image, 2)\\noutput a = blur^red + 1\\n",
     "hover",
     "",
     {"blurred = gaussian(image, 2)", "image f32[y, x]"},
     NULL},
    {"input image[y, x]\\noutput a = image ^ + 1\\n", "hover", "", {"\"result\":null"}, NULL},
    {"input image[y, x]\\nfirst = image + 1\\noutput a = fi^\\nlate = 3\\n",
     "completion",
     "",
     {"\"label\":\"first\"", "\"label\":\"gaussian\"", "\"label\":\"output\""},
     "\"label\":\"late\""},
    {"input image[y, x]\\noutput a = gaussian(image, ^)\\n",
     "completion",
     "",
     {"\"label\":\"sigma = \"", "\"label\":\"border = \"", "\"label\":\"image\""},
     NULL},
    {"input image[y, x]\\nl = label(image > 3)\\noutput a = l.ar^\\n",
     "completion",
     "",
     {"\"label\":\"area\""},
     "\"label\":\"gaussian\""},
    {"input image[y, x]\\na = image + 1\\na = a + 2\\noutput b = ^a\\n",
     "definition",
     "",
     {"\"uri\":\"file:///t.pipe\"", "\"start\":{\"line\":2,\"character\":0}"},
     NULL},
    {"input image[y, x]\\noutput a = sob^el(image)\\n", "definition", "", {"/pipec/prelude/", ".pipe\""}, NULL},
    {"input image[y,x]\\noutput   a=image+1\\n",
     "formatting",
     "",
     {"input image[y, x]\\noutput a = image + 1\\n"},
     NULL},
    {"input image[y, x]\\noutput a = (image\\n", "formatting", "", {"\"result\":["}, "newText"},
    {BLOBS,
     "inlayHint",
     "\"range\":{\"start\":{\"line\":0,\"character\":0},\"end\":{\"line\":9,\"character\":0}}",
     {": image f32[y, x]", ": mask[y, x]", ": labels[y, x]"},
     NULL},
    {"input image[y, x]\\noutput a = gausian(image, 2)\\n",
     "codeAction",
     "\"range\":{\"start\":{\"line\":1,\"character\":12},\"end\":{\"line\":1,\"character\":12}}",
     {"write `gaussian`", "\"newText\":\"gaussian\"", "\"file:///t.pipe\":["},
     NULL},
    /* Columns are UTF-16 units: the letter before the name has two, the one in the comment one. */
    {"# \\ud83d\\ude00 \\u00e9\\ninput image[y, x] # \\ud83d\\ude00\\noutput a = gausian(image, 2) # \\ud83d\\ude00\\n",
     NULL,
     "",
     {"\"start\":{\"line\":2,\"character\":11}"},
     NULL},
};

static void send(FILE *to, const char *body)
{
    fprintf(to, "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
}

/* Sends all and gives what came back, owned by the caller (free). */
static char *converse(FILE *from, int code)
{
    char *said = NULL;
    size_t size;
    FILE *to = open_memstream(&said, &size);
    assert_non_null(to);
    rewind(from);
    assert_int_equal(lsp_serve(from, to), code);
    fclose(to);
    fclose(from);
    return said;
}

/* The text without its mark, and where that was; the text has \n as two letters, which count as lines. */
static void take_mark(const char *text, char *to, int *line, int *column)
{
    *line = *column = 0;
    const char *mark = strchr(text, '^');
    for (const char *p = text; mark != NULL && p < mark; p++) {
        bool end = p[0] == '\\' && p[1] == 'n';
        *column = end ? 0 : *column + 1;
        *line += end;
        p += end;
    }
    size_t before = mark != NULL ? (size_t)(mark - text) : strlen(text);
    memcpy(to, text, before);
    strcpy(to + before, mark != NULL ? mark + 1 : "");
}

static void run_case(const Case *c)
{
    char text[1000], body[3000];
    int line, column;
    FILE *to = tmpfile();
    assert_non_null(to);
    take_mark(c->text, text, &line, &column);
    send(to, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"capabilities\":{}}}");
    send(to, "{\"jsonrpc\":\"2.0\",\"method\":\"initialized\",\"params\":{}}");
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\",\"params\":{\"textDocument\":{\"uri\":"
             "\"file:///t.pipe\",\"languageId\":\"pipe\",\"version\":1,\"text\":\"%s\"}}}",
             text);
    send(to, body);
    if (c->method != NULL) {
        snprintf(body, sizeof body,
                 "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"textDocument/%s\",\"params\":{\"textDocument\":{\"uri\":"
                 "\"file:///t.pipe\"},\"position\":{\"line\":%d,\"character\":%d}%s%s}}",
                 c->method, line, column, c->more[0] != '\0' ? "," : "", c->more);
        send(to, body);
    }
    send(to, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"shutdown\"}");
    send(to, "{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
    char *said = converse(to, 0);
    for (int i = 0; i < 4 && c->want[i] != NULL; i++) {
        if (strstr(said, c->want[i]) == NULL) {
            fail_msg("%s: '%s' is not in\n%s", text, c->want[i], said);
        }
    }
    if (c->none != NULL && strstr(said, c->none) != NULL) {
        fail_msg("%s: '%s' is in\n%s", text, c->none, said);
    }
    free(said);
}

static void editors_are_answered(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        run_case(&CASES[i]);
    }
}

/* Whatever comes in, the server answers or leaves. */
static void nonsense_is_answered(void **state)
{
    (void)state;
    static const char *const BODIES[] = {
        "{",
        "[]",
        "3",
        "null",
        "{\"id\":1}",
        "{\"id\":1,\"method\":\"textDocument/hover\"}",
        "{\"id\":1,\"method\":\"initialize\"}",
        "{\"id\":[1],\"method\":\"nothing\",\"params\":3}",
        "{\"method\":\"textDocument/didOpen\",\"params\":[1]}",
        "{\"method\":\"textDocument/didChange\",\"params\":{}}",
        "{\"id\":1,\"method\":\"textDocument/hover\",\"params\":{\"textDocument\":{\"uri\":3},\"position\":-1}}",
        "{\"method\":\"textDocument/didOpen\",\"params\":{\"textDocument\":{\"uri\":\"u\",\"text\":\"\\u0000(((\\\"\"}}}",
        ("{\"id\":1,\"method\":\"textDocument/hover\",\"params\":{\"textDocument\":{\"uri\":\"u\"},\"position\":"
         "{\"line\":1e99,\"character\":-5}}}"),
        "{\"id\":1,\"method\":\"textDocument/completion\",\"params\":{\"textDocument\":{\"uri\":\"u\"}}}"};
    FILE *to = tmpfile();
    assert_non_null(to);
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++) {
        send(to, BODIES[i]);
    }
    fputs("Content-Length: 99999999999\r\n\r\n", to);
    char *said = converse(to, 1);
    assert_non_null(strstr(said, "this is no JSON"));
    assert_non_null(strstr(said, "the first request is `initialize`"));
    assert_non_null(strstr(said, "pipec does not know this request"));
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(editors_are_answered), cmocka_unit_test(nonsense_is_answered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
