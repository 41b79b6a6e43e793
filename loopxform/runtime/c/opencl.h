/* The words of OpenCL C that kernels of loopxform use, for a C compiler (gcc or clang, C11 with GNU
   extensions). Work-items and groups are those of groups.c. */

#include <stddef.h>
#include <stdint.h>
#include <tgmath.h>

#undef I /* of complex.h: a name like any other */
#undef complex
#undef imaginary

#include "groups.h"

#define __kernel
#define __global
#define __local
#define __private
#define __constant const
#define reqd_work_group_size(x, y, z)

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef ushort half;

/* ---------------------------------------------------------------- work-items */

#define get_local_id(n) (lx_me->local_id[n])
#define get_group_id(n) (lx_me->group->id[n])
#define get_local_size(n) (lx_me->group->launch->local[n])
#define get_num_groups(n) (lx_me->group->launch->groups[n])
#define get_global_id(n) (get_group_id(n) * get_local_size(n) + get_local_id(n))
#define get_global_size(n) (get_num_groups(n) * get_local_size(n))
#define get_global_offset(n) ((size_t)0)
#define get_work_dim() (lx_me->group->launch->dimensions)

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define barrier(flags) lx_barrier(__LINE__)
#define mem_fence(flags) __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* ---------------------------------------------------------------- atomic updates */

#define atomic_add(p, e) __atomic_fetch_add(p, e, __ATOMIC_RELAXED)
#define atomic_sub(p, e) __atomic_fetch_sub(p, e, __ATOMIC_RELAXED)
#define atomic_and(p, e) __atomic_fetch_and(p, e, __ATOMIC_RELAXED)
#define atomic_or(p, e) __atomic_fetch_or(p, e, __ATOMIC_RELAXED)
#define atomic_xor(p, e) __atomic_fetch_xor(p, e, __ATOMIC_RELAXED)
#define LX_ATOMIC_EXTREMUM(f, p, e) ({                                                            \
  __auto_type lx_p = (p);                                                                         \
  __auto_type lx_seen = __atomic_load_n(lx_p, __ATOMIC_RELAXED);                                  \
  while (!__atomic_compare_exchange_n(lx_p, &lx_seen, f(lx_seen, e), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) \
    ;                                                                                             \
  lx_seen; })
#define atomic_min(p, e) LX_ATOMIC_EXTREMUM(min, p, e)
#define atomic_max(p, e) LX_ATOMIC_EXTREMUM(max, p, e)
#define atomic_cmpxchg(p, old, new) ({                                                             \
  __auto_type lx_old = (old);                                                                     \
  __atomic_compare_exchange_n(p, &lx_old, new, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);            \
  lx_old; })
#define atomic_xchg(p, e) __atomic_exchange_n(p, e, __ATOMIC_RELAXED)
#define atom_cmpxchg atomic_cmpxchg
#define atom_xchg atomic_xchg
#define atom_add atomic_add
#define atom_sub atomic_sub
#define atom_and atomic_and
#define atom_or atomic_or
#define atom_xor atomic_xor
#define atom_min atomic_min
#define atom_max atomic_max

/* ---------------------------------------------------------------- numbers */

/* Each operand stands in the text once: nested calls do not grow. */
#define min(a, b) ({ __auto_type lx_a = (a); __auto_type lx_b = (b); lx_b < lx_a ? lx_b : lx_a; })
#define max(a, b) ({ __auto_type lx_a = (a); __auto_type lx_b = (b); lx_a < lx_b ? lx_b : lx_a; })

static inline uint lx_abs_int(int x) { return x < 0 ? 0u - (uint)x : (uint)x; }
static inline ulong lx_abs_long(long x) { return x < 0 ? 0ul - (ulong)x : (ulong)x; }
#undef abs
#define abs(x) _Generic((x), long: lx_abs_long, default: lx_abs_int)(x)

/* C tells yes by any number but 0. */
#undef isnan
#undef isinf
#undef isfinite
#undef signbit
#define isnan(x) (__builtin_isnan(x) != 0)
#define isinf(x) (__builtin_isinf(x) != 0)
#define isfinite(x) (__builtin_isfinite(x) != 0)
#define signbit(x) (__builtin_signbit(x) != 0)

static inline float as_float(uint x) { float f; __builtin_memcpy(&f, &x, sizeof f); return f; }
static inline uint as_uint(float x) { uint u; __builtin_memcpy(&u, &x, sizeof u); return u; }
static inline int as_int(float x) { int i; __builtin_memcpy(&i, &x, sizeof i); return i; }
static inline double as_double(ulong x) { double d; __builtin_memcpy(&d, &x, sizeof d); return d; }
static inline ulong as_ulong(double x) { ulong u; __builtin_memcpy(&u, &x, sizeof u); return u; }
static inline long as_long(double x) { long i; __builtin_memcpy(&i, &x, sizeof i); return i; }

/* Towards zero. */
static inline float convert_float_rtz(double x)
{
  const float nearest = (float)x;
  if (__builtin_isnan(x) || __builtin_fabs((double)nearest) <= __builtin_fabs(x))
    return nearest;
  return as_float(as_uint(nearest) - 1);
}

static inline float lx_float_of_half(ushort h)
{
  const uint sign = (uint)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
  if (exponent == 31)
    return as_float(sign | 0x7f800000u | fraction << 13);
  if (exponent)
    return as_float(sign | (exponent + 112) << 23 | fraction << 13);
  const float tiny = (float)fraction * 0x1p-24f;
  return sign ? -tiny : tiny;
}

/* To nearest, ties to even. */
static inline ushort lx_half_of_float(float x)
{
  const uint bits = as_uint(x), magnitude = bits & 0x7fffffffu;
  const ushort sign = (ushort)(bits >> 16 & 0x8000);
  if (magnitude > 0x7f800000u)
    return (ushort)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= 0x477ff000u)
    return (ushort)(sign | 0x7c00);
  if (magnitude < 0x38800000u) /* the sum rounds at the last bit of a subnormal half */
    return (ushort)(sign | (ushort)(as_uint(as_float(magnitude) + 0.5f) - 0x3f000000u));
  return (ushort)(sign | (ushort)((magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1)) >> 13));
}

#define vload_half(n, p) lx_float_of_half((p)[n])
#define vstore_half_rte(x, n, p) ((void)((p)[n] = lx_half_of_float(x)))
#define vstore_half(x, n, p) vstore_half_rte(x, n, p)

/* ---------------------------------------------------------------- vectors: moved, not computed with */

#define LX_MEMBERS_2(T) T s0, s1;
#define LX_MEMBERS_4(T) LX_MEMBERS_2(T) T s2, s3;
#define LX_MEMBERS_8(T) LX_MEMBERS_4(T) T s4, s5, s6, s7;
#define LX_MEMBERS_16(T) LX_MEMBERS_8(T) T s8, s9, sa, sb, sc, sd, se, sf;

#define LX_VECTOR_TYPE(T, N)                                                                      \
  typedef struct { LX_MEMBERS_##N(T) } __attribute__((aligned(N * sizeof(T)))) T##N;              \
  static inline T##N lx_load_##T##N(size_t n, const T *p)                                         \
  {                                                                                               \
    T##N v;                                                                                       \
    __builtin_memcpy(&v, p + n * N, sizeof v);                                                              \
    return v;                                                                                     \
  }                                                                                               \
  static inline void lx_store_##T##N(T##N v, size_t n, T *p) { __builtin_memcpy(p + n * N, &v, sizeof v); }

#define LX_VECTOR_TYPES(T) \
  LX_VECTOR_TYPE(T, 2) LX_VECTOR_TYPE(T, 4) LX_VECTOR_TYPE(T, 8) LX_VECTOR_TYPE(T, 16)

LX_VECTOR_TYPES(char)
LX_VECTOR_TYPES(uchar)
LX_VECTOR_TYPES(short)
LX_VECTOR_TYPES(ushort)
LX_VECTOR_TYPES(int)
LX_VECTOR_TYPES(uint)
LX_VECTOR_TYPES(long)
LX_VECTOR_TYPES(ulong)
LX_VECTOR_TYPES(float)
LX_VECTOR_TYPES(double)

#define LX_BY_TYPE(x, what, N)                                                                    \
  _Generic((x), char: lx_##what##_char##N, uchar: lx_##what##_uchar##N,                           \
           short: lx_##what##_short##N, ushort: lx_##what##_ushort##N, int: lx_##what##_int##N,   \
           uint: lx_##what##_uint##N, long: lx_##what##_long##N, ulong: lx_##what##_ulong##N,     \
           float: lx_##what##_float##N, double: lx_##what##_double##N)

#define vload2(n, p) LX_BY_TYPE(*(p), load, 2)(n, p)
#define vload4(n, p) LX_BY_TYPE(*(p), load, 4)(n, p)
#define vload8(n, p) LX_BY_TYPE(*(p), load, 8)(n, p)
#define vload16(n, p) LX_BY_TYPE(*(p), load, 16)(n, p)
#define vstore2(v, n, p) LX_BY_TYPE(*(p), store, 2)(v, n, p)
#define vstore4(v, n, p) LX_BY_TYPE(*(p), store, 4)(v, n, p)
#define vstore8(v, n, p) LX_BY_TYPE(*(p), store, 8)(v, n, p)
#define vstore16(v, n, p) LX_BY_TYPE(*(p), store, 16)(v, n, p)

/* `(float4)(a, b, c, d)` of the kernels, which C would take for a comma operator; `(float4)(a)` is
   four times a. */
#define LX_MAKE(T, ...)                                                                            \
  LX_17TH(__VA_ARGS__, LX_SET, LX_SET, LX_SET, LX_SET, LX_SET, LX_SET, LX_SET, LX_SET, LX_SET,      \
          LX_SET, LX_SET, LX_SET, LX_SET, LX_SET, LX_SET, LX_SPLAT, )(T, __VA_ARGS__)
#define LX_17TH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, ...) q
#define LX_SET(T, ...) ((T){__VA_ARGS__})
#define LX_SPLAT(T, x)                                                                             \
  ({                                                                                               \
    T lx_v;                                                                                        \
    const __typeof__(lx_v.s0) lx_x = (x);                                                          \
    for (unsigned lx_n = 0; lx_n < sizeof lx_v / sizeof lx_x; lx_n++)                              \
      (&lx_v.s0)[lx_n] = lx_x;                                                                     \
    lx_v;                                                                                          \
  })

#define LX_EACH_2(T, v) (T)v.s0, (T)v.s1
#define LX_EACH_4(T, v) LX_EACH_2(T, v), (T)v.s2, (T)v.s3
#define LX_EACH_8(T, v) LX_EACH_4(T, v), (T)v.s4, (T)v.s5, (T)v.s6, (T)v.s7
#define LX_EACH_16(T, v) \
  LX_EACH_8(T, v), (T)v.s8, (T)v.s9, (T)v.sa, (T)v.sb, (T)v.sc, (T)v.sd, (T)v.se, (T)v.sf
#define LX_CONVERT(T, N, v) ({ __auto_type lx_v = (v); (T##N){LX_EACH_##N(T, lx_v)}; })

/* ---------------------------------------------------------------- atomics */

#define atomic_add(p, x) __atomic_fetch_add(p, x, __ATOMIC_RELAXED)
#define atomic_sub(p, x) __atomic_fetch_sub(p, x, __ATOMIC_RELAXED)
#define atomic_inc(p) __atomic_fetch_add(p, 1, __ATOMIC_RELAXED)
#define atomic_dec(p) __atomic_fetch_sub(p, 1, __ATOMIC_RELAXED)
#define atomic_and(p, x) __atomic_fetch_and(p, x, __ATOMIC_RELAXED)
#define atomic_or(p, x) __atomic_fetch_or(p, x, __ATOMIC_RELAXED)
#define atomic_xor(p, x) __atomic_fetch_xor(p, x, __ATOMIC_RELAXED)
#define atomic_xchg(p, x) __atomic_exchange_n(p, x, __ATOMIC_RELAXED)
#define atomic_cmpxchg(p, old, x)                                                                 \
  ({                                                                                              \
    __typeof__(*(p)) lx_old = (old);                                                              \
    __atomic_compare_exchange_n(p, &lx_old, x, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);            \
    lx_old;                                                                                       \
  })
#define LX_ATOMIC_IF(p, x, better)                                                                \
  ({                                                                                              \
    __auto_type lx_p = (p);                                                                       \
    __typeof__(*lx_p + 0) lx_x = (x), lx_old = __atomic_load_n(lx_p, __ATOMIC_RELAXED);           \
    while (lx_x better lx_old && !__atomic_compare_exchange_n(lx_p, &lx_old, lx_x, 1,             \
                                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED)) \
      ;                                                                                           \
    lx_old;                                                                                       \
  })
#define atomic_min(p, x) LX_ATOMIC_IF(p, x, <)
#define atomic_max(p, x) LX_ATOMIC_IF(p, x, >)
