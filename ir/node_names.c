/*
 * node_names: a name for each node that no other one has.
 *
 * A loop that is unrolled makes thousands of nodes which all want the same name.  So who has a name is
 * found by a hash table, and each name remembers the number that its next double gets.
 */
#include "ir.h"

#include <string.h>

typedef struct Use {
    const char *name; /* NULL: nothing stands here */
    IrId node;        /* the last that was called so; it may be dead now, or have another name */
    int next;         /* the number of the next double */
} Use;

struct IrNames {
    Use *at; /* open addressing */
    int n, cap;
    IrId known; /* nodes below have been entered */
};

static Use *place_of(const struct IrNames *names, const char *name)
{
    uint32_t h = 2166136261u;
    for (const char *p = name; *p != '\0'; p++) {
        h = (h ^ (unsigned char)*p) * 16777619u;
    }
    uint32_t at = h & (uint32_t)(names->cap - 1);
    while (names->at[at].name != NULL && strcmp(names->at[at].name, name) != 0) {
        at = (at + 1) & (uint32_t)(names->cap - 1);
    }
    return &names->at[at];
}

static void grow(IrGraph *g)
{
    struct IrNames *names = g->names;
    const Use *old = names->at;
    int cap = names->cap;
    names->cap = cap == 0 ? 64 : 2 * cap;
    names->at = arena_array(g->arena, Use, names->cap);
    for (int i = 0; i < cap; i++) {
        if (old[i].name != NULL) {
            *place_of(names, old[i].name) = old[i];
        }
    }
}

/* Valid until the next one is asked for. */
static Use *use_of(IrGraph *g, const char *name)
{
    struct IrNames *names = g->names;
    if (2 * (names->n + 1) > names->cap) {
        grow(g);
    }
    Use *use = place_of(names, name);
    if (use->name == NULL) {
        *use = (Use){.name = name, .next = 2};
        names->n++;
    }
    return use;
}

static bool is_taken(IrGraph *g, const char *name)
{
    const Use *use = use_of(g, name);
    const bool is_there = use->node != 0 && (int)use->node < g->nodes.n && !ir_node(g, use->node)->dead;
    return is_there && strcmp(ir_node(g, use->node)->name, name) == 0;
}

static void enter_new_nodes(IrGraph *g)
{
    if (g->names == NULL) {
        g->names = arena_new(g->arena, struct IrNames);
    }
    if ((int)g->names->known > g->nodes.n) {
        g->names->known = (IrId)g->nodes.n; /* nodes were taken back */
    }
    for (IrId id = g->names->known; id < (IrId)g->nodes.n; id++) {
        use_of(g, ir_node(g, id)->name)->node = id;
    }
    g->names->known = (IrId)g->nodes.n;
}

const char *ir_free_name(IrGraph *g, const char *wanted)
{
    enter_new_nodes(g);
    const char *name = wanted;
    while (is_taken(g, name)) {
        name = arena_printf(g->arena, "%s_%d", wanted, use_of(g, wanted)->next++);
    }
    return name;
}

void ir_rename(IrGraph *g, IrId node, const char *wanted)
{
    ir_node(g, node)->name = "";
    const char *name = ir_free_name(g, wanted);
    ir_node(g, node)->name = name;
    use_of(g, name)->node = node;
}

void ir_copy_names(const IrGraph *from, IrGraph *to)
{
    if (from->names == NULL) {
        return;
    }
    to->names = arena_new(to->arena, struct IrNames);
    *to->names = *from->names;
    to->names->at = arena_array(to->arena, Use, from->names->cap);
    if (from->names->cap > 0) {
        memcpy(to->names->at, from->names->at, sizeof(Use) * (size_t)from->names->cap);
    }
}
