"""Barriers between loops over threads: where work-items meet, and only there."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from deriving import c, derived
from harness import arrays_after, assert_runs_agree, program, simulate

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.opencl.kernel import KernelWriter
from loopxform.codegen.plan import Plan
from loopxform.errors import EmitError
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import Stmt
from loopxform.recipes.tile import tile
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Options
from loopxform.verify.check_run import arguments, run
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program

SHIFTED = (
    c(
        "for (int i = 0; i < n; i++) { for (int j = 0; j < 32; j++) a[i][j] = b[i][j] + 1; "
        "for (int k = 0; k < 31; k++) b[i][k] = a[i][k + 1]; }",
        "int n, int a[restrict n][32], int b[restrict n][32]",
    ),
    ("parallelise i", "parallelise j", "parallelise k", "map i group.x"),
    ("map j thread.x", "map k thread.x"),
)
REPEATED = (
    c(
        "for (int i = 0; i < n; i++) for (int t = 0; t < 3; t++) { "
        "for (int j = 0; j < 32; j++) a[i][j] += t; "
        "for (int k = 0; k < 31; k++) b[i][k] = a[i][31 - k]; }",
        "int n, int a[restrict n][32], int b[restrict n][32]",
    ),
    ("parallelise i", "parallelise j", "parallelise k", "map i group.x"),
    ("map j thread.x", "map k thread.x"),
)
READ_BY_ALL = (
    c(
        "for (int i = 0; i < n; i++) { int w = a[i][3]; "
        "for (int j = 0; j < 32; j++) a[i][j] = w + j; }",
        "int n, int a[restrict n][32]",
    ),
    ("parallelise i", "parallelise j", "map i group.x"),
    ("map j thread.x",),
)
FEWER = (
    c(
        "for (int i = 0; i < n; i++) { for (int j = 0; j < 8; j++) b[i][j] += 1; "
        "for (int k = 0; k < 8; k++) for (int l = 0; l < 4; l++) a[i][k][l] = b[i][k]; }",
        "int n, int a[restrict n][8][4], int b[restrict n][8]",
    ),
    ("parallelise i", "parallelise j", "parallelise k", "parallelise l", "map i group.x"),
    ("map j thread.y", "map k thread.y", "map l thread.x"),
)
OWN = (
    c(
        "for (int i = 0; i < n; i++) { for (int j = 0; j < 32; j++) a[i][j] = 1; "
        "for (int j = 0; j < 32; j++) a[i][j] += i; }",
        "int n, int a[restrict n][32]",
    ),
    ("parallelise i", "parallelise j#1", "parallelise j#2", "map i group.x"),
    ("map j* thread.x",),
)
AT_TWO_DEPTHS = (
    c(
        "for (int i = 0; i < n; i++) for (int j = 0; j < 32; j++) for (int k = 0; k < 3; k++) "
        "for (int l = 0; l < 4; l++) "
        "c[i][j] += a[k][31 - j] * b[k][l][31 - j] + (l > 2 ? a[k][j] : 0);",
        "int n, const int a[restrict 3][32], const int b[restrict 3][4][32], int c[restrict n][32]",
    ),
    ("parallelise i", "parallelise j", "map i group.x", "interchange j k", "interchange j l"),
    ("map j thread.x", "copy-to-local a k", "copy-to-local b l"),
)
"""The barrier in front of the inner tile, in each iteration, serves the outer one, too."""
READ_TWICE = (
    c(
        "for (int i = 0; i < n; i++) { for (int j = 0; j < 32; j++) b[i][j] = a[i][31 - j]; "
        "for (int k = 0; k < 32; k++) c[i][k] = a[i][k]; }",
        "int n, const int a[restrict n][32], int b[restrict n][32], int c[restrict n][32]",
    ),
    ("parallelise i", "parallelise j", "parallelise k", "map i group.x"),
    ("map j thread.x", "map k thread.x", "copy-to-local a i"),
)
ONE_AFTER_THE_OTHER = (
    c(
        "for (int i = 0; i < n; i++) { "
        "for (int k = 0; k < 3; k++) for (int j = 0; j < 32; j++) b[i][j] += a[k][31 - j]; "
        "for (int l = 0; l < 3; l++) for (int j = 0; j < 32; j++) b[i][j] += d[l][31 - j]; }",
        "int n, const int a[restrict 3][32], const int d[restrict 3][32], int b[restrict n][32]",
    ),
    ("parallelise i", "parallelise j#1", "parallelise j#2", "map i group.x"),
    ("map j* thread.x", "copy-to-local a k", "copy-to-local d l"),
)
"""Two loops over tiles: a barrier in front of each copy, and behind it, is enough."""
TWO_UPDATES = (
    c(
        "for (int i = 0; i < n; i++) { for (int j = 0; j < 32; j++) h[i][a[j] & 3] += 3; "
        "for (int k = 0; k < 32; k++) h[i][a[k] & 3] |= 4; }",
        "int n, const int a[restrict 32], int h[restrict n][4]",
    ),
    ("atomic-updates j", "atomic-updates k", "parallelise i", "parallelise j", "parallelise k"),
    ("map i group.x", "map j thread.x", "map k thread.x"),
)
"""Sums may be in any order, and so may bits be set, but not both."""
CASES = {
    "two-updates": (TWO_UPDATES, 1),
    "at-two-depths": (AT_TWO_DEPTHS, 3),
    "read-twice": (READ_TWICE, 1),
    "one-after-the-other": (ONE_AFTER_THE_OTHER, 4),
    "shifted": (SHIFTED, 1),
    "repeated": (REPEATED, 2),
    "read-by-all": (READ_BY_ALL, 1),
    "fewer-threads": (FEWER, 1),
    "own-elements": (OWN, 0),
}
"""Each with the barriers it needs."""


def planned(case: str) -> Plan:
    (text, *steps), _ = CASES[case]
    return emit.kernel(derived(text, *(s for part in steps for s in part)), fp=SEPARATE)


@pytest.mark.parametrize("case", CASES)
def test_barriers(case: str) -> None:
    assert planned(case).source.count("barrier(") == CASES[case][1]


@pytest.mark.device
@pytest.mark.parametrize("case", CASES)
def test_the_device_computes_what_c_does(case: str, tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(CASES[case][0][0])
    assert_runs_agree(planned(case), CSource(str(file)), ({"n": n} for n in (0, 1, 3)), 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", CASES)
def test_no_race_in_the_simulator(case: str) -> None:
    plan = planned(case)
    args = arguments(plan.start, {"n": 2}, 3)
    report = simulate(plan, args)
    assert report.clean, report.findings
    found = arrays_after(plan, report)
    Program(plan.start).run(args)
    assert not compare({k: args[k] for k in found}, found)


BESIDE = (
    c(
        "for (int g = 0; g < n; g++) for (int i = 0; i < 8; i++) { b[g][i] += 1; "
        "for (int j = 0; j < 4; j++) a[g][i][j] = 1; }",
        "int n, int a[restrict n][8][4], int b[restrict n][8]",
    ),
    ("parallelise g", "parallelise i", "parallelise j", "map g group.x"),
    ("map i thread.y", "map j thread.x"),
)
INSIDE = (
    c(
        "for (int g = 0; g < n; g++) for (int i = 0; i < 8; i++) { "
        "for (int j = 0; j < 4; j++) a[g][i][j] = b[g][i][j]; "
        "for (int k = 0; k < 3; k++) b[g][i][k] = a[g][i][k + 1]; }",
        "int n, int a[restrict n][8][4], int b[restrict n][8][4]",
    ),
    ("parallelise g", "parallelise i", "parallelise j", "parallelise k", "map g group.x"),
    ("map i thread.y", "map j thread.x", "map k thread.x"),
)


@pytest.mark.parametrize("case", [BESIDE, INSIDE], ids=["beside", "inside"])
def test_what_needs_a_barrier_inside_a_thread_is_refused(
    case: tuple[str, tuple[str, ...], tuple[str, ...]],
) -> None:
    text, *steps = case
    with pytest.raises(EmitError, match="what stands beside a loop mapped to threads"):
        emit.kernel(derived(text, *(s for part in steps for s in part)))


def test_branches_do_not_meet() -> None:
    """A group takes one of the versions of its last statements, and needs no barrier in them."""
    done = tile(program("mm"), {}, "register", options=Options(separate_full_tiles=True))
    text = emit.kernel(done.derivation).source
    assert "} else {" in text
    assert "CLK_GLOBAL_MEM_FENCE" not in text


def test_elements_that_a_work_item_computes_are_its_own() -> None:
    """What a work-item reads and writes of the tile it computes, no other one touches."""
    done = tile(program("mm_ikj"), {}, "register", options=Options(separate_full_tiles=True))
    assert "CLK_GLOBAL_MEM_FENCE" not in emit.kernel(done.derivation).source


SHORT = """\
void f(const float a[40], float b[16][16])
{
  for (int i = 0; i < 4; i++)
    for (int j = 4 - 1; j >= i + 1; j--)
      b[j + 10][j + 10] = a[i + 25];
}
"""


@pytest.mark.device
@pytest.mark.parametrize("tile", [3, 8, 16])
def test_tiles_of_loops_that_run_once_or_not_at_all(tile: int, tmp_path: Path) -> None:
    """PoCL 3 computes garbage where their barriers stand under a condition."""
    file = tmp_path / "f.c"
    file.write_text(SHORT)
    done = lx.load(file)["f"].offload(contract=False, Tx=8, Tk=tile)
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert "barrier" in plan.source
    found = run(plan, CSource(str(file)), choose(), {}, 3)
    assert found.ok, found.mismatches


def deep(depth: int) -> str:
    """A product inside of sequential loops that the whole group runs."""
    names = [f"t{n}" for n in range(depth)]
    heads = "".join(f"for (int {t} = 0; {t} < T; {t}++) {{ s *= Q[{t}]; " for t in names)
    params = "int M, int U, int N, int T, const float Q[T], const float A[M][U], "
    body = f"float s = 0; {heads}for (int k = 0; k < U; k++) s += A[i][k] * B[k][j]; {'}' * depth}"
    nest = f"for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {{ {body} C[i][j] = s; }}"
    return f"void f({params}const float B[U][N], float C[M][N]) {{ {nest} }}\n"


def test_a_kernel_is_written_once_however_deep_its_loops_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []
    plain = KernelWriter._group

    def counted(self: KernelWriter, body: tuple[Stmt, ...]) -> list[str]:
        calls.append(body)
        return plain(self, body)

    monkeypatch.setattr(KernelWriter, "_group", counted)
    made = []
    for depth in (1, 2, 3, 4):
        tiled = lx.loads(deep(depth))["f"].tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2)
        calls.clear()
        emit.kernel(tiled.derivation)
        made.append(len(calls))
    steps = [b - a for a, b in itertools.pairwise(made)]
    assert max(steps) <= min(steps) + 4, made
