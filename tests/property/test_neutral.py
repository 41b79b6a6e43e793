"""Padding that is accepted changes nothing: random reductions run to their end, and then on over
padding, from nasty accumulators over nasty elements; every bit must be the same.

A padded iteration that divides by zero, or does anything else that C leaves undefined, is a Fault
of the interpreter. With a compiler that fuses a*b + c the same holds.
"""

from __future__ import annotations

import copy
import ctypes
import math
import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_nests import lowered
from tilings import Tiles, tile

from loopxform.analysis.neutral import Neutral, padding
from loopxform.analysis.unchanged import Rule
from loopxform.errors import UnsupportedC
from loopxform.ir.nodes import Expr, For, Function
from loopxform.ir.types import BOOL, Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import walk
from loopxform.schedule.params import Options, Recipe
from loopxform.verify.interp import InterpError, Program, evaluate

CPU = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
RECIPES: tuple[Recipe, ...] = ("register", "block")
OPTIONS = (Options(pad=True), Options(pad=True, separate_full_tiles=True))
FLOATS = ["float", "double"]
REALS = [*FLOATS, "_Float16"]
INTEGERS = ["int", "unsigned int", "char", "unsigned char", "short", "long", "unsigned long"]
REAL = (0.0, -0.0, 1.0, -1.0, 0.5, -3.25, math.inf, -math.inf, math.nan)
REAL += (
    6e-8,
    -6e-8,
    65504.0,
    1e-45,
    -1e-45,
    5e-324,
    -5e-324,
    1e-30,
    -1e-30,
    1e30,
    -1e30,
    3.4e38,
    0.1,
    -0.1,
)

STATEMENTS = (
    *("acc += {e};", "acc += {p};", "acc += {p};", "acc -= {p};", "acc = acc + {p};"),
    *("acc = {p} + acc;", "acc *= {e};", "acc -= {e};", "acc = {e} - acc;", "acc = -acc + {p};"),
    *("if ({c}) acc += {e};", "if ({c}) acc++;", "acc += {c};", "acc += {c} ? {e} : 0;"),
    *("if ({e} > acc) acc = {e};", "if (acc > {e}) acc = {e};", "if ({c}) acc = {e};"),
    *("acc = {e} > acc ? {e} : acc;", "acc = acc < {e} ? acc : {e};", "acc = {c} ? acc : {e};"),
    *("acc = acc > {x} ? acc : {x};", "acc = {x} < acc ? {x} : acc;"),
    *("acc = acc && {c};", "acc = {c} || acc;", "acc = ({c} || {c}) && acc;"),
    *("{t} d = {x} - {y}; acc += d * d;", "{t} d = {e}; acc += d;", "{t} d = {p}; acc = acc + d;"),
    *("acc += ({x} - {y}) * ({x} - {y});", "acc += {p} + {p};", "acc += {p} - {p};"),
    "{t} d = 0; for (int l = 0; l < 2; l++) d += {p}; acc += d;",
    "{t} d = acc; if ({c}) d += {e}; acc = d;",
)
BITS = (
    "acc = acc && {c};",
    "acc = {c} || acc;",
    "acc &= {e};",
    "acc |= {e};",
    "acc ^= {p};",
    "acc = {x} & acc;",
    "acc = acc | {p};",
)
CALLS = ("acc = fmax(acc, {e});", "acc = fminf({e}, acc);", "acc += fabs({x} - {y});")
CALLS += ("acc += sqrt({p});", "acc = fma({x}, {y}, acc);", "acc += exp({e});")
LEAVES = ("A[k]", "A[k]", "B[k]", "B[k]", "t", "k", "0", "1", "2", "-1", "0.5f", "0.1")
FORMS = ("{} + {}", "{} - {}", "{} * {}", "{} * {}", "{} / {}", "-{}", "({c}) ? {} : {}")
INTEGER_FORMS = ("{} & {}", "{} | {}", "{} ^ {}", "{} << {}", "{} >> {}", "{} % {}", "~{}")
CASTS = ("(int){}", "(_Float16){}", "(float){}", "(double){}", "(char){}", "(unsigned char){}")


class Writer:
    """Writes one reduction over A and B, which have U elements."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        kinds = [FLOATS, REALS, INTEGERS, [*REALS, *INTEGERS, "_Bool"]]
        kind = self.rng.choice(kinds)
        self.t, self.a, self.b = (self.rng.choice(kind) for _ in range(3))
        if self.rng.random() < 0.5:
            self.a = self.b = self.t
        self.only_integers = not {self.t, self.a, self.b} & set(REALS)

    def text(self) -> str:
        rng = self.rng
        forms = STATEMENTS
        if self.only_integers:
            forms = forms + 2 * BITS
        elif self.t in REALS:
            forms = forms + CALLS
        start = rng.choice(["x", "x", "0", "1", "-1", "0.0", "-0.0"])
        parts = {"x": self.leaf(), "y": self.leaf(), "t": self.t, "c": self.condition()}
        parts |= {"e": self.expr(rng.choice([0, 1, 1, 2, 3])), "p": f"({self.product()})"}
        body = rng.choice(forms).format(**parts)
        params = f"int U, {self.t} x, {self.a} t, {self.a} A[U], {self.b} B[U], {self.t} C[1]"
        return (
            "#include <math.h>\n"
            f"void f({params})\n{{\n  {self.t} acc = {start};\n"
            f"  for (int k = 0; k < U; k++) {{ {body} }}\n  C[0] = acc;\n}}\n"
        )

    def nest(self) -> str:
        """The same reduction for every row of A and every column of B."""
        body = self.text().split("acc = ", 1)[1].split("C[0] = acc;")[0].rstrip()
        start, loop = body.split(";", 1)
        loop = loop.replace("A[k]", "A[i][k]").replace("B[k]", "B[k][j]")
        params = f"int M, int U, int N, {self.t} x, {self.a} t, {self.a} A[M][U], {self.b} B[U][N]"
        return (
            f"#include <math.h>\nvoid f({params}, {self.t} C[M][N])\n{{\n"
            "  for (int i = 0; i < M; i++)\n    for (int j = 0; j < N; j++) {\n"
            f"      {self.t} acc = {start};\n  {loop}\n      C[i][j] = acc;\n    }}\n}}\n"
        )

    def leaf(self) -> str:
        return self.rng.choice(LEAVES[:4])

    def product(self) -> str:
        return f"{self.leaf()} * {self.leaf()}"

    def condition(self) -> str:
        op = self.rng.choice(["<", ">", "<=", ">=", "==", "!="])
        return f"{self.expr(1)} {op} {self.expr(self.rng.choice([0, 1]))}"

    def expr(self, depth: int) -> str:
        rng = self.rng
        if depth == 0:
            integers = [x for x in LEAVES if "." not in x]
            return rng.choice(integers if self.only_integers else LEAVES)
        if rng.random() < 0.1:
            cast, operand = rng.choice(CASTS), self.expr(depth - 1)
            whole = "char" in cast or not self.only_integers
            return (cast if whole else "(int){}").format(operand)
        forms = FORMS + (INTEGER_FORMS if self.only_integers and rng.random() < 0.5 else ())
        form, c = rng.choice(forms), ""
        if "{c}" in form:
            c = self.condition()
        one, two = self.expr(depth - 1), self.expr(rng.randint(0, depth - 1))
        return f"({form.format(f'({one})', f'({two})', c=c)})"


def values(rng: random.Random, t: Scalar, count: int) -> np.ndarray[Any, Any]:
    if t.is_float:
        with np.errstate(over="ignore"):
            return np.array([rng.choice(REAL) for _ in range(count)], t.numpy)
    if t == BOOL:
        return np.array([rng.random() < 0.5 for _ in range(count)], t.numpy)
    info = np.iinfo(t.numpy)
    nasty = [
        0,
        0,
        1,
        2,
        int(info.max),
        int(info.min),
        int(info.max) - 1,
        1 if info.min == 0 else -1,
    ]
    return np.array([rng.choice(nasty) for _ in range(count)], t.numpy)


def number(e: Expr, t: Scalar) -> Any:
    return np.array(evaluate(e, {}), t.numpy)


def accepted(fn: Function) -> Neutral | str:
    (loop,) = (s for _, s in walk(fn.body) if isinstance(s, For) and s.var == "k")
    types = symbols(fn)
    return padding(fn, [loop.body], {n: types[n] for n in "AB"}, frozenset("k"))


def arguments(
    fn: Function, found: Neutral, rng: random.Random
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The same elements, without padding and with it."""
    types, pads = {p.name: p.type for p in fn.params}, dict(found.pads)
    for _ in range(12):
        size, more = rng.choice([1, 1, 2, 4]), rng.choice([1, 3])
        args: dict[str, Any] = {"U": size, "C": np.zeros(1, types["C"].numpy)}
        for name in "xt":
            args[name] = values(rng, types[name], 1)[0].item()
        for name in "AB":
            args[name] = values(rng, types[name], size)
        longer = {**args, "U": size + more, "C": args["C"].copy()}
        for name in "AB":
            pad = np.full(more, number(pads[name], types[name]))
            longer[name] = np.concatenate([args[name], pad]).astype(types[name].numpy)
        yield args, longer


def same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    if a.dtype.kind == "f" and np.isnan(a[0]):
        return bool(np.isnan(b[0]))
    return a.tobytes() == b.tobytes()


def floats(first: int, count: int) -> Iterator[tuple[str, Function, Neutral]]:
    """Accepted programs on floats alone, each of a name of its own."""
    for seed in range(first, first + count):
        writer = Writer(seed)
        if {writer.t, writer.a, writer.b} <= set(FLOATS):
            text = writer.text().replace("void f(", f"void f{seed}(")
            fn = lowered(text)
            found = accepted(fn)
            if isinstance(found, Neutral):
                yield text, fn, found


def call(library: ctypes.CDLL, fn: Function, args: dict[str, Any]) -> None:
    """Runs the compiled function; scalars of its float types, arrays as they are."""
    kinds = {"int32": ctypes.c_int, "float32": ctypes.c_float, "float64": ctypes.c_double}
    given = [
        args[p.name].ctypes.data_as(ctypes.c_void_p)
        if p.shape
        else kinds[p.type.numpy](args[p.name])
        for p in fn.params
    ]
    library[fn.name](*given)


def sweep(first: int, count: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in range(first, first + count):
        text = Writer(seed).text()
        fn = lowered(text)
        found = accepted(fn)
        if isinstance(found, str):
            counts["refused"] += 1
            continue
        counts.update(found.rules)
        program, rng = Program(fn), random.Random(seed)
        for args, longer in arguments(fn, found, rng):
            try:
                program.run(args)
            except InterpError:
                continue
            try:
                program.run(longer)
            except InterpError as e:
                pytest.fail(f"seed {seed}: {e}\n{text}{found}")
            assert same(args["C"], longer["C"]), f"seed {seed}\n{text}{found}\n{args}\n{longer}"
            counts["compared"] += 1
        counts["accepted"] += 1
    return counts


@pytest.mark.slow
@pytest.mark.skipif("fma" not in CPU, reason="the processor has no fused multiply-add")
def test_accepted_padding_changes_nothing_where_products_are_fused(tmp_path: Path) -> None:
    programs = list(floats(8_000_000, 400))
    source, binary = tmp_path / "f.c", tmp_path / "f.so"
    source.write_text("".join(text for text, _, _ in programs))
    fused = ["-mfma", "-ffp-contract=fast", "-O1", "-w", "-shared", "-fPIC", "-lm"]
    subprocess.run(["cc", str(source), "-o", str(binary), *fused], check=True)
    library, compared = ctypes.CDLL(str(binary)), 0
    for text, fn, found in programs:
        for args, longer in arguments(fn, found, random.Random(fn.name)):
            call(library, fn, args)
            call(library, fn, longer)
            assert same(args["C"], longer["C"]), f"{text}{found}\n{args}\n{longer}"
            compared += 1
    assert compared > 400


@pytest.mark.parametrize("seed", [0])
def test_accepted_padding_changes_nothing(seed: int) -> None:
    counts = sweep(seed * 100_000, 100)
    assert counts["accepted"] > 20
    assert counts["compared"] > 150


def tilings(first: int, count: int) -> Counter[str]:
    """Reductions as the recipes tile them, with versions for whole tiles and without."""
    counts: Counter[str] = Counter()
    for seed in range(first, first + count):
        text, rng = Writer(seed).nest(), random.Random(seed)
        fn = lowered(text)
        sizes = Tiles(*(rng.randint(1, 4) for _ in range(5)))
        recipe, options = rng.choice(RECIPES), rng.choice(OPTIONS)
        try:
            done = tile(fn, sizes, recipe, options=options).derivation
        except UnsupportedC:
            continue
        verbs = {r.step.verb for r in done.records}
        counts.update(verbs)
        if not verbs & {"pad", "separate-full-tiles"}:
            continue
        before, after = Program(fn), Program(done.function)
        for _ in range(6):
            expected = nest_arguments(fn, rng)
            tiled = copy.deepcopy(expected)
            try:
                before.run(expected)
            except InterpError:
                continue
            try:
                after.run(tiled, order_seed=rng.choice([None, 1]))
            except InterpError as e:
                pytest.fail(f"seed {seed}: {e}\n{text}")
            for x, y in zip(expected["C"].ravel(), tiled["C"].ravel()):
                assert same(np.array([x]), np.array([y])), f"seed {seed} {sizes}\n{text}{tiled}"
            counts["compared"] += 1
    return counts


def nest_arguments(fn: Function, rng: random.Random) -> dict[str, Any]:
    m, u, n = (rng.choice([1, 2, 3, 5, 7]) for _ in range(3))
    shapes = {"A": (m, u), "B": (u, n), "C": (m, n)}
    args: dict[str, Any] = {"M": m, "U": u, "N": n}
    for p in fn.params[3:]:
        shape = shapes.get(p.name, (1,))
        found = values(rng, p.type, math.prod(shape)).reshape(shape)
        args[p.name] = found if p.shape else found.item()
    return args


def assert_padded(counts: Counter[str], programs: int) -> None:
    assert min(counts["pad"], counts["separate-full-tiles"]) >= programs // 6, counts
    assert counts["compared"] >= programs, counts


@pytest.mark.parametrize("seed", [0])
def test_padded_tilings_compute_the_same(seed: int) -> None:
    assert_padded(tilings(seed * 100_000, 6), 6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 102))
def test_many_padded_tilings_compute_the_same(seed: int) -> None:
    assert_padded(tilings(seed * 100_000, 250), 250)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 102))
def test_much_accepted_padding_changes_nothing(seed: int) -> None:
    counts = sweep(seed * 100_000, 2500)
    assert min(counts["accepted"], counts["refused"]) >= 600, counts
    assert counts["compared"] >= 2500, counts


@pytest.mark.slow
def test_the_sweep_reaches_every_rule() -> None:
    rules = {v for k, v in vars(Rule).items() if k.isupper()}
    counts = sweep(7_000_000, 1000)
    assert rules <= set(counts), rules - set(counts)
