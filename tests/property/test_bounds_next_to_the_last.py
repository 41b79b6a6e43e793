"""Loop headers whose bounds are the last numbers of their types, against C: where what a function
asks of its arguments holds, its bounds say how often the loop runs, computed in their types."""

from __future__ import annotations

import random

import pytest

import loopxform as lx
from loopxform.ir import whiles
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Cast, Const, Expr, For, Function, Opaque, Select, Un, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.types import Scalar, common
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import walk

KINDS = {
    "signed char": (8, True),
    "unsigned char": (8, False),
    "short": (16, True),
    "int": (32, True),
    "unsigned": (32, False),
    "long": (64, True),
    "unsigned long": (64, False),
}
CAP = 40
SEEDS = 270


class Overflow(Exception):
    """C says nothing about what follows."""


def within(value: int, bits: int, *, signed: bool) -> int:
    if signed:
        if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
            raise Overflow
        return value
    return value % (1 << bits)


# ---------------------------------------------------------------- the loop in C


class Loop:
    """`for (T i = lo; c1 && c2; i += step)`, left in one iteration of those that are `early`."""

    def __init__(self, rng: random.Random) -> None:
        kinds = rng.choice([["int"], ["int"], ["unsigned"], ["long"], [*KINDS]])
        self.counter = rng.choice(kinds)
        self.types = {name: rng.choice(kinds) for name in "nm"}
        up = rng.random() < 0.7
        self.step = (1 if up else -1) * rng.choice([1, 1, 1, 2])
        self.lo = 0 if up else rng.choice([3, 6])
        ops = ["<", "<=", "<=", "!="] if up else [">", ">=", ">=", "!="]
        shifts = [0, 0, 0, 1, -1, 2]
        amounts = [0, 0, 0, 1, -1]
        count = rng.choice([1, 2, 2, 2, 3])
        self.tests = [
            (rng.choice(shifts), rng.choice(ops), rng.choice("nm5"), rng.choice(amounts))
            for _ in range(count)
        ]
        self.early = rng.choice([None, None, 2])
        self.copied = rng.random() < 0.3

    def text(self) -> str:
        def one(shift: int, op: str, bound: str, amount: int) -> str:
            left = "i" if not shift else f"i {'+' if shift > 0 else '-'} {abs(shift)}"
            name = bound if bound == "5" or not self.copied else f"{bound}2"
            right = name if not amount else f"{name} {'+' if amount > 0 else '-'} {abs(amount)}"
            return f"{left} {op} {right}"

        cond = " && ".join(one(*t) for t in self.tests)
        step = {1: "i++", -1: "i--"}.get(self.step, f"i += {self.step}")
        params = ", ".join(f"{t} {n}" for n, t in self.types.items())
        copies = "".join(f"{t} {n}2 = k[0] ? {n} : {n}; " for n, t in self.types.items())
        leave = "if (a[i] > 0) break; " if self.early is not None else ""
        return (
            f"void f({params}, const int *k, int *a) {{ {copies if self.copied else ''}"
            f"for ({self.counter} i = {self.lo}; {cond}; {step}) {{ {leave}a[i] = 1; }} }}"
        )

    def runs(self, values: dict[str, int]) -> list[int] | None:
        """The values of the variable in C; None where it has none, or the loop does not end."""
        bits, signed = KINDS[self.counter]
        i, found = self.lo, list[int]()
        try:
            for test in self.tests:  # a bound that cannot be computed need not be, where C skips it
                self._holds(i, values, *test)
            while all(self._holds(i, values, *t) for t in self.tests):
                found.append(i)
                if self.early is not None and len(found) > self.early:
                    return found
                if len(found) > CAP:
                    return None
                i = within(i + self.step, max(bits, 32), signed=signed or bits < 32)
                i = (i + (1 << (bits - 1)) * signed) % (1 << bits) - (1 << (bits - 1)) * signed
        except Overflow:
            return None
        return found

    def _holds(
        self, i: int, values: dict[str, int], shift: int, op: str, bound: str, amount: int
    ) -> bool:
        left, lt = self._sum(i, self.counter, shift)
        value, kind = (5, "int") if bound == "5" else (values[bound], self.types[bound])
        right, rt = self._sum(value, kind, amount)
        bits = max(lt[0], rt[0])
        signed = all(s or b < bits for b, s in (lt, rt))
        a, b = (x if signed else x % (1 << bits) for x in (left, right))
        return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}.get(op, a != b)

    def _sum(self, value: int, kind: str, amount: int) -> tuple[int, tuple[int, bool]]:
        bits, signed = KINDS[kind]
        signed, bits = (True, 32) if bits < 32 else (signed, bits)
        return within(value + amount, bits, signed=signed), (bits, signed)


# ---------------------------------------------------------------- the loop of the tree


def typed(e: Expr, values: dict[str, int], types: dict[str, Scalar]) -> int:
    """An expression as C computes it."""
    t = type_of(e, types)

    def sized(value: int, t: Scalar) -> int:
        return within(value, 8 * t.bytes, signed=not t.is_unsigned)

    def converted(x: Expr, t: Scalar) -> int:
        value = typed(x, values, types)
        half = 0 if t.is_unsigned else 1 << (8 * t.bytes - 1)
        return (value + half) % (1 << (8 * t.bytes)) - half

    match e:
        case Const(value):
            return int(value)
        case Var(name):
            return values[name]
        case Cast(to, operand):
            return converted(operand, to)
        case Un("-", operand):
            return sized(-converted(operand, t), t)
        case Select(cond, then, orelse):
            return converted(then if typed(cond, values, types) else orelse, t)
        case Bin("&&", left, right):
            return int(bool(typed(left, values, types) and typed(right, values, types)))
        case Bin("<" | ">" | "<=" | ">=" | "!=" as op, left, right):
            both = common(type_of(left, types), type_of(right, types))
            pair = Const(converted(left, both)), Const(converted(right, both))
            return evaluate(Bin(op, *pair), {})
        case Bin("+" | "-" | "*" | "min" | "max" as op, left, right):
            pair = Const(converted(left, t)), Const(converted(right, t))
            return sized(evaluate(Bin(op, *pair), {}), t)
        case _:
            raise AssertionError(expr_text(e))


def computed(
    fn: Function,
    loop: For,
    values: dict[str, int],
    most: int,
    *,
    early: int | None,
    asks: bool = False,
) -> list[int]:
    """The values of the variable, up to where C leaves the loop `early`; with `asks` those for
    which the test of the written loop holds."""
    types, test = symbols(fn), whiles.written_test(loop) if asks else whiles.test(loop)
    i, found = typed(loop.lo, values, types), list[int]()
    left = early is not None and most > early
    while not (left and len(found) == most) and typed(test, {**values, loop.var: i}, types):
        found.append(i)
        assert len(found) <= CAP + 1, "the loop does not end"
        i += int(getattr(loop.step, "value", 0))
    return found


def ends(kind: str) -> list[int]:
    bits, signed = KINDS[kind]
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    every = {least, least + 1, least + 2, -2, -1, 0, 1, 2, 4, 7, most - 2, most - 1, most}
    return sorted(x for x in every if least <= x <= most)


def holds(e: Expr, values: dict[str, int]) -> bool:
    return bool(evaluate(e, values))


def check(seed: int) -> tuple[int, int]:
    """How many values were compared, and left to the user's loops."""
    loop = Loop(random.Random(seed))
    fn = lx.loads(loop.text())["f"].function
    counted = [s for _, s in walk(fn.body) if isinstance(s, For)]
    if not counted or any(isinstance(s, Opaque) and s.loop for _, s in walk(fn.body)):
        return 0, 0
    compared = left = 0
    for n in ends(loop.types["n"]):
        for m in ends(loop.types["m"]):
            values = {"n": n, "m": m}
            expected = loop.runs(values)
            if expected is None:
                continue
            values |= {"n2": n, "m2": m}
            written = computed(fn, counted[0], values, len(expected), early=loop.early, asks=True)
            assert written == expected, (loop.text(), values)
            if not all(holds(e, values) for e in (*fn.assumes, *fn.representable)):
                left += 1
                continue
            found = computed(fn, counted[0], values, len(expected), early=loop.early)
            assert found == expected, (loop.text(), values, expr_text(counted[0].hi))
            compared += 1
    return compared, left


@pytest.mark.parametrize("part", range(9))
def test_bounds_are_computed_as_c_compares(part: int) -> None:
    counts = [check(seed) for seed in range(part, SEEDS, 9)]
    compared, left = map(sum, zip(*counts))
    assert compared > 4 * left
    assert sum(1 for c, _ in counts if c) > SEEDS / 27
