"""Copy to local memory: for kk: ... A[ii+i, kk+k] ... -> for kk: A_loc = A[box]; ... A_loc[...] ...

The work-items of a group collectively copy the box of A that the body reads. Legal where the body
only reads A and the box is fixed by tile sizes. Elements of the box that the program never touches
are not read: the last touched one is copied in place of those past the end (`clamp`), the first
one in place of those before it, so that no padding value is ever computed with. Subscripts that are
clamped between numbers that never change (`p < 0 ? 0 : p`) make the box that they would make
otherwise; beyond its ends the copy repeats the elements there, which is what the program reads. An
index of which nothing is known (`x[j, p]`, where the program computed j) is one that the body
itself uses in any case. (Cholewa-Madsen and Holst, sections 2.2.2, 4.2.1 and 4.3, listing 10;
Henriksen on indirect accesses.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.extent import existing_box
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Cast, Const, Copy, Decl, Expr, For, Function, Slice, Var
from loopxform.ir.types import LONG, Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, Path, enclosing, loops_around, map_expr, replace_at, walk
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.certain import certain
from loopxform.transforms.restructure.guards import unlimited
from loopxform.transforms.sites import new_name, one_loop, trusted
from loopxform.transforms.storage.staging import Staging, insert, part_number, plan, unknown


@record
class CopyToLocal(Step):
    """Stages `array` in local memory at the start of each iteration of `loop`; `target` names the
    copy (default: A_loc). Where the body reads several boxes of it, `part` says which (1, 2, ...)
    is staged."""

    array: str
    loop: str
    target: str = ""
    part: str = ""

    verb: ClassVar[str] = "copy-to-local"
    usage: ClassVar[str] = "copy-to-local ARRAY LOOP [NAME [PART]]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if (misspelt := part_number(self.part, site)) is not None:
            return (misspelt,)
        staging = self._plan(fn, site)
        if isinstance(staging, Obstacle):
            return (staging,)
        taken = new_name(fn, self.target, site)
        if taken:
            return taken
        inside = [x for x in loops_around(fn, site.path) if x.level and x.level.kind == "group"]
        if inside or (site.loop.level and site.loop.level.kind == "group"):
            return (
                Obstacle(
                    "LX163",
                    f"the loop over '{site.loop.var}' runs inside a thread",
                    site.loop.origin.loc,
                    remedy="copy at a loop that the whole group runs together",
                ),
            )
        return self._bounds(fn, site, staging)

    def _plan(self, fn: Function, site: LoopSite) -> Staging | Obstacle:
        return plan(fn, self.array, site, self._target(fn), int(self.part) if self.part else None)

    def _bounds(self, fn: Function, site: LoopSite, staging: Staging) -> tuple[Obstacle, ...]:
        if all(ok for _, ok in _slices(fn, site, staging)):
            return ()
        text = f"the part of '{self.array}' that is touched has no known bounds"
        order = next(_unknown_ends(fn, (*site.path, 0), staging), None)
        if order is not None:
            text = f"'{self.array}' is read where its subscripts are clamped, and "
            text += unknown(fn, order)
        return (
            Obstacle(
                "LX164",
                text,
                site.loop.origin.loc,
                remedy="leave it in global memory",
            ),
        )

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        staging = self._plan(fn, site)
        assert isinstance(staging, Staging)
        slices = tuple(s for s, _ in _slices(fn, site, staging))
        origin = site.loop.origin.then(str(self))
        copy = Copy(staging.target, self.array, slices, True, origin=origin)
        decl = staging.decl(Space.LOCAL, str(self), site)
        body = insert(site.loop.body, staging, (decl, copy))
        return replace_at(fn, site.path, (replace(site.loop, body=body),))

    def _target(self, fn: Function) -> str:
        return self.target or fresh(fn, f"{self.array}_loc")

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        return f"{self.array} is only read in the loop over {site.loop.var}, in a box of fixed size"


def _slices(fn: Function, site: LoopSite, staging: Staging) -> Iterator[tuple[Slice, bool]]:
    """What is copied in each dimension, and whether it is known to exist: inside the part of the
    array that the program touches, or one index that the body uses itself."""
    inside = (*site.path, 0)
    upper = _upper(fn, staging.array, inside)
    for n, s in enumerate(staging.slices()):
        if upper is not None and _exist(fn, inside, s, upper[n]):
            floor, limit = s.floor or Const(0), s.limit or upper[n]
            limited = replace(s, floor=floor, limit=limit, clamp=True)
            yield _with_sign(unlimited(fn, inside, limited), fn), True
        else:
            known = s.size is None and not s.repeats
            yield s, known and any(certain(fn, site, u) for u in staging.uses)


def _with_sign(s: Slice, fn: Function) -> Slice:
    """What may begin in front of an array is counted with a sign: 0u - 1 is no number before 0."""
    types = symbols(fn)
    if s.floor is None or not type_of(s.lo, types).is_unsigned:
        return s

    def signed(e: Expr) -> Expr:
        return Cast(LONG, e) if isinstance(e, Var) and type_of(e, types).is_unsigned else e

    return replace(s, lo=map_expr(s.lo, signed))


def _exist(fn: Function, path: Path, s: Slice, upper: Expr) -> bool:
    """Whether the elements at the ends of a slice are there, as far as it says where it ends."""
    return all(always(fn, path, end) for end in _ends(s, upper))


def _ends(s: Slice, upper: Expr | None) -> Iterator[Expr]:
    """What must hold for the elements at the ends of a slice to be there, as far as it is known
    where the array ends."""
    if s.floor is not None:
        yield Bin(">=", s.floor, Const(0))
    if s.limit is not None and upper is not None:
        yield Bin("<=", s.limit, upper)


def _unknown_ends(fn: Function, path: Path, staging: Staging) -> Iterator[Expr]:
    """What is not known to hold of the places where the program clamps subscripts."""
    slices, upper = staging.slices(), _upper(fn, staging.array, path)
    for s, end in zip(slices, upper or (None,) * len(slices)):
        yield from (x for x in _ends(s, end) if s.repeats and not always(fn, path, x))


def _upper(fn: Function, array: str, path: Path) -> tuple[Expr, ...] | None:
    """The end of what exists in each dimension, where it is known: of an array of the caller what
    the program touches wherever `path` is reached, of one that the function declares beside the
    nests all; it is not known of one that a loop declares."""
    for place, s in walk(fn.body):
        outside = not any(isinstance(x, For) for x in enclosing(fn, place))
        if isinstance(s, Decl) and s.name == array and (s.space is Space.GLOBAL or outside):
            return s.shape
    if all(p.name != array for p in fn.objects):
        return None
    known = existing_box(fn, array)
    if known is None or not (known.when is None or always(fn, path, known.when)):
        return None
    return known.upper
