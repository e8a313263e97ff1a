/* span: from byte offsets to lines and columns. */
#include "span.h"

#include <stddef.h>
#include <string.h>

int source_line_end(const char *p)
{
    return *p == '\n' ? 1 : *p != '\r' ? 0 : p[1] == '\n' ? 2 : 1;
}

void span_line_column(Span span, int *line, int *column)
{
    *line = 1;
    *column = 1;
    if (span.source == NULL) {
        return;
    }
    const char *text = span.source->text;
    for (int i = 0, begin = 0; i < span.begin && text[i] != '\0';) {
        int end = source_line_end(text + i);
        i += end > 0 ? end : 1;
        if (end > 0 && i <= span.begin) {
            (*line)++;
            begin = i;
        }
        *column = (i < span.begin ? i : span.begin) - begin + 1;
    }
}

const char *source_line(const Source *source, int line, int *length)
{
    const char *p = source->text;
    for (int at = 1; at < line && *p != '\0'; at++) {
        p += strcspn(p, "\r\n");
        p += source_line_end(p);
    }
    *length = (int)strcspn(p, "\r\n");
    return p;
}
