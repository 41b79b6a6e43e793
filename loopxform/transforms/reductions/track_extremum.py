"""Tracking an extremum: the value at the place that a loop keeps gets a variable of its own.

    for k: if (a[k] > a[best]) best = k;
 -> value = 0; if (there is an iteration) value = a[best];
    for k: if (a[k] > value) { value = a[k]; best = k; }

Then the loop is a reduction of the value and of its place. Legal where every iteration compares,
nothing else sets the place in the loop, both sides are the same but for the place, and the loop
stores to no array: so each comparison reads what the last one that held has found. A place of no
iteration is read only where there is an iteration, as in C. What is compared is elements, or
their absolute values, which a variable holds exactly, NaN and signed zeros too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.abstract_values import limits
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Return,
    Select,
    Stmt,
    Un,
    Var,
    While,
)
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, declared, names, replace_at, substitute, walk, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import ascending, one_loop, trusted, unmapped, whole_loop

TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
ABSOLUTE = ("fabs", "fabsf", "abs", "labs")


@record
class TrackExtremum(Step):
    """Keeps the extremum whose place `loop` keeps, too."""

    loop: str

    verb: ClassVar[str] = "track-extremum"
    usage: ClassVar[str] = "track-extremum LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        structure = (*whole_loop(site), *ascending(site), *unmapped(site, "track an extremum of"))
        if structure or place_kept(fn, site.loop) is not None:
            return structure
        text = f"the loop over '{site.loop.var}' compares no element with that at a place it keeps"
        remedy = "name a loop with a statement such as if (a[k] > a[best]) best = k;"
        return (Obstacle("LX250", text, site.loop.origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        return replace_at(fn, site.path, tuple(self._tracked(fn, site)))

    def _tracked(self, fn: Function, site: LoopSite) -> Iterator[Stmt]:
        """The loop, and what is before it."""
        kept = place_kept(fn, site.loop)
        assert kept is not None
        value = fresh(fn, f"{kept.place}_value")
        kind, origin = type_of(kept.best, symbols(fn)), site.loop.origin.then(str(self))
        zero = Const(0.0 if kind.is_float else 0, kind)
        yield Decl(value, kind, origin=origin)
        yield Assign(Var(value), zero, label=f"begin_{value}", origin=origin)
        first = Assign(Var(value), kept.best, label=f"first_{value}", origin=origin)
        yield If(Bin("<", site.loop.lo, site.loop.hi), (first,), origin=origin)
        update = If(
            Bin(kept.op, kept.operand, Var(value)),
            (
                Assign(Var(value), kept.operand, label=f"keep_{value}", origin=origin),
                replace(kept.update, value=kept.new, origin=origin),
            ),
            origin=origin,
        )
        body = tuple(update if s is kept.statement else s for s in site.loop.body)
        yield replace(site.loop, body=body, origin=origin)

    def reason(self, fn: Function) -> str:
        kept = place_kept(fn, trusted(one_loop(fn, self.loop)).loop)
        assert kept is not None
        return (
            f"'{kept.place}' is set where the comparison holds, and nothing that it reads changes"
        )


@record
class PlaceKept:
    """`if (operand op best) place = new`, where `best` is the operand at the place; `statement` is
    that, and `update` what sets the place."""

    statement: If | Assign
    update: Assign
    op: str
    operand: Expr
    best: Expr
    new: Expr

    @property
    def place(self) -> str:
        assert isinstance(self.update.target, Var)
        return self.update.target.name


def place_kept(fn: Function, loop: For) -> PlaceKept | None:
    """The only statement of a loop that keeps a place, where its value can be tracked."""
    if any(isinstance(s, Opaque | Return | While) for _, s in walk(loop.body)):
        return None
    targets = [s.target for _, s in walk(loop.body) if isinstance(s, Assign)]
    if any(isinstance(x, Load) and x.array not in declared(loop.body) for x in targets):
        return None
    kept = [p for s in loop.body if (p := _kept(s)) is not None]
    if len(kept) != 1 or targets.count(Var(kept[0].place)) != 1:
        return None
    (found,) = kept
    changing = writes(loop.body) | declared(loop.body).keys() | _counters(loop)
    changing -= {found.place}
    types = symbols(fn)
    alike = type_of(found.best, types) == type_of(found.operand, types)
    exact = alike and _holds(types[found.place], found.new, loop, types)
    return found if exact and not names(found.best) & changing else None


def _holds(own: Scalar, new: Expr, loop: For, types: dict[str, Scalar]) -> bool:
    """Whether the place has all values that it is set to."""
    kind, lo = type_of(new, types), value_of(loop.lo)
    if not (own.is_integer and kind.is_integer):
        return False
    (low, high), (least, most) = limits(own), limits(kind)
    if new == Var(loop.var) and lo is not None:
        least = max(least, lo)
    return low <= least and most <= high


def _counters(loop: For) -> set[str]:
    inside = {s.var for _, s in walk(loop.body) if isinstance(s, For)}
    return {loop.var, *inside}


def _kept(s: Stmt) -> PlaceKept | None:
    match s:
        case If(Bin(op, left, right), (Assign(Var(), value, "") as update,), ()):
            return _compared(s, update, op, left, right, value)
        case Assign(Var() as place, Select(Bin(op, left, right), value, kept), "") if kept == place:
            return _compared(s, s, op, left, right, value)
        case _:
            return None


def _compared(
    s: If | Assign, update: Assign, op: str, left: Expr, right: Expr, new: Expr
) -> PlaceKept | None:
    """The comparison, with the element at the place on the right."""
    assert isinstance(update.target, Var)
    place = update.target.name
    if op not in TURNED or place in names(new):
        return None
    if place in names(left):
        op, left, right = TURNED[op], right, left
    same = substitute(right, {place: new}) == left
    if not same or place in names(left) or not _is_exact(right):
        return None
    return PlaceKept(s, update, op, left, right, new)


def _is_exact(e: Expr) -> bool:
    """Whether a variable holds what is compared."""
    match e:
        case Load():
            return True
        case Un("-", operand):
            return _is_exact(operand)
        case Call(name, (operand,)):
            return name in ABSOLUTE and _is_exact(operand)
        case _:
            return False
