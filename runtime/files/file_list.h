/*
 * file_list: the images that a command line means: files and folders of OME-Zarr as they are given, plates of OME-Zarr as
 * their fields, other folders as the images in them, in the order in which people count (img2 before img10), or as one
 * image each.
 */
#ifndef RUNTIME_FILE_LIST_H
#define RUNTIME_FILE_LIST_H

#include "../../base/err.h"

#include <stddef.h>

typedef struct ListedFile {
    char *path;
    bool found; /* in a folder, not named by the user */
} ListedFile;

typedef struct FileList {
    ListedFile *at;
    size_t n, cap;
} FileList;

/* A path given twice is listed once.  `whole`: folders are images, and files are refused.  CODE_USAGE when a path does not exist or a folder has no
 * images.  *out is owned by the caller (file_list_free), also after a failure. */
bool file_list(const char *const *given, int n, bool whole, FileList *out, Err *err);
void file_list_free(FileList *list);

/* True when a file of this name, in a folder, is one of the folder's images. */
bool file_is_image_name(const char *name);
/* The length of a file's name without its ending, of one part or several ("a.ome.tif"); 0 when it is not that of an
 * image. */
size_t file_image_stem(const char *name);

/* As strcmp, but runs of digits compare as numbers. */
int file_natural_order(const char *a, const char *b);

#endif
