/* names: identifiers of C and OpenCL C made from the user's names. */
#include "names.h"

#include <ctype.h>
#include <string.h>

/* Keywords, types and built-in functions that a pipeline may well use as names, and the names
 * that generated kernels use themselves. */
static const char *const RESERVED[] = {
    "auto",   "break",  "case",    "char",    "const",    "continue", "default", "do",
    "double", "else",   "enum",    "extern",  "float",    "for",      "goto",    "if",
    "inline", "int",    "long",    "register", "restrict", "return",  "short",   "signed",
    "sizeof", "static", "struct",  "switch",  "typedef",  "union",    "unsigned", "void",
    "volatile", "while", "kernel", "global",  "local",    "constant", "private",
    "event_t", "bool",  "uchar",   "ushort",  "uint",     "ulong",    "size_t",  "half",
    "quad",   "true",   "false",   "read_only", "write_only", "read_write", "x", "y",
    "z",      "w",      "h",       "d",       "k",        "c",        "plane",   "pitch",
    "strip",  "values", "abs",     "acos",    "all",      "any",      "atan",    "barrier",
    "ceil",   "clamp",  "cos",     "cross",   "degrees",  "distance", "dot",     "erf",
    "exp",    "fabs",   "floor",   "fma",     "fmax",     "fmin",     "fmod",    "hypot",
    "length", "log",    "mad",     "max",     "min",      "mix",      "normalize", "pow",
    "prefetch", "printf", "radians", "rint",  "rotate",   "round",    "rsqrt",   "select",
    "shuffle", "sign",  "sin",     "sqrt",    "step",     "tan",      "trunc",   "y0",
    "y1",     "z0",     "z1",      "j0",      "j1",       "jn",       "main",    "program",
    "pipe",   "vector", "bitselect", "popcount", "clz",   "hadd",     "isnan",   "isinf",
    "smoothstep", "tgamma", "lgamma", "nan",  "ldexp",    "logb",     "modf",    "remainder",
    "convert", "signbit", "isequal", "asin",  "tanh",     "sinh",     "cosh",    "cbrt",
    "cols_from", "rows_from", "rows_to", "row_from", "plane_from", "part_y", "part_plane", "first", "planes",
    "last",   "begin",  "from",    "turn",    "side",     "i",        "j",       "m",
    "sum",    "end",    "wanted",  "slab",
    "log2", "log10", "log1p", "exp2", "exp10", "expm1", "pown", "powr", "rootn", "sincos", "sinpi", "cospi",
    "tanpi", "asinpi", "acospi", "atanpi", "atan2", "atan2pi", "acosh", "asinh", "atanh", "fdim", "fract",
    "frexp", "ilogb", "maxmag", "minmag", "nextafter", "remquo", "erfc", "copysign", "isfinite", "isnormal",
    "isordered", "isunordered", "isless", "islessequal", "islessgreater", "isgreater", "isgreaterequal",
    "isnotequal", "abs_diff", "add_sat", "sub_sat", "mad_hi", "mad_sat", "mul_hi", "mul24", "mad24", "rhadd",
    "upsample", "shuffle2", "vec_step", "ctz", "lgamma_r", "mem_fence", "read_mem_fence", "write_mem_fence",
    "asm", "typeof",
};

/* Parameters that tell about an image are its name and one of these. */
static const char *const SUFFIXES[] = {"_rows", "_row0", "_w", "_h", "_d", "_planes", "_pitch",
                                       "_t",    "_int",  "_f64",   "_stored", "_col0",
                                       "_seam_y", "_seam_z", "_first", "_end"};

static bool ends_like_a_parameter(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES; i++) {
        size_t m = strlen(SUFFIXES[i]);
        if (n > m && strcmp(name + n - m, SUFFIXES[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Temporaries of generated code, and types of vectors, are one of these and a number. */
static const char *const STEMS[] = {"t",      "u",     "i",    "s",     "s_",       "step",    "kernel", "window",
                                    "open",   "host",  "read_", "partials", "reduced", "until_", "px_carried",
                                    "char",   "uchar", "short", "ushort", "int", "uint", "long", "ulong",
                                    "float",  "double", "half"};

static bool is_like_a_temporary(const char *name)
{
    size_t n = strcspn(name, "0123456789");
    for (size_t i = 0; i < sizeof STEMS / sizeof *STEMS; i++) {
        if (strlen(STEMS[i]) == n && memcmp(STEMS[i], name, n) == 0) {
            return name[n] != '\0' && name[n + strspn(name + n, "0123456789")] == '\0';
        }
    }
    return false;
}

/* Families of functions, those of OpenCL C and of generated code. */
static const char *const FAMILIES[] = {"get_",  "px_",     "fn_",   "convert_", "as_",   "vload", "vstore",
                                       "atom_", "atomic_", "native_", "half_", "fast_", "async_"};

static bool is_like_a_function(const char *name)
{
    for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++) {
        if (strncmp(name, FAMILIES[i], strlen(FAMILIES[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* Macros, and what C keeps to itself: two capitals in front, or two underscores, or one of each. */
static bool is_like_a_macro(const char *name)
{
    bool high = isupper((unsigned char)name[0]) || name[0] == '_';
    return high && (isupper((unsigned char)name[1]) || name[1] == '_');
}

static bool is_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++) {
        if (strcmp(RESERVED[i], name) == 0) {
            return true;
        }
    }
    return false;
}

const char *cg_identifier(Arena *arena, const char *name)
{
    size_t n = strlen(name);
    char *out = arena_alloc(arena, n + 3);
    char *p = out;
    if (isdigit((unsigned char)name[0])) {
        *p++ = '_';
    }
    for (size_t i = 0; i < n; i++) {
        *p++ = isalnum((unsigned char)name[i]) ? name[i] : '_';
    }
    if (is_reserved(out) || is_like_a_macro(out) || is_like_a_function(out) || ends_like_a_parameter(out) ||
        is_like_a_temporary(out)) {
        *p++ = '_';
    }
    return out;
}

const char *cg_macro(Arena *arena, const char *name)
{
    char *out = arena_strdup(arena, cg_identifier(arena, name));
    for (char *p = out; *p != '\0'; p++) {
        *p = (char)toupper((unsigned char)*p);
    }
    return out;
}
