/* label_map: the final numbers of a part's objects (runtime/label_parts.c); behind lanes.cl. */
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
