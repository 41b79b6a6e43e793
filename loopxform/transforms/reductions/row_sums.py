"""Row sums: for j: x[i, j] = e + x[i - 1, j] + x[i, j - 1] - x[i - 1, j - 1];
  -> if (lo < hi) row = x[i, lo - 1] - x[i - 1, lo - 1];
     for j: { row += e; x[i, j] = x[i - 1, j] + row; }

A summed-area table in one pass, as a running value of its rows: `row` is x[i, j] - x[i - 1, j], to
which each iteration adds e. Legal where the loop stores no other element of x than one in each
iteration, of a row that the others of the four are not in but for the one before. Sums of integers
wrap around, and are the same; real numbers are rounded differently, and need `reassociate`.
(Crow, "Summed-area tables for texture mapping", 1984; Hensley and others, "Fast summed-area table
generation and its applications", 2005.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import BOOL
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    loads,
    names,
    replace_at,
    stmt_exprs,
    substitute,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.reductions.partial import rounded
from loopxform.transforms.sites import one_loop, plain_loop, trusted

SIGNS = {"+": 1, "-": -1}


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
        found = _table(loop, self.array)
        if found is None:
            return f"'{loop.var}' computes no summed-area table in '{self.array}'"
        moving = writes(loop.body) | {s.var for s in every if isinstance(s, For)}
        if any(names(Load("", x.index)) & moving for x in (found.left, found.above)):
            return f"the subscripts of '{self.array}' change in an iteration"
        types = symbols(fn)
        own = types[self.array]
        sums = [type_of(e, types) for e in found.sums]
        if own is BOOL or any(t.is_float != own.is_float for t in sums):
            return f"'{self.array}' would be rounded to another type"
        return None

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, origin = site.loop, site.loop.origin.then(str(self))
        found = _table(loop, self.array)
        assert found is not None
        name = self.scalar or fresh(fn, f"{self.array}_row")
        first: dict[str, Expr] = {loop.var: loop.lo}
        corner = (_moved(found.left, first), _moved(found.corner, first))
        begun = Assign(Var(name), Bin("-", *corner), label=f"load_{name}", origin=origin)
        up = (value_of(loop.step) or 1) > 0
        runs = Bin("<" if up else ">", loop.lo, loop.hi)
        label = found.store.label
        body = list[Stmt]()
        for s in loop.body:
            if s is not found.store:
                body.append(s)
                continue
            body += [
                *_added(name, found.terms, label, found.store),
                replace(found.store, value=Bin("+", found.above, Var(name)), label=f"{label}_x"),
            ]
        made = (
            Decl(name, symbols(fn)[self.array], origin=origin),
            If(runs, (begun,), origin=origin),
            replace(loop, body=tuple(body), origin=origin),
        )
        return replace_at(fn, site.path, made)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        allowed = "; it may be rounded differently" if self.reassociate else ""
        return f"the differences of two rows of {self.array} are sums{allowed}"


def tables(loop: For) -> tuple[str, ...]:
    """The arrays of which a loop computes a row of a summed-area table."""
    stored = (s.target for s in loop.body if isinstance(s, Assign))
    arrays = dict.fromkeys(t.array for t in stored if isinstance(t, Load))
    return tuple(a for a in arrays if _table(loop, a) is not None)


@record
class _Table:
    """The store of a row of a summed-area table: the elements before it, above it, and above the
    former, what else is added, with signs, and the sums that say so."""

    store: Assign
    left: Load
    above: Load
    corner: Load
    terms: tuple[tuple[int, Expr], ...]
    sums: tuple[Expr, ...]


def _table(loop: For, array: str) -> _Table | None:
    every = [s for _, s in walk(loop.body) if isinstance(s, Assign)]
    stores = [s for s in every if isinstance(s.target, Load) and s.target.array == array]
    if len(stores) != 1 or not any(s is stores[0] for s in loop.body):
        return None
    (store,) = stores
    if store.op or store.atomic:
        return None
    assert isinstance(store.target, Load)
    terms, sums = list(_terms(store.value, array, 1)), [*_sums(store.value, array)]
    own = [(sign, e) for sign, e in terms if isinstance(e, Load) and e.array == array]
    rest = tuple((sign, e) for sign, e in terms if array not in names(e))
    inside = (e for _, s in walk(loop.body) for e in stmt_exprs(s))
    used = [x for e in inside for x in loads(e) if x.array == array]
    if len(own) != 3 or len(rest) != len(terms) - 3 or not rest or len(used) != 4:
        return None
    previous: dict[str, Expr] = {loop.var: Bin("-", Var(loop.var), loop.step)}
    left = _moved(store.target, previous)
    for above in (e for sign, e in own if sign == 1):
        corner = _moved(above, previous)
        wanted = ((1, left), (1, above), (-1, corner))
        if _in_another_row(above, store.target, loop.var) and _is_all(own, wanted):
            return _Table(store, left, above, corner, rest, tuple(sums))
    return None


def _is_all(found: list[tuple[int, Load]], wanted: tuple[tuple[int, Load], ...]) -> bool:
    left = list(found)
    for sign, x in wanted:
        same = next((n for n, (s, y) in enumerate(left) if s == sign and _is_same(x, y)), None)
        if same is None:
            return False
        del left[same]
    return not left


def _terms(e: Expr, array: str, sign: int) -> Iterator[tuple[int, Expr]]:
    """The terms of a sum, down to what has nothing of the array."""
    match e:
        case Bin("+" | "-" as op, left, right) if array in names(e):
            yield from _terms(left, array, sign)
            yield from _terms(right, array, sign * SIGNS[op])
        case Un("-", operand) if array in names(e):
            yield from _terms(operand, array, -sign)
        case _:
            yield sign, e


def _sums(e: Expr, array: str) -> Iterator[Expr]:
    """The sums that have something of the array, and what they add up."""
    yield e
    match e:
        case Bin("+" | "-", left, right) if array in names(e):
            yield from _sums(left, array)
            yield from _sums(right, array)
        case Un("-", operand) if array in names(e):
            yield from _sums(operand, array)


def _added(
    name: str, terms: tuple[tuple[int, Expr], ...], label: str, store: Assign
) -> Iterator[Assign]:
    """Adds terms to the scalar, one after the other: in no narrower type than its own."""
    for n, (sign, e) in enumerate(terms):
        op = "+" if sign > 0 else "-"
        yield Assign(Var(name), e, op, label=f"{label}_{n}", origin=store.origin)


def _moved(x: Load, values: dict[str, Expr]) -> Load:
    return Load(x.array, tuple(simplify(substitute(e, values)) for e in x.index))


def _is_same(x: Load, y: Load) -> bool:
    return all(poly(a) == poly(b) for a, b in zip(x.index, y.index))


def _in_another_row(x: Load, target: Load, var: str) -> bool:
    """Whether a subscript that stays the same while the loop runs tells two elements apart, and
    another one moves from iteration to iteration."""
    gaps = [
        (poly(a) - poly(b)).value
        for a, b in zip(x.index, target.index)
        if var not in names(a) | names(b)
    ]
    return any(gap not in (None, 0) for gap in gaps) and any(var in names(e) for e in target.index)
