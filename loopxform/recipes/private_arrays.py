"""Small arrays of a work-item in its registers:

    v[9];  for i < 9: for j < 8 - i: if (v[j] > v[j + 1]) swap
 -> v[9];  for j < 8, unrolled: if (v[j] > v[j + 1]) swap;  for j < 7, unrolled: ...

Once loops are unrolled whose variables say which element is meant, an array is so many scalars for
the compiler of the kernel: windows that are sorted, networks that are written as loops.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Assign, Decl, For, Function, Load, Stmt
from loopxform.ir.visit import Path, bodies, loads, loops, loops_around, names, stmt_exprs, walk
from loopxform.ir.whiles import is_while
from loopxform.recipes.deriving import Work
from loopxform.recipes.row_registers import REGISTER
from loopxform.targets.target import Limits
from loopxform.transforms import Unroll
from loopxform.transforms.edges.bounds import fixed_trips

SHARE = 4
"""Arrays of a work-item take at most one part of so many of its registers."""


def in_item_registers(w: Work, limits: Limits) -> None:
    """Unrolls the loops that walk along small arrays of work-items, where all of their subscripts
    are numbers afterwards."""
    if limits.vector:
        return
    for name in list(_small(w.fn, limits.registers // SHARE)):
        before = w.derivation
        while (loop := _walking(w.fn, name)) is not None:
            path, inner = loop
            step = Unroll(w.ref(path), "full" if inner else "")
            if not w.attempt(step) or _statements(w.fn) > limits.costs.unrolled:
                w.derivation = before
                break


def _small(fn: Function, words: int) -> Iterator[str]:
    """Arrays of so few words that a work-item keeps, and of which loops say which element it is."""
    for path, s in walk(fn.body):
        if not isinstance(s, Decl) or not s.shape or not _is_of_an_item(fn, path):
            continue
        total = max(REGISTER, s.type.bytes) // REGISTER
        for extent in s.shape:
            total *= value_of(extent) or words + 1
        if total <= words and _is_numbered(fn, s.name):
            yield s.name


def _is_of_an_item(fn: Function, path: Path) -> bool:
    """Whether a place is in a loop over work-items."""
    return any(x.level and x.level.kind == "group" for x in loops_around(fn, path))


def _is_numbered(fn: Function, array: str) -> bool:
    """Whether nothing but loops of known numbers of iterations says which elements are meant."""
    counted = {s.loop.var for s in loops(fn) if not is_while(s.loop)}
    used = (x for _, s in walk(fn.body) for e in stmt_exprs(s) for x in loads(e))
    return all(names(Load("", x.index)) <= {*counted, ""} for x in used if x.array == array)


def _walking(fn: Function, array: str) -> tuple[Path, bool] | None:
    """The outermost of the loops that are left whose variables subscripts of an array mention, or
    bounds of such loops, and whether there are such bounds; None where there is none."""
    for site in loops(fn):
        loop = site.loop
        known = loop.unroll or loop.simd or is_while(loop) or fixed_trips(loop) is None
        turned = any(x.turned for x in (loop, *loops_around(fn, site.path)))
        if loop.level is None and not (known or turned) and _is_of_an_item(fn, site.path):
            inner = [s for _, s in walk(loop.body) if isinstance(s, For)]
            bounds = any(loop.var in names(x.lo) | names(x.hi) for x in inner)
            if bounds and any(_mentions(x.body, array, x.var) for x in inner):
                return site.path, True
            if _mentions(loop.body, array, loop.var):
                return site.path, False
    return None


def _mentions(body: tuple[Stmt, ...], array: str, var: str) -> bool:
    used = (x for _, s in walk(body) for e in stmt_exprs(s) for x in loads(e))
    return any(x.array == array and var in names(Load("", x.index)) for x in used)


def _statements(fn: Function) -> int:
    """The assignments of a program, those in unrolled loops as often as they are copied."""
    return sum(_copies(s) for s in fn.body)


def _copies(s: Stmt) -> int:
    if isinstance(s, Assign):
        return 1
    inside = sum(_copies(x) for part in bodies(s) for x in part)
    fixed = fixed_trips(s) if isinstance(s, For) and s.unroll else None
    return inside * ((fixed[0].value or 1) if fixed else 1)
