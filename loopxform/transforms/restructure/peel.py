"""Peeling: for i < n: if (i == 0) A(i); else B(i);  -> if (0 < n) A(0);  for 1 <= i < n: B(i);
  for k <= i < n: ...  -> if (k < n) { A(k);  for k + 1 <= i < n: B(i); }

The first iteration runs by itself, in front of the others. Conditions that tell it from them are
decided: what is left need not ask. Legal where the loop counts with its own variable to bounds
that stay what they are. The second iteration begins at a number that exists where there is a first
one. (Allen and Kennedy, "Optimizing Compilers for Modern Architectures",
section 5.7.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Cast, Const, Expr, For, Function, If
from loopxform.ir.types import Scalar, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import replace_at, substitute, substitute_body, writes
from loopxform.ir.whiles import test
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.first_iteration import decided
from loopxform.transforms.sites import one_loop, plain_loop, trusted


@record
class Peel(Step):
    """Runs the first iteration of `loop` in front of it."""

    loop: str

    verb: ClassVar[str] = "peel"
    usage: ClassVar[str] = "peel LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = plain_loop(fn, self.loop, self.verb, "")
        if isinstance(site, tuple):
            return site
        loop, where = site.loop, site.loop.origin.loc
        if loop.parallel or value_of(loop.step) in (None, 0) or loop.var in writes(loop.body):
            text = f"the loop over '{loop.var}' has no first iteration that could run before it"
            remedy = "name a loop that runs in order, by a constant step"
            return (Obstacle("LX231", text, where, remedy=remedy),)
        types = symbols(fn)
        if all(decided(loop.body, loop, types, first=f) == loop.body for f in (True, False)):
            text = f"the loop over '{loop.var}' has no condition that tells the first iteration"
            return (Obstacle("LX231", text, where, remedy="name a loop such as: if (i == 0) ..."),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, origin = site.loop, site.loop.origin.then(str(self))
        types = symbols(fn)
        start = _start(loop, types)
        first = {loop.var: start}
        second = Bin("+", start, loop.step)
        alone = substitute_body(decided(loop.body, loop, types, first=True), first)
        runs = substitute(test(loop), first)
        later = replace(
            loop,
            lo=second if isinstance(start, Cast) else simplify(second),
            body=decided(loop.body, loop, types, first=False),
            origin=origin,
        )
        if not always(fn, site.path, second_exists(loop)):
            return replace_at(fn, site.path, (If(runs, (*alone, later), origin=origin),))
        return replace_at(fn, site.path, (If(runs, alone, origin=origin), later))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "it runs before the others as it did"


def second_exists(loop: For) -> Expr:
    """The condition that what a loop begins with is not next to the end of its type."""
    step, kind = value_of(loop.step) or 1, loop.type
    if step > 0:
        return Bin("<=", loop.lo, Const(kind.most - step))
    return Bin(">=", loop.lo, Const(kind.least - step))


def _start(loop: For, types: dict[str, Scalar]) -> Expr:
    """The number that a loop begins at, as its variable holds it."""
    number, wide = value_of(loop.lo), promote(loop.type)
    if number is not None and loop.type.least <= number <= loop.type.most:
        return Const(number, wide)
    return loop.lo if type_of(loop.lo, types) == loop.type else Cast(loop.type, loop.lo)
