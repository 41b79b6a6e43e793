"""Random loops with the steps that `check` names for them: what they become leaves what the loop as
written leaves, all of its parts in any order, what these make private spoilt."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from checks import SIZES, final, shuffle
from machine import observed, run

import loopxform as lx
from loopxform.analysis.verdict import ENOUGH, LoopVerdict, judge
from loopxform.api.preparing_steps import preparing_steps, with_preparing_steps
from loopxform.api.restated import restated
from loopxform.ir.nodes import Function
from loopxform.transforms import Derivation

PARAMS = "int N, int M, int a[99], int b[99], const int c[99]"
HEADERS = (
    *("for (i = 2; i < N + 2; i++)", "for (i = 3; i < 12; i++)", "for (i = 2; i < N; i += 2)"),
    *("for (i = N + 2; i > 1; i--)", "for (i = 4; i <= M + 4; i++)"),
)

COUNTING = ("k++;", "k += 2;", "m = k + 1; k = m + 1;", "k--; k += 3;", "k = 1 + k; m = k;")


class Statements:
    """A loop whose statements read what others of them store, before or behind."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def text(self, name: str) -> str:
        body = " ".join(self.statement() for _ in range(self.rng.randint(1, 3)))
        last = self.rng.choice(["", "", "b[90] = k;", "b[91] = t;"])
        start = "int i, k = 1, t = 5, m = 2;"
        return (
            f"void {name}({PARAMS})\n{{ {start} {self.rng.choice(HEADERS)} {{ {body} }} {last} }}"
        )

    def statement(self) -> str:
        kind = self.rng.random()
        if kind < 0.04:
            return f"{self.rng.choice(COUNTING)} a[k] = {self.read()};"
        if kind < 0.08:
            return f"k {self.rng.choice(['+= 1', '+= M', '-= 1'])};"
        if kind < 0.1:
            return f"m = {self.rng.choice(['i', 'i + 1', 'c[i]'])};"
        if kind < 0.2:
            return f"t = {self.read()};"
        guard = self.rng.choice(["", "", "", "", "if (c[i] & 1) ", "if (i > 5) "])
        op = self.rng.choice(["=", "=", "=", "+="])
        return f"{guard}{self.stored()} {op} {self.read()} + {self.read()};"

    def stored(self) -> str:
        return f"{self.rng.choice('ab')}[{self.subscript()}]"

    def read(self) -> str:
        return self.rng.choice(["t", "i", *(f"{x}[{self.subscript()}]" for x in "abccc")])

    def subscript(self) -> str:
        near = ["i", "i", "i + 1", "i - 1", "i + 2", "i - 2"]
        far = ["k", "20 - i", "N - i + 8", "7", "M", "2 * i", "m"]
        return self.rng.choice(near * 5 + far)


def prepared(name: str, text: str) -> Counter[str]:
    """The verdicts on a function; where steps are named, what comes of them is compared."""
    fn = lx.loads(text, "t.c").routine(name).function
    verdicts = with_preparing_steps(judge(fn), fn)
    for v in verdicts:
        if v.after:
            after = Derivation(fn).run(preparing_steps(fn, v.path)).function
            parts = [x for x in restated(judge(after), after, ()) if x.loc == v.loc]
            assert parts, text
            _same(name, text, fn, after, parts)
    return Counter(step.split()[0] for v in verdicts for step in v.after)


def _same(name: str, text: str, fn: Function, after: Function, parts: list[LoopVerdict]) -> None:
    free = [v for v in parts if v.parallel in ENOUGH["reduction"]]
    assert all(v in free or v.idioms for v in parts), text
    how = {
        "order": {v.path: shuffle(name) for v in free},
        "poison": {v.path: v.private for v in free},
        "copies": frozenset(n for v in free for n in v.copies),
        "conditional": frozenset(n for v in free for n in v.conditional),
    }
    kept = {"a", "b"}
    conditions = {e for v in free for e in v.assumes if not e.endswith("overlap")}
    for size in SIZES:
        if not all(eval(e, {}, dict(size)) for e in conditions):
            continue
        try:
            before, then = run(fn, size), run(after, size, **how)
        except OverflowError:
            continue
        left, found = final(before), final(then)
        assert {p: x for p, x in left.items() if p[0] in kept} == {
            p: x for p, x in found.items() if p[0] in kept
        }, (text, [str(s) for s in preparing_steps(fn, parts[0].path)])


def turns(rng: random.Random, name: str) -> int:
    """Of a loop that is a scan of elements, how many iterations lie between those that meet."""
    step, ahead = rng.choice([1, 1, 2]), rng.choice([0, 0, 1, 2])
    last = f"a[i - {rng.choice([1, 2, 3, 4, 6])}]"
    own = rng.choice([[], [f"a[i + {ahead}]"], ["c[i]"]])
    other = rng.choice([[], [], [f"a[i - {rng.choice([2, 4])}]"]])
    reads = [last, *own, *other]
    rng.shuffle(reads)
    body = f"a[i + {ahead}] = {' + '.join(reads)};"
    text = f"void {name}({PARAMS}) {{ for (int i = 6; i < 40; i += {step}) {body} }}"
    fn = lx.loads(text, "t.c").routine(name).function
    (v,) = judge(fn)
    if not v.idioms:
        return 0
    (scan,) = v.idioms
    for first, second in observed(run(fn, SIZES[0]).events):
        gap = second.iteration[0][1] - first.iteration[0][1]
        assert gap % (scan.distance * step) == 0, (text, scan)
    return scan.distance


def check(seed: int, count: int) -> Counter[str]:
    rng, seen = random.Random(seed), Counter[str]()
    for n in range(count):
        seen += prepared(f"f{n}", Statements(rng).text(f"f{n}"))
    return seen


def test_scans_that_take_turns() -> None:
    rng = random.Random(7)
    seen = Counter(turns(rng, f"s{n}") for n in range(40))
    assert seen[0] > 2, seen
    assert len(seen) > 3, seen


def test_what_prepared_loops_leave() -> None:
    seen = check(41, 60)
    assert all(seen[x] > 2 for x in ("node-split", "distribute", "substitute")), seen


@pytest.mark.slow
def test_what_more_prepared_loops_leave() -> None:
    check(4100, 800)
