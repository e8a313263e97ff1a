/*
 * json: text in JSON.
 */
#ifndef RUNTIME_JSON_H
#define RUNTIME_JSON_H

#include <stdio.h>

/* A string with its quotes; NULL is the empty one. */
void json_put_text(FILE *to, const char *text);

#endif
