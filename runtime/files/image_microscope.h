/*
 * image_microscope: what tags of microscopes say about the pages of a TIFF file.
 */
#ifndef RUNTIME_IMAGE_MICROSCOPE_H
#define RUNTIME_IMAGE_MICROSCOPE_H

#include "image_ifd.h"
#include "image_meta.h"

/* All zero where the directory has no such tags; false when the file cannot be read rightly. */
bool tiff_microscope(const TiffSource *source, const TiffDirectory *dir, MetaMicroscope *to, Err *err);

#endif
