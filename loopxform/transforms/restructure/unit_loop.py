"""A loop of one iteration: S; for k: T; U -> for (once = 0; once < 1; once++) { S; for k: T; U }.

A unit-trip loop around statements that stand next to each other: the iteration is what one
work-item runs, in order (what OpenMP calls `single`), or the outermost loop of a nest that has
none. `unit-loop 2.1 3` encloses three statements from a place on; `unit-loop k beside` the loop
over k and the statements beside it, up to the next parallel loop on either side. Legal for
statements that are modelled and do not end the function, where nothing that is declared among those
beside a loop is used beyond them. Declarations at a place stay in front of the loop, so that what
follows still sees them; the extents of arrays among them must not be computed by the statements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.names import fresh, used_names
from loopxform.ir.nodes import Const, Decl, For, Function, If, Opaque, Return, Stmt
from loopxform.ir.visit import Path, at, bodies, counters, names, reads, replace_at, walk, writes
from loopxform.records import record
from loopxform.source import Origin
from loopxform.transforms.base import Step
from loopxform.transforms.restructure.places import later, statements_at
from loopxform.transforms.sites import KEYWORDS, new_name, one_loop, trusted

BESIDE = "beside"
"""In place of a number of statements: a loop, and those beside it."""


@record
class UnitLoop(Step):
    """Puts `count` statements from `place` on into a loop of one iteration, whose variable is
    `name` (default: once); with the count `beside`, the loop of that name and what stands beside
    it."""

    place: str
    count: str = "1"
    name: str = ""

    verb: ClassVar[str] = "unit-loop"
    usage: ClassVar[str] = (
        "unit-loop PLACE [COUNT [NAME]]   (2.1: the first statement in the second), "
        "or unit-loop LOOP beside [NAME]"
    )
    former: ClassVar[tuple[str, ...]] = ("single",)
    merged: ClassVar[Mapping[str, Mapping[str, str]]] = {"enclose": {"count": BESIDE}}
    renamed: ClassVar[Mapping[str, str]] = {"loop": "place"}
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        if self.count == BESIDE:
            return self._beside(fn)
        count = int(self.count) if self.count.isdecimal() else 0
        statements = statements_at(fn, self.place, count)
        if statements is None:
            text = f"'{self.place}' and '{self.count}' name no statements of {fn.name}"
            return (Obstacle("LX021", text, fn.origin.loc, remedy=f"usage: {self.usage}"),)
        run = statements[1]
        for _, s in walk(run):
            if isinstance(s, Opaque):
                return (Obstacle(s.code, s.reason, s.origin.loc, remedy=s.help),)
            if isinstance(s, Return):
                text = "the statements end the function"
                return (Obstacle("LX122", text, s.origin.loc, remedy="leave the return out"),)
        return (*_extents(run), *self._name(fn, run))

    def _beside(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.place)
        if isinstance(site, Obstacle):
            return (site,)
        body, first, last = _run(fn, site.path)
        run, rest = body[first:last], body[last:]
        opaque = next((s for _, s in walk(run) if isinstance(s, Opaque)), None)
        if opaque is not None:
            return (Obstacle(opaque.code, opaque.reason, opaque.origin.loc, remedy=opaque.help),)
        beyond = reads(rest) | writes(rest)
        escaping = tuple(
            Obstacle(
                "LX122",
                f"'{s.name}' is declared beside the loop over '{site.loop.var}', and used beyond "
                "what would be enclosed",
                s.origin.loc,
                remedy="declare it further out",
            )
            for s in run
            if isinstance(s, Decl) and s.name in beyond
        )
        return (*escaping, *new_name(fn, self.name, site))

    def _name(self, fn: Function, run: tuple[Stmt, ...]) -> tuple[Obstacle, ...]:
        name = self.name
        is_name = name.isidentifier() and name.isascii() and name not in KEYWORDS
        if not name or (is_name and name not in used_names(fn)):
            return ()
        what = "is taken" if is_name else "is not a name"
        remedy = "leave the name out, or choose another"
        return (Obstacle("LX024", f"'{name}' {what}", run[0].origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        name = self.name or fresh(fn, "once")
        if self.count == BESIDE:
            site = trusted(one_loop(fn, self.place))
            body, first, last = _run(fn, site.path)
            beside = tuple(s for s in body[first:last] if _counts(fn, s))
            inside = tuple(s for s in body[first:last] if not _counts(fn, s))
            once = self._once(name, inside, site.loop.origin)
            return _with_body(fn, site.path, (*body[:first], *beside, once, *body[last:]))
        statements = statements_at(fn, self.place, int(self.count))
        assert statements is not None
        path, run = statements
        decls = tuple(s for s in run if isinstance(s, Decl))
        inside = tuple(s for s in run if not isinstance(s, Decl))
        once = self._once(name, inside, next((s for s in inside if s.origin.loc), run[0]).origin)
        for n in reversed(range(1, len(run))):
            fn = replace_at(fn, later(path, n), ())
        return replace_at(fn, path, (*decls, once))

    def _once(self, name: str, body: tuple[Stmt, ...], origin: Origin) -> For:
        return For(name, Const(0), Const(1), Const(1), body, origin=origin.then(str(self)))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "one iteration does what its body does"


def _extents(run: tuple[Stmt, ...]) -> tuple[Obstacle, ...]:
    changed = writes(run)
    return tuple(
        Obstacle(
            "LX145",
            f"the extent of '{s.name}' depends on '{min(computed)}', which changes",
            s.origin.loc,
            remedy=f"declare {s.name} before",
        )
        for s in run
        if isinstance(s, Decl) and (computed := {n for d in s.shape for n in names(d)} & changed)
    )


def _run(fn: Function, path: Path) -> tuple[tuple[Stmt, ...], int, int]:
    """The body that the loop stands in, and which part of it is enclosed."""
    body, place = _siblings(fn, path)
    ends = [n for n, s in enumerate(body) if _ends(s) and n != place]
    first = max((n + 1 for n in ends if n < place), default=0)
    return body, first, min((n for n in ends if n > place), default=len(body))


def _counts(fn: Function, s: Stmt) -> bool:
    """The declaration of what only counts loops, each of which declares its own."""
    return isinstance(s, Decl) and s.name in counters(fn)


def _ends(s: Stmt) -> bool:
    return isinstance(s, Return) or (isinstance(s, For) and s.parallel)


def _siblings(fn: Function, path: Path) -> tuple[tuple[Stmt, ...], int]:
    """The body that holds the statement at `path`, and its number in there."""
    *outer, n = path
    if not outer:
        return fn.body, n
    then, *orelse = bodies(at(fn, tuple(outer)))
    return (orelse[0], -1 - n) if n < 0 else (then, n)


def _with_body(fn: Function, path: Path, body: tuple[Stmt, ...]) -> Function:
    """`fn` with the body that holds the statement at `path` replaced."""
    *outer, n = path
    if not outer:
        return replace(fn, body=body)
    parent = at(fn, tuple(outer))
    if isinstance(parent, If):
        changed: Stmt = replace(parent, orelse=body) if n < 0 else replace(parent, then=body)
    else:
        assert isinstance(parent, For)
        changed = replace(parent, body=body)
    return replace_at(fn, tuple(outer), (changed,))
