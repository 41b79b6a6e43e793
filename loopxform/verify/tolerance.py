"""How far a device may be from the user's C, and why.

Arithmetic is the same to the last bit. What may differ is a product fused with a sum, where that is
allowed, and functions: OpenCL bounds their error (in units in the last place, OpenCL C 1.2, section
7.4), and a C library has errors of its own (less than one unit). The tolerance of an array is the
largest bound of a function in the nest, in units of the coarser of the two types, times HEADROOM
for what the nest makes of it; it counts relative to an element and to the largest of its array,
since sums of either sign cancel. Of fused products, HEADROOM units count for what cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from loopxform.ir.functions import base_name, result
from loopxform.ir.nodes import Bin, Call, Function
from loopxform.ir.routines import expressions, in_order
from loopxform.ir.routines import symbols as routine_symbols
from loopxform.ir.types import FLOAT
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import stmt_exprs, walk, walk_expr

CONTRACTION = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-10}
HEADROOM = 64

# fmt: off
ULPS = {
    "acos": 4, "acosh": 4, "asin": 4, "asinh": 4, "atan": 5, "atan2": 6, "atanh": 5, "cbrt": 2,
    "cos": 4, "cosh": 4, "erf": 16, "erfc": 16, "exp": 3, "exp2": 3, "expm1": 3, "hypot": 4,
    "lgamma": 64, "log": 3, "log10": 3, "log1p": 2, "log2": 3, "pow": 16, "sin": 4, "sinh": 4,
    "tan": 5, "tanh": 5, "tgamma": 16,
}
# fmt: on
"""The others (`fabs`, `fma`, `floor`, ...) are exact; of `lgamma` OpenCL says nothing."""

UNROUNDED = {"/": 3, "sqrt": 3}
"""For floats, on devices that do not round these correctly; the others are asked to."""


@dataclass(frozen=True)
class Tolerance:
    """What may differ in the arrays of a nest: `functions` by name, contraction, and sums whose
    terms are added in another order."""

    functions: tuple[str, ...]
    contract: bool
    reordered: bool = False

    @property
    def exact(self) -> bool:
        return not self.functions and not self.contract and not self.reordered

    @property
    def why(self) -> str:
        """`contraction and the device's exp, sin`."""
        device = f"the device's {', '.join(self.functions)}" if self.functions else ""
        fused = "contraction" if self.contract else ""
        order = "sums in another order" if self.reordered else ""
        return " and ".join(x for x in (fused, order, device) if x)

    def relative(self, array: Any) -> float:
        """For an array of that type; none for integers."""
        kind = np.asarray(array).dtype
        if kind.kind != "f":
            return 0.0
        units = [_error(name, kind) for name in self.functions]
        fused = CONTRACTION[str(kind)] if self.contract or self.reordered else 0.0
        return max([fused, *(HEADROOM * u for u in units)])

    def absolute(self, array: Any) -> float:
        """For the elements of an array that cancel: what they are made of has errors of its own, of
        some units in the last place where it is only contracted."""
        kind = np.asarray(array).dtype
        if self.exact or kind.kind != "f":
            return 0.0
        factor = self.relative(array)
        if not self.functions and not self.reordered:
            factor = min(factor, HEADROOM * float(np.finfo(kind).eps))
        sizes = np.abs(np.asarray(array, np.float64))
        return factor * float(np.max(sizes, initial=0, where=np.isfinite(sizes)))


def tolerance_of(fn: Function, *, contract: bool, rounded: bool = True) -> Tolerance:
    """What may differ when a device runs the nests of `fn`; `rounded` says that it divides floats
    and takes their roots as C does."""
    types = symbols(fn)
    called: set[str] = set()
    found = [(e, types) for _, s in walk(fn.body) for x in stmt_exprs(s) for e in walk_expr(x)]
    found += [(e, routine_symbols(r)) for r in in_order(fn.routines) for e in expressions(r)]
    for e, types in found:
        match e:
            case Call(name) if base_name(name) in ULPS or (name == "sqrtf" and not rounded):
                called.add(name)
            case Bin("/") if not rounded and type_of(e, types) == FLOAT:
                called.add("/")
    return Tolerance(tuple(sorted(called)), contract)


def _error(name: str, kind: np.dtype[Any]) -> float:
    """Of a function whose value ends in an array of that type, relative to the value."""
    made = result(name)
    types = [kind, *([np.dtype(made.numpy)] if made else [])]
    unit = max(float(np.finfo(t).eps) for t in types)
    return ({**ULPS, **UNROUNDED}[base_name(name) or name] + 1) * unit
