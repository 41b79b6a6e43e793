"""The pure functions of C that a `Call` may name, with their types.

`fmaxf` takes and gives float, `fmax` double; `abs`, `labs`, `llabs` take and give their own
integer type. `erf` is not the float version of `er`, so the last letter alone does not tell.
"""

from __future__ import annotations

from loopxform.ir.types import DOUBLE, FLOAT, INT, LLONG, LONG, Scalar

# fmt: off
_UNARY = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf",
    "erfc", "exp", "exp2", "expm1", "fabs", "floor", "lgamma", "log", "log10", "log1p", "log2",
    "nearbyint", "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
)
_BINARY = (
    "atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "pow", "remainder",
)
# fmt: on

ARITY: dict[str, int] = {**dict.fromkeys(_UNARY, 1), **dict.fromkeys(_BINARY, 2), "fma": 3}
"""The functions of math.h by their double name, and how many arguments they take."""

INTEGER: dict[str, Scalar] = {"abs": INT, "labs": LONG, "llabs": LLONG}


def base_name(name: str) -> str | None:
    """The double name of a math function (`fmaxf` -> `fmax`), or None where it is not one."""
    if name in ARITY:
        return name
    return name[:-1] if name.endswith("f") and name[:-1] in ARITY else None


def operand_type(name: str) -> Scalar | None:
    """The type of every parameter and of the result, or None where the function is unknown."""
    if name in INTEGER:
        return INTEGER[name]
    base = base_name(name)
    if base is None:
        return None
    return DOUBLE if base == name else FLOAT


def arity(name: str) -> int | None:
    """How many arguments the function takes, or None where it is unknown."""
    if name in INTEGER:
        return 1
    base = base_name(name)
    return None if base is None else ARITY[base]
