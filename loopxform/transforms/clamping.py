"""Reading the last valid element instead of one past the edge: the value part of `unguard`."""

from __future__ import annotations

from dataclasses import dataclass

from loopxform.ir.affine import Poly, constant, poly, to_expr
from loopxform.ir.nodes import Assign, Bin, Const, Copy, Expr, Function, Load, Var
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    Path,
    children,
    declared,
    loads,
    map_expr,
    names,
    walk,
    walk_expr,
    writes,
)
from loopxform.transforms.bounds import conjuncts


@dataclass(frozen=True)
class Guard:
    """One condition `index < limit`."""

    index: Expr
    limit: Expr


def parse_guard(cond: Expr) -> tuple[Guard, ...] | None:
    """A conjunction of `<` comparisons, or None."""
    parts = conjuncts(cond)
    if not all(isinstance(c, Bin) and c.op == "<" for c in parts):
        return None
    return tuple(Guard(c.left, c.right) for c in parts if isinstance(c, Bin))


def clamped(fn: Function, path: Path, stmt: Assign, guard: tuple[Guard, ...]) -> Expr | str:
    """The value of `stmt` with every read moved inside the guard, or why that cannot be done.

    `path` is the place of the statement (kept for symmetry with other questions).
    """
    del path
    edge = {n for c in guard for n in names(c.index)}
    own = stmt.target
    problem = _unclampable(fn, stmt, edge)
    if problem:
        return problem
    exact = True
    changed: dict[Load, Load] = {}
    for x in loads(stmt.value):
        if x == own or not edge & names_of_index(x):
            continue
        staged = _staged(fn, x)
        if staged is not None:
            exact = exact and all(_consistent(i, lim, guard, edge) for i, lim in staged)
            continue
        moved = _moved(x, guard, edge)
        if isinstance(moved, str):
            return moved
        changed[x] = moved
    data = _data_names(stmt.value) & edge
    if (data or not exact) and _may_trap(fn, stmt):
        return "would divide by a value that no iteration computes"
    return map_expr(stmt.value, lambda e: changed.get(e, e) if isinstance(e, Load) else e)


def names_of_index(x: Load) -> frozenset[str]:
    """Scalars in the subscripts of an access."""
    return frozenset(n for i in x.index for n in names(i))


def _unclampable(fn: Function, stmt: Assign, edge: set[str]) -> str | None:
    """Direct reads of arrays that are written somewhere would race; indirect ones may stray."""
    storage, written = declared(fn.body), writes(fn.body)
    for x in loads(stmt.value):
        indirect = any(isinstance(y, Load) for i in x.index for y in walk_expr(i))
        if indirect and edge & names_of_index(x):
            return f"depends on an indirect read of '{x.array}'"
        if x.array not in storage and x.array in written and edge & names_of_index(x):
            return f"depends on '{x.array}', which is written too"
    return None


def _staged(fn: Function, x: Load) -> list[tuple[Poly, Expr | None]] | None:
    """Per dimension of the array that a staged element comes from: its index there and the limit
    it is clamped at. None where `x` is not an element of a copy."""
    copies = [s for _, s in walk(fn.body) if isinstance(s, Copy) and s.target == x.array]
    if not copies:
        return None
    copy = copies[0]
    index = iter(x.index)
    out: list[tuple[Poly, Expr | None]] = []
    for s in copy.slices:
        at = poly(s.lo) if s.size is None else poly(s.lo) + poly(next(index))
        out.append((at, s.limit if s.clamp else None))
    source = Load(copy.source, tuple(to_expr(p) for p, _ in out))
    deeper = _staged(fn, source)
    return out if deeper is None else deeper


def _consistent(index: Poly, limit: Expr | None, guard: tuple[Guard, ...], edge: set[str]) -> bool:
    """The copy clamps this dimension exactly where the guard ends."""
    if not any(index.mentions(n) for n in edge):
        return True
    for c in guard:
        gap = (index - poly(c.index)).constant
        if gap is not None and limit is not None:
            return poly(limit) == poly(c.limit) + constant(gap)
    return False


def _moved(x: Load, guard: tuple[Guard, ...], edge: set[str]) -> Load | str:
    """A direct read with `e` replaced by `min(e, limit - 1)` in its subscripts."""
    out = []
    for i in x.index:
        if not names(i) & edge:
            out.append(i)
            continue
        match = next((c for c in guard if (poly(i) - poly(c.index)).constant is not None), None)
        if match is None:
            return f"depends on '{x.array}' at a subscript that the bounds check does not cover"
        gap = poly(i) - poly(match.index)
        last = to_expr(poly(match.limit) - constant(1))
        out.append(to_expr(poly(Bin("min", match.index, last)) + gap))
    return Load(x.array, tuple(out), origin=x.origin)


def _data_names(e: Expr) -> set[str]:
    """Scalars used as values, not inside subscripts."""
    if isinstance(e, Load):
        return set()
    if isinstance(e, Var):
        return {e.name}
    return {n for c in children(e) for n in _data_names(c)}


def _may_trap(fn: Function, stmt: Assign) -> bool:
    """Integer division by anything but a non-zero literal."""
    types = symbols(fn)

    def integer(e: Expr) -> bool:
        return type_of(e, types).is_integer

    divisions = [e for e in walk_expr(stmt.value) if isinstance(e, Bin) and e.op in ("/", "%")]
    bad = [
        e
        for e in divisions
        if integer(e) and not (isinstance(e.right, Const) and e.right.value != 0)
    ]
    return bool(bad) or (stmt.op in ("/", "%") and integer(stmt.value))
