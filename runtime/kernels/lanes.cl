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

/* `lanes`: the logarithm of the columns of a group. */
LANES_INLINE LanesSpot lanes_spot(int columns, int lanes)
{
    const uint item = (uint)get_local_id(0), span = (uint)1 << lanes;
    const uint across = ((uint)columns + span - 1) >> lanes, group = (uint)get_group_id(0);
    LanesSpot at;
    at.x = (int)(((group % across) << lanes) + (item & (span - 1)));
    at.row = group / across * ((uint)LANES_GROUP >> lanes) + (item >> lanes);
    return at;
}
