"""What a mapped program says about the launch: groups, threads, and where each array lives.

A group executes the body of its grid loops; loops mapped to threads run once per work-item. Storage
declared between the two is distributed over the work-items where its subscripts are the numbers of
thread loops (`acc[(ii-iii)/Ry, (jj-jjj)/Rx, i, j]`): those dimensions disappear.
"""

from __future__ import annotations

from loopxform.codegen.opencl.local_tile import Blocks, LocalTile
from loopxform.codegen.opencl.operand_tile import operand_tile
from loopxform.errors import EmitError
from loopxform.ir.affine import Poly, poly, to_expr, value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    Stmt,
    Tile,
    Var,
)
from loopxform.ir.types import Space
from loopxform.ir.visit import (
    LoopSite,
    counters,
    declared,
    loads,
    loops,
    map_expr,
    names,
    stmt_exprs,
    substitute,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.edges.bounds import fixed_trips, iteration_number
from loopxform.transforms.latency.register_pipeline import parts, sets
from loopxform.transforms.storage.staging import padding


@record
class ThreadLoop:
    """A loop over the work-items of a group: its value is `lo + local_id * step`, it has `count`
    iterations, and the bounds in `cuts` may end it earlier."""

    loop: For
    dimension: int
    count: Expr
    cuts: tuple[Expr, ...]

    def value(self, local_id: str) -> Expr:
        """The first of its elements."""
        apart = poly(Const(self.cyclic)) if self.cyclic else poly(self.loop.step)
        return to_expr(poly(self.loop.lo) + poly(Var(local_id)) * apart)

    @property
    def cyclic(self) -> int:
        """How many neighbours a work-item gets at a time; 0: all of its elements."""
        return self.loop.level.cyclic if self.loop.level else 0

    def element(self, number: Expr) -> Expr:
        """How far an element of a work-item is from the first one."""
        if not self.cyclic:
            return number
        if self.cyclic == 1:
            return Bin("*", number, self.count)
        width = Const(self.cyclic)
        turn = Bin("*", Bin("/", number, width), Bin("*", self.count, width))
        return Bin("+", turn, Bin("%", number, width))


@record
class Mapping:
    """The launch of one kernel. Of arrays that are `read_ahead` there are so many."""

    grid: tuple[For, ...]
    threads: tuple[ThreadLoop, ...]
    tiles: tuple[LocalTile, ...]
    kept: dict[str, tuple[int, ...]]
    read_ahead: dict[str, int]

    @property
    def lanes(self) -> tuple[int, int] | None:
        """The rectangle of work-items (x, y) that are neighbours, where it divides the group."""
        wanted = {t.dimension: t.loop.level.lanes for t in self.threads if t.loop.level}
        x, y = wanted.get(0, 0), wanted.get(1, 0)
        width, height = (value_of(e) or 1 for e in self.group_shape[:2])
        return (x, y) if x and y and width % x == 0 == height % y else None

    @property
    def paired(self) -> bool:
        """Whether neighbours stand in two rows of it by turns."""
        return any(t.loop.level.paired for t in self.threads if t.loop.level)

    def dealt(self, e: Expr) -> ThreadLoop | None:
        """The loop over work-items that a slice begins at, where its elements are dealt out."""
        found = (t for t in self.threads if t.cyclic and t.loop.var in names(e))
        return next(found, None)

    @property
    def bands(self) -> int:
        """Of how many rows the bands are in which groups are walked; 0: row by row."""
        return max(x.level.bands for x in self.grid if x.level)

    @property
    def group_shape(self) -> tuple[Expr, Expr, Expr]:
        """Work-items per group in x, y, z: the most iterations of a thread loop."""
        out: list[Expr] = []
        for d in range(3):
            counts = [t.count for t in self.threads if t.dimension == d]
            out.append(max(counts, key=lambda e: value_of(e) or 1, default=Const(1)))
        return out[0], out[1], out[2]

    @property
    def group_size(self) -> int:
        x, y, z = (value_of(e) or 1 for e in self.group_shape)
        return x * y * z


def mapping_of(fn: Function) -> Mapping:
    """Reads the mapping off a program. Raises EmitError where it is not mapped, or where storage
    would be shared between work-items."""
    sites = loops(fn)
    grid = tuple(s.loop for s in sites if s.loop.level and s.loop.level.kind == "grid")
    if not grid:
        raise EmitError(
            f"no loop of '{fn.name}' is mapped to groups",
            loc=fn.origin.loc,
            help="map the parallel loops: map i group.x",
        )
    threads = tuple(
        _thread(s) for s in sites if s.loop.level is not None and s.loop.level.kind == "group"
    )
    _require_own(fn, sites)
    _require_alike(fn)
    decls = [s for _, s in walk(fn.body) if isinstance(s, Decl) and s.shape]
    tiles = {s.name: s for s in decls if s.space is Space.LOCAL}
    kept = {s.name: _kept(fn, s, threads) for s in decls if s.space is not Space.LOCAL}
    ordered = tuple(_tile(fn, s, threads) for s in tiles.values())
    read = (s for _, s in walk(fn.body) if isinstance(s, For) and s.preloaded)
    ahead = {c.target: sets(s.preloaded) for s in read for c in parts(s)[1]}
    return Mapping(grid, threads, ordered, kept, ahead)


def _require_own(fn: Function, sites: tuple[LoopSite, ...]) -> None:
    """Raises EmitError for a scalar that a loop of one work-item sets and others read behind it:
    each has its own."""
    single = [s.path for s in sites if _is_single(s.loop)]
    scalars = {n for n, d in declared(fn.body).items() if not d.shape} - counters(fn)
    for site in sites:
        lost = scalars & writes(site.loop.body) - declared(site.loop.body).keys()
        if site.path not in single or not lost:
            continue
        for path, s in walk(fn.body):
            alone = any(path[: len(p)] == p for p in single)
            read = {n for e in stmt_exprs(s) for n in names(e)} - _set_by(s)
            if path > site.path and not alone and read & lost:
                raise EmitError(
                    f"'{min(read & lost)}' is set by the one work-item of the loop over "
                    f"'{site.loop.var}', and read by all",
                    loc=site.loop.origin.loc,
                    help=f"keep it in memory: scalar-to-memory {min(read & lost)}",
                )


def _require_alike(fn: Function) -> None:
    """Raises EmitError for what is declared in several places of which only some were expanded."""
    found = dict[str, Decl]()
    for s in (s for _, s in walk(fn.body) if isinstance(s, Decl)):
        other = found.setdefault(s.name, s)
        if len(other.shape) != len(s.shape):
            raise EmitError(
                f"'{s.name}' has {len(s.shape)} dimensions here and {len(other.shape)} elsewhere",
                loc=s.origin.loc,
                help="expand all declarations of it, or none",
            )


def _is_single(loop: For) -> bool:
    """Whether a loop over the work-items of a group is one of them."""
    fixed = fixed_trips(loop) if loop.level is not None and loop.level.kind == "group" else None
    return fixed is not None and fixed[0].value == 1


def _set_by(s: Stmt) -> frozenset[str]:
    """The scalar that a statement sets without reading it."""
    match s:
        case Assign(Var(name), value, "") if name not in names(value):
            return frozenset([name])
        case _:
            return frozenset()


def _thread(site: LoopSite) -> ThreadLoop:
    fixed = fixed_trips(site.loop)
    level = site.loop.level
    assert fixed is not None
    assert level is not None
    return ThreadLoop(site.loop, level.dimension, to_expr(fixed[0]), tuple(fixed[1]))


def _accesses(fn: Function, name: str) -> list[tuple[Expr, ...]]:
    found = [
        x.index
        for _, s in walk(fn.body)
        for e in stmt_exprs(s)
        if name in names(e)
        for x in loads(e)
        if x.array == name
    ]
    for _, s in walk(fn.body):
        if isinstance(s, Copy) and s.source == name:
            found.append(tuple(x.lo for x in s.slices))
    return found


def _kept(fn: Function, decl: Decl, threads: tuple[ThreadLoop, ...]) -> tuple[int, ...]:
    """The dimensions a work-item keeps: those not indexed by the number of a thread loop."""
    numbers: dict[object, int] = {}
    for t in threads:
        numbers.setdefault(poly(iteration_number(t.loop)), t.dimension)
    used = _accesses(fn, decl.name)
    dropped: dict[int, int] = {}
    for n in range(len(decl.shape)):
        found = {numbers.get(poly(index[n])) for index in used}
        if len(found) == 1 and (level := next(iter(found))) is not None:
            dropped[n] = level
    if _group_level(fn, decl.name) and set(dropped.values()) != {t.dimension for t in threads}:
        raise EmitError(
            f"'{decl.name}' would be shared by the work-items of a group",
            loc=decl.origin.loc,
            help="expand it over the loops mapped to threads",
        )
    kept = tuple(n for n in range(len(decl.shape)) if n not in dropped)
    if any(value_of(decl.shape[n]) is None for n in kept):
        raise EmitError(
            f"'{decl.name}' has no fixed size: no work-item can keep it",
            loc=decl.origin.loc,
            help="expand it over the parallel loops, or give it a size that is a number",
        )
    return kept


def _group_level(fn: Function, name: str) -> bool:
    """Whether the declaration stands outside every thread loop."""
    path = next(p for p, s in walk(fn.body) if isinstance(s, Decl) and s.name == name)
    around = [s for p, s in walk(fn.body) if isinstance(s, For) and path[: len(p)] == p]
    return not any(s.level and s.level.kind == "group" for s in around)


def _tile(fn: Function, decl: Decl, threads: tuple[ThreadLoop, ...]) -> LocalTile:
    """The dimension that varies between work-items is stored fastest, so that what a work-item
    reads for its registers is contiguous; other dimensions keep their order."""
    used = _accesses(fn, decl.name)

    def moves(n: int, found: set[str]) -> bool:
        return any(poly(index[n]).mentions(v) for index in used for v in found)

    varying = {t.loop.var for t in threads}
    dims = range(len(decl.shape))
    order = tuple(sorted(dims, key=lambda n: (moves(n, varying), n)))
    *slow, fast = order
    neighbours = {t.loop.var for t in threads if t.dimension == 0}
    read_across = any(moves(n, neighbours) for n in slow) and not moves(fast, neighbours)
    copied_across = dims[-1] != fast  # neighbours copy along the fastest dimension of the source
    pad = padding(decl.type.bytes, vectors=_in_registers(fn, decl.name))
    pad = pad if read_across or copied_across else 0
    ahead = (s for _, s in walk(fn.body) if isinstance(s, For) and s.stages > 1)
    buffers = max((s.stages for s in ahead if decl.name in writes(s.body)), default=1)
    operand = operand_tile(fn, decl, order, buffers)
    return operand or LocalTile(decl, order, pad, _blocks(fn, decl, fast, pad, threads), buffers)


def _blocks(
    fn: Function, decl: Decl, fast: int, pad: int, threads: tuple[ThreadLoop, ...]
) -> Blocks | None:
    """How the vectors lie that work-items read: all that is read of the tile are `rows` neighbours
    along the fastest dimension, by each work-item its own."""
    every = [s for _, s in walk(fn.body) if isinstance(s, Copy) and s.source == decl.name]
    used = {x.array for _, s in walk(fn.body) for e in stmt_exprs(s) for x in loads(e)}
    shapes = {(s.width, value_of(s.slices[fast].size or Const(0))) for s in every}
    if len(shapes) != 1 or decl.name in used:
        return None
    ((width, rows),) = shapes
    extent = value_of(decl.shape[fast]) or 0
    if width == 1 or not rows or (extent + pad) % width or extent % rows:
        return None
    values: dict[int, dict[str, Expr]] = {}
    for t in threads:
        values.setdefault(t.dimension, {})[t.loop.var] = t.value("#")
    for dimension, numbered in values.items():
        starts = {_plain(substitute(s.slices[fast].lo, numbered)) for s in every}
        if starts == {poly(Bin("*", Var("#"), Const(rows)))}:
            return Blocks(dimension, extent // rows, rows, width)
    return None


def _plain(e: Expr) -> Poly:
    """With tile sizes as numbers."""
    return poly(map_expr(e, lambda x: Const(x.value) if isinstance(x, Tile) else x))


def _in_registers(fn: Function, name: str) -> bool:
    """Whether work-items copy several neighbours of a tile at once."""
    copies = (s for _, s in walk(fn.body) if isinstance(s, Copy) and s.source == name)
    return any(not s.collective and any(x.size is not None for x in s.slices) for s in copies)
