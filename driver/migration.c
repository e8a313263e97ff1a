/*
 * migration: docs/migration.md, every operation of clEsperanto and the public functions of other packages, and what to write here.
 *
 * clEsperanto's names come from a file.  What to write comes from peers.def where it has the name, otherwise from
 * ops.def: an operator that says clEsperanto calls it so, or one with that name of its own.  The other packages' are rows of
 * interfaces.def.
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

static int count_rows(int first, int last, InterfaceKind kind)
{
    int n = 0;
    for (int i = first; i <= last; i++) {
        n += OPS_INTERFACES[i].kind == kind;
    }
    return n;
}

static void print_contents(void)
{
    const int last = OPS_INTERFACES_N - 1;
    const int none = count_rows(0, last, INTERFACE_NONE);
    const int here = count_rows(0, last, INTERFACE_SAME) + count_rows(0, last, INTERFACE_LIKE);
    printf(
        "clEsperanto comes first. Of %d public functions of the packages behind it %d can be written here. There both sides speak of `image`, "
        "`other`, `mask`, `labels`, `markers`, `volume` and `picture` (three channels); on the left `bytes` is the image as "
        "uint8, `unit` the image and `rgb` the picture as 0 .. 1. What is written on the right is an output's value, or lines with outputs.\n\n",
        here + none, here);
}

static void print_head(int all, int here, int missing)
{
    printf(
        "# From other packages\n\n"
        "Made by `pipec ops --migration docs/clesperanto-names.txt`; do not edit. `pipec import script.py` and `pipec import macro.ijm` write a whole script anew.\n\n");
    print_contents();
    printf("## clEsperanto\n\n"
           "clEsperanto has %d operations by name. %d can be written here, %d have no counterpart. In the "
           "table `image`, `volume`, `mask`, `labels` and `n` (numbers) stand for the arguments; where there "
           "are several of a kind they are numbered. `name(...)` is the operator of "
           "[operators.md](operators.md), which says where its meaning differs. The compiler gives the same "
           "hints: writing a name of the left column in a pipeline, if it is none of an operator here, is an error "
           "whose help line says what to write.\n\n| clEsperanto | here |\n|---|---|\n",
           all, here, missing);
}

/* A cell of a table: text as code, line by line. */
static void print_code(const char *text)
{
    putchar('`');
    for (const char *p = text; *p != '\0'; p++) {
        fputs(*p == '\n' ? "`<br>`" : *p == '|' ? "\\|" : (char[]){*p, '\0'}, stdout);
    }
    putchar('`');
}

static int last_of_package(int first)
{
    while (first + 1 < OPS_INTERFACES_N && OPS_INTERFACES[first + 1].kind != INTERFACE_PACKAGE) {
        first++;
    }
    return first;
}

static void print_interface_row(const Interface *row)
{
    printf("| ");
    print_code(row->name);
    printf(" | ");
    if (row->kind == INTERFACE_NONE) {
        printf("no");
    } else {
        print_code(row->here);
    }
    printf(" | %s%s%s |\n", row->kind == INTERFACE_SAME ? "=" : "",
           row->kind == INTERFACE_SAME && row->note[0] != '\0' ? "; " : "", row->note);
}

static void print_package(int first)
{
    const Interface *package = &OPS_INTERFACES[first];
    const int last = last_of_package(first);
    const int same = count_rows(first, last, INTERFACE_SAME), like = count_rows(first, last, INTERFACE_LIKE);
    const int none = count_rows(first, last, INTERFACE_NONE);
    printf(
        "\n## %s\n\n%d functions of version %s: %d can be written here, %d of them with the same numbers (=), which a test "
        "compares; %d cannot.%s%s\n",
        package->name, same + like + none, package->here, same + like, same, none, package->note[0] != '\0' ? " " : "",
        package->note);
    for (int i = first + 1; i <= last; i++) {
        const Interface *row = &OPS_INTERFACES[i];
        if (row->kind == INTERFACE_MODULE) {
            printf("\n| %s | here | |\n|---|---|---|\n", row->name);
        } else {
            print_interface_row(row);
        }
    }
}

static void print_packages(void)
{
    for (int i = 0; i < OPS_INTERFACES_N; i = last_of_package(i) + 1) {
        print_package(i);
    }
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
    puts("\n### Without a counterpart\n");
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
    print_packages();
    return unknown == 0 ? CODE_OK : CODE_FILES;
}
