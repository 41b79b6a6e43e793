"""Scalarisation: for j: { C[i, j] = 0; for k: C[i, j] += e; } -> for j: { c = 0; for k: c += e;
C[i, j] = c; }.

An array element that a loop body uses throughout is kept in a scalar, so that it can be expanded
into registers. Legal where every access to the array in the body is to that one element; it is
loaded first unless the body begins by writing it, and stored last. (The reverse of seed 000, step
3a; C programs often accumulate in the array.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopxform.analysis.legality import opaque_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Decl, Expr, For, Function, Load, Stmt, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    loads,
    map_exprs,
    names,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.transforms.base import Step, one_loop, trusted


@dataclass(frozen=True)
class Scalarise(Step):
    """Keeps the one element of `array` that the body of `loop` uses in a scalar named `scalar`
    (default: C_acc)."""

    array: str
    loop: str
    scalar: str = ""

    verb: ClassVar[str] = "scalarise"
    usage: ClassVar[str] = "scalarise ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        found = _accesses(site.loop.body, self.array)
        where = site.loop.origin.loc
        if not found or self.array not in writes(site.loop.body):
            text = f"'{self.array}' is not written in the loop over '{site.loop.var}'"
            return (Obstacle("LX180", text, where, remedy="name an array that the body writes"),)
        first = found[0]
        moving = _inner_vars(site) | writes(site.loop.body)
        varies = names(Load("", first.index)) & moving
        if varies:
            text = f"the element of '{self.array}' changes with '{min(varies)}' in the body"
            return (
                Obstacle("LX181", text, first.origin.loc or where, remedy="name an inner loop"),
            )
        other = [x for x in found if [poly(i) for i in x.index] != [poly(i) for i in first.index]]
        if other:
            text = f"the body uses more than one element of '{self.array}'"
            return (Obstacle("LX181", text, other[0].origin.loc or where),)
        return opaque_obstacles(fn, site.path)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        element = _accesses(site.loop.body, self.array)[0]
        name = self.scalar or fresh(fn, f"{self.array}_acc")
        origin = site.loop.origin.then(str(self))

        def to_scalar(e: Expr) -> Expr:
            is_it = isinstance(e, Load) and e.array == self.array
            return Var(name, origin=e.origin) if is_it else e

        body = map_exprs(site.loop.body, to_scalar)
        decl = Decl(name, symbols(fn)[self.array], origin=element.origin.then(str(self)))
        load: tuple[Stmt, ...] = ()
        if not _begins_with_write(body, name):
            load = (Assign(Var(name), element, label=f"load_{name}", origin=origin),)
        store = Assign(element, Var(name), label=f"store_{name}", origin=element.origin)
        loop = replace(site.loop, body=(decl, *load, *body, store))
        return replace_at(fn, site.path, (loop,))

    def reason(self, fn: Function) -> str:
        var = trusted(one_loop(fn, self.loop)).loop.var
        return f"an iteration of {var} uses one element of {self.array} and no other"


def _accesses(body: tuple[Stmt, ...], array: str) -> list[Load]:
    return [x for _, s in walk(body) for e in stmt_exprs(s) for x in loads(e) if x.array == array]


def _inner_vars(site: LoopSite) -> frozenset[str]:
    return frozenset(s.var for _, s in walk(site.loop.body) if isinstance(s, For))


def _begins_with_write(body: tuple[Stmt, ...], name: str) -> bool:
    """The first statement that is not a declaration sets `name` without reading it."""
    for s in body:
        if isinstance(s, Decl):
            continue
        return (
            isinstance(s, Assign)
            and s.target == Var(name)
            and not s.op
            and name not in names(s.value)
        )
    return False
