/*
 * rename: names are taken from the texts in front of kernels, and from a list of what generated kernels call their
 * own things.  The new ones stand nowhere in the pipeline, so that all that could go wrong is that the compiler takes a
 * name for something else; then the text is not used (generate.c).
 */
#include "rename.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

extern const char kernel_text_px_math[], kernel_text_px_whole[], kernel_text_pixels[], kernel_text_rows[],
    kernel_text_long_folds[], kernel_text_slices[], kernel_text_epilogue[], kernel_text_visit[], kernel_text_label[];

static const char GENERATED[] =
    "x y z w h d c k m j i n p q r s t x0 y0 z0 x1 y1 r0 r1 p0 p1 t0 t1 u0 u1 s2 from turn side begin first last end strip "
    "plane planes pitch rows_from rows_to plane_from cols_from row_from part_y part_plane sum0 sum1 sum2 max0 min1 prod1 "
    "r0_inside r1_inside open0 open1 window0 window0_n host1_f32 near0 tile0 at0 tap taps value values wanted slab kept_rows "
    "px_at px_row px_carried0 px_ranked partials0 reduced0 read_0 read_1 READ_ARGS READ_PARAMS TURNS STEPS PX LX ROW UP4 "
    "CHANNEL WHERE HOST image_t image_rows image_row0 v1_rows v1_at v1_r0 v1_inside kernel global local constant private "
    "main generic int float double uint uchar ushort long bool half void const static inline get_group_id get_global_id "
    "barrier fma fmin fmax convert_int as_float INFINITY NAN INT_MAX CL_VERSION __FILE__ __LINE__ _x x_ x__y u_x f64_exp";

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The next word of a text; NULL: there is none. */
static const char *next_word(const char *p, size_t *length)
{
    for (; *p != '\0'; p += *p != '\0') {
        *length = 0;
        while (is_letter(p[*length])) {
            (*length)++;
        }
        if (*length > 0 && !isdigit((unsigned char)*p)) {
            return p;
        }
        p += *length > 0 ? *length - 1 : 0;
    }
    return NULL;
}

static bool has_word(const char *text, const char *word)
{
    size_t n;
    for (const char *p = text; (p = next_word(p, &n)) != NULL; p += n) {
        if (n == strlen(word) && memcmp(p, word, n) == 0) {
            return true;
        }
    }
    return false;
}

/* A word from somewhere in a text, of fewer than `size` bytes. */
static void draw_from(Draw *d, const char *text, char *to, size_t size)
{
    size_t n = 0;
    const char *word = NULL;
    while (word == NULL || n >= size) {
        const char *from = text + draw_below(d, (unsigned)strlen(text));
        from += strcspn(from, " \n"); /* to the end of the word that this is in */
        word = next_word(from, &n);
    }
    snprintf(to, size, "%.*s", (int)n, word);
}

static void new_name(Draw *d, const char *text, const char *renamed, char *to, size_t size)
{
    static const char *const TEXTS[] = {kernel_text_px_math,  kernel_text_px_whole, kernel_text_pixels,
                                        kernel_text_rows,     kernel_text_slices,   kernel_text_long_folds,
                                        kernel_text_epilogue, kernel_text_visit,    kernel_text_label};
    do {
        draw_from(d, draw_chance(d, 60) ? GENERATED : draw_one(d, TEXTS), to, size);
    } while (has_word(text, to) || has_word(renamed, to));
}

/* "v12", "f3", and what the generator calls inputs and params. */
static bool is_name(const char *word, size_t n, bool locals)
{
    static const char *const NAMES[] = {"image", "other", "seg", "roi", "p", "q"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strlen(NAMES[i]) == n && memcmp(NAMES[i], word, n) == 0) {
            return true;
        }
    }
    bool numbered = n > 1 && strchr("vftso", word[0]) != NULL && strspn(word + 1, "0123456789") == n - 1;
    return numbered || (locals && n == 1 && strchr("abskhntulm", word[0]) != NULL);
}

/* A member's name, or an argument's in a call. */
static bool is_of_somebody(const char *text, const char *word, size_t n)
{
    const char *before = word;
    while (before > text && before[-1] == ' ') {
        before--;
    }
    bool inside = before > text && strchr(".(,[", before[-1]) != NULL;
    return inside && (before[-1] == '.' || (strncmp(word + n, " = ", 3) == 0));
}

/* What a word was renamed to before, or NULL; `pairs` holds "old new old new ". */
static const char *known(const char *pairs, const char *word, size_t n, size_t *length)
{
    size_t m;
    for (const char *p = pairs; (p = next_word(p, &m)) != NULL;) {
        const char *to = next_word(p + m, length);
        if (m == n && memcmp(p, word, n) == 0) {
            return to;
        }
        p = to + *length;
    }
    return NULL;
}

void rename_names(Draw *d, const char *text, bool locals, Str *out)
{
    Str pairs;
    str_init(&pairs, out->arena);
    size_t n, length;
    const char *from = text;
    for (const char *word; (word = next_word(from, &n)) != NULL; from = word + n) {
        str_addn(out, from, (size_t)(word - from));
        if (is_of_somebody(text, word, n) || !is_name(word, n, locals)) {
            str_addn(out, word, n);
            continue;
        }
        if (known(pairs.at, word, n, &length) == NULL) {
            char name[16];
            new_name(d, text, pairs.at, name, sizeof name);
            str_addf(&pairs, "%.*s %s ", (int)n, word, name);
        }
        const char *name = known(pairs.at, word, n, &length);
        str_addn(out, name, length);
    }
    str_add(out, from);
}
