"""Uncoalescing: for (t = 0; t < n*m; t++) S(t / m, t % m)
           -> for (i = 0; i < n; i++) for (j = 0; j < m; j++) S(i, j).

A loop over the numbers of the elements of a matrix becomes the loops over its rows and columns, in
the same order; t itself is i*m + j, and the quotients by multiples of m are those of i. Legal where
the loop counts from 0 in steps of 1, its number of iterations is a multiple of m, which is the
same for all of them, and m is known to be positive (`assume` it). The inverse of `coalesce`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import Poly, poly, to_expr, value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, Load, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.quotients import divide
from loopxform.ir.types import INT
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    declared,
    map_exprs,
    names,
    replace_at,
    stmt_exprs,
    walk,
    walk_expr,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import replace_iterator
from loopxform.transforms.sites import (
    fixed_header,
    new_name,
    one_loop,
    trusted,
    unmapped,
    whole_loop,
)


@record
class Uncoalesce(Step):
    """Makes two loops of one whose body divides its variable; `outer` and `inner` name them
    (default: the name with `_row` and `_column`)."""

    loop: str
    outer: str = ""
    inner: str = ""

    verb: ClassVar[str] = "uncoalesce"
    usage: ClassVar[str] = "uncoalesce LOOP [OUTER INNER]"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        structure = (*whole_loop(site), *fixed_header(site), *unmapped(site, self.verb))
        why = self._structure(fn, site)
        if structure or why:
            return (*structure, *why, *self._named(fn, site))
        asked = (
            _no(site, f"{expr_text(e)} is not known", f"assume {condition_text(e)}")
            for e in self.open_questions(fn)
        )
        return (*self._named(fn, site), *asked)

    def _named(self, fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
        return (*new_name(fn, self.outer, site), *new_name(fn, self.inner, site))

    def _structure(self, fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
        loop = site.loop
        if value_of(loop.lo) != 0 or value_of(loop.step) != 1:
            text = f"the loop over '{loop.var}' does not count from 0 in steps of 1"
            return (_no(site, text, f"normalise {loop.var} first"),)
        if loop.type.is_unsigned or loop.type.bytes < INT.bytes:
            text = f"the variable '{loop.var}' is no int or long"
            return (_no(site, text, f"declare it as an int: for (int {loop.var} = 0; ...)"),)
        if _width(fn, loop) is None:
            text = f"its trip count has no factor by which the body divides '{loop.var}'"
            return (_no(site, text, f"write {loop.var} / m and {loop.var} % m, of n*m iterations"),)
        return ()

    def open_questions(self, fn: Function) -> tuple[Expr, ...]:
        """What must be assumed: that the inner loop has iterations."""
        site = one_loop(fn, self.loop)
        width = None if isinstance(site, Obstacle) else _width(fn, site.loop)
        if isinstance(site, Obstacle) or width is None:
            return ()
        some = Bin(">=", to_expr(width), Const(1))
        return () if always(fn, site.path, some) else (some,)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, width = site.loop, _width(fn, site.loop)
        assert width is not None
        rows = divide(poly(loop.hi), width)
        assert rows is not None
        row, column = self.outer, self.inner
        row = row or fresh(fn, f"{loop.var}_row")
        column = column or fresh(fn, f"{loop.var}_column")

        def divided(e: Expr) -> Expr:
            found = _division(e, loop.var)
            if found is None:
                return e
            more = divide(found[1], width)
            assert more is not None
            return _part(found[0], more, width, row, column)

        body = map_exprs(loop.body, divided)
        number = Bin("+", Bin("*", Var(row), to_expr(width)), Var(column))
        body = replace_iterator(body, loop.var, number)
        origin = loop.origin.then(str(self))
        inner = replace(loop, var=column, hi=to_expr(width), body=body, origin=origin)
        outer = replace(loop, var=row, hi=to_expr(rows), body=(inner,), origin=origin)
        return replace_at(fn, site.path, (outer,))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"the same iterations of {self.loop} in the same order"


def _part(op: str, more: Poly, width: Poly, row: str, column: str) -> Expr:
    """The quotient or the rest of row*width + column by more*width."""
    if more.value == 1:
        return Var(row if op == "/" else column)
    rest = Bin(op, Var(row), to_expr(more))
    return rest if op == "/" else Bin("+", Bin("*", rest, to_expr(width)), Var(column))


def _width(fn: Function, loop: For) -> Poly | None:
    """What the variable of a loop is divided by, all multiples of it, as is the number of
    iterations; None where there is no such number."""
    found, types = _divisions(loop), {**symbols(fn), loop.var: loop.type}
    divisors = list(dict.fromkeys(d for _, d in found))
    inside = [s for _, s in walk(loop.body)]
    changed = writes(loop.body) | declared(loop.body).keys() | {loop.var}
    changed |= {s.var for s in inside if isinstance(s, For)}
    if any(not _is_fixed(d, changed) for d in divisors):
        return None
    if any(type_of(x, types) != loop.type for x, _ in found):
        return None
    multiples = [*divisors, poly(loop.hi)]
    fit = (d for d in divisors if all(divide(m, d) is not None for m in multiples))
    return next(fit, None)


def _divisions(loop: For) -> list[tuple[Expr, Poly]]:
    """The quotients and rests of the variable of a loop, and what it is divided by."""
    every = (x for _, s in walk(loop.body) for e in stmt_exprs(s) for x in walk_expr(e))
    found = ((x, _division(x, loop.var)) for x in every)
    return [(x, parts[1]) for x, parts in found if parts is not None]


def _division(e: Expr, var: str) -> tuple[str, Poly] | None:
    match e:
        case Bin("/" | "%" as op, Var(name), by) if name == var:
            return op, poly(by)
        case _:
            return None


def _is_fixed(d: Poly, changed: frozenset[str] | set[str]) -> bool:
    parts = list(walk_expr(to_expr(d)))
    return not any(isinstance(x, Load) for x in parts) and not names(to_expr(d)) & changed


def _no(site: LoopSite, text: str, remedy: str) -> Obstacle:
    return Obstacle("LX260", text, site.loop.origin.loc, remedy=remedy)


def is_divided(fn: Function, loop: For) -> bool:
    """Whether a loop's variable is divided by a size, and the loop could be two."""
    sizes = any(d.value is None for _, d in _divisions(loop))
    return sizes and _width(fn, loop) is not None
