"""Random loops whose iterations hold parallel loops, with a group for each iteration.

An iteration has arrays of its own, of fixed size or not, and rows of the caller's; its statements
are loops that are parallel, alone or in pairs, reductions, recurrences, and others around these.
What the kernels compute is what the program does; the executor reports races, barriers that do not
meet, unset values and accesses out of bounds.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from kernel_steps import copied

from loopxform.codegen import emit
from loopxform.errors import EmitError, LoopxformError
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function
from loopxform.offload.program import offload
from loopxform.recipes.tile import tile
from loopxform.schedule.params import THRESHOLDS, Options
from loopxform.targets.target import GENERIC, Costs
from loopxform.transforms import Derivation, thresholds_of
from loopxform.verify.check_run import arguments
from loopxform.verify.group.execute import Executor
from loopxform.verify.interp import Program

HEAD = """void f(int n, int m, int p, const int A[restrict n + 1][m + 9],
  int X[restrict n + 1][m + 9], int Y[restrict n + 1][m + 1][p + 1], int C[restrict n + 1][3])
{
  for (int i = 0; i < n; i++) {
    @{int t[m + 9], r[m + 9];|int t[40], r[40];|int t[m + 9], r[40];}
    int s = @{0|i|A[i][0]}, v = @{1|3};
    for (int j = 0; j < m + @{2|9}; j++) t[j] = A[i][j] + j;
    for (int j = 0; j < m + 9; j++) r[j] = A[i][j] @{+ 2|& 7};
"""
TAIL = """    C[i][0] = s;
    C[i][1] @{=|+=} v;
  }
}
"""
SHARED = (
    "for (int j = 0; j < m; j++) X[i][j] = @{A[i][j]|A[i][m - j]|t[j]|t[m - 1 - j]} + @{s|v|j};",
    "for (int j = @{0|1|2}; j < m; j@{++| += 2}) X[i][j] @{+=|-=|^=} @{t[j]|A[i][j + 1]|t[0]};",
    "for (int j = 0; j < m + 9; j++) X[i][j] @{=|=|+=|^=} A[i][@{j|m + 8 - j}] @{+ s|- t[0]|* j};",
    "for (int j = 0; j <= m; j++) for (int k = 0; k <= p; k++)"
    " Y[i][j][k] @{=|=|+=} @{A[i][j]|X[i][m - j] & 7} + k;",
    "for (int j = 0; j < m; j++) r[j] = t[@{j|m - j}] @{+|-} A[i][j];",
    "for (int j = 0; j < m; j++) X[i][j] += r[m - 1 - j] @{+|^} r[j];",
    "for (int j = m - 1; j >= 0; j--) t[j] = @{X[i][j] & 255|A[i][j] * v|t[j] + 1};",
    "for (int j = 0; j < m; j++) { int u = t[j] & 15; if (u > @{2|v & 7}) X[i][j] += u; }",
    "for (int j = 0; j < m; j++) for (int k = 0; k < p; k++)"
    " Y[i][j][k] @{=|+=} @{t[j]|A[i][k]} + k;",
    "for (int k = 0; k < p; k++) for (int j = 0; j < m; j++) Y[i][j][k] += Y[i][j][k] + j;",
    "for (int j = 0; j < m; j++) { int u = j; for (int k = 0; k < p; k++) { u += Y[i][j][k] & 7;"
    " Y[i][j][k] = u; } X[i][j] = u; }",
)
OTHERS = (
    "for (int j = @{0|1}; j < m; j++) s @{+=|^=|+=} @{t[j]|X[i][j] & 31};",
    "for (int j = 0; j < m; j++) if (t[j] > s) s = t[j];",
    "for (int j = 0; j < m; j++) { s += A[i][j]; v ^= t[j]; }",
    "for (int j = 0; j < m; j++) { X[i][j] = t[j]; s += t[j] & 3; }",
    "for (int j = 1; j < m; j++) X[i][j] += X[i][j - 1] & 63;",
    "for (int j = 1; j < m; j++) t[j] = (t[j - 1] + t[j]) & 255;",
    "X[i][m + 1] = s & 7;",
    "v = s & 15;",
    "if (m > 0) v = t[0] & 31;",
)
AROUND = (
    "for (int g = 0; g < @{p|3}; g++) { #; # }",
    "for (int g = p; g > 0; g--) { v += g; #; #; # }",
    "if (@{p > 1|v > 2|s > 4|A[i][1] > 0}) { # } @{|else { # }}",
)
SMALL = replace(
    GENERIC,
    group_size=64,
    local_bytes=600,
    compute_units=1,
    row_registers=("4x2", "8x12"),
    row_tiles=("3x30 2x2", "2x60 2x4"),
    costs=replace(Costs(), short_loop=2, combined_alone=3),
)
ROWS_HEAD = """void f(int n, int m, int p, @{const |}@{float|double} A[restrict n + 1][m + 9],
  @{float|double} X[restrict n + 1][m + 9], float C[restrict n + 1][3])
{
  for (int i = 0; i < n; i++) {
    @{float|double} s = @{0|A[i][0]}, v = @{1|-3};
"""
IN_ORDER = (
    "for (int j = 0; j < m; j++) s @{+=|-=} A[i][j]@{| * A[i][j]| - v};",
    "for (int j = 0; j < m + 9; j++) { double d = A[i][j] - s; v += d * d@{| * X[i][j]}; }",
    "for (int j = @{0|1}; j < m + 9; j++) if (A[i][j] @{>|<|>=} s) s = A[i][j];",
    "for (int j = 0; j < m + 9; j++) { X[i][j] = A[i][@{j|m + 8 - j}] - v; s += X[i][j]; }",
    "for (int j = 0; j < m + 9; j++) X[i][j] @{=|+=|*=} A[i][j] * v@{| + s};",
    "for (int j = m - 1; j >= 0; j--) v += X[i][j];",
    "for (int j = 0; j < m + 9; j++) X[i][j] = A[i][@{j|m + 8 - j}] / (s + v);",
    "for (int j = 0; j < m; j++) { s += A[i][j] / @{3|(j + 1)}; v -= A[i][j]; }",
    "for (int j = 0; j < m; j++) if (A[i][j] > 0) s += X[i][j];",
    "s /= m + 1;",
    "v = s + 2;",
)
"""Rows of floats, and what they are summed up to: in their order."""
NAMES = [f"{kind}_{n}" for kind in THRESHOLDS for n in range(12)]
"""What the thresholds of a program may be called."""


def drawn(text: str, rng: random.Random) -> str:
    """With one of the texts in each `@{one|other}`."""
    while "@{" in text:
        start = text.index("@{")
        end = text.index("}", start)
        # a choice between statements holds braces of its own
        while text.count("{", start, end) > text.count("}", start, end + 1):
            end = text.index("}", end + 1)
        text = text[:start] + rng.choice(text[start + 2 : end].split("|")) + text[end + 1 :]
    return text


def statement(rng: random.Random, depth: int = 0) -> str:
    kind = rng.random()
    if depth < 2 and kind < 0.25:
        text = drawn(rng.choice(AROUND), rng)
        while "#" in text:
            text = text.replace("#;", "#", 1).replace("#", statement(rng, depth + 1), 1)
        return text
    return drawn(rng.choice(SHARED if kind < 0.7 else OTHERS), rng)


def text(rng: random.Random) -> str:
    lines = [statement(rng) for _ in range(rng.randint(1, 4))]
    return drawn(HEAD, rng) + "".join(f"    {x}\n" for x in lines) + drawn(TAIL, rng)


def rows_text(rng: random.Random) -> str:
    lines = [drawn(rng.choice(IN_ORDER), rng) for _ in range(rng.randint(2, 5))]
    end = "    C[i][0] = s;\n    C[i][1] = v;\n  }\n}\n"
    return drawn(ROWS_HEAD, rng) + "".join(f"    {x}\n" for x in lines) + end


def rows_of_integers(rng: random.Random) -> str:
    """The same of numbers that wrap around, to be summed up in any order."""
    return rows_text(rng).replace("float", "unsigned").replace("double", "unsigned")


def derivations(fn: Function, rng: random.Random) -> dict[str, Derivation]:
    """By the recipe, and in versions of which the thresholds choose one."""
    sizes = {"Ty": rng.choice((1, 2, 4)), "Tx": rng.choice((1, 2, 3, 8))}
    found = dict[str, Derivation]()
    for given in (sizes, {"Tx": 6}):
        try:
            done = tile(fn, given, "group", SMALL, strict=True)
        except LoopxformError:
            continue
        found["group"] = done.derivation
    for name, derive in (("tile", _tiled), ("offload", _offloaded)):
        chosen = ((x, rng.choice((0, 2, 4, 1 << 30))) for x in NAMES)
        try:
            found[name] = derive(fn, Options(threshold=tuple(chosen)))
        except LoopxformError:
            continue
    return found


def _tiled(fn: Function, options: Options) -> Derivation:
    return tile(fn, {}, None, SMALL, options=options).derivation


def _offloaded(fn: Function, options: Options) -> Derivation:
    return offload(fn, {}, SMALL, options).derivation


def check(name: str, source: str, counts: Counter[str]) -> None:
    fn = parse_file("f.c", text=source).unit.functions[0]
    rng = random.Random(name)
    runs, expected = [], []
    for seed, m in enumerate((rng.choice((0, 1)), rng.choice((5, 8, 20)))):
        args = arguments(fn, {"n": rng.randint(1, 3), "m": m, "p": rng.choice((0, 1, 4))}, seed)
        runs.append(args)
        own = copied(args)
        Program(fn).run(own)
        expected.append(own)
    for kind, derivation in derivations(fn, rng).items():
        counts[kind] += 1
        counts[f"{kind}, versions"] += bool(thresholds_of(derivation))
        try:
            plan = emit.kernel(derivation, fp=SEPARATE)
        except EmitError as e:
            # Under a condition that never holds; or an array of each item whose size is not known.
            if not any(x in e.message for x in ("it is never touched", "has no fixed size")):
                raise
            continue
        counts["registers"] += '"stripe"' in json.dumps(derivation.to_json())
        counts["tiles"] += "tiles of" in json.dumps(derivation.to_json())
        counts["slices"] += "buffer-slice" in str(derivation.to_json())
        counts["local memory"] += "__local" in "".join(k.text for k in plan.kernels)
        counts["barriers"] += any("barrier(" in k.text for k in plan.kernels)
        executor = Executor(plan)
        for seed, (args, wanted) in enumerate(zip(runs, expected)):
            sizes = {k: int(v) for k, v in args.items() if np.ndim(v) == 0}
            if not all(evaluate(e, sizes) for e in derivation.function.assumes):
                continue  # the host runs the loops
            own, after = copied(args), copied(args)
            Program(derivation.function).run(after)
            try:
                executor.run(own, seed=seed)
            except LoopxformError as e:
                raise AssertionError(f"{name}, {kind}: {e}\n{source}") from e
            for array, values in wanted.items():
                for result in (own, after):
                    same = np.array_equal(values, result[array])
                    assert same, f"{name}, {kind}: {array} differs\n{source}"


@pytest.mark.parametrize("programs", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_random_groups(programs: int) -> None:
    counts = Counter[str]()
    for n in range(programs):
        name = f"groups {n}"
        check(name, text(random.Random(name)), counts)
    assert counts["group"] >= programs // 2, counts
    assert counts["tile, versions"] + counts["offload, versions"] >= programs // 3, counts
    assert counts["local memory"] >= programs // 2, counts
    assert counts["barriers"] >= programs // 2, counts
    assert counts["slices"] >= programs // 5, counts


@pytest.mark.parametrize("programs", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_random_rows(programs: int) -> None:
    counts = Counter[str]()
    for n in range(programs):
        name = f"rows {n}"
        check(name, rows_text(random.Random(name)), counts)
    assert counts["slices"] >= programs // 3, counts


@pytest.mark.parametrize("programs", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_random_rows_in_any_order(programs: int) -> None:
    counts = Counter[str]()
    for n in range(programs):
        name = f"rows of integers {n}"
        check(name, rows_of_integers(random.Random(name)), counts)
    assert counts["registers"] >= programs // 6, counts
    assert counts["tiles"] >= programs // 3, counts


FOR_ALL = """void f(int n, int m, int p, float A[restrict n + 1][m + 9],
  float X[restrict n + 1][m + 9], float C[restrict n + 1][3])
{
  for (int i = 0; i < n; i++) {
    double s = A[i][0], v = 1;
    for (int j = m - 1; j >= 0; j--) v += X[i][j];
    for (int j = 0; j < m; j++) { s += A[i][j] / (j + 1); v -= A[i][j]; }
    for (int j = 0; j < m + 9; j++) { X[i][j] = A[i][j] - v; s += X[i][j]; }
    C[i][0] = s;
    C[i][1] = v;
  }
}
"""


def test_scalars_that_a_loop_of_one_iteration_sets_for_all_work_items() -> None:
    """All of them have to set their own, not only the one that has the iteration."""
    counts = Counter[str]()
    check("rows 100036", FOR_ALL, counts)
    assert counts["offload"] == 1, counts


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100])
def test_many_random_rows(seed: int) -> None:
    counts = Counter[str]()
    for n in range(20):
        name = f"rows {seed * 1000 + n}"
        check(name, rows_text(random.Random(name)), counts)
    assert counts["slices"] >= 10, counts


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100])
def test_many_random_rows_in_any_order(seed: int) -> None:
    counts = Counter[str]()
    for n in range(20):
        name = f"rows of integers {seed * 1000 + n}"
        check(name, rows_of_integers(random.Random(name)), counts)
    assert counts["registers"] >= 4, counts


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100])
def test_many_random_groups(seed: int) -> None:
    counts = Counter[str]()
    for n in range(12):
        name = f"groups {seed * 1000 + n}"
        check(name, text(random.Random(name)), counts)
