"""What a group computes from its tiles: which statements become C functions of their own.

`restrict` says there that the tiles are different arrays. Compilers do not find that out where they
lie on one stack, and then write every result to memory before they read the next operand.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.codegen.c.pragmas import is_vector
from loopxform.codegen.c.scopes import Scopes
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Copy, Decl, For, Function, Opaque, Param, Return, Stmt, Tile
from loopxform.ir.visit import Path, names, reads, stmt_exprs, walk, walk_expr, writes
from loopxform.records import record


@record
class Phase:
    """A loop over the work-items of a group with the names that it takes from around it: scalars by
    value, arrays of the caller that it reads, arrays of the group; `sizes` are the tile sizes that
    it names."""

    scalars: tuple[str, ...]
    params: tuple[Param, ...]
    tiles: tuple[Decl, ...]
    sizes: tuple[tuple[str, int], ...]


def phases(fn: Function, scopes: Scopes) -> dict[Path, Phase]:
    """The outermost loops over work-items that hold lanes inside a sequential loop and change
    nothing but arrays of the group with fixed sizes."""
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
    return loop.parallel and loop.level is None and is_vector(loop)


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
    changed = writes((s,)) - inside
    touched = (reads((s,)) - inside - counters) | changed
    tiles = [declared[n] for n in sorted(touched) if n in declared and declared[n].shape]
    params = [p for p in fn.params if p.array and p.name in touched]
    sizes = {n for p in params for d in p.shape if d is not None for n in names(d)}
    apart = {t.name for t in tiles} | {p.name for p in fn.objects if p.array}
    scalars = sorted((touched | sizes) - apart)
    if any("." in n for n in touched | sizes) or not changed <= {d.name for d in tiles}:
        return None
    if any(value_of(d) is None for t in tiles for d in t.shape):
        return None
    if any(p[: len(path)] == path for p in scopes.outside):
        return None
    if any(isinstance(x, Copy | Return | Opaque) for _, x in walk(s.body)):
        return None
    used = {x.name for x in _tiles((s,))}
    return Phase(
        tuple(scalars), tuple(params), tuple(tiles), tuple(t for t in fn.tiles if t[0] in used)
    )


def _tiles(body: tuple[Stmt, ...]) -> Iterator[Tile]:
    for _, s in walk(body):
        for e in stmt_exprs(s):
            yield from (x for x in walk_expr(e) if isinstance(x, Tile))
