/*
 * frames: one table of the three axes that may be looped over; everything runs along it.
 */
#include "frames.h"

#include <string.h>

const char *const LOOP_NAMES[LOOPS] = {"frame", "channel", "z"};

static bool named(const char *axes, char axis)
{
    return strchr(axes, axis) != NULL;
}

/* "[y, x]" for "yx" */
static void axes_text(const char *axes, char *to, size_t size)
{
    size_t used = 0;
    to[0] = '\0';
    for (const char *a = axes; *a != '\0' && used + 4 < size; a++) {
        used += (size_t)snprintf(to + used, size - used, "%s%c", a == axes ? "[" : ", ", *a);
    }
    snprintf(to + used, size - used, "]");
}

bool frames_of(const ProgInput *input, const ImageInfo *info, Frames *out, Err *err)
{
    const char *axes = input->axes;
    char text[40];
    axes_text(axes, text, sizeof text);
    if (info->rgb && !named(axes, 'c') && (input->labels || input->mask)) {
        return err_set(err, CODE_FILES,
                       "this is a colour image, but %s is %s, which has one number a pixel; save those numbers, not a "
                       "picture of them",
                       input->name, input->labels ? "labels" : "a mask");
    }
    if (info->rgb && !named(axes, 'c')) {
        return err_set(err, CODE_FILES,
                       "this is a colour image, but the pipeline declares %s%s; declare the axis c "
                       "too and pick a channel, such as %s[c = 1]",
                       input->name, text, input->name);
    }
    if (!named(axes, 'y') && info->y > 1) {
        return err_set(err, CODE_FILES, "this file has %lld rows, but the pipeline declares %s%s", (long long)info->y,
                       input->name, text);
    }
    *out = (Frames){.extent = {info->t, named(axes, 'c') ? 1 : info->c, named(axes, 'z') ? 1 : info->z},
                    .looped = {info->has_t, info->has_c && !named(axes, 'c'), info->has_z && !named(axes, 'z')}};
    out->n = 1;
    for (int i = 0; i < LOOPS; i++) {
        out->looped[i] = out->looped[i] || out->extent[i] > 1;
        out->n *= out->extent[i];
    }
    out->volume =
        (ExecInput){.extent = {info->x, info->y, named(axes, 'z') ? info->z : 1, named(axes, 'c') ? info->c : 1},
                    .elem = info->elem,
                    .upwards = image_goes_upwards(info)};
    memcpy(out->volume.pixel_um, info->size_um, sizeof out->volume.pixel_um);
    image_sky(info, &out->volume.sky);
    return true;
}

void frames_at(const Frames *frames, int64_t k, int64_t at[LOOPS])
{
    for (int i = LOOPS - 1; i >= 0; i--) {
        at[i] = k % frames->extent[i];
        k /= frames->extent[i];
    }
}

bool frames_agree(const Frames *first, const Frames *other)
{
    return other->n == 1 || memcmp(first->extent, other->extent, sizeof first->extent) == 0;
}

void frames_words(const Frames *frames, char *to, size_t size)
{
    static const char *const WORDS[LOOPS] = {"time point", "channel", "plane"};
    size_t used = 0;
    snprintf(to, size, "1 image");
    for (int i = 0; i < LOOPS && used < size; i++) {
        if (frames->extent[i] > 1) {
            used += (size_t)snprintf(to + used, size - used, "%s%lld %ss", used > 0 ? " and " : "",
                                     (long long)frames->extent[i], WORDS[i]);
        }
    }
}

/* True when a looped axis has to be laid out along time. */
static bool folded(const Frames *frames, const ExecGrid *grid, int loop)
{
    int own = loop == LOOP_C ? grid->c : loop == LOOP_Z ? grid->d : 1;
    return frames->extent[loop] > 1 && own > 1;
}

void frames_stack(const Frames *frames, const ProgOutput *output, const ExecGrid *grid, const ImageInfo *like,
                  Elem elem, ImageInfo *shape)
{
    int64_t at[LOOPS];
    *shape = (ImageInfo){.x = grid->w, .y = grid->h, .z = grid->d, .c = grid->c, .t = 1, .elem = elem};
    frames_stack_at(frames, grid, frames->n - 1, &at[LOOP_T], &at[LOOP_C], &at[LOOP_Z]);
    shape->t = at[LOOP_T] + 1;
    shape->c = grid->c > 1 ? grid->c : at[LOOP_C] + 1;
    shape->z = grid->d > 1 ? grid->d : at[LOOP_Z] + 1;
    shape->has_t = frames->looped[LOOP_T] || shape->t > 1;
    shape->has_c = frames->looped[LOOP_C] || named(output->axes, 'c');
    shape->has_z = frames->looped[LOOP_Z] || named(output->axes, 'z');
    bool channels_of_input = like != NULL && like->c == grid->c && !like->rgb;
    shape->rgb = elem == ELEM_U8 && (grid->c == 3 || grid->c == 4) && !channels_of_input;
}

void frames_stack_at(const Frames *frames, const ExecGrid *grid, int64_t k, int64_t *t, int64_t *c, int64_t *z)
{
    int64_t at[LOOPS];
    frames_at(frames, k, at);
    for (int i = LOOP_C; i < LOOPS; i++) {
        if (folded(frames, grid, i)) {
            at[LOOP_T] = at[LOOP_T] * frames->extent[i] + at[i];
            at[i] = 0;
        }
    }
    *t = at[LOOP_T];
    *c = at[LOOP_C];
    *z = at[LOOP_Z];
}
