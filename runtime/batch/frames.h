/*
 * frames: how the axes of a file meet the axes that the pipeline names.
 *
 * A frame is what one run of the pipeline works on.  Axes of the file that the pipeline does not
 * name are looped over, time outermost, then channels, then planes; results are stacked along
 * them again and tables get a column for each.
 */
#ifndef RUNTIME_FRAMES_H
#define RUNTIME_FRAMES_H

#include "../exec/exec_plan.h"
#include "../files/image.h"

enum { LOOP_T, LOOP_C, LOOP_Z, LOOPS };
extern const char *const LOOP_NAMES[LOOPS]; /* columns of tables: frame, channel, z */

typedef struct Frames {
    int64_t n;             /* how many: the product of extents */
    int64_t extent[LOOPS]; /* 1 where the axis is not looped over */
    bool looped[LOOPS];
    ExecInput volume; /* what one frame is like */
} Frames;

/* CODE_FILES when the pipeline cannot work on such a file. */
bool frames_of(const ProgInput *input, const ImageInfo *info, Frames *out, Err *err);
/* The place of frame k on each looped axis; 0 elsewhere. */
void frames_at(const Frames *frames, int64_t k, int64_t at[LOOPS]);
/* True when frames of an input after the first can go with those of the first: as many, or one
 * for all. */
bool frames_agree(const Frames *first, const Frames *other);

/* "3 time points and 2 channels", "1 image": what the frames are. */
void frames_words(const Frames *frames, char *to, size_t size);

/*
 * The file that an output of all frames makes, and where in it frame k begins: a looped axis that
 * the output has itself is laid out along time.
 */
void frames_stack(const Frames *frames, const ProgOutput *output, const ExecGrid *grid, const ImageInfo *like,
                  Elem elem, ImageInfo *shape);
void frames_stack_at(const Frames *frames, const ExecGrid *grid, int64_t k, int64_t *t, int64_t *c, int64_t *z);

#endif
