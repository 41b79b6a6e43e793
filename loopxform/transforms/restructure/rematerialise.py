"""Rematerialisation: T x; x = e; for i: { A; S(x) } -> for i: { A; T x; x = e; S(x) }.

The inverse of hoisting: what is computed in front of a loop for scalars declared beside it is
computed in each iteration instead, directly before its first use, so that nothing stands between
the loop and the one around it. Legal where the loop writes neither these scalars nor, before an
iteration reads it, what they are computed from: then each iteration computes the values that were
computed once, and none computes what was not computed before. Scalars that are used outside the
loop too keep their statements there, behind the loop where that changes nothing, and the loop has
copies. Loops are not computed again. (Code sinking by rematerialisation: Briggs, Cooper and
Torczon, "Rematerialization", PLDI 1992.)
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

from loopxform.analysis.dependence import Dependence, worst
from loopxform.analysis.deps import dependences
from loopxform.analysis.legality import opaque_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Decl, For, Function, If, Opaque, Stmt
from loopxform.ir.renaming import rename
from loopxform.ir.visit import (
    LoopSite,
    Path,
    bodies,
    declared,
    enclosing,
    names,
    reads,
    replace_at,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted, unmapped


@record
class Rematerialise(Step):
    """Moves the statements in front of `loop` that compute scalars for it into it; where `names`
    are given, only those that set these."""

    loop: str
    names: tuple[str, ...] = ()

    verb: ClassVar[str] = "rematerialise"
    former: ClassVar[tuple[str, ...]] = ("sink",)
    usage: ClassVar[str] = "rematerialise LOOP [NAME,NAME,...]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        what = _Sunk(fn, site, self.names)
        structure = unmapped(site, "sink") or opaque_obstacles(fn, site.path) or what.unknown()
        return structure or tuple(what.obstacles()) or what.changed()

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop = replace(site.loop, origin=site.loop.origin.then(str(self)))
        return _Sunk(fn, site, self.names).program(loop)

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        what = _Sunk(fn, site, self.names)
        text = f"{', '.join(what.names)}: each iteration of {site.loop.var} computes the same"
        return f"{text}; used outside of it too: {', '.join(what.kept)}" if what.kept else text


class _Sunk:
    """The body around a loop, sorted: the statements that move, those between them and the loop,
    those behind it."""

    def __init__(self, fn: Function, site: LoopSite, wanted: tuple[str, ...]) -> None:
        self.fn, self.path, self.loop = fn, site.path, site.loop
        body, place = _body_around(fn, site.path)
        self.front, self.behind = body[:place], body[place + 1 :]
        self.decls = {
            s.name: n for n, s in enumerate(self.front) if isinstance(s, Decl) and not s.shape
        }
        self.names = tuple(dict.fromkeys(wanted)) or self._computed()
        self.moved = [n for n, s in enumerate(self.front) if _sets(s, self.names)]
        first = min(self.moved, default=place)
        self.between = tuple(
            s for n, s in enumerate(self.front[first:], first) if n not in self.moved
        )

    @property
    def statements(self) -> tuple[Stmt, ...]:
        return tuple(self.front[n] for n in self.moved)

    @property
    def header(self) -> frozenset[str]:
        return names(self.loop.lo) | names(self.loop.hi) | names(self.loop.step)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """The scalars that are used outside of the loop's body, and what they are computed from."""
        others = (*self.between, *self.behind)
        used = set(self.names) & (self.header | reads(others) | _changes(others))
        found = self._with_operands(self.names if _opaque(others) else used)
        return tuple(n for n in self.names if n in found)

    def _with_operands(self, wanted: Collection[str]) -> set[str]:
        """Those of the scalars that are `wanted`, and those that they are computed from."""
        own = set(self.names)
        found = own & set(wanted)
        for s in reversed(self.statements):
            if _sets(s, found):
                found |= reads((s,)) & own
        return found

    @property
    def _stays_in_front(self) -> bool:
        """Whether what is kept is used before the loop ends, or computed from what it changes."""
        kept = tuple(s for s in self.statements if _sets(s, self.kept))
        early = self.header | reads(self.between)
        changed = _changes((self.loop,))
        return bool(early & set(self.kept) or reads(kept) & changed or _opaque(self.behind))

    def _computed(self) -> tuple[str, ...]:
        """What the loop's body reads and does not write, and what that is computed from, as far as
        statements that hold no loops set it."""
        free = self.decls.keys() - _changes((self.loop,))
        while True:
            others = (s for s in self.front if not (_straight(s) and writes((s,)) <= free))
            lost = free & _changes(tuple(others))
            if not lost:
                break
            free -= lost
        found = free & reads(self.loop.body)
        for s in reversed(self.front):
            if _sets(s, found):
                found |= (reads((s,)) | writes((s,))) & free
        set_here = writes(self.front)
        return tuple(n for n in self.decls if n in found & set_here)

    # ------------------------------------------------------------ why not

    def unknown(self) -> tuple[Obstacle, ...]:
        """Statements that are not modelled between what moves and the loop, or that may set it."""
        setting = (s for s in self.front if not all(_keeps(s, n) for n in self.names))
        return _opaque((*self.between, *setting))

    def obstacles(self) -> list[Obstacle]:
        """What can be said without asking for dependences."""
        place, var = self.loop.origin.loc, self.loop.var
        if not self.names:
            text = f"nothing is computed in front of the loop over '{var}' for it alone to read"
            remedy = "it takes scalars that statements without loops set"
            return [Obstacle("LX185", text, place, remedy=remedy)]
        wrong = [o for n in self.names if (o := self._unfit(n)) is not None]
        return wrong or [o for s in self.statements if (o := self._rooted(s)) is not None]

    def _unfit(self, name: str) -> Obstacle | None:
        """Why a scalar is none that the loop could compute."""
        place, var = self.loop.origin.loc, self.loop.var
        if name not in self.decls:
            text = f"'{name}' is not a scalar declared beside the loop over '{var}'"
            remedy = "declare it there, or 'privatise' it into the loop around both"
            return Obstacle("LX140", text, place, remedy=remedy)
        if name in _changes((self.loop,)):
            text = f"the loop over '{var}' writes '{name}' itself"
            return Obstacle("LX186", text, place, remedy="rematerialise what it only reads")
        if name not in writes(self.front):
            text = f"no statement in front of the loop over '{var}' sets '{name}'"
            return Obstacle("LX185", text, place, remedy="rematerialise what is computed there")
        if name not in self._with_operands(reads(self.loop.body)):
            text = f"the body of the loop over '{var}' does not use '{name}'"
            return Obstacle("LX185", text, place, remedy="rematerialise what it uses")
        return None

    def _rooted(self, s: Stmt) -> Obstacle | None:
        """Why a statement cannot run later, in each iteration."""
        place, name = s.origin.loc, min(writes((s,)) & set(self.names))
        if not _straight(s):
            text = f"'{name}' is computed by a loop, which every iteration would run again"
            remedy = f"expand {name} and distribute the loop around both"
            return Obstacle("LX185", text, place, remedy=remedy)
        other = writes((s,)) - set(self.names)
        if other:
            text = f"the statement that sets '{name}' also sets '{min(other)}'"
            return Obstacle("LX185", text, place, remedy="set it in a statement of its own")
        hidden = _counters((self.loop,)) | declared(self.loop.body).keys()
        changed = reads((s,)) & (_changes(self.between) | hidden)
        if changed:
            text = f"'{min(changed)}', which '{name}' is computed from, does not keep its value"
            remedy = f"compute {name} directly before the loop, or from a copy"
            return Obstacle("LX186", f"{text} up to the loop's body", place, remedy=remedy)
        return None

    def changed(self) -> tuple[Obstacle, ...]:
        """What the scalars are computed from, written in the loop before an iteration reads it; by
        any other iteration of a forall."""
        path, first = self._loop_path, self._first_use
        after = self.program(replace(self.loop, parallel=False))
        own = range(first, first + len(self._copies))

        def inside(at: Path) -> bool:
            return len(at) > len(path) and at[len(path)] in own

        def wrong(d: Dependence) -> bool:
            reads_it, writes_it = inside(d.sink.path), inside(d.source.path)
            if reads_it == writes_it:
                return False
            raced = self.loop.parallel and d.carrier == path
            return raced or (reads_it and d.kind == "flow")

        rows = worst([d for d in dependences(after, path, counters=True) if wrong(d)])
        return tuple(self._written(d) for d in rows)

    def _written(self, d: Dependence) -> Obstacle:
        writer = d.source if d.kind == "flow" else d.sink
        text = f"each iteration would read '{d.array}', which {writer} writes in the loop over"
        message = f"{text} '{self.loop.var}'" + ("" if d.exact else ", as far as can be told")
        witness = d.witness if d.exact else None
        remedy = "keep the statement in front of the loop"
        return Obstacle("LX186", message, writer.loc, witness, remedy)

    # ------------------------------------------------------------ the program

    @cached_property
    def _new(self) -> dict[str, str]:
        """The names in the loop of what is kept outside of it."""
        return {n: fresh(self.fn, n) for n in self.kept}

    @cached_property
    def _copies(self) -> tuple[Stmt, ...]:
        decls = tuple(s for n, s in enumerate(self.front) if n in self._declarations(self.names))
        return (*decls, *self.statements)

    def _declarations(self, wanted: tuple[str, ...]) -> list[int]:
        return [self.decls[n] for n in wanted]

    @property
    def _first_use(self) -> int:
        used = (n for n, s in enumerate(self.loop.body) if reads((s,)) & set(self.names))
        return next(used)

    @property
    def _leaving(self) -> list[int]:
        """Where statements and declarations go from the body around the loop."""
        stays = self._declarations(self.kept)
        if self.kept and self._stays_in_front:
            stays += [n for n in self.moved if _sets(self.front[n], self.kept)]
        found = {*self._declarations(self.names), *self.moved} - set(stays)
        return sorted(found)

    @property
    def _loop_path(self) -> Path:
        """Where the loop is once they are gone."""
        last, less = self.path[-1], len(self._leaving)
        return (*self.path[:-1], last - less if last >= 0 else last + less)

    def program(self, loop: For) -> Function:
        """The program with `loop` for the one that the statements move into."""
        n = self._first_use
        body = (*loop.body[:n], *self._copies, *loop.body[n:])
        later: tuple[Stmt, ...] = ()
        if not self._stays_in_front:
            later = tuple(s for s in self.statements if _sets(s, self.kept))
        filled = replace(loop, body=rename(body, self._new))
        fn = replace_at(self.fn, self.path, (filled, *later))
        for n in reversed(self._leaving):
            fn = replace_at(fn, (*self.path[:-1], n if self.path[-1] >= 0 else -1 - n), ())
        return fn


def _sets(s: Stmt, wanted: Collection[str]) -> bool:
    return any(n in wanted for n in writes((s,)))


def _keeps(s: Stmt, name: str) -> bool:
    """Whether nothing in `s` that is not modelled writes a scalar."""
    unknown = (x for _, x in walk((s,)) if isinstance(x, Opaque))
    return all(name in x.spares or name in x.keeps for x in unknown)


def _straight(s: Stmt) -> bool:
    """Assignments, also under conditions."""
    return all(isinstance(x, Assign | If) for _, x in walk((s,)))


def _changes(body: tuple[Stmt, ...]) -> frozenset[str]:
    """What statements write, the variables of loops included."""
    return writes(body) | _counters(body)


def _counters(body: tuple[Stmt, ...]) -> frozenset[str]:
    return frozenset(s.var for _, s in walk(body) if isinstance(s, For))


def _opaque(body: tuple[Stmt, ...]) -> tuple[Obstacle, ...]:
    """The statements that are not modelled."""
    return tuple(
        Obstacle("LX103", s.reason, s.origin.loc, remedy=s.help or None)
        for _, s in walk(body)
        if isinstance(s, Opaque)
    )


def _body_around(fn: Function, path: Path) -> tuple[tuple[Stmt, ...], int]:
    """The statements beside the one at `path`, it included, and which of them it is."""
    if len(path) == 1:
        return fn.body, path[0]
    parent, n = enclosing(fn, path)[-2], path[-1]
    return (bodies(parent)[1], -1 - n) if n < 0 else (bodies(parent)[0], n)
