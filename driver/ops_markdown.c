/* ops_markdown: docs/operators.md: all of them by groups with an index. */
#include "driver.h"

#include "../base/measures.h"
#include "../frontend/ops/ops.h"

#include <stdio.h>
#include <string.h>

static bool begins_group(const Ops *ops, int i)
{
    return ops->at[i].group != NULL && (i == 0 || ops->at[i - 1].group != ops->at[i].group);
}

static void print_index(const Ops *ops)
{
    puts("| group | operators |\n|---|---|");
    for (int i = 0; i < ops->n && ops->at[i].group != NULL; i++) {
        const Op *op = &ops->at[i];
        if (begins_group(ops, i)) {
            printf("| **%s** |", op->group);
        }
        printf(" [%s](#%s)%s", op->name, op->name, i + 1 < ops->n && ops->at[i + 1].group == op->group ? "" : " |\n");
    }
}

/* Bars would end a cell. */
static void print_cell(const char *text)
{
    for (; *text != '\0'; text++) {
        fputs(*text == '|' ? "\\|" : (char[2]){*text, '\0'}, stdout);
    }
}

static void print_arguments(const Op *op, Arena *arena)
{
    puts("| argument | what it means | what it may be |\n|---|---|---|");
    for (int i = 0; i < op->n_params; i++) {
        const OpParam *p = &op->param[i];
        Str kinds;
        str_init(&kinds, arena);
        ops_argument(p, &kinds);
        printf("| `%s` | ", p->name);
        print_cell(p->words);
        printf(" | ");
        print_cell(kinds.at);
        puts(" |");
    }
    puts("");
}

static void print_properties(void)
{
    puts("| property | also called | what it is |\n|---|---|---|");
    for (int i = 0; i < MEASURE_IDS; i++) {
        const Measure *m = &MEASURES[i];
        printf("| `%s` | %s | %s%s%s |\n", m->name, m->aliases, m->doc, m->dims == 2 ? " (2-D only)" : "",
               m->intensity ? " (of an image)" : "");
    }
    puts("");
}

static void print_elsewhere(const Op *op)
{
    const char *const peer[3][2] = {{"clEsperanto", op->clesperanto},
                                    {"scikit-image", op->skimage},
                                    {"scipy", op->scipy}};
    const char *before = "Elsewhere: ";
    for (int k = 0; k < 3; k++) {
        if (peer[k][1][0] != '\0') {
            printf("%s`%s` (%s)", before, peer[k][1], peer[k][0]);
            before = ", ";
        }
    }
    puts(before[0] == ',' ? ".\n" : "");
}

/* What docs/pictures/effects.pipe draws. */
static const char *const PICTURES[] = {"bilateral",
                                       "bottomhat",
                                       "boundaries",
                                       "canny",
                                       "clahe",
                                       "clear_border",
                                       "closing",
                                       "denoise_tv",
                                       "difference_of_gaussians",
                                       "dilate",
                                       "distance",
                                       "erode",
                                       "expand_labels",
                                       "gaussian",
                                       "gradient_magnitude",
                                       "hull",
                                       "kuwahara",
                                       "label",
                                       "label2rgb",
                                       "laplacian_of_gaussian",
                                       "max_filter",
                                       "median_filter",
                                       "merge",
                                       "min_filter",
                                       "niblack",
                                       "opening",
                                       "otsu",
                                       "outline",
                                       "rolling_ball",
                                       "sato",
                                       "sauvola",
                                       "skeletonize",
                                       "sobel",
                                       "split_objects",
                                       "std_filter",
                                       "subtract_gaussian_background",
                                       "tophat",
                                       "unsharp",
                                       "voronoi",
                                       "watershed"};

static void print_picture(const Op *op)
{
    for (size_t i = 0; i < sizeof PICTURES / sizeof *PICTURES; i++) {
        if (strcmp(PICTURES[i], op->name) == 0) {
            printf("![what %s makes of it](pictures/effects/of_%s.png)\n\n", op->name, op->name);
        }
    }
}

static void print_operator(const Op *op, Arena *arena)
{
    Str call;
    str_init(&call, arena);
    ops_call(op, &call);
    printf("### %s\n\n`%s`\n\n%s.%s%s\n\n", op->name, call.at, op->doc, op->text[0] != '\0' ? " " : "", op->text);
    print_picture(op);
    print_arguments(op, arena);
    printf("```\n%s\n```\n\n", op->example);
    if (strcmp(op->name, "measure") == 0) {
        print_properties();
    }
    print_elsewhere(op);
}

void print_operators(const Ops *ops, Arena *arena)
{
    puts(
        "# Operators\n\nMade from the operator table by `pipec ops --markdown`; do not edit. `pipec ops WORD` searches them, "
        "also by effect and by the names of other packages.\n\n"
        "Pictures show what an operator makes of one of these: an image, its nuclei, their mask, and their labels.\n\n"
        "![an image](pictures/effects/the_image.png) ![nuclei](pictures/effects/the_dna.png) "
        "![a mask](pictures/effects/the_mask.png) ![labels](pictures/effects/the_labels.png)\n");
    print_index(ops);
    for (int i = 0; i < ops->n && ops->at[i].group != NULL; i++) {
        if (begins_group(ops, i)) {
            printf("\n## %s\n\n", ops->at[i].group);
        }
        print_operator(&ops->at[i], arena);
    }
    puts(
        "## What operators are written with\n\nThe prelude needs these; few pipelines do. `pipec ops NAME` explains them.\n\n"
        "| operator | what it does |\n|---|---|");
    for (int i = 0; i < ops->n; i++) {
        if (ops->at[i].group == NULL) {
            printf("| `%s` | %s |\n", ops->at[i].name, ops->at[i].doc);
        }
    }
}
