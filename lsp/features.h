/*
 * features: answers about a document, each as the `result` of its request; NULL is null.
 */
#ifndef LSP_FEATURES_H
#define LSP_FEATURES_H

#include "document.h"

#include "../frontend/ops/ops.h"

/* An array of mistakes and warnings. */
cJSON *feature_diagnostics(Document *document);
/* The page of an operator, or what is known of a name. */
cJSON *feature_hover(Document *document, const Ops *ops, int byte);
/* Names before this place, operators, words; within a call the names of arguments; behind a dot the properties. */
cJSON *feature_completion(Document *document, const Ops *ops, int byte);
/* Where a name gets its value, or the function in the prelude that an operator is. */
cJSON *feature_definition(Document *document, const Ops *ops, int byte);
/* The edits of `pipec fmt`; none where the text cannot be read. */
cJSON *feature_formatting(Document *document);
/* The kinds of names, behind the words that give them, between two places. */
cJSON *feature_hints(Document *document, int from, int to);
/* Edits that mend mistakes, as they propose it, between two places. */
cJSON *feature_fixes(Document *document, int from, int to);

#endif
