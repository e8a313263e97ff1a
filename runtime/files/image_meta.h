/*
 * image_meta: what the description of a TIFF file says about its pages, and what pipec says in
 * return.
 *
 * A TIFF file is a list of pages; which of them are channels, planes of depth or frames stands in
 * the text of tag 270 in one of three dialects: ImageJ's lines of key=value, OME-XML, and
 * tifffile's {"shape": [...]}; or in the tags of a microscope.  Without any of them, pages are planes of depth.
 */
#ifndef RUNTIME_IMAGE_META_H
#define RUNTIME_IMAGE_META_H

#include "image.h"

/* What tags of microscopes say (image_microscope.h); 0: nothing. */
typedef struct MetaMicroscope {
    int64_t behind; /* planes that lie one behind the other from the only page's pixels on */
    int64_t t, z;   /* of pages, z faster */
    double size_um[3];
    double interval; /* seconds */
} MetaMicroscope;

typedef struct OmeXml OmeXml; /* image_ome.h */

/* What the tags of the first page say. */
typedef struct MetaTags {
    const char *description; /* may be NULL */
    const OmeXml *ome;       /* the description when it is OME-XML; else NULL */
    int64_t pages;           /* of equal shape */
    int64_t x, y;
    int64_t samples;          /* of a pixel */
    bool planar;              /* samples are stored apart */
    Elem elem;                /* as they are stored */
    double size_x, size_y;    /* pixel size in the unit of the tag; 0 = unknown */
    uint64_t resolution_unit; /* 1 none, 2 inch, 3 cm, 4 mm, 5 um */
    MetaMicroscope microscope;
} MetaTags;

/*
 * How pages make up the axes.  Plane (t, c, z), c counted in pages, is page
 * t * step_t + c * step_c + z * step_z, or what `page` says, in order [t][c][z].
 */
typedef struct MetaPlan {
    int64_t t, c, z;
    int64_t step_t, step_c, step_z;
    int64_t *page;          /* owned; NULL: by the steps */
    int64_t unfinished;     /* pages of a time point or plane that the acquisition did not come to the end of */
    int64_t absent;         /* planes that the OME-XML tells of and that no file has */
    int64_t others;         /* images of this file that its OME-XML lists beside the one that is read */
    int64_t in_other_files; /* planes that the OME-XML lists in other files */
    bool elsewhere;         /* the OME-XML is in another file, which it names */
    int terms;              /* of ImageJ's calibration: term[0] + term[1] * stored + ...; 0: there is none */
    double term[5];
    bool contiguous; /* there is one page, and the others should lie behind its pixels */
} MetaPlan;

/* Fills plan and everything of *info but x, y, rgb and elem; info->c counts pages only. */
bool meta_read(const MetaTags *tags, ImageInfo *info, MetaPlan *plan, Err *err);
void meta_plan_free(MetaPlan *plan);

/* The plan when the description is of no use: all pages are planes of depth. */
void meta_plain(const MetaTags *tags, ImageInfo *info, MetaPlan *plan);

/* A decimal number and nothing else but blanks around it; 0: none, or not finite. */
double meta_number(const char *text);
/* Micrometres of a unit in any of the usual spellings; 0 when it is none of length. */
double meta_unit_um(const char *unit);
/* Seconds of a unit of time, likewise. */
double meta_unit_seconds(const char *unit);

/*
 * The description of a new file: OME-XML when the input had it, else ImageJ's.  `shape` has the
 * axes, `chunky` says that c is samples of a pixel.  Pages are in ImageJ's order, c fastest, then
 * z, then t.  Owned by the caller (free).
 */
bool meta_describe(const ImageInfo *shape, bool chunky, Elem elem, const ImageMeta *meta, char **text, Err *err);

#endif
