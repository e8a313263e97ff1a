/*
 * names: what output files are called.
 *
 * A template such as 'out/{stem}_{output}.{ext}' has the fields
 *
 *     {stem}    the input's name without folder and extension (.ome.tif and .fits.gz count as one); that of
 *               plate.zarr/A/1/0 is plate_A_1_0
 *     {name}    the input's name without folder; {name}[DQ] of x.fits[SCI] is x.fits[DQ]
 *     {dir}     the input's folder, "." for the current one
 *     {output}  the output's name in the pipeline
 *     {ext}     the output's extension, without point
 *     {index}   the input's number, from 0
 *
 * and {{ and }} for braces.  An unknown field is an error that lists the known ones.
 */
#ifndef RUNTIME_NAMES_H
#define RUNTIME_NAMES_H

#include "../../base/err.h"

#include <stddef.h>

typedef struct NameFields {
    const char *input;  /* path of the input; for pipelines without one, the program's name */
    const char *output; /* name of the output; NULL: the template may not ask */
    const char *ext;    /* extension of the output; NULL: the template may not ask */
    long index;         /* number of the input; -1: the template may not ask */
} NameFields;

/* The name of an image in its path: without the folder, of what lies in a folder of zarr from that one on:
 * "plate.zarr/A/1/0". */
const char *names_of_image(const char *path);

/* The template behind what the user gave to -o: NULL and folders (existing ones but those of zarr, or a final slash)
 * get '{stem}_{output}.{ext}' appended. */
bool names_template(const char *option, char *to, size_t size, Err *err);

/* Checks a template without expanding it: CODE_USAGE. */
bool names_check(const char *text, Err *err);

/* Expands a template into at most `size` bytes: CODE_USAGE. */
bool names_expand(const char *text, const NameFields *fields, char *to, size_t size, Err *err);

/* A name and the input that it comes from, which is what messages call it. */
typedef struct NameUse {
    const char *name;
    const char *source;
} NameUse;

/*
 * Fails when two outputs would get the same name, or when an output would replace one of the
 * inputs.  Places are compared, as below.  Neither array is changed.
 */
bool names_distinct(const NameUse *outputs, size_t n, const char *const *inputs, size_t n_inputs, Err *err);

/* Fails when an output's name leads to an input that was given under another name: through a link, or because
 * the file has two names. */
bool names_keep_inputs(const NameUse *outputs, size_t n, const char *const *inputs, size_t n_inputs, Err *err);

/*
 * A text that is the same for all spellings of a path (a//b, ./a, /home/me/a, through a link to its folder):
 * which folder it is, and the name in it.  Owned by the caller (free); NULL: out of memory.
 */
char *names_place(const char *path);

#endif
