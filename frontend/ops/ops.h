/*
 * ops: the operators of the language, one table (ops.def) from which checking, `pipec ops`,
 * completion and the pages of documentation are made.
 *
 * A signature is text: "v: image, sigma: number or per-axis in 0 .. inf, border: border = nearest".
 * Each parameter has a name, the kinds that it takes, an optional range and an optional default
 * (`none`: may be left out).  Words separated by | are choices: "mode: same|full = same", "colour: red|blue or list = red".  A parameter written
 * "...name: kinds" takes any number of values; parameters after it can only be given by name.
 */
#ifndef FRONTEND_OPS_H
#define FRONTEND_OPS_H

#include "../../base/arena.h"
#include "../../base/str.h"

#include <stdbool.h>

/* What a parameter takes; the words of signatures. */
typedef enum OpType {
    OP_IMAGE = 1, /* image: numbers, not a mask, not labels */
    OP_MASK = 2,
    OP_LABELS = 4,
    OP_NUMBER = 8,     /* number: known before the first kernel runs */
    OP_INTEGER = 16,   /* integer: a whole number */
    OP_VALUE = 32,     /* value: a number or a whole-image value */
    OP_TRUTH = 64,     /* truth: true or false */
    OP_PER_AXIS = 128, /* per-axis: a list with a number for each axis, outermost first */
    OP_BORDER = 256,
    OP_FOOTPRINT = 512,
    OP_SELECTION = 1024, /* selection: image where mask */
    OP_LIST = 2048,
    OP_FUNCTION = 4096,
    OP_VECTOR = 8192, /* vector: a value for each label */
    OP_WORD = 16384,  /* word: a bare word, such as a property or a method */
    OP_AXIS = 32768,  /* axis: x, y or z */
    OP_RECORD = 65536,
    OP_AREA = 131072,   /* area: a number of pixels may be written as an area, or a volume in 3-D */
    OP_LENGTH = 262144, /* length: a number that keeps its unit */
    OP_COLUMN =
        524288, /* column: of a "..." parameter, name = what a table has for each label: an image, a mask or a vector */
    OP_CHANNEL = 1048576, /* channel: the axis c */
    OP_TYPES = 21
} OpType;

typedef struct OpParam {
    const char *name;
    const char *words; /* what it means, and its unit (arguments.def) */
    unsigned types;
    const char *types_text;
    const char *choices; /* "same|full": the words that a parameter takes; NULL: any */
    const char *value;   /* default as text; NULL: must be given */
    bool rest;
    bool above; /* lo itself is not allowed */
    bool ranged;
    bool pure; /* it has no unit */
    double lo, hi;
} OpParam;

enum { OP_MAX_PARAMS = 12 };

typedef struct Op {
    const char *name, *signature;
    const char *group;                         /* its title; NULL of what only operators are written with */
    const char *doc;                           /* one line */
    const char *text;                          /* borders, whose semantics, what to watch */
    const char *example;                       /* a .pipe file's lines */
    const char *clesperanto, *skimage, *scipy; /* what it is called there; "" when it is not */
    bool prelude;                              /* written in the language: see frontend/ops/prelude */
    OpParam param[OP_MAX_PARAMS];
    int n_params;
    int index; /* among the operators of ops.def */
} Op;

typedef struct Ops {
    Op *at;
    int n;
} Ops;

/* The table with its signatures read. */
const Ops *ops_load(Arena *arena);
const Op *ops_find(const Ops *ops, const char *name);
/* Whether a list such as "erode dilate" has a name. */
bool ops_lists(const char *list, const char *name);

/* Where an operator has what is searched for, the best last. */
typedef enum OpFound {
    OP_FOUND_NOT,
    OP_FOUND_TEXT,
    OP_FOUND_LINE,
    OP_FOUND_EFFECT,
    OP_FOUND_NAME,
    OP_FOUND_FIRST
} OpFound;
/* Leaves out "find", "of" and the like where other words remain; returns how many there are. */
int ops_telling_words(char **words, int n);
/* By operator, in the arena: of n words, all of which must be found, the worst place.  Places below `least` are not looked at. */
const OpFound *ops_search(Arena *arena, const Ops *ops, char *const *words, int n, OpFound least);
/* The word for one type bit: "image", "per-axis" ... */
const char *ops_type_name(unsigned type);
/* The example as a whole pipeline: with the input, and the mask and labels of it that it uses. */
void ops_example(const Op *op, Str *out);
/* "an image, a mask or labels": what a parameter takes, for messages. */
void ops_types_phrase(const OpParam *param, Str *out);
/* What an argument may be: "a number or a number for each axis from 0". */
void ops_argument(const OpParam *param, Str *out);
/* How an operator is called: "gaussian(v, sigma, border = nearest)". */
void ops_call(const Op *op, Str *out);

/* What other packages call things (peers.def). */
typedef struct Peer {
    const char *name, *package;
    const char *arguments; /* what $1 $2 ... are, by a letter each: see peers.def */
    /* What to write instead; "$1" stands for the user's argument, "$2{disk(1)}" for the second, or
     * disk(1) where there is none; "": there is nothing like it here. */
    const char *here;
} Peer;

/* How a call with certain arguments is written: of several, the one that uses the most of them. */
typedef struct PeerCall {
    const char *name;
    const char *parameters; /* theirs in their order: "input|image size", with others' names for one */
    const char *arguments, *here;
    const char *note; /* what is said behind it, or "" */
} PeerCall;

extern const PeerCall OPS_PEER_CALLS[];
extern const int OPS_PEER_CALLS_N;

extern const Peer OPS_PEERS[];
extern const int OPS_PEERS_N;
const Peer *ops_peer(const char *name);
/* Whether a peer's name has all of the words. */
bool ops_search_peer(const Peer *peer, char *const *words, int n);
/* What to write instead, with speaking names for the arguments: "image > otsu(image)"; "" when
 * there is nothing like it here. */
const char *ops_peer_spelled(const Peer *peer, Arena *arena);

/* What other packages' public functions are written as (interfaces.def): rows of a package follow it, those of a module its row. */
typedef enum InterfaceKind {
    INTERFACE_PACKAGE,
    INTERFACE_MODULE,
    INTERFACE_SAME,
    INTERFACE_LIKE,
    INTERFACE_NONE
} InterfaceKind;
typedef struct Interface {
    InterfaceKind kind;
    const char *name; /* of a package or module; the peer's call, which begins with the function's name */
    const char *
        here; /* what to write: a value, or lines with outputs; the version of a package; "": there is nothing like it */
    const char *note; /* what differs, or why there is nothing, or "" */
} Interface;

extern const Interface OPS_INTERFACES[];
extern const int OPS_INTERFACES_N;
/* Whether a row is about a function that is called so, in letters of either case. */
bool ops_is_interface(const Interface *row, char *const *words, int n);
/* What to write as a whole pipeline, with the inputs that it speaks of. */
void ops_interface_pipeline(const Interface *row, Str *out);

/* The files of the prelude, in order. */
typedef struct PreludeFile {
    const char *path, *text;
} PreludeFile;

extern const PreludeFile OPS_PRELUDE[];
extern const int OPS_PRELUDE_N;

#endif
