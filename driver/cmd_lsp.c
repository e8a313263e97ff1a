/* lsp: the language server, which editors start. */
#include "driver.h"

#include "../lsp/server.h"

int cmd_lsp(int argc, char **argv)
{
    (void)argv;
    return argc > 1 ? usage_error("pipec lsp takes no argument; an editor starts it") : lsp_serve(stdin, stdout);
}
