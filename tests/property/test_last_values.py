"""Random nests whose iterations write an array anew, which is read after them: expansion is refused
wherever some iteration reads what another one wrote, or the last one leaves an element to others;
where it is accepted, it computes the same, and is parallel in any order."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from deriving import arguments
from random_nests import lowered
from test_steps import Reference
from tracing import Access, trace

from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing
from loopxform.transforms import Derivation, Expand, Parallelise

EXTENT = 40
SIZES = (0, 1, 2, 3, 6)
ON_DATA = "c[j] > 2"


def nest(rng: random.Random) -> tuple[str, tuple[str, ...]]:
    """One or two loops around loops over elements of t, and the names of these."""
    chosen = rng.choice([("i",), ("i",), ("h", "i")])
    heads = " ".join(f"for (int {v} = {_header(rng, v, chosen)})" for v in chosen)
    parts = " ".join(_part(rng, first=n == 0) for n in range(rng.choice([1, 2, 2, 3])))
    body = f"A[i][{EXTENT - 1}] = c[0]; {parts}"
    arrays = f"int A[{EXTENT}][{EXTENT}], int t[{EXTENT}], int c[{EXTENT}]"
    return f"void f(int n, int m, {arrays}) {{ {heads} {{ {body} }} }}", chosen


def _header(rng: random.Random, v: str, chosen: tuple[str, ...]) -> str:
    low, high = rng.choice(["0", "0", "1"]), rng.choice(["n", "n", "m", "4"])
    if v != chosen[0] and rng.random() < 0.1:
        high = "h"
    if rng.random() < 0.2:
        return f"{high} - 1; {v} >= {low}; {v} -= {rng.choice('12')}"
    return f"{low}; {v} < {high}; {v} += {rng.choice('1112')}"


def _part(rng: random.Random, *, first: bool) -> str:
    """A loop, mostly one that writes t and later ones that read it."""
    low, high = rng.choice(["0"] * 4 + ["1", "i"]), rng.choice(["m"] * 4 + ["m - 1", "i + 1", "3"])
    at = rng.choice(["j"] * 6 + ["j + 1", "2*j", "i", "i + j", "0"])
    write = f"t[{at}] = A[i][j] + i;"
    read = f"A[i][j] = t[{rng.choice(['j'] * 5 + ['j + 1', '0', 'i'])}] * 3;"
    if rng.random() < 0.1:
        write = f"t[{at}] += 1;"
    kind = rng.random()
    inner = write if first or kind < 0.2 else read if kind < 0.7 else f"{write} {read}"
    if rng.random() < 0.15:
        test = rng.choice(["i < n - 1", "m > 2", "j % 2 == 0", "i == 0", ON_DATA])
        inner = f"if ({test}) {{ {inner} }}"
    return f"for (int j = {low}; j < {high}; j++) {{ {inner} }}"


def is_legal(events: list[Access], chosen: tuple[str, ...]) -> bool:
    """By definition: what one run of the nest did, access by access."""
    written: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for e in events:
        if not set(chosen) <= e.iteration.keys():
            continue
        own = written.setdefault(tuple(e.iteration[v] for v in chosen), set())
        if e.place[0] != "t":
            continue
        if e.write:
            own.add(e.place[2])
        elif e.place[2] not in own:
            return False
    last = next(reversed(written.values()), set())
    return all(elements <= last for elements in written.values())


def _legal(fn: Function, chosen: tuple[str, ...]) -> bool:
    return all(is_legal(trace(fn, {"n": n, "m": m}), chosen) for n in SIZES for m in SIZES)


def sweep(seed: int, count: int) -> Counter[str]:
    """The step against the definition, and what it makes against what was."""
    counts: Counter[str] = Counter()
    for n in range(seed * 100_000, seed * 100_000 + count):
        text, chosen = nest(random.Random(n))
        fn, step = lowered(text), Expand("t", chosen)
        accepted, legal = not step.check(fn), _legal(fn, chosen)
        assert legal or not accepted, f"seed {n}: {step} was accepted\n{text}"
        counts["accepted" if accepted else "too careful" if legal else "refused"] += 1
        if not accepted:
            continue
        done = Derivation(fn).then(step)
        expected = Reference(f"seed {n}\n{text}", fn, [arguments(fn, k) for k in SIZES])
        expected.check(done.function, listing(done.function))
        for v in chosen:
            if not Parallelise(v).check(done.function):
                done = done.then(Parallelise(v))
                counts["parallel"] += 1
        expected.check(done.function, listing(done.function))
    return counts


def assert_reached(counts: Counter[str], nests: int) -> None:
    assert min(counts["accepted"], counts["refused"]) >= nests // 6, counts
    assert counts["parallel"] >= nests // 60, counts
    assert counts["too careful"] <= counts["accepted"] // 5, counts


def test_random_last_values() -> None:
    assert_reached(sweep(0, 80), 80)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 3))
def test_many_random_last_values(seed: int) -> None:
    assert_reached(sweep(seed, 500), 500)
