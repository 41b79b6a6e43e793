"""Small arrays of a work-item that data index, in local memory, a column for each work-item:

    forall i (an item): { h[16];  for j < m: h[a[i, j]] += 1;  ... }
 -> h[16, T] in local memory;  forall i (an item): { for j < m: h[a[i, j], i] += 1;  ... }

Registers have no subscripts: such an array lies in global memory, where neighbours touch other
lines. In columns, work-items read different banks whatever their subscripts are.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from loopxform.errors import MalformedIR
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Decl, Function, Load
from loopxform.ir.types import Space
from loopxform.ir.visit import Path, declared, loads, loops, loops_around, names, stmt_exprs, walk
from loopxform.ir.whiles import is_while
from loopxform.recipes.array_sizes import fixed_bytes
from loopxform.recipes.deriving import Work
from loopxform.targets.target import Limits
from loopxform.transforms import Expand, Permute, PromoteToLocal


def in_local_columns(w: Work, limits: Limits) -> None:
    """Moves such arrays to local memory, the smallest first, as far as there is room: on devices
    that run work-items in lockstep, from which compilers can hide no subscript."""
    if limits.vector or limits.warp == 1:
        return
    for name in sorted(_indexed(w.fn), key=lambda n: fixed_bytes(declared(w.fn.body)[n]) or 0):
        before = w.derivation
        items = _items(w.fn, name)
        rank = len(declared(w.fn.body)[name].shape)
        order = (*range(len(items), len(items) + rank), *range(len(items)))
        steps = Expand(name, items), Permute(name, tuple(map(str, order))), PromoteToLocal(name)
        if not w.attempt(*steps) or _local_bytes(w, name) > limits.local_bytes:
            w.derivation = before


def _indexed(fn: Function) -> Iterator[str]:
    """Arrays of fixed size of a work-item, with subscripts that are known when the kernel runs."""
    small = [
        s
        for path, s in walk(fn.body)
        if isinstance(s, Decl)
        and s.shape
        and s.space is None
        and fixed_bytes(s) is not None
        and any(x.level for x in loops_around(fn, path))
    ]
    if not small:
        return
    counted = {s.loop.var for s in loops(fn) if not is_while(s.loop)}
    used = [x for _, s in walk(fn.body) for e in stmt_exprs(s) for x in loads(e)]
    for s in small:
        own = (names(Load("", x.index)) for x in used if x.array == s.name)
        if _items(fn, s.name) and any(n - {*counted, ""} for n in own):
            yield s.name


def _items(fn: Function, name: str) -> tuple[str, ...]:
    """The loops over work-items around the declaration of an array."""
    around = loops_around(fn, _place(fn, name))
    return tuple(x.var for x in around if x.level is not None and x.level.kind == "group")


def _place(fn: Function, name: str) -> Path:
    return next(p for p, s in walk(fn.body) if isinstance(s, Decl) and s.name == name)


def _local_bytes(w: Work, name: str) -> int:
    """Of the kernel that has an array in local memory."""
    whole = [x.path for x in loops(w.fn) if x.loop.level is not None]
    place = _place(w.fn, name)
    kernel = next(p for p in whole if place[: len(p)] == p)
    inside = (s for p, s in walk(w.fn.body) if p[: len(kernel)] == kernel)
    return sum(_bytes(w, s) for s in inside if isinstance(s, Decl) and s.space == Space.LOCAL)


def _bytes(w: Work, decl: Decl) -> int:
    """What an array takes with these sizes of tiles; more than there is where nobody can tell."""
    try:
        return decl.type.bytes * prod(evaluate(e, dict(w.sizes)) for e in decl.shape)
    except MalformedIR:
        return 1 << 62
