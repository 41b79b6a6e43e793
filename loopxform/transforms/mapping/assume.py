"""Assuming: P -> P where CONDITION holds.

What follows may rely on the condition. The host asks it when the program runs: where it does not
hold, another variant runs (step `dispatch`), or else the user's own loops. Legal for comparisons of
integers of the caller's that nothing in the function changes.
(Allen and Kennedy, section 5.11, on symbolic tests.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.condition_text import condition, divides_by_zero
from loopxform.ir.nodes import Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import names, writes
from loopxform.records import record
from loopxform.transforms.base import Step


@record
class Assume(Step):
    """Takes it for granted that `condition` holds, `n%4==0` say: the host asks."""

    condition: str

    verb: ClassVar[str] = "assume"
    usage: ClassVar[str] = "assume CONDITION"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        try:
            asked = condition(self.condition)
        except ValueError:
            text = f"'{self.condition}' is no condition on integers"
            remedy = "compare parameters and numbers, without spaces: assume n%4==0"
            return (Obstacle("LX196", text, fn.origin.loc, remedy=remedy),)
        if divides_by_zero(asked, fn.assumes):
            text = f"the host might divide by 0 when it asks {self.condition}"
            remedy = "assume before that the divisor is positive: assume n>=1"
            return (Obstacle("LX196", text, fn.origin.loc, remedy=remedy),)
        types = symbols(fn)
        fixed = {p.name for p in fn.objects if not p.array} - writes(fn.body)
        for name in sorted(names(asked)):
            if name not in fixed or not types[name].is_integer:
                text = f"'{name}' is no integer of the caller's that keeps its value"
                remedy = "assume what can be asked before the function runs"
                return (Obstacle("LX196", text, fn.origin.loc, remedy=remedy),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        return replace(fn, assumes=tuple(dict.fromkeys((*fn.assumes, condition(self.condition)))))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the host asks it when the program runs"
