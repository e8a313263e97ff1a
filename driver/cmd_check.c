/* check and fmt: diagnostics alone, and the one format. */
#include "driver.h"

#include "../base/file.h"

#include <stdio.h>
#include <string.h>

int cmd_check(int argc, char **argv)
{
    CompileOptions options;
    if (!take_compile_options(&argc, argv, &options)) {
        return CODE_USAGE;
    }
    if (argc < 2) {
        return usage_error("which file? pipec check FILE.pipe");
    }
    int code = CODE_OK;
    for (int i = 1; i < argc; i++) {
        Compilation c;
        if (!compile(&c, argv[i], &options, STAGE_PROGRAM)) {
            code = CODE_USAGE;
        }
        compile_free(&c);
    }
    return code;
}

static int format_one(const char *path, bool check, const CompileOptions *options)
{
    Compilation c;
    int code = CODE_USAGE;
    if (compile(&c, path, options, STAGE_PARSE)) {
        Str text;
        str_init(&text, &c.arena);
        ast_format(c.file, &text);
        bool same = strcmp(text.at, c.source.text) == 0;
        Err err = {0};
        code = CODE_OK;
        if (check && !same) {
            fprintf(stderr, "pipec: %s is not formatted; `pipec fmt %s` does it\n", path, path);
            code = CODE_FILES;
        } else if (!check && !same && !file_write(path, text.at, text.n, &err)) {
            code = complain(&err);
        }
    }
    compile_free(&c);
    return code;
}

int cmd_fmt(int argc, char **argv)
{
    const CompileOptions options = {.fuse = FUSE_ALL};
    bool check = false;
    int code = CODE_OK, files = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0) {
            check = true;
            continue;
        }
        if (argv[i][0] == '-') {
            return usage_error("fmt: there is no option '%s'; pipec fmt [--check] FILE.pipe...", argv[i]);
        }
        int one = format_one(argv[i], check, &options);
        code = one != CODE_OK ? one : code;
        files++;
    }
    return files > 0 ? code : usage_error("which file? pipec fmt FILE.pipe");
}
