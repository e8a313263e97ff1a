/* parts_lines: rows of whole images, counted through all their planes. */
#include "parts_state.h"

const ExecGrid *parts_grid_of(const Run *run, int buffer)
{
    return &run->plan->grids[run->program->buffers[buffer].grid];
}

size_t parts_pitch_of(const Run *run, int buffer)
{
    return (size_t)parts_grid_of(run, buffer)->pitch * elem_size(run->plan->buffers[buffer].elem);
}

int64_t parts_lines_of(const Segment *seg, int buffer)
{
    return seg->plan->planes ? parts_grid_of(seg->run, buffer)->h : 1;
}

PartsSpan parts_span_of(const Run *run, int buffer, int64_t line, int64_t lines)
{
    int64_t h = parts_grid_of(run, buffer)->h, row = line % h;
    return (PartsSpan){line / h, row, lines < h - row ? lines : h - row};
}

bool parts_read_lines(Run *run, int buffer, int64_t line, int64_t lines, char *to)
{
    size_t bytes = parts_row_bytes(run->exec, buffer);
    for (int64_t done = 0; done < lines;) {
        PartsSpan span = parts_span_of(run, buffer, line + done, lines - done);
        TRY(!exec_stopped(run->exec, run->err));
        TRY(parts_read(&run->pixels, buffer, span, to + (size_t)done * bytes, run->err));
        done += span.rows;
    }
    return true;
}
