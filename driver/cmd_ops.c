/* ops: the operators by groups, those that are searched for, a page for each, and the source of what is written in the
 * language. */
#include "driver.h"

#include "../base/measures.h"
#include "../frontend/ops/ops.h"
#include "../frontend/syntax/tokens.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 100 };

static void print_line(const Op *op)
{
    printf("  %-26s %s\n", op->name, op->doc);
}

static void print_list(const Ops *ops)
{
    const char *group = NULL;
    for (int i = 0; i < ops->n; i++) {
        const Op *op = &ops->at[i];
        if (op->group == NULL) {
            continue;
        }
        if (op->group != group) {
            printf("%s%s\n", group != NULL ? "\n" : "", op->group);
            group = op->group;
        }
        print_line(op);
    }
}

static void print_elsewhere(const char *package, const char *name)
{
    if (name != NULL && name[0] != '\0') {
        printf("  %-14s %s\n", package, name);
    }
}

/* A text in lines that begin with `indent` blanks; the first has them already. */
static void print_wrapped(int indent, const char *text)
{
    int column = indent;
    while (*text != '\0') {
        const int n = (int)strcspn(text, " ");
        if (column > indent && column + 1 + n > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        column += printf("%s%.*s", column > indent ? " " : "", n, text);
        text += n;
        text += strspn(text, " ");
    }
    puts("");
}

/* "sigma         standard deviation of the blur, in pixels ...
 *                (a number or a number for each axis from 0)" */
static void print_argument(const OpParam *p, Arena *arena)
{
    Str kinds;
    str_init(&kinds, arena);
    str_add(&kinds, p->words);
    if (p->types != OP_BORDER) { /* its words have said it */
        str_add(&kinds, " (");
        ops_argument(p, &kinds);
        str_add(&kinds, ")");
    }
    printf("  %-14s ", p->name);
    print_wrapped(17, kinds.at);
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
    Str call;
    str_init(&call, arena);
    ops_call(op, &call);
    print_wrapped(4, call.at);
    printf("\n  ");
    print_wrapped(2, op->doc);
    if (op->text[0] != '\0') {
        printf("  ");
        print_wrapped(2, op->text);
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
    if (op->clesperanto[0] != '\0' || op->skimage[0] != '\0' || op->scipy[0] != '\0') {
        puts("\nelsewhere:");
    }
    print_elsewhere("clEsperanto", op->clesperanto);
    print_elsewhere("scikit-image", op->skimage);
    print_elsewhere("scipy", op->scipy);
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

/* Operators that have most of the words, the best places first. */
static void print_nearest(const Ops *ops, char *const *words, int n, Arena *arena)
{
    enum { LINES = 8 };
    int *have = arena_array(arena, int, (size_t)ops->n), most = 0, printed = 0;
    OpFound *best = arena_array(arena, OpFound, (size_t)ops->n);
    for (int k = 0; k < n; k++) {
        const OpFound *of = ops_search(arena, ops, &words[k], 1, OP_FOUND_LINE);
        for (int i = 0; i < ops->n; i++) {
            have[i] += ops->at[i].group != NULL && of[i] != OP_FOUND_NOT;
            best[i] = of[i] > best[i] ? of[i] : best[i];
            most = have[i] > most ? have[i] : most;
        }
    }
    for (int place = OP_FOUND_FIRST; place >= OP_FOUND_LINE && most > 0; place--) {
        for (int i = 0; i < ops->n && printed < LINES; i++) {
            if (have[i] == most && (int)best[i] == place) {
                print_line(&ops->at[i]);
                printed++;
            }
        }
    }
}

static int unknown_operator(const Ops *ops, char *const *words, int n, Arena *arena)
{
    const char *name = words[0];
    if (n > 1) {
        print_nearest(ops, words, n, arena);
        return usage_error("no operator has all of these words; `pipec ops` lists all operators");
    }
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

static void print_peer(const Peer *peer, Arena *arena)
{
    if (peer->here[0] == '\0') {
        printf("there is nothing like %s (%s) here\n", peer->name, peer->package);
    } else {
        printf("%s (%s) is written here: %s\n", peer->name, peer->package, ops_peer_spelled(peer, arena));
    }
}

/* Operators that are found in such places, the best first. */
static int print_found(const Ops *ops, const OpFound *of, int best, int least)
{
    int found = 0;
    for (int place = best; place >= least; place--) {
        for (int i = 0; i < ops->n; i++) {
            if (ops->at[i].group != NULL && (int)of[i] == place) {
                print_line(&ops->at[i]);
                found++;
            }
        }
    }
    return found;
}

/* Names of other packages that have all words. */
static int print_found_peers(char *const *words, int n, bool behind, Arena *arena)
{
    int found = 0;
    for (int i = 0; i < OPS_PEERS_N; i++) {
        if (ops_search_peer(&OPS_PEERS[i], words, n)) {
            fputs(found == 0 && behind ? "\n" : "", stdout);
            print_peer(&OPS_PEERS[i], arena);
            found++;
        }
    }
    return found;
}

/* "IdentifyPrimaryObjects (CellProfiler) is written here: ...", of functions that no operator or peer has found. */
static int print_interfaces(char *const *words, int n)
{
    const char *package = "";
    int found = 0;
    for (int i = 0; i < OPS_INTERFACES_N; i++) {
        const Interface *row = &OPS_INTERFACES[i];
        package = row->kind == INTERFACE_PACKAGE ? row->name : package;
        if (!ops_is_interface(row, words, n)) {
            continue;
        }
        const int name = (int)strcspn(row->name, "(");
        const char *note = row->note, *colon = note[0] != '\0' ? "; " : "";
        if (row->kind == INTERFACE_NONE) {
            printf("there is nothing like %.*s (%s) here%s%s\n", name, row->name, package, colon, note);
        } else {
            const bool lines = strchr(row->here, '\n') != NULL;
            printf("%.*s (%s) is written here:%s%s%s%s\n", name, row->name, package, lines ? "\n" : " ", row->here,
                   lines && colon[0] != '\0' ? "\n# " : colon, note);
        }
        found++;
    }
    return found;
}

/* Operators, then other packages' names. What only the long texts have counts where there is nothing else. */
static int search(const Ops *ops, char *const *words, int n, Arena *arena)
{
    const OpFound *of = ops_search(arena, ops, words, n, OP_FOUND_TEXT);
    int found = print_found(ops, of, OP_FOUND_FIRST, OP_FOUND_LINE);
    found += print_found_peers(words, n, found > 0, arena);
    found = found > 0 ? found : print_interfaces(words, n);
    found = found > 0 ? found : print_found(ops, of, OP_FOUND_TEXT, OP_FOUND_TEXT);
    return found > 0 ? CODE_OK : unknown_operator(ops, words, n, arena);
}

/* Every word that the language knows, with its kind: what editors colour is made of it (editors/make_grammars.py). */
static int print_words(const Ops *ops)
{
    const char *word;
    for (size_t i = 0; (word = fe_keyword(i)) != NULL; i++) {
        printf("keyword %s\n", word);
    }
    for (size_t i = 0; (word = fe_unit(i)) != NULL; i++) {
        printf("unit %s\n", word);
    }
    for (int i = 0; i < ops->n; i++) {
        if (ops->at[i].group != NULL) {
            printf("operator %s\n", ops->at[i].name);
        }
    }
    for (int i = 0; i < MEASURE_IDS; i++) {
        printf("property %s\n", MEASURES[i].name);
    }
    return CODE_OK;
}

static int ops_of(int argc, char **argv, Arena *arena)
{
    const Ops *ops = ops_load(arena);
    char **words = arena_array(arena, char *, (size_t)argc);
    int n = 0;
    bool source = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--source") == 0) {
            source = true;
        } else if (strcmp(argv[i], "--markdown") == 0) {
            print_operators(ops, arena);
            return CODE_OK;
        } else if (strcmp(argv[i], "--words") == 0) {
            return print_words(ops);
        } else if (strcmp(argv[i], "--migration") == 0 && i + 1 < argc) {
            return print_migration(ops, argv[i + 1], arena);
        } else {
            words[n++] = argv[i];
        }
    }
    if (n == 0) {
        print_list(ops);
        return CODE_OK;
    }
    const Op *op = n == 1 ? ops_find(ops, words[0]) : NULL;
    if (op != NULL && source) {
        return print_source(op);
    }
    if (op != NULL) {
        print_page(op, arena);
        return CODE_OK;
    }
    n = ops_telling_words(words, n);
    return source ? unknown_operator(ops, words, n, arena) : search(ops, words, n, arena);
}

int cmd_ops(int argc, char **argv)
{
    Arena arena;
    driver_arena(&arena);
    int code = ops_of(argc, argv, &arena);
    arena_free(&arena);
    return code;
}
