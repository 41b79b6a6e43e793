"""The copies that `relayout` and `pack` make, as kernels: where another dimension becomes the
fastest, tiles of 32 x 32 turn in local memory.

    forall p: forall q: T[q, p] = A[p, q]

A group reads a tile of A along its rows and writes it along the rows of T: both are coalesced.
Where the fastest dimension stays the fastest, nothing needs to turn. (Henriksen, "Transposing for
Coalesced Memory Access".)
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Expr, For, Function, Load, Var
from loopxform.ir.visit import loads, loops_around, names, perfect_nest, resolve, stmt_exprs, walk
from loopxform.prepare.parallel_band import Nest
from loopxform.records import record
from loopxform.transforms import (
    Coalesce,
    CopyToLocal,
    Derivation,
    Interchange,
    MapTo,
    Relayout,
    Sequentialise,
    Stripmine,
)

TILE = 32
ROWS = 4
"""Elements of a column that a work-item moves."""


def mapped_copy(derivation: Derivation, target: str, tile: int = TILE) -> Derivation:
    """Maps the nest that sets `target`, an array that `relayout` or `pack` made, to groups of
    `tile` times `tile / ROWS` work-items. Raises TransformError where a step is refused."""
    copy = _copy_nest(derivation.function, target)
    derivation = derivation.titled(f"{copy.array} in another layout")
    near = copy.written if copy.read != copy.written else copy.others(copy.read)[-1]
    derivation, copy = _with_one_outer_loop(derivation, copy, near)
    if copy.read == copy.written:
        return _straight(derivation, copy, tile)
    return _turned(derivation, copy, tile)


def in_layouts(
    nest: Nest, layouts: tuple[tuple[str, str], ...]
) -> tuple[Nest, tuple[tuple[str, str], ...]]:
    """The nest with arrays read from copies in another layout, and these arrays with the names of
    their copies, whose nests are still to be mapped. Raises TransformError."""
    copied = []
    for array, order in layouts:
        name = fresh(nest.function, f"{array}_t")
        step = Relayout(array, tuple(order.split(",")), name)
        derivation = nest.derivation.titled("Listing 2: Arrays in another layout").then(step)
        last = max(n for n, s in enumerate(derivation.function.body) if isinstance(s, For))
        nest = replace(nest, derivation=derivation, path=(last,))
        copied.append((array, name))
    return nest, tuple(copied)


@record
class _Copy:
    """The loops of a copy, outermost first: `read` runs along the rows of the array, `written`
    along those of the target."""

    array: str
    loops: tuple[str, ...]
    read: str
    written: str

    def others(self, *named: str) -> list[str]:
        return [v for v in self.loops if v not in named]


def _copy_nest(fn: Function, target: str) -> _Copy:
    for path, s in walk(fn.body):
        if isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array == target:
            around = loops_around(fn, path)
            (read, *_) = (
                x
                for _, s in walk(around[-1].body)
                for e in stmt_exprs(s)
                for x in loads(e)
                if x.array != target
            )
            used = {n for e in s.target.index for n in names(e)}
            counters = tuple(x.var for x in around if x.var in used)
            return _Copy(
                read.array, counters, _counter(read.index[-1]), _counter(s.target.index[-1])
            )
    raise ValueError(f"no nest copies into {target}")


def _counter(e: Expr) -> str:
    """That of a subscript, the last one of `p*n + q`."""
    while isinstance(e, Bin):
        e = e.right
    assert isinstance(e, Var)
    return e.name


def _with_one_outer_loop(w: Derivation, copy: _Copy, near: str) -> tuple[Derivation, _Copy]:
    """The loops that no tile runs along as one, which is a dimension of the grid, where that is
    legal."""
    outer = copy.others(copy.read, near)
    if len(outer) < 2:
        return w, copy
    inside = tuple(v for v in copy.loops if v not in outer)
    after = _arranged(w, [*outer, *inside])
    whole = outer[0]
    for v in outer[1:]:
        step = Coalesce(whole, v, fresh(after.function, whole + v))
        if step.check(after.function):
            return w, copy
        after, whole = after.then(step), step.name
    return after, replace(copy, loops=(whole, *inside))


def _turned(w: Derivation, copy: _Copy, tile: int) -> Derivation:
    """Neighbours read along `read`, collectively, and write along `written`."""
    fn, rest = w.function, copy.others(copy.read, copy.written)
    across, down = fresh(fn, f"{copy.written}_g"), fresh(fn, f"{copy.read}_g")
    items = fresh(fn, f"{copy.read}_t")
    w = w.run(
        (
            Stripmine(copy.written, str(tile), across),
            Stripmine(copy.read, str(tile), down),
            Stripmine(copy.read, str(ROWS), items),
        )
    )
    together = [*rest[:1], down, across, *rest[1:]]
    w = _arranged(w, [*together, items, copy.written, copy.read])
    w = w.run((*map(Sequentialise, rest[1:]), Sequentialise(copy.read)))
    w = _on_grid(w, [*rest[:1], down, across])
    w = w.run((MapTo(items, "thread.y"), MapTo(copy.written, "thread.x")))
    stage = CopyToLocal(copy.array, together[-1])
    return w if stage.check(w.function) else w.then(stage)


def _straight(w: Derivation, copy: _Copy, tile: int) -> Derivation:
    """The fastest dimension stays the fastest: neighbours read and write neighbours, each work-item
    `ROWS` of them, one below the other."""
    fn = w.function
    *rest, near = copy.others(copy.read)
    across, down = fresh(fn, f"{copy.read}_g"), fresh(fn, f"{near}_g")
    items = fresh(fn, f"{near}_t")
    w = w.run(
        (
            Stripmine(copy.read, str(tile), across),
            Stripmine(near, str(tile), down),
            Stripmine(near, str(ROWS), items),
        )
    )
    w = _arranged(w, [*rest[:1], down, across, *rest[1:], items, copy.read, near])
    w = w.run((*map(Sequentialise, rest[1:]), Sequentialise(near)))
    w = _on_grid(w, [*rest[:1], down, across])
    return w.run((MapTo(items, "thread.y"), MapTo(copy.read, "thread.x")))


def _on_grid(w: Derivation, groups: list[str]) -> Derivation:
    levels = ("group.z", "group.y", "group.x")[-len(groups) :]
    return w.run(tuple(MapTo(v, level) for v, level in zip(groups, levels)))


def _arranged(w: Derivation, wanted: list[str]) -> Derivation:
    """The loops of a perfect nest in the order `wanted`, by swaps of neighbours."""
    (outermost,) = (s for v in wanted for s in resolve(w.function, v) if _holds(s.loop, wanted))
    order = [loop.var for loop in perfect_nest(outermost.loop)]
    for n, var in enumerate(wanted):
        for at in range(order.index(var), n, -1):
            w = w.then(Interchange(order[at - 1], var))
            order[at - 1], order[at] = var, order[at - 1]
    return w


def _holds(loop: For, wanted: list[str]) -> bool:
    return {x.var for x in perfect_nest(loop)} == set(wanted)
