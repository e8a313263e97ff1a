/*
 * noteworthy: what is said of an image that has been opened and will not fail: that a part of its file is
 * not read, that the pipeline goes along an axis which it hardly has, or looks where it has no pixels.
 */
#ifndef RUNTIME_NOTEWORTHY_H
#define RUNTIME_NOTEWORTHY_H

#include "notes.h"
#include "reader.h"

/* `notes` may be NULL. */
void noteworthy(Notes *notes, const Program *program, const Options *options, const BatchItem *item,
                const Reader *reader);

#endif
