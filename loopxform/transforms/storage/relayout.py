"""Relayout: A[i, k] -> A_t[U, M]; forall p: forall q: A_t[q, p] = A[p, q]; ... A_t[k, i].

The nests that read A read a copy of it in another layout, made once before them, so that neighbours
in the grid read neighbours in memory. Legal where A is only read from there on and the box that the
program touches is known; nothing outside of it is read, and nothing at all where the program does
not touch A (the condition around the copy). (Henriksen, "Transposing for Coalesced Memory Access".)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.extent import NoExtent, existing_box, explain
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Copy,
    Expr,
    For,
    Function,
    Load,
    Opaque,
    Param,
)
from loopxform.ir.visit import loops, map_exprs, names, reads, walk, writes
from loopxform.nearest import did_you_mean
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import new_name
from loopxform.transforms.storage.copied import COUNTERS, copy_of_box, touched, where_touched


@record
class Relayout(Step):
    """Copies `array` with its dimensions in another order: `order` names, for each dimension of the
    copy, the dimension of the array (`1,0` transposes). `target` names the copy (default: A_t)."""

    array: str
    order: tuple[str, ...]
    target: str = ""

    verb: ClassVar[str] = "relayout"
    former: ClassVar[tuple[str, ...]] = ("manifest",)
    usage: ClassVar[str] = "relayout ARRAY DIM,DIM,... [NAME]   (1,0 transposes)"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        opaque = next((s for _, s in walk(fn.body) if isinstance(s, Opaque)), None)
        if opaque is not None:
            return (Obstacle(opaque.code, opaque.reason, opaque.origin.loc, remedy=opaque.help),)
        problem = self._not_only_read(fn) or self._no_order(fn) or self._unknown(fn)
        return (problem,) if problem else new_name(fn, self.target, loops(fn)[0])

    def _not_only_read(self, fn: Function) -> Obstacle | None:
        known = [p.name for p in fn.objects if p.array]
        if self.array not in known:
            text = f"'{self.array}' is not an array that {fn.name} is given"
            remedy = f"{did_you_mean(self.array, known)}the arrays are: {', '.join(known)}"
            return Obstacle("LX026", text, fn.origin.loc, remedy=remedy)
        first = _first_read(fn, self.array)
        if first is None or _param(fn, self.array) is None:
            return Obstacle(
                "LX160",
                f"'{self.array}' is not an array of the caller that a loop nest reads",
                fn.origin.loc,
                remedy="name an array parameter that a nest reads",
            )
        rest = fn.body[first:]
        if self.array in writes(rest):
            return Obstacle(
                "LX161",
                f"'{self.array}' is written in '{fn.name}': a copy would go stale",
                rest[0].origin.loc,
                remedy="change the layout of an array that is only read",
            )
        if any(isinstance(s, Copy) and s.source == self.array for _, s in walk(rest)):
            return Obstacle(
                "LX167",
                f"'{self.array}' is staged already",
                rest[0].origin.loc,
                remedy="relayout before copy-to-local",
            )
        return None

    def _no_order(self, fn: Function) -> Obstacle | None:
        rank = _rank(fn, self.array)
        dims = [str(n) for n in range(rank)]
        if sorted(self.order) == dims and list(self.order) != dims and rank <= len(COUNTERS):
            return None
        return Obstacle(
            "LX025",
            f"'{','.join(self.order)}' is not another order of the {rank} "
            f"dimension{'s' if rank != 1 else ''} of '{self.array}'",
            fn.origin.loc,
            remedy=f"each of {', '.join(dims)} once, not in this order",
        )

    def _unknown(self, fn: Function) -> Obstacle | None:
        """What may be read must be a box that the host can compute."""
        told, found = explain(fn, self.array), existing_box(fn, self.array)
        if isinstance(told, NoExtent):
            return told.obstacle
        param = _param(fn, self.array)
        assert param is not None
        if found is None or (param.flat and not found.corner):
            return Obstacle(
                "LX150",
                f"where the part of '{self.array}' that is touched ends is not known",
                param.origin.loc,
                remedy=f"declare it with its shape: {param.type} {self.array}[n][m]",
            )
        bounds = {n for e in (*found.upper, *touched(found)) for n in names(e)}
        changing = bounds & writes(fn.body)
        if changing:
            return Obstacle(
                "LX145",
                f"the part of '{self.array}' that is touched depends on '{min(changing)}', which "
                f"'{fn.name}' changes",
                param.origin.loc,
                remedy="copy the bound into another variable before the loop",
            )
        return None

    def rewrite(self, fn: Function) -> Function:
        first = _first_read(fn, self.array)
        found = existing_box(fn, self.array)
        assert first is not None
        assert found is not None
        target = self.target or fresh(fn, f"{self.array.replace('.', '_')}_t")
        order = [int(n) for n in self.order]
        origin = fn.body[first].origin.then(str(self))
        decl, copy = copy_of_box(fn, self.array, target, found, order, origin)

        def redirected(e: Expr) -> Expr:
            if isinstance(e, Load) and e.array == self.array:
                return replace(e, array=target, index=tuple(e.index[n] for n in order))
            return e

        rest = map_exprs(fn.body[first:], redirected)
        made = replace(fn, body=(*fn.body[:first], copy, *rest))
        copy = where_touched(made, (first,), found, copy)
        return replace(fn, body=(decl, *fn.body[:first], copy, *rest))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"{self.array} is only read from there on, and what is copied of it is touched"


def _param(fn: Function, array: str) -> Param | None:
    return next((p for p in fn.objects if p.name == array and p.array), None)


def _first_read(fn: Function, array: str) -> int | None:
    """The first statement of the function that reads the array, if it holds a loop."""
    for n, s in enumerate(fn.body):
        if array in reads((s,)):
            return n if any(isinstance(x, For) for _, x in walk((s,))) else None
    return None


def _rank(fn: Function, array: str) -> int:
    param = _param(fn, array)
    return 0 if param is None else len(param.shape)
