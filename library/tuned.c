/* tuned: lines of words and numbers; what somebody else wrote there is not taken. */
#include "tuned.h"

#include "../base/digest.h"
#include "../base/file.h"
#include "../base/str.h"
#include "../runtime/device/cl_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 160, WORD = 32 };

/* The file is there while the cache is open. */
static bool open_plan(const char *hash, const char *device, ClCache *cache, char path[PATH_SIZE], Err *err)
{
    char key[DIGEST_TEXT];
    Digest digest;
    digest_begin(&digest);
    digest_add_text(&digest, hash);
    digest_add_text(&digest, device);
    digest_end(&digest, key);
    TRY(cl_cache_open(NULL, cache, err));
    snprintf(path, PATH_SIZE, "%s/plan-%.32s", cache->path, key);
    return cache->fd >= 0 ||
           err_set(err, CODE_OUTPUT, "there is no folder to keep plans in: neither XDG_CACHE_HOME nor HOME is set");
}

static bool read_line(const char *line, Decision *to)
{
    char word[WORD];
    int taken, a, b;
    if (sscanf(line, "%31s %d %d %d", word, &a, &b, &taken) != 4 || a < 0 || b < 0 || (taken != 0 && taken != 1)) {
        return false;
    }
    for (int kind = 0; kind < DECISION_KIND_COUNT; kind++) {
        if (strcmp(decision_word((DecisionKind)kind), word) == 0) {
            *to = (Decision){.kind = (DecisionKind)kind, .a = (IrId)a, .b = (IrId)b, .taken = taken == 1};
            return true;
        }
    }
    return false;
}

bool tuned_load(const char *hash, const char *device, Arena *arena, const Decision **out, int *n)
{
    char path[PATH_SIZE], *text = NULL;
    size_t size;
    ClCache cache;
    Err ignored = {0};
    Vec(Decision) plan = {0};
    bool ok = open_plan(hash, device, &cache, path, &ignored) && file_read(path, &text, &size, &ignored);
    cl_cache_close(&cache);
    for (char *line = ok ? text : NULL; line != NULL && *line != '\0';
         line += strcspn(line, "\n"), line += *line == '\n') {
        Decision decision;
        if (read_line(line, &decision)) {
            vec_push(arena, &plan, decision);
        }
    }
    free(text);
    *out = plan.at;
    *n = plan.n;
    return ok;
}

bool tuned_store(const char *hash, const char *device, const Decision *plan, int n, Arena *arena, Err *err)
{
    char path[PATH_SIZE];
    ClCache cache;
    Str text;
    str_init(&text, arena);
    for (int i = 0; i < n; i++) {
        str_addf(&text, "%s %d %d %d %s\n", decision_word(plan[i].kind), (int)plan[i].a, (int)plan[i].b, plan[i].taken,
                 plan[i].name);
    }
    bool ok = open_plan(hash, device, &cache, path, err) && file_write(path, text.at, text.n, err);
    cl_cache_close(&cache);
    return ok;
}
