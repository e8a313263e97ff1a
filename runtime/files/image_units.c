/* image_units: numbers, and units of length and time, in all the ways they are written. */
#include "image_meta.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Spellings that ImageJ, Bio-Formats, OME-XML, tifffile and people write, in whatever case; a name spelled
 * exactly so goes before, for Mm and mm differ.  Bytes: UTF-8 has two letters that look like mu, and two that look
 * like that of the angstrom; Latin-1 has one, which some program may have taken to UTF-8 twice, and ImageJ writes
 * escapes. */
static const struct Unit {
    const char *name;
    double um;
} UNITS[] = {
    {"um", 1},
    {"\xC2\xB5m", 1},
    {"\xCE\xBCm", 1},
    {"\xB5m", 1},
    {"\xC3\x82\xC2\xB5m", 1},
    {"\\u00B5m", 1},
    {"\\u03BCm", 1},
    {"micron", 1},
    {"microns", 1},
    {"nm", 1e-3},
    {"pm", 1e-6},
    {"\xC3\x85", 1e-4},
    {"\xE2\x84\xAB", 1e-4},
    {"\xC5", 1e-4},
    {"\\u00C5", 1e-4},
    {"\\u212B", 1e-4},
    {"angstrom", 1e-4},
    {"mm", 1e3},
    {"cm", 1e4},
    {"dm", 1e5},
    {"m", 1e6},
    {"km", 1e9},
    {"Mm", 1e12},
    {"Pm", 1e21},
    {"in", 25400},
    {"inch", 25400},
    {"inches", 25400},
    {"\"", 25400},
    {"thou", 25.4},
    {"li", 25400.0 / 12},
    {"pt", 25400.0 / 72},
    {"ft", 304800},
    {"foot", 304800},
    {"feet", 304800},
    {"yd", 914400},
    {"mi", 1609344e3},
};

/* What stands before "meter" or "metre", one or several. */
static const struct Unit PREFIXES[] = {
    {"micro", 1},   {"nano", 1e-3}, {"pico", 1e-6}, {"milli", 1e3},
    {"centi", 1e4}, {"deci", 1e5},  {"", 1e6},      {"kilo", 1e9},
};

/* The length of the unit when it is a prefix and this word behind it; else 0. */
static double prefixed_um(const char *unit, size_t n, const char *word)
{
    size_t length = strlen(word), before = n - length;
    if (n < length || strncasecmp(unit + before, word, length) != 0) {
        return 0;
    }
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++) {
        if (strlen(PREFIXES[i].name) == before && strncasecmp(PREFIXES[i].name, unit, before) == 0) {
            return PREFIXES[i].um;
        }
    }
    return 0;
}

static double named_um(const char *unit, size_t n, int (*compare)(const char *, const char *, size_t))
{
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
        if (strlen(UNITS[i].name) == n && compare(UNITS[i].name, unit, n) == 0) {
            return UNITS[i].um;
        }
    }
    return 0;
}

double meta_number(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    bool ended = end != text && end[strspn(end, " \t\r\n")] == '\0', decimal = strpbrk(text, "xX") == NULL;
    return ended && decimal && isfinite(value) ? value : 0;
}

double meta_unit_um(const char *unit)
{
    static const char *const WORDS[] = {"meter", "metre", "meters", "metres"};
    unit += strspn(unit, " ");
    size_t n = strlen(unit);
    while (n > 0 && unit[n - 1] == ' ') {
        n--;
    }
    double um = named_um(unit, n, strncmp);
    um = um > 0 ? um : named_um(unit, n, strncasecmp);
    for (size_t i = 0; um == 0 && i < sizeof WORDS / sizeof *WORDS; i++) {
        um = prefixed_um(unit, n, WORDS[i]);
    }
    return um;
}

double meta_unit_seconds(const char *unit)
{
    static const struct {
        const char *name;
        double seconds;
    } UNITS_OF_TIME[] = {
        {"s", 1},        {"sec", 1},     {"second", 1},       {"seconds", 1},      {"ms", 1e-3},
        {"msec", 1e-3},  {"us", 1e-6},   {"\xC2\xB5s", 1e-6}, {"\xCE\xBCs", 1e-6}, {"\\u00B5s", 1e-6},
        {"min", 60},     {"minute", 60}, {"minutes", 60},     {"h", 3600},         {"hour", 3600},
        {"hours", 3600}, {"d", 86400},   {"day", 86400},      {"days", 86400},
    };
    for (size_t i = 0; i < sizeof UNITS_OF_TIME / sizeof *UNITS_OF_TIME; i++) {
        if (strcasecmp(UNITS_OF_TIME[i].name, unit) == 0) {
            return UNITS_OF_TIME[i].seconds;
        }
    }
    return 0;
}
