/* units: which units an argument of an operator may have. */
#include "elab.h"

#include <string.h>

static bool refuse_unit(Elab *el, const Call *call, const OpParam *p, Val v, Span at)
{
    Diag *d = el_error(el, NO_UNIT, at, p->name, call->op->name, v.unit);
    diag_help(el->diags, d, "`%s` is %s", p->name, p->words);
    return false;
}

static bool check_length(Elab *el, const OpParam *p, Val v, Span at)
{
    if (strcmp(v.unit, "um") == 0) {
        return true;
    }
    Diag *d = el_error(el, NOT_A_LENGTH, at, p->name, v.unit);
    diag_help(el->diags, d, "lengths are nm, um, mm or pixels");
    return false;
}

/* What counts pixels may have the unit of the space that these fill. */
static bool check_area(Elab *el, const Call *call, const OpParam *p, Val v, Span at)
{
    bool solid = strchr(el_axes(el, el_grid_of(el, call->arg[0])), 'z') != NULL;
    const char *right = solid ? "um3" : "um2";
    if (strcmp(v.unit, right) == 0) {
        return true;
    }
    const char *what = strcmp(v.unit, "um") == 0 ? "a length" : strcmp(v.unit, "um2") == 0 ? "an area" : "a volume";
    Diag *d = el_error(el, NOT_AN_AREA, at, p->name, v.unit, what);
    diag_help(el->diags, d, "write how many pixels, or %s: %s", solid ? "a volume" : "an area", right);
    return false;
}

int el_axis_meant(const OpParam *p)
{
    static const char *const NAMES[] = {"x", "y", "z", "width", "height", "depth"};
    for (int i = 0; i < 6; i++) {
        if (strcmp(p->name, NAMES[i]) == 0) {
            return i % 3;
        }
    }
    return -1;
}

/* Values in the units of an image may be whatever the image is made of. */
bool el_check_unit(Elab *el, const Call *call, const OpParam *p, Val v, Span at)
{
    bool length = (p->types & (OP_LENGTH | OP_PER_AXIS | OP_INTEGER)) != 0 || el_axis_meant(p) >= 0;
    return v.unit == NULL              ? true
           : p->pure                   ? refuse_unit(el, call, p, v, at)
           : (p->types & OP_AREA) != 0 ? check_area(el, call, p, v, at)
           : length                    ? check_length(el, p, v, at)
                                       : true;
}
