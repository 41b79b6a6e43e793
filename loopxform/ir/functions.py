"""The pure functions of C that a `Call` may name, with their types.

`fmaxf` takes and gives float, `fmax` double; `abs`, `labs`, `llabs` take and give their own
integer type. `erf` is not the float version of `er`, so the last letter alone does not tell.
`isnan` and the like are macros of C for any type; here `isnanf` is the one for float.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopxform.ir.types import DOUBLE, FLOAT, INT, LLONG, LONG, Scalar

# fmt: off
_UNARY = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf",
    "erfc", "exp", "exp2", "expm1", "fabs", "floor", "lgamma", "log", "log10", "log1p", "log2",
    "logb", "nearbyint", "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
)
_BINARY = (
    "atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow", "remainder",
)
# fmt: on

CLASSES = frozenset(["isfinite", "isinf", "isnan", "isnormal", "signbit"])
"""What kind of number it is: 0 or not."""

ROUNDED = {"llrint": LLONG, "llround": LLONG, "lrint": LONG, "lround": LONG}
"""To an integer, by its type."""

REAL: dict[str, tuple[Scalar, ...]] = {
    **dict.fromkeys((*CLASSES, *ROUNDED), (DOUBLE,)),
    **dict.fromkeys(_UNARY, (DOUBLE,)),
    **dict.fromkeys(_BINARY, (DOUBLE, DOUBLE)),
    "fma": (DOUBLE, DOUBLE, DOUBLE),
    "ldexp": (DOUBLE, INT),
    "scalbn": (DOUBLE, INT),
}

GENERIC = "__generic_"
"""In front of the functions that <tgmath.h> chooses by the types of the arguments."""

INTEGER: dict[str, Scalar] = {"abs": INT, "labs": LONG, "llabs": LLONG}


def base_name(name: str) -> str | None:
    """The double name of a math function (`fmaxf` -> `fmax`), or None where it is not one."""
    if name in REAL:
        return name
    return name[:-1] if name.endswith("f") and name[:-1] in REAL else None


def parameters(name: str) -> tuple[Scalar, ...] | None:
    """The types of the parameters, or None where the function is unknown."""
    if name in INTEGER:
        return (INTEGER[name],)
    base = base_name(name)
    if base is None or base == name:
        return REAL.get(name)
    return tuple(FLOAT if t == DOUBLE else t for t in REAL[base])


def result(name: str) -> Scalar | None:
    """The type of the value. None where the function is unknown."""
    base = base_name(name) or name
    if base in CLASSES:
        return INT
    types = parameters(name)
    return ROUNDED.get(base) or (types[0] if types else None)


def is_known(name: str) -> bool:
    """Whether a call of it is the call of a pure function of C."""
    return parameters(name.removeprefix(GENERIC)) is not None


def is_generic(name: str) -> bool:
    """Whether the types of the arguments choose the function."""
    return name.startswith(GENERIC) or name in CLASSES


def chosen(name: str, given: Sequence[Scalar]) -> str:
    """The function that a call with arguments of these types is one of: macros look at them."""
    plain = name.removeprefix(GENERIC)
    if not is_generic(name):
        return name
    wanted = parameters(plain) or ()
    reals = [t for t, p in zip(given, wanted) if p.is_float]
    return f"{plain}f" if all(t == FLOAT for t in reals) else plain
