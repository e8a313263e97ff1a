/* span: from byte offsets to lines and columns. */
#include "span.h"

#include <stddef.h>

void span_line_column(Span span, int *line, int *column)
{
    *line = 1;
    *column = 1;
    if (span.source == NULL) {
        return;
    }
    for (int i = 0; i < span.begin && span.source->text[i] != '\0'; i++) {
        if (span.source->text[i] == '\n') {
            (*line)++;
            *column = 1;
        } else {
            (*column)++;
        }
    }
}

const char *source_line(const Source *source, int line, int *length)
{
    const char *p = source->text;
    for (int at = 1; at < line && *p != '\0'; p++) {
        if (*p == '\n') {
            at++;
        }
    }
    *length = 0;
    while (p[*length] != '\0' && p[*length] != '\n') {
        (*length)++;
    }
    return p;
}
