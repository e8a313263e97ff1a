/*
 * places: where a kernel reads an image, as far as that follows from the part of the image that it
 * computes: what coordinates can be, as host expressions for host_range (runtime/exec/host.h).
 *
 * v[x = width(v) - 1 - x_of(v)] reads columns 7 to 9 of ten for columns 0 to 2, and so on: whole
 * numbers, roundings, shifts, factors, quotients and choices are followed; what comes from pixels can be
 * what pixels of their type, or computed as they are, can be, and whole-image values can be anything.
 */
#ifndef CODEGEN_PLACES_H
#define CODEGEN_PLACES_H

#include "kernel.h"

/* By stage of the step: how far it is read by the later stages of its kernel, along the axes that parts may be
 * cut from, y and z; what it reads itself is reached that much further. */
typedef struct CgHalo {
    CgReach reach;
    bool wraps; /* rows or planes beyond an end are those at the other end */
    bool whole;
} CgHalo;

/* Declares what stage number `at` of the step reads; the kernel's stages are asked for from the last one back. */
void cg_reads(CgKernel *k, const IrStep *step, int at, CgHalo *halo);

/* By node: bit 1, bit 2: some read comes round from the other end of y, of z; also a read by a
 * stage that is computed where it is read, and read so itself. */
uint8_t *cg_find_seams(IrGraph *g, const IrSchedule *schedule);

#endif
