"""Tiles padded past the end of the sequential loop: infinities, NaN and negative zeros come out as
the user's C computes them, on the device and under Oclgrind."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness import simulate
from tilings import Options, tile

from loopxform import load
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Recipe, Tiles
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library

NEST = """
#include <math.h>
void f(int M, int U, int N, {t} A[M][U], {t} B[U][N], {t} C[M][N])
{{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {{
      {t} acc = {start};
      for (int k = 0; k < U; k++) {{ {body} }}
      C[i][j] = acc;
    }}
}}
"""
CASES = {
    "a product": ("float", "0", "acc += A[i][k] * B[k][j];"),
    "from minus zero": ("float", "-0.0f", "acc += A[i][k] * B[k][j];"),
    "from elements": ("double", "C[i][j]", "acc = A[i][k] * B[k][j] + acc;"),
    "differences": ("float", "C[i][j]", "acc -= A[i][k] * B[k][j];"),
    "squares": ("double", "0", "{ double d = A[i][k] - B[k][j]; acc += d * d; }"),
    "factors": ("float", "1", "acc *= A[i][k] * B[k][j];"),
    "the greatest": ("float", "-1e30f", "acc = A[i][k] + B[k][j] > acc ? A[i][k] + B[k][j] : acc;"),
    "fmin": ("double", "C[i][j]", "acc = fmin(acc, A[i][k] * B[k][j]);"),
    "a count": ("float", "0", "if (A[i][k] < B[k][j]) acc++;"),
    "any": ("_Bool", "0", "acc = (A[i][k] && B[k][j]) || acc;"),
    "the least": ("int", "2147483647", "if (acc > A[i][k] + B[k][j]) acc = A[i][k] + B[k][j];"),
    "bits": ("unsigned char", "255", "acc &= A[i][k] | B[k][j];"),
    "long sums": ("long", "C[i][j]", "acc += A[i][k] * B[k][j];"),
}
TILES = (Tiles(4, 3, 5, 2, 2), Tiles(3, 4, 4, 1, 3))
SIZES = ({"M": 9, "U": 7, "N": 10}, {"M": 1, "U": 1, "N": 2}, {"M": 8, "U": 11, "N": 6})
NASTY = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1e-30, -1e30)


def _plan(case: str, recipe: Recipe, tiles: Tiles, folder: Path) -> tuple[Plan, CSource]:
    t, start, body = CASES[case]
    file = folder / "f.c"
    file.write_text(NEST.format(t=t, start=start, body=body))
    done = tile(
        load(str(file))["f"].function, tiles, recipe, strict=True, options=Options(pad=True)
    ).derivation
    assert any(r.step.verb == "pad" for r in done.records)
    return emit.kernel(done, fp=SEPARATE), CSource(str(file))


def _nasty(plan: Plan, sizes: dict[str, int], seed: int) -> dict[str, Any]:
    """Arguments among which every other float is one that zeros do not make harmless."""
    args = arguments(plan.start, sizes, seed)
    rng = np.random.Generator(np.random.PCG64(seed))
    for a in args.values():
        if isinstance(a, np.ndarray) and a.dtype.kind == "f":
            chosen = rng.choice(NASTY, a.shape)
            a[...] = np.where(rng.random(a.shape) < 0.3, chosen, a)
    return args


def _different(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """What differs, signs of zeros included."""
    out = [str(m) for m in compare(expected, found)]
    for name, want in expected.items():
        if isinstance(want, np.ndarray) and want.dtype.kind == "f":
            signs = np.signbit(want) != np.signbit(found[name])
            out += [f"signs of {name}"] * bool((signs & ~np.isnan(want)).any())
    return out


@pytest.mark.device
@pytest.mark.parametrize(
    ("recipe", "tiles"), [("block", TILES[0]), *(("register", tiles) for tiles in TILES)], ids=str
)
@pytest.mark.parametrize("case", CASES)
def test_runs_like_the_c_program(case: str, recipe: Recipe, tiles: Tiles, tmp_path: Path) -> None:
    plan, source = _plan(case, recipe, tiles, tmp_path)
    library, kernel = Library(source, [plan.start]), CompiledKernel(plan, choose())
    for n, sizes in enumerate(SIZES):
        args = _nasty(plan, sizes, n)
        expected, found = copy.deepcopy(args), copy.deepcopy(args)
        library.run("f", expected)
        kernel(**found)
        assert not (different := _different(expected, found)), (sizes, different)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", CASES)
def test_touches_only_what_the_c_program_touches(case: str, tmp_path: Path) -> None:
    plan, source = _plan(case, "register", TILES[0], tmp_path)
    args = _nasty(plan, {"M": 5, "U": 7, "N": 4}, 7)
    expected = copy.deepcopy(args)
    Library(source, [plan.start]).run("f", expected)
    report = simulate(plan, args)
    assert report.clean, report.findings[0]
    after = dict(zip((b.param.name for b in plan.buffers), report.arrays))
    assert not _different({n: expected[n] for n in after}, after)
