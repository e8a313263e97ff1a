/* fuzz_options: any words, one a line, as the command line of a program. */
#include "fuzz.h"

#include "runtime/command/options.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 64 };

static const ProgInput INPUTS[] = {{.name = "image", .axes = "yx", .elem = ELEM_FILE, .channel = -1},
                                   {.name = "flat", .axes = "yx", .elem = ELEM_FILE, .channel = -1}};
static const ProgParam PARAMS[] = {{"sigma", "blur radius", 2, 0.1, 50, false, NULL},
                                   {"rounds_of_all", "", 3, 1, 10, true, NULL},
                                   {"method", "", 1, 0, 2, true, "otsu|li|triangle"}};
static const ProgOutput OUTPUTS[] = {{.name = "labels", .format = "tif", .kind = OUT_LABELS}};
static const Program PROGRAM = {.name = "fuzz",
                                .version = "0",
                                .hash = "0123456789abcdef0123456789abcdef",
                                .inputs = INPUTS,
                                .n_inputs = 2,
                                .params = PARAMS,
                                .n_params = 3,
                                .outputs = OUTPUTS,
                                .n_outputs = 1};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *words[WORDS + 2], name[] = "fuzz";
    int n = 0;
    words[n++] = name;
    for (char *word = strtok(text, "\n"); word != NULL && n <= WORDS; word = strtok(NULL, "\n")) {
        words[n++] = word;
    }
    words[n] = NULL;
    Options options;
    Err err = {0};
    (void)(options_parse(&PROGRAM, n, words, &options, &err) && options_have_images(&PROGRAM, &options, &err));
    options_free(&options);
    free(text);
    return 0;
}
