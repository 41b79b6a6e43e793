"""Cache blocks: transpositions as devices run them that run work-items in turn, in PoCL, in the
simulator, in the executor of groups, and as C for CPUs."""

from __future__ import annotations

import copy
import random
from functools import cache

import pytest
from harness import assert_clean_and_right, assert_runs_agree
from test_transpositions import CASES, IN_TWO, Case, permuted

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

SIZES = tuple({"n": n, "m": m} for n, m in ((0, 7), (7, 0), (1, 1), (8, 9), (17, 33), (32, 64)))
ROWS = "matrix flat rotation mirrored blocks function masked symmetric-part neighbours inside bytes"
TURNED = {
    **{name: CASES[name] for name in ROWS.split()},
    "three-dimensions": permuted((2, 0, 1)),
    "records": Case(
        "int n, int m, const float a[restrict n][16], float b[restrict 16][n]",
        "for (int i = 0; i < n; i++) for (int c = 0; c < 16; c++) b[c][i] = a[i][c];",
    ),
}
ALONG_ROWS = {
    "copy": CASES["copy"],
    "same-last-dimension": CASES["same-last-dimension"],
    "one-loop": Case(
        "int n, int m, const float a[restrict n][m], float b[restrict n]",
        "for (int i = 0; i < n; i++) b[i] = a[i][0];",
    ),
    "a-loop-inside": Case(
        "int n, int m, const float a[restrict m][n][9], float b[restrict n][m]",
        f"{IN_TWO} {{ float s = 0; for (int k = 0; k < 9; k++) s += a[j][i][k]; b[i][j] = s; }}",
    ),
}


@cache
def blocked(name: str, profile: str = "pocl", **sizes: int) -> lx.TiledRoutine:
    routine = lx.loads(TURNED[name].text)["f"]
    done = routine.tile(limits=PROFILES[profile], contract=False, **sizes)
    assert done.tiled.recipe == "cache-block"
    return done


def plan(name: str, **sizes: int) -> Plan:
    return emit.kernel(blocked(name, **sizes).derivation, fp=SEPARATE)


def sizes_of(case: Case) -> tuple[dict[str, int], ...]:
    return tuple({**case.sizes[0], **s} for s in SIZES) if "m" in case.sizes[0] else case.sizes


@pytest.mark.device
@pytest.mark.parametrize("name", TURNED)
def test_blocks_as_the_c_program(name: str) -> None:
    case = TURNED[name]
    assert_runs_agree(plan(name), CSource(text=case.text), sizes_of(case), 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["matrix", "masked", "three-dimensions"])
def test_blocks_without_races(name: str) -> None:
    p = plan(name, Ry=3, Rx=4, Tx=2)
    every = ({k: min(v, 9) for k, v in s.items()} for s in sizes_of(TURNED[name]))
    assert_clean_and_right(p, [arguments(p.start, s, 5) for s in every])


@pytest.mark.parametrize("name", TURNED)
def test_blocks_in_the_executor_of_groups(name: str) -> None:
    """Of random sizes, by work-items of random blocks."""
    rng = random.Random(name)
    for _ in range(3):
        p = plan(name, **{n: rng.randint(1, 4) for n in ("Ry", "Rx", "Ty", "Tx")})
        for _ in range(2):
            args = arguments(p.start, {n: rng.randint(0, 9) for n in sizes_of(TURNED[name])[0]}, 5)
            expected = copy.deepcopy(args)
            Program(p.start).run(expected)
            execute(p, args, seed=3)
            assert not compare(expected, args)


@pytest.mark.parametrize("name", ["matrix", "masked"])
def test_blocks_of_tiled_c(name: str) -> None:
    case, done = TURNED[name], blocked(name, "cpu")
    (text,) = done.openmp.files.values()
    for sizes in sizes_of(case):
        given = arguments(done.derivation.start, sizes, 5)
        results = []
        for source in (case.text, text):
            own = copy.deepcopy(given)
            Library(CSource(text=source), [done.derivation.start]).run("f", own)
            results.append(own)
        assert not compare(*results)


@pytest.mark.parametrize("name", ALONG_ROWS)
@pytest.mark.parametrize("profile", ["pocl", "cpu"])
def test_no_blocks_where_rows_are_read_and_written(name: str, profile: str) -> None:
    done = lx.loads(ALONG_ROWS[name].text)["f"].tile(limits=PROFILES[profile])
    assert done.tiled.recipe != "cache-block"


def test_groups_whose_rows_are_whole_lines() -> None:
    done = lx.loads(CASES["copy"].text)["f"].tile(limits=PROFILES["pocl"])
    assert (done.tiled.sizes["Ty"], done.tiled.sizes["Tx"]) == (4, 64)
