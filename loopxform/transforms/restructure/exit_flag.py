"""Exit flag: while (c) S -> more = c; while (more) { S; more = c; }.

The condition of a loop that may end before any iteration is computed into a variable, in front of
the loop and at the end of each iteration: by what runs the statements, which may be a work-item,
while another runs the loop. Legal wherever there is such a condition: nothing is computed between
the end of an iteration and the test for the next one, but the step of the counter; so the condition
must not read the counter, nor what the body declares.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, Function, Un, Var
from loopxform.ir.types import INT
from loopxform.ir.typing import COMPARISONS
from loopxform.ir.visit import LoopSite, names, replace_at, resolve
from loopxform.ir.whiles import condition, watching
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import new_name, no_such_loop, trusted


@record
class ExitFlag(Step):
    """Keeps the condition of `loop` in an int called `name` (default: more)."""

    loop: str
    name: str = ""

    verb: ClassVar[str] = "exit-flag"
    former: ClassVar[tuple[str, ...]] = ("flag",)
    usage: ClassVar[str] = "exit-flag LOOP [NAME]"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = self._site(fn)
        if isinstance(site, Obstacle):
            return (site,)
        loop, cond = site.loop, condition(site.loop)
        if cond is None:
            text = f"nothing but its bound ends the loop over '{loop.var}'"
            remedy = "leave it as it is"
            return (Obstacle("LX112", text, loop.origin.loc, remedy=remedy),)
        if loop.var in names(cond):
            text = f"the condition of the loop reads its counter '{loop.var}'"
            remedy = "count in a variable of the body"
            return (Obstacle("LX112", text, loop.origin.loc, remedy=remedy),)
        return new_name(fn, self.name, site)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(self._site(fn))
        cond, origin = condition(site.loop), site.loop.origin.then(str(self))
        assert cond is not None
        name = self.name or fresh(fn, "more")
        ask = Assign(Var(name), truth(cond), label="S", origin=origin)
        loop = replace(site.loop, body=(*site.loop.body, ask), origin=origin)
        flag = Decl(name, INT, origin=origin)
        return replace_at(fn, site.path, (flag, ask, watching(loop, Var(name))))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the flag says what the condition says, and nothing changes that in between"

    def _site(self, fn: Function) -> LoopSite | Obstacle:
        found = resolve(fn, self.loop)
        return found[0] if len(found) == 1 else no_such_loop(fn, self.loop)


def truth(e: Expr) -> Expr:
    """1 where C takes the value for true, else 0."""
    is_number = isinstance(e, Bin) and e.op in COMPARISONS
    return e if is_number or (isinstance(e, Un) and e.op == "!") else Bin("!=", e, Const(0))
