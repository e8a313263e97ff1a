/* merge: the runtime does it (shard.h), for every pipeline that has left something in the folders. */
#include "driver.h"

#include "../runtime/batch/shard.h"

#include <stdlib.h>

int cmd_merge(int argc, char **argv)
{
    const char **folders = calloc((size_t)argc + 1, sizeof *folders), *output = NULL;
    int n = 0, code = CODE_USAGE;
    if (folders == NULL) {
        return complain(&(Err){.code = CODE_MEMORY, .text = "out of memory"});
    }
    bool known = true;
    for (int i = 1; i < argc && known; i++) {
        if (take_value(argc, argv, &i, "-o", &output) || take_value(argc, argv, &i, "--output", &output)) {
            continue;
        }
        known = argv[i][0] != '-';
        folders[n++] = argv[i];
    }
    if (!known) {
        usage_error("merge: '%s' is not known here, or lacks its value; pipec merge FOLDER... [-o FOLDER]",
                    folders[n - 1]);
    } else if (n == 0) {
        usage_error("which folder? pipec merge FOLDER...");
    } else {
        code = shard_merge(folders, n, output, NULL, 0, "pipec merge");
    }
    free(folders);
    return code;
}
