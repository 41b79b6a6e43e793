"""Tiles that are turned in registers: permuted dimensions on PoCL, as loops where a compiler has no
stores past the caches, and in the simulator."""

from __future__ import annotations

import dataclasses
from functools import cache

import pytest
from conftest import Golden
from harness import assert_clean_and_right, assert_runs_agree
from test_transpositions import IN_TWO, Case

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

ODD = ((1, 300), (15, 16), (16, 17), (32, 64), (67, 129), (128, 128), (255, 257), (256, 127))
SIZES = tuple({"n": n, "m": m} for n, m in ODD)
FURTHER = tuple({**s, "o": o} for s, o in zip(SIZES, (1, 3, 8, 15, 16, 5, 0, 32)))


def _transposed(kind: str) -> Case:
    params = f"int n, int m, const {kind} a[restrict n][m], {kind} b[restrict m][n]"
    return Case(params, f"{IN_TWO} b[j][i] = a[i][j];", SIZES)


OF_THREE = "int n, int m, const float a[restrict n][3][m], float b[restrict m][3][n]"
OF_TWO = "int n, int m, const float a[restrict n][m], const float c[restrict m][n], "
FURTHER_ON = "int n, int m, int o, const float a[restrict n][m + 1], float b[restrict m][n + o]"
TURNED = {
    **{kind: _transposed(kind) for kind in ("float", "int", "double", "short", "unsigned char")},
    "further-on": Case(FURTHER_ON, f"{IN_TWO} b[j][o + i] = a[i][j + 1];", FURTHER),
    "outer-dimensions": Case(
        OF_THREE,
        f"for (int k = 0; k < 3; k++) {IN_TWO} b[j][k][i] = a[i][k][j];",
        SIZES,
    ),
    "computed": Case(
        f"{OF_TWO}float b[restrict m][n]",
        f"{IN_TWO} b[j][i] = 2.0f * a[i][j] - c[j][i] + i;",
        SIZES,
    ),
    "changed": Case(
        f"{OF_TWO}const float d[restrict n][m], float b[restrict m][n]",
        f"{IN_TWO} b[j][i] += a[i][j] * d[i][j];",
        SIZES,
    ),
}


@cache
def plan(name: str) -> Plan:
    done = lx.loads(TURNED[name].text)["f"].tile(limits=PROFILES["pocl"], contract=False)
    made = emit.kernel(done.derivation, fp=SEPARATE)
    assert "#if LX_NONTEMPORAL" in made.source
    return made


@pytest.mark.device
@pytest.mark.parametrize("name", TURNED)
def test_tiles_as_the_c_program(name: str) -> None:
    """At odd sizes, and where rows of what is stored begin anywhere."""
    assert_runs_agree(plan(name), CSource(text=TURNED[name].text), TURNED[name].sizes, 3)


@pytest.mark.device
@pytest.mark.optimised
@pytest.mark.parametrize("name", ["float", "further-on", "double", "unsigned char", "changed"])
def test_optimised_tiles(name: str) -> None:
    assert_runs_agree(plan(name), CSource(text=TURNED[name].text), TURNED[name].sizes, 4)


@pytest.mark.oclgrind
@pytest.mark.parametrize(
    ("name", "turns"),
    [("float", 1), ("further-on", 1), ("changed", 1), ("float", 0), ("unsigned char", 0)],
)
def test_tiles_without_races(name: str, turns: int) -> None:
    """In vectors, and as loops."""
    made = plan(name)
    made = dataclasses.replace(made, shared=f"#define LX_NONTEMPORAL {turns}\n{made.shared}")
    every = ({**s, "n": n, "m": m} for s, (n, m) in zip(TURNED[name].sizes, ((33, 65), (64, 34))))
    assert_clean_and_right(made, [arguments(made.start, s, 5) for s in every])


@pytest.mark.parametrize("name", ["float", "unsigned char", "changed"])
def test_kernel(name: str, golden: Golden) -> None:
    golden.check(plan(name).source)
