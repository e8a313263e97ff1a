/*
 * image_fits_place: what becomes of the coordinates in a FITS header when pixels move.
 *
 * The cards of an axis say which pixel stands for which place (CRPIXn) and how far the next pixel is
 * (CDELTn, or the columns of CDi_j).  An image that was cropped, turned over or made smaller keeps
 * its coordinates: with s pixels of the input from one pixel to the next and t where pixel 0 lies,
 * CRPIX becomes (CRPIX - 1 - t) / s + 1, and steps become s times as long.  Where that says not all
 * (axes are mixed or unknown, a distortion is written in pixels) the coordinates of the axes are
 * left out rather than wrong: those of x and y together, because they are one projection.
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
static const char *const OF_AXIS[] = {"NAXIS", "CTYPE", "CRVAL", "CRPIX", "CDELT", "CUNIT",
                                      "CROTA", "CNAME", "CRDER", "CSYER", "PC",    "CD",
                                      "LTM",   "LTV",   "PV",    "PS",    "CNPIX"};

/* How the keywords begin of cards that say something about pixels by their numbers, and of those that
 * distort a projection in pixels; # is a digit. */
static const char *const BY_NUMBER[] = {"LTM#",    "LTV#",    "CNPIX#", "DATASEC", "TRIMSEC",
                                        "BIASSEC", "CCDSEC",  "DETSEC", "CROTA#"};
static const char *const DISTORTION[] = {
    "A_#",      "A_ORDER", "B_#",    "B_ORDER", "AP_#", "AP_ORDER", "BP_#",  "BP_ORDER", "CPDIS#",
    "CQDIS#",   "CPERR#",  "D2IM#",  "D2IMDIS", "DP#",  "DQ#",      "AMDX#", "AMDY#",    "PPO#"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* The keyword of a card, without blanks. */
static void key_of(const char *card, char key[9])
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

/* The number of a card, which may have a D for its power of ten. */
static double number_of(const char *card)
{
    char text[32];
    size_t n = 0;
    for (; n + 1 < sizeof text && card[10 + n] != '/' && card[10 + n] != '\0'; n++) {
        text[n] = card[10 + n] == 'D' ? 'E' : card[10 + n];
    }
    text[n] = '\0';
    return strtod(text, NULL);
}

/* The card of keyword NAMEk; NULL when there is none. */
static const char *find(const char *header, const char *name, int k)
{
    char want[32], key[9];
    snprintf(want, sizeof want, "%s%d", name, k);
    for (const char *card = header; strlen(card) >= FITS_CARD; card += FITS_CARD) {
        key_of(card, key);
        if (strcmp(key, want) == 0) {
            return card;
        }
    }
    return NULL;
}

static bool has_distortion(const char *header)
{
    char key[9];
    for (const char *card = header; strlen(card) >= FITS_CARD; card += FITS_CARD) {
        key_of(card, key);
        if (begins(key, DISTORTION, COUNT(DISTORTION))) {
            return true;
        }
    }
    return false;
}

/* True when the place along an axis follows from the number along that axis alone. */
static bool read_axis(FitsPlace *p, const ImagePlace *place, int axis)
{
    const double *row = place->of[axis];
    for (int by = 0; by < 3; by++) {
        if (by != axis && p->kind[by] && row[by] != 0) {
            return false;
        }
    }
    p->step[axis] = row[axis];
    p->start[axis] = row[3];
    return isfinite(row[axis]) && isfinite(row[3]) && row[axis] != 0;
}

static bool is_turned(const char *header)
{
    for (int k = 1; k <= 2; k++) {
        const char *card = find(header, "CROTA", k);
        if (card != NULL && number_of(card) != 0) {
            return true;
        }
    }
    return false;
}

void fits_place_begin(FitsPlace *p, const char *header, const ImagePlace *place, int axes,
                      const int64_t *extent, const char *kind)
{
    *p = (FitsPlace){.moved = place->moved, .step = {1, 1, 1}};
    bool lost = false;
    for (int k = 0; k < axes && k < 3; k++) {
        p->kind[k] = kind[k] == "xyz"[k];
    }
    for (int k = 0; k < axes; k++) {
        const char *card = find(header, "NAXIS", k + 1);
        bool same = card != NULL && number_of(card) == (double)extent[k];
        bool places = p->moved && k < 3 && p->kind[k] && card != NULL;
        p->kept[k] = places ? read_axis(p, place, k) && find(header, "CRPIX", k + 1) != NULL : same;
        lost = lost || (k < 2 && !p->kept[k]);
    }
    bool sized = p->step[0] != 1 || p->step[1] != 1;
    lost = lost || (p->moved && sized && has_distortion(header)) ||
           (p->step[0] != p->step[1] && is_turned(header));
    p->plane_lost = lost;
    p->kept[0] = p->kept[0] && !lost;
    p->kept[1] = p->kept[1] && !lost;
    p->turned = !lost && is_turned(header);
}

static double step(const FitsPlace *p, long k)
{
    return k >= 1 && k <= 3 && p->moved ? p->step[k - 1] : 1;
}

/* A card with another number and the same comment. */
static void with_number(const char *card, double value, char to[FITS_CARD + 1])
{
    char key[9];
    key_of(card, key);
    const char *comment = memchr(card, '/', FITS_CARD);
    int rest = comment != NULL ? (int)(card + FITS_CARD - comment) : 0;
    int n = snprintf(to, FITS_CARD + 1, "%-8s= %20.15G %.*s", key, value, rest,
                     comment != NULL ? comment : "");
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

static bool kept(const FitsPlace *p, long k)
{
    return k >= 1 && k <= FITS_AXES && p->kept[k - 1];
}

bool fits_place_card(const FitsPlace *p, const char *card, char to[FITS_CARD + 1])
{
    char key[9];
    key_of(card, key);
    memcpy(to, card, FITS_CARD);
    to[FITS_CARD] = '\0';
    Key of = read_key(key);
    if (p->plane_lost && begins(key, DISTORTION, COUNT(DISTORTION))) {
        return false;
    }
    if (p->moved && begins(key, BY_NUMBER, COUNT(BY_NUMBER)) && !(p->turned && of.name != NULL &&
                                                               strcmp(of.name, "CROTA") == 0)) {
        return false;
    }
    if (of.name == NULL) {
        return true;
    }
    if (strcmp(of.name, "NAXIS") == 0 || !kept(p, of.i) || (of.j != 0 && !kept(p, of.j))) {
        return false;
    }
    double value = number_of(card), s = step(p, of.i);
    if (strcmp(of.name, "CRPIX") == 0 && p->moved && of.i <= 3) {
        value = (value - 1 - p->start[of.i - 1]) / s + 1;
    } else if (strcmp(of.name, "CDELT") == 0) {
        value *= s;
    } else if (strcmp(of.name, "CD") == 0) {
        value *= step(p, of.j);
    } else if (strcmp(of.name, "PC") == 0) {
        value *= step(p, of.j) / s;
    } else {
        return true;
    }
    if (value != number_of(card)) {
        with_number(card, value, to);
    }
    return true;
}
