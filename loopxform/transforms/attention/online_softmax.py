"""Online softmax: products, a softmax of each row, and products of the weights, in one kernel.

    forall i, j: w[i][j] = dot(q[i], k[j])
    forall i: { top = max(w[i]);  w[i][j] = exp(w[i][j] - top);  z[i] = sum(w[i]) }
    forall i, c: out[i][c] = dot(w[i], v[.][c]) / z[i]
 -> forall tiles of rows: for tiles of keys:
      { scores of the tile;  new = max(top, scores);  result *= exp(top - new), z *= ...;
        result += exp(scores - new) * v }  out = result / z

The largest score of a row is found while sums that are in proportion to it are under way: these are
scaled again where it grows, as exp(a - b) is exp(a - c) * exp(c - b). So no array of all scores is
needed. That rounds differently, and needs `reassociate`. Legal where nothing else sees the scores
and weights, and where each sum begins with 0. Where values have more components than a tile has
room for (WIDTH), or there are fewer than so many tiles (GROUPS), the nests run as they were: the
host asks. Rows without keys, rows with no score but minus infinity, and NaNs give what the loops
give. (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Rabe and Staats,
"Self-attention does not need O(n^2) memory", 2021; Dao et al., "FlashAttention", 2022.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Bin, Const, Expr, Function, If, Stmt
from loopxform.ir.typing import symbols
from loopxform.records import record
from loopxform.transforms.attention.kernel import AttentionKernel
from loopxform.transforms.attention.nests import attention
from loopxform.transforms.attention.products import NotAttention
from loopxform.transforms.attention.text import Tile
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.mapping.index32 import few_elements
from loopxform.transforms.overlapped.kernel_parts import Names
from loopxform.transforms.overlapped.neighbours import not_neighbours, paths_of, with_one_for_all
from loopxform.transforms.overlapped.tile_sizes import not_an_order, not_sizes
from loopxform.transforms.sites import one_loop, trusted
from loopxform.written import LARGEST_SIZE


@record
class OnlineSoftmax(Step):
    """Makes one kernel of the nests of `loops`. A group has ROWS x KEYS `items` (a pair), each of
    which has so many rows and keys of a tile, `elements` (a pair), and values of at most `width`
    components; `depth` terms of sums are in local memory at a time. Where values have more, or
    there are fewer than so many tiles, `groups`, or no more than so many `scores`, the nests run as
    they were. `reassociate` (the word) allows sums to round differently."""

    loops: tuple[str, ...]
    items: tuple[str, ...]
    elements: tuple[str, ...]
    width: str
    depth: str
    groups: str = ""
    scores: str = ""
    reassociate: str = ""

    verb: ClassVar[str] = "online-softmax"
    usage: ClassVar[str] = (
        "online-softmax LOOP,LOOP,LOOP ITEMS,ITEMS ELEMENTS,ELEMENTS WIDTH DEPTH [GROUPS [SCORES]] "
        "[reassociate]"
    )
    flags: ClassVar[Mapping[str, str]] = {"reassociate": "reassociate"}

    def is_in_order(self) -> bool:
        return False

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        if apart := not_neighbours(fn, self.loops):
            return apart
        loc = trusted(one_loop(fn, self.loops[0])).loop.origin.loc
        words = (*self.items, *self.elements, self.width, self.depth, self.groups or "1")
        if odd := not_sizes(self, words, loc) or not_an_order(self, self.reassociate, loc):
            return odd
        if self.scores and not (self.scores.isdecimal() and int(self.scores) <= LARGEST_SIZE):
            return (Obstacle("LX021", "scores are no number", loc, remedy=self.usage),)
        if len(self.items) != 2 or len(self.elements) != 2:
            return (Obstacle("LX021", "there are two sizes of each", loc, remedy=self.usage),)
        if problem := self._tile.problem():
            return (Obstacle("LX220", problem, loc, remedy="choose other sizes"),)
        try:
            attention(fn, paths_of(fn, self.loops))
        except NotAttention as e:
            return (e.obstacle,)
        if self.reassociate:
            return ()
        text = "weights in proportion to another score are rounded differently"
        return (Obstacle("LX191", text, loc, remedy="allow it: --fp reassociate"),)

    def asked(self, fn: Function) -> tuple[Expr, ...]:
        """What the host asks where it is not known: in its place the nests run as they were."""
        return self._asked(fn, self._kernel(fn))

    def rewrite(self, fn: Function) -> Function:
        paths, kernel = paths_of(fn, self.loops), self._kernel(fn)
        asked, nests = self._asked(fn, kernel), kernel.found.nests
        tiled: Stmt = kernel.nest()
        if asked:
            tiled = If(conjunction(list(asked)), (tiled,), nests, origin=kernel.origin)
        return with_one_for_all(fn, paths, tiled)

    def reason(self, fn: Function) -> str:
        found = attention(fn, paths_of(fn, self.loops))
        return f"{found.weights} is needed nowhere else, and sums scale with its largest element"

    def _kernel(self, fn: Function) -> AttentionKernel:
        found = attention(fn, paths_of(fn, self.loops))
        origin = found.nests[0].origin.then(str(self))
        return AttentionKernel(found, self._tile, symbols(fn), Names(used_names(fn)), origin)

    def _asked(self, fn: Function, kernel: AttentionKernel) -> tuple[Expr, ...]:
        path = paths_of(fn, self.loops)[0]
        wanted: list[Expr] = [Bin("<=", kernel.found.width, Const(int(self.width)))]
        wanted += kernel.filling(int(self.groups)) if self.groups else []
        wanted += kernel.many(int(self.scores)) if self.scores else []
        wanted += kernel.countable()
        wanted += few_elements(fn, kernel.found.arrays)
        return tuple(e for e in wanted if e not in fn.assumes and not always(fn, path, e))

    @property
    def _tile(self) -> Tile:
        y, x = map(int, self.items)
        rows, keys = map(int, self.elements)
        return Tile(y, x, rows, keys, int(self.width), int(self.depth))
