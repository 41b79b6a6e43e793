"""What is said of a place is so in every run, and the same whatever was asked of other programs:
random functions with scalars that change, asked in a session and after all tables were emptied.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product

import pytest

from loopxform.analysis.context import always, never
from loopxform.errors import LoopxformError
from loopxform.frontend import parse_file
from loopxform.ir.evaluate import evaluate
from loopxform.ir.memo import forget
from loopxform.ir.nodes import Assign, Bin, Expr, For, Function, If, Stmt, Var
from loopxform.ir.visit import Path, walk

VALUES = {"n": range(-2, 8), "m": (-3, 0, 1, 2, 4, 5, 8), "h": (-1, 3, 6)}
ASSUMED = ("n >= 2", "n > m", "m % 4 == 0", "n % 2 == 0 && m > 1")
HEADERS = (
    "for (int {v} = {lo}; {v} < {hi}; {v} += {step})",
    "for (int {v} = {lo}; {v} < {hi}; {v} += {step})",
    "for (int {v} = {hi} - 1; {v} >= {lo}; {v} -= {step})",
)
MOST_STEPS = 3000
"""Of a run, and beyond `LARGEST` no run goes on."""
LARGEST = 2**30

Numbers = Mapping[str, int]


@dataclass
class ScalarWriter:
    """Writes a function over integers, some of which are set in branches and loops."""

    rng: random.Random
    loops: list[str] = field(default_factory=list)
    locals: list[str] = field(default_factory=lambda: ["t", "u"])

    def text(self) -> str:
        rng = self.rng
        assumed = f"#pragma loopxform assume({rng.choice(ASSUMED)})\n"
        head = assumed if rng.random() < 0.4 else ""
        body = self.block(0)
        return f"{head}void f(int n, int m, int h, float x[9]) {{ int t = n, u = 2; {body} }}"

    def number(self, depth: int = 2) -> str:
        rng, choice = self.rng, self.rng.random()
        if depth and choice < 0.5:
            op, left = rng.choice("++--*/%"), self.number(depth - 1)
            if op in "/%":
                return f"({left} {op} {rng.choice([2, 3, 4])})"
            factor = rng.choice(["2", "3", "-1", "n", *self.locals, "(n * m / 4)"])
            return f"({left} {op} {factor if op == '*' else self.number(depth - 1)})"
        if depth and choice < 0.56:
            a, b, c, d = (self.number(0) for _ in range(4))
            return f"({a} < {b} ? {c} : {d})"
        names = [*VALUES, *self.loops, *self.loops, *self.locals]
        return rng.choice(names if choice < 0.85 else ["0", "1", "2", "4", "0x4", "n * m", "m*n"])

    def condition(self, depth: int = 1) -> str:
        rng = self.rng
        if depth and rng.random() < 0.3:
            return f"({self.condition(0)} {rng.choice(['&&', '||'])} {self.condition(0)})"
        return f"{self.number()} {rng.choice(['<', '<=', '>', '>=', '==', '!='])} {self.number()}"

    def block(self, depth: int) -> str:
        rng, out, own = self.rng, list[str](), len(self.locals)
        for _ in range(rng.choice([1, 2, 2, 3])):
            choice = rng.random()
            if choice < 0.35 and depth < 3:
                out.append(self.loop(depth))
            elif choice < 0.65 and depth < 4:
                test, then = self.condition(), self.block(depth + 1)
                orelse = f" else {{ {self.block(depth + 1)} }}" if rng.random() < 0.5 else ""
                out.append(f"if ({test}) {{ {then} }}{orelse}")
            elif choice < 0.87:
                target = rng.choice(["n", "m", *self.locals])
                out.append(f"{target} {rng.choice(['=', '=', '+='])} {self.number()};")
        del self.locals[own:]
        return " ".join([*out, "x[0] = 1;"])

    def loop(self, depth: int) -> str:
        v, rng = "ijk"[len(self.loops)], self.rng
        lo, hi = rng.choice(["0", "1", self.number(1)]), rng.choice([*VALUES, self.number(1)])
        head = rng.choice(HEADERS).format(v=v, lo=lo, hi=hi, step=rng.choice([1, 1, 2, 3, 4]))
        self.loops.append(v)
        body = self.block(depth + 1)
        self.loops.pop()
        return f"{head} {{ {body} }}"


class _TooLongError(Exception):
    """A run that would take too long, or leave the numbers."""


@dataclass
class Run:
    """One run; `seen` are the scalars at each statement, whenever it is reached."""

    scalars: dict[str, int]
    seen: dict[Path, list[Numbers]]
    steps: int = 0

    def body(self, body: Sequence[Stmt], path: Path) -> None:
        for n, s in enumerate(body):
            self.statement(s, (*path, n))

    def statement(self, s: Stmt, path: Path) -> None:
        self.spend()
        scalars = self.scalars
        self.seen.setdefault(path, []).append(dict(scalars))
        match s:
            case Assign(Var(name), value, op):
                value = Bin(op, Var(name), value) if op else value
                scalars[name] = int(evaluate(value, scalars))
                if abs(scalars[name]) > LARGEST:
                    raise _TooLongError
            case For():
                step = int(evaluate(s.step, scalars))
                goes = Bin("<" if step > 0 else ">", Var(s.var), s.hi)
                scalars[s.var] = int(evaluate(s.lo, scalars))
                while evaluate(goes, scalars):
                    self.spend()
                    self.body(s.body, path)
                    scalars[s.var] += step
            case If() if evaluate(s.cond, scalars):
                self.body(s.then, path)
            case If():
                for n, inner in enumerate(s.orelse):
                    self.statement(inner, (*path, -1 - n))
            case _:
                pass

    def spend(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise _TooLongError


def seen(fn: Function) -> dict[Path, list[Numbers]]:
    found: dict[Path, list[Numbers]] = {}
    for point in product(*VALUES.values()):
        scalars = dict(zip(VALUES, point))
        if all(evaluate(e, scalars) for e in fn.assumes):
            with suppress(_TooLongError):
                Run(scalars, found).body(fn.body, ())
    return found


def asked(fn: Function, writer: ScalarWriter) -> list[Expr]:
    """The conditions of a function, and some more."""
    head = "void f(int n, int m, int h, int t, int u, int i, int j, float x[9])"
    texts = (f"{head} {{ if ({writer.condition()}) x[0] = 1; }}" for _ in range(4))
    others = (parse_file("t.c", text=text).unit.functions[0] for text in texts)
    return [s.cond for f in (fn, *others) for _, s in walk(f.body) if isinstance(s, If)]


def sweep(seed: int, count: int) -> int:
    """The questions about random functions that were answered by yes."""
    rng, pool, yes = random.Random(seed), list[tuple[Function, list[Expr]]](), 0
    runs: dict[int, dict[Path, list[Numbers]]] = {}
    for _ in range(count):
        writer = ScalarWriter(rng)
        with suppress(LoopxformError):
            (fn,) = parse_file("t.c", text=writer.text()).unit.functions
            pool.append((fn, asked(fn, writer)))
            runs[len(pool) - 1] = seen(fn)
        for n in {len(pool) - 1, rng.randrange(len(pool))} if pool else ():
            fn, conditions = pool[n]
            for path in rng.sample(list(runs[n]), min(6, len(runs[n]))):
                yes += sum(answered(fn, path, e, runs[n][path], rng) for e in conditions)
    return yes


def answered(fn: Function, path: Path, e: Expr, at: list[Numbers], rng: random.Random) -> int:
    yes = 0
    for question, told in ((always, True), (never, False)):
        found = question(fn if rng.random() < 0.8 else replace(fn), path, e)
        for scalars in at if found else ():
            with suppress(KeyError, ZeroDivisionError):
                assert bool(evaluate(e, scalars)) == told, (question, path, e, scalars, fn)
        yes += found
        if rng.random() < 0.04:
            forget()
            assert question(fn, path, e) == found, (question, path, e, fn)
    return yes


def test_answers_are_so_and_do_not_depend_on_what_was_asked_before() -> None:
    assert sweep(0, 4) > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_more_answers(seed: int) -> None:
    assert sweep(seed, 100) > 333
