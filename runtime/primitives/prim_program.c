/*
 * prim_program: the programs of primitives, put together from texts.
 *
 * A step runs for every image, in loops many times, and asks for the same programs each time.
 * Finding one by its whole text takes longer than its kernels take on a small image, so a step
 * keeps a list of those that it has asked for: texts are told apart by their addresses, defines,
 * which are short, by what they say.
 *
 * A step has several programs, and each has a name of its own, after its text: under it --dump-kernels writes it and
 * --load-kernels finds it again.
 */
#include "prim_program.h"

#include "../../base/str.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXTS = 8, MOST_NAME = 110 };

struct PrimProgram {
    PrimProgram *next;
    DevProgram *program;
    const char *texts[MOST_TEXTS];
    int n_texts;
    char defines[];
};

void prim_programs_free(PrimProgram **programs)
{
    while (*programs) {
        PrimProgram *next = (*programs)->next;
        free(*programs);
        *programs = next;
    }
}

static const PrimProgram *find(const PrimProgram *list, const char *defines, const char *const *texts, int n)
{
    size_t bytes = (size_t)n * sizeof *texts;
    while (list &&
           (list->n_texts != n || memcmp(list->texts, texts, bytes) != 0 || strcmp(list->defines, defines) != 0)) {
        list = list->next;
    }
    return list;
}

static bool no_memory(const PrimCall *call)
{
    return err_set(call->err, CODE_MEMORY, "%s: no memory for the kernel's text", call->name);
}

static bool keep(const PrimCall *call, const char *defines, const char *const *texts, int n, DevProgram *program)
{
    size_t length = strlen(defines) + 1;
    PrimProgram *fresh = malloc(sizeof *fresh + length);
    if (!fresh) {
        return no_memory(call);
    }
    *fresh = (PrimProgram){.next = *call->programs, .program = program, .n_texts = n};
    memcpy(fresh->texts, texts, (size_t)n * sizeof *texts);
    memcpy(fresh->defines, defines, length);
    *call->programs = fresh;
    return true;
}

/* Owned by the caller (free); NULL when memory is out. */
static char *join(const char *defines, const char *const *texts, int n)
{
    size_t size = strlen(defines) + 2;
    for (int i = 0; i < n; i++) {
        size += strlen(texts[i]) + 1;
    }
    char *all = malloc(size), *end = all;
    for (int i = -1; i < n && all; i++) {
        const char *text = i < 0 ? defines : texts[i];
        size_t length = strlen(text);
        memcpy(end, text, length);
        end[length] = '\n';
        end += length + 1;
    }
    if (all) {
        *end = '\0';
    }
    return all;
}

bool prim_program(const PrimCall *call, const char *defines, const char *const *texts, DevProgram **program)
{
    assert(call->dev != NULL && call->name != NULL && call->err != NULL && defines != NULL);
    int n = 0;
    while (texts[n]) {
        n++;
    }
    assert(n <= MOST_TEXTS);
    const PrimProgram *known = call->programs ? find(*call->programs, defines, texts, n) : NULL;
    if (known) {
        *program = known->program;
        return true;
    }
    char *source = join(defines, texts, n);
    if (!source) {
        return no_memory(call);
    }
    char name[MOST_NAME];
    (void)snprintf(name, sizeof name, "%.100s-%06x", call->name, (unsigned)(str_hash(STR_HASH, source) & 0xffffff));
    const char *options = call->quick ? "-cl-opt-disable" : "";
    bool ok = dev_program(call->dev, name, source, options, program, call->err);
    free(source);
    return ok && (!call->programs || keep(call, defines, texts, n, *program));
}

bool prim_needs_wide_atomics(const PrimCall *call)
{
    const DeviceInfo *info = dev_info(call->dev);
    return info->wide_atomics ||
           err_set(
               call->err, CODE_MEMORY,
               "%s: so many pixels at once need atomics of 64 bits, which '%s' does not have; with a limit (--memory) "
               "they are taken in parts",
               call->name, info->name);
}
