"""Recomputation: for i: T[i] = f(a[i]); A; for i: S(T[i])
  -> for i: T[i] = f(a[i]); A; for i: T_2[i] = f(a[i]); for i: S(T_2[i])

A nest that computes an array of the function runs once more, into an array of its own, in front of
a later nest, which reads that from then on, as do the statements behind it. So the two may become
one kernel that never stores the array. Legal where nothing else writes the array, what lies between
reads it too, and nothing that the nest computes it from may change up to the later nest.
(Rematerialization of whole arrays: Ragan-Kelley et al., "Halide", PLDI 2013, `compute_at`.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Decl, For, Function, Opaque, Stmt
from loopxform.ir.renaming import rename
from loopxform.ir.visit import (
    LoopSite,
    Path,
    bodies,
    declared,
    enclosing,
    reads,
    replace_at,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.restructure.places import later
from loopxform.transforms.sites import one_loop, trusted, unmapped

REMEDY = "recompute an array of the function that one nest writes, of what keeps its value"


@record
class Recompute(Step):
    """Runs the nest of `loop` once more, in front of that of `reader`."""

    loop: str
    reader: str

    verb: ClassVar[str] = "recompute"
    usage: ClassVar[str] = "recompute LOOP LATER-LOOP"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        found = (one_loop(fn, self.loop), one_loop(fn, self.reader))
        sites = tuple(s for s in found if isinstance(s, LoopSite))
        if len(sites) < len(found):
            return tuple(s for s in found if isinstance(s, Obstacle))[:1]
        mapped = tuple(o for s in sites for o in unmapped(s, self.verb))
        why = _why_not(fn, *sites)
        if mapped or why is None:
            return mapped
        return (Obstacle("LX269", why, sites[0].loop.origin.loc, remedy=REMEDY),)

    def rewrite(self, fn: Function) -> Function:
        nest, reader = (trusted(one_loop(fn, x)) for x in (self.loop, self.reader))
        array, body = _array(nest.loop), _body(fn, reader.path)
        assert array is not None
        declaration = _declaration(body, array)
        assert declaration is not None
        new = _new_names(fn, nest.loop, array)
        (again,) = rename((nest.loop,), new)
        again = replace(again, origin=nest.loop.origin.then(str(self)))
        rest = body[_number(reader.path) :]
        for n in reversed(range(1, len(rest))):
            fn = replace_at(fn, later(reader.path, n), ())
        fn = replace_at(fn, reader.path, (again, *rename(rest, {array: new[array]})))
        n, own = declaration
        twin = replace(own, name=new[array])
        return replace_at(fn, later(reader.path, n - _number(reader.path)), (own, twin))

    def reason(self, fn: Function) -> str:
        array = _array(trusted(one_loop(fn, self.loop)).loop)
        return f"nothing that {array} is computed from changes in between"


def _why_not(fn: Function, nest: LoopSite, reader: LoopSite) -> str | None:
    """Why a nest cannot run once more in front of another one."""
    loop, first, last = nest.loop, _number(nest.path), _number(reader.path)
    same = nest.path[:-1] == reader.path[:-1] and (nest.path[-1] < 0) == (reader.path[-1] < 0)
    if not same or first >= last:
        return f"'{reader.loop.var}' does not stand behind '{loop.var}' in the same body"
    body = _body(fn, nest.path)
    array = _array(loop)
    if array is None or _declaration(body, array) is None:
        return f"the nest over '{loop.var}' does not compute one array declared beside it"
    if any(isinstance(s, Opaque) for _, s in walk(body)):
        return "a statement beside the nests is not modelled"
    if array in reads((loop,)) or any(array in writes((s,)) for s in body if s is not loop):
        return f"the nest over '{loop.var}' reads '{array}', or another statement writes it"
    if array not in reads(body[last:]):
        return f"'{array}' is not read from '{reader.loop.var}' on"
    if array not in reads(body[first + 1 : last]):
        return f"nothing in front of '{reader.loop.var}' reads '{array}': it need not run once more"
    between, pointed = writes(body[first + 1 : last]), {p.name for p in fn.objects}
    needed = reads((loop,)) - _inside(loop)
    if changed := needed & (between | {s.var for s in _loops(body[first + 1 : last])}):
        return f"'{min(changed)}', which '{array}' is computed from, changes in between"
    if (given := needed & pointed & _shaped(fn)) and (seen := between & pointed):
        return f"'{min(seen)}' is written in between, and may be the same as '{min(given)}'"
    return None


def _array(nest: For) -> str | None:
    """What a nest writes besides what is its own, if that is one name."""
    written = writes((nest,)) - _inside(nest)
    return (
        min(written) if len(written) == 1 and not any(x.live_out for x in _loops((nest,))) else None
    )


def _inside(nest: For) -> frozenset[str]:
    """The counters of a nest, and what is declared in it."""
    return frozenset(x.var for x in _loops((nest,))) | declared(nest.body).keys()


def _loops(body: tuple[Stmt, ...]) -> list[For]:
    return [s for _, s in walk(body) if isinstance(s, For)]


def _shaped(fn: Function) -> frozenset[str]:
    """What is behind pointers."""
    return frozenset(p.name for p in fn.objects if p.shape or p.pointer)


def _new_names(fn: Function, nest: For, array: str) -> dict[str, str]:
    """What the copy calls the array, and what is the nest's own."""
    used, new = {n.replace(".", "_") for n in used_names(fn)}, dict[str, str]()
    for name in (array, *sorted(_inside(nest))):
        n = 2
        while f"{name}_{n}" in used:
            n += 1
        new[name] = f"{name}_{n}"
        used.add(new[name])
    return new


def _number(path: Path) -> int:
    """Which statement of its body stands at a path."""
    return path[-1] if path[-1] >= 0 else -1 - path[-1]


def _body(fn: Function, path: Path) -> tuple[Stmt, ...]:
    """The statements beside the one at a path, it included."""
    if len(path) == 1:
        return fn.body
    return bodies(enclosing(fn, path)[-2])[path[-1] < 0]


def _declaration(body: tuple[Stmt, ...], array: str) -> tuple[int, Decl] | None:
    """Which statement of a body declares an array."""
    every = ((n, s) for n, s in enumerate(body) if isinstance(s, Decl))
    return next(((n, s) for n, s in every if s.name == array and s.shape), None)
