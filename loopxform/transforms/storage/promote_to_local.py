"""Promotion to local memory: T x[n] in a group -> x in local memory.

Storage that the work-items of a group have in common: what one loop over threads writes to it,
another reads. Legal for an array of fixed size that is declared inside the loops over groups and in
no other loop over iterations that run at the same time. The barriers between loops over threads
follow from what they read and write. (Cholewa-Madsen and Holst, section 2.2.2, on local memory.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Decl, Function
from loopxform.ir.types import Space
from loopxform.ir.visit import Path, at, loops_around, replace_at, walk
from loopxform.records import record
from loopxform.transforms.base import Step


@record
class PromoteToLocal(Step):
    """Keeps `array` in the local memory of a group."""

    array: str

    verb: ClassVar[str] = "promote-to-local"
    former: ClassVar[tuple[str, ...]] = ("share",)
    usage: ClassVar[str] = "promote-to-local ARRAY"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        paths = _declarations(fn, self.array)
        if len(paths) != 1:
            text = f"'{self.array}' is not an array that '{fn.name}' declares, once"
            return (Obstacle("LX168", text, fn.origin.loc, remedy="name an array of a group"),)
        problem = _problem(fn, paths[0])
        if problem is None:
            return ()
        text, remedy = f"'{self.array}' {problem[0]}", problem[1]
        return (Obstacle("LX169", text, at(fn, paths[0]).origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        (path,) = _declarations(fn, self.array)
        decl = at(fn, path)
        assert isinstance(decl, Decl)
        local = replace(decl, space=Space.LOCAL, origin=decl.origin.then(str(self)))
        return replace_at(fn, path, (local,))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"{self.array} is declared once for all work-items of a group"


def _declarations(fn: Function, name: str) -> list[Path]:
    found = ((p, s) for p, s in walk(fn.body) if isinstance(s, Decl) and s.shape)
    return [p for p, s in found if s.name == name]


def _problem(fn: Function, path: Path) -> tuple[str, str] | None:
    decl, around = at(fn, path), loops_around(fn, path)
    assert isinstance(decl, Decl)
    if decl.space is not None:
        return "has its place already", "share what no step has placed"
    if any(value_of(d) is None for d in decl.shape):
        return "has no fixed size", "stripmine by tile sizes first"
    kinds = [x.level.kind if x.level else "" for x in around]
    if "grid" not in kinds:
        return "is not declared in a loop over groups", "map the groups first"
    if "group" in kinds or any(x.parallel and not k for x, k in zip(around, kinds)):
        return "belongs to one iteration of a parallel loop", "declare it outside of that"
    return None
