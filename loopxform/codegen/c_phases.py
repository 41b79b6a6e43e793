"""What a group computes from its tiles: which statements become C functions of their own.

`restrict` says there that the tiles are different arrays. Compilers do not find that out where they
lie on one stack, and then write every result to memory before they read the next operand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopxform.codegen.c_pragmas import is_innermost
from loopxform.codegen.c_scopes import Scopes
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Copy, Decl, For, Function, Opaque, Return, Stmt, Tile
from loopxform.ir.visit import Path, reads, stmt_exprs, walk, walk_expr, writes


@dataclass(frozen=True)
class Phase:
    """A loop over the work-items of a group with the names that it takes from around it: scalars by
    value, arrays by their declaration; `tiles` are the sizes that it names."""

    scalars: tuple[str, ...]
    arrays: tuple[Decl, ...]
    tiles: tuple[tuple[str, int], ...]


def phases(fn: Function, scopes: Scopes) -> dict[Path, Phase]:
    """The outermost loops over work-items that hold lanes inside a sequential loop and touch
    nothing but scalars and arrays of the function with fixed sizes."""
    found: dict[Path, Phase] = {}
    declared: dict[str, Decl] = {}
    for path, s in walk(fn.body):
        if isinstance(s, Decl):
            declared[s.name] = s
        if not isinstance(s, For) or any(path[: len(p)] == p for p in found):
            continue
        if s.level is not None and s.level.kind == "group" and _repeats(s):
            made = _phase(fn, scopes, declared, path, s)
            if made is not None:
                found[path] = made
    return found


def is_lanes(loop: For) -> bool:
    """Whether a loop inside a work-item is one for a vector: parallel, and innermost."""
    return loop.parallel and loop.level is None and is_innermost(loop)


def _repeats(s: For) -> bool:
    """Whether a sequential loop inside holds lanes."""
    inner = [x for _, x in walk(s.body) if isinstance(x, For)]
    return any(
        any(isinstance(y, For) and is_lanes(y) for _, y in walk(x.body))
        for x in inner
        if not x.parallel
    )


def _phase(
    fn: Function, scopes: Scopes, declared: dict[str, Decl], path: Path, s: For
) -> Phase | None:
    inside = {x.name for _, x in walk(s.body) if isinstance(x, Decl)}
    counters = {x.var for _, x in walk((s,)) if isinstance(x, For)}
    touched = (reads((s,)) | writes((s,))) - inside - counters
    arrays = [declared[n] for n in sorted(touched) if n in declared and declared[n].shape]
    scalars = sorted(touched - {d.name for d in arrays})
    foreign = {p.name for p in fn.objects if p.shape} | {p.name for p in fn.structs}
    fixed = all(value_of(d) is not None for a in arrays for d in a.shape)
    if not fixed or foreign & touched or any("." in n for n in scalars):
        return None
    if writes((s,)) & set(scalars) or any(p[: len(path)] == path for p in scopes.outside):
        return None
    if any(isinstance(x, Copy | Return | Opaque) for _, x in walk(s.body)):
        return None
    used = {x.name for x in _tiles((s,))}
    return Phase(tuple(scalars), tuple(arrays), tuple(t for t in fn.tiles if t[0] in used))


def _tiles(body: tuple[Stmt, ...]) -> Iterator[Tile]:
    for _, s in walk(body):
        for e in stmt_exprs(s):
            yield from (x for x in walk_expr(e) if isinstance(x, Tile))
