"""Arrays that a nest reads copies of: those of its operands that lie as its tiles do."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.analysis.extent import Extent, NoExtent, existing_box, explain
from loopxform.analysis.host_scalars import host_scalars
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Copy, Expr, For, Function, Opaque, Param
from loopxform.ir.visit import (
    LoopSite,
    loads,
    loops_around,
    names,
    perfect_nest,
    reads,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.edges.bounds import trip_count
from loopxform.transforms.sites import ascending, fixed_header
from loopxform.transforms.storage.copied import COUNTERS, touched

TURNED = ":T"
"""Behind the name of an array whose last two dimensions change places."""


@record
class Operand:
    """An array to be copied: what is touched of it, how often loops run whose
    iterations read the same of it, and whether the copy is turned."""

    param: Param
    box: Extent
    again: tuple[Expr, ...]
    turned: bool

    @property
    def shape(self) -> tuple[Expr, ...]:
        """The copy's, its rows not rounded yet."""
        *_, row = self.param.shape
        assert row is not None
        *outer, last = (*self.box.upper[:-1], self.box.upper[-1] if self.turned else row)
        return self.turn((*outer, last))

    def turn(self, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Subscripts of the array as those of the copy."""
        return (*index[:-2], index[-1], index[-2]) if self.turned else index


def operand(fn: Function, site: LoopSite, text: str) -> Operand | Obstacle:
    """An array that is named `A` or `A:T`, or why the nest cannot read a copy of it."""
    name, turned = split_name(text)
    param = next((p for p in fn.objects if p.name == name and p.array), None)
    nest = (site.loop,)
    if param is None or name not in reads(nest):
        text = f"the loop over '{site.loop.var}' reads no array '{name}' of the caller's"
        return no(site, text, "name an array parameter that it reads")
    if name in writes(nest):
        text = f"'{name}' is written in the loop over '{site.loop.var}': a copy would go stale"
        return no(site, text, "pack arrays that are only read")
    rows = [d for d in param.shape[1:] if d is not None]
    if not rows or len(rows) + 1 < len(param.shape) or len(param.shape) > len(COUNTERS):
        text = f"'{name}' has no rows"
        return no(site, text, f"declare it with its rows: {param.type} {name}[M][N]")
    told, box = explain(fn, name), existing_box(fn, name)
    if isinstance(told, NoExtent):
        return told.obstacle
    if box is None or (param.flat and not (box.corner and box.upper[-1] == rows[-1])):
        text = f"where the part of '{name}' that is touched ends is not known"
        return no(site, text, f"declare it with its shape: {param.type} {name}[M][N]")
    again = tuple(dict.fromkeys(_again(site.loop, name)))
    used = {n for e in (*box.upper, *rows, *touched(box), *again) for n in names(e)}
    if not again or not used <= host_scalars(fn):
        text = f"how often each element of '{name}' is used is not known before the nest"
        return no(site, text, "leave it out")
    return Operand(param, box, again, turned)


def split_name(text: str) -> tuple[str, bool]:
    """`A:T` is A, turned."""
    return text.removesuffix(TURNED), text.endswith(TURNED)


def misplaced(fn: Function, site: LoopSite, arrays: tuple[str, ...]) -> tuple[Obstacle, ...]:
    """What keeps a nest from reading copies of arrays, whichever these are."""
    if loops_around(fn, site.path):
        text = f"the loop over '{site.loop.var}' is inside another one"
        return (no(site, text, "name the outermost loop"),)
    if len({split_name(x)[0] for x in arrays}) < len(arrays):
        text = f"an array is there twice in '{','.join(arrays)}'"
        return (no(site, text, "name each array once"),)
    return _unmapped(site)


def _unmapped(site: LoopSite) -> tuple[Obstacle, ...]:
    """What keeps the iterations of a nest from being counted."""
    for n, loop in enumerate(perfect_nest(site.loop)):
        inner = LoopSite((*site.path, *[0] * n), loop)
        if problems := (*ascending(inner), *fixed_header(inner)):
            return problems
    inside = [s for _, s in walk((site.loop,))]
    if any(isinstance(s, Opaque | Copy) or (isinstance(s, For) and s.level) for s in inside):
        text = f"the loop over '{site.loop.var}' is mapped, or holds what is not modelled"
        return (no(site, text, "pack arrays before loops are mapped"),)
    left = [s for s in inside if isinstance(s, For) and s.live_out]
    if left:
        text = f"the last value of '{left[0].var}' is used behind the loop over it"
        return (no(site, text, f"give it a variable of its own: final-value {left[0].var}"),)
    return ()


def _again(nest: For, array: str) -> Iterator[Expr]:
    """How often loops run whose variables say nothing about what is read of an array."""
    found = perfect_nest(nest)
    read = (x for _, s in walk((nest,)) for e in stmt_exprs(s) for x in loads(e))
    used = {n for x in read if x.array == array for i in x.index for n in names(i)}
    yield from (trip_count(x) for x in found if x.var not in used)


def no(site: LoopSite, text: str, remedy: str) -> Obstacle:
    """That a nest cannot read copies."""
    return Obstacle("LX158", text, site.loop.origin.loc, remedy=remedy)
