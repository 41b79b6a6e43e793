"""Random loop nests, run by brute force: what the analysis says must agree with what happens.

Each program is executed at small sizes while every memory access is recorded. Checked are: every
observed dependence is covered by a row; every exact row is observed at its witness; a loop, an
interchange, a reversal, a distribution and a fusion the analysis allows give the same final memory
when done (iterations shuffled, private variables poisoned). Seeds are in the test's name.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from checks import check_parallel, check_rows, check_verdicts, check_witnesses, same

from loopxform.analysis.dependence import worst
from loopxform.analysis.deps import carried_by, carried_rows, dependences
from loopxform.analysis.distinct import distinct
from loopxform.analysis.exchange import depends, exchanged
from loopxform.analysis.fusion import fuse_obstacles, fused
from loopxform.analysis.legality import (
    distribute_obstacles,
    interchange_obstacles,
    reverse_obstacles,
)
from loopxform.analysis.region import region
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Param,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import INT
from loopxform.ir.visit import loops, replace_at, walk

# ---------------------------------------------------------------- generating programs


class Gen:
    """Nests of depth 1-3 over arrays A, B (two dimensions), a, b (one) and the scalar t."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.n = 0
        self.loop_vars: list[str] = []

    def label(self) -> str:
        self.n += 1
        return f"S{self.n - 1}"

    def term(self, c: int, name: str) -> Expr:
        return Var(name) if c == 1 else Bin("*", Const(c), Var(name))

    def affine(self) -> Expr:
        r = self.r
        out: Expr = Const(r.randint(-1, 2))
        for v in r.sample(self.loop_vars, min(len(self.loop_vars), r.choice([1, 1, 1, 2]))):
            c = r.choice([1, 1, 1, 1, 2, -1, -2])
            out = Bin("+", self.term(c, v), out)
        if r.random() < 0.1:
            out = Bin("+", out, Var(r.choice(["M", "N"])))
        return out

    def index(self) -> Expr:
        r, e = self.r, self.affine()
        kind = r.random()
        if kind < 0.05:
            return Bin(r.choice(["/", "%"]), e, Const(r.randint(2, 3)))
        if kind < 0.08:
            return Load("k", (e,))
        if kind < 0.12:
            return Var("u")
        if kind < 0.15:
            return Bin(r.choice(["min", "max"]), e, self.affine())
        if kind < 0.2:
            return Const(r.randint(0, 1))
        return e

    def load(self, name: str | None = None) -> Load | Var:
        name = name or self.r.choice(["A", "A", "B", "a", "a", "b", "t", "w"])
        if name in "AB":
            return Load(name, (self.index(), self.index()))
        if name in ("t", "u"):
            return Var(name)
        return Load(name, (self.index(),))

    def cond(self) -> Expr:
        r = self.r
        op = r.choice(["<", "<=", ">", ">=", "==", "!="])
        left = self.affine() if r.random() < 0.85 else self.load("a")
        out: Expr = Bin(op, left, r.choice([Const(r.randint(0, 3)), Var("N"), self.affine()]))
        if r.random() < 0.2:
            out = Bin(r.choice(["&&", "||"]), out, Bin("<", self.affine(), Const(2)))
        if r.random() < 0.1:
            out = Un("!", out)
        return out

    def assign(self) -> Assign:
        r = self.r
        if r.random() < 0.12:
            return Assign(Var("u"), self.affine(), label=self.label())
        target = self.load(r.choice(["A", "A", "a", "a", "b", "t", "t", "w"]))
        value: Expr = self.load()
        if r.random() < 0.1:
            value = Select(self.cond(), self.load(), value)
        form = r.random()
        if form < 0.15:
            return Assign(target, value, "+", label=self.label())
        if form < 0.2:
            return Assign(target, Bin(r.choice(["+", "*"]), target, value), label=self.label())
        if form < 0.24:
            less = Bin(r.choice("<>"), value, target)
            return Assign(target, Select(less, value, target), label=self.label())
        return Assign(target, Bin("+", value, Const(r.randint(1, 5))), label=self.label())

    def stmts(self, depth: int) -> Iterator[Stmt]:
        r = self.r
        if r.random() < 0.2:
            name = r.choice(["t", "u", "w"])
            yield Decl(name, INT, (Const(9),) if name == "w" else ())
            if name != "w" and r.random() < 0.8:
                start = Const(1) if name == "t" else self.affine()
                yield Assign(Var(name), start, label=self.label())
        for _ in range(r.choice([1, 1, 2, 2, 3])):
            kind = r.random()
            if kind < 0.15:
                then = tuple(self.assign() for _ in range(r.randint(1, 2)))
                other = (self.assign(),) if r.random() < 0.4 else ()
                yield If(self.cond(), then, other)
            elif kind < 0.5 and depth < 3 and len(self.loop_vars) < 3:
                yield self.loop(depth)
            else:
                yield self.assign()

    def loop(self, depth: int, var: str | None = None) -> For:
        r = self.r
        var = var or next(v for v in "ijkl" if v not in (*self.loop_vars, "k"))
        lo: Expr = Const(r.choice([0, 0, 0, 1]))
        hi: Expr = Var(r.choice(["M", "N"]))
        kind = r.random()
        if self.loop_vars and kind < 0.15:
            lo = Bin("+", Var(r.choice(self.loop_vars)), Const(r.randint(0, 1)))
        elif self.loop_vars and kind < 0.3:
            hi = Bin("+", Var(r.choice(self.loop_vars)), Const(r.randint(0, 1)))
        elif kind < 0.36:
            hi = Bin("min", hi, Const(3))
        elif kind < 0.38:
            hi = Load("k", (Const(0),))
        elif kind < 0.4:
            hi = Var("t")
        step: Expr = Const(1)
        if kind > 0.85:
            step = Const(2)
        elif kind > 0.75:
            lo, hi, step = Bin("-", hi, Const(1)), Bin("-", lo, Const(1)), Const(-r.randint(1, 2))
        self.loop_vars.append(var)
        body = tuple(self.stmts(depth + 1))
        self.loop_vars.pop()
        return For(var, lo, hi, step, body)

    def function(self) -> Function:
        r = self.r
        body: list[Stmt] = [Decl("t", INT), Decl("u", INT), Decl("w", INT, (Const(20),))]
        first = self.loop(0, "i")
        body.append(first)
        if r.random() < 0.3:
            self.loop_vars = ["i"]
            body.append(replace(first, body=tuple(self.stmts(1))))
            self.loop_vars = []
        if r.random() < 0.3:
            self.loop_vars = []
            body.append(Assign(Load("a", (Const(0),)), Var(r.choice("tu")), label=self.label()))
        arrays = [Param(n, INT, (None, Const(50)), array=True) for n in "AB"]
        arrays += [Param(n, INT, (None,), array=True) for n in "abk"]
        scalars = [Param("M", INT), Param("N", INT)]
        return Function("f", (*scalars, *arrays), tuple(body))


# ---------------------------------------------------------------- what is checked


def programs(seed: int, count: int) -> Iterator[tuple[str, Function]]:
    for n in range(count):
        yield f"seed {seed * 100_000 + n}", Gen(seed * 100_000 + n).function()


def check_rewrites(name: str, fn: Function) -> dict[str, int]:
    """What the predicates allow changes nothing; counts what was allowed."""
    count = dict.fromkeys(("interchange", "reverse", "distribute", "fuse"), 0)
    for site in loops(fn):
        path, loop = site.path, site.loop
        if not interchange_obstacles(fn, path):
            inner = loop.body[0]
            assert isinstance(inner, For)
            swapped = replace(inner, body=(replace(loop, body=inner.body),))
            if depends(inner, loop.var):
                swapped = exchanged(fn, path)
            same(name, ("interchange", path), fn, replace_at(fn, path, (swapped,)))
            count["interchange"] += 1
        if not reverse_obstacles(fn, path):
            same(name, ("reverse", path), fn, fn, order={path: lambda x: x[::-1]})
            count["reverse"] += 1
        for cut in range(1, len(loop.body)):
            if not distribute_obstacles(fn, path, cut):
                parts = replace(loop, body=loop.body[:cut]), replace(loop, body=loop.body[cut:])
                same(name, ("distribute", path, cut), fn, replace_at(fn, path, parts))
                count["distribute"] += 1
        if not fuse_obstacles(fn, path):
            same(name, ("fuse", path), fn, fused(fn, path))
            count["fuse"] += 1
    return count


def check_distinct(name: str, fn: Function) -> int:
    """Loops that plainly carry nothing have no row; counts them."""
    plain = [s for s in loops(fn) if distinct(s.loop)]
    for s in plain:
        rows = [d for d in dependences(fn, s.path, counters=True) if d.carrier == s.path]
        assert not rows, (name, s.path, rows[0])
    return len(plain)


CHECKS = (
    *(check_rows, check_witnesses, check_parallel, check_verdicts, check_rewrites),
    check_distinct,
)


@pytest.mark.parametrize("seed", [0])
def test_random_nests(seed: int) -> None:
    for name, fn in programs(seed, 15):
        for check in CHECKS:
            check(name, fn)


@pytest.mark.parametrize("seed", [1])
def test_worst_rows_of_random_nests(seed: int) -> None:
    """Those of each loop, found without all others, are as bad as the worst of all."""
    for name, fn in programs(seed, 40):
        where = region(fn)
        rows = carried_rows(where)
        expected = {d.carrier: worst([x for x in rows if x.carrier == d.carrier]) for d in rows}
        found = carried_by(where)
        assert found.keys() == expected.keys(), name
        for path, those in found.items():
            said = {(d.array, d.declared, d.rank) for d in those}
            assert said == {(d.array, d.declared, d.rank) for d in expected[path]}, name


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
def test_many_random_nests(seed: int) -> None:
    for name, fn in programs(seed, 200):
        for check in CHECKS:
            check(name, fn)


@pytest.mark.slow
def test_generator_reaches_the_interesting_cases() -> None:
    """Guards against a suite that passes because nothing is ever allowed."""
    verdicts: dict[str, int] = {}
    rewrites: dict[str, int] = {}
    kinds: set[type] = set()
    assert sum(check_distinct(name, fn) for name, fn in programs(7, 120)) >= 3
    for name, fn in programs(7, 120):
        kinds |= {type(s) for _, s in walk(fn.body)}
        for counts, total in (
            (check_verdicts(name, fn), verdicts),
            (check_rewrites(name, fn), rewrites),
        ):
            for key, n in counts.items():
                total[key] = total.get(key, 0) + n
    assert all(verdicts[k] >= 3 for k in ("yes", "no", "unknown", "privatizable", "reduction"))
    assert all(rewrites[k] >= 3 for k in rewrites), rewrites
    assert {For, If, Assign, Decl} <= kinds
