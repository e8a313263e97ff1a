/*
 * window_bits: what is under a walker's window as a set of ranks, a bit each (window_slide.cl), of which the n-th is
 * found.  Bits that are flipped below the word in which the last pixel's rank was are counted: the next one's is
 * a few words from there.
 *
 * The host defines SLIDE_WALKERS.
 */
#define SLIDE_ORDERS 2

/* Of an atomic exchange with a word of its own a walker need not wait for the result. */
#if SLIDE_ITEMS == 1
#define SLIDE_XOR(word, bit) (*(word) ^= (bit))
#else
#define SLIDE_XOR(word, bit) atomic_xor(word, bit)
#endif

/* `numbers` by place; `walkers` have one, side by side; `below` of the set are before word `at`. */
typedef struct SlideSet {
    local uint *words;
    global const SLIDE_PLACE *numbers;
    uint walkers, n_words, at, below;
} SlideSet;

/* Each place has its rank as its number.  There is `room` for all walkers. */
LANES_INLINE SlideSet slide_number(SlideOrder *order, local uint *room, uint words)
{
    for (uint i = (uint)get_local_id(0); i < order->n; i += SLIDE_ITEMS) {
        order->next[order->now[i]] = (SLIDE_PLACE)i;
    }
    SLIDE_WAIT(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const SlideSet set = {room + get_local_id(0), order->next, SLIDE_WALKERS, (order->n + 31) / 32, 0, 0};
    return set;
}

LANES_INLINE void slide_clear(SlideSet *set)
{
    for (uint i = 0; i < set->n_words; i++) {
        set->words[i * SLIDE_WALKERS] = 0;
    }
    set->at = set->below = 0;
}

/* A place with this number comes (1) or leaves (UINT_MAX). */
LANES_INLINE void slide_flip(SlideSet *set, uint number, uint change)
{
    SLIDE_XOR(&set->words[number / 32 * SLIDE_WALKERS], (uint)1 << number % 32);
    set->below += number / 32 < set->at ? change : 0;
}

/* The n-th rank of the set, which has as many, counted from 0. */
LANES_INLINE uint slide_find(SlideSet *set, uint n)
{
    while (n < set->below) {
        set->below -= popcount(set->words[--set->at * SLIDE_WALKERS]);
    }
    uint word = set->words[set->at * SLIDE_WALKERS], bits = popcount(word);
    while (n - set->below >= bits) {
        set->below += bits;
        word = set->words[++set->at * SLIDE_WALKERS];
        bits = popcount(word);
    }
    for (uint i = set->below; i < n; i++) {
        word &= word - 1;
    }
    return set->at * 32 + popcount((word & -word) - 1);
}
