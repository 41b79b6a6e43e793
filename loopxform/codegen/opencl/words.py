"""Names that OpenCL C knows, and free ones."""

from __future__ import annotations

import re

from loopxform.codegen.c.words import MACRO
from loopxform.codegen.opencl import halves, quick_quotients, quotients, root_quotients

# Words of OpenCL C that are ordinary names in C: types, qualifiers, and the built-in functions a
# kernel of ours may call or be confused with (OpenCL C 1.2, sections 6.1, 6.5, 6.12).
_WORDS = """
kernel global local constant private read_only write_only read_write generic pipe bool half
uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t sampler_t event_t
clk_event_t queue_t ndrange_t reserve_id_t quad complex imaginary vec_step as_type barrier
mem_fence prefetch printf all any
select bitselect min max clamp degrees mix radians step smoothstep sign abs abs_diff add_sat
hadd rhadd clz mad_hi mad_sat mul_hi rotate sub_sat upsample popcount mad24 mul24 cross dot
distance length normalize fast_distance fast_length fast_normalize isequal isnan isinf isfinite
signbit shuffle shuffle2 fma mad maxmag minmag nan nextafter pown powr rootn rsqrt sincos sinpi
cospi tanpi asinpi acospi atanpi atan2pi ilogb ldexp logb lgamma_r modf frexp fract exp10
get_global_id get_local_id get_group_id get_work_dim get_global_size get_local_size
get_num_groups get_global_offset atomic_add atom_add async_work_group_copy wait_group_events
work_group_barrier acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc
exp exp2 expm1 fabs fdim floor fmax fmin fmod hypot lgamma log log10 log1p log2 pow remainder
rint round sin sinh sqrt tan tanh tgamma trunc INFINITY NAN MAXFLOAT
"""
_VECTORS = (
    "char",
    "uchar",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "float",
    "double",
    "half",
)
RESERVED = (
    frozenset(_WORDS.split())
    | halves.NAMES
    | quotients.NAMES
    | root_quotients.NAMES
    | quick_quotients.NAMES
    | {f"{t}{n}" for t in _VECTORS for n in (2, 3, 4, 8, 16)}
)

_RESERVED = re.compile(
    r"CLK_[A-Z0-9_]*[A-Z0-9]|image[123]d_(\w+_)?t|(atomic|memory)_\w*[a-z]|(bool|quad)(2|3|4|8|16)"
    r"|LX_\w*[A-Za-z0-9]|lx_v|[TR][zyxk](_\d+)?"
)
"""An underscore behind any of them makes a free name. The last are macros of ours, what these
declare, and tile sizes, which are macros in a whole program, members of structs included."""


def free_name(name: str, taken: frozenset[str] = frozenset()) -> str:
    """`name`, or with underscores behind it where OpenCL C or the kernel uses it otherwise."""
    while _means_something(name) or name in taken or name.startswith("__"):
        name = name.lstrip("_") + "_" if name.startswith("__") else name + "_"
    return name


def _means_something(name: str) -> bool:
    return name in RESERVED or bool(MACRO.fullmatch(name) or _RESERVED.fullmatch(name))
