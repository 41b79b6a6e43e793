"""Coalescing: for (i = 0; i < n; i++) for (j = 0; j < m; j++) S(i, j)
         -> for (ij = 0; ij < n*m; ij++) S(ij / m, ij % m).

Two perfectly nested loops become one, in the same order. Subscripts that number the iterations,
i*m + j, are ij. Legal where both loops count from 0 in steps of 1 and the bounds of the inner one
are the same for all iterations of the outer one; m must be known to be positive, and the number of
iterations to be one that the loop variable can hold (`assume` it). The loop is parallel where both
were. (Polychronopoulos, "Loop coalescing: a compiler transformation for parallel machines", 1987.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import Poly, poly, recombined, simplify, to_expr, value_of
from loopxform.ir.condition_text import condition_text, long_constant
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Cast, Const, Expr, For, Function, Load, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.types import INT, INT_MAX, common, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    map_exprs,
    names,
    replace_at,
    walk_expr,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import replace_iterator
from loopxform.transforms.sites import fixed_header, nested_pair, new_name, unmapped, whole_loop


@record
class Coalesce(Step):
    """Makes one loop of a loop and the loop directly and perfectly nested in it; `name` is that of
    its variable (default: both names in a row)."""

    outer: str
    inner: str
    name: str = ""

    verb: ClassVar[str] = "coalesce"
    usage: ClassVar[str] = "coalesce OUTER INNER [NAME]"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        found = nested_pair(fn, self.outer, self.inner)
        if isinstance(found, Obstacle):
            return (found,)
        outer, inner = found
        structure = [
            o
            for s in found
            for question in (whole_loop, fixed_header, lambda s: unmapped(s, "coalesce"))
            for o in question(s)
        ]
        structure += (o for o in map(_not_counting, found) if o is not None)
        if outer.loop.type != inner.loop.type:
            text = f"'{outer.loop.var}' is {outer.loop.type}, '{inner.loop.var}' {inner.loop.type}"
            structure.append(_no(inner, text, "declare both loop variables with one type"))
        if outer.loop.var in names(inner.loop.hi):
            text = f"how often the loop over '{inner.loop.var}' runs depends on '{outer.loop.var}'"
            remedy = f"make its bounds the same for all: bounding-box {inner.loop.var}"
            structure.append(_no(inner, text, remedy))
        if not structure and (total := value_of(_total(outer, inner))) is not None:
            structure += _too_many(outer, total)
        if structure:
            return (*structure, *new_name(fn, self.name, outer))
        asked = (
            _no(outer, f"{expr_text(e)} is not known", f"assume {condition_text(e)}")
            for e in self.open_questions(fn)
        )
        return (*new_name(fn, self.name, outer), *asked)

    def open_questions(self, fn: Function) -> tuple[Expr, ...]:
        """What must be assumed for the step to be legal: that the inner loop has iterations, and
        the loop variable can number all, as far as that is not known."""
        found = nested_pair(fn, self.outer, self.inner)
        if isinstance(found, Obstacle):
            return ()
        outer, inner = found
        rows, row = outer.loop.hi, inner.loop.hi
        asked = []
        if not _positive(fn, outer, row):
            asked.append(Bin(">=", row, Const(1)))
        most = _largest(outer)
        number = Const(most) if most == INT_MAX else long_constant(most)
        few = Bin("<=", rows, Bin("/", number, row))
        if not (_counted(fn, outer, _total(outer, inner)) or always(fn, outer.path, few)):
            asked.append(few)
        return tuple(asked)

    def rewrite(self, fn: Function) -> Function:
        found = nested_pair(fn, self.outer, self.inner)
        assert not isinstance(found, Obstacle)
        outer, inner = (s.loop for s in found)
        name = self.name or fresh(fn, _joined(outer.var, inner.var))
        kind = promote(outer.type)
        alike = common(kind, type_of(inner.hi, symbols(fn))) == kind
        row = inner.hi if alike else Cast(kind, inner.hi)
        body = replace_iterator(inner.body, outer.var, Bin("/", Var(name), row))
        body = replace_iterator(body, inner.var, Bin("%", Var(name), row))
        whole = For(
            name,
            Const(0),
            simplify(_total(*found)),
            Const(1),
            map_exprs(body, _with_numbers),
            outer.parallel and inner.parallel,
            type=outer.type,
            origin=outer.origin.then(str(self)),
        )
        return replace_at(fn, found[0].path, (whole,))

    def reason(self, fn: Function) -> str:
        found = nested_pair(fn, self.outer, self.inner)
        assert not isinstance(found, Obstacle)
        outer, inner = (s.loop.var for s in found)
        return f"the same iterations in the same order: all of {inner} for each {outer}"


def _joined(outer: str, inner: str) -> str:
    """`ab` of a and b; `i_row` of i and row."""
    return outer + inner if len(inner) == 1 else f"{outer}_{inner}"


def _with_numbers(e: Expr) -> Expr:
    """An element whose subscripts are numbers of iterations."""
    if not isinstance(e, Load):
        return e
    plain = (not any(isinstance(x, Cast) for x in walk_expr(i)) for i in e.index)
    return replace(e, index=tuple(recombined(i) if p else i for p, i in zip(plain, e.index)))


def _not_counting(site: LoopSite) -> Obstacle | None:
    """A loop that does not count from 0 by 1, in an int at least."""
    loop = site.loop
    if value_of(loop.lo) != 0 or value_of(loop.step) != 1:
        text = f"the loop over '{loop.var}' does not count from 0 in steps of 1"
        return _no(site, text, f"normalise {loop.var} first")
    if loop.type.bytes < INT.bytes:
        text = f"the variable '{loop.var}' is shorter than an int"
        return _no(site, text, f"declare it as an int: for (int {loop.var} = 0; ...)")
    return None


def _largest(site: LoopSite) -> int:
    """Of the type of the loop variable; of an int, where it is unsigned."""
    kind = site.loop.type
    return INT_MAX if kind.is_unsigned else (1 << (8 * kind.bytes - 1)) - 1


def _total(outer: LoopSite, inner: LoopSite) -> Expr:
    return Bin("*", outer.loop.hi, inner.loop.hi)


def _too_many(site: LoopSite, total: int) -> list[Obstacle]:
    if total <= _largest(site):
        return []
    text = f"there are {total} iterations, more than the loop variable can number"
    return [_no(site, text, f"declare it as a long: for (long {site.loop.var} = 0; ...)")]


def _counted(fn: Function, site: LoopSite, total: Expr) -> bool:
    """Whether it is assumed that the loop variable can number the elements of something that has as
    many, or a multiple of that: n <= 2147483647 / (m*k), where k >= 1."""
    wanted = poly(total)
    if wanted.value is not None:
        return wanted.value <= _largest(site)
    for e in fn.assumes:
        match e:
            case Bin("<=", n, Bin("/", Const(int(most)), m)) if most <= _largest(site):
                if not always(fn, site.path, e):
                    continue
                others = poly(Bin("*", n, m)).divide(wanted)
                if others is not None and all(_positive(fn, site, x) for x in _factors(others)):
                    return True
            case _:
                continue
    return False


def _factors(p: Poly) -> Iterator[Expr]:
    """Those of a product; of a sum itself."""
    if len(p.terms) != 1:
        yield to_expr(p)
        return
    ((atoms, number),) = p.terms
    yield from (*atoms, *(() if number == 1 else (Const(number),)))


def _positive(fn: Function, site: LoopSite, e: Expr) -> bool:
    factors = [*_factors(poly(e))]
    if len(factors) > 1 and all(_positive(fn, site, x) for x in factors):
        return True
    return always(fn, site.path, Bin(">=", e, Const(1)))


def _no(site: LoopSite, text: str, remedy: str) -> Obstacle:
    return Obstacle("LX115", text, site.loop.origin.loc, remedy=remedy)
