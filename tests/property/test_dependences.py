"""Random loop nests, run by brute force: what the analysis says must agree with what happens.

Each program is executed at small sizes while every memory access is recorded. Checked are: every
observed dependence is covered by a row; every exact row is observed at its witness; a loop, an
interchange, a reversal, a distribution and a fusion the analysis allows give the same final memory
when done (iterations shuffled, private variables poisoned). Seeds are in the test's name.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest

from loopxform.analysis.deps import Dependence, dependences
from loopxform.analysis.legality import (
    distribute_obstacles,
    fuse_obstacles,
    interchange_obstacles,
    parallel_obstacles,
    reverse_obstacles,
)
from loopxform.analysis.privatise import private_obstacles
from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.ir.affine import value_of
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
from loopxform.ir.visit import Path, enclosing, loops, replace_at, walk

# ---------------------------------------------------------------- running a program

Place = tuple[str, int, tuple[int, ...]]
"""Name, which instance of a local declaration, element."""


@dataclass
class Event:
    path: Path
    iteration: tuple[tuple[Path, int, int], ...]
    """Per loop around: where it is, its value, its sign."""
    place: Place
    write: bool


@dataclass
class Machine:
    """Runs a function on integers; `order` chooses the order of a loop's iterations, `poison` names
    private to a loop are spoilt at the start of each of its iterations."""

    memory: dict[Place, int]
    params: dict[str, int]
    order: dict[Path, Callable[[list[int]], list[int]]] = field(default_factory=dict)
    poison: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    copies: frozenset[str] = frozenset()
    events: list[Event] = field(default_factory=list)
    around: list[tuple[Path, int, int]] = field(default_factory=list)
    vars: dict[str, int] = field(default_factory=dict)
    locals: dict[str, int] = field(default_factory=dict)
    instances: int = 0
    limit: int = 30_000

    def touch(self, path: Path, name: str, index: tuple[int, ...], write: bool) -> Place:
        place = (name, self.locals.get(name, 0), index)
        self.events.append(Event(path, tuple(self.around), place, write))
        if len(self.events) > self.limit:
            raise OverflowError
        return place

    def load(self, path: Path, name: str, index: tuple[int, ...] = ()) -> int:
        place = self.touch(path, name, index, False)
        return self.memory.get(place, (hash(place[0]) % 7 + sum(index) * 3 + 1) % 11)

    def value(self, e: Expr, path: Path) -> int:
        match e:
            case Const(v):
                return int(v)
            case Var(name):
                if name in self.vars:
                    return self.vars[name]
                if name in self.params:
                    return self.params[name]
                return self.load(path, name)
            case Load(array, index):
                return self.load(path, array, tuple(self.value(i, path) for i in index))
            case Un("-", x):
                return -self.value(x, path)
            case Un("!", x):
                return int(not self.value(x, path))
            case Bin("&&", a, b):
                return int(bool(self.value(a, path)) and bool(self.value(b, path)))
            case Bin("||", a, b):
                return int(bool(self.value(a, path)) or bool(self.value(b, path)))
            case Bin(op, a, b):
                return _binary(op, self.value(a, path), self.value(b, path))
            case Select(c, a, b):
                return self.value(a if self.value(c, path) else b, path)
            case _:
                raise AssertionError(e)

    def body(self, body: tuple[Stmt, ...], path: Path, *, orelse: bool = False) -> None:
        hidden = dict(self.locals)
        for n, s in enumerate(body):
            self.stmt(s, (*path, -1 - n if orelse else n))
        self.locals = hidden

    def stmt(self, s: Stmt, path: Path) -> None:
        match s:
            case Decl(name):
                self.instances += 1
                self.locals[name] = self.instances
            case Assign(target, value, op):
                new = self.value(value, path)
                index = ()
                if isinstance(target, Load):
                    index = tuple(self.value(i, path) for i in target.index)
                name = target.array if isinstance(target, Load) else target.name
                if op:
                    new = _binary(op, self.load(path, name, index), new)
                small = new if abs(new) < 1 << 40 else new % 10007
                self.memory[self.touch(path, name, index, True)] = small
            case If(cond, then, other):
                if self.value(cond, path):
                    self.body(then, path)
                else:
                    self.body(other, path, orelse=True)
            case For():
                self.loop(s, path)
            case _:
                raise AssertionError(s)

    def loop(self, s: For, path: Path) -> None:
        step = value_of(s.step)
        assert step is not None
        values, v = [], self.value(s.lo, path)
        while v < self.value(s.hi, path) if step > 0 else v > self.value(s.hi, path):
            values.append(v)
            v += step
        chosen = self.order.get(path, lambda x: x)(values)
        spoilt = [(n, self.locals.get(n, 0)) for n in self.poison.get(path, ())]
        for n, v in enumerate(chosen):
            for name, instance in spoilt:
                for place in [p for p in self.memory if p[:2] == (name, instance)]:
                    self.memory[place] = 9000 + n
                self.memory[(name, instance, ())] = 9000 + n
            self.vars[s.var] = v
            self.around.append((path, v, step))
            self.body(s.body, path)
            self.around.pop()
            if v == (values[-1] if values else None):
                last = {i: self.memory.get((i[0], i[1], ())) for i in spoilt}
        for name, instance in spoilt if chosen else ():
            for place in [p for p in self.memory if p[:2] == (name, instance)]:
                self.memory[place] = 8000
            if name in self.copies:
                kept = last[(name, instance)]
                assert kept is not None
                self.memory[(name, instance, ())] = kept
        self.vars.pop(s.var, None)


def _binary(op: str, a: int, b: int) -> int:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0
        case "%":
            return a - b * _binary("/", a, b) if b else 0
        case "<":
            return int(a < b)
        case "<=":
            return int(a <= b)
        case ">":
            return int(a > b)
        case ">=":
            return int(a >= b)
        case "==":
            return int(a == b)
        case "!=":
            return int(a != b)
        case "min":
            return min(a, b)
        case _:
            assert op == "max"
            return max(a, b)


def run(fn: Function, params: dict[str, int], **how: object) -> Machine:
    machine = Machine({}, params, **how)  # type: ignore[arg-type]
    machine.body(fn.body, ())
    return machine


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


# ---------------------------------------------------------------- what is observed


def observed(events: list[Event]) -> Iterator[tuple[Event, Event]]:
    """Pairs of conflicting accesses by different statement instances, in order."""
    by_place: dict[Place, list[Event]] = {}
    for e in events:
        by_place.setdefault(e.place, []).append(e)
    for group in by_place.values():
        if len(group) > 60:
            group = group[:30] + group[-30:]
        for n, first in enumerate(group):
            for second in group[n + 1 :]:
                same = first.path == second.path and first.iteration == second.iteration
                if (first.write or second.write) and not same:
                    yield first, second


def direction(first: Event, second: Event) -> tuple[str, ...]:
    out = []
    for (p, v, step), (q, w, _) in zip(first.iteration, second.iteration):
        if p != q:
            break
        gap = (w - v) * (1 if step > 0 else -1)
        out.append("<" if gap > 0 else ">" if gap < 0 else "=")
    return tuple(out)


def kind(first: Event, second: Event) -> str:
    return "output" if first.write and second.write else "flow" if first.write else "anti"


def covers(d: Dependence, signs: tuple[str, ...]) -> bool:
    return len(d.direction) == len(signs) and all(p in ("*", s) for p, s in zip(d.direction, signs))


def carrier(first: Event, second: Event) -> Path | None:
    signs = direction(first, second)
    level = next((n for n, s in enumerate(signs) if s != "="), None)
    return None if level is None else first.iteration[level][0]


SIZES = ({"M": 3, "N": 4}, {"M": 5, "N": 2}, {"M": 0, "N": 3})


def programs(seed: int, count: int) -> Iterator[tuple[str, Function]]:
    for n in range(count):
        yield f"seed {seed * 100_000 + n}", Gen(seed * 100_000 + n).function()


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


def check_witnesses(name: str, fn: Function) -> int:
    """Every exact row happens at the sizes and iterations of its witness."""
    done = 0
    for d in dependences(fn):
        if not d.exact:
            continue
        assert d.point is not None, (name, d)
        params = {"M": 0, "N": 0} | d.point.params
        if max(params.values()) > 12:
            continue
        try:
            machine = run(fn, params)
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
        shuffled = _shuffle(name)
        copies = frozenset(v.copies)
        same(name, v, fn, fn, order={v.path: shuffled}, poison={v.path: v.private}, copies=copies)
        _private(name, fn, v)
    return count


def _shuffle(name: str) -> Callable[[list[int]], list[int]]:
    def order(values: list[int]) -> list[int]:
        out = list(values)
        random.Random(name).shuffle(out)
        return out

    return order


def _private(name: str, fn: Function, v: LoopVerdict) -> None:
    for local in ("t", "u", "w"):
        if not private_obstacles(fn, v.path, local):
            same(name, (local, v), fn, fn, poison={v.path: (local,)})


def check_rewrites(name: str, fn: Function) -> dict[str, int]:
    """What the predicates allow changes nothing; counts what was allowed."""
    count = dict.fromkeys(("interchange", "reverse", "distribute", "fuse"), 0)
    for site in loops(fn):
        path, loop = site.path, site.loop
        if not interchange_obstacles(fn, path):
            inner = loop.body[0]
            assert isinstance(inner, For)
            swapped = replace(inner, body=(replace(loop, body=inner.body),))
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
            after = (*path[:-1], path[-1] + 1)
            second = enclosing(fn, after)[-1]
            assert isinstance(second, For)
            one = replace(loop, body=(*loop.body, *second.body))
            fused = replace_at(replace_at(fn, after, ()), path, (one,))
            same(name, ("fuse", path), fn, fused)
            count["fuse"] += 1
    return count


CHECKS = (check_rows, check_witnesses, check_parallel, check_verdicts, check_rewrites)


@pytest.mark.parametrize("seed", range(4))
def test_random_nests(seed: int) -> None:
    for name, fn in programs(seed, 75):
        for check in CHECKS:
            check(name, fn)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_random_nests(seed: int) -> None:
    for name, fn in programs(seed, 250):
        for check in CHECKS:
            check(name, fn)


def test_generator_reaches_the_interesting_cases() -> None:
    """Guards against a suite that passes because nothing is ever allowed."""
    verdicts: dict[str, int] = {}
    rewrites: dict[str, int] = {}
    kinds: set[type] = set()
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
