/*
 * binaries: what a device's driver makes of a program's kernels, to go into an executable, which then need not
 * be compiled where such a device, with such a driver, is.  Anywhere else, and for images that need other
 * texts, kernels are compiled as ever.
 */
#include "driver.h"

#include "../runtime/exec/exec.h"

#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b)
{
    return strcmp(((const ProgBinary *)a)->key, ((const ProgBinary *)b)->key);
}

/* Takes all that the device has into the arena. */
static void collect(Device *dev, Compilation *c)
{
    Vec(ProgBinary) all = {0};
    char key[DIGEST_TEXT];
    void *bytes;
    size_t size;
    for (int i = 0; dev_binary(dev, i, key, &bytes, &size); i++) {
        ProgBinary binary = {arena_strdup(&c->arena, key), arena_strndup(&c->arena, bytes, size), size};
        vec_push(&c->arena, &all, binary);
        free(bytes);
    }
    if (all.n > 0) {
        qsort(all.at, (size_t)all.n, sizeof *all.at, by_key);
    }
    Program *program = arena_new(&c->arena, Program);
    *program = *c->program;
    program->binaries = all.at;
    program->n_binaries = all.n;
    c->program = program;
}

/* One thread could leave out what primitives ask for, and for one small image nothing would be optimised. */
static bool compile_shape(Compilation *c, Device *dev, const ExecInput *inputs, Err *err)
{
    enum { SEVERAL = 2, MANY = 1 << 20 };
    Exec *exec = NULL;
    TRY(exec_new(c->program, dev, &exec, err));
    exec_set_compilers(exec, SEVERAL);
    exec_set_images(exec, MANY);
    exec_set_narrows(exec);
    bool ok = exec_bind(exec, inputs, default_params(c->program, &c->arena), err);
    exec_free(exec);
    return ok;
}

bool add_binaries(Compilation *c, const char *device, const char *const *shapes, int n, Err *err)
{
    const DevOptions options = {.choice = device, .cache = ""};
    Device *dev = NULL;
    TRY(dev_open(&options, &dev, err));
    bool ok = true;
    for (int i = 0; i < n && ok; i++) {
        const ExecInput *inputs = take_shape(c->program, shapes[i], &c->arena);
        ok = inputs != NULL ? compile_shape(c, dev, inputs, err) : err_set(err, CODE_USAGE, "nothing is built");
    }
    if (ok) {
        collect(dev, c);
    }
    dev_close(dev);
    return ok;
}
