/*
 * migration: docs/migration.md, every operation of clEsperanto and what to write here.
 *
 * Names come from a file.  What to write comes from peers.def where it has the name, otherwise from
 * ops.def: an operator that says clEsperanto calls it so, or one with that name of its own.
 */
#include "driver.h"

#include "../base/file.h"
#include "../frontend/ops/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Row {
    const char *name, *here; /* NULL: nobody has looked yet; "": no counterpart */
} Row;

static const char *written_here(const Ops *ops, const char *name, Arena *arena)
{
    const Peer *peer = ops_peer(name);
    if (peer != NULL && strstr(peer->package, "clEsperanto") != NULL) {
        return ops_peer_spelled(peer, arena);
    }
    for (int i = 0; i < ops->n; i++) {
        if (strcmp(ops->at[i].clesperanto, name) == 0) {
            return arena_printf(arena, "%s(...)", ops->at[i].name);
        }
    }
    return ops_find(ops, name) != NULL ? arena_printf(arena, "%s(...)", name) : NULL;
}

static void print_head(int all, int here, int missing)
{
    printf(
        "# From clEsperanto\n\n"
        "Made by `pipec ops --migration docs/clesperanto-names.txt`; do not edit. `pipec import script.py` and `pipec import macro.ijm` write a whole script anew.\n\n"
        "clEsperanto has %d operations by name. %d can be written here, %d have no counterpart. In the "
        "table `image`, `volume`, `mask`, `labels` and `n` (numbers) stand for the arguments; where there "
        "are several of a kind they are numbered. `name(...)` is the operator of "
        "[operators.md](operators.md), which says where its meaning differs. The compiler gives the same "
        "hints: writing a name of the left column in a pipeline, if it is none of an operator here, is an error "
        "whose help line says what to write.\n\n| clEsperanto | here |\n|---|---|\n",
        all, here, missing);
}

int print_migration(const Ops *ops, const char *names, Arena *arena)
{
    Vec(Row) rows = {.at = NULL};
    Err err = {0};
    char *text;
    size_t size;
    int missing = 0, unknown = 0;
    if (!file_read_text(names, 1 << 20, &text, &size, &err)) {
        return complain(&err);
    }
    for (char *name = strtok(text, "\n"); name != NULL; name = strtok(NULL, "\n")) {
        const char *copy = arena_strdup(arena, name);
        Row row = {copy, written_here(ops, copy, arena)};
        vec_push(arena, &rows, row);
        missing += row.here != NULL && row.here[0] == '\0';
        if (row.here == NULL) {
            unknown++;
            fprintf(stderr, "pipec: %s is in neither table\n", copy);
        }
    }
    free(text);
    print_head(rows.n, rows.n - missing - unknown, missing);
    for (int i = 0; i < rows.n; i++) {
        if (rows.at[i].here != NULL && rows.at[i].here[0] != '\0') {
            printf("| `%s` | `%s` |\n", rows.at[i].name, rows.at[i].here);
        }
    }
    puts("\n## Without a counterpart\n");
    const char *comma = "";
    for (int i = 0; i < rows.n; i++) {
        if (rows.at[i].here != NULL && rows.at[i].here[0] == '\0') {
            printf("%s`%s`", comma, rows.at[i].name);
            comma = ", ";
        }
    }
    puts(
        ".\n\nThese need what the language does not have (points or matrices as input, weights of contacts between labels,\n"
        "spectra, sheared volumes, level sets, tiles with a histogram each), or make test images.");
    return unknown == 0 ? CODE_OK : CODE_FILES;
}
