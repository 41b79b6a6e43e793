"""Numbers of accesses of random nests: the formulas against a count of every iteration."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

import loopxform as lx
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.model import access_counts
from loopxform.transforms import Derivation

COUNTERS = "ijkl"
LOW = (*["0"] * 5, "1", "{v}", "{v} + 1", "n - {v}", "{v} > 2 ? {v} : 2")
FULL = ("n", "n", "m", "n - 1")
HIGH = (*FULL, *FULL, "{v}", "{v} + 2", "n + {v}", "n - {v}", "{v} < 2 ? n : m", "2 * m")
STEPS = (*["++"] * 8, " += 2", " += 3")
TESTS = (
    *("{v} < {w}", "{v} != {w}", "{v} == {w}", "{v} + {w} < n", "{v} <= 2 || {w} > m - 2"),
    *("a[{v}] > 0", "{v} < {w} && {v} != 1", "!({v} < {w})", "q > 2", "2 * {v} > {w}"),
    *("{v} >= 0", "{v} < 0", "{v} != 1 || {w} != 1", "{v} > 1 && a[{w}] > 0", "{v} == 1"),
)
SIZES = ((6, 6, 3), (8, 6, 2), (6, 8, 9))
"""Of n, m and q: no range between numbers and sizes above is negative."""
VALUES = ("a[{v}]", "{v} > 0 ? a[{v} - 1] : 0", "({v} < {w} && a[{v}])", "a[a[{w}]]", "1")


@dataclass
class Machine:
    """Runs a program iteration by iteration, and counts; elements of arrays are random."""

    numbers: dict[str, int]
    random: random.Random
    reads: int = 0
    writes: int = 0
    started: Counter[str] = field(default_factory=Counter)
    iterations: Counter[str] = field(default_factory=Counter)

    def run(self, body: tuple[Stmt, ...]) -> None:
        for s in body:
            match s:
                case For():
                    self.numbers[s.var] = self.value(s.lo)
                    self.started[s.var] += 1
                    while self.numbers[s.var] < self.value(s.hi):
                        self.iterations[s.var] += 1
                        self.run(s.body)
                        self.numbers[s.var] += self.value(s.step)
                case If():
                    self.run(s.then if self.value(s.cond) else s.orelse)
                case Assign(target, value, op):
                    self.value(value)
                    if isinstance(target, Load):
                        for i in target.index:
                            self.value(i)
                        self.writes += 1
                        self.reads += bool(op)
                case Decl():
                    continue
                case _:
                    raise AssertionError(s)

    @property
    def averages(self) -> dict[str, Fraction]:
        """How often each loop runs."""
        return {f"trips({v})": Fraction(self.iterations[v], self.started[v] or 1) for v in COUNTERS}

    def value(self, e: Expr) -> int:
        match e:
            case Load(_, index):
                for i in index:
                    self.value(i)
                self.reads += 1
                return self.random.randint(0, 1)
            case Bin("&&", left, right):
                return int(bool(self.value(left)) and bool(self.value(right)))
            case Bin("||", left, right):
                return int(bool(self.value(left)) or bool(self.value(right)))
            case Select(cond, then, orelse):
                return self.value(then if self.value(cond) else orelse)
            case Bin(op, left, right):
                a, b = self.value(left), self.value(right)
                return evaluate(Bin(op, Const(a), Const(b)), {})
            case Un(op, operand):
                return evaluate(Un(op, Const(self.value(operand))), {})
            case Cast(_, operand):
                return self.value(operand)
            case Var(name):
                return self.numbers[name]
            case _:
                return evaluate(e, {})


def nest(r: random.Random) -> str:
    """A nest of loops whose bounds depend on one another, statements anywhere, some conditional."""
    depth = r.choice((2, 2, 3, 3, 3, 4))
    body = statement(r, COUNTERS[:depth])
    for n in reversed(range(depth)):
        lo, hi = r.choice(LOW if n else LOW[:6]), r.choice(HIGH if n else FULL)
        v, outer = COUNTERS[n], r.choice(COUNTERS[: max(n, 1)])
        head = f"for (int {v} = {lo}; {v} < ({hi}); {v}{r.choice(STEPS)})".format(v=outer)
        extra = statement(r, COUNTERS[: n + 1]) if r.random() < 0.3 else ""
        body = f"{head} {{ {extra} {body} }}"
    return f"void f(int n, int m, int q, const int a[n], int b[n], int c[n]) {{ {body} }}"


def statement(r: random.Random, counters: str) -> str:
    def filled(text: str) -> str:
        return text.format(v=r.choice(counters), w=r.choice(counters))

    made = f"b[{r.choice(counters)}] {r.choice(('=', '+='))} {filled(r.choice(VALUES))};"
    for _ in range(r.choice((0, 0, 1, 1, 2))):
        other = f" else c[0] += {filled(r.choice(VALUES))};" if r.random() < 0.3 else ""
        made = f"if ({filled(r.choice(TESTS))}) {{ {made} }}{other}"
    return made


def check(text: str, seed: int) -> tuple[bool, bool]:
    """Fails unless each formula is right; whether those of reads and of writes are exact."""
    fn: Function = lx.loads(text)["f"].function
    found = access_counts.naive(Derivation(fn))
    r = random.Random(seed)
    for n, m, q in SIZES:
        sizes = {"n": n, "m": m, "q": q}
        machine = Machine(dict(sizes), r)
        machine.run(fn.body)
        for terms, count in (
            (found.global_reads, machine.reads),
            (found.global_writes, machine.writes),
        ):
            total = access_counts.total(terms, {**sizes, **machine.averages})
            right = total == count if access_counts.exact(terms) else total >= count
            assert right, f"{text}\n{sizes}: {access_counts.text(terms)} is {total}, not {count}"
    return access_counts.exact(found.global_reads), access_counts.exact(found.global_writes)


def test_random_nests() -> None:
    exact = [x for seed in range(20) for x in check(nest(random.Random(seed)), seed)]
    assert sum(exact) > len(exact) / 5


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_more_random_nests(part: int) -> None:
    for seed in range(1000 * (part + 1), 1000 * (part + 1) + 400):
        check(nest(random.Random(seed)), seed)
