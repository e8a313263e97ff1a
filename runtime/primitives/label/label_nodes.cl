/*
 * label_nodes: what the kernels of label share: words, runs and nodes.
 *
 * label finds connected components of a mask that is computed on the fly.
 *
 * The mask is packed into words of 32 pixels of a row.  The nodes of a union-find forest are the
 * runs of set pixels inside a word.  A node's number is made of its plane, row, word and run (4
 * bits: a word has at most 16), so numbers follow raster order; the smaller root always wins, so
 * the root of an object is the run of its first pixel, and counting roots in order numbers the
 * objects in raster order, whatever the scheduling was.
 *
 * The kernels, of label_tiles.cl and label.cl:
 *
 *   label_tiles  packs the mask and solves tiles on their own, in local memory on GPUs; then each
 *                run points to the first run of its object in the tile
 *
 *   label_seams  unites over the borders of tiles
 *
 *   label_rank   points the roots of tiles to the roots of whole objects, and counts these
 *
 *   scan_sums    adds the counts up
 *
 *   label_write  writes the numbers
 *
 * Parents live in the label image: those of a tile's runs in the tile's own pixels, so that
 * label_write can read what it needs of them before it writes there.  Scratch holds two words for
 * each word of mask: the mask itself, and a bit for each run that is a root (below) with the number
 * of roots before it in its block (above).
 *
 * Two runs in neighbouring rows need to be united once, which is where the later one of them
 * begins; links that others already imply are left out (label_links).
 *
 * The host defines LABEL_CPU, LABEL_BALLOT, LABEL_WIDE (nodes of 64 bits), LABEL_CONNECTIVITY,
 * LABEL_3D and LABEL_TILE_X (words), LABEL_TILE_Y, LABEL_TILE_Z.  Names that meet a reader's begin
 * with own_ or label_.
 */
#pragma OPENCL FP_CONTRACT OFF

#define LABEL_INLINE static inline __attribute__((always_inline))
#define LABEL_RUNS 16    /* most runs in a word */
#define LABEL_BLOCK 1024 /* words that share a sum */
/* Words of a tile; on GPUs the work-items of a group. */
#define LABEL_TILE_WORDS (LABEL_TILE_X * LABEL_TILE_Y * LABEL_TILE_Z)
#if LABEL_CPU
#define LABEL_GROUP 1
#define LABEL_COUNTERS 1
#else
#define LABEL_GROUP LABEL_TILE_WORDS
#define LABEL_COUNTERS 256
#endif
#define LABEL_KERNEL kernel __attribute__((reqd_work_group_size(LABEL_GROUP, 1, 1)))

#if LABEL_WIDE
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
typedef ulong LabelNode;
#define label_exchange atom_cmpxchg
#define label_lower atom_min
#else
typedef uint LabelNode;
#define label_exchange atomic_cmpxchg
#define label_lower atomic_min
#endif

typedef struct LabelShape {
    int w, h, d, planes; /* d: planes of a channel */
    int pitch;
    int words;          /* in a row */
    int bits_x, bits_y; /* of a node's number, for word and row */
} LabelShape;

#define LABEL_PARAMS                                                                               \
    int own_w, int own_h, int own_d, int own_planes, int own_pitch, int own_bits_x, int own_bits_y
#define LABEL_SHAPE                                                                                \
    {                                                                                              \
        own_w, own_h, own_d, own_planes, own_pitch, (own_w + 31) / 32, own_bits_x, own_bits_y      \
    }

/* ---- words, runs and nodes ------------------------------------------------------------------- */

LABEL_INLINE uint label_starts(uint word)
{
    return word & ~(word << 1);
}

LABEL_INLINE uint label_last_run(uint word)
{
    return (uint)popcount(label_starts(word)) - 1;
}

/* Which run `bit` (one bit) lies in, or directly behind. */
LABEL_INLINE uint label_run_at(uint starts, uint bit)
{
    return (uint)popcount(starts & (bit | (bit - 1))) - 1;
}

typedef struct LabelSpot {
    int plane, y, word;
} LabelSpot;

LABEL_INLINE LabelNode label_node(LabelShape s, LabelSpot at, uint run)
{
    const LabelNode row = (LabelNode)at.plane << s.bits_y | (LabelNode)at.y;
    return (row << s.bits_x | (LabelNode)at.word) << 4 | run;
}

LABEL_INLINE LabelSpot label_spot(LabelShape s, LabelNode node)
{
    LabelSpot at;
    at.word = (int)(node >> 4 & (((LabelNode)1 << s.bits_x) - 1));
    at.y = (int)(node >> (4 + s.bits_x) & (((LabelNode)1 << s.bits_y) - 1));
    at.plane = (int)(node >> (4 + s.bits_x) >> s.bits_y);
    return at;
}

/* Index of a word in scratch; 32 bits are enough for 2^37 pixels. */
LABEL_INLINE uint label_index(LabelShape s, LabelSpot at)
{
    return ((uint)at.plane * (uint)s.h + (uint)at.y) * (uint)s.words + (uint)at.word;
}

LABEL_INLINE uint label_count_words(LabelShape s)
{
    return (uint)s.planes * (uint)s.h * (uint)s.words;
}

/* Parts of scratch. */
LABEL_INLINE global uint *label_roots(LabelShape s, global uint *scratch)
{
    return scratch + label_count_words(s);
}

LABEL_INLINE global uint *label_sums(LabelShape s, global uint *scratch)
{
    return scratch + 2 * (size_t)label_count_words(s);
}

/* What run 0 of a word has as its place among the parents, and how far apart the places of its runs
 * are.  First runs of a tile's words lie side by side, then second runs and so on. */
LABEL_INLINE size_t label_place(LabelShape s, LabelSpot at, uint *apart)
{
    const size_t row = ((size_t)at.plane * (size_t)s.h + (size_t)at.y) * (size_t)s.pitch;
#if LABEL_WIDE
    *apart = 1;
    return row / 2 + (size_t)at.word * LABEL_RUNS;
#else
    const int first = at.word & ~(LABEL_TILE_X - 1);
    *apart = (uint)min(LABEL_TILE_X, s.words - first);
    return row + (size_t)(first * 32 + (at.word - first));
#endif
}

LABEL_INLINE size_t label_place_of(LabelShape s, LabelNode node)
{
    uint apart;
    const size_t place = label_place(s, label_spot(s, node), &apart);
    return place + (uint)(node & (LABEL_RUNS - 1)) * apart;
}

/* ---- which runs are neighbours --------------------------------------------------------------- */

/* A word of a row with its neighbours to both sides. */
typedef struct LabelRow {
    uint before, word, after;
} LabelRow;

typedef struct LabelLinks {
    uint inside; /* a bit for each pair of neighbouring runs: where the later one begins (or,
                    diagonally, directly behind the end of the earlier one) */
    bool before; /* the first run of the row's word and the last of the other row's word before */
    bool after;  /* the last run and the first of the other row's word after */
} LabelLinks;

/*
 * What links a word to an earlier row, reaching `reach` (0 or 1) columns further.  `part`: the
 * pixels of the word whose links matter.  The diagonal links over the ends of the word are left out
 * where a pixel beside is set that both are linked to.
 */
LABEL_INLINE LabelLinks label_links(LabelRow row, uint part, LabelRow other, int reach)
{
    const uint starts = label_starts(part), other_starts = label_starts(other.word);
    LabelLinks links;
    if (reach == 0) {
        links.inside = (starts | other_starts) & part & other.word;
        links.before = links.after = false;
    } else {
        links.inside =
            (starts & (other.word | other.word << 1)) | (other_starts & (part | part << 1));
        links.before =
            (part & other.before >> 31 & 1) != 0 && (other.word & 1) == 0 && row.before >> 31 == 0;
        links.after =
            (part >> 31 & other.after) != 0 && other.word >> 31 == 0 && (row.after & 1) == 0;
    }
    return links;
}

/* The rows before a row that can hold neighbours: y - 1; then in plane z - 1: y, y - 1, y + 1. */
#if !LABEL_3D
#define LABEL_BACK 1
#elif LABEL_CONNECTIVITY == 1
#define LABEL_BACK 2
#else
#define LABEL_BACK 4
#endif

LABEL_INLINE int label_back_y(int back)
{
    return back == 1 ? 0 : back == 3 ? 1 : -1;
}

LABEL_INLINE int label_back_z(int back)
{
    return back == 0 ? 0 : -1;
}

LABEL_INLINE int label_reach(int back)
{
    return LABEL_CONNECTIVITY > (back >= 2 ? 2 : 1);
}

/* The pixels whose links to row `back` matter.  A pixel that is set in plane z - 1, too, is linked
 * to the rows beside through it, one that is set in row y - 1 to row y - 1 of plane z - 1. */
LABEL_INLINE uint label_part(int back, uint word, uint up, uint below)
{
    return back < 2 ? word : back == 2 ? word & ~below & ~up : word & ~below;
}

/* True when a word's first run needs to be united with the last one of the word before: not where
 * both have pixels above, which then are united and linked to them. */
LABEL_INLINE bool label_joined(uint before, uint word, uint up_before, uint up)
{
    return (word & before >> 31 & 1) != 0 && (up & up_before >> 31 & 1) == 0;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

typedef struct LabelTile {
    LabelSpot first;
    int across, down, deep; /* words, rows and planes that lie in the image */
} LabelTile;

LABEL_INLINE LabelTile label_tile(LabelShape s)
{
    const uint tiles_x = ((uint)s.words + LABEL_TILE_X - 1) / LABEL_TILE_X;
    const uint tiles_y = ((uint)s.h + LABEL_TILE_Y - 1) / LABEL_TILE_Y;
    const uint tiles_z = ((uint)s.d + LABEL_TILE_Z - 1) / LABEL_TILE_Z;
    const uint number = (uint)get_group_id(0);
    const uint row = number / tiles_x, layer = row / tiles_y;
    const uint channel = layer / tiles_z;
    const int z = (int)(layer - channel * tiles_z) * LABEL_TILE_Z;
    LabelTile tile;
    tile.first.word = (int)(number - row * tiles_x) * LABEL_TILE_X;
    tile.first.y = (int)(row - layer * tiles_y) * LABEL_TILE_Y;
    tile.first.plane = (int)channel * s.d + z;
    tile.across = min(LABEL_TILE_X, s.words - tile.first.word);
    tile.down = min(LABEL_TILE_Y, s.h - tile.first.y);
    tile.deep = min(LABEL_TILE_Z, s.d - z);
    return tile;
}

/* Where word `number` of a tile lies, counted along x, y, z. */
LABEL_INLINE LabelSpot label_in_tile(LabelTile tile, uint number)
{
    LabelSpot at = tile.first;
    at.word += (int)(number % LABEL_TILE_X);
    at.y += (int)(number / LABEL_TILE_X % LABEL_TILE_Y);
    at.plane += (int)(number / (LABEL_TILE_X * LABEL_TILE_Y));
    return at;
}

LABEL_INLINE bool label_in_image(LabelTile tile, LabelSpot at)
{
    return at.word - tile.first.word < tile.across && at.y - tile.first.y < tile.down &&
           at.plane - tile.first.plane < tile.deep;
}

LABEL_INLINE bool label_is_inside(LabelTile tile, LabelSpot at)
{
    return (uint)(at.word - tile.first.word) < LABEL_TILE_X &&
           (uint)(at.y - tile.first.y) < LABEL_TILE_Y &&
           (uint)(at.plane - tile.first.plane) < LABEL_TILE_Z;
}
