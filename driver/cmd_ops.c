/* ops: the operator table as a list, as pages, and as the source of what is written in the
 * language. */
#include "driver.h"

#include "../base/measures.h"
#include "../frontend/ops/ops.h"

#include <stdio.h>
#include <string.h>

static void print_list(const Ops *ops)
{
    for (int i = 0; i < ops->n; i++) {
        printf("%-26s %s\n", ops->at[i].name, ops->at[i].doc);
    }
}

static void print_peer(const char *package, const char *name)
{
    if (name != NULL && name[0] != '\0') {
        printf("  %-14s %s\n", package, name);
    }
}

/* "sigma         a number or a list with a number for each axis; 0 .. inf; nearest if not given" */
static void print_argument(const OpParam *p, Arena *arena)
{
    Str text;
    str_init(&text, arena);
    ops_types_phrase(p, &text);
    if (p->ranged && p->above) {
        str_addf(&text, "; above %g", p->lo);
    } else if (p->ranged) {
        str_addf(&text, "; %g .. %g", p->lo, p->hi);
    }
    if (p->value != NULL && strcmp(p->value, "none") == 0) {
        str_add(&text, "; may be left out");
    } else if (p->value != NULL) {
        str_addf(&text, "; %s if not given", p->value);
    }
    printf("  %-14s %s%s\n", p->name, text.at, p->rest ? ", any number of them" : "");
}

static bool takes_properties(const Op *op)
{
    return strcmp(op->name, "measure") == 0 || strcmp(op->name, "property") == 0;
}

static void print_properties(void)
{
    puts("\nproperties:");
    for (int i = 0; i < MEASURE_IDS; i++) {
        const Measure *m = &MEASURES[i];
        printf("  %-26s %s%s%s%s%s\n", m->name, m->doc, m->dims == 2 ? " (2-D only)" : "",
               m->aliases[0] != '\0' ? "; also " : "", m->aliases, m->intensity ? " [image]" : "");
    }
}

static void print_page(const Op *op, Arena *arena)
{
    printf("%s(%s)\n\n  %s\n", op->name, op->signature, op->doc);
    if (op->text[0] != '\0') {
        printf("  %s\n", op->text);
    }
    puts("\narguments:");
    for (int i = 0; i < op->n_params; i++) {
        print_argument(&op->param[i], arena);
    }
    Str example;
    str_init(&example, arena);
    ops_example(op, &example);
    puts("\nexample:");
    for (const char *p = example.at; *p != '\0';) {
        size_t n = strcspn(p, "\n");
        printf("  %.*s\n", (int)n, p);
        p += n + (p[n] == '\n');
    }
    if (takes_properties(op)) {
        print_properties();
    }
    puts("\nelsewhere:");
    print_peer("clEsperanto", op->clesperanto);
    print_peer("scikit-image", op->skimage);
    print_peer("scipy", op->scipy);
}

/* The function's text in the prelude: from "fn NAME(" to the next line that starts a function. */
static int print_source(const Op *op)
{
    char head[80];
    snprintf(head, sizeof head, "fn %s(", op->name);
    for (int i = 0; i < OPS_PRELUDE_N; i++) {
        const char *at = strstr(OPS_PRELUDE[i].text, head);
        if (at == NULL) {
            continue;
        }
        const char *end = strstr(at + 1, "\nfn ");
        printf("# %s\n%.*s\n", OPS_PRELUDE[i].path, end != NULL ? (int)(end - at) : (int)strlen(at), at);
        return CODE_OK;
    }
    printf("%s is built in\n", op->name);
    return CODE_OK;
}

static void print_property_table(void)
{
    puts("| property | also called | what it is |\n|---|---|---|");
    for (int i = 0; i < MEASURE_IDS; i++) {
        const Measure *m = &MEASURES[i];
        printf("| `%s` | %s | %s%s%s |\n", m->name, m->aliases, m->doc, m->dims == 2 ? " (2-D only)" : "",
               m->intensity ? " (of an image)" : "");
    }
    puts("");
}

/* The reference as Markdown (docs/operators.md). */
static void print_markdown(const Ops *ops)
{
    puts("# Operators\n\nMade from the operator table by `pipec ops --markdown`; do not edit.\n");
    for (int i = 0; i < ops->n; i++) {
        const Op *op = &ops->at[i];
        printf("## %s\n\n`%s(%s)`\n\n%s.%s%s\n\n```\n%s\n```\n\n", op->name, op->name, op->signature, op->doc,
               op->text[0] != '\0' ? " " : "", op->text, op->example);
        if (strcmp(op->name, "measure") == 0) {
            print_property_table();
        }
        const char *const peer[3][2] = {{"clEsperanto", op->clesperanto},
                                        {"scikit-image", op->skimage},
                                        {"scipy", op->scipy}};
        for (int k = 0; k < 3; k++) {
            if (peer[k][1] != NULL && peer[k][1][0] != '\0') {
                printf("%s: `%s`  \n", peer[k][0], peer[k][1]);
            }
        }
        puts("");
    }
}

static int unknown_operator(const Ops *ops, const char *name, Arena *arena)
{
    const char **names = arena_array(arena, const char *, (size_t)ops->n);
    for (int i = 0; i < ops->n; i++) {
        names[i] = ops->at[i].name;
    }
    const char *near = fe_nearest(name, names, ops->n);
    if (near != NULL) {
        return usage_error("there is no operator '%s'; did you mean '%s'?", name, near);
    }
    return usage_error("there is no operator '%s'; `pipec ops` lists them", name);
}

static void print_peer_page(const Peer *peer, Arena *arena)
{
    if (peer->here[0] == '\0') {
        printf("there is nothing like %s (%s) here\n", peer->name, peer->package);
    } else {
        printf("%s (%s) is written here: %s\n", peer->name, peer->package, ops_peer_spelled(peer, arena));
    }
}

int cmd_ops(int argc, char **argv)
{
    Arena arena;
    driver_arena(&arena);
    const Ops *ops = ops_load(&arena);
    const char *name = NULL;
    bool source = false;
    int code = CODE_OK;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--source") == 0) {
            source = true;
        } else if (strcmp(argv[i], "--markdown") == 0) {
            print_markdown(ops);
            arena_free(&arena);
            return CODE_OK;
        } else if (strcmp(argv[i], "--migration") == 0 && i + 1 < argc) {
            code = print_migration(ops, argv[i + 1], &arena);
            arena_free(&arena);
            return code;
        } else {
            name = argv[i];
        }
    }
    const Op *op = name != NULL ? ops_find(ops, name) : NULL;
    const Peer *peer = name != NULL && op == NULL ? ops_peer(name) : NULL;
    if (name == NULL) {
        print_list(ops);
    } else if (op != NULL && source) {
        code = print_source(op);
    } else if (op != NULL) {
        print_page(op, &arena);
    } else if (peer != NULL) {
        print_peer_page(peer, &arena);
    } else {
        code = unknown_operator(ops, name, &arena);
    }
    arena_free(&arena);
    return code;
}
