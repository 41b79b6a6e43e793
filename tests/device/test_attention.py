"""Attention in one kernel: what your C computes but for rounding, in all the forms that people
write, for sizes around those of tiles, with infinities, NaNs and masks."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from deriving import c
from harness import simulate_all

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import PERMITTED
from loopxform.offload.program import offload
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.schedule import launched, not_known
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.verify.group.execute import Executor
from loopxform.verify.interp import Program

TILE = {
    "attention_tiles": ("4x2 2x4",),
    "attention_widths": (4, 8),
    "compute_units": 2,
    "expanded_mib": 0,
}
H100 = replace(PROFILES["h100"], **TILE)
PARAMS = (
    "int h, int n, int m, int d, int l, float scale, const float q[restrict h][n][d], "
    "const float k[restrict h][m][d], const float v[restrict h][m][l], "
    "const float bias[restrict n][m], float y[restrict h][n][l]"
)
DOT = "float t = 0; for (int c = 0; c < d; c++) t += q[b][i][c] * k[b][j][c]; "
START = "float w[m]; float top = -INFINITY, sum = 0; "
SCORES = f"for (int j = 0; j < m; j++) {{ {DOT} w[j] = t * scale; }} "
LARGEST = "for (int j = 0; j < m; j++) if (w[j] > top) top = w[j]; "
WEIGHTS = "for (int j = 0; j < m; j++) { w[j] = expf(w[j] - top); sum += w[j]; } "
VALUES = "for (int c = 0; c < l; c++) { float t = 0; "
VALUES += "for (int j = 0; j < m; j++) t += w[j] * v[b][j][c]; y[b][i][c] = t / sum; } "
SINGLE = f"for (int j = 0; j < m; j++) {{ {DOT} w[j] = t * scale; if (w[j] > top) top = w[j]; }} "
ROWS = {
    "extremum-with-scores": START + SINGLE + WEIGHTS + VALUES,
    "extremum-apart": START + SCORES + LARGEST + WEIGHTS + VALUES,
    "function": START
    + SCORES
    + "for (int j = 0; j < m; j++) top = fmaxf(w[j], top); "
    + WEIGHTS
    + VALUES,
    "finite-start": START.replace("-INFINITY", "-1e30f") + SCORES + LARGEST + WEIGHTS + VALUES,
    "sum-of-more": START.replace("sum = 0", "sum = 1") + SCORES + LARGEST + WEIGHTS + VALUES,
    "mask": START
    + SINGLE.replace("t * scale", "j <= i ? t * scale : -INFINITY")
    + WEIGHTS
    + VALUES,
    "bias": START
    + SCORES.replace("t * scale", "t * scale + bias[i][j]")
    + LARGEST
    + WEIGHTS
    + VALUES,
    "own-scalar": START
    + SCORES
    + LARGEST
    + "for (int j = 0; j < m; j++) { float e = expf(w[j] - top); w[j] = e; sum += e; } "
    + VALUES,
    "reciprocal": START
    + SCORES
    + LARGEST
    + WEIGHTS
    + "float by = 1 / sum; "
    + VALUES.replace("t / sum", "t * by"),
    "weights-divided": START
    + SCORES
    + LARGEST
    + WEIGHTS
    + "for (int j = 0; j < m; j++) w[j] /= sum; "
    + VALUES.replace("t / sum", "t"),
}
AROUND = "for (int b = 0; b < h; b++) for (int i = 0; i < n; i++) {{ {} }}"
FORMS = {name: c(AROUND.format(body), PARAMS) for name, body in ROWS.items()}
FIRST = ("mask",)
EVERY = [x if x in FIRST else pytest.param(x, marks=pytest.mark.slow) for x in FORMS]
SIZES = [
    {"h": 3, "n": 9, "m": 11, "d": 5, "l": 3},
    {"h": 2, "n": 8, "m": 8, "d": 8, "l": 8},
    {"h": 2, "n": 1, "m": 1, "d": 1, "l": 1},
    {"h": 1, "n": 17, "m": 25, "d": 17, "l": 7},
    {"h": 2, "n": 3, "m": 2, "d": 0, "l": 4},
]


@cache
def plan(form: str) -> Plan:
    (routine,) = lx.loads("#include <math.h>\n" + FORMS[form])
    done = offload(routine.function, {}, H100, Options(reassociate=True))
    return emit.kernel(done.derivation, fp=PERMITTED["reassociate"])


def every_call() -> Iterator[dict[str, Any]]:
    """Arguments: plain ones, large ones, infinities and NaNs."""
    rng = np.random.default_rng(5)
    for sizes in SIZES:
        for special in ("", "large", "inf", "nan"):
            yield _arguments(rng, sizes, special)


def _arguments(rng: np.random.Generator, sizes: dict[str, int], special: str) -> dict[str, Any]:
    h, n, m, d, width = (sizes[x] for x in "hnmdl")
    shapes = {"q": (h, n, d), "k": (h, m, d), "v": (h, m, width), "bias": (n, m)}
    args: dict[str, Any] = {**sizes, "scale": np.float32(0.5)}
    args |= {x: rng.standard_normal(s).astype(np.float32) for x, s in shapes.items()}
    if special == "large":
        args["q"] *= 60
    if special in ("inf", "nan") and d:
        args["q"][0, -1] = np.inf if special == "inf" else np.nan
        args["k"][-1, -1, 0] = -np.inf if special == "inf" else np.nan
    args["y"] = np.full((h, n, width), 7, np.float32)
    return args


def expected(p: Plan, args: dict[str, Any]) -> np.ndarray[Any, Any]:
    given = copy.deepcopy(args)
    with np.errstate(all="ignore"):
        Program(p.start).run(given)
    found: np.ndarray[Any, Any] = given["y"]
    return found


def assert_close(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> None:
    assert np.allclose(found, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("form", EVERY)
def test_one_kernel_runs_where_there_are_enough_tiles(form: str) -> None:
    p = plan(form)
    numbers = [n for n, _ in launched(p, SIZES[0], not_known)]
    assert ["row_loc" in p.kernels[n].text for n in numbers] == [True]
    for sizes in ({**SIZES[0], "l": 9}, {**SIZES[0], "h": 1, "n": 3}):
        assert not any("row_loc" in p.kernels[n].text for n, _ in launched(p, sizes, not_known))


@pytest.mark.parametrize("form", EVERY)
def test_work_items_of_a_group_agree(form: str) -> None:
    p = plan(form)
    run = Executor(p)
    for n, args in enumerate(every_call()):
        if args["m"] < 20:
            wanted = expected(p, args)
            with np.errstate(all="ignore"):
                run.run(args, seed=n)
            assert_close(args["y"], wanted)


@pytest.mark.device
@pytest.mark.parametrize("form", EVERY)
def test_on_a_device(form: str) -> None:
    p = plan(form)
    kernel = CompiledKernel(p, choose(None))
    for args in every_call():
        wanted = expected(p, args)
        kernel(**args)
        assert_close(args["y"], wanted)


@pytest.mark.oclgrind
def test_no_finding_in_the_simulator() -> None:
    p = plan("mask")
    every = [args for args in every_call() if args["m"] in (1, 11)][:5]
    report, found = simulate_all(p, every)
    assert report.clean, report.findings
    for args, after in zip(every, found, strict=True):
        assert_close(after["y"], expected(p, args))
