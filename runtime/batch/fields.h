/*
 * fields: lines of text fields, separated by tabs, as the files have them that one run leaves for another.
 */
#ifndef RUNTIME_FIELDS_H
#define RUNTIME_FIELDS_H

#include <stdio.h>

/* Writes a field and the tab behind it. */
void fields_put(FILE *to, const char *text);
/* Takes a line (without its end) apart in place: at most `room` fields, which lie in it; returns how many. */
int fields_split(char *line, char **fields, int room);

#endif
