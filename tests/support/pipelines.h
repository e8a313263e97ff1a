/* pipelines: from the text of a pipeline, or of a graph, to the graph and back, for tests. */
#ifndef TESTS_SUPPORT_PIPELINES_H
#define TESTS_SUPPORT_PIPELINES_H

#include "ir/ir.h"

/* The graph of a pipeline, in the arena; NULL with the compiler's complaints in *complaints. */
IrGraph *pipeline_graph(Arena *arena, const char *path, const char *text, const char **complaints);
/* The text of a graph, in its arena. */
const char *pipeline_print(const IrGraph *g);
/* The graph of such a text; NULL with the error in *complaints. */
IrGraph *pipeline_parse(Arena *arena, const char *path, const char *text, const char **complaints);

#endif
