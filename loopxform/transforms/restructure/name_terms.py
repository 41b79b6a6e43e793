"""Named terms: for k: s += e(k) -> for k: { T t; t = e(k); s += t }

What a loop adds up (or multiplies, and so on) gets a variable of its own, of the type that C gives
the term, so that it can be computed apart from the sum: `expand` and `distribute` make a loop of
it. Legal wherever the loop holds such a statement: the value is the same, and nothing is computed
between. (Scalar expansion: Allen and Kennedy, section 5.3.)
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Assign, Const, Decl, Function, Stmt, Var
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import declared, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted, unmapped


@record
class NameTerms(Step):
    """Gives the terms that `loop` itself sums up in scalars names of their own (s_term)."""

    loop: str

    verb: ClassVar[str] = "name-terms"
    usage: ClassVar[str] = "name-terms LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if any(_is_sum(s, declared(site.loop.body).keys()) for s in site.loop.body):
            return unmapped(site, "name terms")
        text = f"the loop over '{site.loop.var}' sums up nothing in a scalar"
        remedy = "name a loop that holds a statement such as s += x[i]"
        return (Obstacle("LX192", text, site.loop.origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        taken, types = set(used_names(fn)), symbols(fn)
        own, body = declared(site.loop.body).keys(), list[Stmt]()
        for s in site.loop.body:
            if not _is_sum(s, own):
                body.append(s)
                continue
            assert isinstance(s, Assign)
            assert isinstance(s.target, Var)
            name = _free(taken, f"{s.target.name}_term")
            origin = s.origin.then(str(self))
            body += [
                Decl(name, type_of(s.value, types), origin=origin),
                Assign(Var(name), s.value, label=f"{s.label}_term", origin=origin),
                replace(s, value=Var(name), origin=origin),
            ]
        return replace_at(fn, site.path, (replace(site.loop, body=tuple(body)),))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "a term is the same, whether it has a name or not"


def _is_sum(s: Stmt, own: Set[str]) -> bool:
    """Whether a statement adds a term that is worth a name to a scalar from outside of the loop."""
    if not isinstance(s, Assign) or not s.op or isinstance(s.value, Var | Const):
        return False
    return isinstance(s.target, Var) and s.target.name not in own


def _free(taken: set[str], name: str) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
