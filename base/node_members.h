/*
 * node_members: inputs and arguments of nodes by the names that nodes.def gives them.
 *
 * A structure has them as arrays of two types, INPUT and ARGUMENT, and has this beside the arrays:
 *
 *     union {
 *         struct {
 *             INPUT in[NODE_INPUTS];
 *             ARGUMENT arg[NODE_ARGUMENTS];
 *         };
 *     #include "node_members.h"
 *     };
 *
 * Then node->watershed.markers is node->in[1] and node->watershed.line is node->arg[1].
 */
#define STORED(x) x
#define BEFORE(x) x
#define MAYBE(x) x
#define SEVERAL(x) x[NODE_INPUTS - 1]
#define AXES(x) x[3]
#define NO_INPUT no_input
#define NO_ARGUMENT no_argument
#define MEMBERS(...) __VA_ARGS__
#define N(NAME, name, kind, inputs, arguments, what) \
    struct {                                         \
        union {                                      \
            INPUT all_inputs[NODE_INPUTS];           \
            struct {                                 \
                INPUT MEMBERS inputs;                \
            };                                       \
        };                                           \
        struct {                                     \
            ARGUMENT MEMBERS arguments;              \
        };                                           \
    } name;
#include "nodes.def"
#undef N
#undef MEMBERS
#undef NO_ARGUMENT
#undef NO_INPUT
#undef AXES
#undef SEVERAL
#undef MAYBE
#undef BEFORE
#undef STORED
