/*
 * scan: how many come before.  A kernel that counts something writes one sum for each of its
 * groups; scan_sums turns these into the sums of all groups before, in one group, so that places in
 * an order by position are found without the host.
 *
 * The host defines SCAN_GROUP, the work-items of scan_sums, in front of this text; and SCAN_NUMBER where
 * sums may be larger than a uint.
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#ifndef SCAN_NUMBER
#define SCAN_NUMBER uint
#endif
#define SCAN_INLINE static inline __attribute__((always_inline))

/*
 * The sum of `value` over the work-items before this one; *total: over all of the group.  `sums`
 * has an element for each work-item.  The whole group must come here.
 */
SCAN_INLINE SCAN_NUMBER scan_group(local SCAN_NUMBER *sums, SCAN_NUMBER value, SCAN_NUMBER *total)
{
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    sums[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < size; step *= 2) {
        const SCAN_NUMBER before = item >= step ? sums[item - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const SCAN_NUMBER through = sums[item];
    *total = sums[size - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    return through - value;
}

/* Replaces n numbers by the sums of those before; the sum of all.  The whole group must come here; `sums` as
 * above. */
SCAN_INLINE ulong scan_numbers(local SCAN_NUMBER *sums, global SCAN_NUMBER *numbers, uint n)
{
    const uint item = (uint)get_local_id(0);
    ulong before = 0;
    for (uint first = 0; first < n; first += SCAN_GROUP * 4) {
        SCAN_NUMBER v[4], own = 0, all;
        for (uint i = 0; i < 4; i++) {
            const uint place = first + item * 4 + i;
            v[i] = place < n ? numbers[place] : 0;
            own += v[i];
        }
        SCAN_NUMBER sum = (SCAN_NUMBER)before + scan_group(sums, own, &all);
        for (uint i = 0; i < 4; i++) {
            const uint place = first + item * 4 + i;
            if (place < n) {
                numbers[place] = sum;
            }
            sum += v[i];
        }
        before += all;
    }
    return before;
}

/* One group: scans the n numbers from words[at], and writes the sum of all to values[slot] (unless slot is
 * -1). */
kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1))) void
scan_sums(global SCAN_NUMBER *words, ulong at, uint n, global double *values, int slot)
{
    local SCAN_NUMBER sums[SCAN_GROUP];
    const ulong all = scan_numbers(sums, words + at, n);
    if (get_local_id(0) == 0 && slot >= 0) {
        values[slot] = (double)all;
    }
}
