"""Loops of the host that data end: what the user's C does, on a device and as C."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from c_project import Compared, assert_all_same
from harness import assert_runs_agree

import loopxform as lx
from loopxform.api.offload import OffloadedRoutine
from loopxform.codegen import emit
from loopxform.codegen.host.schedule import flags
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

Numbers = dict[str, int | float]

F = """\
#include <math.h>
void {2}(int n, int m, {0} tol, {0} a[restrict n], {0} x[restrict m][n], int out[restrict 4])
{{
  {1}
}}
"""
SHRINK = "for (int i = 0; i < n; i++) a[i] = a[i] * {0} + 0;"
LARGEST = "e = 0; for (int i = 0; i < n; i++) e = fmax(e, fabs(a[i]));"
HALF, FAST = SHRINK.format("0.5"), SHRINK.format("0.1")

BODIES: dict[str, tuple[str, str]] = {
    "while": ("double", f"double e = 2; while (e > tol) {{ {HALF} {LARGEST} }}"),
    "while-of-floats": ("float", f"float e = 2; while (e > tol) {{ {HALF} {LARGEST} }}"),
    "with-a-counter": (
        "double",
        "double e = 2; int k = 0; "
        f"while (e > tol && k < m) {{ {HALF} {LARGEST} k++; }} out[0] = k;",
    ),
    "for-on-data": (
        "double",
        "double e = 2; int k; "
        f"for (k = 0; k < m && e > tol; k++) {{ {HALF} {LARGEST} }} out[0] = k;",
    ),
    "do": ("double", f"double e; do {{ {HALF} {LARGEST} }} while (e > tol);"),
    "do-and-a-step": (
        "double",
        f"double e; int k = 0; do {{ {HALF} {LARGEST} }} while (e > tol && ++k < m); out[0] = k;",
    ),
    "while-and-a-step": (
        "double",
        f"double e = 2; int k = 0; while (k++ < m && e > tol) {{ {HALF} {LARGEST} }} out[0] = k;",
    ),
    "break-at-the-end": (
        "float",
        "int t; for (t = 0; t < m; t++) { float e; "
        f"{HALF} for (int i = 0; i < n; i++) x[t][i] = a[i] + t; {LARGEST} if (e < tol) break; }} "
        "out[0] = t;",
    ),
    "break-in-the-middle": (
        "double",
        f"double e; while (1) {{ {HALF} {LARGEST} if (!(e > tol)) break; {FAST} }} out[0] = e < 1;",
    ),
    "two-breaks": (
        "double",
        f"double e; int k = 0; for (;;) {{ {HALF} {LARGEST} if (e < tol) {{ out[1] = 7; break; }} "
        f"{FAST} k += 2; if (k >= m) break; for (int i = 0; i < n; i++) a[i] += k; }} out[0] = k;",
    ),
    "of-integers": (
        "int",
        "int more = 1; while (more) { more = 0; for (int i = 0; i < n; i++) a[i] /= 3; "
        "for (int i = 0; i < n; i++) if (a[i] > tol) more = 1; out[2] += more; }",
    ),
    "negative-flag": (
        "double",
        "int more = -2; while (more) { "
        f"{HALF} {{ double e; {LARGEST} more = e > tol ? -1 : 0; }} }}",
    ),
    "while-in-for": (
        "double",
        "for (int t = 0; t < m; t++) { double e = 2; int k = 0; "
        f"while (e > tol && k < 6) {{ {HALF} {LARGEST} k++; }} "
        "for (int i = 0; i < n; i++) { x[t][i] = a[i] + k; a[i] += t; } out[t % 4] = k; }",
    ),
    "for-in-while": (
        "double",
        "double e = 4; while (e > tol) { for (int t = 0; t < 3; t++) { "
        f"for (int i = 0; i < n; i++) x[t % m][i] = a[i] + t; {HALF} }} e /= 2; }}",
    ),
    "while-in-while": (
        "double",
        "double g = 8; int s = 0; while (g > tol) { double e = g; int k = 0; "
        f"do {{ {HALF} {LARGEST} if (k == 5) break; k++; }} while (e > g / 50); "
        "for (int i = 0; i < n; i++) a[i] += k; g /= 2; s += k; } out[0] = s;",
    ),
    "bisection": (
        "double",
        "double lo = 0, hi = 64; while (hi - lo > tol) { double mid = (lo + hi) / 2, e; "
        f"for (int i = 0; i < n; i++) a[i] = i * mid / n; {LARGEST} "
        "if (e > 1) hi = mid; else lo = mid; }",
    ),
    "of-the-host": (
        "double",
        "int h = n; while (h > 1) { for (int i = 0; i < h; i++) a[i] += h; h /= 2; } out[0] = h;",
    ),
    "of-one-work-item": (
        "double",
        "for (int i = 0; i < n; i++) { double y = a[i] * a[i] + 1; int k = 0; "
        "while (y > tol) { y /= 2; k++; } a[i] = k; }",
    ),
}
"""Loops with nests inside; `tol` of 1e9 ends most of them before their first iteration."""

SIZES: tuple[Numbers, ...] = (
    {"n": 37, "m": 5, "tol": 0.01},
    {"n": 3, "m": 60, "tol": 0.0625},
    {"n": 8, "m": 1, "tol": 1e9},
)
INTEGERS: tuple[Numbers, ...] = ({"n": 37, "m": 1, "tol": 0}, {"n": 3, "m": 1, "tol": 5})


def function(name: str) -> str:
    return f"f_{name.replace('-', '_')}"


def text(name: str) -> str:
    return F.format(*BODIES[name], function(name))


@cache
def offloaded(name: str) -> OffloadedRoutine:
    return lx.loads(text(name))[function(name)].offload(contract=False)


@cache
def plan(name: str) -> Plan:
    return emit.kernel(offloaded(name).derivation, fp=SEPARATE)


@pytest.mark.device
@pytest.mark.parametrize("name", BODIES)
def test_bit_identical_to_the_c_program(name: str) -> None:
    every = INTEGERS if BODIES[name][0] == "int" else SIZES
    assert_runs_agree(plan(name), CSource(text=text(name)), every, 3)


@pytest.mark.parametrize(
    ("name", "number"), [("while", 1), ("two-breaks", 1), ("while-in-while", 2), ("of-the-host", 0)]
)
def test_what_the_host_reads(name: str, number: int) -> None:
    assert len(flags(plan(name).schedule)) == number


@pytest.mark.slow
def test_the_drop_in_computes_what_the_function_did(tmp_path: Path) -> None:
    programs = []
    for name in ("break-at-the-end", "two-breaks", "while-in-for", "of-the-host"):
        done = offloaded(name).derivation
        every = tuple(arguments(done.start, sizes, 1) for sizes in SIZES)
        programs.append(Compared(done, text(name), every))
    assert_all_same(tmp_path, programs)
