/*
 * format: what an output is written as: the word behind `as`, and the options in brackets behind it (base/stored.h).
 * Options are words and numbers of the format, and nothing of the pipeline, because a file is made before there is a
 * value.
 */
#include "elab.h"

#include <string.h>

static const char *const FORMATS[] = {"tif", "png", "fits", "zarr", "csv", "geojson", "roi"};

static bool has_planes(const Elab *el, Val v)
{
    return v.kind == VAL_IMAGE && v.grid >= 0 && el->g->grids.at[el->grids.at[v.grid].extents].has[IR_AX_Z];
}

/* Numbers along one axis, which a table can have. */
static bool is_series(const Elab *el, Val v)
{
    return v.image == IR_K_IMAGE && el_ndim(el, v) == 1 && !el_has(el, v, IR_AX_C);
}

static bool is_outlines(const AstStmt *s)
{
    return strcmp(s->text, "geojson") == 0 || strcmp(s->text, "roi") == 0;
}

static void refuse_format(Elab *el, const AstStmt *s, Val v)
{
    Diag *d = el_error(el, FORMAT_KIND, s->text_span, el_describe(el, v), s->text);
    const bool line = v.kind == VAL_IMAGE && el_ndim(el, v) == 1 && !el_has(el, v, IR_AX_C);
    diag_help(el->diags, d,
              v.kind != VAL_IMAGE ? "values are written as csv, tables as csv or zarr"
              : is_outlines(s)    ? "outlines are those of labels and masks: label(image > otsu(image))"
              : line              ? "as numbers they are: number(...)"
              : v.image == IR_K_LABELS
                  ? "a table of labels is measured: measure(labels, area); labels themselves are written as tif"
                  : "images are written as tif, png, fits or zarr; as csv those along one axis, such as a "
                    "histogram, a profile, or `sum_project(image, y)` of [y, x]");
}

/* What comes nearest to a format that others write; NULL: nothing does. */
static const char *format_meant(const char *text, Val v)
{
    static const struct {
        const char *words, *here;
    } OTHERS[] = {
        {"jpg jpeg gif bmp webp svg pdf ps eps", "png"},
        {"tiff tiff8 tiff16 tif16 tif32 tiff32 ome ometif ometiff ome_tiff bigtiff raw dat npy npz mat nd2 czi lif",
         "tif"},
        {"xls xlsx ods txt tsv text json parquet html dat table npy", "csv"},
        {"hdf5 h5 hdf n5 ngff omezarr ome_zarr anndata h5ad", "zarr"},
        {"fit fts", "fits"},
        {"rois imagej outlines", "roi"},
    };
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        bool table = strcmp(OTHERS[i].here, "csv") == 0;
        if (ops_lists(OTHERS[i].words, text) && (v.kind == VAL_IMAGE ? !table : table || i == 3)) {
            return OTHERS[i].here;
        }
    }
    return fe_nearest(text, FORMATS, sizeof FORMATS / sizeof *FORMATS);
}

bool el_is_format(const char *name)
{
    bool is = false;
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++) {
        is = is || strcmp(FORMATS[i], name) == 0;
    }
    return is;
}

const char *el_format(Elab *el, const AstStmt *s, Val v)
{
    bool image = v.kind == VAL_IMAGE;
    if (s->text == NULL) {
        return image ? "tif" : "csv";
    }
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++) {
        if (strcmp(s->text, FORMATS[i]) != 0) {
            continue;
        }
        const bool csv = strcmp(s->text, "csv") == 0, zarr = strcmp(s->text, "zarr") == 0;
        if (image ? (csv && !is_series(el, v)) || (is_outlines(s) && v.image == IR_K_IMAGE)
                  : !csv && !(zarr && v.kind == VAL_TABLE)) {
            refuse_format(el, s, v);
        } else if (strcmp(s->text, "png") == 0 && has_planes(el, v)) {
            Diag *d = el_error(el, FORMAT_KIND, s->text_span, "an image with z", s->text);
            diag_help(el->diags, d, "a png holds one plane: `as tif`, or max_project(%s)", s->name);
        }
        return FORMATS[i];
    }
    Diag *d = el_error(el, UNKNOWN_FORMAT, s->text_span, s->text);
    const Peer *type = ops_peer(s->text);
    if (v.kind == VAL_IMAGE && ops_lists("bool boolean binary mask logical", s->text)) {
        diag_help(el->diags, d,
                  el_is_mask(el, v) ? "it is a mask already: leave it out" : "a mask is a comparison: %s > 0", s->name);
    } else if (v.kind == VAL_IMAGE && type != NULL && strchr("uif", type->here[0]) != NULL &&
               strstr(type->here, "($1)") != NULL) {
        diag_help(el->diags, d, "a type is an operator: %.*s(...)", (int)strcspn(type->here, "("), type->here);
    } else if (elem_from_name(s->text) != ELEM_NONE && ops_find(el->ops, s->text) != NULL) {
        diag_help(el->diags, d, "a type is an operator: %s(...)", s->text);
    } else {
        const char *near = format_meant(s->text, v);
        diag_help(el->diags, d,
                  near != NULL ? "write `%s`; formats are tif, png, fits, zarr and csv, and of labels geojson and roi"
                               : "formats are tif, png, fits, zarr and csv, and of labels geojson and roi",
                  near);
    }
    return "tif";
}

/* ---- options --------------------------------------------------------------------------- */

static void unknown_option(Elab *el, const char *format, const AstArg *arg)
{
    const char *names[STORED_OPTIONS];
    int n = 0;
    Str all;
    str_init(&all, el->arena);
    for (int i = 0; i < STORED_ROW_COUNT; i++) {
        if (strcmp(STORED_ROWS[i].format, format) == 0) {
            names[n++] = STORED_ROWS[i].name;
            str_addf(&all, "%s%s", n > 1 ? ", " : "", STORED_ROWS[i].name);
        }
    }
    Diag *d = el_error(el, UNKNOWN_FORMAT_OPTION, arg->name_span, format, arg->name);
    const char *near = fe_nearest(arg->name, names, n);
    if (near != NULL) {
        diag_help(el->diags, d, "did you mean `%s`?", near);
    }
    diag_help(el->diags, d, n > 0 ? "options of %s: %s" : "%s has no options", format, all.at);
}

/* What stands behind `=`, if it is a word or a number; NULL: it is neither. */
static const char *option_text(Elab *el, const AstExpr *e)
{
    return e->kind == AST_NAME                        ? e->name
           : e->kind == AST_BOOL                      ? (e->num != 0 ? "true" : "false")
           : e->kind == AST_NUMBER && e->unit == NULL ? arena_printf(el->arena, "%g", e->num)
                                                      : NULL;
}

static int option_value(Elab *el, const StoredRow *row, const AstArg *arg)
{
    char values[80];
    const char *text = option_text(el, arg->value);
    int value = text != NULL ? stored_value(row, text) : 0;
    if (value == 0) {
        Diag *d = el_error(el, FORMAT_OPTION_VALUE, arg->value->span, row->name, row->format);
        stored_values(row, values, sizeof values);
        diag_help(el->diags, d, "`%s` is %s", row->name, values);
    }
    return value;
}

static void without_name(Elab *el, const char *format, const AstArg *arg)
{
    Diag *d = el_error(el, UNKNOWN_FORMAT_OPTION, arg->value->span, format, el_words(el, arg->value->span));
    const char *text = option_text(el, arg->value);
    for (int i = 0; text != NULL && i < STORED_ROW_COUNT; i++) {
        const StoredRow *row = &STORED_ROWS[i];
        if (strcmp(row->format, format) == 0 && (strcmp(row->name, text) == 0 || stored_value(row, text) != 0)) {
            bool name = strcmp(row->name, text) == 0;
            diag_help(el->diags, d, "options have names: `%s = %s`", row->name,
                      !name           ? text
                      : row->step > 0 ? "512"
                                      : row->words[0].word);
            return;
        }
    }
    diag_help(el->diags, d, "options have names: tif(compress = zstd), zarr(chunk = 256)");
}

/* Of a table only the version counts. */
Stored el_stored(Elab *el, const AstStmt *s, const char *format, bool table)
{
    Stored out = {{0}};
    if (diags_has(el->diags, DIAG_UNKNOWN_FORMAT, s->text_span)) {
        return out;
    }
    for (const AstArg *arg = s->options; arg != NULL; arg = arg->next) {
        const StoredRow *row = arg->name != NULL ? stored_row(format, arg->name) : NULL;
        if (arg->name == NULL) {
            without_name(el, format, arg);
        } else if (row == NULL) {
            unknown_option(el, format, arg);
        } else if (out.of[row->option] != 0) {
            Diag *d = el_error(el, FORMAT_OPTION_VALUE, arg->name_span, row->name, format);
            diag_help(el->diags, d, "`%s` is given twice", row->name);
        } else {
            out.of[row->option] = option_value(el, row, arg);
        }
        if (row != NULL && table && row->option != STORED_VERSION) {
            Diag *d = el_error(el, FORMAT_OPTION_VALUE, arg->name_span, arg->name, format);
            diag_help(el->diags, d, "a table has no other option than version = 0.4 or 0.5");
        }
        if (row != NULL && out.of[STORED_SHARD] == STORED_YES && out.of[STORED_VERSION] == STORED_ZARR_TWO) {
            Diag *d = el_error(el, FORMAT_OPTION_VALUE, arg->value->span, arg->name, format);
            diag_help(el->diags, d, "shards are of version 0.5");
        }
    }
    return out;
}
