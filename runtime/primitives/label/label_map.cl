/*
 * label_map: the final numbers of a part's objects, and the largest number in each of its planes
 * (runtime/primitives/label/label_parts.c); behind lanes.cl.
 */
#pragma OPENCL FP_CONTRACT OFF

LANES_KERNEL void label_map(int lanes, int w, uint rows, int pitch, global const uint *map,
                            global uint *labels)
{
    const LanesSpot at = lanes_spot(w, lanes);
    if (at.x < w && at.row < rows) {
        global uint *const label = labels + (size_t)at.row * (size_t)pitch + (size_t)at.x;
        *label = *label != 0 ? map[*label - 1] : 0;
    }
}

/* A work-item goes down a column of a plane. */
LANES_KERNEL void label_largest(int lanes, int w, int h, uint planes, int pitch,
                                global const uint *labels, global uint *largest)
{
    const LanesSpot at = lanes_spot(w, lanes);
    if (at.x < w && at.row < planes) {
        global const uint *column = labels + (size_t)at.row * (size_t)h * (size_t)pitch + (size_t)at.x;
        uint most = 0;
        for (int y = 0; y < h; y++) {
            most = max(most, column[(size_t)y * (size_t)pitch]);
        }
        if (most > 0) {
            atomic_max(&largest[at.row], most);
        }
    }
}
