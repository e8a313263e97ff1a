/*
 * describe: columns for people, JSON for programs.
 */
#include "describe.h"

#include "../../base/json.h"
#include "../host/decimal.h"
#include "options.h"

#include <math.h>
#include <string.h>

enum { COLUMN = 26 };

static const char *const KINDS[] = {[OUT_IMAGE] = "image", [OUT_MASK] = "mask",   [OUT_LABELS] = "labels",
                                    [OUT_TABLE] = "table", [OUT_VALUE] = "value", [OUT_SERIES] = "series"};

/* ---- pieces ---------------------------------------------------------------------------- */

/* "image[y, x]" */
static void input_text(const ProgInput *input, char *to, size_t size)
{
    size_t used = (size_t)snprintf(to, size, "%s[", input->name);
    for (const char *a = input->axes; *a != '\0' && used + 4 < size; a++) {
        used += (size_t)snprintf(to + used, size - used, "%s%c", a == input->axes ? "" : ", ", *a);
    }
    snprintf(to + used, size - used, "]");
}

/* What pixels an input takes. */
static const char *input_pixels(const ProgInput *input)
{
    return input->labels              ? "labels"
           : input->mask              ? "a mask"
           : input->elem == ELEM_FILE ? "any pixels"
                                      : elem_name(input->elem);
}

/* What pixels an output that is an image has: "u8", "file", which is that of the input `of`, or NULL of masks and labels. */
static const char *output_pixels(const Program *program, const ProgOutput *output, const char **of)
{
    const ProgBuffer *buffer = output->kind == OUT_IMAGE ? &program->buffers[output->buffer] : NULL;
    *of = buffer != NULL && buffer->elem == ELEM_FILE ? program->inputs[buffer->elem_of].name : NULL;
    return buffer != NULL ? elem_name(buffer->elem) : NULL;
}

/* A line of two columns; a long left column gets a line of its own. */
static void put_row(FILE *to, const char *left, const char *right)
{
    if (strlen(left) + 3 > COLUMN) {
        fprintf(to, "  %s\n  %*s%s\n", left, COLUMN - 2, "", right);
    } else {
        fprintf(to, "  %-*s%s\n", COLUMN - 2, left, right);
    }
}

/* The text of the comment that a pipeline begins with, without "NAME.pipe: ". */
static void summary(const Program *program, char *to, size_t size)
{
    const char *text = program->source != NULL ? program->source : "";
    to[0] = '\0';
    if (*text != '#') {
        return;
    }
    text += 1 + strspn(text + 1, " \t#");
    const char *colon = strstr(text, ".pipe: ");
    size_t line = strcspn(text, "\r\n");
    if (colon != NULL && (size_t)(colon - text) < line) {
        line -= (size_t)(colon + 7 - text);
        text = colon + 7;
    }
    snprintf(to, size, "%.*s", (int)line, text);
}

static void put_param(FILE *to, const Program *program, int i)
{
    const ProgParam *p = &program->params[i];
    char name[160], option[200], range[400], value[OPTION_VALUE], right[2000];
    options_param_name(program, i, name, sizeof name);
    options_range_text(p, range, sizeof range);
    options_value_text(p, p->value, value);
    snprintf(option, sizeof option, "--%s %s", name, p->words != NULL ? "WORD" : p->integer ? "N" : "NUMBER");
    const char *help = p->help != NULL ? p->help : "";
    snprintf(right, sizeof right, "%s%s%s%s(default: %s)", help, help[0] != '\0' ? ", " : "", range,
             help[0] != '\0' || range[0] != '\0' ? " " : "", value);
    put_row(to, option, right);
}

static void put_output(FILE *to, const Program *program, int k)
{
    const ProgOutput *output = &program->outputs[k];
    char right[300];
    if (output->kind == OUT_VALUE) {
        snprintf(right, sizeof right, "value: a column of values.csv");
    } else if (output->kind == OUT_TABLE || output->kind == OUT_SERIES) {
        snprintf(right, sizeof right, "%s: {stem}_%s.csv, all images: %s.csv", KINDS[output->kind], output->name,
                 output->name);
    } else {
        const char *of, *pixels = output_pixels(program, output, &of);
        snprintf(right, sizeof right, "%s: {stem}_%s.%s%s%s%s", KINDS[output->kind], output->name, output->format,
                 pixels != NULL ? ", " : "", of != NULL ? "pixels as in the file of " : "",
                 of != NULL       ? of
                 : pixels != NULL ? pixels
                                  : "");
    }
    put_row(to, output->name, right);
}

static void put_inputs(FILE *to, const Program *program)
{
    for (int i = 0; i < program->n_inputs; i++) {
        char left[200], right[400], name[160];
        input_text(&program->inputs[i], left, sizeof left);
        options_input_name(program, i, name, sizeof name);
        if (i == 0) {
            snprintf(right, sizeof right, "%s; the files and folders of the command line",
                     input_pixels(&program->inputs[i]));
        } else {
            snprintf(right, sizeof right, "%s; --%s FILE, or a template: 'folder/{stem}.tif'",
                     input_pixels(&program->inputs[i]), name);
        }
        put_row(to, left, right);
    }
}

static void put_program(FILE *to, const Program *program)
{
    if (program->n_inputs > 0) {
        fputs("\ninputs\n", to);
        put_inputs(to, program);
    }
    if (program->n_params > 0) {
        fputs("\nparameters\n", to);
    }
    for (int i = 0; i < program->n_params; i++) {
        put_param(to, program, i);
    }
    fputs("\noutputs\n", to);
    for (int k = 0; k < program->n_outputs; k++) {
        put_output(to, program, k);
    }
}

/* ---- texts ----------------------------------------------------------------------------- */

void describe_help(const Program *program, const char *command, FILE *to)
{
    char text[500];
    summary(program, text, sizeof text);
    fprintf(to, "usage: %s [OPTION]...%s\n", command, program->n_inputs > 0 ? " FILE|FOLDER..." : "");
    if (text[0] != '\0') {
        fprintf(to, "%s\n", text);
    }
    put_program(to, program);
    describe_options(to);
}

void describe_options(FILE *to)
{
    fputs("\noptions\n", to);
    for (int i = 0; i < OPTION_ROW_COUNT; i++) {
        const OptionRow *row = &OPTION_ROWS[i];
        char left[100], letter[8] = "";
        if (row->letter != 0) {
            snprintf(letter, sizeof letter, "-%c, ", row->letter);
        }
        const char *argument = row->argument != NULL ? row->argument : "";
        snprintf(left, sizeof left, "%s--%s%s%s", letter, row->name,
                 argument[0] != '\0' && argument[0] != '[' ? " " : "", argument);
        put_row(to, left, row->help);
    }
    fputs("\nexit codes: 0 all images are done; 1 some images failed; 2 wrong usage; 3 no device; 4 does not fit into\n"
          "memory; 5 outputs cannot be written; 75 it may succeed later; 130 interrupted; 143 ended by SIGTERM\n",
          to);
}

void describe_version(const Program *program, FILE *to)
{
    fprintf(to, "pipec %s %s %s\n", program->version, program->name, program->hash);
}

void describe_text(const Program *program, FILE *to)
{
    char text[500];
    summary(program, text, sizeof text);
    fprintf(to, "%s%s%s\n", program->name, text[0] != '\0' ? ": " : "", text);
    fprintf(to, "pipec %s, pipeline %s\n", program->version, program->hash);
    put_program(to, program);
}

/* ---- JSON ------------------------------------------------------------------------------ */

static void put_json_field(FILE *to, const char *before, const char *name, const char *text)
{
    fprintf(to, "%s\"%s\": ", before, name);
    json_put_text(to, text);
}

/* Infinite bounds are null. */
static void put_json_number(FILE *to, const char *name, double value)
{
    char text[DECIMAL_BYTES];
    decimal_shortest(value, text);
    fprintf(to, ", \"%s\": %s", name, isfinite(value) ? text : "null");
}

static void put_json_axes(FILE *to, const char *axes)
{
    fputs(", \"axes\": [", to);
    for (const char *a = axes; *a != '\0'; a++) {
        fprintf(to, "%s\"%c\"", a == axes ? "" : ", ", *a);
    }
    fputs("]", to);
}

static void put_json_input(FILE *to, const Program *program, int i)
{
    const ProgInput *input = &program->inputs[i];
    char name[160];
    options_input_name(program, i, name, sizeof name);
    put_json_field(to, "{", "name", input->name);
    put_json_axes(to, input->axes);
    put_json_field(to, ", ", "pixels", input->labels ? "labels" : input->mask ? "mask" : elem_name(input->elem));
    if (i > 0) {
        put_json_field(to, ", ", "option", name);
    }
    fputs("}", to);
}

static void put_json_param(FILE *to, const Program *program, int i)
{
    const ProgParam *p = &program->params[i];
    char name[160];
    options_param_name(program, i, name, sizeof name);
    put_json_field(to, "{", "name", p->name);
    put_json_field(to, ", ", "option", name);
    put_json_number(to, "default", p->value);
    put_json_number(to, "min", p->lo);
    put_json_number(to, "max", p->hi);
    fprintf(to, ", \"integer\": %s", p->integer ? "true" : "false");
    if (p->words != NULL) {
        put_json_field(to, ", ", "words", p->words);
    }
    put_json_field(to, ", ", "help", p->help);
    fputs("}", to);
}

static void put_json_output(FILE *to, const Program *program, int k)
{
    const ProgOutput *output = &program->outputs[k];
    put_json_field(to, "{", "name", output->name);
    put_json_field(to, ", ", "kind", KINDS[output->kind]);
    put_json_field(to, ", ", "format", output->format);
    if (output->kind == OUT_TABLE) {
        put_json_field(to, ", ", "columns", program->tables[output->table].columns);
    } else if (output->kind != OUT_VALUE && output->axes != NULL) {
        put_json_axes(to, output->axes);
    }
    const char *of, *pixels = output_pixels(program, output, &of);
    if (pixels != NULL) {
        put_json_field(to, ", ", "pixels", pixels);
    }
    if (of != NULL) {
        put_json_field(to, ", ", "of", of);
    }
    fputs("}", to);
}

static void put_json_list(FILE *to, const char *name, int n, const Program *program,
                          void (*put)(FILE *, const Program *, int))
{
    fprintf(to, ",\n  \"%s\": [", name);
    for (int i = 0; i < n; i++) {
        fputs(i == 0 ? "\n    " : ",\n    ", to);
        put(to, program, i);
    }
    fputs(n > 0 ? "\n  ]" : "]", to);
}

void describe_json(const Program *program, FILE *to)
{
    char text[500];
    summary(program, text, sizeof text);
    put_json_field(to, "{\n  ", "name", program->name);
    put_json_field(to, ",\n  ", "summary", text);
    put_json_field(to, ",\n  ", "version", program->version);
    put_json_field(to, ",\n  ", "hash", program->hash);
    put_json_list(to, "inputs", program->n_inputs, program, put_json_input);
    put_json_list(to, "params", program->n_params, program, put_json_param);
    put_json_list(to, "outputs", program->n_outputs, program, put_json_output);
    fputs("\n}\n", to);
}
