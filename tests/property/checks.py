"""What must agree between the analysis of a program and its runs."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

from machine import Event, Machine, Place, carrier, covers, direction, kind, observed, run

from loopxform.analysis.dependence import Dependence
from loopxform.analysis.deps import dependences
from loopxform.analysis.legality import parallel_obstacles
from loopxform.analysis.privatise import private_obstacles
from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import at, loops

SIZES = ({"M": 3, "N": 4}, {"M": 5, "N": 2}, {"M": 0, "N": 3})


def runs(fn: Function) -> Iterator[Machine]:
    for size in SIZES:
        try:
            yield run(fn, size)
        except OverflowError:
            continue


def check_rows(name: str, fn: Function) -> int:
    """Every observed dependence is in the list."""
    rows: dict[tuple[object, ...], list[Dependence]] = {}
    for d in dependences(fn):
        rows.setdefault((d.kind, d.array, d.source.path, d.sink.path), []).append(d)
    seen = set()
    for machine in runs(fn):
        for first, second in observed(machine.events):
            key = (kind(first, second), first.place[0], first.path, second.path)
            seen.add((key, direction(first, second)))
    for key, signs in seen:
        assert any(covers(d, signs) for d in rows.get(key, [])), (name, key, signs)
    return len(seen)


def _sets_counter(fn: Function, d: Dependence) -> bool:
    """Whether a loop sets its own variable there, of which the machine keeps no event."""
    ends = (at(fn, x.path) for x in (d.source, d.sink))
    return any(isinstance(s, For) and s.var == d.array for s in ends)


def check_witnesses(name: str, fn: Function) -> int:
    """Every exact row happens at the sizes and iterations of its witness."""
    done = 0
    for d in dependences(fn):
        if not d.exact or _sets_counter(fn, d):
            continue
        assert d.point is not None, (name, d)
        params = {"M": 0, "N": 0} | d.point.params
        if max(params.values()) > 12:
            continue
        try:
            machine = run(fn, params, elements_of(d.point.elements))
        except OverflowError:
            continue
        found = any(
            kind(a, b) == d.kind
            and a.place[0] == d.array
            and (a.path, b.path) == (d.source.path, d.sink.path)
            and [v for _, v, _ in a.iteration] == list(d.point.source.values())
            and [v for _, v, _ in b.iteration] == list(d.point.sink.values())
            and covers(d, direction(a, b))
            for a, b in _all_pairs(machine.events, d)
        )
        assert found, (name, d)
        done += 1
    return done


def elements_of(given: dict[str, int]) -> dict[Place, int]:
    """`c[1]` as the machine has it."""
    parts = ((*re.split(r"[\[\], ]+", k)[:-1], v) for k, v in given.items())
    return {(name, 0, tuple(map(int, index))): v for name, *index, v in parts}


def _all_pairs(events: list[Event], d: Dependence) -> Iterator[tuple[Event, Event]]:
    mine = [e for e in events if e.place[0] == d.array and e.path in (d.source.path, d.sink.path)]
    for n, a in enumerate(mine):
        if a.path == d.source.path:
            yield from ((a, b) for b in mine[n + 1 :] if b.place == a.place)


def check_parallel(name: str, fn: Function) -> int:
    """A loop without obstacles carries nothing."""
    free = {s.path for s in loops(fn) if not parallel_obstacles(fn, s.path)}
    for machine in runs(fn):
        for first, second in observed(machine.events):
            at = carrier(first, second)
            assert at not in free, (name, at, first, second)
    return len(free)


def final(machine: Machine) -> dict[Place, int]:
    """What the caller sees."""
    return {p: v for p, v in machine.memory.items() if p[0] in "ABabk"}


def same(name: str, what: object, before: Function, after: Function, **how: object) -> None:
    for size in SIZES:
        try:
            one = run(before, size)
        except OverflowError:
            continue
        two = run(after, size, **how)
        assert final(one) == final(two), (name, what, size)


def check_verdicts(name: str, fn: Function) -> dict[str, int]:
    """A loop judged parallel gives the same result in any order, its private variables spoilt."""
    count: dict[str, int] = {}
    for v in judge(fn):
        count[v.parallel] = count.get(v.parallel, 0) + 1
        if v.parallel in ("no", "unknown"):
            continue
        shuffled = shuffle(name)
        left = {"copies": frozenset(v.copies), "conditional": frozenset(v.conditional)}
        same(name, v, fn, fn, order={v.path: shuffled}, poison={v.path: v.private}, **left)
        _private(name, fn, v)
    return count


def shuffle(name: str) -> Callable[[list[int]], list[int]]:
    def order(values: list[int]) -> list[int]:
        out = list(values)
        random.Random(name).shuffle(out)
        return out

    return order


def _private(name: str, fn: Function, v: LoopVerdict) -> None:
    for local in ("t", "u", "w"):
        if not private_obstacles(fn, v.path, local):
            same(name, (local, v), fn, fn, poison={v.path: (local,)})
