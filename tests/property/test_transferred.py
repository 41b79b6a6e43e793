"""What is copied to a device and back, against what random programs read and write."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest
from c_nests import programs
from machine import Event, run
from random_nests import lowered, nests

from loopxform.codegen.host.buffers import Buffer, buffers_of
from loopxform.errors import EmitError
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function, Opaque, Param
from loopxform.ir.visit import reads, walk, writes

SIZES = ({"M": 3, "N": 4}, {"M": 5, "N": 2}, {"M": 0, "N": 3}, {"M": 1, "N": 1}, {"M": 7, "N": 9})


@dataclass
class Happened:
    """The elements of one array, in the order of memory, that a run touched."""

    exposed: set[int]
    written: set[int]
    touched: set[int]


def happened(events: list[Event], p: Param, values: dict[str, int]) -> Happened:
    found = Happened(set(), set(), set())
    for e in events:
        if e.name != p.name:
            continue
        at = 0
        for size, i in zip((None, *p.shape[1:]), e.place[2], strict=True):
            at = i if size is None else at * evaluate(size, values) + i
        found.touched.add(at)
        if e.write:
            found.written.add(at)
        elif at not in found.written:
            found.exposed.add(at)
    return found


def inside(e: Event, p: Param, values: dict[str, int]) -> bool:
    """Whether an event is about another array, or an element that this one has."""
    sizes = [s if s is None else evaluate(s, values) for s in p.shape]
    return e.name != p.name or all(s is None or 0 <= i < s for i, s in zip(e.place[2], sizes))


def arrays(fn: Function) -> Iterator[Buffer]:
    """Those whose extent is known."""
    used = reads(fn.body) | writes(fn.body)
    for p in fn.objects:
        if p.array and p.name in used:
            try:
                yield from (b for b in buffers_of(fn, [p]) if isinstance(b, Buffer))
            except EmitError:
                continue


def hull(found: set[int]) -> set[int]:
    return set(range(min(found), max(found) + 1)) if found else set()


def judged(fn: Function) -> tuple[int, int]:
    """Fails where the plan is wrong; how many arrays there are, and how many are copied exactly as
    far as needed."""
    every = list(arrays(fn))
    exact = [True] * len(every)
    for values in SIZES:
        try:
            events = run(fn, dict(values)).events
        except OverflowError:  # more accesses than a test waits for
            continue
        for n, b in enumerate(every):
            assert isinstance(b.param, Param)
            real = happened(events, b.param, values)
            if not all(inside(e, b.param, values) for e in events):
                continue
            into, back = (set(range(*b.elements(part, values))) for part in (b.into, b.back))
            needed = real.exposed | (back - real.written)
            assert back >= real.written, (b, values)
            assert into >= needed, (b, values)
            assert hull(real.touched) >= into | back or b.param.shape[0] is not None
            assert b.exposed or not real.exposed
            exact[n] &= back == hull(real.written) and into == hull(needed)
    return len(every), sum(exact)


def sweep(found: Iterable[tuple[str, Function]]) -> tuple[int, int]:
    """Of how many arrays the plan is sound, and of how many no element too much is copied."""
    total = good = 0
    for name, fn in found:
        if any(isinstance(s, Opaque) for _, s in walk(fn.body)):
            continue
        try:
            every, exact = judged(fn)
        except AssertionError as e:
            raise AssertionError(name) from e
        total, good = total + every, good + exact
    return total, good


KINDS = ("affine", "induction", "unsigned", "extremum", "pointers")


@pytest.mark.parametrize("kind", KINDS)
def test_no_element_is_missed_and_none_comes_back_that_was_not_there(kind: str) -> None:
    total, exact = sweep(programs(kind, 1, 12))
    assert total > 8
    assert exact


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many(kind: str) -> None:
    assert sweep(programs(kind, 2, 120))[0] > 70


@pytest.mark.slow
def test_many_guarded_nests() -> None:
    assert sweep((name, lowered(text)) for name, text in nests(3, 120))[0] > 70


# ---------------------------------------------------------------- exactly what is needed


def plain(rng: random.Random) -> str:
    """Loops over parts of arrays, one after the other or in time, without conditions."""
    lines = []
    for _ in range(rng.choice([1, 2, 2, 3])):
        low, high = rng.choice([0, 1, 1, 2]), rng.choice(["M", "N", "N", "N - 1", "N - 2"])
        head = f"for (int i = {low}; i < {high}; i++)"
        if rng.random() < 0.4:
            inner, end = rng.choice([0, 0, 1]), rng.choice(["M", "N", "i + 1"])
            head += f" for (int j = {inner}; j < {end}; j++)"
            at = [f"[i + {c}][j]" for c in (-low, 0, 1)] + ["[i][j + 1]", "[i][0]"]
            target, *values = (f"A{rng.choice(at)}" for _ in range(3))
        else:
            at = [f"[i + {c}]" for c in (-low, 0, 0, 1)]
            target, *values = (f"{rng.choice('ab')}{rng.choice(at)}" for _ in range(3))
        value = rng.choice(["1", values[0], " + ".join(values)])
        lines.append(f"{head} {target} {rng.choice(['=', '=', '=', '+='])} {value};")
    body = "\n    ".join(lines)
    time = "for (int t = 0; t < M; t++)" if rng.random() < 0.3 else ""
    return (
        f"void f(int M, int N, int *a, int *b, int A[][12]) {{\n  {time} {{\n    {body}\n  }}\n}}"
    )


def plains(seed: int, count: int) -> Iterator[tuple[str, Function]]:
    for n in range(seed * 100_000, seed * 100_000 + count):
        text = plain(random.Random(n))
        yield text, lowered(text)


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 5))]
)
def test_affine_loops_move_exactly_what_they_need(seed: int) -> None:
    """But for a few, whose first or last element has no simple formula."""
    total, exact = sweep(plains(seed, 60))
    assert exact > 0.97 * total > 60
