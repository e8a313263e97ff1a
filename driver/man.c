/* man: the manual page pipec(1), made from the tables of commands and options when pipec is built. */
#include "driver.h"

#include "../runtime/command/options.h"

#include <stdio.h>
#include <string.h>

/* Text of a page: what roff would take for its own is escaped. */
static void put(const char *text)
{
    if (text[0] == '.' || text[0] == '\'') {
        fputs("\\&", stdout);
    }
    for (; *text != '\0'; text++) {
        fputs(*text == '-' ? "\\-" : *text == '\\' ? "\\e" : *text == '`' ? "\\(ga" : (char[2]){*text, '\0'}, stdout);
    }
    putchar('\n');
}

static void put_item(const char *left, const char *text)
{
    puts(".TP");
    fputs(".B ", stdout);
    put(left);
    put(text);
}

static void put_options(void)
{
    puts(".SH OPTIONS OF RUNS\nOf\n.B pipec run\nand\n.B pipec try,\nand of executables that\n.B pipec build\nmakes.");
    for (int i = 0; i < OPTION_ROW_COUNT; i++) {
        const OptionRow *row = &OPTION_ROWS[i];
        const char *argument = row->argument != NULL ? row->argument : "";
        const char letter[] = {'-', row->letter, ',', ' ', '\0'};
        char left[100];
        snprintf(left, sizeof left, "%s--%s%s%s", row->letter != 0 ? letter : "", row->name,
                 argument[0] != '\0' && argument[0] != '[' ? " " : "", argument);
        put_item(left, row->help);
    }
}

void man_begin(void)
{
    puts(
        ".TH PIPEC 1 \"\" \"pipec " PIPEC_VERSION "\" \"User Commands\"\n"
        ".SH NAME\npipec \\- image\\-analysis pipelines as programs for GPUs and CPUs\n"
        ".SH SYNOPSIS\n.B pipec\n.I COMMAND\n[\n.I ARGUMENT\n\\&... ]\n"
        ".SH DESCRIPTION\n"
        "A pipeline is a short text that describes an image analysis as formulas. pipec runs it, or makes an executable "
        "of it, as few fused OpenCL kernels. Every device gives the same result, to the last bit. Images larger than "
        "memory run in parts.\n"
        ".SH COMMANDS");
}

void man_item(const char *left, const char *text)
{
    put_item(left, text);
}

void man_compile_options(void)
{
    puts(".SH OPTIONS OF ALL COMMANDS THAT COMPILE\nNone of them changes a result.");
}

void man_end(void)
{
    put_options();
    puts(".SH EXIT STATUS");
    static const char *const CODES[][2] = {{"0", "all is done"},
                                           {"1", "some images failed for good"},
                                           {"2", "wrong usage, or mistakes in the pipeline"},
                                           {"3", "no usable device"},
                                           {"4", "it does not fit into memory"},
                                           {"5", "an output cannot be written"},
                                           {"75", "something was in the way that may pass; a retry may succeed"},
                                           {"130, 143", "interrupted; ended by SIGTERM"}};
    for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++) {
        put_item(CODES[i][0], CODES[i][1]);
    }
    puts(".SH FILES\n.TP\n.I ~/.cache/pipec\ncompiled kernels, and what has been measured of devices");
    puts(".SH ENVIRONMENT");
    put_item("XDG_CACHE_HOME", "the folder of the cache, instead of ~/.cache");
    put_item("TMPDIR", "where pixels go that fit neither on the device nor on the host");
    puts(".SH EXAMPLES\n.nf\npipec check blobs.pipe\npipec run blobs.pipe plate/ \\-o out \\-\\-sigma 3\n"
         "pipec try blobs.pipe blobs.tif\npipec build blobs.pipe \\-o blobs\npipec ops edge\n.fi\n"
         ".SH SEE ALSO\nThe folder\n.I share/doc/pipec\nhas the language, all operators, limits and samples.");
}
