/*
 * image_ome: the OME-XML of an OME-TIFF file: extents, sizes of pixels, and which page is which plane.
 */
#ifndef RUNTIME_IMAGE_OME_H
#define RUNTIME_IMAGE_OME_H

#include "image_meta.h"

/*
 * Reads a description, of a file of this name (without its folder, since OME-XML lists the files of a set by name).
 * *out is NULL when it is no OME-XML, and else owned by the caller (ome_free).  XML that breaks off or is none is no
 * failure: ome_plan remarks it.
 */
bool ome_read(const char *text, const char *name, OmeXml **out, Err *err);
/* The first page of the image that is to be read, from 0. */
int64_t ome_first_page(const OmeXml *ome);
/* From now on the XML says nothing of pages. */
void ome_forget_planes(OmeXml *ome);
/* Fills in what the XML says, in plan and *info as meta_read does; *known is false when it lists nothing that is in this
 * file.  Names of channels in *info are borrowed. */
bool ome_plan(const OmeXml *ome, const MetaTags *tags, ImageInfo *info, MetaPlan *plan, bool *known, Err *err);
void ome_free(OmeXml *ome); /* NULL is allowed */

#endif
