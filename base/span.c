/* span: from byte offsets to lines and columns. */
#include "span.h"

#include <stddef.h>
#include <string.h>

int source_line_end(const char *p)
{
    return *p == '\n' ? 1 : *p != '\r' ? 0 : p[1] == '\n' ? 2 : 1;
}

Source *source_new(Arena *arena, const char *path, const char *text)
{
    Source *source = arena_new(arena, Source);
    *source = (Source){.path = path, .text = text};
    const char *p = text;
    for (int end = 1; end > 0; p += end) {
        vec_push(arena, &source->lines, (int)(p - text));
        p += strcspn(p, "\r\n");
        end = source_line_end(p);
    }
    source->size = (int)(p - text);
    return source;
}

int source_line_of(const Source *source, int offset)
{
    int low = 0, high = source->lines.n; /* it begins at or behind line `low`, and before `high` */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(source->lines.at[middle] <= offset ? &low : &high) = middle;
    }
    return low + 1;
}

void span_line_column(Span span, int *line, int *column)
{
    *line = *column = 1;
    if (span.source != NULL) {
        *line = source_line_of(span.source, span.begin);
        int at = span.begin < span.source->size ? span.begin : span.source->size;
        *column = at - span.source->lines.at[*line - 1] + 1;
    }
}

const char *source_line(const Source *source, int line, int *length)
{
    const char *p = source->text + (line <= source->lines.n ? source->lines.at[line - 1] : source->size);
    *length = (int)strcspn(p, "\r\n");
    return p;
}
