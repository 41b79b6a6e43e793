"""Variables of which each thread of a region has its own, where the threads may disagree.

    int k = 0, h[9];              every thread sets its k to the same
    omp for  { k++; h[i] = i; }   each counts the iterations that it runs, and fills some of its h
    omp for  a[i] = k + h[0];     so the result depends on who runs what

A thread's variable may differ where something that not all threads run alike sets it, or where it
is computed from others that differ, and no assignment that every thread runs comes in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from loopxform.analysis.openmp.claim import Doubt
from loopxform.analysis.openmp.construct import Construct, is_loop, is_simd
from loopxform.analysis.openmp.initial import unset
from loopxform.analysis.privatise import privacy
from loopxform.analysis.reductions import updates
from loopxform.analysis.region import visible
from loopxform.analysis.scope import order
from loopxform.ir.directives import Directive
from loopxform.ir.nodes import Assign, Copy, Decl, Expr, For, If, Load, Opaque, Stmt, Var
from loopxform.ir.visit import Path, at, names, reads, stmt_exprs, walk
from loopxform.records import record


def varying(c: Construct, directives: Sequence[Directive]) -> Iterator[Doubt]:
    """Variables of the threads that the loop reads, where these may disagree on them."""
    if c.region is None and not c.is_orphan:
        return
    threads = _Threads(c, _inner(c, directives))
    asked = {(name, c.path) for name in _read(c)} | set(threads.guards(c.path))
    told = set(unset(c, directives))
    for name, place in sorted(asked):
        setter = threads.differing(name, place)
        if setter is not None and name not in told:
            told.add(name)
            line = f"line {setter.origin.loc.line}" if setter.origin.loc else "a statement"
            text = f"each thread has its own '{name}', and {line} may not set all of them alike"
            yield Doubt("LX311", text, c.loop.origin.loc)


def _inner(c: Construct, directives: Sequence[Directive]) -> tuple[Directive, ...]:
    """The directives of the region that may keep threads from doing the same."""
    start = directives.index(c.region) + 1 if c.region is not None else 0
    return tuple(d for d in directives[start:] if not is_simd(d))


def _read(c: Construct) -> frozenset[str]:
    """The names whose value from before the loop matters to it. A sum that it only adds to remains
    the thread's share of a sum."""
    header = frozenset(n for x in c.nest for e in (x.lo, x.hi, x.step) for n in names(e))
    before = visible(c.fn, c.path).keys()
    inside = (n for n in reads(c.loop.body) & before if _is_exposed(c, n))
    return header | frozenset(inside)


def _is_exposed(c: Construct, name: str) -> bool:
    if privacy(c.fn, c.path, name).exposed is None:
        return False
    written = updates(c.fn, c.path, name)
    return written is None or not written.ops


@record
class _Threads:
    """The threads of the region around a loop; `inner` are the directives in it."""

    c: Construct
    inner: tuple[Directive, ...]
    _asked: set[tuple[str, Path]] = field(default_factory=set)

    def differing(self, name: str, path: Path) -> Stmt | None:
        """The statement by which the variable of one thread may differ from that of another when
        they come to `path`."""
        if (name, path) in self._asked or not self._is_own(name):
            return None
        self._asked.add((name, path))
        killer = self._killer(name, path)
        for place, s in walk(self.c.fn.body):
            if self._within(place) and self._sets(place, s, name):
                reaches = place == killer or self._reaches(place, path, killer)
                if reaches and self._differs(place, s, name):
                    return s
        return None

    def guards(self, path: Path) -> Iterator[tuple[str, Path]]:
        """The names in the conditions and bounds under which the region comes to `path`, each with
        the place where it is used."""
        for n in range(1, len(path)):
            if self._within(path[:n]):
                for e in stmt_exprs(at(self.c.fn, path[:n])):
                    yield from ((name, path[:n]) for name in names(e))

    def _within(self, path: Path) -> bool:
        return self.c.region is None or self.c.region.governs(path)

    def _is_own(self, name: str) -> bool:
        found = walk(self.c.fn.body)
        decl = next((p for p, s in found if isinstance(s, Decl) and s.name == name), None)
        return self.c.private_in_region(name, decl)

    def _sets(self, path: Path, s: Stmt, name: str) -> bool:
        match s:
            case Assign(target=Var(x) | Load(x, _)) | Copy(target=x):
                return x == name
            case For():
                shared_out = any(is_loop(d) and path in d.paths for d in self.inner)
                return s.var == name and not shared_out
            case Opaque():
                return name not in s.spares
            case _:
                return False

    def _some(self, path: Path) -> tuple[Directive, ...]:
        """The directives by which not every thread runs the statement at `path`, or not alike."""
        return tuple(d for d in self.inner if d.governs(path))

    def _killer(self, name: str, path: Path) -> Path | None:
        """The last statement that sets the variable on every way to `path`."""
        last = None
        for place, s in walk(self.c.fn.body):
            plain = isinstance(s, Assign) and s.target == Var(name) and not s.op
            if plain and self._within(place) and not self._some(place):
                same = place[:-1] == path[: len(place) - 1] and len(place) <= len(path)
                alike = same and (place[-1] < 0) == (path[len(place) - 1] < 0)
                if alike and order(place) < order(path):
                    last = place
        return last

    def _reaches(self, place: Path, path: Path, killer: Path | None) -> bool:
        """Whether what is set at `place` may be there at `path`."""
        inside = place[: len(path)] == path and place != path
        if inside and path != self.c.path:
            return True
        if not inside and order(place) < order(path):
            return killer is None or order(place) > order(killer)
        again = self._loop_around(place, path)
        return again is not None and (killer is None or killer[: len(again)] != again)

    def _loop_around(self, one: Path, other: Path) -> Path | None:
        """The innermost loop of the region that repeats both statements."""
        for n in range(min(len(one), len(other)) - 1, 0, -1):
            shared = one[:n] == other[:n] and self._within(one[:n])
            if shared and isinstance(at(self.c.fn, one[:n]), For | Opaque):
                return one[:n]
        return None

    def _differs(self, path: Path, s: Stmt, name: str) -> bool:
        """Whether threads may set the variable to different values there, or not all of them."""
        some = self._some(path)
        if any(name in d.variables("private", "firstprivate", "linear") for d in some):
            return False
        if some or isinstance(s, Opaque) or self._in_unknown(path):
            return True
        used = frozenset(n for e in _sources(s) for n in names(e))
        used |= {s.source} if isinstance(s, Copy) else frozenset()
        used |= {name} if isinstance(s, Assign) and s.op else frozenset()
        asked = {(n, path) for n in used} | set(self.guards(path))
        return any(self.differing(*x) is not None for x in sorted(asked))

    def _in_unknown(self, path: Path) -> bool:
        around = (at(self.c.fn, path[:n]) for n in range(1, len(path)) if self._within(path[:n]))
        return any(isinstance(s, Opaque) for s in around)


def _sources(s: Stmt) -> tuple[Expr, ...]:
    """What a statement computes from."""
    if isinstance(s, Assign):
        return (s.value, *(s.target.index if isinstance(s.target, Load) else ()))
    return () if isinstance(s, If) else stmt_exprs(s)
