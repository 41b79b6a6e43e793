"""Reordering nests: for i: A; for j: B; for k: C  ->  for j: B; for k: C; for i: A.

Nests that follow one another run in another order, so that those which share what they compute are
neighbours and may become one kernel. Legal where, of any two whose order changes, neither writes
what the other reads or writes. (Allen and Kennedy, section 2.2, on reordering transformations.)
"""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import For, Function, Opaque, Return
from loopxform.ir.visit import Path, at, reads, replace_at, walk, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.overlapped.neighbours import not_neighbours, paths_of
from loopxform.transforms.sites import one_loop, trusted

REMEDY = "leave them in the order of the text"


@record
class ReorderNests(Step):
    """Runs neighbouring nests in the order in which their `loops` are named."""

    loops: tuple[str, ...]

    verb: ClassVar[str] = "reorder-nests"
    usage: ClassVar[str] = "reorder-nests LOOP,LOOP[,LOOP...]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        unknown = [o for x in self.loops if isinstance(o := one_loop(fn, x), Obstacle)]
        if unknown:
            return (unknown[0],)
        if apart := not_neighbours(fn, self._in_text(fn)):
            return apart
        nests = [trusted(one_loop(fn, x)).loop for x in self.loops]
        for n in nests:
            if any(isinstance(s, Opaque | Return) for _, s in walk((n,))):
                text = f"the nest over '{n.var}' holds statements that are not modelled"
                return (Obstacle("LX270", text, n.origin.loc, remedy=REMEDY),)
        paths = paths_of(fn, self.loops)
        numbers = [abs(p[-1]) for p in paths]
        for (a, x), (b, y) in combinations(zip(numbers, nests), 2):
            if a > b and (shared := _shared(fn, x, y)):
                text = f"'{shared}' is written by one of the nests over '{y.var}' and '{x.var}'"
                why = f"{text}, and may be touched by the other"
                return (Obstacle("LX270", why, x.origin.loc, remedy=REMEDY),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        nests = [at(fn, p) for p in paths_of(fn, self.loops)]
        for path, nest in zip(paths_of(fn, self._in_text(fn)), nests, strict=True):
            fn = replace_at(fn, path, (nest,))
        return fn

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "none of those whose order changes touches what another one writes"

    def _in_text(self, fn: Function) -> tuple[str, ...]:
        def place(ref: str) -> tuple[int, Path]:
            path = trusted(one_loop(fn, ref)).path
            return abs(path[-1]), path

        return tuple(sorted(self.loops, key=place))


def _shared(fn: Function, a: For, b: For) -> str | None:
    """What one of two nests writes and the other one touches, or may touch by another name."""
    written = writes((a,)), writes((b,))
    touched = reads((a,)) | written[0], reads((b,)) | written[1]
    found = (written[0] & touched[1]) | (written[1] & touched[0])
    behind = frozenset(p.name for p in fn.objects if p.shape or p.pointer)
    for own, others in ((written[0], touched[1]), (written[1], touched[0])):
        if not found and others & behind:
            found = own & behind
    return min(found, default=None)
