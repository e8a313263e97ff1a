/*
 * builtins: the built-in functions that kernels call, declared for a driver that declares none.
 *
 * PoCL reads the declarations of all built-in functions, for all widths of vectors, twice for each program: 18,000
 * lines, which take longer than compiling many a kernel.  It reads none where their header's guard is defined
 * (cl_setup_declares), and these instead.  Types and constants are in a header of their own, which it reads
 * in any case.  Overloads are for all scalar types, as there, so that calls find the same ones.
 */
#define OF_ANY __attribute__((overloadable))
#define OF OF_ANY __attribute__((const))
#define FOR_INTEGERS(DO) DO(char) DO(uchar) DO(short) DO(ushort) DO(int) DO(uint) DO(long) DO(ulong)
#define FOR_FLOATS(DO) DO(float) DO(double)
#define FOR_NUMBERS(DO) FOR_INTEGERS(DO) FOR_FLOATS(DO)
#define FOR_SPACES(DO, ...) DO(__VA_ARGS__, global) DO(__VA_ARGS__, local)

/* ---- work-items ---- */

uint OF get_work_dim(void);
size_t OF get_global_size(uint);
size_t OF get_global_id(uint);
size_t OF get_global_offset(uint);
size_t OF get_local_size(uint);
size_t OF get_local_id(uint);
size_t OF get_num_groups(uint);
size_t OF get_group_id(uint);
void OF_ANY __attribute__((convergent)) barrier(cl_mem_fence_flags);
void OF_ANY mem_fence(cl_mem_fence_flags);

/* ---- floats ---- */

#define ONE(NAME) float OF NAME(float); double OF NAME(double);
#define TWO(NAME) float OF NAME(float, float); double OF NAME(double, double);
#define KIND(NAME) int OF NAME(float); int OF NAME(double);
ONE(ceil) ONE(fabs) ONE(floor) ONE(rint) ONE(round) ONE(sqrt) ONE(trunc)
TWO(copysign) TWO(fmax) TWO(fmin) TWO(fmod) TWO(nextafter)
KIND(isfinite) KIND(isinf) KIND(isnan) KIND(signbit)
float OF fma(float, float, float);
float8 OF fma(float8, float8, float8);
double OF fma(double, double, double);
float OF ldexp(float, int);
double OF ldexp(double, int);

/* ---- numbers ---- */

#define EXTREMES(T) T OF max(T, T); T OF min(T, T); T OF clamp(T, T, T);
#define BITS(T) T OF clz(T); T OF popcount(T); T OF mul_hi(T, T);
#define SIZE(T) u##T OF abs(T); u##T OF abs(u##T);
#define CHOICE(T, SIGNED) T OF select(T, T, SIGNED); T OF select(T, T, u##SIGNED);
FOR_NUMBERS(EXTREMES)
FOR_INTEGERS(BITS)
SIZE(char) SIZE(short) SIZE(int) SIZE(long)
CHOICE(char, char) CHOICE(uchar, char) CHOICE(short, short) CHOICE(ushort, short) CHOICE(int, int)
CHOICE(uint, int) CHOICE(long, long) CHOICE(ulong, long) CHOICE(float, int) CHOICE(double, long)

/* ---- conversions ---- */

#define ROUNDED(FROM) float OF convert_float_rte(FROM); float OF convert_float_rtn(FROM);
#define SATURATED(FROM)                                                                            \
    uchar OF convert_uchar_sat(FROM); uchar OF convert_uchar_sat_rte(FROM);                        \
    ushort OF convert_ushort_sat(FROM); ushort OF convert_ushort_sat_rte(FROM);                    \
    short OF convert_short_sat(FROM); short OF convert_short_sat_rte(FROM);                        \
    uint OF convert_uint_sat(FROM); uint OF convert_uint_sat_rte(FROM);                            \
    int OF convert_int_sat(FROM); int OF convert_int_sat_rte(FROM);
#define FOURS(FROM)                                                                                \
    uchar4 OF convert_uchar4(FROM##4); ushort4 OF convert_ushort4(FROM##4);                        \
    short4 OF convert_short4(FROM##4); uint4 OF convert_uint4(FROM##4);                            \
    int4 OF convert_int4(FROM##4); float4 OF convert_float4(FROM##4);                              \
    double4 OF convert_double4(FROM##4);
FOR_NUMBERS(ROUNDED)
FOR_NUMBERS(SATURATED)
FOR_NUMBERS(FOURS)

/* ---- vectors in memory ---- */

#define LOADS(T, SPACE)                                                                            \
    T##4 OF_ANY vload4(size_t, const SPACE T *); T##8 OF_ANY vload8(size_t, const SPACE T *);      \
    void OF_ANY vstore4(T##4, size_t, SPACE T *); void OF_ANY vstore8(T##8, size_t, SPACE T *);
#define LOADS_OF(T) FOR_SPACES(LOADS, T) LOADS(T, private)
FOR_NUMBERS(LOADS_OF)

/* ---- atomics ---- */

#define ATOMICS(T, SPACE)                                                                          \
    T OF_ANY atomic_add(volatile SPACE T *, T); T OF_ANY atomic_sub(volatile SPACE T *, T);        \
    T OF_ANY atomic_inc(volatile SPACE T *); T OF_ANY atomic_dec(volatile SPACE T *);              \
    T OF_ANY atomic_min(volatile SPACE T *, T); T OF_ANY atomic_max(volatile SPACE T *, T);        \
    T OF_ANY atomic_and(volatile SPACE T *, T); T OF_ANY atomic_or(volatile SPACE T *, T);         \
    T OF_ANY atomic_xor(volatile SPACE T *, T); T OF_ANY atomic_xchg(volatile SPACE T *, T);       \
    T OF_ANY atomic_cmpxchg(volatile SPACE T *, T, T);
#define WIDE_ATOMS(T, SPACE)                                                                       \
    T OF_ANY atom_add(volatile SPACE T *, T); T OF_ANY atom_inc(volatile SPACE T *);               \
    T OF_ANY atom_min(volatile SPACE T *, T); T OF_ANY atom_max(volatile SPACE T *, T);            \
    T OF_ANY atom_xchg(volatile SPACE T *, T); T OF_ANY atom_cmpxchg(volatile SPACE T *, T, T);
FOR_SPACES(ATOMICS, int)
FOR_SPACES(ATOMICS, uint)
FOR_SPACES(WIDE_ATOMS, int)
FOR_SPACES(WIDE_ATOMS, uint)
FOR_SPACES(WIDE_ATOMS, long)
FOR_SPACES(WIDE_ATOMS, ulong)
float OF_ANY atomic_xchg(volatile global float *, float);
float OF_ANY atomic_xchg(volatile local float *, float);

#undef OF_ANY
#undef OF
#undef FOR_INTEGERS
#undef FOR_FLOATS
#undef FOR_NUMBERS
#undef FOR_SPACES
#undef ONE
#undef TWO
#undef KIND
#undef EXTREMES
#undef BITS
#undef SIZE
#undef CHOICE
#undef ROUNDED
#undef SATURATED
#undef FOURS
#undef LOADS
#undef LOADS_OF
#undef ATOMICS
#undef WIDE_ATOMS
