/*
 * forest: the function of a trained forest, in front of the kernels that call it.
 *
 * It goes down the trees one after the other, by the table that lies in the device's memory (base/forest.h); so the text
 * is as short for a hundred trees as for one.  Features and sums are variables of the function, which is inlined.
 */
#include "kernel.h"

#include "../ir/function.h"

/* The feature that a node asks for: chosen among few, which stay in registers, else read from an array. */
static void print_feature(int from, int to, Str *out)
{
    int middle = (from + to) / 2;
    if (to - from == 1) {
        str_addf(out, "f%d", from);
        return;
    }
    str_addf(out, "(feature < %du ? ", middle);
    print_feature(from, middle, out);
    str_add(out, " : ");
    print_feature(middle, to, out);
    str_add(out, ")");
}

enum { CHOSEN_FEATURES = 16 };

/* All trees, whose weights are added to one sum a class. */
static void print_walk(const IrFunction *f, Str *out)
{
    const Forest *shape = &f->forest->shape;
    const bool narrow = shape->sums == FOREST_F32;
    for (int c = 0; c < shape->classes; c++) {
        str_addf(out, "    %s sum%d = 0;\n", shape->sums == FOREST_F64 ? "double" : "float", c);
    }
    str_addf(out,
             "    for (uint tree = 0; tree < %du; tree++) {\n"
             "        uint at = tree, what = forest[2 * at + 1];\n"
             "        while (what >> 24 != %du) {\n"
             "%s            const float value = ",
             shape->trees, FOREST_LEAF,
             shape->features > 1 ? "            const uint feature = what >> 24 & 63u;\n" : "");
    if (shape->features <= CHOSEN_FEATURES) {
        print_feature(0, shape->features, out);
    } else {
        str_add(out, "features[feature]");
    }
    str_addf(out,
             ";\n"
             "            const float threshold = as_float(forest[2 * at]);\n"
             "            const int right = (what & %du) != 0 ? value > threshold : !(value <= threshold);\n"
             "            at = (what & 0xffffff) + (uint)right;\n"
             "            what = forest[2 * at + 1];\n"
             "        }\n"
             "        at = %uu + (what & 0xffffff) * %uu;\n",
             FOREST_NAN, 2 * shape->nodes, forest_stride(shape));
    for (int c = 0; c < shape->classes && narrow; c++) {
        str_addf(out, "        sum%d += as_float(forest[at + %d]);\n", c, c);
    }
    for (int c = 0; c < shape->classes && !narrow; c++) {
        const char *weight =
            arena_printf(out->arena, "as_double((ulong)forest[at + %d] << 32 | forest[at + %d])", 2 * c + 1, 2 * c);
        bool mixed = shape->sums == FOREST_MIXED;
        str_addf(out, mixed ? "        sum%d = (float)((double)sum%d + %s);\n" : "        sum%d = sum%d + %s;\n", c, c,
                 weight);
    }
    str_add(out, "    }\n");
}

void cg_forest(const IrFunction *f, Str *out)
{
    const Forest *shape = &f->forest->shape;
    const bool wide = shape->sums == FOREST_F64;
    str_addf(out, "static inline %s %s(", cg_type(f->type), cg_function_name(out->arena, f));
    for (int i = 0; i < shape->features; i++) {
        str_addf(out, "float f%d, ", i);
    }
    str_add(out, "global const uint *forest)\n{\n");
    if (shape->features > CHOSEN_FEATURES) {
        str_addf(out, "    float features[%d];\n", shape->features);
        for (int i = 0; i < shape->features; i++) {
            str_addf(out, "    features[%d] = f%d;\n", i, i);
        }
    }
    print_walk(f, out);
    for (int c = 0; c < shape->classes && wide; c++) {
        str_addf(out, "    sum%d = sum%d / %d.0;\n", c, c, shape->trees);
    }
    if (f->wanted > 0) {
        str_addf(out, "    return (float)sum%d", f->wanted - 1);
        for (int c = 0; c < shape->classes && !wide; c++) {
            str_addf(out, c == 0 ? " / (sum%d" : " + sum%d", c);
        }
        str_add(out, wide ? ";\n}\n\n" : ");\n}\n\n");
        return;
    }
    str_addf(out, "    %s most = sum0;\n    int found = %d;\n", wide ? "double" : "float", (int)shape->number[0]);
    for (int c = 1; c < shape->classes; c++) {
        str_addf(out, "    if (sum%d > most) {\n        most = sum%d;\n        found = %d;\n    }\n", c, c,
                 (int)shape->number[c]);
    }
    str_add(out, "    return found;\n}\n\n");
}
