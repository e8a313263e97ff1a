/*
 * main: counts the bright blobs of an image from inside a C program.
 *
 *     count IMAGE
 *
 * The pipeline is compiled in (blobs.h and blobs.c, made by `pipec build --library`).  The program
 * reads the pixels, hands them over, and asks for one number; no file is written.
 */
#include "blobs.h"

#include "runtime/exec/exec.h"
#include "runtime/files/image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The pixels of a file's first plane, dense; owned by the caller (free). */
static bool load(const char *path, ExecInput *input, void **pixels, Err *err)
{
    ImageFile *file = NULL;
    TRY(image_open(path, &file, err));
    const ImageInfo *info = image_info(file);
    *input = (ExecInput){.extent = {info->x, info->y, 1, 1}, .elem = info->elem};
    size_t row = (size_t)info->x * elem_size(info->elem);
    *pixels = malloc(row * (size_t)info->y);
    bool ok = *pixels != NULL || err_set(err, CODE_MEMORY, "out of memory");
    ok = ok && image_read(file, 0, 0, 0, 0, info->y, *pixels, row, err);
    image_close(file);
    return ok;
}

/* Runs the pipeline on one image and finds how many objects its label image has. */
static bool count(Exec *exec, const Program *program, const ExecInput *input, const void *pixels, int64_t *objects,
                  Err *err)
{
    const double params[] = {2.0}; /* sigma, in the order of the pipeline's params */
    size_t row = (size_t)input->extent[0] * elem_size(input->elem);
    const double *values = NULL;
    TRY(exec_bind(exec, input, params, err));
    TRY(exec_upload(exec, 0, 0, 0, 0, input->extent[1], pixels, row, err));
    TRY(exec_run(exec, err));
    TRY(exec_values(exec, &values, err));
    for (int i = 0; i < program->n_outputs; i++) {
        if (program->outputs[i].kind == OUT_LABELS) {
            *objects = (int64_t)values[program->outputs[i].value];
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: count IMAGE\n");
        return CODE_USAGE;
    }
    Err err = {0};
    ExecInput input;
    void *pixels = NULL;
    Device *dev = NULL;
    Exec *exec = NULL;
    int64_t objects = 0;
    bool ok = load(argv[1], &input, &pixels, &err) && dev_open(&(DevOptions){0}, &dev, &err) &&
              exec_new(pipeline_blobs(), dev, &exec, &err) &&
              count(exec, pipeline_blobs(), &input, pixels, &objects, &err);
    if (ok) {
        printf("%" PRId64 " objects\n", objects);
    } else {
        fprintf(stderr, "count: %s\n", err.text);
    }
    exec_free(exec);
    dev_close(dev);
    free(pixels);
    return ok ? CODE_OK : err.code;
}
