/*
 * elem: the element types of pixels, as files store them, as device buffers hold them and as
 * OpenCL C spells them.  One enumeration for the whole project.
 *
 * ELEM_BOOL is one byte, 0 or 1.  ELEM_FILE stands for "whatever type the input file has"; the
 * run replaces it, the compiler only ever spells it through the input's type macro.
 */
#ifndef BASE_ELEM_H
#define BASE_ELEM_H

#include <stddef.h>
#include <stdbool.h>

typedef enum Elem {
    ELEM_NONE,
    ELEM_BOOL,
    ELEM_U8,
    ELEM_U16,
    ELEM_I16,
    ELEM_U32,
    ELEM_I32,
    ELEM_F32,
    ELEM_F64,
    ELEM_FILE,
    ELEM_COUNT
} Elem;

/* Bytes of one element; 0 for ELEM_NONE and ELEM_FILE. */
size_t elem_size(Elem e);
/* The type of pixels of a file of this type that were moved: bits become bytes, which hold 0 and 1. */
Elem elem_kept(Elem file);
/* "u8", "f32", "bool" ...: the name in .pipe files, messages and printed graphs. */
const char *elem_name(Elem e);
/* "uchar", "float" ...: the name in OpenCL C. */
const char *elem_cl_name(Elem e);
/* The type called `name`, or ELEM_NONE. */
Elem elem_from_name(const char *name);
/* True for every integer type and bool. */
bool elem_is_integer(Elem e);
/* Smallest and largest value that the type can hold; the infinities for floats. */
double elem_min(Elem e);
double elem_max(Elem e);
/* Element `i` of an array, as a double and back; what is put must be a value of the type. */
double elem_get(const void *from, size_t i, Elem e);
void elem_put(void *to, size_t i, Elem e, double value);

#endif
