/* pipelines: from the text of a pipeline, or of a graph, to the graph and back, for tests. */
#ifndef TESTS_SUPPORT_PIPELINES_H
#define TESTS_SUPPORT_PIPELINES_H

#include "frontend/elaborate/elaborate.h"

/* What fe_elaborate_with wants, made once in a process: to parse the prelude takes longer than most
 * pipelines. */
FeLibrary *pipeline_library(void);

/* The graph of a pipeline, in the arena; NULL with the compiler's complaints in *complaints. */
IrGraph *pipeline_graph(Arena *to, const char *path, const char *text, const char **complaints);
/* The same, in the arena of fixtures.h; the test fails where there is no graph. */
IrGraph *pipeline_must(const char *path, const char *text);
/* The text of a graph, in its arena. */
const char *pipeline_print(const IrGraph *g);
/* The graph of such a text; NULL with the error in *complaints. */
IrGraph *pipeline_parse(Arena *to, const char *path, const char *text, const char **complaints);

#endif
