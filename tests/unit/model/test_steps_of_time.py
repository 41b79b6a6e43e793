"""Tiles in time: what is chosen, and that it can be had."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from math import prod

import pytest
from conftest import Golden

from loopxform.codegen import emit
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function
from loopxform.ir.visit import LoopSite, resolve
from loopxform.model.time_tiles import STEPS, shapes
from loopxform.offload.program import offload
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import GENERIC, Limits
from loopxform.transforms import TimeTile

ARRAYS = "int T, int n, int m, {0} A[n][m], {0} B[n][m]"
INNER = "for (int i = 2; i < n - 2; i++) for (int j = 2; j < m - 2; j++)"
BACK = f"{INNER} A[i][j] = B[i][j];"
CUBE = (
    "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
    " for (int k = 1; k < n - 1; k++)"
)
FIVE = "A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]"
SEVEN = (
    "A[i][j][k] + A[i][j][k - 1] + A[i][j][k + 1] + A[i][j - 1][k] + A[i][j + 1][k]"
    " + A[i - 1][j][k] + A[i + 1][j][k]"
)
FAR = " + ".join(f"A[i + {a}][j + {b}]" for a in (-2, 0, 2) for b in (-2, -1, 0, 1, 2))
BODIES = {
    "five-point": (ARRAYS.format("float"), f"{INNER} B[i][j] = 0.2f * ({FIVE}); {BACK}"),
    "five-point-double": (ARRAYS.format("double"), f"{INNER} B[i][j] = 0.2 * ({FIVE}); {BACK}"),
    "far": (ARRAYS.format("float"), f"{INNER} B[i][j] = 0.1f * ({FAR}); {BACK}"),
    "planes": (
        "int T, int n, int m, float A[2][n][m]",
        f"{INNER} A[(t + 1) % 2][i][j] = A[t % 2][i][j - 1] + A[t % 2][i + 1][j];",
    ),
    "space": (
        "int T, int n, float A[n][n][n], float B[n][n][n]",
        f"{CUBE} B[i][j][k] = 0.1f * ({SEVEN}); {CUBE} A[i][j][k] = B[i][j][k];",
    ),
    "pointwise": (ARRAYS.format("float"), f"{INNER} A[i][j] = A[i][j] * B[i][j];"),
    "not-parallel": (ARRAYS.format("float"), f"{INNER} A[i][j] = A[i][j - 1];"),
}
DEVICES = {
    "generic": GENERIC,
    "h100": PROFILES["h100"],
    "small": replace(GENERIC, local_bytes=4096, group_size=128),
}


def function(name: str) -> Function:
    params, body = BODIES[name]
    text = f"void f({params}) {{ for (int t = 0; t < T; t++) {{ {body} }} }}"
    return parse_file("f.c", text=text).unit.functions[0]


def time_loop(fn: Function) -> LoopSite:
    return resolve(fn, "t")[0]


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_chosen(device: str, golden: Golden) -> None:
    lines = []
    for name in BODIES:
        fn = function(name)
        best = islice(shapes(fn, time_loop(fn), DEVICES[device]), 3)
        lines.append(f"{name}: {', '.join(f'{t.steps} steps, {t.text}' for t in best) or 'none'}\n")
    golden.check("".join(lines))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", BODIES)
def test_what_is_proposed_can_be_had(name: str, device: str) -> None:
    limits, fn = DEVICES[device], function(name)
    for tile in shapes(fn, time_loop(fn), limits):
        assert tile.steps in STEPS
        assert prod(tile.items) <= limits.group_size
        step = TimeTile("t", (str(tile.steps),), *tile.words)
        assert not step.check(fn), (name, step)


@pytest.mark.parametrize("name", ["five-point", "space", "far"])
def test_local_memory_suffices(name: str) -> None:
    limits: Limits = DEVICES["generic"]
    fn = function(name)
    for tile in islice(shapes(fn, time_loop(fn), limits), 2):
        done = offload(
            fn, {}, limits, Options(time_tile=(tile.steps, tile.rows, tile.elements, *tile.items))
        )
        kernels = emit.kernel(done.derivation).kernels
        assert max(k.local_bytes for k in kernels) <= limits.local_bytes
        assert all(prod(k.group_shape) <= limits.group_size for k in kernels)


def test_steps_come_with_the_planes() -> None:
    fn = function("planes")
    proposed = [*shapes(fn, time_loop(fn), DEVICES["h100"])]
    assert proposed
    assert all(tile.steps % 2 == 0 for tile in proposed)
