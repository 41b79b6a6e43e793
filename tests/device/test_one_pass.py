"""The softmax of rows that are too long for registers and local memory, where sums may be in any
order: the largest element and the sum in one pass, with what C computes of NaN and infinities."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from deriving import c
from harness import simulate_all

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import PERMITTED
from loopxform.offload.program import offload
from loopxform.recipes.grouped_nest import ONE_PASS
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Options
from loopxform.targets.target import GENERIC
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource, Library

PARAMS = "int n, int m, const float x[restrict n][m], float y[restrict n][m]"


def rows(body: str, params: str = PARAMS) -> str:
    return "#include <math.h>\n" + c(f"for (int i = 0; i < n; i++) {{ {body} }}", params)


EACH = "for (int j = 0; j < m; j++)"
CASES = {
    "stored": rows(
        "float top = x[i][0]; for (int j = 1; j < m; j++) if (x[i][j] > top) top = x[i][j];"
        f"float s = 0; {EACH} {{ y[i][j] = expf(x[i][j] - top); s += y[i][j]; }}"
        f"{EACH} y[i][j] /= s;"
    ),
    "in-place": rows(
        "double *r = x + (long)i * m; double top = -INFINITY, s = 0;"
        f"{EACH} top = fmax(top, r[j]); {EACH} {{ r[j] = exp(r[j] - top); s += r[j]; }}"
        f"double by = 1 / s; {EACH} r[j] = r[j] * by;",
        "int n, int m, double *restrict x",
    ),
    "logarithm": rows(
        f"float top = -1e30f, s = 0; {EACH} {{ float v = x[i][j] * 2; if (top < v) top = v; }}"
        f"{EACH} s += expf(x[i][j] * 2 - top); float l = logf(s);"
        f"{EACH} y[i][j] = x[i][j] * 2 - top - l;"
    ),
    "through-a-scalar": rows(
        f"float s = 0, top = -INFINITY; {EACH} top = x[i][j] > top ? x[i][j] : top;"
        f"{EACH} {{ float e = expf(x[i][j] - top); s += e; y[i][j] = e; }} {EACH} y[i][j] *= 2 / s;"
    ),
}
SMALL = replace(GENERIC, group_size=32, local_bytes=1024)
LENGTHS = (0, 1, 2, 31, 32, 33, 64, 65, 100, 300, 700)


@cache
def plan(case: str) -> Plan:
    (routine,) = lx.loads(CASES[case])
    options = Options(
        reassociate=True, threshold=(("suff_outer_par_0", 99), ("suff_intra_par_1", 1))
    )
    done = offload(routine.function, {}, SMALL, options)
    assert ONE_PASS in repr(done.derivation.records[-1].step)
    return emit.kernel(done.derivation, fp=PERMITTED["reassociate"])


def special(values: np.ndarray) -> None:
    """Puts into rows what exponentials cannot scale."""
    n, m = values.shape
    values[1 % n, m // 2 :: 7] = -np.inf
    values[2 % n, m // 3] = np.nan
    values[3 % n, m // 2] = np.inf
    values[4 % n, :] = -np.inf
    values[5 % n, :] *= 1000
    values[6 % n, 0] = np.nan


@pytest.mark.device
@pytest.mark.parametrize("case", CASES)
def test_as_the_c_program(case: str) -> None:
    p = plan(case)
    (routine,) = lx.loads(CASES[case])
    compiled, reference = CompiledKernel(p, choose()), Library(CSource(text=CASES[case]), [p.start])
    for seed, m in enumerate(LENGTHS):
        args = arguments(routine.function, {"n": 7, "m": m}, seed)
        if m:
            special(args["x"].reshape(7, m))
        expected, after = copy.deepcopy(args), copy.deepcopy(args)
        reference.run("f", expected)
        compiled(**after)
        for name in ("x", "y"):
            if name in expected:
                np.testing.assert_allclose(after[name], expected[name], rtol=3e-5, atol=3e-6)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", ["stored", "in-place"])
def test_no_race_in_the_simulator(case: str) -> None:
    p = plan(case)
    report, _ = simulate_all(p, [arguments(p.start, {"n": 2, "m": m}, 3) for m in (17, 129)])
    assert report.clean, report.findings
