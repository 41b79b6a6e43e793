"""Privatisation: T x; for i: { x = ...; ... x ... } -> for i: { T x; x = ...; ... x ... }.

Legal where every read of x in an iteration is preceded by a write in the same iteration, and x is
not read after the loop. (Seed 000, step 0: "acc is private for these two loops".)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopxform.analysis.privatise import private_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Decl, Function
from loopxform.ir.visit import Path, replace_at, walk
from loopxform.transforms.base import Step, one_loop, trusted


@dataclass(frozen=True)
class Privatise(Step):
    """Moves the declaration of a local variable into the body of a loop."""

    name: str
    loop: str

    verb: ClassVar[str] = "privatise"
    usage: ClassVar[str] = "privatise NAME LOOP"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        found = _declaration(fn, self.name)
        if found is None:
            return (
                Obstacle(
                    "LX140",
                    f"'{self.name}' is not a local variable of {fn.name}",
                    site.loop.origin.loc,
                    remedy="only variables the function declares can become private",
                ),
            )
        if found[: len(site.path)] == site.path:
            return ()
        return private_obstacles(fn, site.path, self.name)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        path = _declaration(fn, self.name)
        assert path is not None
        if path[: len(site.path)] == site.path:
            return fn
        decl = next(s for p, s in walk(fn.body) if p == path)
        assert isinstance(decl, Decl)
        inner = replace(decl, origin=decl.origin.then(str(self)))
        loop = replace(site.loop, body=(inner, *site.loop.body))
        return replace_at(replace_at(fn, site.path, (loop,)), path, ())

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"{self.name} is written before it is read in each iteration, and not read after"


def _declaration(fn: Function, name: str) -> Path | None:
    places = [p for p, s in walk(fn.body) if isinstance(s, Decl) and s.name == name]
    return places[0] if places else None
