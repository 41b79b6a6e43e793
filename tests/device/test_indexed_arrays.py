"""Small arrays of a work-item that data index lie in local memory, a column for each work-item; the
kernels compute what your C does."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from conftest import Golden
from deriving import c
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.ir.printer import listing
from loopxform.offload.program import offload
from loopxform.recipes.tile import tile
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

MODE = c(
    "for (int i = 0; i < n; i++) { int h[16]; for (int b = 0; b < 16; b++) h[b] = 0; "
    "for (int j = 0; j < 9; j++) h[a[i * 9 + j] & 15] += j; int best = 0; "
    "for (int b = 1; b < 16; b++) if (h[b] > h[best]) best = b; y[i] = best; }",
    "int n, const unsigned *restrict a, int *restrict y",
)
SPLAT = c(
    "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++) "
    "for (int j = 0; j < 8; j++) for (int i = 0; i < 8; i++) { "
    "int z = a[8 * y + j][8 * x + i] & 7; s[z][y][x] += j; }",
    "int n, int m, const int a[restrict 8 * n][8 * m], float s[restrict 8][n][m]",
)
DEEP = MODE.replace("h[16]", "h[4096]").replace("< 16", "< 4096").replace("& 15", "& 4095")
NUMBERED = MODE.replace("a[i * 9 + j] & 15", "j").replace("h[best]", "h[0]")
CASES = {"mode": MODE, "splat": SPLAT}
SIZES = {
    "mode": tuple({"n": n} for n in (0, 1, 37, 256, 700)),
    "splat": tuple({"n": n, "m": m} for n, m in ((0, 3), (1, 1), (17, 33), (5, 64))),
}


def plan(text: str, name: str = "h100") -> Plan:
    (routine,) = lx.loads(text)
    return emit.kernel(offload(routine.function, {}, PROFILES[name]).derivation, fp=SEPARATE)


def test_arrays_that_data_index_are_columns(golden: Golden) -> None:
    (routine,) = lx.loads(MODE)
    golden.check(listing(tile(routine.function, {}, "naive", PROFILES["h100"]).function))


@pytest.mark.parametrize("text", [DEEP, NUMBERED], ids=["no room", "numbered"])
def test_others_stay_with_their_work_item(text: str) -> None:
    (routine,) = lx.loads(text)
    done = tile(routine.function, {}, "naive", PROFILES["h100"])
    source = emit.kernel(done.derivation).source
    assert re.search(r"^ +int h\[\d+\];", source, re.MULTILINE)


def test_devices_without_lockstep_keep_them() -> None:
    assert "__local" in plan(MODE).source
    for name in ("cpu", "pocl"):
        assert "__local" not in plan(MODE, name).source


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    assert_runs_agree(plan(CASES[name]), CSource(text=CASES[name]), SIZES[name], 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", CASES)
def test_without_races(name: str) -> None:
    (routine,) = lx.loads(CASES[name])
    small = replace(PROFILES["h100"], compute_units=0)
    done = offload(routine.function, {"Ty": 2, "Tx": 4}, small)
    p = emit.kernel(done.derivation, fp=SEPARATE)
    assert "__local" in p.source
    given = [arguments(p.start, {k: min(v, 30) for k, v in s.items()}, 5) for s in SIZES[name]]
    assert_clean_and_right(p, given)
