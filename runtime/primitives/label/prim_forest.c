/* prim_forest: the words of a trained forest, which the program has as text. */
#include "../prim.h"

#include "../../../base/forest.h"

#include <assert.h>
#include <stdlib.h>

static bool run(PrimCall *call)
{
    Forest shape;
    const char *digits;
    bool fine = forest_head(call->text, &shape, &digits);
    assert(fine);
    (void)fine;
    size_t bytes = forest_length(&shape) * sizeof(uint32_t);
    uint32_t *words = malloc(bytes);
    if (words == NULL) {
        return err_set(call->err, CODE_MEMORY, "not enough memory for a forest");
    }
    fine = forest_words(&shape, digits, words) && dev_write(call->dev, call->out[0].mem, 0, words, bytes, call->err);
    free(words);
    return fine;
}

const Primitive prim_forest = {.name = "forest", .run = run};
