"""Permuting dimensions: T x[I][J]; ... x[i][j] ... -> T x[J][I]; ... x[j][i] ...

Which elements of an array are neighbours in memory changes, and nothing else. Legal for an array
that the function declares itself and of which no part is staged. (Henriksen, "Coalesced Memory
Access"; for arrays of the caller there is `relayout`.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Copy, Decl, Expr, Function, Load, Opaque, Stmt
from loopxform.ir.visit import map_body, map_exprs, walk
from loopxform.records import record
from loopxform.transforms.base import Step


@record
class Permute(Step):
    """Stores the dimensions of `array` in another order: `order` names, for each dimension, which
    one it was (`1,0` transposes)."""

    array: str
    order: tuple[str, ...]

    verb: ClassVar[str] = "permute"
    usage: ClassVar[str] = "permute ARRAY DIM,DIM,...   (1,0 transposes)"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        opaque = next((s for _, s in walk(fn.body) if isinstance(s, Opaque)), None)
        if opaque is not None:
            return (Obstacle(opaque.code, opaque.reason, opaque.origin.loc, remedy=opaque.help),)
        found = [s for _, s in walk(fn.body) if isinstance(s, Decl) and s.name == self.array]
        if len(found) != 1 or not found[0].shape:
            return (
                Obstacle(
                    "LX168",
                    f"'{self.array}' is not an array that '{fn.name}' declares, once",
                    fn.origin.loc,
                    remedy="relayout copies an array of the caller into another layout",
                ),
            )
        where, rank = found[0].origin.loc, len(found[0].shape)
        if any(self.array in (s.source, s.target) for _, s in walk(fn.body) if isinstance(s, Copy)):
            text = f"'{self.array}' is staged already"
            return (Obstacle("LX167", text, where, remedy="permute before copy-to-local"),)
        if sorted(self.order) == [str(n) for n in range(rank)]:
            return ()
        text = (
            f"'{','.join(self.order)}' is not an order of the {rank} dimensions of '{self.array}'"
        )
        return (Obstacle("LX025", text, where, remedy=f"each of 0 to {rank - 1} once"),)

    def rewrite(self, fn: Function) -> Function:
        order = [int(n) for n in self.order]

        def moved(e: Expr) -> Expr:
            if isinstance(e, Load) and e.array == self.array:
                return replace(e, index=tuple(e.index[n] for n in order))
            return e

        def declared(s: Stmt) -> tuple[Stmt, ...]:
            if isinstance(s, Decl) and s.name == self.array:
                shape, origin = tuple(s.shape[n] for n in order), s.origin.then(str(self))
                return (replace(s, shape=shape, origin=origin),)
            return (s,)

        return replace(fn, body=map_body(map_exprs(fn.body, moved), declared))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"the same elements of {self.array}, in other places of the device's memory"
