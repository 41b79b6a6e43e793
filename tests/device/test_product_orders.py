"""Products in any order of their loops, as `offload` maps them: a block of results for each
work-item, with nothing left to the host, and the results of the user's C."""

from __future__ import annotations

from functools import cache

import pytest
from harness import assert_runs_agree

import loopxform as lx
from loopxform.api.offload import OffloadedRoutine
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.verify.cref import CSource

SIZES = "int n, int m, int u, double alpha, double beta"
PRODUCT = f"{SIZES}, const double *a, const double *b, double *c"
COLUMNS = f"{SIZES}, int lda, int ldb, int ldc, const double *a, const double *b, double *c"
ROW, COLUMN, TERM = (f"for (int {v} = 0; {v} < {size}; {v}++)" for v, size in zip("ijk", "nmu"))
SUM = "c[i*m + j] += a[i*u + k] * b[k*m + j];"
UPDATE = "for (int i = 0; i < n; i++) c[i + j*ldc] += t * a[i + k*lda];"

ORDERS = {
    "ikj": (PRODUCT, f"{ROW} {TERM} {COLUMN} {SUM}"),
    "kij": (PRODUCT, f"{TERM} {ROW} {COLUMN} {SUM}"),
    "jki": (PRODUCT, f"{COLUMN} {TERM} {ROW} {SUM}"),
    "a factor in a scalar": (
        PRODUCT,
        f"{ROW} {TERM} {{ double t = alpha * a[i*u + k]; {COLUMN} c[i*m + j] += t * b[k*m + j]; }}",
    ),
    "columns": (COLUMNS, f"{COLUMN} {TERM} {{ double t = alpha * b[k + j*ldb]; {UPDATE} }}"),
    "scaled columns": (
        COLUMNS,
        f"""int i, j, k; double t; for (j = 0; j < m; j++) {{
        if (beta == 0.) {{ for (i = 0; i < n; i++) c[i + j*ldc] = 0.; }}
        else if (beta != 1.) {{ for (i = 0; i < n; i++) c[i + j*ldc] = beta * c[i + j*ldc]; }}
        for (k = 0; k < u; k++) {{ t = alpha * b[k + j*ldb]; {UPDATE} }} }}""",
    ),
    "zeros first": (
        PRODUCT,
        f"{ROW} {COLUMN} c[i*m + j] = 0; {ROW} {TERM} {{ double t = a[i*u + k];"
        f" {COLUMN} c[i*m + j] += t * b[k*m + j]; }}",
    ),
    "either way": (
        PRODUCT,
        f"{ROW} {COLUMN} {{ double s = 0; {TERM} s += a[i*u + k] * b[k*m + j];"
        " if (beta == 0) c[i*m + j] = alpha * s;"
        " else c[i*m + j] = alpha * s + beta * c[i*m + j]; }",
    ),
}


SIZED = [
    {"n": 21, "m": 19, "u": 33, "alpha": 2.0, "beta": 0.0},
    {"n": 5, "m": 50, "u": 17, "alpha": 0.5, "beta": 3.0},
    {"n": 3, "m": 4, "u": 1, "alpha": 0.5, "beta": 1.0},
]


def text(case: str) -> str:
    params, body = ORDERS[case]
    return f"void f({params}) {{ {body} }}"


@cache
def offloaded(case: str) -> OffloadedRoutine:
    return lx.loads(text(case))["f"].offload(contract=False)


@pytest.mark.parametrize("case", ORDERS)
def test_a_block_for_each_work_item(case: str) -> None:
    done = offloaded(case)
    recipes = [p.tiled.recipe for p in done.parts if p.tiled]
    assert all(p.kind == "kernel" for p in done.parts)
    assert recipes.count("register") == 1, recipes


@pytest.mark.device
@pytest.mark.parametrize("case", ["ikj", "a factor in a scalar", "scaled columns", "either way"])
def test_bit_identical_to_the_c_program(case: str) -> None:
    plan = emit.kernel(offloaded(case).derivation, fp=SEPARATE)
    own = {p.name for p in plan.start.objects if not p.array}
    sizes = [{**s, "lda": 60, "ldb": 60, "ldc": 60} for s in SIZED]
    given = [{k: v for k, v in s.items() if k in own} for s in sizes]
    assert_runs_agree(plan, CSource(text=text(case)), given, 3)
