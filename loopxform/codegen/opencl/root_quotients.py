"""Quotients by square roots of floats, x / sqrt(y) and x / (y * sqrt(y)), where these may be as
accurate as the device has them: by its reciprocal square root, one instruction in place of a root
and a division, and within 2 units in the last place (OpenCL C 1.2, section 7.4).
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.nodes import Bin, Call, Expr

OVER_ROOT, OVER_CUBE = "over_root", "over_root_cube"
NAMES = frozenset({OVER_ROOT, OVER_CUBE})

_ROOT = f"""\
/* x / sqrt(y), by the device's reciprocal root. */
#ifdef __NV_CL_C_VERSION
#define {OVER_ROOT}(x, y) ((x) * rsqrt(y))
#else
#define {OVER_ROOT}(x, y) ((x) / sqrt(y))
#endif"""
_CUBE = f"""\
/* x / (y * sqrt(y)), the same; x comes first, so that nothing between overflows. */
#ifdef __NV_CL_C_VERSION
float {OVER_CUBE}(float x, float y) {{ const float r = rsqrt(y); return x * r * r * r; }}
#else
#define {OVER_CUBE}(x, y) ((x) / ((y) * sqrt(y)))
#endif"""


def helpers(text: str) -> Iterator[str]:
    """The definitions that kernels need."""
    for name, definition in ((OVER_ROOT, _ROOT), (OVER_CUBE, _CUBE)):
        if f"{name}(" in text:
            yield definition


def by_root(e: Bin) -> tuple[str, Expr, Expr] | None:
    """The name of such a quotient of floats, x, and y."""
    match e:
        case Bin("/", x, Call("sqrtf", (y,))):
            return OVER_ROOT, x, y
        case Bin("/", x, Bin("*", y, Call("sqrtf", (z,)))) if y == z:
            return OVER_CUBE, x, y
        case Bin("/", x, Bin("*", Call("sqrtf", (z,)), y)) if y == z:
            return OVER_CUBE, x, y
    return None
