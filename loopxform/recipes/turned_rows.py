"""Rows that a work-item sums up together, read in vectors along them and turned in registers:

    for j: for i < R: s[i] += e(a[i0 + i, j])
 -> for j_b, whole tiles: { float t[R][R];
      for j < R: for i < R: t[j, i] = a[i0 + i, j_b + j]            turned
      for j < R: for i < R: s[i] += e(t[j, i]) }                    in a vector over i
    for the terms that are left: for i < R: s[i] += e(a[i0 + i, j])

Each sum stays in order: a vector holds a term of every row. Without tiles a core reads single
elements of as many rows in turn. (Eklundh, "A fast computer method for matrix transposing", 1972.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from loopxform.errors import TransformError
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Decl, For, If, Load, Stmt
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, Path, at, loads, names, resolve, stmt_exprs, walk
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.transforms import (
    CopyToPrivate,
    Distribute,
    Expand,
    NameCondition,
    Normalise,
    Rename,
    Simd,
    Split,
    Stripmine,
    TurnTile,
    Unroll,
)
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.latency.turn_tile import tile_sides
from loopxform.transforms.restructure.places import place_text


def rows_of_a_tile(nest: Nest, sums: Collection[str]) -> int:
    """Rows that are turned together: as many as elements that the loops `sums` read along them are
    a line of a cache, of the widest type."""
    types, row = symbols(nest.function), nest.parallel[-1]
    inside = [s for s in nest.innermost.body if isinstance(s, For) and s.var in sums]
    read = [e.array for s in inside for e in _along((s,), s.var, row)]
    return min((tile_sides(types[a].bytes)[0] for a in read if a in types), default=0)


def turn_rows(w: Work, row: str, sums: Collection[str], ahead: int) -> None:
    """Has the loops over `sums` around whole loops over `row` read tiles that are turned, where
    that is legal, and fetch rows so many bytes ahead."""
    for var in dict.fromkeys(sums):
        for site in reversed(resolve(w.fn, var)):
            before = w.derivation
            try:
                if _is_whole(site, row):
                    _turned(w, site.path, row, ahead)
            except TransformError:
                w.derivation = before


def _is_whole(site: LoopSite, row: str) -> bool:
    """Whether all that a loop holds is one over whole rows of which some are read."""
    only = site.loop.body[0] if len(site.loop.body) == 1 else None
    if not isinstance(only, For) or only.var != row or value_of(site.loop.step) != 1:
        return False
    fixed = fixed_trips(only)
    return fixed is not None and not fixed[1] and any(_along((only,), site.loop.var, row))


def _turned(w: Work, path: Path, row: str, ahead: int) -> None:
    """Whole tiles of the loop at `path`, and the terms that are left. Raises TransformError."""
    loop, rows = at(w.fn, path), at(w.fn, (*path, 0))
    assert isinstance(loop, For)
    assert isinstance(rows, For)
    read = dict.fromkeys(e.array for e in _along(rows.body, loop.var, row))
    fixed = fixed_trips(rows)
    assert fixed is not None
    tile, terms, lane = (fresh(w.fn, n) for n in (f"{loop.var}_b", f"{loop.var}_k", f"{row}_k"))
    side = str(fixed[0].value)
    w.attempt(Split(w.ref(path), f"lo+(hi-lo)/{side}*{side}"))
    w.do(Stripmine(w.ref(path), side, tile))
    w.do(Rename(w.ref((*path, 0)), terms), Rename(w.ref((*path, 0, 0)), lane), Normalise(lane))
    own = _without_guard(w, (*path, 0, 0))
    copies = list[str]()
    for array in read:
        copies.append(fresh(w.fn, f"{array}_k"))
        w.do(CopyToPrivate(array, lane, copies[-1]), Expand(copies[-1], (terms, lane)))
    w.do(*(Expand(name, (lane,)) for name in own), Distribute((lane,)))
    apart = [fresh(w.fn, f"{lane}{n}") for n, _ in enumerate(copies)]
    w.do(*(Rename(f"{lane}#1", name) for name in apart), Distribute((terms,), tuple(apart)))
    w.do(*(TurnTile(f"{terms}#{n}", str(ahead or "")) for n, _ in enumerate(copies, 1)))
    w.do(*(Simd(w.ref(s.path), side) for s in resolve(w.fn, lane)))
    w.do(Unroll(f"{terms}#{len(copies) + 1}"))


def _without_guard(w: Work, rows: Path) -> list[str]:
    """Names the condition around all that the loop at `rows` does, so that elements are read in
    front of it; the name."""
    loop = at(w.fn, rows)
    assert isinstance(loop, For)
    if len(loop.body) > 1 or not isinstance(loop.body[0], If) or loop.body[0].orelse:
        return []
    w.do(NameCondition(place_text((*rows, 0))))
    named = at(w.fn, (*rows, 0))
    return [named.name] if isinstance(named, Decl) else []


def _along(body: Iterable[Stmt], var: str, row: str) -> Iterator[Load]:
    """The elements that are read along rows, other ones for each row."""
    for _, s in walk(tuple(body)):
        for e in (x for y in stmt_exprs(s) for x in loads(y)):
            if {var, row} <= names(Load("", e.index)) and var in names(e.index[-1]):
                yield e
