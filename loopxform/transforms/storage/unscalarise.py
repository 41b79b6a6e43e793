"""Unscalarisation: { T w; w = e; for k: w -= f; A[i, j] = g(w); }
        -> { A[i, j] = e; for k: A[i, j] -= f; A[i, j] = g(A[i, j]); }.

The inverse of `scalarise`: a scalar that the body of a loop declares and stores to an element at
last is kept in that element, so that the loops inside can be distributed and interchanged as those
of programs that accumulate in the array. Legal where the element has the type of the scalar and
stays the same one, the body certainly sets the scalar first and stores it last, and what lies
between is proven to use no other name of the element. (Scalar replacement, as in Callahan, Carr and
Kennedy, "Improving register allocation for subscripted variables", 1990, undone.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.legality import opaque_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Assign, Bin, Decl, Expr, For, Function, Load, Stmt, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    declared,
    loads,
    map_exprs,
    names,
    reads,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted, unmapped


@record
class Unscalarise(Step):
    """Keeps the scalar `name` (default: the first that can be) of the body of `loop` in the element
    that it is stored to."""

    loop: str
    name: str = ""

    verb: ClassVar[str] = "unscalarise"
    usage: ClassVar[str] = "unscalarise LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        problems = (*unmapped(site, "unscalarise"), *opaque_obstacles(fn, site.path))
        if problems:
            return problems
        tried = [_problem(fn, site, name) for name in self._candidates(site.loop)]
        if not tried:
            text = f"the loop over '{site.loop.var}' declares no scalar"
            remedy = f"privatise it: privatise NAME {self.loop}"
            return (Obstacle("LX218", text, site.loop.origin.loc, remedy=remedy),)
        return () if None in tried else tuple(x for x in tried[:1] if x is not None)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        kept = next(x for x in self._candidates(site.loop) if _problem(fn, site, x) is None)
        element = _element(site.loop.body, kept)
        assert element is not None

        def in_element(e: Expr) -> Expr:
            return replace(element, origin=e.origin) if e == Var(kept) else e

        body = (s for s in site.loop.body if not (isinstance(s, Decl) and s.name == kept))
        made = tuple(s for s in map_exprs(tuple(body), in_element) if not _is_idle(s))
        loop = replace(site.loop, body=made, origin=site.loop.origin.then(str(self)))
        return replace_at(fn, site.path, (loop,))

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        kept = next(x for x in self._candidates(site.loop) if _problem(fn, site, x) is None)
        element = _element(site.loop.body, kept)
        assert element is not None
        text = f"{expr_text(element)} gets the value of {kept} at last"
        return f"{text}, and nothing between uses that element"

    def _candidates(self, loop: For) -> list[str]:
        own = [s.name for s in loop.body if isinstance(s, Decl) and not s.shape]
        return [n for n in own if n == self.name or not self.name]


def _problem(fn: Function, site: LoopSite, name: str) -> Obstacle | None:
    """Why a scalar cannot be kept in an element."""

    def refused(text: str, remedy: str, place: Stmt | Expr = site.loop) -> Obstacle:
        where = place.origin.loc or site.loop.origin.loc
        return Obstacle("LX218", text, where, remedy=remedy)

    body = site.loop.body
    element = _element(body, name)
    if element is None:
        return refused(
            f"the body does not end by storing '{name}' to an element", "end the body with a store"
        )
    first, last = _first(body, name), _last(body, name)
    if first is None:
        return refused(f"'{name}' is not certainly set first", f"set {name} before the loops")
    types = symbols(fn) | {s.name: s.type for s in declared(body).values()}
    if types[element.array] != types[name]:
        return refused(f"'{element.array}' has another type than '{name}'", "give both one type")
    moving = frozenset(s.var for _, s in walk(body) if isinstance(s, For)) | writes(body)
    if names(Load("", element.index)) & moving or element.array in declared(body):
        text = f"which element '{expr_text(element)}' is changes in the body"
        return refused(text, "compute its subscripts before the loop", element)
    met = next(_met(fn, site, slice(first, last + 1), element), None)
    if met is not None:
        text = f"'{expr_text(met)}' may be '{expr_text(element)}' between the two"
        return refused(text, "read it into a variable before", met)
    return None


def _first(body: tuple[Stmt, ...], name: str) -> int | None:
    """The statement that sets the scalar before anything else uses it."""
    used = [n for n, s in enumerate(body) if _uses(s, name)]
    s = body[used[0]]
    sets = isinstance(s, Assign) and s.target == Var(name) and not s.op
    return used[0] if sets and isinstance(s, Assign) and name not in names(s.value) else None


def _last(body: tuple[Stmt, ...], name: str) -> int:
    return max(n for n, s in enumerate(body) if _uses(s, name))


def _uses(s: Stmt, name: str) -> bool:
    return not isinstance(s, Decl) and name in reads((s,)) | writes((s,))


def _element(body: tuple[Stmt, ...], name: str) -> Load | None:
    """What the last statement that uses the scalar stores it to."""
    used = [s for s in body if _uses(s, name)]
    match used[-1] if used else None:
        case Assign(Load() as element, value, "") if name in names(value):
            return None if name in names(Load("", element.index)) else element
        case _:
            return None


def _met(fn: Function, site: LoopSite, part: slice, element: Load) -> Iterator[Load]:
    """Accesses of some statements of the body that may be to the element. All that the first one
    reads is read before the element is set; the last one stores to the element."""
    body = site.loop.body
    *between, last = range(part.start + 1, part.stop)
    for n in (*between, last):
        for path, s in walk((body[n],)):
            place = (*site.path, n, *path[1:])
            for x in (x for e in stmt_exprs(s) for x in loads(e) if x.array == element.array):
                if not (x is element or _apart(fn, place, x, element)):
                    yield x


def _apart(fn: Function, place: tuple[int, ...], x: Load, element: Load) -> bool:
    """Whether an access at a place is never to the element."""
    pairs = tuple(zip(x.index, element.index))
    return any(always(fn, place, Bin(op, a, b)) for a, b in pairs for op in ("<", ">"))


def _is_idle(s: Stmt) -> bool:
    return isinstance(s, Assign) and s.target == s.value and not s.op
