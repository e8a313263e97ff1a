/* complain: how commands end when something is wrong. */
#include "driver.h"

#include "../runtime/host/status.h"

#include <stdarg.h>
#include <stdio.h>

int usage_error(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("pipec: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    return CODE_USAGE;
}

int complain(const Err *err)
{
    status_print(stderr, "pipec: %s\n", err->text);
    return err_exit_code(err);
}

static jmp_buf no_memory; /* set before a command begins */

jmp_buf *driver_no_memory(void)
{
    return &no_memory;
}

void driver_arena(Arena *arena)
{
    arena_init(arena);
    arena->out_of_memory = driver_no_memory();
}
