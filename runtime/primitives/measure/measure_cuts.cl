/*
 * measure_cuts: what objects have on either side of a seam comes together.
 *
 * Behind the text of measure_places.cl.
 */
#define CUTS_GROUP 64

/* Where an object's rows lie that two places have: word by word, `tall` rows from plane to plane, the first of
 * them row `first`. */
typedef struct CutsRows {
    ulong at;
    uint first, tall;
} CutsRows;

/* `unit`: words of a row; 0: a bit a pixel. */
SCAN_INLINE CutsRows cuts_rows(PlacesBox box, const int *begin, ulong elements, const uint unit)
{
    CutsRows rows;
    rows.at = elements * max(unit, (uint)1);
    rows.tall = (uint)(box.hi[1] - box.lo[1] + 1);
    rows.first = (uint)(begin[2] - box.lo[2]) * rows.tall + (uint)(begin[1] - box.lo[1]);
    return rows;
}

/*
 * Moves what both places have of objects from `first` on, of one column after the other (2); says whether that is
 * news.  A group an object (0), or several (1).  `record`: objects have one of `unit` words each, and no rows.
 */
kernel __attribute__((reqd_work_group_size(CUTS_GROUP, 1, 1))) void
cuts_move(PLACES_PARAMS, PLACES_ABOUT(source), PLACES_ABOUT(target), const uint first,
          const uint source_first, const uint target_first, const uint unit, const int record,
          global const ulong *source_before, global const ulong *target_before,
          global const uint *source, const ulong source_at, const ulong source_step,
          global uint *target, const ulong target_at, const ulong target_step,
          global uint *news)
{
    const uint k = first + (uint)get_group_id(0);
    if (source_before[k + 1] == source_before[k] || target_before[k + 1] == target_before[k]) {
        return;
    }
    const PlacesObjects given = PLACES_OBJECTS(source), taken = PLACES_OBJECTS(target);
    const PlacesBox a = places_box(given, k), b = places_box(taken, k);
    int begin[3], side[3];
    for (int i = 0; i < 3; i++) {
        begin[i] = max(a.lo[i], b.lo[i]);
        side[i] = max(min(a.hi[i], b.hi[i]) - begin[i] + 1, 0);
    }
    CutsRows from = cuts_rows(a, begin, source_before[k] - source_before[source_first], unit);
    CutsRows to = cuts_rows(b, begin, target_before[k] - target_before[target_first], unit);
    const uint words = unit > 0 ? unit : (uint)(side[0] + 31) / 32, tall = max((uint)side[1], (uint)1);
    if (record) {
        from.first = to.first = 0;
    }
    global const uint *in = source + source_at + get_group_id(2) * source_step + from.at;
    global uint *out = target + target_at + get_group_id(2) * target_step + to.at;
    const uint all = record ? words : words * (uint)side[1] * (uint)side[2];
    const uint step = CUTS_GROUP * (uint)get_num_groups(1);
    bool differs = false;
    for (uint i = (uint)get_local_id(0) + CUTS_GROUP * (uint)get_group_id(1); i < all; i += step) {
        const uint row = i / words, word = i % words, z = row / tall, y = row % tall;
        const uint v = in[(size_t)(from.first + z * from.tall + y) * words + word];
        const size_t at = (size_t)(to.first + z * to.tall + y) * words + word;
        differs = differs || out[at] != v;
        out[at] = v;
    }
    if (differs) {
        atomic_or(news, 1);
    }
}

/* The first rows of objects that end in rows from .. to, and of those that go on behind them. */
PLACES_KERNEL void cuts_oldest(PLACES_PARAMS, PLACES_ABOUT(ending), PLACES_ABOUT(open),
                               global int *oldest)
{
    const PlacesObjects ending = PLACES_OBJECTS(ending), open = PLACES_OBJECTS(open);
    const uint k = (uint)get_global_id(0);
    if (places_is_about(ending, k)) {
        atomic_min(oldest, (int)lows[axis * (size_t)n + k]);
    }
    if (places_is_about(open, k)) {
        atomic_min(oldest + 1, (int)lows[axis * (size_t)n + k]);
    }
}

/* What parts have counted of an object's values so far, in a round; as in kernels/measure_values.cl. */
typedef struct CutsDigits {
    uint above, largest; /* above: the complement of the smallest key above those with the prefix */
    ulong histogram[256];
} CutsDigits;

/*
 * The next digit of the lower middle key of objects that end in the part.  A sum says what is known between
 * rounds: the digits so far, and in the lower 40 bits how many of the keys that begin so are below it; after
 * the last round, both keys as measure_median.cl.
 */
PLACES_KERNEL void cuts_choose(PLACES_PARAMS, PLACES_ABOUT(ending), const int round, const int rounds,
                               const double fraction,
                               const uint lane, global const ulong *place,
                               global const CutsDigits *digits, global ulong *table)
{
    const PlacesObjects ending = PLACES_OBJECTS(ending);
    const uint k = (uint)get_global_id(0);
    if (!places_is_about(ending, k) || place[k] >= PLACES_NOWHERE) {
        return;
    }
    global const CutsDigits *record = digits + place[k];
    global ulong *middle = table + lane * (size_t)n;
    const double rank = (double)(sums[k] - 1) * fraction;
    const ulong lower = (ulong)rank, known = round > 0 ? middle[k] : lower;
    uint prefix = (uint)(known >> 40), digit = 0, next = ~record->above;
    ulong rest = known & (((ulong)1 << 40) - 1);
    while (digit < 255 && rest >= record->histogram[digit]) {
        rest -= record->histogram[digit++];
    }
    for (uint d = 255; d > digit; d--) {
        next = record->histogram[d] > 0 ? prefix << 8 | d : next;
    }
    const ulong not_above = lower - rest + record->histogram[digit];
    prefix = prefix << 8 | digit;
    const uint upper = not_above > lower + ((double)lower < rank) ? prefix : next;
    const ulong keys = record->largest == 0xffffffff ? ~(ulong)0 : (ulong)prefix << 32 | upper;
    middle[k] = round < rounds - 1 ? (ulong)prefix << 40 | rest : keys;
}
