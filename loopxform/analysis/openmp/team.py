"""The rest of a parallel region: what other threads may do while the iterations run.

A work-sharing construct ends with a barrier unless it says `nowait`. A statement of the region may
run together with a loop L

    unless  both are in constructs that end with a barrier,
    or      a barrier stands between them in the same block of the region

and then must not touch what L writes, nor write what L touches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.analysis.dependence import Dependence
from loopxform.analysis.deps import dependences
from loopxform.analysis.openmp.claim import Doubt, Finding
from loopxform.analysis.openmp.construct import Construct, is_loop, touched_by
from loopxform.analysis.scope import order
from loopxform.ir.directives import Directive
from loopxform.ir.nodes import Const, Decl, For, If, Opaque, Return, Stmt
from loopxform.ir.visit import Path, at, replace_at, walk
from loopxform.records import record

Told = Iterator[Finding | Doubt]
Place = tuple[tuple[int, int], ...]
"""A path as `order` has it."""


def team(c: Construct, directives: tuple[Directive, ...]) -> Told:
    """Races of the loop with what stands around it in its parallel region."""
    if c.region is None:
        return
    where = _Region(c, c.region, directives)
    told: set[str] = set()
    for path, s in where.others():
        if isinstance(s, Opaque):
            text = f"{s.reason} in the region, which other threads may reach meanwhile"
            yield Doubt("LX313", text, s.origin.loc)
            continue
        for name in sorted(where.clash(path, s) - told):
            told.add(name)
            yield where.told(name, path, s)
    yield from where.replicated()
    if where.meets_itself():
        text = "the loop runs again in the region, and nowait lets its rounds overlap"
        yield Doubt("LX313", text, c.directive.loc)


@record
class _Region:
    c: Construct
    region: Directive
    directives: tuple[Directive, ...]

    def others(self) -> Iterator[tuple[Path, Stmt]]:
        """The statements of the region that may run together with the loop."""
        barriers = [order(p) for p in self._barriers(self._block)]
        for path, s in self._statements():
            if not self._apart(path, barriers):
                yield path, s

    def _statements(self) -> Iterator[tuple[Path, Stmt]]:
        own = self.c.path
        for path, s in walk(self.c.fn.body):
            if self.region.governs(path) and path[: len(own)] != own:
                around = own[: len(path)] == path
                if not (isinstance(s, Decl | Return) or (around and isinstance(s, If))):
                    yield path, s

    def _sharing(self, path: Path) -> Directive | None:
        """The work-sharing construct of this region around a statement."""
        start = self.directives.index(self.region)
        words = ("for", "single", "sections", "distribute")
        found = (d for d in self.directives[start + 1 :] if d.has(*words) and d.governs(path))
        return next(found, None)

    @property
    def _block(self) -> Path:
        """That of the region."""
        return self.region.paths[0][:-1] if self.region.paths else ()

    def _apart(self, path: Path, barriers: Sequence[Place]) -> bool:
        sharing = self._sharing(path)
        if sharing is not None and _waits(sharing) and _waits(self.c.directive):
            return True
        return self._barrier_between(path, barriers)

    def _barrier_between(self, path: Path, barriers: Sequence[Place]) -> bool:
        own, block = self.c.path, self._block
        if own[:-1] != block or path[: len(block)] != block or self._repeats(block):
            return False
        first, last = sorted([own[: len(block) + 1], path[: len(block) + 1]], key=order)
        if first == last:
            return False
        return any(order(first) <= place < order(last) for place in barriers)

    def _repeats(self, block: Path) -> bool:
        """Whether a loop of the region runs the block again: then `after` is also `before`."""
        return any(
            isinstance(at(self.c.fn, block[:n]), For) and self.region.governs(block[:n])
            for n in range(1, len(block) + 1)
        )

    def _barriers(self, block: Path) -> Iterator[Path]:
        """The statements of the block behind which every thread waits."""
        for d in self.directives:
            at_block = d.after is not None and d.after[:-1] == block
            if d.words == ("barrier",) and d.after is not None and at_block:
                yield d.after
        for path, _ in self._statements_of(block):
            sharing = self._sharing(path)
            if sharing is not None and _waits(sharing) and sharing.paths[-1:] == (path,):
                yield path

    def _statements_of(self, block: Path) -> Iterator[tuple[Path, Stmt]]:
        found = walk(self.c.fn.body)
        return ((p, s) for p, s in found if p[:-1] == block and self.region.governs(p))

    def meets_itself(self) -> bool:
        return not _waits(self.c.directive) and self._repeats(self.c.path[:-1])

    # ------------------------------------------------------------ what clashes

    def clash(self, path: Path, s: Stmt) -> frozenset[str]:
        """The shared variables that the statement and the loop touch, one of them writing."""
        touched, written = (self._shared(names, path) for names in touched_by(s))
        if isinstance(s, For) and self._counts_alone(path):
            touched, written = touched - {s.var}, written - {s.var}
        mine = [touched_by(x) for _, x in self.c.statements] + [touched_by(self.c.loop)]
        own = {x.var for x in self.c.nest}
        read = frozenset(n for t, _ in mine for n in t) - own
        changed = frozenset(n for _, w in mine for n in w) - own
        private = self.c.directive.variables("private", "firstprivate", "linear")
        copied = self.c.directive.variables("reduction", "lastprivate")
        read, changed = (read - private) | copied, (changed - private) | copied
        return (written & read) | (touched & changed)

    def _counts_alone(self, path: Path) -> bool:
        return any(is_loop(d) and path in d.paths for d in self.directives)

    def _shared(self, names: frozenset[str], path: Path) -> frozenset[str]:
        sharing = self._sharing(path)
        own = sharing.variables("private", "firstprivate") if sharing is not None else frozenset()
        return frozenset(n for n in names - own if not self._private(n))

    def _private(self, name: str) -> bool:
        decl = next(
            (p for p, s in walk(self.c.fn.body) if isinstance(s, Decl) and s.name == name), None
        )
        known = decl is not None or any(p.name == name for p in self.c.fn.objects)
        return not known or self.c.private_in_region(name, decl)

    def _one_at_a_time(self, path: Path) -> bool:
        words = ("master", "masked", "critical", "atomic")
        start = self.directives.index(self.region)
        return any(d.has(*words) and d.governs(path) for d in self.directives[start + 1 :])

    def told(self, name: str, path: Path, s: Stmt) -> Finding | Doubt:
        """Proven where the two stand in one block and the dependence is exact."""
        d = self._proof(name, path)
        line = f"line {s.origin.loc.line}" if s.origin.loc else "a statement"
        if d is None:
            text = f"no barrier keeps {line}, which uses '{name}', apart from this loop"
            return Doubt("LX313", text, s.origin.loc)
        text = f"race on '{name}': no barrier keeps {line} apart from the iterations of this loop"
        later = order(path) > order(self.c.path)
        nowait = later and self.c.directive.clause("nowait") is not None
        remedy = "remove nowait" if nowait else "#pragma omp barrier between them"
        return Finding("LX309", text, s.origin.loc, name, _values(d), remedy)

    def _proof(self, name: str, path: Path) -> Dependence | None:
        """A dependence between the loop and a statement at its side, in different threads."""
        own = self.c.path
        block = own[:-1]
        if path[:-1][: len(block)] != block or path[len(block)] < 0 or own[-1] < 0:
            return None
        if any(d.words == ("barrier",) and d.after is None for d in self.directives):
            return None
        sharing = self._sharing(path)
        if sharing is not None and is_loop(sharing):
            return None
        if self._one_at_a_time(path) and any(d.has("critical", "atomic") for d in self.c.inside):
            return None
        first, last = sorted([own, path[: len(own)]])
        pair = (at(self.c.fn, first), at(self.c.fn, last))
        if any(isinstance(s, Opaque) for _, s in walk(pair)):
            return None
        together = replace_at(self.c.fn, first, (If(Const(1), pair),))
        rows = dependences(together, first)
        mine = (*first, 0 if first == own else 1)
        return next((d for d in rows if d.array == name and d.exact and _crosses(d, mine)), None)

    def replicated(self) -> Told:
        """Shared variables that every thread of the region writes."""
        told: set[str] = set()
        words = (
            "for",
            "single",
            "sections",
            "distribute",
            "master",
            "masked",
            "critical",
            "atomic",
        )
        start = self.directives.index(self.region)
        for path, s in self._statements():
            if any(d.has(*words) and d.governs(path) for d in self.directives[start + 1 :]):
                continue
            for name in sorted(self._shared(touched_by(s)[1], path) - told):
                told.add(name)
                text = f"every thread of the region writes '{name}'"
                yield Doubt("LX313", text, s.origin.loc)


def _values(d: Dependence) -> str | None:
    """The iteration that meets the statement, with sizes."""
    if d.point is None:
        return None
    found = (d.point.source | d.point.sink, d.point.params)
    here, sizes = (", ".join(f"{k}={v}" for k, v in p.items()) for p in found)
    return f"{here} ({sizes})" if sizes else here


def _crosses(d: Dependence, mine: Path) -> bool:
    ends = (d.source.path, d.sink.path)
    return sum(p[: len(mine)] == mine for p in ends) == 1


def _waits(d: Directive) -> bool:
    """Whether every thread waits at the end of a work-sharing construct."""
    return d.clause("nowait") is None and not d.has("distribute")
