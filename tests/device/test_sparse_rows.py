"""Sums of rows whose lengths are data (compressed sparse rows): versions by the mean length, and
terms of tiles of rows in local memory, on a device, in the simulator, and in the executor of
groups."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_project import assert_file_prints_the_same, require_opencl
from conftest import Golden
from harness import simulate_launches

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.runtime.schedule import launched, not_known
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Dispatch
from loopxform.verify.compare import compare
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

LIMITS = replace(PROFILES["h100"], warp=4, compute_units=2, group_size=64)


def source(kind: str = "int", bounds: str = "row[i]; e < row[i + 1]", counter: str = "int") -> str:
    return f"""void f(int n, int m, int nnz, const int row[n + 1], const int col[nnz],
  const {kind} val[nnz], const {kind} x[m], {kind} y[n])
{{
  for (int i = 0; i < n; i++) {{
    {kind} sum = 0;
    for ({counter} e = {bounds}; e++)
      sum += val[e] * x[col[e]];
    y[i] = sum;
  }}
}}
"""


def tiled(text: str, **asked: Any) -> Any:
    return lx.loads(text)["f"].tile(limits=LIMITS, contract=False, **asked)


def matrix(n: int, mean: int, seed: int) -> dict[str, Any]:
    """Rows of different lengths, some of them empty."""
    rng, m = random.Random(seed), 7
    lengths = [rng.choice((0, mean, 2 * mean, rng.randint(0, 2 * mean))) for _ in range(n)]
    row = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    nnz = int(row[-1])
    numbers = np.random.default_rng(seed)
    return {
        **{"n": n, "m": m, "nnz": nnz, "row": row},
        "col": numbers.integers(0, m, nnz).astype(np.int32),
        "val": numbers.integers(-9, 9, nnz).astype(np.int32),
        "x": numbers.integers(-9, 9, m).astype(np.int32),
        "y": np.full(n, 77, np.int32),
    }


EVERY = tuple((n, mean) for n in (1, 3, 50) for mean in (0, 1, 9, 90, 300))


def expected(p: Plan, args: dict[str, Any]) -> dict[str, Any]:
    own = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in args.items()}
    Program(p.start).run(own)
    return own


def test_versions(golden: Golden) -> None:
    done = tiled(source())
    (step,) = (r.step for r in done.derivation.records if isinstance(r.step, Dispatch))
    golden.check("\n".join(f"{v.label}: {' && '.join(v.guard)}" for v in step.variants) + "\n")


@pytest.mark.device
def test_every_version_on_a_device() -> None:
    done = tiled(source())
    p, run, taken = emit.kernel(done.derivation, fp=SEPARATE), done.compile(), set[int]()
    for seed, (n, mean) in enumerate(EVERY):
        args = matrix(n, mean, seed)
        y = expected(p, args)["y"]
        run(**args)
        assert np.array_equal(args["y"], y), (n, mean)
        sizes = {k: args[k] for k in ("n", "m", "nnz")}
        taken |= {number for number, _ in launched(p, sizes, not_known)}
    assert taken == set(range(len(p.kernels)))
    assert len(taken) == 4


@pytest.mark.parametrize("bounds", ["row[i]; e < row[i + 1]", "row[i] + 1; e <= row[i + 1] - 1"])
def test_in_the_executor_of_groups(bounds: str) -> None:
    p = emit.kernel(tiled(source(bounds=bounds)).derivation, fp=SEPARATE)
    for seed, (n, mean) in enumerate(EVERY[:9]):
        args = matrix(n, min(mean, 20), seed)
        after = expected(p, args)
        execute(p, args, seed=seed)
        assert not compare(after, args), (n, mean)


@pytest.mark.oclgrind
def test_without_races() -> None:
    p = emit.kernel(tiled(source()).derivation)
    for seed, (n, mean) in enumerate(((2, 9), (5, 3), (9, 1))):
        args = matrix(n, mean, seed)
        y = expected(p, args)["y"]
        report, after = simulate_launches(p, args)
        assert report.clean, report.findings
        assert np.array_equal(after["y"], y)


def test_rows_with_gaps_have_lanes() -> None:
    done = tiled(source(bounds="row[i] + 1; e <= row[i + 1] - 1"))
    assert labels(done) == ["groups", "lanes", "items"]


def labels(done: Any) -> list[str]:
    steps = (r.step for r in done.derivation.records if isinstance(r.step, Dispatch))
    return [v.label.partition(",")[0] for step in steps for v in step.variants]


@pytest.mark.parametrize("kind", ["float", "double"])
def test_sums_of_real_numbers_in_order(kind: str) -> None:
    """Without permission none of the versions has another order."""
    plain, free = tiled(source(kind)), tiled(source(kind), reassociate=True)
    assert labels(plain) == ["stream", "stream", "items"]
    assert labels(free) == ["groups", "stream", "stream", "items"]


ODD: dict[str, tuple[int, ...]] = {
    "no-row": (3,),
    "one-row": (0, 5),
    "no-entries": (2, 2, 2, 2, 2, 2),
    "empty-rows": (1, 1, 4, 4, 4, 9, 9),
    "a-long-row": (0, 1, 1, 68, 70, 70, 73),
    "whole-tiles": tuple(range(0, 26, 3)),
    "descending": (9, 3, 12, 0, 20, 20, 6, 7, 2),
    "backwards": (20, 15, 9, 9, 4, 0),
}
"""Where rows begin."""


def odd(name: str, kind: str) -> dict[str, Any]:
    row = np.array(ODD[name], np.int32)
    nnz, numbers = int(row.max()) + 1, np.random.default_rng(3)
    dtype = {"int": np.int32, "float": np.float32, "double": np.float64}[kind]
    drawn = numbers.random if kind != "int" else lambda n: numbers.integers(-9, 9, n)
    return {
        **{"n": len(row) - 1, "m": 7, "nnz": nnz, "row": row},
        "col": numbers.integers(0, 7, nnz).astype(np.int32),
        "val": drawn(nnz).astype(dtype),
        "x": drawn(7).astype(dtype),
        "y": np.full(len(row) - 1, 77, dtype),
    }


def in_tiles(kind: str, rows: int, items: int, terms: int, **asked: Any) -> Any:
    return tiled(source(kind), recipe="csr-stream", Ty=rows, Tx=items, Tk=terms, **asked)


TILED = [("float", 4, 1, 8), ("double", 3, 2, 5), ("int", 4, 2, 8), ("int", 1, 3, 64)]


@pytest.mark.parametrize(
    ("bounds", "first", "why"),
    [
        ("int k = row[i]; k < row[i + 1]", "if (col[k] < 0) break;", "data end a row of 'i'"),
        ("int k = row[i]; k < row[i + 1] && col[k] > 0", "", "data end a row of 'i'"),
        ("int k = 0; k < row[i + 1] - row[i]", "", "'k' counts the terms of each row"),
    ],
)
def test_rows_that_are_none(bounds: str, first: str, why: str) -> None:
    text = (
        "void f(int n, int nz, int m, int row[n + 1], int col[nz], int x[m], int y[restrict n])"
        f" {{ for (int i = 0; i < n; i++) {{ int s = 0; for ({bounds}; k++)"
        f" {{ {first} s += x[col[k]]; }} y[i] = s; }} }}"
    )
    with pytest.raises(lx.LoopxformError, match=why) as raised:
        lx.loads(text)["f"].tile(recipe="csr-stream")
    assert raised.value.code == "LX063"


@pytest.mark.parametrize(("kind", "rows", "items", "terms"), TILED)
def test_odd_rows_in_the_executor(kind: str, rows: int, items: int, terms: int) -> None:
    """Bit by bit what the program computes, where no order is permitted but its own."""
    p = emit.kernel(in_tiles(kind, rows, items, terms).derivation, fp=SEPARATE)
    for seed, name in enumerate(ODD):
        args = odd(name, kind)
        after = expected(p, args)
        execute(p, args, seed=seed)
        assert not compare(after, args), name


@pytest.mark.device
@pytest.mark.parametrize(("kind", "rows", "items", "terms"), TILED[:3])
def test_odd_rows_on_a_device(kind: str, rows: int, items: int, terms: int) -> None:
    done = in_tiles(kind, rows, items, terms)
    p, run = emit.kernel(done.derivation, fp=SEPARATE), done.compile()
    for name in ODD:
        args = odd(name, kind)
        y = expected(p, args)["y"]
        run(**args)
        assert np.array_equal(args["y"], y), name


@pytest.mark.device
def test_parts_of_rows_are_rounded_differently() -> None:
    done = in_tiles("float", 4, 3, 8, reassociate=True)
    p, run = emit.kernel(done.derivation, fp=SEPARATE), done.compile()
    for name in ODD:
        args = odd(name, "float")
        y = expected(p, args)["y"]
        run(**args)
        assert np.allclose(args["y"], y, rtol=1e-5), name


@pytest.mark.oclgrind
@pytest.mark.parametrize(("kind", "rows", "items", "terms"), TILED[:3:2])
def test_odd_rows_without_races(kind: str, rows: int, items: int, terms: int) -> None:
    p = emit.kernel(in_tiles(kind, rows, items, terms).derivation, fp=SEPARATE)
    for name in ("empty-rows", "a-long-row", "descending"):
        args = odd(name, kind)
        y = expected(p, args)["y"]
        report, after = simulate_launches(p, args)
        assert report.clean, (name, report.findings)
        assert np.array_equal(after["y"], y), name


ELLPACK = """void f(int n, int k, const int col[restrict n][k], const float v[restrict n][k],
  const float x[restrict 9], float y[restrict n])
{
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int e = 0; e < k; e++) s += v[i][e] * x[col[i][e]];
    y[i] = s;
  }
}
"""


@pytest.mark.device
def test_short_rows_of_subscripts_have_small_tiles() -> None:
    done = lx.loads(ELLPACK)["f"].tile(limits="h100", contract=False)
    assert labels(done) == ["short rows", "items"]
    p, run, taken = emit.kernel(done.derivation, fp=SEPARATE), done.compile(), set[int]()
    numbers = np.random.default_rng(5)
    for n, k in ((1, 1), (3, 16), (129, 5), (130, 17), (33, 63), (33, 64), (40, 150)):
        args = {
            **{"n": n, "k": k, "col": numbers.integers(0, 9, (n, k)).astype(np.int32)},
            "v": numbers.random((n, k), dtype=np.float32),
            **{"x": numbers.random(9, dtype=np.float32), "y": np.zeros(n, np.float32)},
        }
        y = expected(p, args)["y"]
        run(**args)
        assert np.array_equal(args["y"], y), (n, k)
        taken |= {number for number, _ in launched(p, {"n": n, "k": k}, not_known)}
    assert taken == {0, 1}


POINTERS = """\
#include <stdio.h>
#include <stdlib.h>

void product(int n, const int *row, const int *col, const float *val, const float *x,
             float *restrict y)
{
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
      s += val[k] * x[col[k]];
    y[i] = s;
  }
}

static void of_mean(int n, int mean)
{
  int *row = malloc((n + 1) * sizeof *row), nnz = 0;
  for (int i = 0; i < n; i++) {
    row[i] = nnz;
    nnz += i % 3 * mean;
  }
  row[n] = nnz;
  int *col = malloc((nnz + 1) * sizeof *col);
  float *val = malloc((nnz + 1) * sizeof *val), *y = malloc(n * sizeof *y), x[9];
  for (int k = 0; k < nnz; k++) {
    col[k] = k % 9;
    val[k] = k % 5;
  }
  for (int k = 0; k < 9; k++)
    x[k] = 4 - k;
  product(n, row, col, val, x, y);
  for (int i = 0; i < n; i++)
    printf("%g ", y[i]);
  printf("\\n");
}

int main(void)
{
  of_mean(1, 1);
  of_mean(3, 400);
  of_mean(60, 20);
  of_mean(90, 2);
  of_mean(60, 90);
  return 0;
}
"""


@pytest.mark.device
@pytest.mark.parametrize("sanitized", [False, True])
def test_behind_pointers(tmp_path: Path, sanitized: bool) -> None:
    """What the written program finds where the subscripts end tells the mean."""
    require_opencl()
    (tmp_path / "p.c").write_text(POINTERS)
    done = lx.load(tmp_path / "p.c").offload(limits=LIMITS, fp="reassociate")
    (product,) = (r for r in done.regions if r.region.name == "product")
    assert len(product.entry.plan.kernels) == 4
    said = assert_file_prints_the_same(tmp_path / "p.c", done, sanitized=sanitized)
    assert sum("product" in line and "on the device" in line for line in said) >= 3, said
