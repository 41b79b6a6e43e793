"""Loops that data end, whose turns are enqueued before the flag is known: which are, and that they
compute what the user's C does, however many turns there are."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from c_project import Compared, assert_all_same

import loopxform as lx
from loopxform.api.offload import OffloadedRoutine
from loopxform.codegen import emit
from loopxform.codegen.host.schedule import Repeat, every
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

F = """\
#include <math.h>
void f(int n, int m, int p, double tol, double a[restrict n], double x[restrict 2][n],
       int out[restrict 4])
{{
  {0}
}}
"""
HALF = "for (int i = 0; i < n; i++) a[i] = a[i] * 0.5;"
LARGEST = "e = 0; for (int i = 0; i < n; i++) e = fmax(e, fabs(a[i]));"
UP = "for (int i = 0; i < n; i++) a[i] += 1;"

AHEAD = {
    "counter": f"double e = 2; int k = 0; while (e > tol && k < m) {{ {HALF} {LARGEST} k++; }} "
    "out[0] = k;",
    "do": f"double e; int k = 0; do {{ {UP} {LARGEST} k += 2; }} while (e < m); out[0] = k;",
    "two planes": "double e = 0; int t = 0, k = 0; while (e < m) { "
    "for (int i = 0; i < n; i++) x[1 - t][i] = x[t][i] * 0.5 + 1; "
    "e = e + 1; t = 1 - t; k++; } out[0] = t; out[1] = k;",
    "every third turn": f"double e = 0; int k = 0; while (e < m) {{ {UP} "
    "if (k % 3 == 2) { for (int i = 0; i < n; i++) x[0][i] += a[i]; } "
    "e = e + 1; k++; } out[0] = k;",
    "fewer each turn": "double e = 0; int k = 0; while (e < m) { "
    "for (int i = 0; i < n - k; i++) a[i] += k; e = e + 1; k++; } out[0] = k;",
    "loop inside": "double e = 4; while (e > tol) { for (int t = 0; t < 3; t++) { "
    f"for (int i = 0; i < n; i++) x[t % 2][i] = a[i] + t; {HALF} }} e /= 2; }}",
    "flag of integers": "int more; do { more = 0; for (int i = 0; i < n; i++) { "
    "if (a[i] < p) { a[i] += 0.25; more = 1; } } out[1] += 1; } while (more);",
    "in order": f"double e = 0; while (e < m) {{ {UP} "
    "for (int i = 1; i < n; i++) x[0][i] = x[0][i - 1] * x[0][i] + a[i] * x[0][i - 1]; "
    "e = e + 1; }",
    "inner one": "double g = 8; int s = 0; while (g > tol) { double e = g; int k = 0; "
    f"do {{ {HALF} {LARGEST} k++; }} while (e > g / 50); "
    "for (int i = 0; i < n; i++) a[i] += k; g /= 2; s += k; } out[0] = s;",
}
"""Loops that data end; one of each is enqueued ahead."""

KEPT = {
    "product": f"double e = 0; int k = 1; while (e < m) {{ {UP} e = e + 1; k = k * 3; }} "
    "out[0] = k;",
    "divides by what moves": f"double e = 0; int k = m; while (e < m) {{ {UP} "
    "if (p / k > 1) { for (int i = 0; i < n; i++) x[0][i] += 1; } e = e + 1; k--; } out[0] = k;",
}
"""Loops whose turns wait for the flag: a turn too many could overflow or divide by 0."""

JOINED = {
    "behind a nest": f"for (int t = 1; t < n; t++) {{ {UP} for (int i = 0; i < t; i++) "
    "x[0][i] = a[t] + x[1][i]; for (int i = 0; i < t; i++) x[1][i] = x[0][i] * 0.5; "
    "x[1][t] = a[0]; }",
    "around a sum": "double e = 0; for (int t = 0; t < m; t++) { e = 0; "
    "for (int i = 0; i < n; i++) e = fmax(e, fabs(a[i])); "
    "for (int i = 0; i < n; i++) x[t % 2][i] += 1; out[1] = e > t; "
    "for (int i = 0; i < n; i++) a[i] = a[i] * 0.5 + e; }",
}
"""Steps of the host, in which one work-item does something between nests."""

SIZES = [
    {"n": 9, "m": m, "p": p, "tol": tol}
    for m, p, tol in (
        (0, 0, 1e9),
        (1, 1, 0.5),
        (2, 2, 1e-2),
        (11, 5, 1e-4),
        (40, 20, 1e-9),
        (75, 33, 1e-30),
    )
]


@cache
def offloaded(body: str) -> OffloadedRoutine:
    return lx.loads(F.format(body))["f"].offload(contract=False)


def turns(routine: OffloadedRoutine) -> list[bool]:
    """Of each loop that data end, whether its turns are enqueued ahead."""
    plan = emit.kernel(routine.derivation, fp=SEPARATE)
    return [bool(x.turn) for x in every(plan.schedule) if isinstance(x, Repeat) and x.flag]


@pytest.mark.parametrize(
    ("number", "body"),
    [*((1, b) for b in AHEAD.values()), *((0, b) for b in KEPT.values())],
    ids=[*AHEAD, *KEPT],
)
def test_which_are_ahead(number: int, body: str) -> None:
    assert sum(turns(offloaded(body))) == number


@pytest.mark.parametrize("body", [*AHEAD.values(), *JOINED.values()], ids=[*AHEAD, *JOINED])
def test_no_race(body: str) -> None:
    """The kernels by their text, work-items in any order, as many turns as the host waits for."""
    routine = offloaded(body)
    p = emit.kernel(routine.derivation, fp=SEPARATE)
    given = arguments(p.start, SIZES[2], 1)
    after = copy.deepcopy(given)
    execute(p, after, seed=3)
    Program(p.start).run(given)
    assert not compare({k: v for k, v in given.items() if isinstance(v, np.ndarray)}, after)


@pytest.mark.device
@pytest.mark.parametrize(
    ("host", "first"),
    [
        ("", 0),
        *(pytest.param(*x, marks=pytest.mark.slow) for x in (("", 1), ("", 2), ("parts", 1))),
    ],
)
def test_bit_identical_to_the_c_program(
    host: str, first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every third of them in one program. The host runs what one work-item would do, if it runs
    parts."""
    if host:
        monkeypatch.setenv("LOOPXFORM_HOST", host)
    programs = []
    for number, body in enumerate([*AHEAD.values(), *JOINED.values()][first::3]):
        text = F.format(body).replace("void f(", f"void f{number}(")
        done = lx.loads(text)[f"f{number}"].offload(contract=False).derivation
        inputs = tuple(arguments(done.start, sizes, 1) for sizes in SIZES)
        programs.append(Compared(done, text, inputs))
    assert_all_same(tmp_path, programs)


@pytest.mark.parametrize("body", JOINED.values(), ids=JOINED)
def test_kernels_are_joined(body: str) -> None:
    steps = [str(r.step) for r in offloaded(body).derivation.records]
    assert any(x.startswith("join-kernels") for x in steps)
