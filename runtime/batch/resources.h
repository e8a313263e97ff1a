/*
 * resources: what a run needs, from its plan: memory of the device and of the host, threads, disk, and about how long it
 * takes.  No device is opened.
 */
#ifndef RUNTIME_RESOURCES_H
#define RUNTIME_RESOURCES_H

#include "batch_list.h"

typedef struct Resources {
    int images;
    bool parts;      /* the largest image goes through the device in parts */
    uint64_t device; /* bytes of the device's memory: the least --memory with which the run is as planned */
    uint64_t
        both; /* the same where a GPU has two images at once, as it has without --memory; with it no more than that */
    uint64_t least;  /* bytes with which it just runs, in parts; 0: that cannot be said */
    uint64_t pixels; /* bytes of pixels on the host at one time, at most: --host-memory */
    uint64_t tracks; /* bytes in which objects of one image are linked, on the host, by a guess at how many there are */
    uint64_t host;   /* bytes of the host's memory for the whole process */
    int threads;     /* that are busy */
    uint64_t scratch; /* bytes of temporary files, in $TMPDIR and beside outputs */
    uint64_t outputs; /* bytes of images that are written, before they are compressed */
    double seconds;   /* about */
} Resources;

/* Of the images of the list, or of one with options->shape (`list` is NULL then).  Images that cannot be read are passed
 * over, unless none can. */
bool resources_of(const Program *program, const Options *options, const BatchList *list, Resources *out, Err *err);
/* --resources: prints them, as text or JSON; the exit code. */
int resources_print(const Program *program, const Options *options);

#endif
