"""Striped arrays: T x[C] -> T x[C/P, P]; forall t < P: ... x[P*k + t] ... -> ... x[k, t] ...

The elements of an array are dealt out to P work-items in turns, as the iterations are that use
them: each keeps its own, in registers once the loops over k are unrolled, and the group neither
needs local memory nor waits for it. Legal for an array of fixed size that the function declares
once, where each use stands in a forall of P iterations, and has a subscript that is the variable of
that and a multiple of P. (The striped arrangement of CUB's block-wide primitives; Volkov, "Better
performance at lower occupancy", 2010.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, to_expr, value_of
from loopxform.ir.nodes import Const, Copy, Decl, Expr, For, Function, If, Load, Opaque, Stmt, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import (
    Path,
    at,
    bodies,
    loads,
    map_stmt_exprs,
    replace_at,
    stmt_exprs,
    walk,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.sites import parse_size


@record
class Stripe(Step):
    """Deals the elements of `array` out to `parts` work-items in turns."""

    array: str
    parts: str

    verb: ClassVar[str] = "stripe"
    usage: ClassVar[str] = "stripe ARRAY PARTS"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        paths = _declarations(fn, self.array)
        if len(paths) != 1:
            what = f"is not an array of one dimension that '{fn.name}' declares, once"
            remedy = "name an array that is declared in one place"
            return (Obstacle("LX168", f"'{self.array}' {what}", fn.origin.loc, remedy=remedy),)
        decl, parts = _declared(fn, paths[0]), parse_size(fn, self.parts)
        if isinstance(parts, Obstacle):
            return (replace(parts, loc=decl.origin.loc),)
        problem = _problem(fn, decl) or next(_foreign(fn.body, self.array, parts, ()), None)
        if problem is None:
            return ()
        remedy = "keep it in local memory: promote-to-local"
        return (Obstacle("LX227", f"'{self.array}' {problem}", decl.origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        (path,) = _declarations(fn, self.array)
        decl, parts = _declared(fn, path), parse_size(fn, self.parts)
        assert not isinstance(parts, Obstacle)
        number = value_of(parts) or 1
        rows = Const(-(-(value_of(decl.shape[0]) or 1) // number))
        striped = replace(decl, shape=(rows, parts), origin=decl.origin.then(str(self)))
        fn = replace_at(fn, path, (striped,))
        return replace(fn, body=tuple(_striped(s, self.array, parts, ()) for s in fn.body))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"item t of {self.parts} uses elements t, t + {self.parts}, ... of {self.array}"


def _declarations(fn: Function, name: str) -> list[Path]:
    found = ((p, s) for p, s in walk(fn.body) if isinstance(s, Decl) and len(s.shape) == 1)
    return [p for p, s in found if s.name == name]


def _declared(fn: Function, path: Path) -> Decl:
    decl = at(fn, path)
    assert isinstance(decl, Decl)
    return decl


def _problem(fn: Function, decl: Decl) -> str | None:
    if decl.exposed or any(isinstance(s, Opaque) for _, s in walk(fn.body)):
        return "may be used by what is not modelled"
    if decl.space is not None:
        return "has its place already"
    if value_of(decl.shape[0]) is None:
        return "has no fixed size"
    staged = (s for _, s in walk(fn.body) if isinstance(s, Copy))
    return "is staged" if any(decl.name in (s.source, s.target) for s in staged) else None


def _foreign(
    body: tuple[Stmt, ...], array: str, parts: Expr, around: tuple[For, ...]
) -> Iterator[str]:
    """Uses of elements that are not those of the work-item which uses them."""
    for s in body:
        for x in (x for e in stmt_exprs(s) for x in loads(e) if x.array == array):
            if _own(x, parts, around) is None:
                yield f"has elements that several work-items may use: {expr_text(x)}"
        if isinstance(s, For | If):
            inner = (*around, s) if isinstance(s, For) else around
            for part in bodies(s):
                yield from _foreign(part, array, parts, inner)


def _own(x: Load, parts: Expr, around: tuple[For, ...]) -> tuple[Expr, Expr] | None:
    """The number of an element among those of its work-item, and that of the work-item."""
    for item in (t for t in around if t.parallel and _is_of(t, parts)):
        among = (poly(x.index[0]) - poly(Var(item.var))).divide(poly(parts))
        if among is not None and not among.mentions(item.var):
            return to_expr(among), Var(item.var)
    return None


def _is_of(loop: For, parts: Expr) -> bool:
    """Whether a loop counts so many iterations from 0."""
    fixed = fixed_trips(loop)
    exact = fixed is not None and not fixed[1] and fixed[0].value == value_of(parts)
    return exact and value_of(loop.lo) == 0 and value_of(loop.step) == 1


def _striped(s: Stmt, array: str, parts: Expr, around: tuple[For, ...]) -> Stmt:
    def element(e: Expr) -> Expr:
        found = _own(e, parts, around) if isinstance(e, Load) and e.array == array else None
        return replace(e, index=found) if found is not None and isinstance(e, Load) else e

    inner = (*around, s) if isinstance(s, For) else around
    parts_of = [tuple(_striped(x, array, parts, inner) for x in b) for b in bodies(s)]
    match s:
        case For():
            s = replace(s, body=parts_of[0])
        case If():
            s = replace(s, then=parts_of[0], orelse=parts_of[1])
    return map_stmt_exprs(s, element)
