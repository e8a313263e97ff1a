/*
 * server: what an editor asks of pipec: mistakes while one types, pages of operators, completion, definitions, the one
 * format, fixes, and the kinds of names, over stdin and stdout.  https://microsoft.github.io/language-server-protocol, 3.17
 */
#ifndef LSP_SERVER_H
#define LSP_SERVER_H

#include <stdio.h>

/* Serves one editor until it leaves; 0 when it said so before, else 1. */
int lsp_serve(FILE *from, FILE *to);

#endif
