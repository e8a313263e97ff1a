/*
 * connectivity: which pixels are neighbours, as graphs and programs say it: by the squared distance of the farthest
 * ones, 1, 2 or 3.
 */
#ifndef BASE_CONNECTIVITY_H
#define BASE_CONNECTIVITY_H

/* Added to it where the planes of a volume are labelled each by itself. */
enum { CONNECTIVITY_PLANAR = 3 };

#endif
