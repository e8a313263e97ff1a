/* run: the runner; passes.def is its program. */
#include "pass.h"

#include "../ir/verify.h"

#include <assert.h>
#include <string.h>

#define P(name, what) {#name, what, pass_##name},
const PassInfo PASSES[] = {
#include "passes.def"
};
#undef P
const int PASS_COUNT = sizeof PASSES / sizeof *PASSES;

static bool is_wanted(const char *only, const char *name)
{
    if (only == NULL) {
        return true;
    }
    size_t n = strlen(name);
    for (const char *p = only; *p != '\0'; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
        if (strcspn(p, ",") == n && strncmp(p, name, n) == 0) {
            return true;
        }
    }
    return false;
}

const IrSchedule *pass_run_all(IrGraph *g, PassContext *cx)
{
    assert(cx->fuse <= FUSE_ALL);
    if (cx->verify) {
        ir_verify(g, "lowering");
    }
    pass_narrow(g);
    for (int i = 0; i < PASS_COUNT; i++) {
        if (!is_wanted(cx->only, PASSES[i].name)) {
            continue;
        }
        PASSES[i].run(g, cx);
        if (cx->verify) {
            ir_verify(g, PASSES[i].name);
        }
        if (cx->after != NULL) {
            cx->after(g, PASSES[i].name, cx->user);
        }
    }
    pass_narrow(g); /* gathers are images of their own now */
    return pass_group(g, cx);
}
