"""Loops that were blocked or unrolled by hand: they are tiled like the loops that were meant, and
compute what the user's C does."""

from __future__ import annotations

from functools import cache

import pytest
from harness import assert_runs_agree, simulate

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.transforms import Derivation
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

HEAD = """\
#define MIN(x, y) ((x) < (y) ? (x) : (y))
static int least(int x, int y) {{ if (x < y) return x; return y; }}
void {name}(int n, int m, {type} *restrict c, const {type} *a, const {type} *b)
{{
  {body}
}}
"""
PRODUCT = "c[i*m + j] += a[i*n + k] * b[k*m + j];"
FOUR = " ".join(f"s += a[i*n + k + {t}] * b[(k + {t})*m + j];" for t in range(4))
TWO = "s += a[i*n + k] * b[k*m + j]; s1 += a[i*n + k + 1] * b[(k + 1)*m + j];"
SUMS = (
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {{ double s = 0; {} c[i*m + j] = s; }}"
)
REST = "for (; k < n; k++) s += a[i*n + k] * b[k*m + j];"

BODIES = {
    "blocked": "for (int ii = 0; ii < n; ii += 16) for (int jj = 0; jj < m; jj += 8)"
    " for (int kk = 0; kk < n; kk += 4) for (int i = ii; i < MIN(ii + 16, n); i++)"
    " for (int j = jj; j < MIN(jj + 8, m); j++)"
    f" for (int k = kk; k < MIN(kk + 4, n); k++) {PRODUCT}",
    "blocked_twice": "for (int i2 = 0; i2 < n; i2 += 16) for (int j2 = 0; j2 < m; j2 += 16)"
    " for (int i1 = i2; i1 < least(i2 + 16, n); i1 += 4)"
    " for (int j1 = j2; j1 < least(m, j2 + 16); j1 += 4)"
    " for (int i = i1; i < least(i1 + 4, n); i++) for (int j = j1; j < least(j1 + 4, m); j++)"
    f" for (int k = 0; k < n; k++) {PRODUCT}",
    "scalar_between": "for (int ii = 0; ii < n; ii += 8) for (int kk = 0; kk < n; kk += 8)"
    " for (int jj = 0; jj < m; jj += 8) for (int i = ii; i < n && i < ii + 8; i++)"
    " for (int k = kk; k < n && k < kk + 8; k++) { double x = a[i*n + k];"
    " for (int j = jj; j < m && j < jj + 8; j++) c[i*m + j] += x * b[k*m + j]; }",
    "sums_of_blocks": "for (int jj = 0; jj < m; jj += 8) for (int kk = 0; kk < n; kk += 8)"
    " for (int i = 0; i < n; i++) for (int j = jj; j < MIN(jj + 8, m); j++) { double s = 0;"
    " for (int k = kk; k < MIN(kk + 8, n); k++) s += a[i*n + k] * b[k*m + j]; c[i*m + j] += s; }",
    "unrolled": SUMS.format(f"int k; for (k = 0; k + 3 < n; k += 4) {{ {FOUR} }} {REST}"),
    "unrolled_to_a_multiple": SUMS.format(
        f"int k, end = n - n % 4; for (k = 0; k < end; k += 4) {{ {FOUR} }} {REST}"
    ),
    "unrolled_to_a_mask": SUMS.format(
        f"int k, end = n & ~3; for (k = 0; k < end; k += 4) {{ {FOUR} }}"
        f" {REST.replace('(;', '(k = end;')}"
    ),
    "rest_first": SUMS.format(
        f"int k, r = n % 4; {REST.replace('(; k < n', '(k = 0; k < r')}"
        f" for (k = r; k < n; k += 4) {{ {FOUR} }}"
    ),
    "two_sums": SUMS.format(
        f"double s1 = 0; int k; for (k = 0; k + 1 < n; k += 2) {{ {TWO} }}"
        " if (k < n) s += a[i*n + k] * b[k*m + j]; s += s1;"
    ),
    "unrolled_until": SUMS.format(f"int k; for (k = 0; k <= n - 4; k += 4) {{ {FOUR} }} {REST}"),
}
PREPARED = ("unrolled_to_a_multiple", "unrolled_to_a_mask", "rest_first", "two_sums")
"""Those whose steps begin at another form of the function."""
SIZES = ({"n": 21, "m": 35}, {"n": 1, "m": 1}, {"n": 16, "m": 8}, {"n": 3, "m": 50})
TILES = {"Ty": 4, "Tx": 4, "Tk": 4, "Ry": 2, "Rx": 2}


def text(name: str) -> str:
    return HEAD.format(name=name, body=BODIES[name], type="double")


@cache
def tiled(name: str) -> Derivation:
    done = lx.loads(text(name))[name].tile(contract=False, **TILES)
    assert done.tiled.recipe == "register"
    return done.derivation


def plan(name: str) -> Plan:
    return emit.kernel(tiled(name), fp=SEPARATE)


@pytest.mark.device
@pytest.mark.parametrize("name", BODIES)
def test_tiled_bit_identical_to_the_c_program(name: str) -> None:
    assert_runs_agree(plan(name), CSource(text=text(name)), SIZES, 3)


@pytest.mark.device
@pytest.mark.parametrize("name", BODIES)
def test_offloaded_bit_identical_to_the_c_program(name: str) -> None:
    done = lx.loads(text(name))[name].offload(contract=False)
    assert_runs_agree(
        emit.kernel(done.derivation, fp=SEPARATE), CSource(text=text(name)), SIZES[:2], 3
    )


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["blocked", "scalar_between", "unrolled"])
def test_touches_only_what_the_c_program_touches(name: str) -> None:
    p = plan(name)
    report = simulate(p, arguments(p.start, {"n": 9, "m": 7}, 1))
    assert report.clean, report.findings


@pytest.mark.parametrize("name", [n for n in BODIES if n not in PREPARED])
def test_steps_replay(name: str) -> None:
    done = tiled(name)
    again = lx.loads(text(name))[name].apply(
        *(r.step for r in done.records), tiles=dict(done.start.tiles)
    )
    assert again.function == done.function
