"""Offsets in 32 bits: S -> S with the offsets of A[M][U] in 32 bits.

Where an array has so few elements that an int can number them, the place of A[i][k] in memory,
i*U + k, is computed in 32 bits: a GPU needs several instructions for one in 64. Legal for arrays of
which every subscript is proven to lie in the array as it is declared, where it is known that they
have so few elements (`assume` it).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.extent import extent
from loopxform.analysis.host_scalars import host_scalars
from loopxform.errors import Obstacle
from loopxform.ir.condition_text import condition_text
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Bin, Const, Copy, Decl, Expr, Function, Param, Stmt
from loopxform.ir.printer import expr_text
from loopxform.ir.types import INT_MAX
from loopxform.ir.visit import (
    LoopSite,
    Path,
    loads,
    names,
    replace_at,
    stmt_exprs,
    walk,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction, positive
from loopxform.transforms.sites import is_outermost, one_loop, trusted


@record
class Index32(Step):
    """Numbers the elements of arrays in a mapped nest in 32 bits."""

    loop: str

    verb: ClassVar[str] = "index32"
    former: ClassVar[tuple[str, ...]] = ("narrow",)
    usage: ClassVar[str] = "index32 LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        where = site.loop.origin.loc
        found = _arrays(fn, site.path) if is_outermost(fn, site) else ()
        if not found:
            text = f"no array in the loop over '{site.loop.var}' has rows, and subscripts that are "
            remedy = "declare the array with its rows, A[M][N], and map the loops first"
            return (Obstacle("LX178", f"{text}proven to lie in it", where, remedy=remedy),)
        return tuple(
            Obstacle(
                "LX178",
                f"an int may not number the elements of an array: {expr_text(e)} is not known",
                where,
                remedy=f"assume {condition_text(e)}",
            )
            for e in _open(fn, site, found)
        )

    def open_questions(self, fn: Function) -> tuple[Expr, ...]:
        """What must be assumed for the step to be legal."""
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle) or not is_outermost(fn, site):
            return ()
        return tuple(_open(fn, site, _arrays(fn, site.path)))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        arrays = tuple(p.name for p in _arrays(fn, site.path))
        origin = site.loop.origin.then(str(self))
        return replace_at(fn, site.path, (replace(site.loop, narrow=arrays, origin=origin),))

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        text = ", ".join(p.name for p in _arrays(fn, site.path))
        return f"the same statements; an int numbers the elements of {text}"


def _open(fn: Function, site: LoopSite, arrays: tuple[Param, ...]) -> list[Expr]:
    """What the sizes of the arrays must be, and are not known to be."""
    copies = {s.name: s for s in _declared(fn)}
    stood_for = {s.like for s in copies.values() if s.at and any(s.name == p.name for p in arrays)}
    asked = [p for p in arrays if p.name not in copies]
    asked += [p for p in fn.objects if p.name in stood_for]
    every = dict.fromkeys(c for p in asked for c in _few(p))
    return [c for c in every if c not in fn.assumes and not always(fn, site.path, c)]


@remembered(16)
def _arrays(fn: Function, loop: Path) -> tuple[Param, ...]:
    """The arrays of at least two dimensions whose subscripts in the nest, in all its shapes, lie in
    them; pointers with as many rows as are touched."""
    known = host_scalars(fn)
    inside = [(p, s) for p, s in walk(fn.body) if p[: len(loop)] == loop]
    out = []
    for p in (*fn.objects, *_copies(fn)):
        if "." in p.name or len(p.shape) < 2:
            continue
        p = _with_rows(fn, p, [s for _, s in inside])
        sizes = {n for d in p.shape if d is not None for n in names(d)}
        if None in p.shape or not sizes <= known:
            continue
        used = [c for path, s in inside for c in _within(fn, path, s, p)]
        if used and all(used):
            out.append(p)
    return tuple(out)


def _copies(fn: Function) -> list[Param]:
    """The copies of arrays that steps made where an int can number their elements."""
    known = {p.name for p in fn.objects if None not in p.shape}
    found = (s for s in _declared(fn) if not s.at or s.like in known)
    return [Param(s.name, s.type, s.shape, array=True, origin=s.origin) for s in found]


def _declared(fn: Function) -> list[Decl]:
    return [s for _, s in walk(fn.body) if isinstance(s, Decl) and s.like]


def _with_rows(fn: Function, p: Param, inside: list[Stmt]) -> Param:
    """A pointer with the number of rows that tiles of it end at, or that the function touches."""
    if p.shape[0] is not None or None in p.shape[1:]:
        return p
    tiles = [s for s in inside if isinstance(s, Copy) and s.source == p.name]
    ends = {s.slices[0].limit for s in tiles} - {None}
    found = extent(fn, p.name) if not ends else None
    first = found.upper[0] if found else next(iter(ends)) if len(ends) == 1 else None
    return replace(p, shape=(first, *p.shape[1:]))


def _within(fn: Function, path: tuple[int, ...], s: Stmt, p: Param) -> Iterator[bool]:
    """Whether each access of `p` that a statement makes itself lies in it."""
    for e in stmt_exprs(s):
        for x in loads(e) if p.name in names(e) else ():
            if x.array == p.name:
                ends = tuple(Bin("+", i, Const(1)) for i in x.index)
                yield _inside(fn, path, x.index, ends, p)
    if isinstance(s, Copy) and s.source == p.name:
        limits = tuple(x.limit or Bin("+", x.lo, x.size or Const(1)) for x in s.slices)
        first = tuple(x.lo if x.floor is None else x.floor for x in s.slices)
        yield _inside(fn, path, first, limits, p)


def _inside(
    fn: Function, path: tuple[int, ...], first: tuple[Expr, ...], end: tuple[Expr, ...], p: Param
) -> bool:
    parts: list[Expr] = []
    for lo, hi, size in zip(first, end, p.shape):
        assert size is not None
        parts += [Bin(">=", lo, Const(0)), Bin("<=", hi, size)]
    return always(fn, path, conjunction(parts))


def few_elements(fn: Function, arrays: Collection[str]) -> list[Expr]:
    """That an int can number the elements of arrays of the caller's that have rows of a known
    length, and as many of them as the caller says."""
    known = [p for p in fn.objects if p.name in arrays and len(p.shape) > 1]
    fixed = host_scalars(fn)
    told = [p for p in known if None not in p.shape and _names(p) <= fixed and "." not in p.name]
    return [*dict.fromkeys(c for p in told for c in _few(p))]


def numbered(fn: Function, arrays: Collection[str]) -> tuple[tuple[str, ...], list[Expr]]:
    """Those of the caller's and of the function's own arrays that have rows and extents which the
    host knows; and that an int can number the elements of each."""
    own = [s for _, s in walk(fn.body) if isinstance(s, Decl) and s.shape and s.space is None]
    declared = [Param(s.name, s.type, s.shape, array=True, origin=s.origin) for s in own]
    fixed, known = host_scalars(fn), list[Param]()
    for p in (*fn.objects, *declared):
        has_rows = p.name in arrays and len(p.shape) > 1 and None not in p.shape
        if has_rows and _names(p) <= fixed and "." not in p.name:
            known.append(p)
    asked = dict.fromkeys(c for p in known for c in _few(p) if c not in fn.assumes)
    return tuple(p.name for p in known), [*asked]


def _names(p: Param) -> set[str]:
    return {n for d in p.shape if d is not None for n in names(d)}


def _few(p: Param) -> Iterator[Bin]:
    """That an int can number the elements, asked without computing how many there are."""
    first, *rest = [d for d in p.shape if d is not None]
    below: Expr = positive(rest[-1])
    for d in (*rest[-2::-1], first):
        yield Bin("<=", d, Bin("/", Const(INT_MAX), below))
        below = Bin("*", below, positive(d))
