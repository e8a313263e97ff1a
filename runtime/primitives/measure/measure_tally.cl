/*
 * measure_tally: what the measuring kernels share: sums by label that do not depend on order.
 *
 * A work-item goes down a column and adds up equal labels in registers, over the background between
 * them, too; where another label follows it adds its sums to a small hash table in local memory, and
 * the group adds that table to the totals at the end.  Runs that find no place in the table go to the totals at once.  Everything
 * is an integer: 64-bit sums (two 32-bit words in local memory, where 64-bit atomics are slow) and
 * 32-bit minima (a maximum is the minimum of the complement).
 *
 * Totals are columns: sum i of object k lies at [i * n + k].
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define MEASURE_INLINE static inline __attribute__((always_inline))
#define MEASURE_GROUP 256
#define MEASURE_GROUP_KERNEL kernel __attribute__((reqd_work_group_size(MEASURE_GROUP, 1, 1)))
#define MEASURE_PROBES 4
#define MEASURE_BATCH 8

/* Words of local memory for a table of 1 << bits slots. */
#define MEASURE_TALLY_WORDS(bits, sums, lows) ((1 + 2 * (sums) + (lows)) << (bits))

typedef struct MeasureTotals {
    global ulong *sums;
    global uint *lows;
    uint n;
} MeasureTotals;

/* The object that a label stands for, from 1; 0 when it is not among the n from `first` on. */
MEASURE_INLINE uint measure_tally_object(uint label, uint first, uint n)
{
    return label - first < n ? label - first + 1 : 0;
}

MEASURE_INLINE void measure_tally_clear(local uint *table, const int bits, const int sums,
                                        const int lows)
{
    const int slots = 1 << bits;
    for (int i = get_local_id(0); i < MEASURE_TALLY_WORDS(bits, sums, lows); i += MEASURE_GROUP) {
        table[i] = i < (1 + 2 * sums) * slots ? 0 : 0xffffffff;
    }
}

MEASURE_INLINE void measure_tally_add_long(local uint *low, local uint *high, long value)
{
    const uint part = (uint)value;
    uint rest = (uint)(value >> 32);
    if (part != 0) {
        const uint old = atomic_add(low, part);
        rest += old + part < part;
    }
    if (rest != 0) {
        atomic_add(high, rest);
    }
}

/* The slot of an object, or -1 when its places are taken by others. */
MEASURE_INLINE int measure_tally_slot(local uint *table, const int bits, uint object)
{
    const int slots = 1 << bits;
    int slot = (int)(object * 2654435769u >> (32 - bits)), found = -1;
    for (int probe = 0; probe < MEASURE_PROBES && found < 0; probe++) {
        const uint key = atomic_cmpxchg(&table[slot], 0, object);
        found = key == 0 || key == object ? slot : -1;
        slot = (slot + 1) & (slots - 1);
    }
    return found;
}

MEASURE_INLINE void measure_tally_run(local uint *table, const int bits, const int sums,
                                      const int lows, MeasureTotals totals, uint object,
                                      const long *sum, const uint *low)
{
    const int slots = 1 << bits, slot = measure_tally_slot(table, bits, object);
    if (slot >= 0) {
        local uint *word = table + slots + slot;
        for (int i = 0; i < sums; i++) {
            measure_tally_add_long(word + 2 * i * slots, word + (2 * i + 1) * slots, sum[i]);
        }
        for (int i = 0; i < lows; i++) {
            atomic_min(word + (2 * sums + i) * slots, low[i]);
        }
    } else {
        const size_t n = totals.n;
        for (int i = 0; i < sums; i++) {
            wide_add(totals.sums + i * n + object - 1, (ulong)sum[i]);
        }
        for (int i = 0; i < lows; i++) {
            atomic_min(totals.lows + i * n + object - 1, low[i]);
        }
    }
}

/* The group's table is added to the totals; a barrier comes before. */
MEASURE_INLINE void measure_tally_write(local const uint *table, const int bits, const int sums,
                                        const int lows, MeasureTotals totals)
{
    const int slots = 1 << bits;
    const size_t n = totals.n;
    for (int slot = get_local_id(0); slot < slots; slot += MEASURE_GROUP) {
        const uint object = table[slot];
        local const uint *word = table + slots + slot;
        for (int i = 0; i < sums && object != 0; i++) {
            const ulong sum = (ulong)word[(2 * i + 1) * slots] << 32 | (ulong)word[2 * i * slots];
            if (sum != 0) {
                wide_add(totals.sums + i * n + object - 1, sum);
            }
        }
        for (int i = 0; i < lows && object != 0; i++) {
            atomic_min(totals.lows + i * n + object - 1, word[(2 * sums + i) * slots]);
        }
    }
}

/* Order-preserving: as unsigned numbers these compare like the floats; NaN is above all. */
MEASURE_INLINE uint measure_order_key(float v)
{
    const uint bits = as_uint(v + 0.0f);
    return isnan(v) ? 0xffffffff : bits ^ (bits >> 31 ? 0xffffffff : 0x80000000);
}

/* v = +-m * 2^(e - 150) */
MEASURE_INLINE uint measure_mantissa(uint bits)
{
    return (bits & 0x7fffff) | (bits & 0x7f800000 ? 0x800000 : 0);
}

MEASURE_INLINE int measure_exponent(uint bits)
{
    return max((int)(bits >> 23 & 255), 1);
}

/* An object's bounding box, from the first minima. */
typedef struct MeasureBox {
    int x0, y0, z0, x1, y1, z1; /* both ends included */
} MeasureBox;

MEASURE_INLINE MeasureBox measure_box_of(global const uint *lows, uint n, uint object)
{
    const size_t stride = n;
    MeasureBox box;
    box.x0 = (int)lows[object];
    box.y0 = (int)lows[stride + object];
    box.z0 = MEASURE_SPACE ? (int)lows[2 * stride + object] : 0;
    box.x1 = (int)~lows[(2 + MEASURE_SPACE) * stride + object];
    box.y1 = (int)~lows[(3 + MEASURE_SPACE) * stride + object];
    box.z1 = MEASURE_SPACE ? (int)~lows[5 * stride + object] : 0;
    return box;
}
