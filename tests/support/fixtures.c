/* fixtures: see fixtures.h. */
#include "fixtures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Arena arena;
static char folder[64];

int arena_setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

int arena_teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int folder_enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/pipec-test-XXXXXX");
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

int folder_leave(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") != 0 || system(command) != 0;
}
