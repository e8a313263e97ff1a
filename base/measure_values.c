/* measure_values: the table of measures, with the formulae compiled for the host. */
#include "measures.h"

#include "measure_formulae.h"

/* Ohser, Nagel, Schladitz 2002: weights of the 256 neighbourhoods of 2 x 2 x 2 voxels. */
const int8_t MEASURE_EULER_3D[256] = {0,  1,  1,  0,  1,  0,  -2, -1, 1,  -2, 0,  -1, 0,  -1, -1, 0,  1,  0,  -2, -1,
                                      -2, -1, -1, -2, -6, -3, -3, -2, -3, -2, 0,  -1, 1,  -2, 0,  -1, -6, -3, -3, -2,
                                      -2, -1, -1, -2, -3, 0,  -2, -1, 0,  -1, -1, 0,  -3, -2, 0,  -1, -3, 0,  -2, -1,
                                      0,  1,  1,  0,  1,  -2, -6, -3, 0,  -1, -3, -2, -2, -1, -3, 0,  -1, -2, -2, -1,
                                      0,  -1, -3, -2, -1, 0,  0,  -1, -3, 0,  0,  1,  -2, -1, 1,  0,  -2, -1, -3, 0,
                                      -3, 0,  0,  1,  -1, 4,  0,  3,  0,  3,  1,  2,  -1, -2, -2, -1, -2, -1, 1,  0,
                                      0,  3,  1,  2,  1,  2,  2,  1,  1,  -6, -2, -3, -2, -3, -1, 0,  0,  -3, -1, -2,
                                      -1, -2, -2, -1, -2, -3, -1, 0,  -1, 0,  4,  3,  -3, 0,  0,  1,  0,  1,  3,  2,
                                      0,  -3, -1, -2, -3, 0,  0,  1,  -1, 0,  0,  -1, -2, 1,  -1, 0,  -1, -2, -2, -1,
                                      0,  1,  3,  2,  -2, 1,  -1, 0,  1,  2,  2,  1,  0,  -3, -3, 0,  -1, -2, 0,  1,
                                      -1, 0,  -2, 1,  0,  -1, -1, 0,  -1, -2, 0,  1,  -2, -1, 3,  2,  -2, 1,  1,  2,
                                      -1, 0,  2,  1,  -1, 0,  -2, 1,  -2, 1,  1,  2,  -2, 3,  -1, 2,  -1, 2,  0,  1,
                                      0,  -1, -1, 0,  -1, 0,  2,  1,  -1, 2,  0,  1,  0,  1,  1,  0};

const Measure MEASURES[MEASURE_IDS] = {
#define M(ID, NAME, ALIASES, IMAGE, DIMS, NEEDS, SHAPE, INTEGER, FUNCTION, DOC)                        \
    {MEASURE_ID_##ID, NAME,      ALIASES,         DOC, IMAGE == 1, DIMS, NEEDS, MEASURE_SHAPE_##SHAPE, \
     INTEGER,         #FUNCTION, value_##FUNCTION},
#include "measures.def"
#undef M
};

void measure_close(MeasureIntensity *v)
{
    close_intensity(v);
}
