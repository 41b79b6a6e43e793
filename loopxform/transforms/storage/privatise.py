"""Privatisation: T x; for i: { x = ...; ... x ... } -> for i: { T x; x = ...; ... x ... }.

Legal where every read of x in an iteration is preceded by a write in the same iteration, and x is
not read after the loop. Where x is used outside of the loop too, the private one gets a name of its
own. What does nothing but count loops needs no declaration: each of them has its own.
(Cholewa-Madsen and Holst, step 0: "acc is private for these two loops".)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.privatise import private_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Decl, For, Function, Opaque
from loopxform.ir.renaming import rename
from loopxform.ir.visit import (
    Path,
    at,
    counters,
    names,
    reads,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted


@record
class Privatise(Step):
    """Moves the declaration of a local variable into the body of a loop. `own` (the word) leaves
    it where it is, and gives the private one a name of its own whether it is used elsewhere or
    not."""

    name: str
    loop: str
    own: str = ""

    verb: ClassVar[str] = "privatise"
    usage: ClassVar[str] = "privatise NAME LOOP [own]"
    flags: ClassVar[Mapping[str, str]] = {"own": "own"}

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
        if found[: len(site.path)] == site.path or _only_counts(fn, self.name):
            return ()
        return (*self._shape(fn, found), *private_obstacles(fn, site.path, self.name))

    def _shape(self, fn: Function, path: Path) -> tuple[Obstacle, ...]:
        """The extents of an array must be the same where it is going to be declared."""
        decl = at(fn, path)
        assert isinstance(decl, Decl)
        changed = {n for d in decl.shape for n in names(d)} & writes(fn.body)
        if not changed:
            return ()
        return (
            Obstacle(
                "LX145",
                f"the extent of '{self.name}' depends on '{min(changed)}', which changes",
                decl.origin.loc,
                remedy=f"declare {self.name} in the loop over {self.loop}",
            ),
        )

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        path = _declaration(fn, self.name)
        assert path is not None
        if path[: len(site.path)] == site.path:
            new = {self.name: fresh(fn, self.name)} if self.own else {}
            return replace_at(fn, site.path, rename((site.loop,), new)) if new else fn
        if _only_counts(fn, self.name):
            return replace_at(fn, path, ())
        decl = next(s for p, s in walk(fn.body) if p == path)
        assert isinstance(decl, Decl)
        emptied = replace_at(replace_at(fn, site.path, (replace(site.loop, body=()),)), path, ())
        shared = bool(self.own) or self.name in reads(emptied.body) | writes(emptied.body)
        name = fresh(fn, self.name) if shared else self.name
        inner = replace(decl, name=name, origin=decl.origin.then(str(self)))
        body = rename(site.loop.body, {self.name: name})
        moved = replace_at(fn, site.path, (replace(site.loop, body=(inner, *body)),))
        return moved if shared else replace_at(moved, path, ())

    def reason(self, fn: Function) -> str:
        if _only_counts(fn, self.name):
            return f"{self.name} only counts loops, each of which has its own"
        return f"{self.name} is written before it is read in each iteration, and not read after"


def _only_counts(fn: Function, name: str) -> bool:
    """Whether a variable is mentioned by the loops that count with it, and inside of those, alone;
    what is not modelled may do anything with it."""
    if name not in counters(fn) or any(isinstance(s, Opaque) for _, s in walk(fn.body)):
        return False
    own = [p for p, s in walk(fn.body) if isinstance(s, For) and s.var == name]
    used = [p for p, s in walk(fn.body) if any(name in names(e) for e in stmt_exprs(s))]
    return all(any(p[: len(o)] == o and p != o for o in own) for p in used)


def _declaration(fn: Function, name: str) -> Path | None:
    places = [p for p, s in walk(fn.body) if isinstance(s, Decl) and s.name == name]
    return places[0] if places else None
