/*
 * image_fits_place: what becomes of the coordinates in a FITS header when pixels move.
 *
 * The cards of an axis say which pixel stands for which place (CRPIXn) and how far the next pixel is
 * (CDELTn, or the columns of CDi_j).  An image that was cropped, turned over or made smaller keeps
 * its coordinates: with s pixels of the input from one pixel to the next and t where pixel 0 lies,
 * CRPIX becomes (CRPIX - 1 - t) / s + 1, and steps become s times as long.  Where that says not all
 * (axes are mixed or unknown, a distortion is written in pixels) the coordinates of the axes are
 * left out rather than wrong: those of x and y together where they are one projection or mixed.
 *
 * The new file has its axes in the order x, y, z, c, t, and none of extent 1: an axis may have another
 * number there than in the input, and its cards are renumbered.
 *
 * FITS paper I (Greisen and Calabretta 2002) has the keywords; SIP and the distortions of paper IV
 * count pixels from CRPIX, and so survive a shift only.
 */
#include "image_fits_place.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cards that belong to one axis or, with two numbers, to a pair. */
static const char *const OF_AXIS[] = {"NAXIS", "CTYPE", "CRVAL", "CRPIX", "CDELT", "CUNIT", "CROTA", "CNAME", "CRDER",
                                      "CSYER", "PC",    "CD",    "LTM",   "LTV",   "PV",    "PS",    "CNPIX"};

/* How the keywords begin of cards that say something about pixels by their numbers, and of those that
 * distort a projection in pixels; # is a digit. */
static const char *const BY_NUMBER[] = {"LTM#",    "LTV#",   "CNPIX#", "DATASEC", "TRIMSEC",
                                        "BIASSEC", "CCDSEC", "DETSEC", "CROTA#"};
static const char *const DISTORTION[] = {"A_#",     "A_ORDER",  "B_#",    "B_ORDER", "AP_#",   "AP_ORDER",
                                         "BP_#",    "BP_ORDER", "CPDIS#", "CQDIS#",  "CPERR#", "D2IM#",
                                         "D2IMDIS", "DP#",      "DQ#",    "AMDX#",   "AMDY#",  "PPO#"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

bool fits_is_card(const char *card)
{
    return memchr(card, '\0', FITS_CARD) == NULL;
}

void fits_key(const char *card, char key[9])
{
    int n = 0;
    while (n < 8 && card[n] != ' ' && card[n] != '=') {
        key[n] = card[n];
        n++;
    }
    key[n] = '\0';
}

static bool begins(const char *key, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (list[i][k] == key[k] || (list[i][k] == '#' && isdigit((unsigned char)key[k]))) {
            if (list[i][++k] == '\0') {
                return true;
            }
        }
    }
    return false;
}

double fits_number(const char *card)
{
    char text[FITS_CARD];
    size_t n = 0;
    for (; n + 1 < sizeof text && card[10 + n] != '/' && card[10 + n] != '\0'; n++) {
        text[n] = card[10 + n] == 'D' ? 'E' : card[10 + n];
    }
    text[n] = '\0';
    return strtod(text, NULL);
}

const char *fits_card(const char *header, const char *want)
{
    char key[9];
    for (const char *card = header; fits_is_card(card); card += FITS_CARD) {
        fits_key(card, key);
        if (strcmp(key, want) == 0) {
            return card;
        }
    }
    return NULL;
}

/* The card of keyword NAMEk. */
static const char *find(const char *header, const char *name, int k)
{
    char want[32];
    snprintf(want, sizeof want, "%s%d", name, k);
    return fits_card(header, want);
}

const char *fits_text(const char *card)
{
    return card == NULL ? "" : card + 10 + strspn(card + 10, " '");
}

/* What an axis stands for: 0 t, 1 c, 2 z. */
static int meaning_of(const char *ctype)
{
    const char *name = fits_text(ctype);
    if (strncmp(name, "STOKES", 6) == 0 || strncmp(name, "CHANNEL", 7) == 0) {
        return 1;
    }
    return strncmp(name, "TIME", 4) == 0 ? 0 : 2;
}

bool fits_axes(const char *header, int axis_of[3])
{
    static const int NEXT[3][3] = {{0, 2, 1}, {1, 2, 0}, {2, 1, 0}};
    const char *axes = fits_card(header, "NAXIS");
    axis_of[0] = axis_of[1] = axis_of[2] = 0;
    for (int k = 3; axes != NULL && k <= fits_number(axes); k++) {
        const char *extent = find(header, "NAXIS", k);
        if (extent == NULL || fits_number(extent) == 1) {
            continue;
        }
        const int *next = NEXT[meaning_of(find(header, "CTYPE", k))];
        int i = 0;
        while (i < 3 && axis_of[next[i]] != 0) {
            i++;
        }
        if (i == 3) {
            return false;
        }
        axis_of[next[i]] = k;
    }
    return true;
}

/* The axis of the input that is x, y, z, c or t; 0: none.  Keywords have one digit for it. */
static int axis_that_is(char kind, const int axis_of[3])
{
    int axis = kind == 'x' ? 1 : kind == 'y' ? 2 : axis_of[kind == 't' ? 0 : kind == 'c' ? 1 : 2];
    return axis <= 9 ? axis : 0;
}

static bool has_distortion(const char *header)
{
    char key[9];
    for (const char *card = header; fits_is_card(card); card += FITS_CARD) {
        fits_key(card, key);
        if (begins(key, DISTORTION, COUNT(DISTORTION))) {
            return true;
        }
    }
    return false;
}

/* True when the place along axis k follows from the number along that axis alone. */
static bool read_axis(FitsPlace *p, const ImagePlace *place, int k)
{
    const int axis = p->along[k];
    const double *row = place->of[axis];
    for (int by = 0; by < 3; by++) {
        if (by != axis && p->there[by] && row[by] != 0) {
            return false;
        }
    }
    p->step[k] = row[axis];
    p->start[k] = row[3];
    return isfinite(row[axis]) && isfinite(row[3]) && row[axis] != 0;
}

static bool is_turned(const char *header)
{
    for (int k = 1; k <= 2; k++) {
        const char *card = find(header, "CROTA", k);
        if (card != NULL && fits_number(card) != 0) {
            return true;
        }
    }
    return false;
}

/* True where x and y have coordinates only together: of a projection (RA---TAN), mixed or distorted. */
static bool is_plane(const char *header)
{
    static const char *const TYPE[] = {"CTYPE1"}, *const MIXED[] = {"CD1_2", "CD2_1", "PC1_2", "PC2_1"};
    for (const char *card = header; fits_is_card(card); card += FITS_CARD) {
        char key[9];
        fits_key(card, key);
        const char *type = begins(key, TYPE, COUNT(TYPE)) ? fits_text(card) : "";
        if ((strnlen(type, 5) == 5 && type[4] == '-') || (begins(key, MIXED, COUNT(MIXED)) && fits_number(card) != 0)) {
            return true;
        }
    }
    return is_turned(header) || has_distortion(header);
}

/* Which axes of the new file are those of its place. */
static void match_axes(FitsPlace *p, int axes, const char *kind, bool time_as_z)
{
    const char *order = time_as_z ? "xyt" : "xyz";
    for (int k = 0; k < axes; k++) {
        const char *at = strchr(order, kind[k]);
        p->along[k] = at != NULL ? (int)(at - order) : -1;
        if (at != NULL) {
            p->there[at - order] = true;
        }
    }
}

void fits_place_begin(FitsPlace *p, const char *header, const ImagePlace *place, int axes, const int64_t *extent,
                      const char *kind, bool time_as_z)
{
    *p = (FitsPlace){.moved = place->moved, .step = {1, 1, 1, 1, 1}};
    bool lost = false, plane = is_plane(header);
    int axis_of[3];
    fits_axes(header, axis_of);
    match_axes(p, axes, kind, time_as_z);
    for (int k = 0; k < axes; k++) {
        p->from[k] = axis_that_is(kind[k], axis_of);
        const char *card = find(header, "NAXIS", p->from[k]);
        bool line = k == 1 && card == NULL && extent[k] == 1; /* of an input with one axis */
        bool same = line || (card != NULL && fits_number(card) == (double)extent[k]);
        bool places = p->moved && p->along[k] >= 0 && card != NULL;
        p->kept[k] = places ? read_axis(p, place, k) && find(header, "CRPIX", p->from[k]) != NULL : same;
        lost = lost || (k < 2 && !p->kept[k] && plane);
    }
    bool sized = p->step[0] != 1 || p->step[1] != 1;
    lost = lost || (p->moved && sized && has_distortion(header)) || (p->step[0] != p->step[1] && is_turned(header));
    p->plane_lost = lost;
    p->kept[0] = p->kept[0] && !lost;
    p->kept[1] = p->kept[1] && !lost;
    p->turned = !lost && is_turned(header);
}

/* A card with another number and the same comment. */
static void with_number(const char *card, double value, char to[FITS_CARD + 1])
{
    char key[9];
    fits_key(card, key);
    const char *comment = memchr(card, '/', FITS_CARD);
    int rest = comment != NULL ? (int)(card + FITS_CARD - comment) : 0;
    int n = snprintf(to, FITS_CARD + 1, "%-8s= %20.15G %.*s", key, value, rest, comment != NULL ? comment : "");
    for (; n >= 0 && n < FITS_CARD; n++) {
        to[n] = ' ';
    }
    to[FITS_CARD] = '\0';
}

typedef struct Key {
    const char *name; /* of OF_AXIS; NULL: it is of no axis */
    long i, j;        /* j 0: there is no second number */
} Key;

static Key read_key(const char *key)
{
    for (size_t i = 0; i < COUNT(OF_AXIS); i++) {
        size_t n = strlen(OF_AXIS[i]);
        if (strncmp(key, OF_AXIS[i], n) != 0 || !isdigit((unsigned char)key[n])) {
            continue;
        }
        char *end;
        Key out = {.name = OF_AXIS[i], .i = strtol(key + n, &end, 10)};
        bool pair = key[0] != 'P' || key[1] == 'C'; /* PV1_2: 2 is no axis */
        out.j = *end == '_' && pair ? strtol(end + 1, NULL, 10) : 0;
        return out;
    }
    return (Key){0};
}

bool fits_is_of_axis(const char *card)
{
    char key[9];
    fits_key(card, key);
    return read_key(key).name != NULL;
}

/* The axis of the new file, from 1, that has the coordinates of axis k of the input; 0: none. */
static int new_axis(const FitsPlace *p, long k)
{
    for (int i = 0; i < FITS_AXES; i++) {
        if (k != 0 && p->from[i] == k && p->kept[i]) {
            return i + 1;
        }
    }
    return 0;
}

static double step(const FitsPlace *p, int k)
{
    return k > 0 ? p->step[k - 1] : 1;
}

/* What becomes of the number of a card of axis i, and j where it is of a pair. */
static double new_number(const FitsPlace *p, const char *name, int i, int j, double value)
{
    if (strcmp(name, "CRPIX") == 0 && p->moved && p->along[i - 1] >= 0) {
        return (value - 1 - p->start[i - 1]) / step(p, i) + 1;
    }
    return strcmp(name, "CDELT") == 0 ? value * step(p, i)
           : strcmp(name, "CD") == 0  ? value * step(p, j)
           : strcmp(name, "PC") == 0  ? value * (step(p, j) / step(p, i))
                                      : value;
}

bool fits_place_card(const FitsPlace *p, const char *card, char to[FITS_CARD + 1])
{
    char key[9], numbered[FITS_CARD + 1];
    fits_key(card, key);
    memcpy(to, card, FITS_CARD);
    to[FITS_CARD] = '\0';
    Key of = read_key(key);
    if (p->plane_lost && begins(key, DISTORTION, COUNT(DISTORTION))) {
        return false;
    }
    if (p->moved && begins(key, BY_NUMBER, COUNT(BY_NUMBER)) &&
        !(p->turned && of.name != NULL && strcmp(of.name, "CROTA") == 0)) {
        return false;
    }
    if (of.name == NULL) {
        return true;
    }
    int i = new_axis(p, of.i), j = new_axis(p, of.j);
    if (strcmp(of.name, "NAXIS") == 0 || i == 0 || (of.j != 0 && j == 0)) {
        return false;
    }
    size_t digit = strlen(of.name);
    to[digit] = (char)('0' + i);
    if (of.j != 0) {
        to[digit + 2] = (char)('0' + j);
    }
    double value = fits_number(card), now = new_number(p, of.name, i, j, value);
    if (now != value) {
        memcpy(numbered, to, sizeof numbered);
        with_number(numbered, now, to);
    }
    return true;
}
