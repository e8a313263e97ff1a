/*
 * options: the command line of a program, a generated executable or `pipec run`.
 *
 * The options that every program has are one table.  Each parameter of the pipeline and each input
 * after the first adds an option of its own name ('-' may be written for '_'); where that name is
 * taken, the option is called --param-NAME or --input-NAME.
 */
#ifndef RUNTIME_OPTIONS_H
#define RUNTIME_OPTIONS_H

#include "../../program/program.h"

#include "../../base/err.h"
#include "../files/image.h"

#include <stddef.h>

/* Which files are made as small as it goes; those of labels go with masks.  ZSTD: all, TIFF by zstd. */
typedef enum Compress { COMPRESS_LABELS, COMPRESS_ALL, COMPRESS_NONE, COMPRESS_ZSTD } Compress;

typedef struct Options {
    const char *program; /* as it was called: "./blobs", or the pipeline: "blobs.pipe" */
    char command[300];   /* how messages name the program: "blobs", "pipec run blobs.pipe" */
    const char *output;  /* -o: folder or template; NULL: the current folder */
    const char *device;
    uint64_t memory;    /* bytes; 0: what the device has */
    uint64_t host;      /* bytes of pixels on the host; 0: a quarter of its memory */
    int jobs;           /* 0: chosen by the machine */
    int shard, shards;  /* shard 1 .. shards */
    const char *reader; /* as image_external_use takes it; NULL: none */
    int reader_seconds; /* 0: as usual */
    const char *columns, *summary, *report_against, *shape;
    double pixel_um[3]; /* x, y, z; 0: as the file says */
    bool stack, time_as_z, pyramid, resume, keep_going, merge, report, resources, snakefile, sbatch, dry_run, quiet,
        check, profile, help, version, describe, json;
    Compress compress;
    ZarrVersion zarr;
    const char *trace; /* --profile=FILE */
    const char *dump, *load;
    double *params;      /* one for each parameter of the program */
    const char **inputs; /* one for each input of the program: file or template; [0] is NULL */
    const char **files;  /* files and folders, in the order given */
    int n_files;
    char *const *arguments; /* all of the command line behind its first word; NULL-terminated */
} Options;

/* Parses the arguments after argv[0] (and may reorder them).  Strings are borrowed from argv.
 * Errors have CODE_USAGE.  options_free frees the arrays, also after a failure. */
bool options_parse(const Program *program, int argc, char **argv, Options *out, Err *err);
void options_free(Options *options);
/* False where images are missing that a run needs, unless it only says something about the program. */
bool options_have_images(const Program *program, const Options *options, Err *err);

typedef enum OptionKind {
    OPTION_FLAG,    /* bool */
    OPTION_TEXT,    /* const char * */
    OPTION_SIZE,    /* uint64_t */
    OPTION_COUNT,   /* int, at least 1 */
    OPTION_LENGTHS, /* double[3] */
    OPTION_WORD,    /* an enumeration: the number of one of the words of `argument` */
    OPTION_SHARD,   /* shard and shards */
    OPTION_PROFILE, /* profile and trace */
    OPTION_REPORT,  /* bool, and json */
} OptionKind;

typedef struct OptionRow {
    const char *name;     /* "memory" */
    char letter;          /* 'o', or 0 */
    const char *argument; /* "SIZE"; NULL: none; "[=FILE]": may be there; "labels|all": words */
    OptionKind kind;
    size_t at; /* of the member in Options */
    const char *help;
} OptionRow;
extern const OptionRow OPTION_ROWS[];
extern const int OPTION_ROW_COUNT;

/* One parameter, by the name of its option. */
bool options_set_param(const Program *program, const char *name, const char *value, double *params, Err *err);
/* The name of the option of a parameter, or of an input: "min-size", "param-memory". */
void options_param_name(const Program *program, int param, char *to, size_t size);
void options_input_name(const Program *program, int input, char *to, size_t size);
/* Word number k of "otsu|li", of *n bytes; NULL: there is none. */
const char *options_word(const char *words, double k, size_t *n);
/* What a value of a parameter is called: "3.5", "otsu"; `to` has room for OPTION_VALUE bytes. */
enum { OPTION_VALUE = 128 };
void options_value_text(const ProgParam *param, double value, char to[OPTION_VALUE]);
/* False for what is no number, or not in the range; messages call the param `called` and show the value so. */
bool options_param_allows(const ProgParam *param, const char *called, double value, const char *shown, Err *err);
/* "0.1 .. 50", "otsu|li", "at least 1", "at most 9", or "". */
void options_range_text(const ProgParam *param, char *to, size_t size);
/* "sigma=3 kappa=2": every parameter with its value; owned by the caller (free); NULL: memory. */
char *options_params_text(const Program *program, const double *params);
/* "2GiB", "512 MiB", "1.5G", "1000000": bytes. */
bool options_parse_size(const char *text, uint64_t *bytes);

#endif
