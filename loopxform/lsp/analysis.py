"""Judging a C file again and again while it changes: what a change cannot affect is kept."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher

from loopxform.api.check import CheckedFunction, checked
from loopxform.api.facade import File, Routine
from loopxform.api.reading import loads
from loopxform.budget import Budget, within
from loopxform.errors import InternalError, LoopxformError, contained
from loopxform.lsp.collect import function_facts, refusal
from loopxform.lsp.facts import NOTHING, Finding, FunctionFacts, moved
from loopxform.lsp.flags import Flags, Settings
from loopxform.lsp.pieces import Dependences, Piece, Pieces, pieces, reduced
from loopxform.records import record
from loopxform.source import Loc

AT_ONCE = 400
"""Lines of functions that are read together: enough to be quick, few enough to be interrupted."""

Told = Callable[[int, int], None]
"""Is told how many functions of how many are judged."""


def nobody(done: int, total: int) -> None:
    """Nobody wants to be told."""
    del done, total


@record
class Ask:
    """A version of a file to judge; `is_stopped` says that nobody waits any more."""

    path: str
    text: str
    flags: Flags
    settings: Settings
    is_stopped: Callable[[], bool] = lambda: False

    @contextmanager
    def limits(self) -> Iterator[None]:
        """What is done inside heeds the limits, and stops where nobody waits."""
        budget = Budget.of(self.settings.timeLimit, self.settings.memoryLimit)
        budget.is_stopped = self.is_stopped
        with within(budget), contained(self.path, Loc(self.path, 1, 1)):
            yield

    def file(self, text: str) -> File:
        """Raises InputError, Exhausted."""
        return loads(text, self.path, **self.flags.arguments)


@record
class FileFacts:
    """A version of a file: its functions in text order, each with its piece, and what is wrong with
    the rest. Where nothing could be read, functions are those of the version before."""

    functions: tuple[tuple[Piece, FunctionFacts], ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def every(self) -> Iterator[FunctionFacts]:
        yield from (f for _, f in self.functions)

    def of_line(self, line: int) -> FunctionFacts:
        """The function that a line is in."""
        return next((f for p, f in self.functions if line in p.lines), NOTHING)


@record
class _Known:
    """Facts, and where the pieces that they depend on began."""

    facts: FunctionFacts
    lines: tuple[int, ...]


class Analysis:
    """A file of an editor. To be asked by one thread."""

    def __init__(self) -> None:
        self._known = dict[bytes, _Known]()
        self._headers = tuple[str, ...]()
        self._times = dict[str, int]()
        self._last = FileFacts()

    def judge(self, ask: Ask, tell: Told = nobody) -> FileFacts:
        """What is true of a version of the file. Raises Stopped."""
        if any(_changed_at(f) != t for f, t in self._times.items()):
            self._known, self._headers = {}, ()
        try:
            with ask.limits():
                self._last = self._judged(ask, tell)
        except LoopxformError as e:
            self._last = self._unread(ask, e)
        except (MemoryError, OSError) as e:
            self._last = self._unread(ask, InternalError(f"{type(e).__name__}: {e}"))
        return self._last

    def _unread(self, ask: Ask, e: LoopxformError) -> FileFacts:
        """A version of which nothing can be read: what the one before has."""
        items = (p for p in pieces(ask.text).items if p.name)
        functions = tuple((p, self._before(p)) for p in items)
        return FileFacts(functions, (refusal(e, Loc(ask.path, 1, 1)),))

    def _judged(self, ask: Ask, tell: Told) -> FileFacts:
        work = _Work(pieces(ask.text), ask, self._headers)
        missing = [n for n in work.numbers if not self._holds(work, n)]
        rest = work.rest not in self._known
        total = done = len(missing)
        while missing or rest:
            batch = work.batch(missing)
            try:
                file = ask.file(reduced(work.found, work.needed(batch)))
            except LoopxformError as e:
                n = work.owner(e, batch)
                if n is None or n not in batch:
                    raise
                self._known[work.keys[n]] = _Known(work.unread(e, n), work.lines(n))
                missing.remove(n)
                continue
            texts = _headers(file)
            self._times = {f: _changed_at(f) for f in file.parsed.dependencies if f != ask.path}
            if texts != self._headers:  # what depends on what is known only now
                self._headers = texts
                return self._judged(ask, tell)
            for n, facts in work.facts(file, batch):
                key = work.rest if n is None else work.keys[n]
                self._known[key] = _Known(facts, work.lines(n))
                done -= n is not None
                tell(total - done, total)
            missing, rest = missing[len(batch) :], False
        return self._collected(work)

    def _holds(self, work: _Work, n: int) -> bool:
        """Whether it is known what is true of a function."""
        known = self._known.get(work.keys[n])
        if known is None:
            return False
        return known.lines == work.lines(n) or known.facts.is_within(work.path)

    def _collected(self, work: _Work) -> FileFacts:
        """What is known of a version; of others it is forgotten."""
        kept = {k: self._known[k] for k in (*work.keys.values(), work.rest)}
        self._known = kept
        out = list[tuple[Piece, FunctionFacts]]()
        for n in work.numbers:
            piece, facts = work.found.items[n], work.moved(kept[work.keys[n]], n)
            out.append((piece, facts if facts.is_read else self._stale(piece, facts)))
        return FileFacts(tuple(out), work.moved(kept[work.rest], None).findings)

    def _stale(self, piece: Piece, facts: FunctionFacts) -> FunctionFacts:
        """A function that cannot be read, with the loops that it had when it could."""
        before = self._before(piece)
        kept = tuple(f for f in before.findings if f.severity != "error")
        return FunctionFacts(facts.name, before.loops, (*facts.findings, *kept), is_read=False)

    def _before(self, piece: Piece) -> FunctionFacts:
        """What the version before has of a function and the lines that it still has."""
        old = next(((p, f) for p, f in self._last.functions if p.name == piece.name), None)
        if old is None:
            return NOTHING
        then, now = (p.text.split("\n") for p in (old[0], piece))
        places = dict[int, int]()
        for m in SequenceMatcher(None, then, now, autojunk=False).get_matching_blocks():
            places |= {old[0].line + m.a + k: piece.line + m.b + k for k in range(m.size)}
        loops = tuple(x for x in old[1].loops if x.loc.line in places)
        findings = tuple(f for f in old[1].findings if f.loc.line in places)
        places_of = [*(x.loc for x in loops), *(f.loc for f in findings)]
        file = places_of[0].file if places_of else ""
        kept = FunctionFacts(piece.name, loops, findings, is_read=False)
        return moved(kept, file, lambda n: places.get(n, n))


def looked_at(ask: Ask, line: int) -> CheckedFunction:
    """What is true of the function at a line, whatever is known of other versions. Raises
    LoopxformError, Stopped."""
    with ask.limits():
        found = pieces(ask.text)
        headers = _headers(ask.file(reduced(found, ())))
        work = _Work(found, ask, headers)
        numbers = [n for n in work.numbers if line in found.items[n].lines]
        file = ask.file(reduced(found, work.needed(numbers)))
        for n in numbers:
            for routine in work.routines(file, n):
                report = checked(file, function=routine.name)
                if report.functions:
                    return report.functions[0]
                raise report.problems[0]
        problems = [e for e in file.parsed.problems if e.loc]
        if problems:
            raise problems[0]
        message = "no function that is read stands here"
        raise LoopxformError(message, loc=Loc(ask.path, line, 1), code="LX052")


def _headers(file: File) -> tuple[str, ...]:
    """The texts of the files that a file includes."""
    sources = file.parsed.sources
    return tuple(sources.text(f) or "" for f in sources.files if f != file.name)


def _changed_at(file: str) -> int:
    """When a file was written last; 0 where it is gone."""
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


class _Work:
    """A version of a file, and the keys under which its functions are known."""

    def __init__(self, found: Pieces, ask: Ask, headers: Sequence[str]) -> None:
        self.found, self.path = found, ask.path
        self._dependences = Dependences(found, headers)
        self._start = hashlib.sha1(repr((ask.path, ask.flags, *headers)).encode(errors="replace"))
        self.numbers = tuple(n for n, p in enumerate(found.items) if p.name)
        self.keys = {n: self._key(self._depended(n), found.items[n]) for n in self.numbers}
        self._plain = tuple(p for p in found.items if not p.name)
        self.rest = self._key(self._in_order(self._plain))

    def _in_order(self, items: Iterable[Piece]) -> tuple[Piece, ...]:
        return tuple(sorted((*items, *self.found.directives), key=lambda p: p.start))

    def _depended(self, n: int) -> tuple[Piece, ...]:
        return self._in_order(self.found.items[k] for k in self._dependences.of(n))

    def _key(self, on: Sequence[Piece], about: Piece | None = None) -> bytes:
        """What facts about a piece are known under that depend on some pieces: their texts, in
        their order."""
        made = self._start.copy()
        made.update(f"{-1 if about is None else on.index(about)}\0".encode())
        for p in on:
            made.update(f"{p.text}\0".encode(errors="replace"))
        return made.digest()

    def lines(self, n: int | None) -> tuple[int, ...]:
        """Where the pieces begin that a function depends on, or the rest of the file."""
        on = self._in_order(self._plain) if n is None else self._depended(n)
        return tuple(p.line for p in on)

    def batch(self, missing: Sequence[int]) -> Sequence[int]:
        """The first of some functions, those that are read together."""
        lines = 0
        for count, n in enumerate(missing):
            lines += len(self.found.items[n].lines)
            if lines > AT_ONCE:
                return missing[: count + 1]
        return missing

    def needed(self, batch: Iterable[int]) -> frozenset[int]:
        return frozenset[int]().union(*(self._dependences.of(n) for n in batch))

    def routines(self, file: File, n: int) -> list[Routine]:
        """The functions that a piece defines."""
        lines = self.found.items[n].lines
        places = ((r, r.function.origin.loc) for r in file)
        return [r for r, at in places if at and at.file == self.path and at.line in lines]

    def facts(self, file: File, batch: Sequence[int]) -> Iterator[tuple[int | None, FunctionFacts]]:
        """What is true of some functions of a file that was read for them, and, under None, what is
        wrong with the rest."""
        problems = dict[int | None, list[Finding]]()
        for e in file.parsed.problems:
            n = self.owner(e, batch)
            problems.setdefault(n, []).append(self._inside(refusal(e, Loc(self.path, 1, 1)), n))
        yield None, FunctionFacts("", findings=tuple(problems.get(None, ())))
        for n in batch:
            name = self.found.items[n].name
            loops, findings = [], problems.get(n, [])
            is_read = not findings
            for routine in self.routines(file, n):
                report = checked(file, function=routine.name)
                own = [function_facts(f) for f in report.functions]
                findings += [refusal(e, Loc(self.path, 1, 1)) for e in report.problems]
                loops += [x for f in own for x in f.loops]
                findings += [x for f in own for x in f.findings]
            yield n, FunctionFacts(name, tuple(loops), tuple(findings), is_read=is_read)

    def owner(self, e: LoopxformError, batch: Sequence[int]) -> int | None:
        """The function that a problem is one of; -1: one that is not asked about."""
        if e.loc is None or e.loc.file != self.path:
            return None
        for n, p in enumerate(self.found.items):
            if e.loc.line in p.lines:
                return n if n in batch else -1 if p.name else None
        behind = [n for n in batch if self.found.items[n].line <= e.loc.line]
        return behind[-1] if behind else None

    def unread(self, e: LoopxformError, n: int) -> FunctionFacts:
        """A function with which nothing can be read."""
        finding = self._inside(refusal(e, Loc(self.path, 1, 1)), n)
        return FunctionFacts(self.found.items[n].name, (), (finding,), is_read=False)

    def _inside(self, f: Finding, n: int | None) -> Finding:
        """A finding, at the end of its function where the parser noticed later."""
        if n is None or n < 0 or f.loc.line in self.found.items[n].lines:
            return f
        last = self.found.items[n].lines[-1]
        return Finding(Loc(self.path, last, 1), 1, f.severity, f.code, f.message)

    def moved(self, known: _Known, n: int | None) -> FunctionFacts:
        """Facts, where the pieces that they depend on are now."""
        now = self.lines(n)
        if now == known.lines:
            return known.facts

        def line(old: int) -> int:
            at = max(0, bisect_right(known.lines, old) - 1)
            return now[at] + old - known.lines[at] if now else old

        return moved(known.facts, self.path, line)
