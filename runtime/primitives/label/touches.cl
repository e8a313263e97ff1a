/*
 * touches: which pairs of labels touch, each found once: where it comes first.
 *
 * A meeting is a pixel and one of its sides, number pixel * TOUCHES_SIDES + side, with another label
 * beyond that side.  A table of slots holds one meeting for each pair (a label, another label): the
 * first one.  A slot's pair is that of whichever meeting it holds, so that 32 bits are enough: a slot
 * is taken by a compare and exchange, after which its pair never changes, and meetings of the same
 * pair lower the number.  Slots are tried one after the other from the pair's hash on.
 *
 * Pairs of other rounds are left out, so that few slots do for many pairs; a meeting that finds no slot
 * says so, and the host begins with more rounds.  The host defines TOUCHES_PIXEL and TOUCHES_SIDES (4;
 * 6 in volumes).
 *
 * Of a part, rows and planes from *_low to *_high are there, those of the parts beside included, and from plane
 * to plane it is `tall` rows; the part's own pixels have their meetings.  touches_list hands the pairs to the
 * host, who knows those of other parts, and touches_clear takes back the bits of those that are met earlier
 * there.
 */
#define TOUCHES_EMPTY 0xFFFFFFFFu
#define TOUCHES_PROBES 64
#define TOUCHES_IMAGE                                                                              \
    global const TOUCHES_PIXEL *labels, ulong origin, int w, int h, int d, int planes, int pitch,   \
        int tall, int y_low, int y_high, int z_low, int z_high
#define TOUCHES_OF labels, origin, w, h, d, planes, pitch, tall, y_low, y_high, z_low, z_high

typedef struct TouchesSpot {
    int x, y, plane;
} TouchesSpot;

static inline TouchesSpot touches_spot(uint pixel, int w, int h)
{
    TouchesSpot s;
    const uint row = pixel / (uint)w;
    s.x = (int)(pixel % (uint)w);
    s.y = (int)(row % (uint)h);
    s.plane = (int)(row / (uint)h);
    return s;
}

static inline uint touches_at(TOUCHES_IMAGE, int x, int y, int plane)
{
    return (uint)labels[(long)origin + ((long)plane * tall + y) * pitch + x];
}

/* The label beyond a side: left, right, above, below, in the plane before, behind; 0 outside. */
static inline uint touches_beyond(TOUCHES_IMAGE, TouchesSpot s, int side)
{
    const int step = (side & 1) * 2 - 1, axis = side / 2;
    const int x = s.x + (axis == 0 ? step : 0), y = s.y + (axis == 1 ? step : 0);
    const int z = s.plane % d + (axis == 2 ? step : 0);
    const bool inside =
        x >= 0 && x < w && y >= y_low && y < y_high && z >= z_low && z < z_high;
    return inside ? touches_at(TOUCHES_OF, x, y, s.plane + (axis == 2 ? step : 0))
                  : 0u;
}

/* True when the pixel before this one along the side has the same meeting: this one is not first. */
static inline bool touches_follows(TOUCHES_IMAGE, TouchesSpot s, int side, uint own, uint other)
{
    TouchesSpot before = s;
    before.x -= side / 2 == 0 ? 0 : 1;
    before.y -= side / 2 == 0 ? 1 : 0;
    return before.x >= 0 && before.y >= 0 &&
           touches_at(TOUCHES_OF, before.x, before.y, before.plane) == own &&
           touches_beyond(TOUCHES_OF, before, side) == other;
}

static inline uint touches_hash(uint own, uint other)
{
    uint hash = own * 0x9E3779B1u ^ (other * 0x85EBCA77u + 0x165667B1u);
    hash = (hash ^ hash >> 15) * 0x2C1B3C6Du;
    hash = (hash ^ hash >> 12) * 0x297A2D39u;
    return hash ^ hash >> 15;
}

static inline bool touches_has_turn(uint hash, uint round, uint rounds)
{
    return ((hash * 0x27D4EB2Fu >> 12) & (rounds - 1)) == round;
}

static inline bool touches_is_pair(TOUCHES_IMAGE, uint meeting, uint own, uint other)
{
    const TouchesSpot s = touches_spot(meeting / TOUCHES_SIDES, w, h);
    return touches_at(TOUCHES_OF, s.x, s.y, s.plane) == own &&
           touches_beyond(TOUCHES_OF, s, (int)(meeting % TOUCHES_SIDES)) == other;
}

/* Lowers the pair's slot to the meeting; false when no slot is left near its place. */
static inline bool touches_enter(TOUCHES_IMAGE, volatile global uint *slots, uint mask, uint hash,
                                 uint meeting, uint own, uint other)
{
    for (uint probe = 0; probe < TOUCHES_PROBES; probe++) {
        volatile global uint *slot = slots + ((hash + probe) & mask);
        uint have = *slot;
        if (have == TOUCHES_EMPTY) {
            have = atomic_cmpxchg(slot, TOUCHES_EMPTY, meeting);
        }
        if (have == TOUCHES_EMPTY) {
            return true;
        }
        if (touches_is_pair(TOUCHES_OF, have, own, other)) {
            atomic_min(slot, meeting);
            return true;
        }
    }
    return false;
}

kernel void touches_find(TOUCHES_IMAGE, global uint *slots, uint mask, uint round, uint rounds)
{
    const uint pixels = (uint)w * (uint)h * (uint)planes, stride = (uint)get_global_size(0);
    for (size_t p = get_global_id(0); p < pixels; p += stride) {
        const TouchesSpot s = touches_spot((uint)p, w, h);
        const uint own = touches_at(TOUCHES_OF, s.x, s.y, s.plane);
        for (int side = 0; side < TOUCHES_SIDES && own != 0; side++) {
            const uint other = touches_beyond(TOUCHES_OF, s, side);
            const uint hash = touches_hash(own, other);
            if (other != 0 && other != own && touches_has_turn(hash, round, rounds) &&
                !touches_follows(TOUCHES_OF, s, side, own, other) &&
                !touches_enter(TOUCHES_OF, slots, mask, hash,
                               (uint)p * TOUCHES_SIDES + (uint)side, own, other)) {
                slots[mask + 1] = 1; /* every work-item writes the same */
            }
        }
    }
}

/* The slot's meeting of a pair that was entered. */
static inline uint touches_first(TOUCHES_IMAGE, global const uint *slots, uint mask, uint hash,
                                 uint own, uint other)
{
    for (uint probe = 0; probe < TOUCHES_PROBES; probe++) {
        const uint have = slots[(hash + probe) & mask];
        if (have == TOUCHES_EMPTY ||
            touches_is_pair(TOUCHES_OF, have, own, other)) {
            return have;
        }
    }
    return TOUCHES_EMPTY;
}

kernel void touches_mark(TOUCHES_IMAGE, global const uint *slots, uint mask, uint round, uint rounds,
                         global uchar *bits, int bits_pitch)
{
    const uint pixels = (uint)w * (uint)h * (uint)planes, stride = (uint)get_global_size(0);
    for (size_t p = get_global_id(0); p < pixels; p += stride) {
        const TouchesSpot s = touches_spot((uint)p, w, h);
        const uint own = touches_at(TOUCHES_OF, s.x, s.y, s.plane);
        uchar found = 0;
        for (int side = 0; side < TOUCHES_SIDES && own != 0; side++) {
            const uint other = touches_beyond(TOUCHES_OF, s, side);
            const uint hash = touches_hash(own, other);
            const bool first =
                other != 0 && other != own && touches_has_turn(hash, round, rounds) &&
                !touches_follows(TOUCHES_OF, s, side, own, other) &&
                touches_first(TOUCHES_OF, slots, mask, hash, own, other) ==
                    (uint)p * TOUCHES_SIDES + (uint)side;
            found |= first ? (uchar)(1 << side) : (uchar)0;
        }
        if (found != 0) {
            bits[((size_t)s.plane * h + s.y) * bits_pitch + s.x] |= found;
        }
    }
}

/* Three words for each pair of slots [from, to): its labels and its first meeting; list[0]: how many. */
kernel void touches_list(TOUCHES_IMAGE, global const uint *slots, uint from, uint to,
                         volatile global uint *list)
{
    const uint slot = from + (uint)get_global_id(0);
    const uint meeting = slot < to ? slots[slot] : TOUCHES_EMPTY;
    if (meeting != TOUCHES_EMPTY) {
        const TouchesSpot s = touches_spot(meeting / TOUCHES_SIDES, w, h);
        const uint at = 1 + 3 * atomic_inc(list);
        list[at] = touches_at(TOUCHES_OF, s.x, s.y, s.plane);
        list[at + 1] = touches_beyond(TOUCHES_OF, s, (int)(meeting % TOUCHES_SIDES));
        list[at + 2] = meeting;
    }
}

/* The meetings are sorted, so that one work-item has all sides of a pixel. */
kernel void touches_clear(int w, int h, global const uint *meetings, uint n,
                          global uchar *bits, int bits_pitch)
{
    const uint i = (uint)get_global_id(0);
    const uint pixel = i < n ? meetings[i] / TOUCHES_SIDES : TOUCHES_EMPTY;
    const bool begins = i < n && (i == 0 || meetings[i - 1] / TOUCHES_SIDES != pixel);
    if (begins) {
        const TouchesSpot s = touches_spot(pixel, w, h);
        uint taken = 0;
        for (uint k = i; k < n && meetings[k] / TOUCHES_SIDES == pixel; k++) {
            taken |= 1u << meetings[k] % TOUCHES_SIDES;
        }
        bits[((size_t)s.plane * h + s.y) * bits_pitch + s.x] &= (uchar)~taken;
    }
}
