/*
 * Windows of small whole numbers, ranked bit by bit.  Word `p` of 32 neighbouring pixels holds bit p
 * of each of them ("slices").  From the highest bit down: the bit of the pixel that is sought is 1
 * where enough of the window's pixels have a 1; who differs from it has its place from then on and
 * keeps the bit it differed in.  Counting is addition of words, so that one instruction works on
 * 32 pixels, of however many bits.
 *
 * A work-item makes a word's slices out of its pixels and, when the group's rows are there, ranks
 * one word's windows.  A group takes SLICE_TURN rows a turn; a ring for each plane of the window holds
 * the rows that windows still reach.  The ranks come back through local memory, a pixel each.
 */
#define PX_UNROLLED _Pragma("unroll")
#define PX_SLICES_uchar 8
#define PX_SLICES_ushort 16
#define PX_SLICES_short 0
#define PX_SLICES_uint 0
#define PX_SLICES_int 0
#define PX_SLICES_float 0
#define PX_SLICES(T) PX_PASTE(PX_SLICES_, T)
/* Where that is faster than sorting: for windows of some pixels, which six digits count. */
#define IS_SLICED(T, n, left, right, up, down, front, behind)                                      \
    (PX_SLICES(T) > 0 && (n) >= 5 && (n) <= 63 && (left) <= 31 && (right) <= 31 &&                 \
     (up) + (down) <= 24 && ((front) + (behind) == 0 || ((front) + (behind) <= 2 && (up) + (down) <= 8)))

#ifdef LX
enum {
    SLICE_WORDS = PX * LX / 32,     /* of a row of the group, and one to either side */
    SLICE_TURN = LX / SLICE_WORDS,  /* rows: each work-item has a word */
    SLICE_PITCH = SLICE_WORDS + 2
};
#endif

/* a takes the part under `mask` of b, moved up, for its other part, which goes to b. */
#define PX_SWAP(a, b, by, mask)                                                                    \
    {                                                                                              \
        const uint px_a = ((a) & (mask)) | (((b) & (mask)) << (by));                               \
        b = (((a) >> (by)) & (mask)) | ((b) & ~(mask));                                            \
        a = px_a;                                                                                  \
    }
#define PX_SWAP_BYTES(a, b, c, d)                                                                  \
    PX_SWAP(a, c, 16, 0x0000ffffu)                                                                 \
    PX_SWAP(b, d, 16, 0x0000ffffu)                                                                 \
    PX_SWAP(a, b, 8, 0x00ff00ffu)                                                                  \
    PX_SWAP(c, d, 8, 0x00ff00ffu)
#define PX_SWAP_BITS(v)                                                                            \
    PX_SWAP(v.s0, v.s4, 4, 0x0f0f0f0fu)                                                            \
    PX_SWAP(v.s1, v.s5, 4, 0x0f0f0f0fu)                                                            \
    PX_SWAP(v.s2, v.s6, 4, 0x0f0f0f0fu)                                                            \
    PX_SWAP(v.s3, v.s7, 4, 0x0f0f0f0fu)                                                            \
    PX_SWAP(v.s0, v.s2, 2, 0x33333333u)                                                            \
    PX_SWAP(v.s1, v.s3, 2, 0x33333333u)                                                            \
    PX_SWAP(v.s4, v.s6, 2, 0x33333333u)                                                            \
    PX_SWAP(v.s5, v.s7, 2, 0x33333333u)                                                            \
    PX_SWAP(v.s0, v.s1, 1, 0x55555555u)                                                            \
    PX_SWAP(v.s2, v.s3, 1, 0x55555555u)                                                            \
    PX_SWAP(v.s4, v.s5, 1, 0x55555555u)                                                            \
    PX_SWAP(v.s6, v.s7, 1, 0x55555555u)

/* 32 bytes, four a word, into the slices of their bits: first bytes that are eight apart come
 * together in a word, then eight words of as many bits are turned over. */
static inline uint8 px_slices(uint8 v)
{
    PX_SWAP_BYTES(v.s0, v.s2, v.s4, v.s6)
    PX_SWAP_BYTES(v.s1, v.s3, v.s5, v.s7)
    v = v.s02461357;
    PX_SWAP_BITS(v)
    return v;
}
static inline uint8 px_bytes_of_slices(uint8 v)
{
    PX_SWAP_BITS(v)
    v = v.s04152637;
    PX_SWAP_BYTES(v.s0, v.s2, v.s4, v.s6)
    PX_SWAP_BYTES(v.s1, v.s3, v.s5, v.s7)
    return v;
}

/* Of rows in the ring, which begin in banks of their own, one ring for each plane, and of the turns in front of a strip. */
#define SLICES_OF(T, up, down, front, behind)                                                      \
    enum {                                                                                         \
        px_slice_bits = PX_SLICES(T),                                                              \
        px_slice_row = px_slice_bits * SLICE_PITCH + 8,                                            \
        px_slice_ring = (up) + (down) + SLICE_TURN <= 16 ? 16 : 32,                                \
        px_slice_front = (front),                                                                  \
        px_slice_planes = (front) + (behind) + 1,                                                  \
        px_slice_plane = px_slice_ring * px_slice_row,                                             \
        px_slice_warm_up = ((up) + (down) + SLICE_TURN - 1) / SLICE_TURN * SLICE_TURN              \
    }
#define SLICES(T)                                                                                  \
    local uint px_ring[px_slice_planes * px_slice_plane];                                          \
    local uint px_sliced[px_slice_bits * LX];                                                      \
    local T px_ranks[SLICE_TURN][PX * LX] __attribute__((aligned(16)))

/* Four pixels. */
#define PX_QUAD(T, row, x, map, w)                                                                 \
    (PX_JOIN(T, 4))((row)[map(x, w)], (row)[map((x) + 1, w)], (row)[map((x) + 2, w)],              \
                    (row)[map((x) + 3, w)])
/* The slices of the rows that turn `from` needs beyond those of the last one. */
#define FETCH_SLICES(T, map, from, first, last, up, down, row_of_y)                                \
    for (int px_i = (int)get_local_id(0); px_i < px_slice_planes * SLICE_TURN * SLICE_PITCH; px_i += LX) { \
        const int px_nth = px_slice_planes > 1 ? px_i / (SLICE_TURN * SLICE_PITCH) : 0;            \
        const int px_z = px_nth - px_slice_front;                                                  \
        (void)px_z; /* of a plane's rows nobody asks for it */                                     \
        const int px_at = px_i / SLICE_PITCH - SLICE_TURN * px_nth + (from) + (down);              \
        const int y = clamp(px_at, (first) - (up), (last) + (down));                               \
        const int px_x = PX * LX * (int)get_group_id(0) + 32 * (px_i % SLICE_PITCH - 1);           \
        const global T *px_row = row_of_y;                                                         \
        PX_JOIN(T, 4) px_q[8];                                                                     \
        if (px_x >= 0 && px_x + 32 <= w) {                                                         \
            PX_UNROLLED for (int px_v = 0; px_v < 8; px_v += 16 / sizeof px_q[0]) {                \
                PX_JOIN(PX_LOAD_, T)(px_q, px_v, px_row + px_x)                                    \
            }                                                                                      \
        } else {                                                                                   \
            PX_UNROLLED for (int px_v = 0; px_v < 8; px_v++) {                                     \
                px_q[px_v] = PX_QUAD(T, px_row, px_x + 4 * px_v, map, w);                          \
            }                                                                                      \
        }                                                                                          \
        local uint *px_to =                                                                        \
            px_ring + px_nth * px_slice_plane + (px_at & (px_slice_ring - 1)) * px_slice_row +     \
            px_i % SLICE_PITCH;                                                                    \
        PX_JOIN(PX_KEEP_, T)(px_q, px_to)                                                          \
    }
#define PX_LOAD_uchar(q, v, from)                                                                  \
    const uint4 px_u = *(const global uint4 *)((from) + 4 * (v));                                  \
    q[v] = as_uchar4(px_u.x);                                                                      \
    q[(v) + 1] = as_uchar4(px_u.y);                                                                \
    q[(v) + 2] = as_uchar4(px_u.z);                                                                \
    q[(v) + 3] = as_uchar4(px_u.w);
#define PX_LOAD_ushort(q, v, from)                                                                 \
    const uint4 px_u = *(const global uint4 *)((from) + 4 * (v));                                  \
    q[v] = as_ushort4(px_u.xy);                                                                    \
    q[(v) + 1] = as_ushort4(px_u.zw);
#define PX_KEEP_BYTES(q, bytes, to, first)                                                         \
    {                                                                                              \
        const uint8 px_s =                                                                         \
            px_slices((uint8)(bytes(q[0]), bytes(q[1]), bytes(q[2]), bytes(q[3]), bytes(q[4]),     \
                              bytes(q[5]), bytes(q[6]), bytes(q[7])));                             \
        (to)[((first) + 0) * SLICE_PITCH] = px_s.s0;                                               \
        (to)[((first) + 1) * SLICE_PITCH] = px_s.s1;                                               \
        (to)[((first) + 2) * SLICE_PITCH] = px_s.s2;                                               \
        (to)[((first) + 3) * SLICE_PITCH] = px_s.s3;                                               \
        (to)[((first) + 4) * SLICE_PITCH] = px_s.s4;                                               \
        (to)[((first) + 5) * SLICE_PITCH] = px_s.s5;                                               \
        (to)[((first) + 6) * SLICE_PITCH] = px_s.s6;                                               \
        (to)[((first) + 7) * SLICE_PITCH] = px_s.s7;                                               \
    }
#define PX_LOW_BYTES(q) as_uint(convert_uchar4(q))
#define PX_HIGH_BYTES(q) as_uint(convert_uchar4((q) >> (ushort4)(8)))
#define PX_KEEP_uchar(q, to) PX_KEEP_BYTES(q, as_uint, to, 0)
#define PX_KEEP_ushort(q, to)                                                                      \
    PX_KEEP_BYTES(q, PX_LOW_BYTES, to, 0)                                                          \
    PX_KEEP_BYTES(q, PX_HIGH_BYTES, to, 8)

/* The pixels `dx` to the right of a word's, on the row `dy` down, `dz` planes further. */
#define SLICE(at, dz, y, dy, dx)                                                                   \
    PX_SLICE((at) + ((dz) + px_slice_front) * px_slice_plane +                                     \
                 (((y) + (dy)) & (px_slice_ring - 1)) * px_slice_row, dx)
#define PX_SLICE(word, dx)                                                                         \
    ((dx) == 0  ? (word)[0]                                                                        \
     : (dx) > 0 ? (word)[0] >> ((dx) & 31) | (word)[1] << (-(dx) & 31)                             \
                : (word)[0] << (-(dx) & 31) | (word)[-1] >> ((dx) & 31))

/* One digit of a count: of m words and digit `bit` of what counting begins with; the carries take
 * the words' place. */
#define PX_COUNT_DIGIT(v, m, bit)                                                                  \
    {                                                                                              \
        uint px_sum = (bit) ? ~0u : v[0];                                                          \
        PX_UNROLLED for (int px_i = 0; px_i < ((m) + (bit)) / 2; px_i++) {                         \
            const int px_j = 2 * px_i + 1 - (bit);                                                 \
            const uint px_a = v[px_j], px_b = px_j + 1 < (m) ? v[px_j + 1] : 0u;                   \
            v[px_i] = (px_sum & px_a) | (px_b & (px_sum | px_a));                                  \
            px_sum = px_sum ^ px_a ^ px_b;                                                         \
        }                                                                                          \
    }
/* v[0] becomes: have at least `least` of n words, up to 63, a 1?  64 - least more make 64. */
#define PX_AT_LEAST(v, n, least)                                                                   \
    {                                                                                              \
        enum {                                                                                     \
            px_k = 64 - (least),                                                                   \
            px_m1 = ((n) + (px_k & 1)) / 2,                                                        \
            px_m2 = (px_m1 + (px_k >> 1 & 1)) / 2,                                                 \
            px_m3 = (px_m2 + (px_k >> 2 & 1)) / 2,                                                 \
            px_m4 = (px_m3 + (px_k >> 3 & 1)) / 2,                                                 \
            px_m5 = (px_m4 + (px_k >> 4 & 1)) / 2                                                  \
        };                                                                                         \
        PX_COUNT_DIGIT(v, n, (px_k & 1))                                                           \
        PX_COUNT_DIGIT(v, px_m1, (px_k >> 1 & 1))                                                  \
        PX_COUNT_DIGIT(v, px_m2, (px_k >> 2 & 1))                                                  \
        PX_COUNT_DIGIT(v, px_m3, (px_k >> 3 & 1))                                                  \
        PX_COUNT_DIGIT(v, px_m4, (px_k >> 4 & 1))                                                  \
        PX_COUNT_DIGIT(v, px_m5, (px_k >> 5 & 1))                                                  \
    }

#define SLICES_ARE_KEPT barrier(CLK_LOCAL_MEM_FENCE)
#define RANK_AT(row, k) px_ranks[row][(k) * LX + (int)get_local_id(0)]
/* Number `nth` of each window of the work-item's word, into `px_ranks`.  Pixels that have their place
 * keep their last bit. */
#define RANK_SLICES(T, gather, n, nth, from)                                                       \
    {                                                                                              \
        const int px_row = (int)get_local_id(0) / SLICE_WORDS;                                     \
        const int px_word = (int)get_local_id(0) % SLICE_WORDS;                                    \
        local uint *px_own = px_sliced + get_local_id(0);                                          \
        uint px_placed[n], px_last[n];                                                             \
        PX_UNROLLED for (int px_e = 0; px_e < (n); px_e++) px_placed[px_e] = px_last[px_e] = 0;    \
        SLICE_UNROLL for (int px_p = px_slice_bits - 1; px_p >= 0; px_p--) {                       \
            uint px_v[n];                                                                          \
            gather(px_ring + px_p * SLICE_PITCH + px_word + 1, (from) + px_row, px_v);             \
            PX_UNROLLED for (int px_e = 0; px_e < (n); px_e++) {                                   \
                px_last[px_e] = (px_last[px_e] & px_placed[px_e]) | (px_v[px_e] & ~px_placed[px_e]);\
                px_v[px_e] = px_last[px_e];                                                        \
            }                                                                                      \
            PX_AT_LEAST(px_v, n, (n) - (nth))                                                      \
            PX_UNROLLED for (int px_e = 0; px_e < (n); px_e++) {                                   \
                px_placed[px_e] |= px_last[px_e] ^ px_v[0];                                        \
            }                                                                                      \
            px_own[px_p * LX] = px_v[0];                                                           \
        }                                                                                          \
        PX_JOIN(PX_RANKS_, T)(px_own, &px_ranks[px_row][32 * px_word])                             \
    }
#define SLICE_UNROLL _Pragma("unroll 1")
#define PX_BYTES_OF(own, first)                                                                    \
    px_bytes_of_slices(                                                                            \
        (uint8)((own)[((first) + 0) * LX], (own)[((first) + 1) * LX], (own)[((first) + 2) * LX],   \
                (own)[((first) + 3) * LX], (own)[((first) + 4) * LX], (own)[((first) + 5) * LX],   \
                (own)[((first) + 6) * LX], (own)[((first) + 7) * LX]))
#define PX_RANKS_uchar(own, to)                                                                    \
    {                                                                                              \
        const uint8 px_b = PX_BYTES_OF(own, 0);                                                    \
        *(local uint4 *)(to) = px_b.lo;                                                            \
        *(local uint4 *)((to) + 16) = px_b.hi;                                                     \
    }
#define PX_RANKS_ushort(own, to)                                                                   \
    {                                                                                              \
        const uint8 px_b = PX_BYTES_OF(own, 0), px_h = PX_BYTES_OF(own, 8);                        \
        local ushort4 *px_to = (local ushort4 *)(to);                                              \
        px_to[0] = PX_WORDS(s0);                                                                   \
        px_to[1] = PX_WORDS(s1);                                                                   \
        px_to[2] = PX_WORDS(s2);                                                                   \
        px_to[3] = PX_WORDS(s3);                                                                   \
        px_to[4] = PX_WORDS(s4);                                                                   \
        px_to[5] = PX_WORDS(s5);                                                                   \
        px_to[6] = PX_WORDS(s6);                                                                   \
        px_to[7] = PX_WORDS(s7);                                                                   \
    }
#define PX_WORDS(s)                                                                                \
    (convert_ushort4(as_uchar4(px_b.s)) | convert_ushort4(as_uchar4(px_h.s)) << (ushort4)(8))
