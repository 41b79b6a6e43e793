"""Row sums: for j: x[i, j] = e + x[i - 1, j] + x[i, j - 1] - x[i - 1, j - 1];
  -> if (lo < hi) row = x[i, lo - 1] - x[i - 1, lo - 1];
     for j: { row += e; x[i, j] = x[i - 1, j] + row; }

A summed-area table in one pass, as a running value of its rows: `row` is x[i, j] - x[i - 1, j], to
which each iteration adds e. Legal where the loop stores no other element of x than one in each
iteration, of a row that the others of the four are not in but for the one before. Sums of integers
wrap around, and are the same; real numbers are rounded differently, and need `reassociate`. By
conditions, the first row may do without the one above, and the first column without the one before
(`summed_area`): then `row` begins with 0, or x[i - 1, j] stays under such a condition.
(Crow, "Summed-area tables for texture mapping", 1984; Hensley and others, "Fast summed-area table
generation and its applications", 2005.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.types import BOOL, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, loops_around, names, replace_at, walk, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.first_iteration import not_first
from loopxform.transforms.reductions.partial import rounded
from loopxform.transforms.reductions.summed_area import Table, moved, table
from loopxform.transforms.sites import one_loop, plain_loop, trusted


@record
class RowSums(Step):
    """Computes what `loop` stores in `array` from the sum of the row so far, in a scalar named
    `scalar` (default: x_row). `reassociate` (the word) allows rounding differently."""

    array: str
    loop: str
    scalar: str = ""
    reassociate: str = ""

    verb: ClassVar[str] = "row-sums"
    usage: ClassVar[str] = "row-sums ARRAY LOOP [NAME] [reassociate]"
    flags: ClassVar[Mapping[str, str]] = {"reassociate": "reassociate"}

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = plain_loop(fn, self.loop, self.verb, self.scalar)
        if isinstance(site, tuple):
            return site
        where = site.loop.origin.loc
        why = self._obstacle(fn, site)
        if why is not None:
            remedy = "name a loop such as: x[i][j] = a + x[i-1][j] + x[i][j-1] - x[i-1][j-1];"
            return (Obstacle("LX216", why, where, remedy=remedy),)
        rounding = rounded(self.array, "+", symbols(fn))
        if rounding and not self.reassociate:
            return (Obstacle("LX191", rounding, where, remedy="allow it: --fp reassociate"),)
        return ()

    def _obstacle(self, fn: Function, site: LoopSite) -> str | None:
        loop, every = site.loop, [s for _, s in walk(site.loop.body)]
        if loop.parallel:
            return f"the loop over '{loop.var}' is parallel"
        if any(isinstance(s, Opaque | Copy) for s in every):
            return "the loop holds what is not modelled"
        if any(isinstance(s, Decl) and s.name == self.array for s in every):
            return f"'{self.array}' is declared in the loop"
        found = table(loop, self.array, loops_around(fn, site.path), symbols(fn))
        if found is None:
            return f"'{loop.var}' computes no summed-area table in '{self.array}'"
        moving = writes(loop.body) | {s.var for s in every if isinstance(s, For)}
        if any(names(Load("", x.index)) & moving for x in (found.left, found.above)):
            return f"the subscripts of '{self.array}' change in an iteration"
        types = symbols(fn)
        own = types[self.array]
        if own is BOOL or any(type_of(e, types).is_float != own.is_float for e in found.sums):
            return f"'{self.array}' would be rounded to another type"
        sums = [e for e in found.sums if self.array in names(e)]
        kept = (e.type if isinstance(e, Cast) else promote(type_of(e, types)) for e in sums)
        if own.is_integer and any(t.bytes < own.bytes for t in kept):
            return f"elements of '{self.array}' are converted to a narrower type"
        return None

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, origin = site.loop, site.loop.origin.then(str(self))
        found = table(loop, self.array, loops_around(fn, site.path), symbols(fn))
        assert found is not None
        name = self.scalar or fresh(fn, f"{self.array}_row")
        label = found.store.label
        above: Expr = found.above
        if found.topped is not None:
            above = Select(not_first(found.topped), above, Const(0))
        body = list[Stmt]()
        for s in loop.body:
            if s is not found.store:
                body.append(s)
                continue
            body += [
                *_added(name, found.terms, label, found.store),
                replace(found.store, value=Bin("+", above, Var(name)), label=f"{label}_x"),
            ]
        made = (
            Decl(name, symbols(fn)[self.array], origin=origin),
            replace(_begun(name, loop, found), origin=origin),
            replace(loop, body=tuple(body), origin=origin),
        )
        return replace_at(fn, site.path, made)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        allowed = "; it may be rounded differently" if self.reassociate else ""
        return f"the differences of two rows of {self.array} are sums{allowed}"


def _begun(name: str, loop: For, found: Table) -> Assign | If:
    """Sets the scalar to what the sum of a row begins with."""
    if found.has_first:
        return Assign(Var(name), Const(0), label=f"load_{name}")
    first: dict[str, Expr] = {loop.var: loop.lo}
    before: Expr = moved(found.left, first)
    above = moved(found.corner, first)
    difference = Bin("-", before, above)
    if found.topped is not None:
        difference = Bin("-", before, Select(not_first(found.topped), above, Const(0)))
    up = (value_of(loop.step) or 1) > 0
    runs = Bin("<" if up else ">", loop.lo, loop.hi)
    return If(runs, (Assign(Var(name), difference, label=f"load_{name}"),))


def _added(
    name: str, terms: tuple[tuple[int, Expr], ...], label: str, store: Assign
) -> Iterator[Assign]:
    """Adds terms to the scalar, one after the other: in no narrower type than its own."""
    for n, (sign, e) in enumerate(terms):
        op = "+" if sign > 0 else "-"
        yield Assign(Var(name), e, op, label=f"{label}_{n}", origin=store.origin)
