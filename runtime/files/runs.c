/*
 * runs: one block (RFC 1951) in a zlib stream (RFC 1950), with matches of a single distance: the pixel before.
 *
 * The block's Huffman code is always the same one, so that one pass does: the longest match has one bit, since
 * background is made of these, other lengths have 7, and bytes, which begin runs, 10 or 11, but for 0 and 1.  Codes that
 * are made for each block would save an eighth of that.
 */
#include "runs.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <string.h>

enum {
    LENGTHS = 29, /* symbols for lengths; each stands for some, which more bits tell apart */
    SYMBOLS = 257 + LENGTHS,
    END = 256,
    WORD_MOST = 11, /* bits of a code word */
    SHORTEST = 3,   /* bytes of a match */
    HEAD = 100,     /* more bytes than come before the pixels */
    TAIL = 8        /* bytes that are free whenever a word has begun: it, the end and the sum have room */
};

/* Symbols from `first` on have words of so many bits; the words of all fill the code. */
static const struct {
    int first, bits;
} WORDS[] = {{0, 4}, {1, 6}, {2, 10}, {163, 11}, {257, 7}, {SYMBOLS - 1, 1}, {SYMBOLS, 0}};

static int word_bits(int symbol)
{
    int i = 0;
    while (symbol >= WORDS[i + 1].first) {
        i++;
    }
    return WORDS[i].bits;
}

static uint32_t reversed(uint32_t bits, int n)
{
    uint32_t to = 0;
    for (int i = 0; i < n; i++) {
        to |= (bits >> i & 1) << (n - 1 - i);
    }
    return to;
}

/* RFC 1951, 3.2.2: words of one length follow one another in the order of their symbols. */
static void words_of(RunsWord words[SYMBOLS])
{
    uint32_t next = 0;
    for (int n = 1; n <= WORD_MOST; n++, next <<= 1) {
        for (int symbol = 0; symbol < SYMBOLS; symbol++) {
            if (word_bits(symbol) == n) {
                words[symbol] = (RunsWord){reversed(next++, n), n};
            }
        }
    }
}

/* RFC 1951, 3.2.5: how many bits tell the lengths of a symbol apart. */
static int more_bits(int symbol)
{
    return symbol < 265 || symbol == SYMBOLS - 1 ? 0 : (symbol - 261) / 4;
}

void runs_code(RunsCode *code)
{
    RunsWord words[SYMBOLS];
    words_of(words);
    memcpy(code->literal, words, sizeof code->literal);
    code->end = words[END];
    for (int symbol = END + 1, length = SHORTEST; symbol < SYMBOLS - 1; symbol++) {
        int n = words[symbol].n, more = more_bits(symbol);
        for (uint32_t k = 0; k < 1u << more; k++, length++) { /* the only distance has the word 0, of one bit */
            code->match[length] = (RunsWord){words[symbol].bits | k << n, n + more + 1};
        }
    }
    code->match[RUNS_LONGEST] = (RunsWord){words[SYMBOLS - 1].bits, words[SYMBOLS - 1].n + 1};
}

/* ---- bits ------------------------------------------------------------------------------ */

static void put(Runs *b, uint32_t bits, int n)
{
    b->bits |= (uint64_t)bits << b->n;
    b->n += n;
    for (; b->n >= 8; b->n -= 8, b->bits >>= 8) {
        *b->at++ = (unsigned char)b->bits;
    }
}

static bool put_word(Runs *b, RunsWord word)
{
    put(b, word.bits, word.n);
    return b->at <= b->end;
}

/* ---- the head of the block ------------------------------------------------------------- */

/* RFC 1951, 3.2.7: the lengths of words, in a code in which each of these eight has three bits. */
enum { REPEAT = 16, FEWEST = 3, MOST = 6 };
static const int LENGTH_WORDS[] = {0, 1, 4, 6, 7, 10, 11, REPEAT};

static void put_length(Runs *b, int length)
{
    for (int i = 0; i < 8; i++) {
        if (LENGTH_WORDS[i] == length) {
            put(b, reversed((uint32_t)i, 3), 3);
        }
    }
}

static void put_lengths(Runs *b, int length, int n)
{
    put_length(b, length);
    for (n--; n > 0;) {
        int again = n < MOST ? n : MOST;
        if (again < FEWEST) {
            put_length(b, length);
            n--;
        } else {
            put_length(b, REPEAT);
            put(b, (uint32_t)(again - FEWEST), 2);
            n -= again;
        }
    }
}

static void put_head(Runs *b, size_t unit)
{
    static const int order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1};
    enum { LISTED = sizeof order / sizeof *order };
    put(b, 0x0178, 16);    /* zlib, a window of 32 KiB, fast */
    put(b, 1 | 2 << 1, 3); /* the last block, with a code of its own */
    put(b, SYMBOLS - 257, 5);
    put(b, (uint32_t)unit - 1, 5);
    put(b, LISTED - 4, 4);
    for (int i = 0; i < LISTED; i++) {
        uint32_t used = 0;
        for (int k = 0; k < 8; k++) {
            used |= LENGTH_WORDS[k] == order[i];
        }
        put(b, 3 * used, 3);
    }
    for (int i = 0; WORDS[i].bits > 0; i++) {
        put_lengths(b, WORDS[i].bits, WORDS[i + 1].first - WORDS[i].first);
    }
    for (size_t distance = 1; distance < unit; distance++) {
        put_length(b, 0);
    }
    put_length(b, 1);
}

/* ---- the pixels ------------------------------------------------------------------------ */

/* How many bytes from `at` on are those `unit` before them. */
static size_t run_length(const unsigned char *at, const unsigned char *end, size_t unit)
{
    const unsigned char *from = at;
    uint64_t a, b, four[4], before[4];
    for (; end - at >= (ptrdiff_t)sizeof four; at += sizeof four) {
        memcpy(four, at, sizeof four);
        memcpy(before, at - unit, sizeof before);
        if (((four[0] ^ before[0]) | (four[1] ^ before[1]) | (four[2] ^ before[2]) | (four[3] ^ before[3])) != 0) {
            break;
        }
    }
    for (; end - at >= (ptrdiff_t)sizeof a; at += sizeof a) {
        memcpy(&a, at, sizeof a);
        memcpy(&b, at - unit, sizeof b);
        if (a != b) {
            break;
        }
    }
    while (at < end && *at == *(at - unit)) {
        at++;
    }
    return (size_t)(at - from);
}

static bool put_run(Runs *b, size_t length)
{
    bool room = true;
    for (; room && length >= RUNS_LONGEST; length -= RUNS_LONGEST) {
        room = put_word(b, b->code->match[RUNS_LONGEST]);
    }
    return room && (length == 0 || put_word(b, b->code->match[length]));
}

bool runs_add(Runs *b, const void *from, size_t bytes)
{
    const unsigned char *at = from, *end = at + bytes, *known = b->begun ? at : at + b->unit;
    bool room = b->at <= b->end;
    while (room && at < end) {
        size_t run = at >= known ? run_length(at, end, b->unit) : 0, rest = run % RUNS_LONGEST;
        run -= rest < SHORTEST ? rest : 0;
        room = run > 0 ? put_run(b, run) : put_word(b, b->code->literal[*at]);
        at += run > 0 ? run : 1;
    }
    b->sum = libdeflate_adler32(b->sum, from, bytes);
    b->begun = true;
    return room;
}

void runs_begin(Runs *b, const RunsCode *code, size_t unit, void *to, size_t room)
{
    *b = (Runs){.code = code, .unit = unit, .begin = to, .at = to, .end = to, .sum = 1};
    if (room < HEAD + TAIL) {
        b->at++; /* beyond the end */
        return;
    }
    b->end += room - TAIL;
    put_head(b, unit);
}

size_t runs_end(Runs *b)
{
    put(b, b->code->end.bits, b->code->end.n);
    put(b, 0, (8 - b->n) % 8);
    for (int shift = 24; shift >= 0; shift -= 8) {
        put(b, b->sum >> shift & 255, 8);
    }
    return (size_t)(b->at - b->begin);
}

size_t runs_pack(const RunsCode *code, size_t unit, const void *from, size_t bytes, void *to, size_t room)
{
    Runs runs;
    runs_begin(&runs, code, unit, to, room);
    return runs_add(&runs, from, bytes) ? runs_end(&runs) : 0;
}
