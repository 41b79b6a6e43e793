"""Conditions in memory: OpenCL has no _Bool there, and `x != 0` is x where x is 0 or 1."""

from __future__ import annotations

from loopxform.validate.ctypes import BOOL
from loopxform.validate.expressions import boolean, zero_valued
from loopxform.validate.flow import Flow
from loopxform.validate.model import Expr, Operation
from loopxform.validate.reductions import number_of


class Flags:
    """The arrays and variables of a program that hold nothing but 0 and 1."""

    def __init__(self, flow: Flow) -> None:
        stores = [(s.array, s.value) for s in flow.program.statements]
        arrays = flow.program.arrays
        self.arrays = {n for n, a in arrays.items() if a.kind in ("private", "local")}
        self.arrays |= {n for n, a in arrays.items() if a.type == BOOL}
        while wrong := {n for n, v in stores if n in self.arrays and not boolean(v, self.arrays)}:
            self.arrays -= wrong

    def condition(self, e: Expr | None) -> Expr | None:
        """x, for an x != 0 or an x ? 1 : 0 that says nothing more."""
        if not isinstance(e, Operation):
            return None
        if e.name == "?:":
            said, one, zero = e.operands
            if boolean(said, self.arrays) and number_of(one) == 1 and number_of(zero) == 0:
                return said
            return None
        if e.name != "!=":
            return None
        x, zero = e.operands
        if zero_valued(zero) and boolean(x, self.arrays):
            return x
        return None
