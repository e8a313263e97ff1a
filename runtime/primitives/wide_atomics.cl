/*
 * wide_atomics: sums and largest values of 64 bits in global memory.  Devices without atomics of 64 bits (those
 * of Mesa's drivers, for one) count in halves of 32 bits: what the lower word carries goes to the upper one with the
 * rest, so that the sum is the same once the launch is over, whoever came when.  The driver's compiler is told
 * WIDE_ATOMICS (runtime/device/cl.c).
 */
#if WIDE_ATOMICS
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif

#define WIDE_INLINE static inline __attribute__((always_inline))

WIDE_INLINE void wide_add(global ulong *sum, ulong value)
{
#if WIDE_ATOMICS
    atom_add(sum, value);
#else
    volatile global uint *word = (volatile global uint *)sum;
    const uint low = (uint)value, before = atomic_add(word, low);
    const uint high = (uint)(value >> 32) + (before + low < low);
    if (high != 0) {
        atomic_add(word + 1, high);
    }
#endif
}

/* The sum before; where halves are counted, the lower one must not overflow. */
WIDE_INLINE ulong wide_take(global ulong *sum, uint value)
{
#if WIDE_ATOMICS
    return atom_add(sum, (ulong)value);
#else
    volatile global uint *word = (volatile global uint *)sum;
    return (ulong)word[1] << 32 | atomic_add(word, value);
#endif
}

/* The larger one of value and *most, which begins at 0.  Where halves are compared this takes two launches with the
 * same values: the first finds the upper word. */
WIDE_INLINE void wide_max(global ulong *most, ulong value, bool second)
{
#if WIDE_ATOMICS
    ulong seen = *(volatile global ulong *)most;
    while (seen < value) {
        const ulong was = atom_cmpxchg(most, seen, value);
        seen = was == seen ? value : was;
    }
#else
    volatile global uint *word = (volatile global uint *)most;
    const uint high = (uint)(value >> 32);
    if (!second) {
        atomic_max(word + 1, high);
    } else if (word[1] == high) {
        atomic_max(word, (uint)value);
    }
#endif
}
