"""Staging what a choice says: boxes in local memory, what serves several elements in registers."""

from __future__ import annotations

from loopxform.analysis.invariance import Read
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Function
from loopxform.ir.visit import resolve
from loopxform.model.choice import Choice
from loopxform.model.reuse import Stage, Staged
from loopxform.recipes.base import Uncopied
from loopxform.recipes.deriving import Work
from loopxform.transforms import ConvertOnCopy, CopyToLocal, CopyToPrivate
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


def registers(w: Work, choice: Choice) -> tuple[Read, ...]:
    """What is not staged and serves several elements of a work-item is read once for them."""
    kept = []
    for r in choice.unstaged:
        inner = [x.var for x in r.loops if x.var in r.varies]
        if w.attempt(CopyToPrivate(r.array, inner[-1])):
            kept.append(r)
    return tuple(kept)


def _copy(fn: Function, s: Stage, loop: str, name: str) -> CopyToLocal:
    """The step that stages a box: by number where the loop reads several of its array."""
    plain = fresh(fn, f"{s.array}_loc") == name
    for site in resolve(fn, loop):
        every = boxes(uses(site.loop.body, s.array))
        wanted = [
            n for n, (own, _) in enumerate(every, 1) if {u.load.origin.loc for u in own} & s.places
        ]
        if len(every) > 1 and wanted:
            return CopyToLocal(s.array, loop, name, str(wanted[0]))
    return CopyToLocal(s.array, loop, "" if plain else name)
