"""One pass over a row for its largest element and a sum of exponentials in proportion to it:

    top = e;  for j: top = max(top, x(j));  sum = 0;  for j: { y[j] = exp(x(j) - top); sum += y[j] }
              for j: y[j] /= sum
 -> top_part[C], sum_part[C]
    for l < C: { largest = -inf; own = 0
                 for k < (hi - lo + C - 1) / C: if (lo + l + C*k < hi) { v = x(lo + l + C*k)
                     if (v > largest) { own *= exp(largest - v); largest = v }
                     own += v == largest ? 1 : exp(v - largest) }
                 top_part[l] = largest; sum_part[l] = own }
    for l < C: top = max(top, top_part[l])
    for l < C: if (sum_part[l] is not 0) sum += sum_part[l] * exp(top_part[l] - top)
    for j: y[j] = exp(x(j) - top) / sum

Part l takes every C-th element, and scales what it has summed up with each larger one it finds. The
row is read twice instead of three times, and nothing is stored before the sum is known. That rounds
differently, and needs `reassociate`. Rows with NaN, or an infinity that is their largest element,
have a sum of NaN, as in C; an element of minus infinity counts for nothing. Legal where the loops
do nothing else, and nothing between them changes or needs what they compute. (Milakov and
Gimelshein, "Online normalizer calculation for softmax", 2018.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.reductions import update_at
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.visit import (
    LoopSite,
    at,
    map_exprs,
    replace_at,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import replace_iterator
from loopxform.transforms.reductions.softmax_rows import Row, row_of
from loopxform.transforms.reductions.strided import obstacles, strided
from loopxform.transforms.sites import one_loop, parse_size, trusted


@record
class OnlineSum(Step):
    """Finds the largest element, as the loop `largest` does, and sums up exponentials, as the loop
    `summed` does, in one pass of `size` parts. `reassociate` (the word) allows the sum to round
    differently."""

    largest: str
    summed: str
    size: str
    reassociate: str = ""

    verb: ClassVar[str] = "online-sum"
    usage: ClassVar[str] = "online-sum LARGEST SUMMED SIZE [reassociate]"
    flags: ClassVar[Mapping[str, str]] = {"reassociate": "reassociate"}

    def is_in_order(self) -> bool:
        return False

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        sites = [one_loop(fn, ref) for ref in (self.largest, self.summed)]
        if missing := tuple(s for s in sites if isinstance(s, Obstacle)):
            return missing
        first, second = (trusted(s) for s in sites)
        if odd := obstacles(fn, second, self.size, "sum up"):
            return odd
        row = row_of(fn, first, second)
        loc = second.loop.origin.loc
        if isinstance(row, str):
            remedy = "write top = max(x[j]), then sum += exp(x[j] - top), then y[j] /= sum"
            return (Obstacle("LX261", row, loc, remedy=remedy),)
        if self.reassociate:
            return ()
        text = f"'{row.total}' would be rounded differently, in proportion to other elements"
        return (Obstacle("LX191", text, loc, remedy="allow it: --fp reassociate"),)

    def rewrite(self, fn: Function) -> Function:
        first, second = (trusted(one_loop(fn, r)) for r in (self.largest, self.summed))
        row = row_of(fn, first, second)
        assert isinstance(row, Row)
        made = _Pass(fn, row, second, self.size, str(self))
        a, b, c = row.places
        body = [*row.body[:a], *made.parts(), made.top(), *row.body[a + 1 : b], made.total()]
        body += row.body[b + 1 : c]
        body += () if row.store is None else (row.stored(),)
        body += row.body[c + 1 :]
        return _with_body(fn, first, tuple(body))

    def reason(self, fn: Function) -> str:
        first, second = (trusted(one_loop(fn, r)) for r in (self.largest, self.summed))
        row = row_of(fn, first, second)
        assert isinstance(row, Row)
        return f"what is added to {row.total} scales with {row.top}"


def _with_body(fn: Function, site: LoopSite, body: tuple[Stmt, ...]) -> Function:
    """The function with `body` in place of the statements that the loop is one of."""
    around = site.path[:-1]
    if not around:
        return replace(fn, body=body)
    parent = at(fn, around)
    assert isinstance(parent, For)
    return replace_at(fn, around, (replace(parent, body=body),))


class _Pass:
    """The loops that take the place of the first two."""

    def __init__(self, fn: Function, row: Row, site: LoopSite, size: str, step: str) -> None:
        self.fn, self.row, self.site, self.size = fn, row, site, size
        self.origin = site.loop.origin.then(step)
        count = parse_size(fn, size)
        assert not isinstance(count, Obstacle)
        self.count = count
        self.tops, self.totals = (fresh(fn, f"{n}_part") for n in (row.top, row.total))
        self.largest, self.own = (fresh(fn, f"{n}_own") for n in (row.top, row.total))
        self.element = fresh(fn, f"{row.var}_element")

    def _exp(self, e: Expr) -> Expr:
        return replace(self.row.weight, args=(e,))

    def parts(self) -> tuple[Stmt, ...]:
        """The arrays of the parts, and the loop over these."""
        kind, loop = self.row.kind, self.site.loop
        walk = replace(loop, body=self._found())
        number = fresh(self.fn, f"{loop.var}_t")
        outer = strided(self.fn, replace(self.site, loop=walk), self.size, self.origin, number)
        body = self._in_step(outer, number)
        begun: tuple[Stmt, ...] = (
            Decl(self.largest, kind),
            Decl(self.own, kind),
            Assign(Var(self.largest), Const(float("-inf"), kind), label=f"begin_{self.largest}"),
            Assign(Var(self.own), Const(0.0, kind), label=f"begin_{self.own}"),
        )
        kept = tuple(
            Assign(Load(array, (Var(number),)), Var(name), label=f"store_{name}")
            for array, name in ((self.tops, self.largest), (self.totals, self.own))
        )
        both = (self.tops, self.totals)
        arrays = (Decl(name, kind, (self.count,), origin=self.origin) for name in both)
        return (*arrays, replace(outer, body=(*begun, *body, *kept)))

    def _in_step(self, outer: For, number: str) -> tuple[Stmt, ...]:
        """The loop of a part, as long for all of them where it counts in the type of the user's."""
        (inner,) = outer.body
        loop = self.site.loop
        if not isinstance(inner, For) or inner.type != loop.type:
            return outer.body
        turn = fresh(self.fn, f"{loop.var}_k")
        rest = Bin("-", Bin("+", Bin("-", loop.hi, loop.lo), self.count), Const(1))
        turns = simplify(Bin("/", simplify(rest), self.count))
        first = Bin("+", loop.lo, Var(number))
        element = simplify(Bin("+", first, Bin("*", self.count, Var(turn))))
        body = replace_iterator(inner.body, loop.var, element)
        guarded = If(Bin("<", element, loop.hi), body)
        return (replace(inner, var=turn, lo=Const(0), hi=turns, step=Const(1), body=(guarded,)),)

    def _found(self) -> tuple[Stmt, ...]:
        """What is done with an element."""
        v, largest, own = Var(self.element), Var(self.largest), Var(self.own)
        one = Const(1.0, self.row.kind)
        term = Select(Bin("==", v, largest), one, self._exp(Bin("-", v, largest)))
        larger = (
            Assign(own, self._exp(Bin("-", largest, v)), "*", label=f"scale_{self.own}"),
            Assign(largest, v, label=f"find_{self.largest}"),
        )
        return (
            Decl(self.element, self.row.kind),
            Assign(v, self.row.score, label=f"read_{self.element}"),
            If(Bin(">", v, largest), larger),
            Assign(own, term, "+", label=f"sum_{self.own}"),
        )

    def top(self) -> For:
        """The largest of all parts, found as the user does."""
        var = fresh(self.fn, f"{self.tops}_l")
        update = update_at((), self.row.update)
        assert update is not None
        part = Load(self.tops, (Var(var),))
        body = map_exprs((self.row.update,), lambda e: part if e == update.value else e)
        return self._over_parts(var, body)

    def total(self) -> For:
        """The sum of all parts, each scaled."""
        var = fresh(self.fn, f"{self.totals}_l")
        own, kind = Load(self.totals, (Var(var),)), self.row.kind
        scale = self._exp(Bin("-", Load(self.tops, (Var(var),)), Var(self.row.top)))
        empty = Bin("==", own, Const(0.0, kind))
        term = Select(empty, Const(0.0, kind), Bin("*", own, scale))
        label = f"combine_{self.row.total}"
        return self._over_parts(var, (Assign(Var(self.row.total), term, "+", label=label),))

    def _over_parts(self, var: str, body: tuple[Stmt, ...]) -> For:
        return For(var, Const(0), self.count, Const(1), body, origin=self.origin)
