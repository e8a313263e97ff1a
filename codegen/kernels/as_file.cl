/* Pixels of a file that were only moved or chosen, back in the type of the file.  Whole ones beyond 2^24 may have been rounded
 * up to what the type has not. */
#define TYPE_AS_FILE(T, v) px_file_##T(v)
#define AS_FILE(T, v) TYPE_AS_FILE(T, v)
#define px_file_uchar(v) convert_uchar_sat_rte(px_number(v))
#define px_file_ushort(v) convert_ushort_sat_rte(px_number(v))
#define px_file_short(v) convert_short_sat_rte(px_number(v))
#define px_file_uint(v) convert_uint_sat_rte(px_number(v))
#define px_file_int(v) convert_int_sat_rte(px_number(v))
#define px_file_float(v) (v)
#define px_file_double(v) (double)(v)
#if PX == 4
#define STORE_AS_FILE(T, to, from)                                                                 \
    *(global PX_JOIN(T, 4) *)(to) =                                                                \
        (PX_JOIN(T, 4))(AS_FILE(T, (from)[0]), AS_FILE(T, (from)[1]), AS_FILE(T, (from)[2]), AS_FILE(T, (from)[3]))
#else
#define STORE_AS_FILE(T, to, from)                                                                 \
    PX_UNROLL for (int px_v = 0; px_v < PX; px_v++)(to)[px_v] = AS_FILE(T, (from)[px_v]);
#endif
