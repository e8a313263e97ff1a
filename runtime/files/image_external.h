/*
 * image_external: images that a program reads for the run, by the protocol of docs/readers.md: one that the user names, or
 * pipec's own for the formats of microscopes.
 */
#ifndef RUNTIME_FILES_IMAGE_EXTERNAL_H
#define RUNTIME_FILES_IMAGE_EXTERNAL_H

#include "image_format.h"

/*
 * The program that the user names, "PROGRAM" or ".nd2,.czi=PROGRAM", which is borrowed for good; NULL: none.  Called before
 * files are looked at.  `seconds` are for each of its answers; 0: the usual time.
 */
bool image_external_use(const char *reader, int seconds, Err *err);

/* True for files and folders with the endings that the user named: the program reads them, whatever they contain. */
bool image_external_claims(const char *file);
/* True for other files that a program may know, when pipec does not. */
bool image_external_may_read(const char *file);

extern const ImageFormat image_external;

#endif
