"""Every verdict and every row of the matrix against runs of the program, for nests written in C.

What carries a dependence is never called parallel, `no` always has a pair of iterations that
collide, no observed dependence is missing from the matrix, a loop of an affine program is never
unknown, and pointers that overlap are named in what the verdict assumes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from c_nests import KINDS, programs
from checks import SIZES, check_rows, check_verdicts, check_witnesses
from machine import carrier, observed, run

from loopxform.analysis.deps import dependences
from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import For, Function, Opaque
from loopxform.ir.visit import loops, walk

SHIFTS = (-1, 0, 2)


def collisions(fn: Function, shift: int | None) -> Iterator[tuple[object, str, str]]:
    """(loop, name, name) of observed dependences; with a shift, b is a that many elements on."""
    aliases = {} if shift is None else {"b": ("a", shift)}
    for size in SIZES:
        try:
            machine = run(fn, size, aliases=aliases)
        except OverflowError:
            continue
        for first, second in observed(machine.events):
            at = carrier(first, second)
            if at is not None:
                yield at, first.name, second.name


def check_answers(name: str, fn: Function) -> Counter[str]:
    """What a loop carries is what its verdict makes private, reduces, or assumes away."""
    verdicts = {v.path: v for v in judge(fn)}
    for shift in (None, *SHIFTS) if "overlap" in name else (None,):
        for at, one, other in set(collisions(fn, shift)):
            v = verdicts[at]  # type: ignore[index]
            assert v.parallel in ("no", "unknown") or is_allowed(v, one, other), (
                name,
                v,
                one,
                other,
            )
    for v in verdicts.values():
        if name.startswith(("affine", "overlap")):
            assert v.parallel != "unknown", (name, v)
        if v.parallel == "no":
            assert v.reasons[0].witness, (name, v)
            rows = [d for d in dependences(fn, v.path[:1]) if d.carrier == v.path and d.exact]
            rows += [d for d in dependences(fn, v.path) if d.carrier == v.path and d.exact]
            assert rows, (name, v)
    return Counter(v.parallel for v in verdicts.values())


def check_opaque(name: str, fn: Function) -> None:
    """A loop around what is not modelled is never judged, unless its numbers leave it an iteration
    at most; every loop has a verdict."""
    once = {s.path for s in loops(fn) if _runs_once(s.loop)}
    verdicts = {v.path: v for v in judge(fn)}
    assert {s.path for s in loops(fn)} <= set(verdicts), name
    for path, s in walk(fn.body):
        for v in verdicts.values() if isinstance(s, Opaque) else ():
            if path[: len(v.path)] == v.path and v.path not in once:
                assert v.parallel == "unknown", (name, v)


def _runs_once(loop: For) -> bool:
    numbers = [value_of(e) for e in (loop.lo, loop.hi, loop.step)]
    return None not in numbers and len(range(*numbers)) < 2  # type: ignore[arg-type]


def is_allowed(v: LoopVerdict, one: str, other: str) -> bool:
    """Whether a verdict makes private, reduces or assumes away what collides."""
    if one != other:
        return any({one, other} <= set(text.split()) for text in v.assumes)
    handled = {*v.private, *(r.array for r in v.reductions)}
    return one in handled


def check(kind: str, seed: int, count: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for name, fn in programs(kind, seed, count):
        if any(isinstance(s, Opaque) for _, s in walk(fn.body)):
            check_opaque(name, fn)
            seen["opaque"] += 1
            continue
        seen += check_answers(name, fn)
        seen["dependences"] += check_rows(name, fn)
        seen["witnesses"] += check_witnesses(name, fn)
        check_verdicts(name, fn)
    return seen


@pytest.mark.parametrize("kind", KINDS)
def test_random_c(kind: str) -> None:
    seen = check(kind, 1, 25)
    assert min(seen["no"], seen["dependences"] // 100, seen["witnesses"] // 20) > 0, seen
    assert seen["yes"] + seen["privatizable"] + seen["reduction"] > 4, seen


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [100])
def test_much_random_c(kind: str, seed: int) -> None:
    check(kind, seed, 150)
