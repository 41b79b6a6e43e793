"""Staging what a choice says: boxes in local memory, what serves several elements in registers."""

from __future__ import annotations

from loopxform.analysis.invariance import Read
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Function, Var
from loopxform.ir.types import Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import declared, loads, loops_around, resolve, stmt_exprs, walk
from loopxform.model.choice import Choice
from loopxform.model.reuse import Facts, Stage, Staged, small_trips
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import Uncopied
from loopxform.recipes.deriving import Work
from loopxform.transforms import (
    ConvertOnCopy,
    CopyToLocal,
    CopyToPrivate,
    Step,
    Stripmine,
    Unroll,
    Vectorise,
)
from loopxform.transforms.latency.vectors import VECTOR_BYTES
from loopxform.transforms.storage.footprint import boxes, uses


def copies(
    w: Work, choice: Choice, outer: dict[str, str], group: str, *, lanes: bool
) -> tuple[Staged, ...] | Uncopied:
    """Stages every box; reads from registers what serves several elements of a work-item, unless
    these are lanes."""
    staged = []
    for s in choice.stages:
        name = fresh(w.fn, f"{s.array}_loc")
        copy = _copy(w.fn, s, outer.get(s.loop, s.loop) or group, name)
        if (refusal := w.refusal(copy)) is not None:
            return Uncopied(s, refusal)
        if s.converted:
            w.attempt(ConvertOnCopy(name))
        inner = [x.var for x in s.reads[0].loops if x.var in s.reads[0].varies]
        private = bool(s.kept and inner and not lanes) and w.attempt(CopyToPrivate(name, inner[-1]))
        staged.append(Staged(s, private))
    return tuple(staged)


def keep_elements(w: Work, nest: Nest) -> None:
    """What no sequential loop changes is read once, in front of them: `x[i]` for all j."""
    innermost = nest.innermost.var
    for r in Facts(nest).reads:
        if not r.loops or any(x.var in r.varies for x in r.loops):
            continue
        (site,) = resolve(w.fn, innermost)
        every = boxes(uses(w.fn, site.loop.body, r.array))
        parts = [n for n, (own, _) in enumerate(every, 1) if r.load in (u.load for u in own)]
        for step in (CopyToPrivate(r.array, innermost, part=str(n)) for n in parts):
            if not step.check(w.fn):
                w.stage("Elements that loops do not change")
                w.do(step)


def read_in_vectors(w: Work, choice: Choice, loop: str, width: int) -> tuple[str, ...]:
    """Reads what all work-items of a group walk along together in vectors of `width` elements, or
    fewer; returns the loop over these, where there is one. Tiles of registers are read in vectors
    along their rows instead."""
    tiles = [] if choice.has("register tile") else _walked(w.fn, loop)
    over = fresh(w.fn, f"{loop}_v")
    while tiles and width > 1:
        steps: list[Step] = [Stripmine(loop, str(width), over)]
        for tile in tiles:
            steps += [CopyToPrivate(tile, over), Vectorise(tile, str(width))]
        if w.sizes["Tk"] % width == 0 and w.refusal(*steps) is None:
            return (over,)
        width //= 2
    return ()


def _walked(fn: Function, loop: str) -> list[str]:
    """Tiles of which every work-item reads the same element in an iteration of the loop, the next
    one in the next; none where the whole group runs the loop in step."""
    (site,) = resolve(fn, loop)
    if not any(x.level and x.level.kind == "group" for x in loops_around(fn, site.path)):
        return []
    local = [n for n, d in declared(fn.body).items() if d.space is Space.LOCAL]
    read = [x for _, s in walk(site.loop.body) for e in stmt_exprs(s) for x in loads(e)]
    indices = {n: {x.index for x in read if x.array == n} for n in local}
    return [n for n, own in indices.items() if own == {(Var(loop),)}]


def registers(w: Work, choice: Choice, width: int) -> tuple[Read, ...]:
    """What is not staged and serves several elements of a work-item is read once for them; where
    that is all there is, in vectors of at most `width` elements along a loop of few iterations."""
    if not choice.stages and _in_vectors(w, choice, width):
        return choice.unstaged
    kept = []
    for r in choice.unstaged:
        inner = [x.var for x in r.loops if x.var in r.varies]
        if w.attempt(CopyToPrivate(r.array, inner[-1])):
            kept.append(r)
    return tuple(kept)


def _in_vectors(w: Work, choice: Choice, width: int) -> bool:
    """Whether everything could be read so."""
    inner = {r.loops[-1].var for r in choice.unstaged}
    if len(inner) != 1 or len(sites := resolve(w.fn, loop := inner.pop())) != 1:
        return False
    trips = small_trips(sites[0].loop) or 1
    while width > 1 and trips % width:
        width //= 2
    over = fresh(w.fn, f"{loop}_v")
    arrays = {r.array: fresh(w.fn, f"{r.array}_reg") for r in choice.unstaged}
    copied = [CopyToPrivate(array, over, name) for array, name in arrays.items()]
    if width == 1 or w.refusal(Stripmine(loop, str(width), over), *copied) is not None:
        return False
    for name in arrays.values():
        w.widest(Vectorise, name, min(width, VECTOR_BYTES // symbols(w.fn)[name].bytes))
    w.attempt(Unroll(f"{over}*"), Unroll(f"{loop}*"))
    return True


def _copy(fn: Function, s: Stage, loop: str, name: str) -> CopyToLocal:
    """The step that stages a box: by number where the loop reads several of its array."""
    plain = fresh(fn, f"{s.array}_loc") == name
    for site in resolve(fn, loop):
        every = boxes(uses(fn, site.loop.body, s.array))
        wanted = [
            n for n, (own, _) in enumerate(every, 1) if {u.load.origin.loc for u in own} & s.places
        ]
        if len(every) > 1 and wanted:
            return CopyToLocal(s.array, loop, name, str(wanted[0]))
    return CopyToLocal(s.array, loop, "" if plain else name)
