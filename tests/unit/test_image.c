/*
 * test_image: reads every kind of file in tests/data/images, which other programs have written,
 * and compares shape, type, metadata and every pixel with the formula that made them.  Each file
 * is read in whole planes, row by row backwards, and channel by channel.
 */
#include "images.h"

#include "runtime/files/image_meta.h"
#include "runtime/files/image_pixels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* How the pixels of a file follow from b. */
typedef enum Rule {
    TYPED, /* the formula of the type */
    BYTE,  /* b - 125: signed bytes, read as i16 */
    MOD4,
    MOD16,
    TIMES1, /* b */
    TIMES4, /* 4 b */
    TIMES16,
    TIMES64,
    SCALED4, /* b mod 4, spread over 0..255 */
    SCALED16,
    PALETTE,  /* index b mod 16: (i, 255 - i, 3 i) */
    GRAYS,    /* 5 i */
    FLAT,     /* JPEG: 200, 100, 50, nearly */
    FLAT1,    /* its second channel alone */
    FRAME1,   /* the frame after the first */
    PLANE1,   /* the plane after the first */
    SPARSE,   /* the formula and 1, and `nothing` in tiles (of 16 x 16) or strips (of 6 rows) that are left out */
    INVERTED, /* 1 less the formula */
    MOVED,    /* 16 bits that an offset makes more */
    BUT_THIRD,
    BUT_FOURTH, /* channels but the one of that number, from 0, which is alpha */
    SQUARE,     /* of i = b mod 16: 1 + 2 i + 3 i i */
} Rule;

#define BIT(remark) (1u << (remark))

static const struct Row {
    const char *file;
    int64_t x, y, z, c, t;
    const char *has; /* which axes the file names */
    Elem elem;
    const char *style;
    bool rgb;
    Rule rule;
} ROWS[] = {
    {"type_u8.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "tiff", false, TYPED},
    {"type_i8.tif", 7, 5, 1, 1, 1, "", ELEM_I16, "tiff", false, BYTE},
    {"type_u16.tif", 7, 5, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"type_i16.tif", 7, 5, 1, 1, 1, "", ELEM_I16, "tiff", false, TYPED},
    {"type_u32.tif", 7, 5, 1, 1, 1, "", ELEM_U32, "tiff", false, TYPED},
    {"type_i32.tif", 7, 5, 1, 1, 1, "", ELEM_I32, "tiff", false, TYPED},
    {"type_f32.tif", 7, 5, 1, 1, 1, "", ELEM_F32, "tiff", false, TYPED},
    {"type_f64.tif", 7, 5, 1, 1, 1, "", ELEM_F64, "tiff", false, TYPED},
    {"type_bool.tif", 7, 5, 1, 1, 1, "", ELEM_BOOL, "tiff", false, TYPED},
    {"big_u16.tif", 7, 5, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"big_i32.tif", 7, 5, 1, 1, 1, "", ELEM_I32, "tiff", false, TYPED},
    {"big_f32.tif", 7, 5, 1, 1, 1, "", ELEM_F32, "tiff", false, TYPED},
    {"big_f64.tif", 7, 5, 1, 1, 1, "", ELEM_F64, "tiff", false, TYPED},
    {"bigtiff_u16.tif", 7, 5, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"bigtiff_i32.tif", 7, 5, 1, 1, 1, "", ELEM_I32, "tiff", false, TYPED},
    {"bigtiff_f32.tif", 7, 5, 1, 1, 1, "", ELEM_F32, "tiff", false, TYPED},
    {"bigtiff_f64.tif", 7, 5, 1, 1, 1, "", ELEM_F64, "tiff", false, TYPED},
    {"bigtiff_big_u16.tif", 7, 5, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"rows_u16.tif", 7, 40, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"bits_2.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "tiff", false, MOD4},
    {"bits_4.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "tiff", false, MOD16},
    {"bits_10.tif", 7, 5, 1, 1, 1, "", ELEM_U16, "tiff", false, TIMES4},
    {"palette_10.tif", 7, 5, 1, 1, 1, "", ELEM_U16, "tiff", false, TIMES4},
    {"bits_12.tif", 7, 5, 1, 1, 1, "", ELEM_U16, "tiff", false, TIMES16},
    {"bits_14.tif", 7, 5, 1, 1, 1, "", ELEM_U16, "tiff", false, TIMES64},
    {"bits_12_white.tif", 7, 5, 1, 2, 1, "c", ELEM_U16, "tiff", false, TIMES1},
    {"type_u64.tif", 7, 5, 1, 1, 1, "", ELEM_U32, "tiff", false, TYPED},
    {"type_i64.tif", 7, 5, 1, 1, 1, "", ELEM_I32, "tiff", false, TYPED},
    {"samples_i64.tif", 7, 5, 1, 2, 1, "c", ELEM_I32, "tiff", false, TYPED},
    {"type_f16.tif", 7, 5, 1, 1, 1, "", ELEM_F32, "tiff", false, TYPED},
    {"half_tiles.tif", 37, 29, 1, 1, 1, "", ELEM_F32, "tiff", false, TYPED},
    {"half_samples.tif", 7, 5, 1, 2, 1, "c", ELEM_F32, "tiff", false, TYPED},
    {"ome_half.tif", 7, 5, 4, 2, 3, "zct", ELEM_F32, "ome", false, TYPED},
    {"levels_svs.tif", 67, 50, 1, 3, 1, "c", ELEM_U8, "tiff", true, TYPED},
    {"levels_svs.tif[level=0]", 67, 50, 1, 3, 1, "c", ELEM_U8, "tiff", true, TYPED},
    {"levels_svs.tif[level=1]", 33, 25, 1, 3, 1, "c", ELEM_U8, "tiff", true, TYPED},
    {"levels_svs.tif[level=2]", 16, 12, 1, 3, 1, "c", ELEM_U8, "tiff", true, TYPED},
    {"levels_qptiff.tif", 40, 32, 1, 3, 1, "c", ELEM_U16, "tiff", false, TYPED},
    {"levels_qptiff.tif[level=1]", 20, 16, 1, 3, 1, "c", ELEM_U16, "tiff", false, TYPED},
    {"levels_qptiff.tif[level=2]", 10, 8, 1, 3, 1, "c", ELEM_U16, "tiff", false, TYPED},
    {"levels.ome.tif", 37, 29, 3, 2, 1, "zc", ELEM_U16, "ome", false, TYPED},
    {"levels.ome.tif[level=1]", 19, 15, 3, 2, 1, "zc", ELEM_U16, "ome", false, TYPED},
    {"levels.ome.tif[level=2]", 9, 7, 3, 2, 1, "zc", ELEM_U16, "ome", false, TYPED},
    {"pyramid.tif[level=1]", 8, 6, 1, 1, 1, "", ELEM_U8, "tiff", false, TYPED},
    {"z_webp.tif", 37, 29, 1, 3, 1, "c", ELEM_U8, "tiff", true, TYPED},
    {"fill_order.tif", 7, 5, 1, 1, 1, "", ELEM_BOOL, "tiff", false, TYPED},

    {"z_lzw.tif", 37, 29, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"z_deflate.tif", 37, 29, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"z_packbits.tif", 37, 29, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"z_zstd.tif", 37, 29, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"z_lzma.tif", 37, 29, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"z_adobe.tif", 37, 29, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"z_big.tif", 37, 29, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"z_predictor.tif", 37, 29, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"z_float.tif", 37, 29, 1, 1, 1, "", ELEM_F32, "tiff", false, TYPED},
    {"z_bool.tif", 37, 29, 1, 1, 1, "", ELEM_BOOL, "tiff", false, TYPED},
    {"z_fax.tif", 7, 5, 1, 1, 1, "", ELEM_BOOL, "tiff", false, TYPED},
    {"jpeg_gray.tif", 48, 32, 1, 1, 1, "", ELEM_U8, "tiff", false, FLAT1},
    {"jpeg_colours.tif", 48, 32, 1, 3, 1, "c", ELEM_U8, "tiff", true, FLAT},
    {"jpeg_ycbcr.tif", 48, 32, 1, 3, 1, "c", ELEM_U8, "tiff", true, FLAT},

    {"tile_u8.tif", 40, 33, 1, 1, 1, "", ELEM_U8, "tiff", false, TYPED},
    {"tile_u16.tif", 40, 33, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"tile_bool.tif", 40, 33, 1, 1, 1, "", ELEM_BOOL, "tiff", false, TYPED},
    {"tile_rgb.tif", 40, 33, 1, 3, 1, "c", ELEM_U8, "tiff", true, TYPED},
    {"tile_planar.tif", 40, 33, 1, 3, 1, "c", ELEM_U8, "tiff", true, TYPED},

    {"rgb.tif", 7, 5, 1, 3, 1, "c", ELEM_U8, "tiff", true, TYPED},
    {"rgb_deflate.tif", 7, 5, 1, 3, 1, "c", ELEM_U8, "tiff", true, TYPED},
    {"rgb_planar.tif", 7, 5, 1, 3, 1, "c", ELEM_U8, "tiff", true, TYPED},
    {"rgb_planar_lzw.tif", 7, 5, 1, 3, 1, "c", ELEM_U8, "tiff", true, TYPED},
    {"rgba.tif", 7, 5, 1, 3, 1, "c", ELEM_U8, "tiff", true, TYPED},
    {"rgb_u16.tif", 7, 5, 1, 3, 1, "c", ELEM_U16, "tiff", true, TYPED},
    {"gray_alpha.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "tiff", false, TYPED},
    {"samples.tif", 7, 5, 1, 5, 1, "c", ELEM_U16, "tiff", false, TYPED},
    {"samples_planar.tif", 7, 5, 1, 5, 1, "c", ELEM_U16, "tiff", false, TYPED},
    {"palette.tif", 7, 5, 1, 3, 1, "c", ELEM_U8, "tiff", true, PALETTE},
    {"palette_4.tif", 7, 5, 1, 3, 1, "c", ELEM_U8, "tiff", true, PALETTE},
    {"palette_gray.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "tiff", false, GRAYS},
    {"palette_imagej.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "imagej", false, TYPED},
    {"white_u8.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "tiff", false, TYPED},
    {"white_u16.tif", 7, 5, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"white_bool.tif", 7, 5, 1, 1, 1, "", ELEM_BOOL, "tiff", false, TYPED},
    {"white_imagej.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "imagej", false, TYPED},
    {"white_bool_deflate.tif", 7, 5, 1, 1, 1, "", ELEM_BOOL, "tiff", false, TYPED},
    {"white_bool_tiles.tif", 7, 5, 1, 1, 1, "", ELEM_BOOL, "tiff", false, TYPED},
    {"white_fax.tif", 7, 5, 1, 1, 1, "", ELEM_BOOL, "tiff", false, INVERTED},
    {"extra_rgb_nir.tif", 7, 5, 1, 4, 1, "c", ELEM_U8, "tiff", false, TYPED},
    {"extra_rgb_untold.tif", 7, 5, 1, 4, 1, "c", ELEM_U8, "tiff", false, TYPED},
    {"extra_rgb_mixed.tif", 7, 5, 1, 5, 1, "c", ELEM_U8, "tiff", false, BUT_FOURTH},
    {"extra_planar.tif", 7, 5, 1, 4, 1, "c", ELEM_U8, "tiff", false, BUT_THIRD},
    {"extra_gray.tif", 7, 5, 1, 2, 1, "c", ELEM_U8, "tiff", false, TYPED},

    {"sparse_tiles.tif", 40, 33, 1, 1, 1, "", ELEM_U16, "tiff", false, SPARSE},
    {"sparse_tiles_deflate.tif", 40, 33, 1, 1, 1, "", ELEM_U16, "tiff", false, SPARSE},
    {"sparse_planar.tif", 40, 33, 1, 3, 1, "c", ELEM_U16, "tiff", false, SPARSE},
    {"sparse_all.tif", 40, 33, 1, 1, 1, "", ELEM_U16, "tiff", false, SPARSE},
    {"sparse_nodata.tif", 40, 33, 1, 1, 1, "", ELEM_U16, "tiff", false, SPARSE},
    {"sparse_strips.tif", 40, 30, 1, 1, 1, "", ELEM_U16, "tiff", false, SPARSE},
    {"sparse_strips_deflate.tif", 40, 30, 1, 1, 1, "", ELEM_U16, "tiff", false, SPARSE},
    {"sparse_one.tif", 40, 30, 1, 1, 1, "", ELEM_U16, "tiff", false, SPARSE},
    {"lengths_zero.tif", 7, 5, 1, 1, 1, "", ELEM_U16, "tiff", false, TYPED},
    {"tags_of_display.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "tiff", false, TYPED},
    {"marked_first.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "tiff", false, TYPED},
    {"marked_old.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "tiff", false, TYPED},
    {"marked_mask.tif", 7, 5, 3, 1, 1, "z", ELEM_U8, "tiff", false, TYPED},
    {"marked_all.tif", 7, 5, 3, 1, 1, "z", ELEM_U8, "tiff", false, TYPED},

    {"imagej_tzc.tif", 7, 5, 4, 2, 3, "zct", ELEM_U16, "imagej", false, TYPED},
    {"imagej_z.tif", 7, 5, 4, 1, 1, "z", ELEM_F32, "imagej", false, TYPED},
    {"imagej_t.tif", 7, 5, 1, 1, 3, "t", ELEM_U8, "imagej", false, TYPED},
    {"imagej_minutes.tif", 7, 5, 1, 1, 3, "t", ELEM_U8, "imagej", false, TYPED},
    {"imagej_rgb.tif", 7, 5, 3, 3, 1, "zc", ELEM_U8, "imagej", true, TYPED},
    {"imagej_inch.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "imagej", false, TYPED},
    {"imagej_cm.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "imagej", false, TYPED},
    {"imagej_huge.tif", 7, 5, 4, 2, 3, "zct", ELEM_U16, "imagej", false, TYPED},
    {"imagej_huge_rgb.tif", 7, 5, 3, 3, 1, "zc", ELEM_U8, "imagej", true, TYPED},
    {"imagej_copied.tif", 7, 5, 1, 1, 1, "", ELEM_U16, "imagej", false, TYPED},
    {"stack_imagej_plain.tif", 7, 5, 3, 1, 1, "z", ELEM_U8, "imagej", false, TYPED},
    {"stack_imagej_wrong.tif", 7, 5, 3, 1, 1, "z", ELEM_U8, "imagej", false, TYPED},

    {"imagej_order_czt.tif", 7, 5, 4, 2, 3, "zct", ELEM_U16, "imagej", false, TYPED},
    {"imagej_order_ctz.tif", 7, 5, 4, 2, 3, "zct", ELEM_U16, "imagej", false, TYPED},
    {"imagej_order_zct.tif", 7, 5, 4, 2, 3, "zct", ELEM_U16, "imagej", false, TYPED},
    {"imagej_order_ztc.tif", 7, 5, 4, 2, 3, "zct", ELEM_U16, "imagej", false, TYPED},
    {"imagej_order_tcz.tif", 7, 5, 4, 2, 3, "zct", ELEM_U16, "imagej", false, TYPED},
    {"imagej_order_tzc.tif", 7, 5, 4, 2, 3, "zct", ELEM_U16, "imagej", false, TYPED},
    {"imagej_signed.tif", 7, 5, 1, 1, 1, "", ELEM_I16, "imagej", false, TYPED},
    {"imagej_line.tif", 7, 5, 1, 1, 1, "", ELEM_F32, "imagej", false, TYPED},
    {"imagej_square.tif", 7, 5, 1, 1, 1, "", ELEM_F32, "imagej", false, SQUARE},
    {"imagej_beyond.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "imagej", false, TYPED},
    {"imagej_rodbard.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "imagej", false, TYPED},
    {"imagej_same.tif", 7, 5, 1, 1, 1, "", ELEM_U16, "imagej", false, TYPED},
    {"imagej_claims.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "imagej", false, TYPED},
    {"imagej_rgb_channels.tif", 7, 5, 2, 3, 1, "zc", ELEM_U8, "imagej", true, TYPED},

    {"stack.tif", 7, 5, 3, 1, 1, "z", ELEM_I16, "tiff", false, TYPED},
    {"stack_deflate.tif", 7, 5, 3, 1, 1, "z", ELEM_I16, "tiff", false, TYPED},
    {"shaped_z.tif", 7, 5, 3, 1, 1, "z", ELEM_U8, "tiff", false, TYPED},
    {"shaped_cz.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "tiff", false, TYPED},
    {"shaped_tcz.tif", 7, 5, 3, 2, 2, "zct", ELEM_U8, "tiff", false, TYPED},
    {"shaped_tz.tif", 7, 5, 3, 1, 2, "zt", ELEM_U8, "tiff", false, TYPED},
    {"shaped_zc.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "tiff", false, TYPED},
    {"truncated_shape.tif", 7, 5, 3, 1, 1, "z", ELEM_U16, "tiff", false, TYPED},
    {"stack_thumbnails.tif", 7, 5, 3, 1, 1, "z", ELEM_U8, "tiff", false, TYPED},
    {"stk.stk", 7, 5, 3, 1, 1, "z", ELEM_U16, "tiff", false, TYPED},
    {"lsm.lsm", 7, 5, 3, 2, 2, "zct", ELEM_U8, "tiff", false, TYPED},
    {"lsm_line.lsm", 7, 5, 1, 2, 1, "c", ELEM_U8, "tiff", false, TYPED},
    {"pyramid.tif", 16, 12, 1, 1, 1, "", ELEM_U8, "tiff", false, TYPED},
    {"subifd.tif", 16, 12, 2, 1, 1, "z", ELEM_U8, "tiff", false, TYPED},

    {"ome_czt.tif", 7, 5, 4, 2, 3, "zct", ELEM_U8, "ome", false, TYPED},
    {"ome_ztc.tif", 7, 5, 4, 2, 3, "zct", ELEM_U8, "ome", false, TYPED},
    {"ome_tcz.tif", 7, 5, 4, 2, 3, "zct", ELEM_U8, "ome", false, TYPED},
    {"ome_bare.tif", 7, 5, 4, 2, 3, "zct", ELEM_U8, "ome", false, TYPED},
    {"ome_each.tif", 7, 5, 4, 2, 3, "zct", ELEM_U8, "ome", false, TYPED},
    {"ome_part.tif", 7, 5, 4, 2, 1, "zc", ELEM_U8, "ome", false, FRAME1},
    {"ome_stopped.tif", 7, 5, 4, 2, 2, "zct", ELEM_U8, "ome", false, TYPED},
    {"ome_stopped_z.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_cdata.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_space.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_letters.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_comment.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_annotation.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_latin.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_latin_untold.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_mark.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_doctype.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_tail.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_beyond.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_once.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_one.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "ome", false, TYPED},
    {"ome_second.tif", 7, 5, 1, 1, 1, "", ELEM_U8, "ome", false, PLANE1},
    {"ome_numplanes.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_thumbnail.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_extents.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_type.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_longer.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_names.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_ctz.tif", 7, 5, 4, 2, 3, "zct", ELEM_U8, "ome", false, TYPED},
    {"ome_zct.tif", 7, 5, 4, 2, 3, "zct", ELEM_U8, "ome", false, TYPED},
    {"ome_tzc.tif", 7, 5, 4, 2, 3, "zct", ELEM_U8, "ome", false, TYPED},
    {"ome_set_name.tif", 7, 5, 2, 2, 1, "zc", ELEM_U8, "ome", false, PLANE1},
    {"ome_set_uuid.tif", 7, 5, 2, 2, 1, "zc", ELEM_U8, "ome", false, PLANE1},
    {"ome_set_image.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_behind.tif", 7, 5, 3, 2, 1, "zc", ELEM_U8, "ome", false, TYPED},
    {"ome_tifffile.ome.tif", 7, 5, 4, 2, 1, "zc", ELEM_U16, "ome", false, TYPED},
    {"ome_rgb.ome.tif", 7, 5, 2, 3, 1, "zc", ELEM_U8, "ome", true, TYPED},

    {"photo.jpg", 48, 32, 1, 3, 1, "c", ELEM_U8, "jpeg", true, FLAT},
    {"photo_gray.jpg", 37, 29, 1, 1, 1, "", ELEM_U8, "jpeg", false, TYPED},
    {"photo_progressive.jpg", 37, 29, 1, 3, 1, "c", ELEM_U8, "jpeg", true, TYPED},
    {"photo_gray.jp2", 37, 29, 1, 1, 1, "", ELEM_U8, "jp2", false, TYPED},
    {"photo_u16.jp2", 37, 29, 1, 1, 1, "", ELEM_U16, "jp2", false, TYPED},
    {"photo_rgb.j2k", 37, 29, 1, 3, 1, "c", ELEM_U8, "jp2", true, TYPED},
    {"photo_flat.jp2", 48, 32, 1, 3, 1, "c", ELEM_U8, "jp2", true, FLAT},
    {"type_u8.fits", 7, 5, 1, 1, 1, "", ELEM_U8, "fits", false, TYPED},
    {"type_i16.fits", 7, 5, 1, 1, 1, "", ELEM_I16, "fits", false, TYPED},
    {"type_u16.fits", 7, 5, 1, 1, 1, "", ELEM_U16, "fits", false, TYPED},
    {"type_i32.fits", 7, 5, 1, 1, 1, "", ELEM_I32, "fits", false, TYPED},
    {"type_u32.fits", 7, 5, 1, 1, 1, "", ELEM_U32, "fits", false, TYPED},
    {"type_u64.fits", 7, 5, 1, 1, 1, "", ELEM_U32, "fits", false, TYPED},
    {"type_i64.fits", 7, 5, 1, 1, 1, "", ELEM_I32, "fits", false, TYPED},
    {"type_f32.fits", 7, 5, 1, 1, 1, "", ELEM_F32, "fits", false, TYPED},
    {"type_f64.fits", 7, 5, 1, 1, 1, "", ELEM_F64, "fits", false, TYPED},
    {"scaled.fits", 7, 5, 1, 1, 1, "", ELEM_F32, "fits", false, TYPED},
    {"cube.fits", 7, 5, 3, 2, 1, "zc", ELEM_F32, "fits", false, TYPED},
    {"cube.fits.fz", 7, 5, 3, 2, 1, "zc", ELEM_F32, "fits", false, TYPED},
    {"sky.fits", 7, 5, 1, 1, 1, "", ELEM_F32, "fits", false, TYPED},
    {"extension.fits", 7, 5, 1, 1, 1, "", ELEM_I32, "fits", false, TYPED},
    {"parts.fits", 7, 5, 1, 1, 1, "", ELEM_I32, "fits", false, TYPED},
    {"parts.fits[1]", 7, 5, 1, 1, 1, "", ELEM_I32, "fits", false, TYPED},
    {"parts.fits[err]", 7, 5, 1, 1, 1, "", ELEM_F32, "fits", false, TYPED},
    {"parts.fits[SCI,2]", 7, 5, 1, 1, 1, "", ELEM_I16, "fits", false, TYPED},
    {"rice.fits", 7, 5, 1, 1, 1, "", ELEM_I16, "fits", false, TYPED},
    {"short.fits", 7, 5, 1, 1, 1, "", ELEM_I16, "fits", false, TYPED},
    {"short_one.fits", 7, 5, 1, 1, 1, "", ELEM_I16, "fits", false, TYPED},
    {"short.fits.gz", 7, 5, 1, 1, 1, "", ELEM_I16, "fits", false, TYPED},
    {"short_parts.fits[LAST]", 7, 5, 1, 1, 1, "", ELEM_I16, "fits", false, TYPED},
    {"members.fits.gz", 7, 5, 1, 1, 1, "", ELEM_I16, "fits", false, TYPED},
    {"tail.fits.gz", 7, 5, 1, 1, 1, "", ELEM_I16, "fits", false, TYPED},
    {"moved.fits", 7, 5, 1, 1, 1, "", ELEM_U16, "fits", false, TYPED},
    {"moved_100.fits", 7, 5, 1, 1, 1, "", ELEM_I32, "fits", false, MOVED},
    {"turned.fits", 7, 5, 1, 1, 1, "", ELEM_F32, "fits", false, TYPED},
    {"signed_bytes.fits", 7, 5, 1, 1, 1, "", ELEM_I16, "fits", false, BYTE},
    {"blank_out.fits", 7, 5, 1, 1, 1, "", ELEM_F32, "fits", false, TYPED},
    {"series.fits", 7, 5, 1, 1, 3, "t", ELEM_U8, "fits", false, TYPED},
    {"gzip_1.fits.fz", 7, 5, 1, 1, 1, "", ELEM_F32, "fits", false, TYPED},
    {"gzip_2.fits.fz", 7, 5, 1, 1, 1, "", ELEM_I32, "fits", false, TYPED},
    {"plio_1.fits.fz", 7, 5, 1, 1, 1, "", ELEM_U8, "fits", false, TYPED},
    {"hcompress_1.fits.fz", 7, 5, 1, 1, 1, "", ELEM_I16, "fits", false, TYPED},
    {"zipped.fits.gz", 7, 5, 1, 1, 1, "", ELEM_F32, "fits", false, TYPED},

    {"../folders/planes", 7, 5, 3, 1, 1, "z", ELEM_U16, "tiff", false, TYPED},
    {"../folders/volumes/", 7, 5, 3, 1, 2, "zt", ELEM_U8, "imagej", false, TYPED},

    {"animated.png", 7, 5, 1, 1, 1, "", ELEM_U8, "png", false, TYPED},
    {"gray.png", 7, 5, 1, 1, 1, "", ELEM_U8, "png", false, TYPED},
    {"gray_16.png", 7, 5, 1, 1, 1, "", ELEM_U16, "png", false, TYPED},
    {"rgb.png", 7, 5, 1, 3, 1, "c", ELEM_U8, "png", true, TYPED},
    {"rgba_16.png", 7, 5, 1, 3, 1, "c", ELEM_U16, "png", true, TYPED},
    {"gray_alpha.png", 7, 5, 1, 1, 1, "", ELEM_U8, "png", false, TYPED},
    {"gray_1.png", 7, 5, 1, 1, 1, "", ELEM_BOOL, "png", false, TYPED},
    {"gray_2.png", 7, 5, 1, 1, 1, "", ELEM_U8, "png", false, SCALED4},
    {"gray_4.png", 7, 5, 1, 1, 1, "", ELEM_U8, "png", false, SCALED16},
    {"palette.png", 7, 5, 1, 3, 1, "c", ELEM_U8, "png", true, PALETTE},
    {"palette_alpha.png", 7, 5, 1, 3, 1, "c", ELEM_U8, "png", true, PALETTE},
    {"palette_gray.png", 7, 5, 1, 1, 1, "", ELEM_U8, "png", false, GRAYS},
};

/* What is to be said of them; of the others nothing is. */
static const struct {
    const char *file;
    unsigned remarks; /* of ImageRemark, as bits */
} REMARKED[] = {
    {"parts.fits", BIT(REMARK_PARTS)},
    {"rgba.tif", BIT(REMARK_ALPHA)},
    {"gray_alpha.tif", BIT(REMARK_ALPHA)},
    {"palette_10.tif", BIT(REMARK_NUMBERS)},
    {"white_u8.tif", BIT(REMARK_WHITE)},
    {"bits_12_white.tif", BIT(REMARK_WHITE)},
    {"levels_svs.tif", BIT(REMARK_PAGES)},
    {"levels_svs.tif[level=0]", BIT(REMARK_PAGES)},
    {"levels_svs.tif[level=1]", BIT(REMARK_PAGES)},
    {"levels_svs.tif[level=2]", BIT(REMARK_PAGES)},
    {"white_u16.tif", BIT(REMARK_WHITE)},
    {"white_fax.tif", BIT(REMARK_WHITE)},
    {"white_bool.tif", BIT(REMARK_BITS)},
    {"white_bool_deflate.tif", BIT(REMARK_BITS)},
    {"white_bool_tiles.tif", BIT(REMARK_BITS)},
    {"extra_rgb_mixed.tif", BIT(REMARK_ALPHA)},
    {"extra_planar.tif", BIT(REMARK_ALPHA)},
    {"extra_gray.tif", BIT(REMARK_ALPHA)},
    {"sparse_nodata.tif", BIT(REMARK_NODATA)},
    {"tags_of_display.tif", BIT(REMARK_ORIENTATION) | BIT(REMARK_NODATA) | BIT(REMARK_UNCALIBRATED)},
    {"marked_all.tif", BIT(REMARK_MARKS)},
    {"imagej_copied.tif", BIT(REMARK_DESCRIPTION)},
    {"stack_imagej_wrong.tif", BIT(REMARK_DESCRIPTION)},
    {"imagej_signed.tif", BIT(REMARK_CALIBRATED)},
    {"imagej_line.tif", BIT(REMARK_CALIBRATED)},
    {"imagej_square.tif", BIT(REMARK_CALIBRATED)},
    {"imagej_beyond.tif", BIT(REMARK_UNCALIBRATED)},
    {"ome_beyond.tif", BIT(REMARK_LENGTHS)},
    {"imagej_rodbard.tif", BIT(REMARK_UNCALIBRATED)},
    {"imagej_claims.tif", BIT(REMARK_DESCRIPTION)},
    {"ome_part.tif", BIT(REMARK_FILES)},
    {"ome_stopped.tif", BIT(REMARK_UNFINISHED)},
    {"ome_stopped_z.tif", BIT(REMARK_UNFINISHED)},
    {"ome_extents.tif", BIT(REMARK_SIZES)},
    {"ome_type.tif", BIT(REMARK_SIZES)},
    {"ome_names.tif", BIT(REMARK_CHANNEL_NAMES)},
    {"ome_set_name.tif", BIT(REMARK_FILES)},
    {"ome_set_uuid.tif", BIT(REMARK_FILES)},
    {"ome_behind.tif", BIT(REMARK_IMAGES)},
    {"ome_once.tif", BIT(REMARK_FIRST)},
    {"ome_one.tif", BIT(REMARK_ABSENT) | BIT(REMARK_UNLISTED)},
    {"ome_second.tif", BIT(REMARK_ABSENT) | BIT(REMARK_UNLISTED)},
    {"ome_longer.tif", BIT(REMARK_ABSENT)},
    {"animated.png", BIT(REMARK_FRAMES) | BIT(REMARK_ORIENTATION)},
    {"rgba_16.png", BIT(REMARK_ALPHA)},
    {"photo.jpg", BIT(REMARK_LOSSY) | BIT(REMARK_ORIENTATION)},
    {"photo_gray.jpg", BIT(REMARK_LOSSY)},
    {"photo_gray.jp2", 0},
    {"photo_flat.jp2", BIT(REMARK_LOSSY)},
    {"photo_progressive.jpg", BIT(REMARK_LOSSY)},
    {"gray_alpha.png", BIT(REMARK_ALPHA)},
    {"palette_alpha.png", BIT(REMARK_ALPHA)},
};

/* Tiles or strips of sparse files that are left out, as bits, and what their pixels are. */
static const struct Absent {
    const char *file;
    uint32_t bands;
    double nothing;
} ABSENT[] = {
    {"sparse_tiles.tif", 1u << 1 | 1u << 5, 0},
    {"sparse_tiles_deflate.tif", 1u << 0 | 1u << 8, 0},
    {"sparse_planar.tif", 1u << 4 | 1u << 9 | 1u << 26, 0},
    {"sparse_all.tif", 0x1FF, 0},
    {"sparse_nodata.tif", 1u << 1 | 1u << 5, 77},
    {"sparse_strips.tif", 1u << 0 | 1u << 2, 0},
    {"sparse_strips_deflate.tif", 1u << 3, 0},
    {"sparse_one.tif", 0x1F, 0},
};

static double sparse(const struct Row *row, int64_t c, int64_t y, int64_t x, double there)
{
    const struct Absent *absent = ABSENT;
    while (strcmp(absent->file, row->file) != 0) {
        absent++;
    }
    int64_t number = row->y == 30 ? y / 6 : c * 9 + y / 16 * 3 + x / 16;
    return (absent->bands >> number & 1) != 0 ? absent->nothing : there;
}

static unsigned remarks_of(const char *file)
{
    for (size_t i = 0; i < sizeof REMARKED / sizeof *REMARKED; i++) {
        if (strcmp(REMARKED[i].file, file) == 0) {
            return REMARKED[i].remarks;
        }
    }
    return 0;
}

static double wanted(const struct Row *row, int64_t t, int64_t c, int64_t z, int64_t y, int64_t x)
{
    static const double flat[] = {200, 100, 50};
    int64_t channel = c + ((row->rule == BUT_THIRD && c > 2) || (row->rule == BUT_FOURTH && c > 3));
    double b = pixel_base(t + (row->rule == FRAME1), channel, z + (row->rule == PLANE1), y, x);
    double index = fmod(pixel_base(t, 0, z, y, x), 16);
    switch (row->rule) {
    case BYTE:
        return b - 125;
    case MOD4:
        return fmod(b, 4);
    case MOD16:
        return fmod(b, 16);
    case TIMES1:
        return b;
    case TIMES4:
        return 4 * b;
    case TIMES16:
        return 16 * b;
    case TIMES64:
        return 64 * b;
    case SCALED4:
        return 85 * fmod(b, 4);
    case SCALED16:
        return 17 * fmod(b, 16);
    case PALETTE:
        return c == 0 ? index : c == 1 ? 255 - index : 3 * index;
    case GRAYS:
        return 5 * index;
    case MOVED:
        return 257 * (b - 125);
    case INVERTED:
        return 1 - fmod(b, 2);
    case SQUARE:
        return 1 + 2 * index + 3 * index * index;
    case SPARSE:
        return sparse(row, c, y, x, 257 * b + 1);
    case FLAT:
        return flat[c];
    case FLAT1:
        return flat[1];
    default:
        return pixel_typed(row->elem, b);
    }
}

static void check_rows(const struct Row *row, const int64_t at[4], int64_t rows, const void *pixels)
{
    double slack = row->rule == FLAT || row->rule == FLAT1 || strcmp(row->style, "jpeg") == 0 ? 4 : 0;
    for (int64_t i = 0; i < rows * row->x; i++) {
        int64_t y = at[3] + i / row->x, x = i % row->x;
        double want = wanted(row, at[0], at[1], at[2], y, x);
        double got = pixel_get(row->elem, pixels, (size_t)i);
        if (!(fabs(got - want) <= slack)) {
            fail_msg("%s: pixel t %d c %d z %d y %d x %d is %g, not %g", row->file, (int)at[0], (int)at[1], (int)at[2],
                     (int)y, (int)x, got, want);
        }
    }
}

static void read_plane(const struct Row *row, ImageFile *file, int64_t t, int64_t c, int64_t z)
{
    Err err = {0};
    size_t pitch = (size_t)row->x * elem_size(row->elem), wide = pitch + 24;
    char *pixels = malloc(pitch * (size_t)row->y), *lines = malloc(2 * wide);
    assert_non_null(pixels);
    assert_non_null(lines);
    if (!image_read(file, t, c, z, 0, row->y, pixels, pitch, &err)) {
        fail_msg("%s", err.text);
    }
    check_rows(row, (int64_t[]){t, c, z, 0}, row->y, pixels);
    for (int64_t y = row->y - 2; y >= 0; y--) { /* pairs of rows that lie apart, backwards */
        memset(lines, 0x55, 2 * wide);
        if (!image_read(file, t, c, z, y, 2, lines, wide, &err)) {
            fail_msg("%s", err.text);
        }
        check_rows(row, (int64_t[]){t, c, z, y}, 1, lines);
        check_rows(row, (int64_t[]){t, c, z, y + 1}, 1, lines + wide);
        for (size_t i = pitch; i < wide; i++) {
            assert_int_equal(lines[i], 0x55);
        }
    }
    free(pixels);
    free(lines);
}

static void check_info(const struct Row *row, const ImageInfo *info)
{
    if (info->x != row->x || info->y != row->y || info->z != row->z || info->c != row->c || info->t != row->t ||
        info->elem != row->elem || info->rgb != row->rgb || strcmp(info->style, row->style) != 0 ||
        info->has_z != (strchr(row->has, 'z') != NULL) || info->has_c != (strchr(row->has, 'c') != NULL) ||
        info->has_t != (strchr(row->has, 't') != NULL)) {
        fail_msg("%s: x %d y %d z %d%s c %d%s t %d%s %s %s %s", row->file, (int)info->x, (int)info->y, (int)info->z,
                 info->has_z ? "!" : "", (int)info->c, info->has_c ? "!" : "", (int)info->t, info->has_t ? "!" : "",
                 elem_name(info->elem), info->rgb ? "rgb" : "gray", info->style);
    }
    for (int i = 0; i < IMAGE_REMARKS; i++) {
        if ((info->remarks[i] != 0) != ((remarks_of(row->file) >> i & 1) != 0)) {
            fail_msg("%s: remark %d is %d", row->file, i, (int)info->remarks[i]);
        }
    }
}

static void check_file(const struct Row *row)
{
    char path[512];
    ImageFile *file;
    Err err = {0};
    snprintf(path, sizeof path, "%s/images/%s", TEST_DATA, row->file);
    if (!image_open(path, &file, &err)) {
        fail_msg("%s", err.text);
    }
    check_info(row, image_info(file));
    for (int64_t t = 0; t < row->t; t++) {
        for (int64_t z = row->z - 1; z >= 0; z--) {
            for (int64_t c = 0; c < row->c; c++) {
                read_plane(row, file, t, c, z);
            }
        }
    }
    image_close(file);
}

static void test_pixels(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        check_file(&ROWS[i]);
    }
}

static ImageFile *open_data(const char *name)
{
    char path[512];
    ImageFile *file;
    Err err = {0};
    snprintf(path, sizeof path, "%s/images/%s", TEST_DATA, name);
    if (!image_open(path, &file, &err)) {
        fail_msg("%s", err.text);
    }
    return file;
}

/* ---- metadata -------------------------------------------------------------------------- */

static void test_sizes(void **state)
{
    static const struct {
        const char *file, *unit;
        double x, y, z, um, interval;
    } rows[] = {
        {"type_u8.tif", "", 0, 0, 0, 0, 0},
        {"levels_svs.tif", "um", 0.5, 0.5, 0, 1, 0},
        {"levels_svs.tif[level=2]", "um", 2, 2, 0, 1, 0},
        {"imagej_huge.tif", "", 0, 0, 0, 0, 0}, /* no tags at all */
        {"imagej_tzc.tif", "um", 0.2, 0.3, 1.5, 1, 0.25},
        {"imagej_z.tif", "\\u00B5m", 0.1, 0.1, 0.5, 1, 0},
        {"imagej_minutes.tif", "Micron", 0.5, 0.5, 0, 1, 120},
        {"imagej_inch.tif", "", 0, 0, 0, 0, 0}, /* 72 dots an inch mean nothing */
        {"imagej_cm.tif", "cm", 0.01, 0.01, 0, 1e4, 0},
        {"lsm.lsm", "um", 0.2, 0.3, 1.5, 1, 0.25},
        {"imagej_yunit.tif", "um", 0.2, 0.25, 2, 1, 0},
        {"imagej_um_cm.tif", "um", 0.2, 0.25, 0, 1, 0},
        {"resolution_1.tif", "um", 0.2, 0.25, 0, 1, 0},
        {"resolution_3.tif", "um", 0.2, 0.25, 0, 1, 0},
        {"resolution_4.tif", "um", 0.2, 0.25, 0, 1, 0},
        {"resolution_5.tif", "um", 0.2, 0.25, 0, 1, 0},
        {"resolution_6.tif", "um", 0.2, 0.25, 0, 1, 0},
        {"resolution_8.tif", "um", 0.2, 0.25, 0, 1, 0},
        {"resolution_9.tif", "um", 0.2, 0.25, 0, 1, 0},
        {"resolution_10.tif", "um", 0.2, 0.25, 0, 1, 0},
        {"resolution_11.tif", "um", 0.2, 0.25, 0, 1, 0},
        {"resolution_12.tif", "um", 0.2, 0.25, 0, 1, 0},
        {"resolution_unit_4.tif", "mm", 0.2, 0.25, 0, 1e3, 0},
        {"resolution_unit_5.tif", "um", 0.2, 0.25, 0, 1, 0},
        {"ome_depth.tif", "\xC2\xB5m", 0, 0, 2, 1, 0},
        {"ome_beyond.tif", "\xC2\xB5m", 0, 0, 2, 1, 0},
        {"resolution_zero.tif", "um", 0, 0, 0, 1, 0},
        {"resolution_none.tif", "um", 0, 0, 0, 1, 0},
        {"resolution_negative.tif", "um", 0, 0, 0, 1, 0},
        {"resolution_nan.tif", "um", 0, 0, 0, 1, 0},
        {"ome_latin.tif", "\xC2\xB5m", 0.5, 0, 0, 1, 0},
        {"ome_latin_untold.tif", "\xC2\xB5m", 0.5, 0, 0, 1, 0},
        {"ome_mark.tif", "\xC2\xB5m", 0.5, 0, 0, 1, 0},
        {"ome_czt.tif", "nm", 200, 300, 1500, 1e-3, 0.25},
        {"ome_tifffile.ome.tif", "\xC2\xB5m", 0.25, 0.25, 0, 1, 0},
        {"ome_rgb.ome.tif", "", 0, 0, 0, 0, 0},
        {"sky.fits", "", 0, 0, 0, 0, 0},
        {"series.fits", "mm", 0.002, 0.003, 0, 1000, 30},
        {"sizes_um.png", "um", 0.2, 0.25, 0, 1, 0},
        {"sizes_ratio.png", "", 0, 0, 0, 0, 0},
        {"sizes_dots.png", "", 0, 0, 0, 0, 0}, /* 72 an inch */
        {"sizes_none.png", "", 0, 0, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ImageFile *file = open_data(rows[i].file);
        const ImageInfo *info = image_info(file);
        const double size[] = {rows[i].x, rows[i].y, rows[i].z};
        assert_string_equal(info->unit, rows[i].unit);
        for (int axis = 0; axis < 3; axis++) {
            if (fabs(info->size[axis] - size[axis]) > 1e-9 * size[axis] ||
                fabs(info->size_um[axis] - size[axis] * rows[i].um) > 1e-9 * size[axis]) {
                fail_msg("%s: size of axis %d is %.17g (%.17g um)", rows[i].file, axis, info->size[axis],
                         info->size_um[axis]);
            }
        }
        assert_true(info->interval == rows[i].interval);
        image_close(file);
    }
}

/* Units as programs and people spell them. */
static void test_units(void **state)
{
    static const struct {
        double um;
        const char *names[20];
    } rows[] = {
        {1,
         {"um", "UM", "Um", "\xC2\xB5m", "\xC2\xB5M", "\xCE\xBCm", "\xB5m", "\xC3\x82\xC2\xB5m", "\\u00B5m", "\\u00b5m",
          "micron", "Micron", "MICRONS", "micrometer", "Micrometer", "micrometers", "Micrometre", "micrometres",
          " um "}},
        {1e-3, {"nm", "NM", "nanometer", "Nanometers", "nanometre"}},
        {1e-6, {"pm", "picometer"}},
        {1e-4, {"\xC3\x85", "\xE2\x84\xAB", "\xC5", "Angstrom", "\\u00C5"}},
        {1e3, {"mm", "MM", "Millimeter", "millimetres"}},
        {1e4, {"cm", "CM", "centimeter", "Centimetres"}},
        {1e6, {"m", "Meter", "metres"}},
        {1e9, {"km", "kilometers"}},
        {1e12, {"Mm"}},
        {25400, {"inch", "Inch", "INCHES", "in", "\""}},
        {25.4, {"thou"}},
        {304800, {"ft", "Feet"}},
        {25400.0 / 72, {"pt"}},
        {0, {"", " ", "pixel", "deg", "meterstick", "eter", "micro", "s", "umm", "gigameter"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (const char *const *name = rows[i].names; *name != NULL; name++) {
            if (meta_unit_um(*name) != rows[i].um) {
                fail_msg("'%s' is %g um, not %g", *name, meta_unit_um(*name), rows[i].um);
            }
        }
    }
}

/* What writers put where a number belongs. */
static void test_numbers(void **state)
{
    (void)state;
    assert_true(meta_number("0.5") == 0.5 && meta_number(" 5.0E-1\r") == 0.5 && meta_number("+.5 ") == 0.5);
    assert_true(meta_number("") == 0 && meta_number("1,5") == 0 && meta_number("1.5um") == 0);
    assert_true(meta_number("0x10") == 0 && meta_number("inf") == 0 && meta_number("NaN") == 0);
}

/* How many pages, images and files are left out. */
static void test_remarks(void **state)
{
    static const struct {
        const char *file;
        int64_t remarks[IMAGE_REMARKS];
    } rows[] = {
        {"unread_pages.tif", {[REMARK_PAGES] = 3}},
        {"unread_marked.tif", {0}},
        {"stack_thumbnails.tif", {0}},
        {"unread_loop.tif", {[REMARK_PAGES] = 1}},
        {"unread_cut.tif", {[REMARK_PAGES] = 1}},
        {"unread_unlisted.tif", {[REMARK_UNLISTED] = 3}},
        {"ome_stopped.tif", {[REMARK_UNFINISHED] = 3}},
        {"ome_stopped_z.tif", {[REMARK_UNFINISHED] = 1}},
        {"ome_longer.tif", {[REMARK_ABSENT] = 4}},
        {"animated.png", {[REMARK_FRAMES] = 2, [REMARK_ORIENTATION] = 1}},
        {"unread_alike.tif", {[REMARK_IMAGES] = 3}},
        {"unread_series.ome.tif", {[REMARK_IMAGES] = 2}},
        {"unread_companion.tif", {[REMARK_XML] = 1}},
        {"parts.fits", {[REMARK_PARTS] = 2}},
        {"ome_part.tif", {[REMARK_FILES] = 16}},
        {"ome_set_uuid.tif", {[REMARK_FILES] = 2}},
        {"ome_cut.tif", {[REMARK_XML_DAMAGED] = 1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ImageFile *file = open_data(rows[i].file);
        const ImageInfo *info = image_info(file);
        for (int kind = 0; kind < IMAGE_REMARKS; kind++) {
            if (info->remarks[kind] != rows[i].remarks[kind]) {
                fail_msg("%s: %d of kind %d", rows[i].file, (int)info->remarks[kind], kind);
            }
        }
        image_close(file);
    }
}

static void test_fits_header(void **state)
{
    (void)state;
    ImageFile *file = open_data("sky.fits");
    const char *header = image_info(file)->extra;
    assert_non_null(header);
    assert_int_equal(strlen(header) % 80, 0);
    assert_non_null(strstr(header, "OBJECT  = 'M 31"));
    assert_non_null(strstr(header, "BUNIT"));
    image_close(file);
}

/* What the first header of a file says of all its parts. */
static void test_fits_parts(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text;
        bool there;
    } cases[] = {
        {"parts.fits", "OBJECT  = 'the first", true},
        {"parts.fits", "all parts", false},
        {"parts.fits", "EXPTIME =                 30.0", true},
        {"parts.fits", "HISTORY", false},
        {"parts.fits", "HIERARCH ESO INS TEMP = 12.5", true},
        {"parts.fits", "CRPIX1", false},
        {"parts.fits[ERR]", "OBJECT  = 'all parts", true},
        {"parts.fits[ERR]", "CONTINUE", true},
        {"parts.fits[SCI,2]", "EXPTIME", false},
        {"parts.fits[SCI,2]", "CONTINUE", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ImageFile *file = open_data(cases[i].file);
        const char *header = image_info(file)->extra, *end = strstr(header, "END     ");
        assert_int_equal(strlen(header) % 80, 0);
        assert_true(end != NULL && strlen(end) == 80);
        if ((strstr(header, cases[i].text) != NULL) != cases[i].there) {
            fail_msg("%s: %s", cases[i].file, cases[i].text);
        }
        image_close(file);
    }
}

/* ---- values that are none ----------------------------------------------------------------- */

static void test_fits_nulls(void **state)
{
    float pixels[35];
    Err err = {0};
    (void)state;
    ImageFile *file = open_data("blank.fits");
    assert_int_equal(image_info(file)->elem, ELEM_F32);
    assert_true(image_read(file, 0, 0, 0, 0, 5, pixels, 28, &err));
    for (int i = 0; i < 35; i++) {
        double want = pixel_typed(ELEM_I16, pixel_base(0, 0, 0, i / 7, i % 7));
        assert_true(i == 9 ? isnan(pixels[i]) : (double)pixels[i] == want);
    }
    image_close(file);
    file = open_data("special.fits");
    assert_true(image_read(file, 0, 0, 0, 0, 5, pixels, 28, &err));
    assert_true(isnan(pixels[0]));
    assert_true(isinf(pixels[1]) && pixels[1] > 0);
    assert_true(isinf(pixels[2]) && pixels[2] < 0);
    assert_true(pixels[3] > 0 && pixels[3] < 1e-44f);
    image_close(file);
}

/* Of tiles whose floats are rounded, one that could not be. */
static void test_mixed_tiles(void **state)
{
    float pixels[16 * 32], apart[2][40];
    Err err = {0};
    int nan = 0;
    (void)state;
    ImageFile *file = open_data("mixed_tiles.fits.fz");
    assert_true(image_read(file, 0, 0, 0, 0, 16, pixels, 128, &err));
    assert_true(isnan(pixels[16]) && isnan(pixels[3 * 32 + 4]) && isnan(pixels[9 * 32 + 16]));
    assert_true(pixels[17] == INFINITY && pixels[18] == -INFINITY);
    assert_true(pixels[19] > 0 && pixels[19] < 1e-44f);
    for (int i = 0; i < 16 * 32; i++) {
        nan += isnan(pixels[i]) != 0;
        assert_true(isnan(pixels[i]) || (i >= 16 && i < 20) || (pixels[i] > 80 && pixels[i] < 120));
    }
    assert_int_equal(nan, 3);
    assert_true(image_read(file, 0, 0, 0, 0, 2, apart, sizeof *apart, &err));
    assert_memory_equal(apart[1], pixels + 32, 128);
    image_close(file);
}

/* Palettes of colours as the numbers that are stored. */
static void test_numbers_of_colours(void **state)
{
    static const char *const NAMES[] = {"palette.tif", "palette_4.tif", "palette.png", "palette_alpha.png"};
    uint8_t pixels[35];
    Err err = {0};
    (void)state;
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
        ImageFile *file = open_data(NAMES[k]);
        const ImageInfo *info = image_info(file);
        assert_true(info->palette && info->c == 3 && image_read(file, 0, 1, 0, 0, 1, pixels, 7, &err));
        image_numbers(file);
        assert_true(info->c == 1 && !info->has_c && !info->rgb && !info->palette && info->elem == ELEM_U8);
        assert_true(info->remarks[REMARK_NUMBERS] == 1 && image_read(file, 0, 0, 0, 0, 5, pixels, 7, &err));
        for (int i = 0; i < 35; i++) {
            assert_true(pixels[i] == fmod(pixel_base(0, 0, 0, i / 7, i % 7), 16));
        }
        image_close(file);
    }
}

/* numpy.uint16(bits).view(numpy.float16) */
static void test_halves(void **state)
{
    static const struct {
        uint16_t bits;
        float value;
    } rows[] = {{0x0001, 5.9604645e-08f}, {0x03FF, 6.0975552e-05f}, {0x0400, 6.1035156e-05f}, {0x3555, 0.33325195f},
                {0x7BFF, 65504},          {0x7C00, INFINITY},       {0xFC00, -INFINITY},      {0xC000, -2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(pixels_from_half(rows[i].bits) == rows[i].value);
    }
    assert_true(isnan(pixels_from_half(0x7E00)));
    assert_true(signbit(pixels_from_half(0x8000)) != 0);
}

/* A page without the level, and one that is cut off. */
static void test_levels(void **state)
{
    uint8_t row[8];
    Err err = {0};
    (void)state;
    ImageFile *file = open_data("subifd.tif[level=1]");
    assert_int_equal(image_info(file)->z, 2);
    assert_true(image_read(file, 0, 0, 0, 0, 1, row, sizeof row, &err));
    assert_false(image_read(file, 0, 0, 1, 0, 1, row, sizeof row, &err));
    assert_non_null(strstr(err.text, "page 2: it has no such level of detail"));
    image_close(file);
    file = open_data("levels.ome.tif[level=2]");
    assert_true(fabs(image_info(file)->size_um[0] - 1) < 1e-12 && fabs(image_info(file)->size_um[1] - 1) < 1e-12);
    image_close(file);
}

/* ---- files that are refused ---------------------------------------------------------------- */

static void test_refused(void **state)
{
    static const struct {
        const char *file, *why;
    } rows[] = {
        {"cmyk.tif", "CMYK"},
        {"cut.fits.gz", "cut off or damaged (unexpected end of file)"},
        {"rice_floats.fits.fz", "whole numbers without a scale"},
        {"gzip_i64.fits.fz", "64-bit integers in compressed tiles"},
        {"nocompress.fits.fz", "stored by NOCOMPRESS"},
        {"ome_bomb.tif", "declares entities"},
        {"ome_gaps.tif", "4 planes, of which only 2 are in this file, with gaps; save those"},
        {"stk_cut.stk", "should hold 9 planes"},
        {"stk_lzw.stk", "3 planes are compressed"},
        {"none.tif", "no such file"},
        {"../make_images.py", "neither a TIFF, a PNG, a JPEG nor a FITS"},
        {"..", "has no image files"},
        {"gray.png[level=0]", "only FITS files and those of readers have parts"},
        {"bits_2.tif[2]", "TIFF files have levels, as in [level=2], and no part [2]"},
        {"bits_2.tif[level=-1]", "and no part [level=-1]"},
        {"bits_2.tif[level=1]", "it has no level 1, only the image itself"},
        {"imagej_z.tif[level=1]", "it has no level 1, only the image itself"},
        {"levels_svs.tif[level=3]", "it has no level 3; levels are 0 .. 2"},
        {"levels_qptiff.tif[level=3]", "it has no level 3; levels are 0 .. 2"},
        {"levels.ome.tif[level=99999999999999999999]", "levels are 0 .. 2"},
        {"none.fits[2]", "no such file"},
        {"parts.fits[DQ]", "it has no part [DQ]"},
        {"parts.fits[9]", "it has no part [9]"},
        {"parts.fits[0]", "its part [0] is no image"},
        {"../folders/unlike", "7 x 5 x 1 u8 and"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[512];
        ImageFile *file;
        Err err = {0};
        snprintf(path, sizeof path, "%s/images/%s", TEST_DATA, rows[i].file);
        assert_false(image_open(path, &file, &err));
        assert_null(file);
        assert_int_equal(err.code, CODE_FILES);
        if (strstr(err.text, rows[i].why) == NULL || strstr(err.text, path) == NULL) {
            fail_msg("%s: %s", rows[i].file, err.text);
        }
    }
}

/* Pixels of 64 bits that 32 do not hold are found when they are read. */
static void test_too_wide(void **state)
{
    static const struct {
        const char *file, *why;
    } rows[] = {
        {"wide_u64.tif", "it has numbers that u32 cannot hold"},
        {"wide_i64.tif", "it has numbers that i32 cannot hold"},
        {"wide_i64.fits", "it has numbers that i32 cannot hold"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ImageFile *file = open_data(rows[i].file);
        uint32_t pixels[35];
        Err err = {0};
        assert_false(image_read(file, 0, 0, 0, 0, 5, pixels, 28, &err));
        if (strstr(err.text, rows[i].why) == NULL || strstr(err.text, rows[i].file) == NULL) {
            fail_msg("%s: %s", rows[i].file, err.text);
        }
        assert_true(image_read(file, 0, 0, 0, 0, 3, pixels, 28, &err)); /* none is in these */
        image_close(file);
    }
}

/* Time points as planes and back: what is written like the file is the file. */
static void test_time_as_z(void **state)
{
    char path[512], copy[] = "/tmp/pipec-image-XXXXXX";
    ImageFile *file;
    ImageWriter *writer;
    Err err = {0};
    uint8_t row[7], again[7];
    (void)state;
    snprintf(path, sizeof path, "%s/images/imagej_t.tif", TEST_DATA);
    assert_true(image_open(path, &file, &err));
    image_time_as_z(file);
    const ImageInfo *info = image_info(file);
    assert_true(info->z == 3 && info->has_z && info->t == 1 && !info->has_t);
    close(mkstemp(copy));
    assert_true(image_create(copy, "tif", info, info->elem, &(ImageMeta){.like = info}, &writer, &err));
    for (int64_t z = 0; z < 3; z++) {
        for (int64_t y = 0; y < 5; y++) {
            assert_true(image_read(file, 0, 0, z, y, 1, row, sizeof row, &err));
            assert_true(image_write(writer, 0, 0, z, y, 1, row, sizeof row, &err));
        }
    }
    assert_true(image_commit(writer, &err));
    image_close(file);
    assert_true(image_open(copy, &file, &err));
    info = image_info(file);
    assert_true(info->t == 3 && info->has_t && info->z == 1);
    assert_true(image_read(file, 2, 0, 0, 4, 1, again, sizeof again, &err));
    assert_memory_equal(row, again, sizeof row);
    image_close(file);
    unlink(copy);
}

/* A pipe that nobody writes to is not waited for. */
static void test_pipe(void **state)
{
    char folder[] = "/tmp/pipec-image-XXXXXX", path[64];
    ImageFile *file;
    Err err = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pipe.tif", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(image_open(path, &file, &err));
    assert_non_null(strstr(err.text, "not a regular file"));
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels),      cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_units),       cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_remarks),     cmocka_unit_test(test_fits_header),
        cmocka_unit_test(test_fits_parts),  cmocka_unit_test(test_fits_nulls),
        cmocka_unit_test(test_mixed_tiles), cmocka_unit_test(test_numbers_of_colours),
        cmocka_unit_test(test_halves),      cmocka_unit_test(test_levels),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_time_as_z),
        cmocka_unit_test(test_pipe),        cmocka_unit_test(test_too_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
