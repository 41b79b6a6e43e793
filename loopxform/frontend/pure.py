"""Functions of the C library that compute a value from their arguments and do nothing else."""

from __future__ import annotations

from loopxform.ir.types import DOUBLE, FLOAT, INT, LLONG, LONG, Scalar

_UNARY = """sqrt cbrt fabs exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh
    tanh asinh acosh atanh floor ceil trunc round rint nearbyint erf erfc tgamma"""
_BINARY = "pow fmod remainder hypot atan2 fmax fmin fdim copysign nextafter"

# Name -> the types of the parameters.
PURE: dict[str, tuple[Scalar, ...]] = {
    "abs": (INT,),
    "labs": (LONG,),
    "llabs": (LLONG,),
    "fma": (DOUBLE, DOUBLE, DOUBLE),
    "fmaf": (FLOAT, FLOAT, FLOAT),
    "ldexp": (DOUBLE, INT),
    "ldexpf": (FLOAT, INT),
    **dict.fromkeys(_UNARY, (DOUBLE,)),
    **{f"{name}f": (FLOAT,) for name in _UNARY.split()},
    **dict.fromkeys(_BINARY, (DOUBLE, DOUBLE)),
    **{f"{name}f": (FLOAT, FLOAT) for name in _BINARY.split()},
}
