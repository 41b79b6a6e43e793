"""Fusion with overlapped block tiles: forall i: forall j: b[i][j] = f(a[2*i][2*j], a[2*i+1][j]);
forall i: forall j: c[i][j] = g(b[i/2][j/2], b[(i+1)/2][(j+1)/2])
  -> forall tiles: { a box of b, in local memory;  a tile of c }

Nests that follow one another, each a stage that computes an array from others, become one kernel. A
group of work-items computes a box-shaped tile of the last array. For each array before, it first
computes the box of those elements that the tile needs, into local memory: also those that other
tiles compute too. Arrays of the function that nothing else reads are never written.

Legal where each nest is parallel and writes elements along its loops; where arrays are written
before they are read, their subscripts being numbers of one counter that never fall as it grows
(scaled, divided, clamped: c[i] = b[min(2*i + 1, n - 1)]), but for borders where they are mirrored
(c[i] = b[abs(i - 1)]), or anything along dimensions of a known number of elements, which a tile
then has as a whole; and where no element is read that the nests do not write. (Jangda and Guha,
section 2; Krishnamoorthy et al., "Effective automatic parallelization of stencil computations",
2007.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.memo import remembered
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Expr, For, Function, If, Stmt
from loopxform.ir.typing import symbols
from loopxform.ir.visit import Path
from loopxform.records import record
from loopxform.source import Origin
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.mapping.index32 import numbered
from loopxform.transforms.overlapped.block_conditions import conditions
from loopxform.transforms.overlapped.block_kernel import BlockKernel
from loopxform.transforms.overlapped.block_regions import Region, reference, regions, widths
from loopxform.transforms.overlapped.block_stages import pieces
from loopxform.transforms.overlapped.forwarded_copies import forwarded
from loopxform.transforms.overlapped.kernel_parts import Names
from loopxform.transforms.overlapped.neighbours import (
    not_neighbours,
    paths_of,
    seen_by_others,
    with_one_for_all,
)
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.sizes import sizes
from loopxform.transforms.overlapped.stages import Field
from loopxform.transforms.overlapped.templates import Nests, Template, coordinate, touched
from loopxform.transforms.overlapped.tile_sizes import not_sizes
from loopxform.transforms.sites import one_loop, trusted


@record
class TileStages(Step):
    """Computes the nests of `loops`, which follow one another, in one kernel: in tiles of `sizes`
    elements of the array that is written last, by groups of `items` work-items. Where there are
    fewer than so many tiles, `groups`, the nests run as they were."""

    loops: tuple[str, ...]
    sizes: tuple[str, ...]
    items: str
    groups: str = ""

    verb: ClassVar[str] = "tile-stages"
    usage: ClassVar[str] = "tile-stages LOOP[,LOOP...] SIZE[,SIZE...] ITEMS [GROUPS]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        if apart := not_neighbours(fn, self.loops):
            return apart
        loc = trusted(one_loop(fn, self.loops[0])).loop.origin.loc
        if odd := not_sizes(self, (*self.sizes, self.items, self.groups or "1"), loc):
            return odd
        try:
            group = self._group(fn)
            group.asked(fn)
            group.widths(self._numbers)
        except NotStages as e:
            return (e.obstacle,)
        return ()

    def rewrite(self, fn: Function) -> Function:
        group = self._group(fn)
        origin = group.nests[0].origin.then(str(self))
        tiled = group.statement(fn, self._numbers, int(self.items), int(self.groups or 1), origin)
        return with_one_for_all(fn, paths_of(fn, self.loops), tiled)

    def reason(self, fn: Function) -> str:
        arrays = ", ".join(dict.fromkeys(r.field.array for r in self._group(fn).every))
        return f"each tile computes the elements of {arrays} that it needs"

    @property
    def _numbers(self) -> tuple[int, ...]:
        return tuple(map(int, self.sizes))

    def _group(self, fn: Function) -> BlockGroup:
        """Raises NotStages."""
        return _group(fn, self.loops)


@remembered(16)
def _group(fn: Function, loops: tuple[str, ...]) -> BlockGroup:
    paths = paths_of(fn, loops)
    return BlockGroup.of(Nests.judged(fn, paths), paths)


@record
class BlockGroup:
    """Nests that become one kernel of `every` region; those that there `were` before copies were
    read where they are from."""

    nests: tuple[For, ...]
    templates: tuple[Template, ...]
    every: list[Region]
    were: list[Region]

    @classmethod
    def of(cls, known: Nests, paths: tuple[Path, ...]) -> BlockGroup:
        """Raises NotStages."""
        fn, nests = known.fn, known.loops(paths)
        found = known.templates(paths, unroll=False)
        if not found:
            raise NotStages("the nests write no elements of arrays", nests[0].origin.loc)
        written, seen = pieces(found, sizes(fn)), seen_by_others(fn, paths)
        stored = frozenset(p.field for p in written if p.field.array in seen)
        every = regions(fn, written, stored)
        rank = len(reference(every).field.dims)
        if all(len(t.loops) < rank for t in found):
            raise NotStages("the nests compute nothing but edges of arrays", nests[0].origin.loc)
        fewer = forwarded(written, stored, symbols(fn))
        now = regions(fn, fewer, stored) if len(fewer) < len(written) else every
        return cls(nests, found, now, every)

    def asked(self, fn: Function) -> list[Expr]:
        """What has to hold of the sizes. Raises NotStages where it cannot."""
        every = conditions(fn, self.were)
        if self.every is not self.were:
            every += [e for e in conditions(fn, self.every) if e not in every]
        return every

    @property
    def reference(self) -> Region:
        """That whose elements the tiles are of."""
        return reference(self.every)

    @property
    def _in_memory(self) -> frozenset[str]:
        """The arrays that the kernel reads or writes in memory."""
        every = {x.array for r in self.every for p in r.pieces for x in touched(p.template)}
        return frozenset(every.difference(r.field.array for r in self.every if r.in_tile_alone))

    def widths(self, tile: tuple[int, ...]) -> dict[Field, tuple[int, ...]]:
        """The extents of the boxes of tiles of some sizes. Raises NotStages."""
        return widths(self.every, tile)

    def statement(
        self, fn: Function, tile: tuple[int, ...], items: int, groups: int, origin: Origin
    ) -> Stmt:
        """The kernel, or the nests where it may not stand for them."""
        kernel = BlockKernel(
            self.every,
            self.widths(tile),
            tile,
            items,
            symbols(fn),
            Names(used_names(fn)),
            coordinate(self.templates),
            origin,
        )
        narrow, few = numbered(fn, self._in_memory)
        nest = replace(kernel.nest(), narrow=narrow)
        asked = [*self.asked(fn), *(kernel.filling(groups) if groups > 1 else []), *few]
        return If(conjunction(asked), (nest,), self.nests, origin=origin) if asked else nest
