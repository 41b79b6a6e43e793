"""Storage reuse: T x[n]; ... x ...; T y[n]; for k: y[f(k)] = ... x[f(k)] ...; ... y ...
  -> T x[n]; ... x ...; for k: x[f(k)] = ... x[f(k)] ...; ... x ...

One array takes the place of another that nothing reads any more: what fills a group's local memory
is kept once. Legal for arrays of one type and shape that are declared in one body, where a loop in
it is the last to read the old array and the first to write the new one, and each of its iterations
reads what it overwrites before it does so, and nothing that others overwrite. (Kirk and Hwu,
"Programming Massively Parallel Processors", chapter 5, on local memory and the groups of a unit.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.deps import dependences
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Copy, Decl, For, Function, Opaque, Stmt
from loopxform.ir.renaming import rename
from loopxform.ir.visit import (
    Path,
    at,
    bodies,
    enclosing,
    map_body,
    reads,
    replace_at,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step


@record
class ReuseStorage(Step):
    """Keeps `array` where `old` was, which is not used any more."""

    old: str
    array: str

    verb: ClassVar[str] = "reuse-storage"
    usage: ClassVar[str] = "reuse-storage OLD ARRAY"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        why = self._obstacle(fn)
        if why is None:
            return ()
        found = _declared(fn, self.array)
        loc = at(fn, found[0]).origin.loc if found else fn.origin.loc
        return (Obstacle("LX214", why[0], loc, remedy=why[1]),)

    def _obstacle(self, fn: Function) -> tuple[str, str] | None:
        both = _declared(fn, self.old), _declared(fn, self.array)
        if any(len(x) != 1 for x in both) or self.old == self.array:
            text = f"'{self.old}' and '{self.array}' are not two arrays that '{fn.name}' declares"
            return text, "name arrays that are declared once"
        (first,), (then,) = both
        a, b = at(fn, first), at(fn, then)
        assert isinstance(a, Decl)
        assert isinstance(b, Decl)
        if first[:-1] != then[:-1] or (a.type, a.shape, a.space) != (b.type, b.shape, b.space):
            text = f"'{self.array}' and '{self.old}' differ in type, shape, memory or scope"
            return text, "name arrays of one type and shape in one body and one memory"
        if any(isinstance(s, For) and s.stages > 1 for s in enclosing(fn, then)):
            text = f"'{self.old}' is filled for the next iteration while '{self.array}' is in use"
            return text, "reuse storage of loops that fetch nothing ahead"
        place = self._place(fn, then)
        if place is None:
            text = f"no loop is the last to read '{self.old}' and the first to set '{self.array}'"
            return text, "name an array that is computed from the other one"
        made = replace_at(
            fn, place, (_in_order(rename((at(fn, place),), {self.array: self.old})[0]),)
        )
        for d in dependences(made, place, counters=True):
            if d.array == self.old and (d.carrier is not None or d.kind != "anti"):
                text = f"'{self.old}' is read after '{self.array}' has taken its place"
                return (
                    text,
                    "name an array whose elements are read no later than the other's are set",
                )
        return None

    def _place(self, fn: Function, decl: Path) -> Path | None:
        """The loop that leads from one array to the other, in the body of their declarations."""
        *outer, n = decl
        parent = at(fn, tuple(outer)) if outer else None
        body = fn.body if parent is None else bodies(parent)[n < 0]
        old = [k for k, s in enumerate(body) if self.old in _used(s)]
        new = [k for k, s in enumerate(body) if self.array in _used(s)]
        if not (old and new) or old[-1] != new[0]:
            return None
        loop = body[new[0]]
        if not isinstance(loop, For) or self.old in writes((loop,)):
            return None
        if any(isinstance(s, Copy | Opaque) for _, s in walk(loop.body)):
            return None
        return (*outer, -1 - new[0] if n < 0 else new[0])

    def rewrite(self, fn: Function) -> Function:
        def kept(s: Stmt) -> tuple[Stmt, ...]:
            return () if isinstance(s, Decl) and s.name == self.array else (s,)

        return replace(fn, body=rename(map_body(fn.body, kept), {self.array: self.old}))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"each iteration reads of {self.old} what it overwrites, and nobody does afterwards"


def _declared(fn: Function, name: str) -> list[Path]:
    found = ((p, s) for p, s in walk(fn.body) if isinstance(s, Decl) and s.shape)
    return [p for p, s in found if s.name == name]


def _used(s: Stmt) -> frozenset[str]:
    return frozenset() if isinstance(s, Decl) else reads((s,)) | writes((s,))


def _in_order(s: Stmt) -> Stmt:
    """With loops of which nothing is known."""

    def plain(x: Stmt) -> tuple[Stmt, ...]:
        return (replace(x, parallel=False, level=None) if isinstance(x, For) else x,)

    return map_body((s,), plain)[0]
