"""Enclosing: S; for k: T; U -> for (once = 0; once < 1; once++) { S; for k: T; U }.

A loop of one iteration around a loop and the statements beside it, up to the next parallel loop on
either side: the iteration is then what runs on one work-item, or the nest is one whose outermost
loop is parallel. Always legal, as long as nothing that is declared among them is used beyond them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Const, Decl, For, Function, If, Opaque, Return, Stmt
from loopxform.ir.visit import Path, at, bodies, counters, reads, replace_at, walk, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import new_name, one_loop, trusted


@record
class Enclose(Step):
    """Puts `loop` and the statements beside it into a loop of one iteration, whose variable is
    `name` (default: once)."""

    loop: str
    name: str = ""

    verb: ClassVar[str] = "enclose"
    usage: ClassVar[str] = "enclose LOOP [NAME]"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
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

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        body, first, last = _run(fn, site.path)
        name, origin = self.name or fresh(fn, "once"), site.loop.origin.then(str(self))
        beside = tuple(s for s in body[first:last] if _counts(fn, s))
        inside = tuple(s for s in body[first:last] if not _counts(fn, s))
        once = For(name, Const(0), Const(1), Const(1), inside, origin=origin)
        return _with_body(fn, site.path, (*body[:first], *beside, once, *body[last:]))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "one iteration does what its body does"


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
    found = bodies(at(fn, tuple(outer)))
    return (found[1], -1 - n) if n < 0 else (found[0], n)


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
