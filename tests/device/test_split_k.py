"""Products with few results of long sums: the host chooses chunks of the sum as tiles of their own
where the order of sums is free, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from harness import given, program, run_c, run_on_device, simulate_launches, sizes_of

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.recipes.tile import tile
from loopxform.recipes.tiled import Tiled
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.schedule import launched, not_known
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits
from loopxform.transforms import Dispatch, Rfactor, Step
from loopxform.verify.compare import compare

SEED = 11
DEVICE = replace(PROFILES["h100"], compute_units=4)
SIZES = (
    (5, 129, 7),
    (33, 300, 31),
    (16, 517, 33),
    (3, 2100, 2),
    (64, 1030, 64),
    (17, 1, 3),
    (9, 0, 8),
)
LONG = (3, 2100, 2)


def plan(name: str, *, reassociate: bool = True, limits: Limits = DEVICE) -> Plan:
    options = Options(reassociate=reassociate)
    return emit.kernel(tile(program(name), {}, limits=limits, options=options).derivation)


def whole(name: str, size: tuple[int, int, int]) -> dict[str, Any]:
    """Arguments whose sums floats hold in any order: whole numbers."""
    args = given(name, sizes_of(name, *size), SEED)
    return {n: np.floor(8 * x) if n in "ABC" else x for n, x in args.items()}


def chunks(p: Plan, m: int, u: int, n: int) -> int:
    """Iterations of a chunk of what the host launches; 0 where sums are whole."""
    first, *rest = (number for number, _ in launched(p, {"M": m, "U": u, "N": n}, not_known))
    sizes = dict(p.kernels[first].macros)
    return sizes["Tk"] * sizes["Rk"] if rest and "Rk" in sizes else 0


def test_short_sums_are_whole_and_long_ones_in_chunks() -> None:
    p = plan("mm", limits=PROFILES["h100"])
    assert chunks(p, 63, 6091, 191) == 128
    assert chunks(p, 609, 4509, 221) == 256
    assert chunks(p, 316, 5687, 1255) == 1024
    assert chunks(p, 317, 70, 1255) == 0
    assert chunks(p, 4001, 4001, 4001) == 0


def steps(done: Tiled) -> list[Step]:
    """Those of the variants."""
    dispatches = (r.step for r in done.derivation.records if isinstance(r.step, Dispatch))
    return [s for d in dispatches for v in d.variants for s in v.steps]


@pytest.mark.parametrize("name", ["mm", "gemm"])
def test_the_order_of_floats_is_kept_without_permission(name: str) -> None:
    kept = tile(program(name), {}, limits=DEVICE)
    free = tile(program(name), {}, limits=DEVICE, options=Options(reassociate=True))
    assert not any(isinstance(s, Rfactor) for s in steps(kept))
    assert any(isinstance(s, Rfactor) for s in steps(free))


def test_sums_of_integers_are_split_without_permission() -> None:
    text = (
        "void f(int M, int U, int N, int A[M][U], int B[U][N], int C[M][N]) {\n"
        "  for (int i = 0; i < M; i++)\n    for (int j = 0; j < N; j++) {\n      int s = 0;\n"
        "      for (int k = 0; k < U; k++) s += A[i][k] * B[k][j];\n      C[i][j] = s;\n    }\n}\n"
    )
    p = emit.kernel(lx.loads(text)["f"].tile(limits="h100", fp="strict").derivation)
    assert chunks(p, 63, 6091, 191) == 128


@pytest.mark.device
@pytest.mark.parametrize("name", ["mm", "mm_at", "mm_bt"])
def test_chunks_compute_what_the_c_does(name: str) -> None:
    p = plan(name)
    assert chunks(p, *LONG)
    compiled = CompiledKernel(p, choose())
    for size in SIZES:
        args = whole(name, size)
        differences = compare(run_c(name, args), run_on_device(compiled, args))
        assert not differences, (name, size, SEED, differences[0])


@pytest.mark.slow
@pytest.mark.oclgrind
@pytest.mark.parametrize("size", [(5, 129, 7), (3, 300, 2), (33, 140, 33)], ids=str)
def test_no_race_and_nothing_out_of_bounds(size: tuple[int, int, int]) -> None:
    args = whole("mm", size)
    report, after = simulate_launches(plan("mm"), args)
    assert report.clean, (size, report.findings[0])
    assert not compare({n: run_c("mm", args)[n] for n in after}, after)
