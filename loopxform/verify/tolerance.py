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

from loopxform.ir.accuracy import DIVIDING, ULPS, UNROUNDED, inexact
from loopxform.ir.functions import base_name, result
from loopxform.ir.nodes import Function

CONTRACTION = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-10}
HEADROOM = 64


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
    names = set(inexact(fn))
    called = names.difference(DIVIDING) if rounded else names
    return Tolerance(tuple(sorted(called)), contract)


def _error(name: str, kind: np.dtype[Any]) -> float:
    """Of a function whose value ends in an array of that type, relative to the value."""
    made = result(name)
    types = [kind, *([np.dtype(made.numpy)] if made else [])]
    unit = max(float(np.finfo(t).eps) for t in types)
    return ({**ULPS, **UNROUNDED}[base_name(name) or name] + 1) * unit
