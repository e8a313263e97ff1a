/*
 * options: getopt_long over the fixed table plus what the program's parameters and inputs add.
 * getopt's own messages are switched off: ours name the nearest option.
 */
#include "options.h"

#include "../files/image_meta.h"
#include "../host/decimal.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const OptionRow OPTION_ROWS[] = {
#define OPTION(name, letter, argument, kind, member, help) \
    {name, letter, argument, OPTION_##kind, offsetof(Options, member), help},
#include "../../base/options.def"
#undef OPTION
};
const int OPTION_ROW_COUNT = sizeof OPTION_ROWS / sizeof *OPTION_ROWS;

enum { FIXED = 1000, PARAM = 100000, INPUT = 200000, LETTERS = 64 };

static bool name_is_fixed(const char *name)
{
    for (int i = 0; i < OPTION_ROW_COUNT; i++) {
        if (strcmp(OPTION_ROWS[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void option_name(const char *name, const char *prefix, char *to, size_t size)
{
    snprintf(to, size, "%s", name);
    for (char *c = to; *c != '\0'; c++) {
        *c = *c == '_' ? '-' : *c;
    }
    if (name_is_fixed(to)) {
        char plain[128];
        snprintf(plain, sizeof plain, "%s", to);
        snprintf(to, size, "%s%s", prefix, plain);
    }
}

void options_param_name(const Program *program, int param, char *to, size_t size)
{
    option_name(program->params[param].name, "param-", to, size);
}

void options_input_name(const Program *program, int input, char *to, size_t size)
{
    option_name(program->inputs[input].name, "input-", to, size);
}

const char *options_word(const char *words, double k, size_t *n)
{
    for (; k >= 0.5 && words != NULL; k--) {
        const char *bar = strchr(words, '|');
        words = bar != NULL ? bar + 1 : NULL;
    }
    *n = words != NULL ? strcspn(words, "|") : 0;
    return words;
}

void options_value_text(const ProgParam *param, double value, char to[OPTION_VALUE])
{
    size_t n;
    const char *word = param->words != NULL ? options_word(param->words, value, &n) : NULL;
    if (word != NULL) {
        snprintf(to, OPTION_VALUE, "%.*s", (int)n, word);
    } else {
        decimal_shortest(value, to);
    }
}

void options_range_text(const ProgParam *param, char *to, size_t size)
{
    char lo[DECIMAL_BYTES], hi[DECIMAL_BYTES];
    if (param->words != NULL) {
        snprintf(to, size, "%s", param->words);
        return;
    }
    decimal_shortest(param->lo, lo);
    decimal_shortest(param->hi, hi);
    if (isfinite(param->lo) && isfinite(param->hi)) {
        snprintf(to, size, "%s .. %s", lo, hi);
    } else if (isfinite(param->lo)) {
        snprintf(to, size, "at least %s", lo);
    } else if (isfinite(param->hi)) {
        snprintf(to, size, "at most %s", hi);
    } else {
        snprintf(to, size, "%s", "");
    }
}

char *options_params_text(const Program *program, const double *params)
{
    size_t size = 1;
    for (int i = 0; i < program->n_params; i++) {
        size += strlen(program->params[i].name) + OPTION_VALUE + 2;
    }
    char *text = malloc(size), *at = text;
    if (text == NULL) {
        return NULL;
    }
    *at = '\0';
    for (int i = 0; i < program->n_params; i++) {
        char value[OPTION_VALUE];
        options_value_text(&program->params[i], params[i], value);
        at += snprintf(at, size - (size_t)(at - text), "%s%s=%s", i > 0 ? " " : "", program->params[i].name, value);
    }
    return text;
}

bool options_parse_size(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *unit;
        double factor;
    } UNITS[] = {{"", 1},         {"b", 1},      {"k", 0x1p10},   {"kib", 0x1p10}, {"m", 0x1p20},
                 {"mib", 0x1p20}, {"g", 0x1p30}, {"gib", 0x1p30}, {"t", 0x1p40},   {"tib", 0x1p40},
                 {"kb", 1e3},     {"mb", 1e6},   {"gb", 1e9},     {"tb", 1e12}};
    char unit[5] = "", *end;
    double number = strtod(text, &end);
    if (end == text || !isfinite(number)) {
        return false;
    }
    while (*end == ' ') {
        end++;
    }
    if (strlen(end) >= sizeof unit) {
        return false;
    }
    for (int i = 0; end[i] != '\0'; i++) {
        unit[i] = (char)tolower((unsigned char)end[i]);
    }
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
        double value = number * UNITS[i].factor;
        if (strcmp(unit, UNITS[i].unit) == 0) {
            *bytes = value >= 1 && value < 0x1p63 ? (uint64_t)value : 0;
            return *bytes > 0;
        }
    }
    return false;
}

/* One length with its unit, up to a comma or the end. */
static bool parse_length(const char **at, double *um)
{
    char unit[24], *end;
    double number = strtod(*at, &end);
    size_t n = strcspn(end, ",");
    bool fine = end != *at && n > 0 && n < sizeof unit;
    snprintf(unit, sizeof unit, "%.*s", fine ? (int)n : 0, end);
    *um = fine ? number * meta_unit_um(unit) : 0;
    *at = end + n;
    return *um > 0 && isfinite(*um);
}

/* "1.3um" along x and y, "0.65um,0.65um,2um" along x, y and z: micrometres; an axis that is not named keeps 0. */
static bool parse_lengths(const char *text, double um[3])
{
    double each[3] = {0, 0, 0};
    int n = 0;
    bool more = true;
    for (; more && n < 3; n++) {
        if (!parse_length(&text, &each[n])) {
            return false;
        }
        more = *text == ',';
        text += more;
    }
    each[1] = n == 1 ? each[0] : each[1];
    memcpy(um, each, sizeof each);
    return !more;
}

/* ---- the nearest name ------------------------------------------------------------------ */

enum { NAME_MAX_LENGTH = 40 };

/* Insertions, deletions, changes and swaps of neighbours that make b of a. */
static int edit_distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int d[NAME_MAX_LENGTH + 1][NAME_MAX_LENGTH + 1];
    if (n > NAME_MAX_LENGTH || m > NAME_MAX_LENGTH) {
        return NAME_MAX_LENGTH;
    }
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
            best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best) {
                best = d[i - 2][j - 2] + 1;
            }
            d[i][j] = best;
        }
    }
    return d[n][m];
}

/* What others call options, or what people write for them. */
static const struct {
    const char *theirs, *ours;
} OTHERS[] = {
    {"gpu", "--device gpu"},
    {"cuda", "--device gpu"},
    {"cpu", "--device cpu"},
    {"threads", "--jobs N"},
    {"workers", "--jobs N"},
    {"processes", "--jobs N"},
    {"outdir", "-o FOLDER"},
    {"out-dir", "-o FOLDER"},
    {"output-dir", "-o FOLDER"},
    {"mem", "--memory 4GiB"},
    {"ram", "--memory 4GiB"},
    {"verbose", "--profile"},
    {"spacing", "--pixel-size 1.3um"},
    {"pixelsize", "--pixel-size 1.3um"},
    {"scale", "--pixel-size 1.3um"},
    {"parallel", "--jobs N"},
    {"gpus", "--device all"},
    {"dry", "--dry-run"},
    {"continue", "--resume"},
    {"skip-existing", "--resume"},
    {"silent", "--quiet"},
    {"max-memory", "--memory 4GiB"},
    {"voxel-size", "--pixel-size 0.65um,0.65um,2um"},
};

/* What needs no option here. */
static const struct {
    const char *theirs, *why;
} NEEDLESS[] = {
    {"overwrite", "outputs are replaced, unless --resume is given"},
    {"force", "outputs are replaced, unless --resume is given"},
    {"format", "formats stand in the pipeline: output a = ... as png"},
    {"dtype", "types stand in the pipeline: u8(...), u16(...), f32(...)"},
    {"input", "images are given by themselves, behind the pipeline"},
    {"channel", "channels stand in the pipeline: image[c = 0]"},
};

static bool unknown_option(const struct option *known, const char *command, const char *text, Err *err)
{
    char name[NAME_MAX_LENGTH + 1];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text + 2, "="), text + 2);
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (strcmp(OTHERS[i].theirs, name) == 0) {
            return err_set(err, CODE_USAGE, "unknown option '--%s'; here it is '%s'", name, OTHERS[i].ours);
        }
    }
    for (size_t i = 0; i < sizeof NEEDLESS / sizeof *NEEDLESS; i++) {
        if (strcmp(NEEDLESS[i].theirs, name) == 0) {
            return err_set(err, CODE_USAGE, "unknown option '--%s'; leave it out: %s", name, NEEDLESS[i].why);
        }
    }
    const char *nearest = NULL;
    int best = (int)strlen(name) / 3 + 1;
    for (const struct option *o = known; o->name != NULL; o++) {
        int distance = edit_distance(name, o->name);
        if (distance < best || (distance == best && nearest == NULL)) {
            best = distance;
            nearest = o->name;
        }
    }
    if (nearest != NULL) {
        return err_set(err, CODE_USAGE, "unknown option '--%s'; did you mean '--%s'?", name, nearest);
    }
    return err_set(err, CODE_USAGE, "unknown option '--%s'; '%s --help' lists the options", name, command);
}

/* ---- values ---------------------------------------------------------------------------- */

static bool parse_count(const char *text, int *out)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    *out = (int)value;
    return end != text && *end == '\0' && errno == 0 && value >= 1 && value <= 1000000000;
}

static bool parse_shard(const char *text, Options *out)
{
    char first[12];
    const char *slash = strchr(text, '/');
    if (slash == NULL || (size_t)(slash - text) >= sizeof first) {
        return false;
    }
    snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
    return parse_count(first, &out->shard) && parse_count(slash + 1, &out->shards) && out->shard <= out->shards;
}

/* The number of one of the words of "otsu|li"; -1: it is none. */
static int word_number(const char *words, const char *text)
{
    const char *word;
    size_t n;
    for (int k = 0; (word = options_word(words, k, &n)) != NULL; k++) {
        if (strlen(text) == n && memcmp(text, word, n) == 0) {
            return k;
        }
    }
    return -1;
}

static bool set_fixed(const OptionRow *row, const char *text, Options *out, Err *err)
{
    char *at = (char *)out + row->at;
    int word = 0;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)at = true;
        return true;
    case OPTION_TEXT:
        *(const char **)at = text;
        return *text != '\0' || err_set(err, CODE_USAGE, "--%s needs a %s", row->name, row->argument);
    case OPTION_SIZE:
        if (strlen(text) <= 2 && text[0] != '0' && strspn(text, "0123456789") == strlen(text)) {
            return err_set(err, CODE_USAGE, "--%s %s would be %s bytes: write a unit, %sGiB or %sMiB", row->name, text,
                           text, text, text);
        }
        return options_parse_size(text, (uint64_t *)at) ||
               err_set(err, CODE_USAGE, "--%s takes a size such as 2GiB or 512MiB, not '%s'", row->name, text);
    case OPTION_COUNT:
        return parse_count(text, (int *)at) ||
               err_set(err, CODE_USAGE, "--%s takes a whole number from 1 on, not '%s'", row->name, text);
    case OPTION_LENGTHS:
        return parse_lengths(text, (double *)at) ||
               err_set(
                   err, CODE_USAGE,
                   "--%s takes a length with its unit, 1.3um, or one for each axis, 0.65um,0.65um,2um for x, y and z, not "
                   "'%s'",
                   row->name, text);
    case OPTION_WORD:
        word = word_number(row->argument, text);
        TRY(word >= 0 || err_set(err, CODE_USAGE, "--%s is one of %s, not '%s'", row->name, row->argument, text));
        memcpy(at, &word, sizeof word); /* enumerations are as wide */
        return true;
    case OPTION_SHARD:
        return parse_shard(text, out) ||
               err_set(err, CODE_USAGE, "--shard takes i/n with i from 1 to n, such as 1/4, not '%s'", text);
    case OPTION_PROFILE:
        out->profile = true;
        out->trace = text;
        return text == NULL || *text != '\0' || err_set(err, CODE_USAGE, "--profile or --profile=FILE, not ''");
    case OPTION_REPORT:
        *(bool *)at = true;
        out->json = text != NULL;
        return text == NULL || strcmp(text, "json") == 0 ||
               err_set(err, CODE_USAGE, "--%s or --%s=json, not '%s'", row->name, row->name, text);
    }
    return false;
}

static bool set_word(const ProgParam *p, const char *name, const char *text, double *value, Err *err)
{
    int word = word_number(p->words, text);
    if (word >= 0) {
        *value = word;
        return true;
    }
    return err_set(err, CODE_USAGE, "--%s is one of %s, not '%s'", name, p->words, text);
}

bool options_param_allows(const ProgParam *p, const char *called, double value, const char *shown, Err *err)
{
    char range[2 * DECIMAL_BYTES + 16];
    if (isnan(value) || (p->integer && rint(value) != value)) {
        const char *comma = strchr(shown, ',');
        const bool decimals =
            comma != NULL && strspn(shown, "0123456789,") == strlen(shown) && strchr(comma + 1, ',') == NULL;
        return err_set(err, CODE_USAGE, "%s takes a %snumber, not '%s'%s", called, isnan(value) ? "" : "whole ", shown,
                       decimals ? "; decimals have a point" : "");
    }
    options_range_text(p, range, sizeof range);
    return (value >= p->lo && value <= p->hi) || err_set(err, CODE_USAGE, "%s is %s, but must be %s%s", called, shown,
                                                         isfinite(p->lo) && isfinite(p->hi) ? "in " : "", range);
}

static bool set_param(const Program *program, int param, const char *text, double *params, Err *err)
{
    const ProgParam *p = &program->params[param];
    char name[128], option[132], *end;
    options_param_name(program, param, name, sizeof name);
    snprintf(option, sizeof option, "--%s", name);
    if (p->words != NULL) {
        return set_word(p, name, text, &params[param], err);
    }
    double value = strtod(text, &end);
    value = end == text || *end != '\0' ? (double)NAN : value;
    TRY(options_param_allows(p, option, value, text, err));
    params[param] = value;
    return true;
}

bool options_set_param(const Program *program, const char *name, const char *value, double *params, Err *err)
{
    char known[128];
    for (int i = 0; i < program->n_params; i++) {
        options_param_name(program, i, known, sizeof known);
        if (strcmp(known, name) == 0 || strcmp(program->params[i].name, name) == 0) {
            return set_param(program, i, value, params, err);
        }
    }
    return err_set(err, CODE_USAGE, "%s has no parameter '%s'", program->name, name);
}

/* ---- all of it ------------------------------------------------------------------------- */

/* getopt's table; names made for it live in one block behind the rows. */
typedef struct Table {
    struct option *rows;
    char (*names)[128];
    int n;
    char letters[LETTERS];
} Table;

static void table_add(Table *table, const char *name, int argument, int value)
{
    char *copy = table->names[table->n];
    snprintf(copy, sizeof table->names[0], "%s", name);
    table->rows[table->n++] = (struct option){copy, argument, NULL, value};
}

/* "min-size", and "min_size" where the pipeline spells it so */
static void table_add_own(Table *table, const char *option, const char *name, int value)
{
    table_add(table, option, required_argument, value);
    if (strcmp(option, name) != 0 && !name_is_fixed(name)) {
        table_add(table, name, required_argument, value);
    }
}

static void fill_table(Table *table, const Program *program)
{
    char *letter = table->letters;
    *letter++ = ':';
    for (int i = 0; i < OPTION_ROW_COUNT; i++) {
        const OptionRow *row = &OPTION_ROWS[i];
        int argument = row->argument == NULL     ? no_argument
                       : row->argument[0] == '[' ? optional_argument
                                                 : required_argument;
        table_add(table, row->name, argument, FIXED + i);
        if (row->letter != 0) {
            *letter++ = row->letter;
            if (argument == required_argument) {
                *letter++ = ':';
            }
        }
    }
    *letter = '\0';
    char name[128];
    for (int i = 0; i < program->n_params; i++) {
        options_param_name(program, i, name, sizeof name);
        table_add_own(table, name, program->params[i].name, PARAM + i);
    }
    for (int i = 1; i < program->n_inputs; i++) {
        options_input_name(program, i, name, sizeof name);
        table_add_own(table, name, program->inputs[i].name, INPUT + i);
    }
}

static int row_of_letter(int letter)
{
    for (int i = 0; i < OPTION_ROW_COUNT; i++) {
        if (OPTION_ROWS[i].letter == letter) {
            return i;
        }
    }
    return -1;
}

/* -sigma of those who write one dash: the option that it is; NULL: none. */
static const char *with_one_dash(const struct option *known, const char *text)
{
    const char *found = NULL;
    for (const struct option *o = known; text != NULL && text[0] == '-' && o->name != NULL; o++) {
        size_t n = strlen(o->name);
        found = strncmp(text + 1, o->name, n) == 0 && (text[n + 1] == '\0' || text[n + 1] == '=') ? o->name : found;
    }
    return found;
}

static bool refused(const Table *table, int option, char **argv, Options *out, Err *err)
{
    const char *text = argv[optind - 1];
    const char *dash = with_one_dash(table->rows, text);
    dash = dash == NULL && option == '?' ? with_one_dash(table->rows, argv[optind]) : dash;
    if (option == ':') {
        return err_set(err, CODE_USAGE, "%s needs a value", text);
    }
    if (optopt >= FIXED) {
        return err_set(err, CODE_USAGE, "'%s': this option takes no value", text);
    }
    if (optopt != 0 && dash != NULL) {
        return err_set(err, CODE_USAGE, "'-%s': write '--%s', with two dashes", dash, dash);
    }
    if (optopt != 0) {
        return err_set(err, CODE_USAGE, "unknown option '-%c'; '%s --help' lists the options", optopt, out->command);
    }
    return unknown_option(table->rows, out->command, text, err);
}

/* "-out folder" is "--output folder" to whoever writes it, and "-o ut" with one more image to getopt. */
static bool is_misspelt(const OptionRow *row, const char *text, const char *value)
{
    return value == text + 2 && strlen(text) > 3 && strncmp(text + 1, row->name, strlen(text + 1)) == 0;
}

/* sigma=3 */
static bool is_param(const struct option *known, const char *text)
{
    const size_t n = strcspn(text, "=");
    bool is = false;
    for (const struct option *o = known; text[n] == '=' && o->name != NULL; o++) {
        is = is || (strlen(o->name) == n && strncmp(o->name, text, n) == 0);
    }
    return is && access(text, F_OK) != 0;
}

static bool parse_all(const Table *table, const Program *program, int argc, char **argv, Options *out, Err *err)
{
    optind = 0;
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, table->letters, table->rows, NULL)) != -1) {
        if (option == '?' || option == ':') {
            return refused(table, option, argv, out, err);
        }
        if (option >= INPUT) {
            out->inputs[option - INPUT] = optarg;
        } else if (option >= PARAM) {
            TRY(set_param(program, option - PARAM, optarg, out->params, err));
        } else {
            int row = option >= FIXED ? option - FIXED : row_of_letter(option);
            if (option < FIXED && is_misspelt(&OPTION_ROWS[row], argv[optind - 1], optarg)) {
                return err_set(err, CODE_USAGE, "'%s': write '--%s' or '-%c'", argv[optind - 1], OPTION_ROWS[row].name,
                               option);
            }
            TRY(set_fixed(&OPTION_ROWS[row], optarg, out, err));
        }
    }
    for (int i = optind; i < argc; i++) {
        TRY(!is_param(table->rows, argv[i]) ||
            err_set(err, CODE_USAGE, "'%s': a parameter is an option: '--%s'", argv[i], argv[i]));
        out->files[out->n_files++] = argv[i];
    }
    return true;
}

bool options_have_images(const Program *program, const Options *o, Err *err)
{
    if (o->help || o->version || o->describe) {
        return true;
    }
    if (o->merge) {
        return o->n_files > 0 || err_set(err, CODE_USAGE, "--merge needs the folder of the shards' outputs");
    }
    if (o->resources && o->shape != NULL) {
        return o->n_files == 0 || err_set(err, CODE_USAGE, "--resources is of --shape, or of files, not of both");
    }
    if (program->n_inputs == 0 && o->n_files > 0) {
        return err_set(err, CODE_USAGE, "'%s': this pipeline has no input", o->files[0]);
    }
    if (program->n_inputs > 0 && o->n_files == 0) {
        return err_set(err, CODE_USAGE, "give the images to work on; '%s --help' says more", o->command);
    }
    for (int i = 1; i < program->n_inputs; i++) {
        if (o->inputs[i] == NULL) {
            char name[128];
            options_input_name(program, i, name, sizeof name);
            return err_set(err, CODE_USAGE,
                           "the input '%s' is missing: --%s FILE, or a template such as "
                           "--%s 'folder/{stem}.tif'",
                           program->inputs[i].name, name, name);
        }
    }
    return true;
}

/* "blobs" for ./bin/blobs; "pipec run blobs.pipe" where the pipeline was compiled just now. */
static void name_command(const char *argv0, char *to, size_t size)
{
    const char *slash = strrchr(argv0, '/'), *name = slash == NULL ? argv0 : slash + 1;
    size_t n = strlen(name);
    bool pipe = n > 5 && strcmp(name + n - 5, ".pipe") == 0;
    snprintf(to, size, "%s%s", pipe ? "pipec run " : "", name);
}

bool options_parse(const Program *program, int argc, char **argv, Options *out, Err *err)
{
    *out = (Options){.shard = 1, .shards = 1};
    out->program = argc > 0 ? argv[0] : program->name;
    name_command(argc > 0 ? argv[0] : program->name, out->command, sizeof out->command);
    out->arguments = argc > 0 ? argv + 1 : NULL;
    size_t rows = (size_t)OPTION_ROW_COUNT + 2 * (size_t)(program->n_params + program->n_inputs) + 1;
    Table table = {.rows = calloc(rows, sizeof *table.rows), .names = calloc(rows, sizeof *table.names)};
    out->params = calloc((size_t)program->n_params + 1, sizeof *out->params);
    out->inputs = calloc((size_t)program->n_inputs + 1, sizeof *out->inputs);
    out->files = calloc((size_t)argc + 1, sizeof *out->files);
    bool ok = table.rows && table.names && out->params && out->inputs && out->files;
    if (!ok) {
        err_set(err, CODE_MEMORY, "out of memory");
    } else {
        for (int i = 0; i < program->n_params; i++) {
            out->params[i] = program->params[i].value;
        }
        fill_table(&table, program);
        ok = parse_all(&table, program, argc, argv, out, err);
        out->report = out->report || out->report_against != NULL;
    }
    free(table.rows);
    free(table.names);
    return ok;
}

void options_free(Options *options)
{
    free(options->params);
    free(options->inputs);
    free(options->files);
    *options = (Options){0};
}
