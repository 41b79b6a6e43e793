"""What copy-to-local and copy-to-private share: which reads are replaced, and by what."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import Poly, constant, poly, to_expr
from loopxform.ir.nodes import Bin, Copy, Decl, Expr, Function, If, Load, Slice, Stmt
from loopxform.ir.printer import expr_text
from loopxform.ir.types import Scalar, Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, map_exprs, names, writes
from loopxform.records import record
from loopxform.transforms.storage.footprint import Box, Use, box, boxes, relative, uses


@record
class Staging:
    """A copy about to be made: of `box` of `array` into `target`."""

    array: str
    target: str
    box: Box
    uses: tuple[Use, ...]
    type: Scalar

    def decl(self, space: Space | None, step: str, site: LoopSite) -> Decl:
        shape = tuple(to_expr(s) for s in self.box.sizes if s is not None)
        return Decl(self.target, self.type, shape, space, origin=site.loop.origin.then(step))

    def slices(self) -> tuple[Slice, ...]:
        b = self.box
        return tuple(map(_slice, b.lows, b.sizes, b.floors, b.lasts))

    def redirect(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Reads of the elements in the box become reads of the copy."""
        copied = {u.load: u for u in self.uses}

        def f(e: Expr) -> Expr:
            use = copied.get(e) if isinstance(e, Load) else None
            return e if use is None else relative(use, self.target, self.box, e.origin)

        return map_exprs(body, f)


def _slice(low: Poly, size: Poly | None, floor: Expr | None, last: Expr | None) -> Slice:
    """What is copied in one dimension; with ends that the program clamps its subscripts at, the
    elements there are what it reads beyond."""
    whole = Slice(to_expr(low), None if size is None else to_expr(size), floor=floor)
    if last is not None:
        whole = replace(whole, limit=to_expr(poly(last) + constant(1)), clamp=True)
    return replace(whole, repeats=floor is not None or last is not None)


def part_number(part: str, site: LoopSite) -> Obstacle | None:
    """Why `part` does not number a box ("": no box is meant in particular)."""
    if not part or (part.isascii() and part.isdecimal()):
        return None
    text = f"'{part}' is not the number of a box"
    return Obstacle("LX025", text, site.loop.origin.loc, remedy="use 1, 2, ...")


def plan(
    fn: Function,
    array: str,
    site: LoopSite,
    target: str,
    part: int | None = None,
    *,
    single: bool = False,
) -> Staging | Obstacle:
    """The copy that serves every read of `array` in the loop body, or why there is none; with
    `part` only the reads in the box of that number (1 is the first in text order). One element is
    worth a copy where `single` says so."""
    found = uses(fn, site.loop.body, array)
    where = site.loop.origin.loc
    if not found:
        return Obstacle(
            "LX160",
            f"'{array}' is not read in the loop over '{site.loop.var}'",
            where,
            remedy="name an array that the loop body reads",
        )
    if array in writes(site.loop.body):
        return Obstacle(
            "LX161",
            f"'{array}' is written in the loop over '{site.loop.var}': a copy would go stale",
            where,
            remedy="stage an array that is only read there",
        )
    if part is not None:
        every = boxes(found)
        if not 0 < part <= len(every):
            return _no_box(site, found, f"there are {len(every)} boxes of '{array}'")
        chosen = every[part - 1][0]
        others = [u.load for u in found if u not in chosen]
        if any(u.load in others for u in chosen):
            return _no_box(site, found, f"'{array}' is read alike in loops of different ranges")
        found = chosen
    changing = {n for u in found for i in u.index for n in names(i)} & writes(site.loop.body)
    if changing:
        return Obstacle(
            "LX162",
            f"the subscripts of '{array}' depend on '{min(changing)}', which the loop over "
            f"'{site.loop.var}' computes",
            found[0].load.origin.loc or where,
            remedy="leave it in global memory",
        )
    region = box(found)
    if region is None or (region.rank == 0 and not single):
        text = f"the part of '{array}' read in an iteration of '{site.loop.var}' is not a box of "
        return _no_box(site, found, f"{text}fixed size")
    unordered = _unordered(fn, site, array, region)
    if unordered is not None:
        return replace(unordered, loc=found[0].load.origin.loc or where)
    astray = next((u for u in found if not _is_clamped(fn, site, u, region)), None)
    if astray is not None:
        text = f"a subscript of '{array}' may be beyond where others are clamped"
        place = astray.load.origin.loc or where
        return Obstacle("LX162", text, place, remedy="clamp all of them between the same numbers")
    return Staging(array, target, region, found, symbols(fn)[array])


def _unordered(fn: Function, site: LoopSite, array: str, region: Box) -> Obstacle | None:
    """Why the ends at which subscripts are clamped may exclude each other: which of them counts
    then depends on how the program clamps."""
    for floor, last in zip(region.floors, region.lasts):
        if floor is None or last is None:
            continue
        order = Bin("<=", floor, last)
        if not always(fn, (*site.path, 0), order):
            ends = f"{expr_text(floor)} and {expr_text(last)}"
            text = f"subscripts of '{array}' are clamped between {ends}, and {unknown(fn, order)}"
            return Obstacle("LX162", text, remedy="clamp them between ends in a known order")
    return None


def unknown(fn: Function, order: Expr) -> str:
    """That nothing says so of ends, and the annotation that would."""
    asked = expr_text(order)
    text = f"that {asked} is not known"
    given = names(order) <= {p.name for p in fn.objects if not p.array}
    return f"{text} (#pragma loopxform assume({asked}) says it)" if given else text


def _is_clamped(fn: Function, site: LoopSite, use: Use, region: Box) -> bool:
    """Whether a read is what the copy holds for its subscripts: it is clamped at the ends of the
    box, or never beyond them."""
    place = (*site.path, *use.path)
    for c, floor, last in zip(use.clamps, region.floors, region.lasts):
        within = [Bin(">=", c.index, floor)] if floor is not None and c.floor is None else []
        within += [Bin("<=", c.index, last)] if last is not None and c.last is None else []
        if not all(always(fn, place, x) for x in within):
            return False
    return True


def _no_box(site: LoopSite, found: tuple[Use, ...], text: str) -> Obstacle:
    place = found[0].load.origin.loc or site.loop.origin.loc
    return Obstacle("LX162", text, place, remedy="stripmine the loops its subscripts use")


def insert(body: tuple[Stmt, ...], staging: Staging, made: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The copy goes first in the body; earlier copies stay before it."""
    n = sum(1 for _ in takewhile(lambda s: isinstance(s, Copy | Decl), body))
    head = body[:n]
    return (*head, *made, *staging.redirect(body[n:]))


def insert_inside_guards(
    body: tuple[Stmt, ...], staging: Staging, made: tuple[Stmt, ...]
) -> tuple[Stmt, ...]:
    """As `insert`, but inside the `if` that fills the body (listing 10: `if (kk + k < U)`)."""
    if len(body) == 1 and isinstance(body[0], If) and not body[0].orelse:
        guard = body[0]
        return (replace(guard, then=insert_inside_guards(guard.then, staging, made)),)
    return insert(body, staging, made)


def padding(item_bytes: int, *, vectors: bool) -> int:
    """Columns that a tile has more than it needs where neighbours walk across it: one, or as many
    as keep 16 bytes together that a work-item reads at once. (On an H100 the register-tiled matrix
    product of floats runs at 36.3 TFLOP/s with four, 36.0 with one, 29.8 with none.)"""
    return max(1, 16 // item_bytes) if vectors else 1
