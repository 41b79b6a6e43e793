"""Rows that a work-item reads in vectors along them and turns in registers: sums in order on PoCL,
to the last bit of the C program, and in the simulator, in vectors and as loops."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache

import pytest
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

SIDES = ((1, 1), (15, 16), (16, 15), (17, 17), (16, 33), (33, 0), (0, 5), (128, 16), (145, 31))
SIZES = tuple({"n": n, "m": m} for n, m in SIDES)
FURTHER = tuple({**s, "k": k} for s, k in zip(SIZES, (1, 3, 8, 15, 16, 5, 0, 2, 7)))
ROW = "for (int i = 0; i < n; i++) {{ {0} s = 1; for (int j = 0; j < m; j++) {1} y[i] = s; }}"
PARAMS = "int n, int m, const {0} a[restrict n][m], const {0} x[restrict m], {0} y[restrict n]"


def _rows(body: str, kind: str = "float", params: str = PARAMS, sums: str = "") -> str:
    return f"void f({params.format(kind)}) {{ {ROW.format(sums or kind, body)} }}\n"


BESIDE = (
    "int n, int m, const {0} a[restrict n][m], const double b[restrict n][m], {0} y[restrict n]"
)
APART = "int n, int m, int k, const {0} a[restrict n][m + k], {0} y[restrict n]"
FLAT = "int n, int m, int k, const {0} *restrict a, {0} *restrict y"
NORMED = "int n, int m, const {0} a[restrict n][m], {0} y[restrict n][m]"
NORM = """for (int i = 0; i < n; i++) {{ float s = 0, q = 0;
  for (int j = 0; j < m; j++) s += a[i][j];
  float mean = s / (m + 1);
  for (int j = 0; j < m; j++) q += (a[i][j] - mean) * (a[i][j] - mean);
  for (int j = 0; j < m; j++) y[i][j] = (a[i][j] - mean) * (q + 1); }}"""
TURNED = {
    "sum": _rows("s += a[i][j];"),
    "product": _rows("s *= a[i][j] * 0.5f;"),
    "largest": _rows("if (a[i][j] > s) s = a[i][j];"),
    "smallest-or": _rows("if (a[i][j] < s) s = a[i][j]; else s += x[j];"),
    "dot": _rows("s += a[i][j] * x[j];", "double"),
    "weighted": _rows("{ float d = a[i][j] - x[j]; s += d * d; }"),
    "ints": _rows("s = s * 3 + a[i][j];", "int"),
    "bytes": _rows("s = s * 0.5f + a[i][j];", "unsigned char", sums="float"),
    "two-types": _rows("s += a[i][j] * b[i][j];", params=BESIDE, sums="double"),
    "rows-apart": _rows("s += a[i][j + k];", params=APART),
    "behind-one-another": _rows("s -= a[i * (m + k) + j];", params=FLAT),
    "two-sums": _rows("{ s += a[i][j] * x[j]; y[i] *= s; }").replace(
        "{ float s = 1;", "{ float s = 1; y[i] = 2;"
    ),
    "norm": f"void f({NORMED}) {{{{ {NORM} }}}}\n".format("float"),
}


@cache
def derived(name: str, *, ahead: bool = True) -> Derivation:
    limits = PROFILES["pocl"]
    if not ahead:
        limits = replace(limits, costs=replace(limits.costs, rows_ahead=0))
    return lx.loads(TURNED[name])["f"].tile(limits=limits, contract=False).derivation


@cache
def plan(name: str, *, ahead: bool = True) -> Plan:
    made = emit.kernel(derived(name, ahead=ahead), fp=SEPARATE)
    assert made.source.count(" LX_TURN_TILE(") > 2, made.source
    return made


def sizes(name: str) -> tuple[dict[str, int], ...]:
    return FURTHER if "int k" in TURNED[name] else SIZES


@pytest.mark.device
@pytest.mark.parametrize("name", TURNED)
def test_rows_as_the_c_program(name: str) -> None:
    """At odd sizes, and where rows begin anywhere."""
    assert_runs_agree(plan(name), CSource(text=TURNED[name]), sizes(name), 3)


@pytest.mark.device
@pytest.mark.optimised
@pytest.mark.parametrize("name", ["dot", "largest"])
def test_optimised_rows(name: str) -> None:
    assert_runs_agree(plan(name), CSource(text=TURNED[name]), sizes(name), 4)


@pytest.mark.parametrize("name", ["largest", "two-types"])
def test_rows_in_the_interpreter_and_in_the_executor(name: str) -> None:
    """The steps, and the text of the kernel as loops."""
    made = plan(name)
    given = arguments(made.start, {"n": 19, "m": 35}, 5)
    expected, mapped = copy.deepcopy(given), copy.deepcopy(given)
    Program(made.start).run(expected)
    Program(derived(name).function).run(mapped)
    execute(made, given)
    assert not compare(expected, mapped)
    assert not compare(expected, given)


@pytest.mark.oclgrind
@pytest.mark.parametrize(
    ("name", "vectors"), [("dot", 1), ("rows-apart", 1), ("two-types", 1), ("bytes", 0)]
)
def test_rows_without_races(name: str, vectors: int) -> None:
    """In vectors, and as loops. (The simulator fetches nothing ahead.)"""
    made = plan(name, ahead=False)
    if vectors:
        made = replace(made, shared=f"#define LX_VECTOR_TILES\n{made.shared}")
    every = ({**s, "n": n, "m": m} for s, (n, m) in zip(sizes(name), ((17, 33), (16, 16), (1, 40))))
    assert_clean_and_right(made, [arguments(made.start, s, 5) for s in every])
