/*
 * blend: weights of pixels as weights of differences, as evaluator and runtime both see them.
 *
 * A sum of weights times pixels rounds in each step, so that the blur of a flat area is not quite the area's value. By
 * parts it is the pixel in the middle times all weights, and for each pixel beside it the difference to the one that
 * lies a step nearer to the middle, times the weights from there outwards. On flat ground all differences are 0.
 */
#ifndef BASE_BLEND_H
#define BASE_BLEND_H

/* Which of the indices lo .. hi is the middle: 0, or the one that is nearest to it. */
int blend_middle(int lo, int hi);
/* weight[i - lo], of the pixels lo .. hi one after the other, becomes the weight of the pixel at i less the one before it;
 * the first, which has none before it, becomes the weight of the pixel in the middle, all together. Weights that mirror
 * one another do so afterwards, but for the sign; those that sum to 1 but for rounding sum to 1. */
void blend_by_parts(double *weight, int lo, int hi);

#endif
