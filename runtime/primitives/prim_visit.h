/*
 * prim_visit: what the primitives that walk over computed pixels share on the host: putting a
 * kernel's text together, and cutting the image into tiles (kernels/visit.cl).
 */
#ifndef RUNTIME_PRIM_VISIT_H
#define RUNTIME_PRIM_VISIT_H

#include "prim.h"

/* True when the call's kernels take the shape for CPUs: groups of one work-item. */
bool visit_is_cpu(const PrimCall *call);
/* Work-items of a group of kernels/visit.cl. */
size_t visit_group(const PrimCall *call);
/* Tiles that the call's image is cut into. */
uint32_t visit_tiles(const PrimCall *call);
/* Groups that keep the device busy while each takes tile after tile; at most one a tile.
 * `light`: for work that is short, or costs something for each group. */
size_t visit_groups(const PrimCall *call, bool light);
/* Refuses images whose pixels 32 bits cannot count. */
bool visit_check_count(const PrimCall *call);

extern const char kernel_text_visit[];

/* Builds defines, reader and the texts, which end with NULL. */
bool visit_program(const PrimCall *call, const char *defines, const char *const *texts, DevProgram **program);
/* The same for kernels that read nothing computed: without the reader, and without what only walking over the image
 * needs to know of its shape, so that it is the same program in all pipelines. */
bool visit_bare_program(const PrimCall *call, const char *defines, const char *const *texts, DevProgram **program);

/* Enqueues `groups` groups of `group` work-items; with `reads` the reader's arguments go first. */
typedef struct VisitLaunch {
    DevProgram *program;
    const char *kernel;
    bool reads;
    size_t groups, group;
    const DevArg *args;
    int n_args;
} VisitLaunch;
bool visit_launch(const PrimCall *call, const VisitLaunch *launch);

#endif
