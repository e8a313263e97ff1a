/* soften_state: types, names in scope and expressions, for the files of soften. */
#ifndef RUNTIME_SOFTEN_STATE_H
#define RUNTIME_SOFTEN_STATE_H

#include "preprocess.h"

#include "../../base/str.h"

typedef struct Type Type;

typedef struct Field {
    const char *name; /* NULL: a parameter without one */
    const Type *type;
} Field;

typedef Vec(Field) Fields;

typedef enum Form { FORM_NUMBER, FORM_RECORD, FORM_POINTER, FORM_FUNCTION } Form;

typedef enum Scalar { VOID, BOOL, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, FLOAT, DOUBLE } Scalar;

struct Type {
    Form form;
    Scalar scalar;        /* of a number */
    int lanes;            /* of a vector, else 1 */
    const Type *to;       /* pointers and arrays: of an element; functions: of the result */
    const Fields *fields; /* of a record, parameters of a function */
};

/* How tightly a text holds together, from a comma up to a name: lower ones need brackets in higher places. */
enum { RANK_COMMA, RANK_ASSIGN, RANK_CHOICE, RANK_OR, RANK_UNARY = 14, RANK_POSTFIX };

typedef struct Value {
    const char *text;
    const Type *type;
    int rank;
    bool literal; /* a number that stands there */
    double number;
} Value;

typedef struct Softener {
    Arena *arena;
    TextFault fault;
    Token *at;
    Fields names;       /* variables and functions in scope, the latest last */
    Fields types;       /* typedefs */
    Fields records;     /* tags */
    const Type *result; /* of the function that is read */
    bool fma;           /* the device's own, of f32 */
    int nested;
    Str out;
} Softener;

/* ---- soften_types.c: types and declarations' parts --------------------------------------- */

const Type *soften_scalar(Scalar scalar);
const Type *soften_pointer(Softener *s, const Type *to);
bool soften_is_double(const Type *type);
const char *soften_scalar_name(Scalar scalar);
/* The type with a name such as `uint4`; NULL: there is none. */
const Type *soften_named_type(Softener *s, const char *name);
/* NULL: there is none of that name. */
const Type *soften_find(const Fields *fields, const char *name);

bool soften_accept(Softener *s, const char *text);
void soften_expect(Softener *s, const char *text);
bool soften_starts_type(Softener *s, const Token *t);
/* Words of a type, qualifiers and attributes; their text. */
const char *soften_specifiers(Softener *s, const Type **type, bool *is_typedef);
/* What a declaration says of one name: *name (NULL: none), *type from `base` to its own; its text. */
const char *soften_declarator(Softener *s, const Type *base, const char **name, const Type **type);
/* A type without a name, in brackets of casts. */
const char *soften_type_name(Softener *s, const Type **type);
/* __attribute__((...)), none or several. */
const char *soften_attributes(Softener *s);

/* ---- soften_expr.c ----------------------------------------------------------------------- */

Value soften_expression(Softener *s);
Value soften_assignment(Softener *s);
/* As text of a type. */
const char *soften_as(Softener *s, Value v, const Type *type);
/* As text of something that is true or not. */
const char *soften_condition(Softener *s, Value v);
/* An initializer, of braces or not. */
const char *soften_initializer(Softener *s, const Type *type);

#endif
