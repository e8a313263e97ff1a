/* nodes: the numbers that inputs, arguments and values of nodes (nodes.def) have; compiler, evaluator and runtime have
 * them from here. */
#ifndef BASE_NODES_H
#define BASE_NODES_H

enum { NODE_INPUTS = 41, NODE_ARGUMENTS = 10 }; /* the most of them: labels and forty images of a table */

/* Values of a reduction; a summary and an otsu have one more. */
enum { REDUCE_SUM, REDUCE_COUNT, REDUCE_SQUARES, REDUCE_MIN, REDUCE_MAX, REDUCE_VALUES };
enum { SUMMARY_RANK = REDUCE_VALUES, OTSU_THRESHOLD = REDUCE_VALUES };

/* Which of them somebody asks for: bits. */
enum { WANTED_SUM = 1, WANTED_SQUARES = 2, WANTED_EXTREMES = 4 };

/* How a histogram is split. */
typedef enum ThresholdMethod {
    METHOD_OTSU,
    METHOD_YEN,
    METHOD_TRIANGLE,
    METHOD_ISODATA,
    METHOD_MINIMUM,
    METHOD_LI,
    THRESHOLD_METHODS
} ThresholdMethod;

/* What is known of labels. */
typedef enum LabelNumbers {
    NUMBERS_DENSE, /* from 1 on without gaps */
    NUMBERS_FEW,   /* at most as many as pixels */
    NUMBERS_ANY
} LabelNumbers;

/* What is made of the pixels of a label. */
typedef enum LabelFold { LABEL_SUM, LABEL_MIN, LABEL_MAX, LABEL_COUNT, LABEL_FOLDS } LabelFold;

#endif
