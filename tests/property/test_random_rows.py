"""Random reductions of rows that follow one another, with the terms of a tile of rows in local
memory: rows without entries, long ones, and arrays of beginnings that begin anywhere and descend.

The kernels compute what the program does, bit by bit where its order is kept; the executor reports
races, values that were never set and accesses out of bounds.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from kernel_steps import copied
from test_random_groups import drawn

from loopxform.codegen import emit
from loopxform.errors import LoopxformError
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.target import GENERIC
from loopxform.verify.group.execute import Executor
from loopxform.verify.interp import Program

HEAD = """void f(int n, int m, int nz, const @0 row[n + 1], const int col[nz], const @1 v[nz],
  const @1 x[m], @1 y[restrict n])
{
  for (int i = 0; i < n; i++) {
    @1 s = @{0|1|y[i]|x[i % m]};
    for (@0 k = @{row[i]; k < row[i + 1]|row[i] - 1; k < row[i + 1] - 1|2 + row[i]; k < 2 + row[i+1]}; k++)
"""  # noqa: E501
SUMS = (
    "s @{+=|-=|*=} v[k] * x[col[k]];",
    "s @{+=|-=} x[col[k]] @{+ k|/ (v[k] * v[k] + 1)|};",
    "if (v[k] @{<|>} s) s = v[k];",
    "if (s < x[col[k]] - v[k]) s = x[col[k]] - v[k];",
    "{ int u = col[k]; @1 t = x[u] - v[k]; s += t * t; }",
    "{ int u = col[k]; u = (u + 1) % m; s += x[u]; }",
)
TAILS = ("y[i] = s;", "y[i] += s;", "y[i] = s / 3; if (i > 1) y[i] -= x[i % m];")
TYPES = ("int", "float", "double", "long")


def text(rng: random.Random) -> str:
    whole = drawn(HEAD + f"      {rng.choice(SUMS)}\n    {rng.choice(TAILS)}\n  }}\n}}\n", rng)
    kind, counter = rng.choice(TYPES), rng.choice(("int", "int", "long"))
    return whole.replace("@0", counter).replace("@1", kind)


def lengths(rng: random.Random) -> list[int]:
    n = rng.choice((0, 1, 2, 7, 8, 9, 17))
    most = rng.choice((0, 1, 3, 9, 40))
    out = [rng.choice((0, most, rng.randint(0, most))) for _ in range(n)]
    if out and rng.random() < 0.3:
        out[rng.randrange(n)] = 131
    return out


def arguments(source: str, rng: random.Random) -> dict[str, Any]:
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    kind = {"int": np.int32, "float": np.float32, "double": np.float64, "long": np.int64}
    start = source.split("const ")
    row_type, type_ = kind[start[1].split()[0]], kind[start[3].split()[0]]
    row = np.cumsum([rng.choice((2, 5)), *lengths(rng)]).astype(row_type)
    if rng.random() < 0.3:
        rng.shuffle(row)
    nz, m = int(row.max()) + 3, 6
    drawn_ = (
        (lambda k: numbers.integers(-4, 5, k)) if np.dtype(type_).kind == "i" else numbers.random
    )
    return {
        **{"n": len(row) - 1, "m": m, "nz": nz, "row": row},
        "col": numbers.integers(0, m, nz).astype(np.int32),
        "v": drawn_(nz).astype(type_),
        "x": drawn_(m).astype(type_),
        "y": drawn_(len(row) - 1).astype(type_),
    }


def check(name: str, counts: Counter[str]) -> None:
    rng = random.Random(name)
    source = text(rng)
    fn = parse_file("f.c", text=source).unit.functions[0]
    sizes = {"Ty": rng.choice((1, 2, 8)), "Tx": rng.choice((1, 2, 3)), "Tk": rng.choice((1, 5, 64))}
    free = rng.random() < 0.5
    options = Options(reassociate=free)
    try:
        derivation = tile(fn, sizes, "csr-stream", GENERIC, options=options, strict=True).derivation
    except LoopxformError as e:
        raise AssertionError(f"{name}\n{source}\n{e.message}") from e
    steps = [r.step for r in derivation.records]
    in_parts = any(getattr(s, "parts", "") for s in steps if s.verb == "stage-terms")
    plan = emit.kernel(derivation, fp=SEPARATE)
    executor = Executor(plan)
    for seed in range(3):
        args = arguments(source, rng)
        wanted, own = copied(args), copied(args)
        Program(fn).run(wanted)
        executor.run(own, seed=seed)
        y, z = wanted["y"], own["y"]
        exact = not in_parts or y.dtype.kind == "i"
        same = np.array_equal(y, z, equal_nan=True) if exact else np.allclose(y, z, rtol=1e-3)
        assert same, (name, source, sizes, args, y, z)
    counts["in parts"] += in_parts
    counts["in order"] += not in_parts


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[pytest.mark.slow] * (n > 0)) for n in range(3)]
)
def test_sweep(number: int) -> None:
    counts = Counter[str]()
    for n in range(20):
        check(f"rows {number} {n}", counts)
    assert counts["in parts"] >= 3, counts
    assert counts["in order"] >= 3, counts
