"""Sums of rows whose lengths are data (compressed sparse rows): versions by the mean length, on a
device, in the simulator, and in the executor of groups."""

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


EVERY = tuple((n, mean) for n in (1, 3, 50) for mean in (0, 1, 9, 300))


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
    assert taken == {0, 1, 2}


@pytest.mark.parametrize("bounds", ["row[i]; e < row[i + 1]", "row[i] + 1; e <= row[i + 1] - 1"])
def test_in_the_executor_of_groups(bounds: str) -> None:
    p = emit.kernel(tiled(source(bounds=bounds)).derivation, fp=SEPARATE)
    for seed, (n, mean) in enumerate(EVERY[:8]):
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


@pytest.mark.parametrize("kind", ["float", "double"])
def test_sums_of_real_numbers_need_permission(kind: str) -> None:
    plain, free = tiled(source(kind)), tiled(source(kind), reassociate=True)
    assert not any(isinstance(r.step, Dispatch) for r in plain.derivation.records)
    assert any(isinstance(r.step, Dispatch) for r in free.derivation.records)


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
    assert len(product.entry.plan.kernels) == 3
    said = assert_file_prints_the_same(tmp_path / "p.c", done, sanitized=sanitized)
    assert sum("product" in line and "on the device" in line for line in said) >= 3, said
