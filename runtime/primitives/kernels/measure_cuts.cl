/*
 * measure_cuts: what objects have on either side of a seam comes together.
 *
 * Behind the text of measure_places.cl.
 */
#define CUTS_GROUP 64

/* Where the objects lie of which something is moved: `before`, from object `first` on. */
typedef struct CutsPlaces {
    PlacesObjects objects;
    global const ulong *before;
    uint first;
} CutsPlaces;

/* The word at which a row of object k begins.  `unit`: words of a row, or of a record; 0: a bit a pixel. */
SCAN_INLINE ulong cuts_word(CutsPlaces p, uint k, int y, int z, const uint unit, const bool record)
{
    const PlacesBox box = places_box(p.objects, k);
    const ulong row = record ? 0 : (ulong)(z - box.lo[2]) * (ulong)(box.hi[1] - box.lo[1] + 1) + (ulong)(y - box.lo[1]);
    const ulong at = p.before[k] - p.before[p.first];
    return unit > 0 ? (at + row) * unit : at + row * (ulong)((box.hi[0] - box.lo[0] + 32) / 32);
}

/*
 * Moves what both places have of objects from `first` on; says whether that is news.  A group an object, or
 * several.
 */
kernel __attribute__((reqd_work_group_size(CUTS_GROUP, 1, 1))) void
cuts_move(PLACES_PARAMS, PLACES_ABOUT(source), PLACES_ABOUT(target), const uint first,
          const uint source_first, const uint target_first, const uint unit, const int record,
          global const ulong *source_before, global const ulong *target_before,
          global const uint *source, const ulong source_at, global uint *target,
          const ulong target_at, global uint *news)
{
    const uint k = first + (uint)get_group_id(0);
    if (source_before[k + 1] == source_before[k] || target_before[k + 1] == target_before[k]) {
        return;
    }
    const CutsPlaces from = {PLACES_OBJECTS(source), source_before, source_first};
    const CutsPlaces to = {PLACES_OBJECTS(target), target_before, target_first};
    const PlacesBox a = places_box(from.objects, k), b = places_box(to.objects, k);
    int begin[3], side[3];
    for (int i = 0; i < 3; i++) {
        begin[i] = max(a.lo[i], b.lo[i]);
        side[i] = max(min(a.hi[i], b.hi[i]) - begin[i] + 1, 0);
    }
    const uint words = unit > 0 ? unit : (uint)(side[0] + 31) / 32;
    const ulong all = record ? words : (ulong)words * (ulong)side[1] * (ulong)side[2];
    const ulong step = get_local_size(0) * get_num_groups(1);
    bool differs = false;
    for (ulong i = get_local_id(0) + get_local_size(0) * get_group_id(1); i < all; i += step) {
        const uint word = (uint)(i % words);
        const int row = (int)(i / words), tall = max(side[1], 1);
        const int y = begin[1] + row % tall, z = begin[2] + row / tall;
        const uint v = source[source_at + cuts_word(from, k, y, z, unit, record) + word];
        const ulong at = target_at + cuts_word(to, k, y, z, unit, record) + word;
        differs = differs || target[at] != v;
        target[at] = v;
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
    const ulong count = sums[k], known = round > 0 ? middle[k] : (count - 1) / 2;
    uint prefix = (uint)(known >> 40), digit = 0, next = ~record->above;
    ulong rest = known & (((ulong)1 << 40) - 1);
    while (digit < 255 && rest >= record->histogram[digit]) {
        rest -= record->histogram[digit++];
    }
    for (uint d = 255; d > digit; d--) {
        next = record->histogram[d] > 0 ? prefix << 8 | d : next;
    }
    const ulong not_above = (count - 1) / 2 - rest + record->histogram[digit];
    prefix = prefix << 8 | digit;
    const uint upper = not_above > count / 2 ? prefix : next;
    const ulong keys = record->largest == 0xffffffff ? ~(ulong)0 : (ulong)prefix << 32 | upper;
    middle[k] = round < rounds - 1 ? (ulong)prefix << 40 | rest : keys;
}
