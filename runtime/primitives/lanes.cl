/*
 * lanes: which column and row of an image a work-item takes, where items need nothing of each other.
 * A group has LANES_GROUP items: columns of a row side by side and, where rows are short, several rows.
 */
#pragma OPENCL FP_CONTRACT OFF

#define LANES_GROUP 256
#define LANES_INLINE static inline __attribute__((always_inline))
#define LANES_KERNEL kernel __attribute__((reqd_work_group_size(LANES_GROUP, 1, 1)))

typedef struct LanesSpot {
    int x;
    uint row;
} LanesSpot;

/* Quotient and remainder, from one division. */
typedef struct LanesSplit {
    uint over, rest;
} LanesSplit;

LANES_INLINE LanesSplit lanes_split(uint n, uint by)
{
    LanesSplit s;
    s.over = n / by;
    s.rest = n - s.over * by;
    return s;
}

/* `lanes`: the logarithm of the columns of a group. */
LANES_INLINE LanesSpot lanes_spot(int columns, int lanes)
{
    const uint item = (uint)get_local_id(0), span = (uint)1 << lanes;
    const uint across = ((uint)columns + span - 1) >> lanes;
    const LanesSplit group = lanes_split((uint)get_group_id(0), across);
    LanesSpot at;
    at.x = (int)((group.rest << lanes) + (item & (span - 1)));
    at.row = group.over * ((uint)LANES_GROUP >> lanes) + (item >> lanes);
    return at;
}
