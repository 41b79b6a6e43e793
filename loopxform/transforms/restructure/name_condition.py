"""Naming a condition: if (x[0] > y[0]) A; else B -> int taken; taken = x[0] > y[0] ? 1 : 0;
if (taken) A; else B.

The condition is computed where it was asked, once. What decides is a scalar then, which the host
can read. Legal everywhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Const, Decl, Function, If, Select, Var
from loopxform.ir.types import INT
from loopxform.ir.visit import Path, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.restructure.places import statements_at


@record
class NameCondition(Step):
    """Gives the condition at `place` a scalar of its own."""

    place: str

    verb: ClassVar[str] = "name-condition"
    usage: ClassVar[str] = "name-condition PLACE   (2.1: the first statement in the second)"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        if self._found(fn) is None:
            text = f"'{self.place}' names no condition of {fn.name}"
            return (Obstacle("LX021", text, fn.origin.loc, remedy=f"usage: {self.usage}"),)
        return ()

    def _found(self, fn: Function) -> tuple[Path, If] | None:
        found = statements_at(fn, self.place, 1)
        if found is None or not isinstance(found[1][0], If):
            return None
        return found[0], found[1][0]

    def rewrite(self, fn: Function) -> Function:
        found = self._found(fn)
        assert found is not None
        path, s = found
        name, origin = fresh(fn, "taken"), s.origin.then(str(self))
        value = Select(s.cond, Const(1), Const(0))
        named = (
            Decl(name, INT, origin=origin),
            Assign(Var(name), value, label=f"set_{name}", origin=origin),
            replace(s, cond=Var(name), origin=origin),
        )
        return replace_at(fn, path, named)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the condition is computed once, where it was"
