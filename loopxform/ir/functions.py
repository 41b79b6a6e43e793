"""The pure functions of C that a `Call` may name, with their types.

`fmaxf` takes and gives float, `fmax` double; `abs`, `labs`, `llabs` take and give their own
integer type. `erf` is not the float version of `er`, so the last letter alone does not tell.
"""

from __future__ import annotations

from loopxform.ir.types import DOUBLE, FLOAT, INT, LLONG, LONG, Scalar

# fmt: off
_UNARY = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf",
    "erfc", "exp", "exp2", "expm1", "fabs", "floor", "log", "log10", "log1p", "log2",
    "nearbyint", "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
)
_BINARY = (
    "atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow", "remainder",
)
# fmt: on

_REAL: dict[str, tuple[Scalar, ...]] = {
    **dict.fromkeys(_UNARY, (DOUBLE,)),
    **dict.fromkeys(_BINARY, (DOUBLE, DOUBLE)),
    "fma": (DOUBLE, DOUBLE, DOUBLE),
    "ldexp": (DOUBLE, INT),
}

INTEGER: dict[str, Scalar] = {"abs": INT, "labs": LONG, "llabs": LLONG}


def base_name(name: str) -> str | None:
    """The double name of a math function (`fmaxf` -> `fmax`), or None where it is not one."""
    if name in _REAL:
        return name
    return name[:-1] if name.endswith("f") and name[:-1] in _REAL else None


def parameters(name: str) -> tuple[Scalar, ...] | None:
    """The types of the parameters, or None where the function is unknown."""
    if name in INTEGER:
        return (INTEGER[name],)
    base = base_name(name)
    if base is None or base == name:
        return _REAL.get(name)
    return tuple(FLOAT if t == DOUBLE else t for t in _REAL[base])


def result(name: str) -> Scalar | None:
    """The type of the value: that of the first parameter. None where the function is unknown."""
    types = parameters(name)
    return types[0] if types else None
