"""Slices that a work-item updates by key are arrays of its own where that is worth it, and the
kernels do what the user's C does."""

from __future__ import annotations

import copy

import pytest
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.ir.visit import declared
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

EACH = "for (int y = 0; y < n; y++) for (int x = 0; x < n; x++)"


def program(update: str, *, extent: int = 16, turns: int = 64) -> str:
    """A function that sums up numbers by key, `turns` for each element of the result."""
    return (
        f"void f(int n, const unsigned char a[n + {turns}][n], float out[n][n]) {{"
        f" float s[{extent}][n][n];"
        f" for (int z = 0; z < {extent}; z++) {EACH} s[z][y][x] = z;"
        f" {EACH} for (int j = 0; j < {turns}; j++) {update}"
        f" {EACH} out[y][x] = s[3][y][x] + 2 * s[5][y][x]; }}"
    )


SHORT = "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++)"
LONG = "for (int i = 0; i < 1; i++) for (int j = 0; j < 64; j++)"


def set_first(*, first: int = 0, turns: str = SHORT) -> str:
    """The same, where the loops that update the numbers of an element set them first, from one of
    them on."""
    return (
        "void f(int n, const unsigned char a[8 * n][64 * n], float out[n][n]) {"
        f" float s[16][n][n]; for (int z = 0; z < 16; z++) {EACH} s[z][y][x] = -z;"
        f" {EACH} {{ for (int z = {first}; z < 16; z++) s[z][y][x] = z;"
        f" {turns} s[a[8 * y + i][64 * x + j] & 15][y][x] += j; }}"
        f" {EACH} out[y][x] = s[3][y][x] + 2 * s[5][y][x]; }}"
    )


KEY = "s[a[y + j][x] & 15][y][x]"
CASES = {
    "by-key": (program(f"{KEY} += j;"), ["s_row"]),
    "by-a-scalar": (
        program("{ int k = a[y + j][x] & 15; s[k][y][x] += k; s[15 - k][y][x] *= 0.5f; }"),
        ["s_row"],
    ),
    "some-of-them": (program(f"if (a[y + j][x] > 9) {KEY} += j;"), ["s_row"]),
    "seldom": (program(f"{KEY} += j;", turns=8), []),
    "many": (
        program(KEY.replace("15", "127") + " += j;", extent=128, turns=512),
        [],
    ),
    "set-first": (set_first(), ["s_row"]),
    "set-first-in-part": (set_first(first=4), ["s_row"]),
    "set-first-and-long": (set_first(turns=LONG), ["s_row"]),
    "no-key": (program("s[3][y][x] += a[y + j][x];"), []),
}


@pytest.mark.parametrize(
    ("name", "parts", "copied"),
    [("set-first", 3, False), ("set-first-in-part", 3, True), ("set-first-and-long", 5, True)],
)
def test_what_sets_a_slice_first_has_no_kernel_of_its_own(
    name: str, parts: int, copied: bool
) -> None:
    """But where the updates could be parallel too."""
    done = lx.loads(CASES[name][0])["f"].offload(limits="h100")
    assert len(done.parts) == parts
    assert ("s_row[p][local_y][local_x] = s[" in done.kernel) == copied


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_slices_by_key(name: str) -> None:
    text, rows = CASES[name]
    done = lx.loads(text)["f"].offload(limits="h100", contract=False)
    assert [n for n in declared(done.derivation.function.body) if n == "s_row"] == rows
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(text=text), [{"n": n} for n in (1, 7, 65)], 3)


@pytest.mark.oclgrind
def test_no_finding_in_the_simulator() -> None:
    plan = set_first_plan()
    assert_clean_and_right(plan, [arguments(plan.start, {"n": n}, 3) for n in (1, 5)])


def test_in_the_executor_of_groups() -> None:
    plan = set_first_plan()
    args = arguments(plan.start, {"n": 5}, 3)
    expected = copy.deepcopy(args)
    Program(plan.start).run(expected)
    execute(plan, args, seed=3)
    assert not compare(expected, args)


def set_first_plan() -> Plan:
    done = lx.loads(CASES["set-first"][0])["f"].offload(limits="h100", contract=False)
    return emit.kernel(done.derivation, fp=SEPARATE)
