/* nodes: the numbers that inputs, arguments and values of nodes (nodes.def) have, and others that compiler, evaluator
 * and runtime share. */
#ifndef BASE_NODES_H
#define BASE_NODES_H

enum { NODE_INPUTS = 41, NODE_ARGUMENTS = 10 }; /* the most of them: labels and forty images of a table */

/* What becomes of an input's labels: they are taken by their numbers, or where there are larger ones than pixels by
 * places (ir/ids.h), or these are refused: something computed by label cannot have places. */
typedef enum InputIds { IDS_NUMBERS, IDS_PLACES, IDS_REFUSED } InputIds;

/* What works and is hardly meant. */
typedef enum NoteKind {
    NOTE_PLACE, /* v[z = at]: name is v's, or "" */
    NOTE_ALONG, /* an operator, called name, goes along the axis: at is 1 */
    NOTE_PART,  /* an operator, called name, takes a part of an image, which begins or ends with pixel at */
    NOTE_KINDS
} NoteKind;

/* Values of a reduction; a summary and an otsu have one more. */
enum { REDUCE_SUM, REDUCE_COUNT, REDUCE_SQUARES, REDUCE_MIN, REDUCE_MAX, REDUCE_VALUES };
/* Statistics of boxes. */
enum { BOXES_COUNT, BOXES_MEDIAN, BOXES_MEAN, BOXES_STD, BOXES_VALUES };
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
