/* fourier: Fourier transforms as nodes of the graph. */
#include "elab.h"

#include <string.h>

/* Bits of the axes that a word names. */
static int bits_of(const char *word)
{
    int bits = 0;
    for (int ax = IR_AX_X; ax <= IR_AX_Z; ax++) {
        bits |= strcmp(word, "all") == 0 || strchr(word, "xyz"[ax]) != NULL ? 1 << ax : 0;
    }
    return bits;
}

static bool has_axes(Elab *el, Val v, const char *word, Span span)
{
    bool ok = true;
    for (int ax = IR_AX_X; ax <= IR_AX_Z && strcmp(word, "all") != 0; ax++) {
        ok = ok && (strchr(word, "xyz"[ax]) == NULL || el_need_axis(el, v, ax, span));
    }
    return ok;
}

/* fourier(real, imaginary, along, inverse): the result has the parts as channels. */
Val el_fourier(Elab *el, Call *call)
{
    enum { REAL, IMAGINARY, ALONG, INVERSE, IMAGES = 3 };
    bool complex = call->arg[IMAGINARY].kind == VAL_IMAGE;
    const char *along = call->arg[ALONG].text;
    Val v[IMAGES] = {el_readable(el, call->arg[REAL], "real", call->span)};
    IrGrid grid = *el_grid(el, v[0]);
    double inverse = 0;
    if (grid.has[IR_AX_C]) {
        el_error(el, IN_CHANNELS, call->span, "fft", el_describe(el, v[0]));
        return el_err();
    }
    if (!has_axes(el, v[0], along, call->span)) {
        return el_err();
    }
    grid.has[IR_AX_C] = true;
    grid.extent[IR_AX_C] = ir_const(el->g, 2);
    int parts = el_add_grid(el, grid, *el_place_of(el, v[0].grid), *el_names_of(el, v[0].grid));
    v[1] = el_image(el, ir_const_typed(el->g, 0, ELEM_F32), parts);
    v[2] = complex ? el_readable(el, call->arg[IMAGINARY], "imaginary", call->span) : v[0];
    if (!el_meet(el, v, IMAGES, call->span)) {
        return el_err();
    }
    el_constant(el, call->arg[INVERSE], &inverse);
    IrNode node = {.op = IR_FOURIER,
                   .kind = IR_K_IMAGE,
                   .elem = ELEM_F32,
                   .grid = v[1].grid,
                   .fourier = {.real = v[0].expr,
                               .imaginary = complex ? v[2].expr : 0,
                               .axes = ir_const(el->g, bits_of(along)),
                               .inverse = ir_const(el->g, inverse)}};
    return el_node(el, el_add_once(el, node, NULL, call->span));
}
