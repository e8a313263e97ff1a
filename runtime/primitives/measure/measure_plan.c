/* measure_plan: lanes, digits and the division of scratch memory. */
#include "measure_plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_OBJECTS = 1 << 20,
    MOST_ROWS = 1 << 22,
    TABLE_BYTES = 256 << 20,
    ALIGNMENT = 4096,
    FINISHED = 1 << 16, /* rows of the table, that there is room for at least */
    FINISHED_GRAIN = 256,
    SCANNED = 256 /* objects that a group scans, at least */
};

static int bits_of(double n)
{
    int bits = 0;
    while (n > 1) {
        n /= 2;
        bits++;
    }
    return bits;
}

/* Digits of 32 bits that hold sums of `bits` bits; the last one has 62. */
static int digits_for(int bits, int at_least)
{
    int digits = bits > 62 ? 1 + (bits - 62 + 31) / 32 : 1;
    return digits > at_least ? digits : at_least;
}

static int take(int *next, int n)
{
    int at = *next;
    *next += n;
    return at;
}

/* The class of an image, and its windows: see kernels/measure.cl. */
static void choose_class(const MeasureSpread *spread, ImageLanes *image)
{
    image->kind = 2;
    if (spread == NULL) {
        return;
    }
    int top = spread->top, low = spread->low;
    if (top <= low) { /* all labelled pixels are 0 */
        top = 1;
        low = 0;
    }
    int range = top - low;
    if (low >= 0 && top <= 16) {
        low = 0;
        range = 16;
    }
    image->kind = range <= 16 && abs(low) < 100 ? 0 : range <= 48 ? 1 : 2;
    image->base = range <= 96 ? low : top - 96;
    image->base2 = range <= 64 ? 2 * low : 2 * top - 128;
}

static void lanes_of_image(unsigned needs, const MeasureSpread *spread, const PrimCall *call, MeasureLanes *lanes,
                           ImageLanes *image)
{
    static const int BITS[3] = {16, 48, 96}, SQUARE_BITS[3] = {32, 128, 128};
    static const int LEAST[3] = {1, 2, 3}, SQUARE_LEAST[3] = {1, 4, 4};
    PrimPart part = prim_part(call);
    int side = call->w > part.h ? call->w : part.h;
    side = part.d > side ? part.d : side;
    choose_class(spread, image);
    int pixels = bits_of((double)call->w * part.h * part.d * part.channels), kind = image->kind;
    if (needs & MEASURE_SUM) {
        image->sum_digits = digits_for(BITS[kind] + pixels, LEAST[kind]);
    }
    if (needs & MEASURE_SQUARE) {
        image->square_digits = digits_for(SQUARE_BITS[kind] + pixels, SQUARE_LEAST[kind]);
    }
    if (needs & MEASURE_CENTER) {
        image->by_digits = digits_for(BITS[kind] + bits_of(side) + pixels, LEAST[kind]);
    }
    image->sum = take(&lanes->sums, image->sum_digits);
    image->square = take(&lanes->sums, image->square_digits);
    for (int axis = 0; axis < 2 + lanes->space; axis++) {
        image->by[axis] = take(&lanes->sums, image->by_digits);
    }
    bool sums = needs & MEASURE_WINDOWED;
    bool range = (needs & MEASURE_RANGE) || (sums && (spread == NULL || spread->not_finite));
    image->range = range ? take(&lanes->lows, 2) : -1;
}

static int count_bits(uint64_t mask)
{
    int n = 0;
    for (; mask != 0; mask &= mask - 1) {
        n++;
    }
    return n;
}

int measure_z_powers(uint64_t mask)
{
    int n = 1;
    while (mask >> 16 != 0) {
        mask >>= 16;
        n++;
    }
    return n;
}

static int take_if(bool wanted, int *next, int n)
{
    return wanted ? take(next, n) : -1;
}

void measure_lanes(const MeasureList *list, const MeasureSpread *spread, const PrimCall *call, MeasureLanes *lanes)
{
    *lanes = (MeasureLanes){.space = list->dims == 3};
    lanes->sums = 3 + lanes->space;
    lanes->lows = 4 + 2 * lanes->space;
    for (int k = 0; k < list->images; k++) {
        lanes_of_image(list->image_needs[k], spread != NULL ? &spread[k] : NULL, call, lanes, &lanes->image[k]);
    }
    lanes->outline = lanes->all = lanes->sums;
    lanes->perimeter = take_if(list->needs & MEASURE_PERIMETER, &lanes->n_outline, 3);
    lanes->crofton = take_if(list->needs & MEASURE_CROFTON, &lanes->n_outline, 5);
    lanes->euler = take_if(list->needs & MEASURE_EULER, &lanes->n_outline, 1);
    lanes->all += lanes->n_outline;
    lanes->convex = take_if(list->needs & MEASURE_HULL, &lanes->all, 1);
    lanes->feret = take_if(list->needs & MEASURE_FERET, &lanes->all, 1);
    lanes->filled = take_if(list->needs & MEASURE_FILLED, &lanes->all, 1);
    uint64_t mask = measure_moments(list->needs, list->dims, false);
    lanes->moments_mask = mask;
    lanes->powers = mask == 0 ? 0 : list->needs & (MEASURE_THIRD | MEASURE_MOMENTS) ? 4 : 3;
    lanes->moments = take_if(mask != 0, &lanes->all, count_bits(mask));
    for (int k = 0; k < list->images; k++) {
        ImageLanes *image = &lanes->image[k];
        unsigned needs = list->image_needs[k];
        image->weighted_mask = mask = measure_moments(needs, list->dims, true);
        image->weighted = take_if(mask != 0, &lanes->all, count_bits(mask));
        image->median = take_if(needs & MEASURE_MEDIAN, &lanes->all, 1);
    }
}

static size_t take_bytes(size_t *end, size_t bytes)
{
    size_t at = *end;
    *end += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* What a row of an object takes. */
static size_t row_bytes(const MeasureLanes *lanes, const MeasureScratch *s, bool cut)
{
    size_t row = 0;
    if (lanes->convex >= 0 || lanes->powers > 0) {
        row = 2 * sizeof(int32_t);
        row += lanes->convex >= 0 ? 2 * sizeof(int32_t) : 0;
        row += lanes->convex >= 0 && lanes->space ? 2 * sizeof(uint64_t) : 0;
        row += (size_t)lanes->powers * sizeof(uint64_t);
    }
    row += s->weights ? 2 * sizeof(int32_t) + MEASURE_WEIGHTS * sizeof(double) : 0;
    return row + (cut && row > 0 ? MEASURE_KEPT : 0);
}

/* The work area, which the stages after the first use in turn; rows and words get what others need. */
static size_t divide_work(const MeasureList *list, const MeasureLanes *lanes, MeasureScratch *s, size_t pixels,
                          bool cut)
{
    size_t row = row_bytes(lanes, s, cut), columns = 6 * (size_t)ALIGNMENT;
    size_t word = (cut ? 4 : 3) * sizeof(uint32_t);
    bool median = false;
    for (int k = 0; k < list->images; k++) {
        median = median || (list->image_needs[k] & MEASURE_MEDIAN);
    }
    size_t most = s->rows * row + columns;
    size_t large = (pixels / MEASURE_LARGE + 1) * sizeof(MeasureLarge);
    most = larger(most, median ? larger(s->keys + large, 2 * MEASURE_RECORD) : 0);
    most = larger(most, list->needs & MEASURE_FILLED ? s->words * word : 0);
    size_t rows = s->objects < FINISHED ? s->objects / FINISHED_GRAIN + 1 : FINISHED / FINISHED_GRAIN;
    most = larger(most, rows * FINISHED_GRAIN * (size_t)(list->columns + 1) * sizeof(double));
    size_t room = row > 0 ? (most - columns) / row : 0;
    s->rows = (uint32_t)larger(s->rows, room < MOST_ROWS ? room : MOST_ROWS);
    s->words = larger(s->words, most / word);
    return most;
}

/* Labels whose sums are there at a time.  In parts all of them if they have room, or as many as have where
 * their number is not known: others go to the host and come back with every part. */
static size_t objects_of(const PrimCall *call, size_t pixels, size_t object)
{
    size_t objects = pixels / 16 + 64 < MOST_OBJECTS ? pixels / 16 + 64 : MOST_OBJECTS;
    size_t place = 3 * sizeof(uint64_t) + sizeof(uint32_t) + 1;
    size_t most = (size_t)(call->room / (object + place));
    if (call->part.cut) {
        double image = (double)call->w * call->part.h * call->part.d * call->part.channels;
        double labels = call->certain ? call->labels : image;
        objects = larger(objects, labels < (double)most ? (size_t)labels : most);
    }
    return objects < TABLE_BYTES / object ? objects : TABLE_BYTES / object;
}

void measure_scratch(const MeasureList *list, const MeasureLanes *lanes, const PrimCall *call, MeasureScratch *s)
{
    PrimCall longest = prim_longest(call);
    PrimPart part = prim_part(call);
    size_t pixels = (size_t)longest.w * (size_t)longest.h * (size_t)longest.planes;
    size_t lines = (size_t)longest.h * (size_t)longest.planes;
    /* An object's rows come together again, however many parts it is in. */
    size_t most_lines = larger(lines, (size_t)part.h * (size_t)part.d);
    size_t object = (size_t)lanes->all * 8 + (size_t)lanes->lows * 4;
    size_t objects = objects_of(call, pixels, object), rows = larger(most_lines, pixels / 16 + 64);
    rows = rows < MOST_ROWS ? rows : larger(MOST_ROWS, most_lines);
    *s = (MeasureScratch){.objects = (uint32_t)objects, .rows = (uint32_t)rows};
    for (int k = 0; k < list->images; k++) {
        s->weights = s->weights || (part.cut && lanes->image[k].weighted >= 0);
    }
    s->keys = (pixels * sizeof(uint32_t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    bool planes = list->dims > 2 && !part.across;
    size_t around = !part.cut ? 0 : 2 * (size_t)(planes ? longest.h : longest.planes);
    s->words = (lines + around) * (((size_t)call->w + 31) / 32) + 64;
    s->numbers = take_bytes(&s->all, sizeof(MeasureNumbers));
    s->window = take_bytes(&s->all, 2 * sizeof(int32_t) * MEASURE_MAX_IMAGES);
    s->table = take_bytes(&s->all, (size_t)lanes->all * 8 * objects);
    s->lows = take_bytes(&s->all, (size_t)lanes->lows * 4 * objects);
    s->place = take_bytes(&s->all, objects * sizeof(uint64_t));
    s->heights = take_bytes(&s->all, objects * sizeof(uint32_t));
    s->sizes = take_bytes(&s->all, (objects + 1) * sizeof(uint64_t));
    s->others = take_bytes(&s->all, part.cut ? (objects + 1) * sizeof(uint64_t) : 0);
    s->groups = take_bytes(&s->all, (objects / SCANNED + 4) * sizeof(uint64_t));
    s->work = take_bytes(&s->all, divide_work(list, lanes, s, pixels, part.cut));
}

/* ---- defines --------------------------------------------------------------------------- */

typedef struct Text {
    char *at;
    size_t left;
} Text;

static void add(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(Text *text, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text->at, text->left, format, ap);
    va_end(ap);
    size_t length = n < 0 ? 0 : (size_t)n < text->left ? (size_t)n : text->left - 1;
    text->at += length;
    text->left -= length;
}

/* The largest hash table, as a power of two, that leaves room for two groups. */
static int slot_bits(int sums, int lows, uint64_t local)
{
    uint64_t most = local / 2 < 24576 ? local / 2 : 24576;
    int bits = 8;
    while (bits > 2 && (uint64_t)(1 + 2 * sums + lows) * 4 << bits > most) {
        bits--;
    }
    return bits;
}

typedef struct Define {
    const char *name;
    int value;
} Define;

/* image 0: none. */
static void define(Text *text, int image, const Define *list, int n)
{
    for (int i = 0; i < n; i++) {
        if (image > 0) {
            add(text, "#define MEASURE_%s_%d %d\n", list[i].name, image, list[i].value);
        } else {
            add(text, "#define MEASURE_%s %d\n", list[i].name, list[i].value);
        }
    }
}

static void define_image(Text *text, int k, const ImageLanes *image)
{
    const Define list[] = {{"CLASS", image->kind},
                           {"SUM", image->sum},
                           {"SUM_DIGITS", image->sum_digits},
                           {"SQUARE", image->square},
                           {"SQUARE_DIGITS", image->square_digits},
                           {"BY_X", image->by[0]},
                           {"BY_Y", image->by[1]},
                           {"BY_Z", image->by[2]},
                           {"BY_DIGITS", image->by_digits},
                           {"RANGE", image->range}};
    define(text, k, list, sizeof list / sizeof *list);
}

static void define_mask(Text *text, const char *name, uint64_t mask)
{
    add(text, "#define MEASURE_%s 0x%llxu\n", name, (unsigned long long)mask);
}

void measure_item_defines(const MeasureList *list, const MeasureLanes *lanes, int group, char *out, size_t size)
{
    Text text = {out, size};
    const Define defines[] = {{"DIMS", list->dims},           {"COLUMNS", list->columns},
                              {"CONVEX", lanes->convex},      {"FERET", lanes->feret},
                              {"FILLED", lanes->filled},      {"MOMENTS", lanes->moments},
                              {"OUTLINE_AT", lanes->outline}, {"PERIMETER", lanes->perimeter},
                              {"CROFTON", lanes->crofton},    {"EULER", lanes->euler}};
    add(&text, "#define SCAN_GROUP %d\n#define EXACT_MOST %d\n", group, MEASURE_DIGITS);
    define(&text, 0, defines, sizeof defines / sizeof *defines);
    define_mask(&text, "MOMENTS_MASK", lanes->moments_mask);
    add(&text, "#define MEASURE_FOR_IMAGES(DO)");
    for (int k = 0; k < list->images; k++) {
        add(&text, " DO(%d)", k + 1);
    }
    add(&text, "\n#define MEASURE_FOR_ITEMS(DO)");
    int column = 0;
    for (int i = 0; i < list->n; i++) {
        const MeasureItem *item = &list->at[i];
        int columns = measure_columns(item->measure, list->dims);
        add(&text, " DO(%s, %d, %d, %d)", item->measure->function, item->measure->intensity ? item->image + 1 : 0,
            column, columns);
        column += columns;
    }
    add(&text, "\n");
    for (int k = 0; k < list->images; k++) {
        const ImageLanes *image = &lanes->image[k];
        const Define more[] = {{"MEDIAN", image->median}, {"WEIGHTED", image->weighted}};
        char mask[32];
        define_image(&text, k + 1, image);
        define(&text, k + 1, more, 2);
        (void)snprintf(mask, sizeof mask, "WEIGHTED_MASK_%d", k + 1);
        define_mask(&text, mask, image->weighted_mask);
        add(&text, "#define MEASURE_FRACTION_%d %.17e\n", k + 1, list->fraction[k]);
    }
}

void measure_defines(const MeasureList *list, const MeasureLanes *lanes, uint64_t local, char *out, size_t size)
{
    Text text = {out, size};
    int images = list->images;
    const Define defines[] = {{"SPACE", lanes->space},
                              {"SUMS", lanes->sums},
                              {"LOWS", lanes->lows},
                              {"SLOT_BITS", slot_bits(lanes->sums, lanes->lows, local)},
                              {"OUTLINE", lanes->n_outline},
                              {"OUTLINE_BITS", slot_bits(lanes->n_outline, 0, local)},
                              {"PERIMETER", lanes->perimeter},
                              {"CROFTON", lanes->crofton},
                              {"EULER", lanes->euler},
                              {"POWERS", lanes->powers},
                              {"IMAGES", images > 0 ? images : 1}};
    define(&text, 0, defines, sizeof defines / sizeof *defines);
    add(&text, "#define MEASURE_FOR_IMAGES(DO)");
    for (int k = 0; k < images; k++) {
        if (list->image_needs[k] & MEASURE_READ) {
            add(&text, " DO(%d)", k + 1);
        }
    }
    add(&text, "\n");
    for (int k = 0; k < images; k++) {
        define_image(&text, k + 1, &lanes->image[k]);
    }
    if (lanes->euler >= 0 && lanes->space) {
        add(&text, "constant char MEASURE_EULER_3D[256] = {");
        for (int i = 0; i < 256; i++) {
            add(&text, "%d,", MEASURE_EULER_3D[i]);
        }
        add(&text, "};\n");
    }
}
