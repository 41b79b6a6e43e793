"""Whole functions on a device, in the simulator and as C: what the user's C does, to the last bit.

`corpus/programs` holds functions of several nests, with loops in time, recurrences, scalars between
nests, temporaries, in C89 and on plain pointers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from c_project import Compared, assert_all_same
from harness import CORPUS, assert_runs_agree, simulate_launches

import loopxform as lx
from loopxform.api.offload import OffloadedRoutine
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.transforms import Derivation, replay, with_tiles
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program

FOLDER = CORPUS / "programs"
Numbers = dict[str, int | float]

MARKET: Numbers = {"s0": 0.03, "t": 5.0, "alpha": 0.2, "nu": 0.6, "beta": 0.5}
SIZES: dict[str, tuple[Numbers, ...]] = {
    "alignment": ({"n": 40, "m": 300, "gap": 2}, {"n": 1, "m": 2, "gap": 1}),
    "alternating": ({"steps": 3, "n": 21}, {"steps": 1, "n": 3}),
    "attention": (
        {"queries": 5, "keys": 40, "width": 9},
        {"queries": 1, "keys": 2, "width": 1},
    ),
    "attention_heads": (
        {"heads": 2, "n": 70, "width": 9},
        {"heads": 1, "n": 1, "width": 1},
    ),
    "attention_rows": (
        {"heads": 2, "n": 70, "width": 9, "scale": 0.5},
        {"heads": 1, "n": 1, "width": 1, "scale": 0.5},
    ),
    "backwards_solve": ({"n": 37}, {"n": 1}),
    "backprop": (
        {"inputs": 300, "hidden": 16, "outputs": 3, "eta": 0.3, "momentum": 0.5},
        {"inputs": 1, "hidden": 1, "outputs": 1, "eta": 0.3, "momentum": 0.5},
    ),
    "branches": (
        {"n": 50, "m": 20, "steps": 4},
        {"n": 30, "m": 40, "steps": 3},
        {"n": 2, "m": 3, "steps": 2},
    ),
    "c89_filter": (
        {"n": 300, "rounds": 4, "weight": 0.5},
        {"n": 2, "rounds": 1, "weight": 0.7},
    ),
    "chain_order": ({"n": 70}, {"n": 1}),
    "cholesky_right": ({"n": 35}, {"n": 1}),
    "converging": (
        {"n": 30, "most": 40, "small": 0.01},
        {"n": 3, "most": 5, "small": 1e-9},
    ),
    "cosine_sums": ({"count": 70, "n": 33}, {"count": 2, "n": 1}, {"count": 1, "n": 5}),
    "flat_sweeps": ({"n": 19, "m": 33}, {"n": 1, "m": 1}),
    "gauss_seidel": ({"sweeps": 40, "n": 23}, {"sweeps": 3, "n": 40}, {"sweeps": 1, "n": 2}),
    "histories": ({"n": 3000, "m": 17, "steps": 3}, {"n": 1, "m": 1, "steps": 1}),
    "jacobi_time": ({"steps": 5, "n": 40}, {"steps": 2, "n": 3}),
    "loc_vol_calib": (
        {"outer": 17, "numX": 32, "numY": 19, "numT": 4, **MARKET},
        {"outer": 1, "numX": 1, "numY": 2, "numT": 2, **MARKET},
    ),
    "orthogonal": ({"m": 30, "n": 20}, {"m": 1, "n": 1}),
    "pointwise_chain": ({"n": 30, "m": 45, "gain": 1.5}, {"n": 1, "m": 1, "gain": 2.0}),
    "power_iteration": (
        {"n": 35, "shifts": 3, "most": 90, "agree": 1e-5},
        {"n": 1, "shifts": 1, "most": 1, "agree": 0.0},
    ),
    "set_parameters": (
        {"n": 400, "m": 270, "k": 3, "count": 5, "scale": 0.5},
        {"n": 1, "m": 1, "k": 3, "count": 5, "scale": 0.5},
    ),
    "shortest_paths": ({"n": 37}, {"n": 1}),
    "shared_temporary": ({"n": 17, "m": 70}, {"n": 1, "m": 1}),
    "sinkhorn": (
        {"outer": 3, "rounds": 2, "n": 37, "m": 70},
        {"outer": 1, "rounds": 1, "n": 1, "m": 1},
    ),
    "smoothed_rows": ({"n": 11, "m": 70, "rounds": 3}, {"n": 1, "m": 1, "rounds": 1}),
    "two_products": (
        {"n": 140, "m": 130, "k": 33, "l": 20, "alpha": 1.5, "beta": 0.7},
        {"n": 1, "m": 2, "k": 3, "l": 4, "alpha": 1.5, "beta": 0.7},
    ),
}
"""For every program a run that fills tiles, and one that does not."""

SMALL: dict[str, Numbers] = {
    "converging": {"n": 6, "most": 3, "small": 0.5},
    "power_iteration": {"n": 4, "shifts": 2, "most": 3, "agree": 0.1},
    "alignment": {"n": 4, "m": 3, "gap": 2},
    "attention": {"queries": 3, "keys": 5, "width": 2},
    "attention_heads": {"heads": 2, "n": 5, "width": 2},
    "attention_rows": {"heads": 2, "n": 5, "width": 2, "scale": 0.5},
    "alternating": {"steps": 2, "n": 5},
    "chain_order": {"n": 5},
    "cosine_sums": {"count": 4, "n": 5},
    "flat_sweeps": {"n": 3, "m": 5},
    "branches": {"n": 6, "m": 7, "steps": 3},
    "gauss_seidel": {"sweeps": 3, "n": 6},
    "histories": {"n": 70, "m": 3, "steps": 2},
    "orthogonal": {"m": 4, "n": 3},
    "pointwise_chain": {"n": 4, "m": 5, "gain": 1.5},
    "set_parameters": {"n": 9, "m": 7, "k": 3, "count": 5, "scale": 0.5},
    "shortest_paths": {"n": 4},
    "smoothed_rows": {"n": 2, "m": 5, "rounds": 2},
    "two_products": {"n": 9, "m": 10, "k": 5, "l": 6, "alpha": 1.5, "beta": 0.7},
}
HOSTS = (
    *("alignment", "branches", "c89_filter", "converging", "histories", "jacobi_time"),
    *("power_iteration", "set_parameters", "shared_temporary", "two_products"),
)
"""Programs whose hosts differ in what they do: loops, conditions, flags, copies, temporaries."""


SENSITIVE = ("loc_vol_calib",)
"""Programs that make so much of the last bits in which a device's functions differ from those of a
C library that their kernels are compared as C (and see test_versions_of_programs)."""


RATIONAL: dict[str, dict[str, str]] = {
    "attention": {"expf(weight[j] - most)": "(1 / (1 + (most - weight[j])))"},
    "attention_heads": {
        "1 / sqrtf(width)": "1 / (1 + width)",
        "expf(weight[h][i][j] - most)": "(1 / (1 + (most - weight[h][i][j])))",
    },
    "attention_rows": {"expf(weight[j] - most)": "(1 / (1 + (most - weight[j])))"},
    "backprop": {"expf(-sum)": "(sum * sum)"},
    "loc_vol_calib": {
        "exp(2 * (beta * log(x) + z - 0.5 * nu * nu * now))": "(0.3 + beta * x + z * z * nu * now)",
        "log(alpha)": "(alpha - 1)",
    },
}
"""What stands in place of functions where a device's results are compared to the last bit."""


def exact(name: str) -> str:
    """A program of the corpus, without functions that devices compute in their own way."""
    text = (FOLDER / f"{name}.c").read_text()
    for known, other in RATIONAL.get(name, {}).items():
        assert known in text
        text = text.replace(known, other)
    return text


@cache
def offloaded(name: str) -> OffloadedRoutine:
    return lx.load(FOLDER / f"{name}.c")[name].offload(contract=False)


@cache
def exactly(name: str) -> OffloadedRoutine:
    """Without functions that devices compute in their own way."""
    if name not in RATIONAL:
        return offloaded(name)
    return lx.loads(exact(name))[name].offload(contract=False)


@cache
def plan(name: str) -> Plan:
    return emit.kernel(offloaded(name).derivation, fp=SEPARATE)


def test_every_program_is_run() -> None:
    assert sorted(SIZES) == sorted(p.stem for p in FOLDER.glob("*.c"))


@pytest.mark.device
@pytest.mark.parametrize("name", SIZES)
def test_bit_identical_to_the_c_program(name: str) -> None:
    source, device = CSource(str(FOLDER / f"{name}.c")), "c" if name in SENSITIVE else None
    assert_runs_agree(plan(name), source, SIZES[name], 5, device)


@pytest.mark.parametrize(
    "names",
    [
        HOSTS,
        pytest.param(sorted({*SIZES} - {*HOSTS}), marks=[pytest.mark.slow, pytest.mark.optimised]),
    ],
)
def test_the_drop_in_computes_what_the_function_did(tmp_path: Path, names: Sequence[str]) -> None:
    programs = []
    for name in names:
        done = exactly(name).derivation
        every = tuple(arguments(done.start, sizes, 1) for sizes in SIZES[name])
        programs.append(Compared(done, exact(name), every))
    assert_all_same(tmp_path, programs)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", SMALL)
def test_no_finding_in_the_simulator(name: str) -> None:
    plan = emit.kernel(exactly(name).derivation, fp=SEPARATE)
    args = arguments(plan.start, SMALL[name], 3)
    report, found = simulate_launches(plan, args)
    assert report.clean, report.findings
    Program(plan.start).run(args)
    assert found
    assert not compare({k: args[k] for k in found}, found)


@pytest.mark.parametrize("name", SIZES)
def test_steps_written_down_lead_to_the_same_program(name: str) -> None:
    done = offloaded(name).derivation
    data = done.to_json()
    fresh = Derivation(with_tiles(done.start, data["tiles"]))
    assert replay(fresh, data["steps"]).function == done.function
