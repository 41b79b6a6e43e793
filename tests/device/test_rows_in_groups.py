"""Loops with several sums over a row, a group for each row, which stays in local memory or in
registers, or for a tile of short rows: what your C computes, for rows that fit and rows that do
not."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from deriving import c
from harness import CORPUS, assert_runs_agree, simulate_all

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import PERMITTED, SEPARATE
from loopxform.offload.program import offload
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.schedule import launched, not_known
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Options
from loopxform.targets.target import GENERIC
from loopxform.verify.check_run import arguments, run
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library
from loopxform.verify.interp import Program

CENTRED = c(
    "for (int i = 0; i < n; i++) { float s = 0, v = 0; for (int j = 0; j < m; j++) s += a[i][j]; "
    "s /= m + 1; for (int j = 0; j < m; j++) { float d = a[i][j] - s; v += d * d; } "
    "for (int j = 0; j < m; j++) b[i][j] = (a[i][j] - s) * v * g[j]; }",
    "int n, int m, const float a[restrict n][m], const float g[restrict m], float b[restrict n][m]",
)
IN_PLACE = c(
    "for (int i = 0; i < n; i++) { double *x = a + (long)i * m; double most = -1e300, s = 0; "
    "for (int j = 0; j < m; j++) if (x[j] > most) most = x[j]; "
    "for (int j = 0; j < m; j++) { x[j] = x[j] - most; s += x[j]; } "
    "for (int j = 0; j < m; j++) x[j] = x[j] / s; }",
    "int n, int m, double *restrict a",
)
MOMENTS = c(
    "for (int i = 0; i < n; i++) { float s = 0, q = 0; for (int j = 0; j < m; j++) s += a[i*m + j];"
    " for (int j = m - 1; j >= 0; j--) q += a[i*m + j] * a[i*m + j]; b[2*i] = s; b[2*i + 1] = q; }",
    "int n, int m, const float *restrict a, float *restrict b",
)
WHOLE = c(
    "for (int i = 0; i < n; i++) { int s = 0; long q = 0; for (int j = 0; j < m; j++) s ^= a[i][j];"
    " for (int j = 0; j < m; j++) { a[i][j] += s; q += a[i][j]; } "
    "for (int j = 0; j < m; j++) b[i][j] = a[i][m - 1 - j] - (int)(q & 7); }",
    "int n, int m, int a[restrict n][m], int b[restrict n][m]",
)
EXPONENTIALS = c(
    "for (int i = 0; i < n; i++) { const float *x = a + i * m; float most = -INFINITY, s = 0; "
    "for (int j = 0; j < m; j++) most = fmaxf(most, x[j]); "
    "for (int j = 0; j < m; j++) s += expf(x[j] - most); "
    "for (int j = 0; j < m; j++) b[i * m + j] = x[j] - most - logf(s); }",
    "int n, int m, const float *restrict a, float *restrict b",
)
UNIT = c(
    "for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < m; j++) "
    "s += a[i * m + j] * a[i * m + j]; if (s > 9) for (int j = 0; j < m; j++) a[i * m + j] /= s; }",
    "int n, int m, double *restrict a",
)
LARGEST = c(
    "for (int i = 0; i < n; i++) { float most = a[i][0], s = 0; for (int j = 1; j < m; j++) "
    "if (a[i][j] > most) most = a[i][j]; for (int j = 0; j < m; j++) { b[i][j] = a[i][j] - most; "
    "s += b[i][j]; } for (int j = 0; j < m; j++) b[i][j] /= s; }",
    "int n, int m, const float a[restrict n][m], float b[restrict n][m]",
)
QUOTIENTS = c(
    "for (int i = 0; i < n; i++) { float most = a[i][0], s = 3; for (int j = 1; j < m; j++) "
    "if (a[i][j] > most) most = a[i][j]; for (int j = 0; j < m; j++) s += a[i][j] / (most + j); "
    "for (int j = 0; j < m; j++) b[i][j] = (a[i][j] - most) / s; c[i] = s; }",
    "int n, int m, const float a[restrict n][m], float b[restrict n][m], float c[restrict n]",
)
"""What takes long is shared by all work-items of a tile of rows."""
CASES = {"centred": CENTRED, "in-place": IN_PLACE, "moments": MOMENTS, "whole": WHOLE}
MORE = {**CASES, "unit": UNIT, "largest": LARGEST, "quotients": QUOTIENTS}
SMALL = replace(GENERIC, group_size=64, local_bytes=3 * 1024)
FEW = replace(SMALL, row_registers=("8x2", "8x8"), row_tiles=("8x33 2x8", "4x66 4x8"))
"""Room in registers for rows of 16 and 64 floats, in tiles for 33 and 65."""
ROWS = (0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 192, 255, 256, 257, 700)
"""Around a warp, a group, and what fits into a half and a third of 3 KiB."""


@cache
def plan(case: str, *, reassociate: bool = False) -> Plan:
    """Groups from two elements of a row on."""
    (routine,) = lx.loads(CASES[case])
    asked = {"suff_outer_par_0": 5, "suff_intra_par_1": 2}
    options = Options(reassociate=reassociate, threshold=tuple(asked.items()))
    done = offload(routine.function, {}, SMALL, options)
    return emit.kernel(done.derivation, fp=PERMITTED["reassociate"] if reassociate else SEPARATE)


@cache
def plan_of_few(case: str, *, reassociate: bool, long: bool) -> Plan:
    """The same with registers and tiles: registers for rows of two elements or more, or none."""
    (routine,) = lx.loads(MORE[case])
    asked = {"suff_outer_par_0": 5, **{f"suff_intra_par_{k}": 2 if long else 999 for k in (1, 2)}}
    options = Options(reassociate=reassociate, threshold=tuple(asked.items()))
    done = offload(routine.function, {}, FEW, options)
    return emit.kernel(done.derivation, fp=PERMITTED["reassociate"] if reassociate else SEPARATE)


def place(p: Plan, m: int) -> str:
    """Where the kernel that a row of this length takes has it."""
    ((number, _),) = launched(p, {"n": 3, "m": m}, not_known)
    declared = re.findall(r"(__local )?\w+ \w+_row(\[[^]]*\])(\[)?", p.kernels[number].text)
    kinds = {
        "registers" if not local else "tiles" if two else "local" for local, _, two in declared
    }
    return " and ".join(sorted(kinds))


def labels(p: Plan, m: int) -> set[str]:
    """What kernels a row of this length takes."""
    numbers = (number for number, _ in launched(p, {"n": 3, "m": m}, not_known))
    return {"row" if "_row[" in p.kernels[n].text else "other" for n in numbers}


@pytest.mark.device
@pytest.mark.parametrize("case", CASES)
def test_bit_identical_in_order(case: str) -> None:
    p = plan(case)
    assert (labels(p, 33), labels(p, 1), labels(p, 4000)) == ({"row"}, {"other"}, {"other"})
    every = [{"n": n, "m": m} for m in ROWS for n in (3, 7 if m in (16, 64) else 0)]
    assert_runs_agree(p, CSource(text=CASES[case]), every, 11)


@pytest.mark.device
@pytest.mark.parametrize("case", CASES)
def test_close_in_another_order(case: str) -> None:
    p, source = plan(case, reassociate=True), CSource(text=CASES[case])
    assert labels(p, 64) == {"row"}
    for m in ROWS:
        found = run(p, source, choose(), {"n": 4, "m": m}, 12)
        assert found.ok, (m, found.mismatches[0])


PLACES = {
    ("centred", True): ("registers", "registers", "tiles"),
    ("in-place", True): ("registers", "registers", "tiles"),
    ("moments", True): ("local", "local", "tiles"),
    ("unit", True): ("registers", "registers", "tiles"),
    ("largest", True): ("registers", "registers", "tiles"),
    ("whole", True): ("local", "local", "tiles"),
    ("centred", False): ("local", "local", "tiles"),
    ("unit", False): ("local", "local", "tiles"),
    ("largest", False): ("local", "local", "tiles"),
    ("quotients", False): ("local", "local", "tiles"),
}


@pytest.mark.device
@pytest.mark.parametrize(("case", "reassociate"), PLACES)
def test_rows_in_registers_and_in_tiles(case: str, *, reassociate: bool) -> None:
    """Lengths around what groups of 8 and registers hold, and tiles."""
    source = CSource(text=MORE[case])
    found = []
    for long, lengths in ((True, (3, 17, 32)), (False, (15,))):
        p = plan_of_few(case, reassociate=reassociate, long=long)
        found += [place(p, m) for m in lengths]
        for m in (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 34, 63, 64, 65, 66, 130):
            done = run(p, source, choose(), {"n": 7, "m": m}, 12)
            assert done.ok, (m, done.mismatches[0])
    first, *_, tiled = found
    assert (first, found[1], tiled) == PLACES[case, reassociate], found


@pytest.mark.device
def test_nan_and_the_signs_of_zeros() -> None:
    """As C has them, for sums and extrema in order."""
    plans = {name: [plan(name)] for name in ("centred", "in-place", "moments")}
    for name in ("centred", "unit", "largest", "quotients"):
        plans[name] = [*plans.get(name, []), plan_of_few(name, reassociate=False, long=False)]
    for case, p in ((name, p) for name, every in plans.items() for p in every):
        (routine,) = lx.loads(MORE[case])
        compiled = CompiledKernel(p, choose())
        reference = Library(CSource(text=MORE[case]), [routine.function])
        for seed, m in enumerate((1, 17, 40, 64, 90)):
            args = arguments(routine.function, {"n": 4, "m": m}, seed)
            rows = args["a"].reshape(4, m)
            rows[0] = -0.0
            rows[1, m // 2] = np.nan
            rows[2, :: max(1, m - 1)] = np.inf
            rows[3, :], rows[3, m // 3 :: 3], rows[3, m // 2 :: 3] = -1, -0.0, 0.0
            expected, after = copy.deepcopy(args), copy.deepcopy(args)
            reference.run("f", expected)
            compiled(**after)
            assert not compare(expected, after), (case, m)
            for name, values in expected.items():
                if isinstance(values, np.ndarray):
                    same = np.signbit(values) == np.signbit(after[name])
                    assert (same | np.isnan(values)).all(), (case, m, name)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("reassociate", [False, True], ids=["in-order", "reassociated"])
def test_no_race_in_the_simulator(case: str, *, reassociate: bool) -> None:
    p = plan(case, reassociate=reassociate)
    every = [arguments(p.start, {"n": 2, "m": m}, 3) for m in (17, 33, 66)]
    report, after = simulate_all(p, every)
    assert report.clean, report.findings
    for args, found in zip(every, after):
        Program(p.start).run(args)
        if not reassociate or case == "whole":
            assert not compare({n: args[n] for n in found}, found)


def test_all_work_items_share_what_takes_long() -> None:
    p = plan_of_few("quotients", reassociate=False, long=False)
    ((number, _),) = launched(p, {"n": 3, "m": 15}, not_known)
    text = p.kernels[number].text
    assert "s_term[i_3 - ii][j_2] = a_row[i_3 - ii][j_2] / (most[i_3 - ii] + j_2);" in text
    assert "b_row" not in text
    assert "s_acc += s_term" in text


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", ["unit", "largest", "quotients"])
@pytest.mark.parametrize("long", [False, True], ids=["tiles", "registers"])
def test_no_race_in_registers_and_tiles(case: str, *, long: bool) -> None:
    p = plan_of_few(case, reassociate=True, long=long)
    every = [arguments(p.start, {"n": 5, "m": m}, 3) for m in (9, 16, 30)]
    report, _ = simulate_all(p, every)
    assert report.clean, report.findings


@pytest.mark.device
@pytest.mark.parametrize("reassociate", [False, True], ids=["in-order", "reassociated"])
def test_terms_that_take_long(*, reassociate: bool) -> None:
    """Work-items compute them, and sum them up in order afterwards where that is asked for."""
    text = f"#include <math.h>\n{EXPONENTIALS}"
    (routine,) = lx.loads(text)
    named = (("suff_outer_par_0", 9), ("suff_intra_par_1", 2))
    options = Options(reassociate=reassociate, threshold=named)
    done = offload(routine.function, {}, SMALL, options)
    p = emit.kernel(done.derivation, fp=PERMITTED["reassociate"] if reassociate else SEPARATE)
    assert ("s_term[" in p.kernels[0].text) is not reassociate
    for m in (0, 1, 2, 31, 33, 64, 100, 128, 129, 200):
        found = run(p, CSource(text=text), choose(), {"n": 4, "m": m}, 12)
        assert found.ok, (m, found.mismatches[0])


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize(
    "name", ["layer_norm", "softmax_rows", "row_max_normalise", "row_moments", "cosine_similarity"]
)
def test_nests_of_the_corpus(name: str) -> None:
    file = Path(CORPUS, "nests", f"{name}.c")
    (routine,) = lx.load(file)
    for reassociate in (False, True):
        options = Options(reassociate=reassociate)
        done = offload(routine.function, {}, GENERIC, options)
        p = emit.kernel(done.derivation, fp=PERMITTED["reassociate"] if reassociate else SEPARATE)
        for m in (31, 256, 1000):
            every = {"n": 3, "m": m, "d": m, "eps": 1e-5}
            sizes = {x.name: every[x.name] for x in p.start.objects if not x.array}
            found = run(p, CSource(str(file)), choose(), sizes, 5)
            assert found.ok, (m, found.mismatches[0])
