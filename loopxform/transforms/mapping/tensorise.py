"""Tensorise: for k: { A_reg = A_loc[k]; B_reg = B_loc[k]; for i: for j: acc[i][j] += A_reg[i] *
B_reg[j] } -> the same, by products of tiles where the device has units for them.

The work-items of a warp compute a product of tiles together (`ir/tensor_tiles`): of 16 x 8 results,
`depth` terms at a time. Legal where the loop does nothing but this, in numbers of the types of the
tile; where what is read of one operand is the same for work-items along x, of the other for those
along y; where a warp is a rectangle of the shape that the tile asks for, whose work-items get
columns in twos; and where the shapes divide:

    terms % depth == 0, rows % 2 == 0, columns % 2 == 0      (of a work-item)

    tile      numbers   sums     each result                               needs
    16x8x4    double    double   a chain of fused multiply-adds, in order  --fp contract
    16x8x2    double    double   the same, of two terms an iteration       --fp contract
    16x8x32   8 bits    32 bits  exact, modulo 2^32                        nothing
    16x8x16   half      float    exact products, in any order, toward 0     --fp reassociate
    16x8x8    float     float    within 3*2^-20*(1 + terms/8) of the sum   --fp fast
                                 of its products' magnitudes

One operand may be scaled by a parameter first: `(alpha * a) * b` is the product of `alpha * a`,
rounded, and `b`.

Unsigned shorts of which a function makes floats (`(uint32_t)h << 16`, as bits) are taken as
bfloat16 by 16x8x16.

Floats are made sums of two numbers of 11 bits, and of the four products of such sums three are
computed: one part of the error is what that leaves out, the other one the sums of the units, which
round toward 0. An infinity may give a NaN. (Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of
NVIDIA tensor cores", 2021; Ootomo and Yokota, "Recovering single precision accuracy from Tensor
Cores", 2022.)

Of complex numbers of doubles each iteration adds two terms to either part:

    re += ar * br;  re -= ai * bi;  ->  re = fma(-ai, bi, fma(ar, br, re))
    im += ar * bi;  im += ai * br;  ->  im = fma(ai, br, fma(ar, bi, im))

A chain of twice as many terms: units that add four terms in order take those of two iterations, and
give the same bits. C that adds the terms to each other first, `re += ar * br - ai * bi`, rounds
that sum: to add them one by one needs --fp reassociate. The operands of both parts are the same,
in another order or negated.

Of several numbers in a word (`packed`), the elements of both tiles of local memory are kept so: 4
terms one behind the other. That needs tiles of two dimensions, whose one subscript is the loop:

    A_reg = A_loc[..., k], B_reg = B_loc[k, ...], Tk % packed == 0, not read ahead

Four warps can compute products of 64 rows of 128 or 256 columns together (64x128x16, 64x256x16), of
which each work-item has 2 rows and all columns that are its own: 4 work-items stand in a row. They
read both operands from local memory, where the device copies these on its own, 16 bytes at a time,
32 terms of a row; the results are those of 16x8x16 (`ir/warp_groups`).

    work-items along x == 4, along y % 32 == 0, rows == 2, columns == 32 or 64

A sub-group of 16 (8) work-items in a row computes products of 8 rows of 16 (8) columns by a
function of OpenCL C: 8x16x32 and 8x8x32 of bytes, 8x16x16 and 8x8x16 of halves (Intel). Each has
columns of its own, however these are dealt out.

    work-items along x % 16 == 0, rows % 8 == 0

Kernels have this form only where it is permitted. The listing keeps the order of the program; the
loop is marked. The kernel has all forms: the host builds it with products of tiles where a test
on the device gave the same bits. (NVIDIA, PTX ISA, `mma.sync`; docs/performance.md.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.bfloats import AS_FLOAT, widens
from loopxform.ir.nodes import Bin, Cast, Decl, Expr, For, Function, Slice, Var
from loopxform.ir.tensor_tiles import TENSOR_TILES, TensorTile
from loopxform.ir.types import USHORT, Scalar, Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, at, declared, loops_around, names, replace_at, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.mapping.tile_product import TileProduct, tile_product
from loopxform.transforms.sites import one_loop, trusted


@record
class Tensorise(Step):
    """Computes the products of the unrolled `loop` by those of tiles, of the shape `tile`."""

    loop: str
    tile: str

    verb: ClassVar[str] = "tensorise"
    usage: ClassVar[str] = "tensorise LOOP TILE"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if self.tile not in TENSOR_TILES:
            why = f"there is no tile '{self.tile}'"
            return (_no(site, why, f"name one of {', '.join(TENSOR_TILES)}"),)
        return obstacles(fn, site, self.tile)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin = site.loop.origin.then(str(self))
        return replace_at(fn, site.path, (replace(site.loop, tensor=self.tile, origin=origin),))

    def reason(self, fn: Function) -> str:
        product = tile_product(trusted(one_loop(fn, self.loop)).loop)
        assert product is not None
        kept = "its terms, added in any order"
        if TENSOR_TILES[self.tile].needs in ("strict", "contract"):
            kept = "its terms and their order" if product.in_order else "its terms, one by one"
        return f"each result of {' and '.join(s.target.array for s in product.sums)} keeps {kept}"


def obstacles(fn: Function, site: LoopSite, tile: str) -> tuple[Obstacle, ...]:
    """Why what a loop computes is no product of tiles."""
    found = _problems(fn, site, TENSOR_TILES[tile])
    return tuple(_no(site, *o) for o in found)[:1]


def _problems(fn: Function, site: LoopSite, tile: TensorTile) -> Iterator[tuple[str, str]]:
    loop, product = site.loop, tile_product(site.loop)
    if loop.level is not None or not (loop.unroll or tile.words > 1):
        yield "it is not an unrolled loop of a work-item", f"unroll {loop.var}"
    elif product is None or not product.is_of(tile):
        remedy = "copy both operands to private memory, and add their products alone"
        what = f"sums of {tile.terms} products each" if tile.terms > 1 else "a product"
        yield f"it is not {what} of two tiles in registers", remedy
    else:
        yield from _types(fn, product, tile)
        yield from _shapes(loop, product, tile)
        yield from _operands(fn, site, product, tile)
        yield from _words(fn, loop, product, tile)
        if tile.warps > 1:
            yield from _together(fn, site, product, tile)


def _types(fn: Function, product: TileProduct, tile: TensorTile) -> Iterator[tuple[str, str]]:
    kinds, decls = symbols(fn), declared(fn.body)
    copies = (*product.lefts, *product.rights)
    alike = all(kinds.get(c.target) == kinds.get(c.source) for c in copies)
    if not (alike and tile.multiplies(kinds[c.target] for c in copies)):
        yield f"its numbers are not of type {_either(tile.operands)}", "keep the loop as it is"
    elif any(kinds.get(s.target.array) not in tile.sums for s in product.sums):
        yield f"its sums are not of type {_either(tile.sums)}", "keep the loop as it is"
    elif not all(_is_whole(t.value, kinds, tile) for t in product.terms):
        yield f"its products are not those of its numbers, of type {tile.sums[0].c}", "keep it"
    yield from _functions(fn, product, kinds)
    yield from _scales(fn, product)
    for c in copies:
        space = decls[c.source].space if c.source in decls else None
        if space is not Space.LOCAL:
            yield f"'{c.source}' is not in local memory", f"copy-to-local {c.source} LOOP"
    yield from _targets(product, decls)
    if product.registers() is None:
        yield "there are fewer registers than orders of their terms", "keep the loop as it is"


def _functions(
    fn: Function, product: TileProduct, kinds: Mapping[str, Scalar]
) -> Iterator[tuple[str, str]]:
    """Numbers are multiplied as they are; of unsigned shorts the floats whose upper halves they
    are."""
    widening = {AS_FLOAT, *(r.name for r in fn.routines if widens(r))}
    for f in dict.fromkeys(x for t in product.terms for x in (t.left, t.right)):
        if kinds.get(f.copy.target) == USHORT and f.by not in widening:
            yield f"'{f.copy.target}' is not made a float of which it is the upper half", "keep it"
        elif f.by and kinds.get(f.copy.target) != USHORT:
            yield f"'{f.by}' is called for '{f.copy.target}'", "keep the loop as it is"


def _scales(fn: Function, product: TileProduct) -> Iterator[tuple[str, str]]:
    """Numbers that operands are multiplied by are the same for all work-items."""
    own = {p.name for p in fn.params if not p.array} - writes(fn.body)
    for f in dict.fromkeys(x for t in product.terms for x in (t.left, t.right)):
        if f.scale is not None and not names(f.scale) <= own:
            why = f"'{f.copy.target}' is multiplied by something that is no parameter"
            yield why, "keep the loop as it is"


def _targets(product: TileProduct, decls: Mapping[str, Decl]) -> Iterator[tuple[str, str]]:
    own = [Var(product.rows.var), Var(product.columns.var)]
    for load in (s.target for s in product.sums):
        target = decls.get(load.array)
        if target is None or target.space in (Space.LOCAL, Space.GLOBAL):
            yield f"'{load.array}' is not in registers", "privatise it"
        used = {n for e in load.index if e not in own for n in names(e)}
        if used & {v.name for v in own} or any(load.index.count(v) != 1 for v in own):
            yield f"results are not elements of '{load.array}' by row and column", "keep it"
    arrays = [s.target.array for s in product.sums]
    if twice := [x for x in arrays if arrays.count(x) > 1]:
        yield f"several elements of '{twice[0]}' are summed up", "give each an array of its own"


def _either(types: Iterable[Scalar]) -> str:
    return " or ".join(dict.fromkeys(t.c for t in types))


def _is_whole(e: Expr, kinds: dict[str, Scalar], tile: TensorTile) -> bool:
    """Whether a product has the type of sums, and is one of numbers as they are: a conversion to
    that type, or to one that has all of them, changes none."""
    parts = (e.left, e.right) if isinstance(e, Bin) else ()
    casts = [(x.type, type_of(x.operand, kinds)) for x in parts if isinstance(x, Cast)]
    kept = (to in tile.sums or to.least <= own.least <= own.most <= to.most for to, own in casts)
    return type_of(e, kinds) in tile.sums and all(kept)


def _words(
    fn: Function, loop: For, product: TileProduct, tile: TensorTile
) -> Iterator[tuple[str, str]]:
    """Of numbers that are kept in words a work-item reads neighbours along the loop."""
    if loop.preloaded > 1:
        why = f"'{loop.var}' is read {loop.preloaded} iterations ahead"
        yield why, f"register-pipeline {loop.var}"
    if tile.words > 1 and loop.preloaded:
        yield f"'{loop.var}' is read ahead", "leave out register-pipeline"
    decls = declared(fn.body)
    for c in (*product.lefts, *product.rights) if tile.packed > 1 else ():
        alone = [n for n, s in enumerate(c.slices) if s.size is None and s.lo == Var(loop.var)]
        if len(c.slices) != 2 or len(alone) != 1:
            yield f"'{c.source}' is not a tile that '{loop.var}' walks along", "keep the loop"
        elif (value_of(decls[c.source].shape[alone[0]]) or 1) % tile.packed:
            yield f"'{c.source}' is not made of words of {tile.packed}", "use other sizes"


def _shapes(loop: For, product: TileProduct, tile: TensorTile) -> Iterator[tuple[str, str]]:
    asked = (
        (loop, tile.depth),
        (product.rows, tile.own_rows),
        (product.columns, tile.own_columns),
    )
    for x, part in asked:
        trips = _trips(x)
        if trips is None:
            yield f"'{x.var}' does not count from 0 by 1 to a number", f"normalise {x.var} body"
        elif x is loop and loop.preloaded and tile.words == 1 and trips % (2 * part):
            why = f"'{x.var}', read ahead, has {trips} iterations, no multiple of {2 * part}"
            yield why, f"strip-mine {x.var} by a multiple of {2 * part}"
        elif trips % part:
            why = f"'{x.var}' has {trips} iterations, no multiple of {part}"
            yield why, f"strip-mine {x.var} by a multiple of {part}"


def _operands(
    fn: Function, site: LoopSite, product: TileProduct, tile: TensorTile
) -> Iterator[tuple[str, str]]:
    """A work-item of the warp reads for others too: what is read depends on one loop over work-
    items alone, and these stand where the tile has them."""
    around = _work_items(fn, site)
    if around is None:
        remedy = "map the two loops around it to thread.y and thread.x, nothing beside it"
        yield "it is not all that the work-items of two loops do", remedy
        return
    y, x = around
    for loop, lanes in ((y, tile.high), (x, tile.wide)):
        fixed = fixed_trips(loop)
        if fixed is None or fixed[1] or (fixed[0].value or 1) % lanes:
            yield f"the work-items of '{loop.var}' are no multiple of {lanes}", "use other sizes"
        elif loop.level is None or loop.level.lanes != lanes or loop.level.paired:
            remedy = f"warp-tile LOOP {tile.high} {tile.wide}"
            yield f"{tile.high} x {tile.wide} work-items are not neighbours", remedy
    dealt = x.level is not None and x.level.cyclic == tile.own_columns
    if not (dealt or tile.function):
        remedy = f"block-cyclic {x.var}* {product.columns.var} {tile.own_columns}"
        yield f"elements of '{x.var}' are not dealt out by {tile.own_columns}", remedy
    operands = [(t.left, product.rows, y, x) for t in product.terms]
    operands += [(t.right, product.columns, x, y) for t in product.terms]
    for factor, own, loop, other in dict.fromkeys(operands):
        c = factor.copy
        sized = [s for s in c.slices if s.size is not None]
        used = {n for s in c.slices for n in names(s.lo)}
        line = next((s for s, n in zip(sized, factor.at) if n is None), None)
        whole = line is not None and len(sized) == len(factor.at) and _size(line) == _trips(own)
        count = fixed_trips(loop)
        row = (count[0].value or 0) * (_trips(own) or 0) if count is not None else 0
        if row % tile.row:
            why = f"rows of {row} elements are not a multiple of {tile.row}"
            yield why, f"use other sizes: '{c.source}' is read in {tile.row} at a time"
        if other.var in used or not whole or line is None or loop.var not in names(line.lo):
            yield f"'{c.target}' is not what the work-items of '{loop.var}' read", "keep the loop"
        elif any(site.loop.var in names(s.lo) for s in sized):
            yield f"what '{c.target}' is depends on '{site.loop.var}'", "keep the loop"


def _together(
    fn: Function, site: LoopSite, product: TileProduct, tile: TensorTile
) -> Iterator[tuple[str, str]]:
    """Warps that compute a product together are work-items of one row and of rows that follow each
    other: each has neighbours of the result alone."""
    around = _work_items(fn, site)
    for loop, own in ((product.rows, tile.own_rows), (product.columns, tile.across // tile.wide)):
        if _trips(loop) != own:
            yield f"'{loop.var}' has {_trips(loop)} iterations, not {own}", f"use {own}"
    for loop, count in zip(around or (), (tile.high * tile.warps, tile.wide)):
        fixed = fixed_trips(loop)
        trips = None if fixed is None or fixed[1] else fixed[0].value
        if trips is None or trips % count or (count == tile.wide and trips != count):
            yield f"'{loop.var}' has {trips} work-items, not {count}", f"use {count}"
        elif loop.level is not None and loop.level.cyclic % tile.own_rows:
            yield f"rows of '{loop.var}' are dealt out one by one", "leave out block-cyclic"
    (total,) = product.sums
    own_place = [Var(product.rows.var), Var(product.columns.var)]
    if [e for e in total.target.index if e in own_place] != own_place:
        yield f"'{total.target.array}' has other subscripts than the row and the column", "keep it"


def _size(s: Slice) -> int | None:
    return None if s.size is None else value_of(s.size)


def _trips(loop: For) -> int | None:
    """The iterations of a loop that counts from 0 by 1; None where these are not fixed."""
    fixed = fixed_trips(loop)
    counts = value_of(loop.lo) == 0 and value_of(loop.step) == 1 and loop.level is None
    return fixed[0].value if counts and fixed is not None and not fixed[1] else None


def _work_items(fn: Function, site: LoopSite) -> tuple[For, For] | None:
    """The loops over the work-items along y and x right around a loop, which is all that they
    do, in every work-item of the group; there are none along z."""
    if len(site.path) < 3 or any(n != 0 for n in site.path[-2:]):
        return None
    y, x = (at(fn, site.path[:-n]) for n in (2, 1))
    if not isinstance(y, For) or not isinstance(x, For) or len(y.body) + len(x.body) != 2:
        return None
    others = (s for s in loops_around(fn, site.path) if s is not y and s is not x)
    if any(s.level and s.level.kind == "group" and not _is_once(s) for s in others):
        return None
    levels = [loop.level for loop in (y, x)]
    dimensions = [v.dimension for v in levels if v is not None and v.kind == "group"]
    return (y, x) if dimensions == [1, 0] else None


def _is_once(loop: For) -> bool:
    fixed = fixed_trips(loop)
    return fixed is not None and not fixed[1] and fixed[0].value == 1


def _no(site: LoopSite, why: str, remedy: str) -> Obstacle:
    text = f"what the loop over '{site.loop.var}' computes is no product of tiles: {why}"
    return Obstacle("LX252", text, site.loop.origin.loc, remedy=remedy)
