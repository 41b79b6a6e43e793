"""Windows and rows that are sorted in a small array of a work-item: its loops are unrolled, so that
it lies in registers, and the kernels compute what your C does."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from deriving import c

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.offload.program import offload
from loopxform.runtime.selection import choose
from loopxform.targets.target import GENERIC
from loopxform.verify.check_run import run
from loopxform.verify.cref import CSource

SWAP = "if (v[@] > v[@ + 1]) { float t = v[@]; v[@] = v[@ + 1]; v[@ + 1] = t; }"
WINDOW = (
    "for (int y = 1; y < n - 1; y++) for (int x = 1; x < m - 1; x++) { float v[9]; "
    "for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) "
    "v[i * 3 + j] = a[y + i - 1][x + j - 1];"
    "# b[y][x] = v[4]; }"
)
IMAGES = "int n, int m, const float a[restrict n][m], float b[restrict n][m]"
BUBBLE = f"for (int i = 0; i < 9; i++) for (int j = 0; j < 8 - i; j++) {SWAP.replace('@', 'j')}"
INSERTION = (
    "for (int i = 1; i < 9; i++) { float key = v[i]; int j = i - 1; "
    "while (j >= 0 && v[j] > key) { v[j + 1] = v[j]; j--; } v[j + 1] = key; }"
)
NETWORK = "".join(
    SWAP.replace("@ + 1", str(k)).replace("@", str(i))
    for i, k in ((0, 3), (1, 4), (2, 5), (0, 1), (3, 4), (6, 7), (7, 8), (4, 5), (4, 7), (3, 4))
)
ROWS = c(
    "for (int r = 0; r < n; r++) { float v[16]; for (int i = 0; i < 16; i++) v[i] = a[r * 16 + i]; "
    f"for (int p = 0; p < 16; p++) for (int i = p & 1; i < 15; i += 2) {SWAP.replace('@', 'i')} "
    "for (int i = 0; i < 16; i++) a[r * 16 + i] = v[i]; }",
    "int n, float *restrict a",
)
CASES = {
    "bubble": c(WINDOW.replace("#", BUBBLE), IMAGES),
    "insertion": c(WINDOW.replace("#", INSERTION), IMAGES),
    "network": c(WINDOW.replace("#", NETWORK), IMAGES),
    "odd-even": ROWS,
}
UNROLLED = {"bubble": True, "insertion": False, "network": True, "odd-even": True}
DEVICE = replace(GENERIC, registers=255)


def plan(case: str) -> Plan:
    (routine,) = lx.loads(CASES[case])
    return emit.kernel(offload(routine.function, {}, DEVICE).derivation, fp=SEPARATE)


@pytest.mark.parametrize("case", CASES)
def test_loops_that_say_which_element_are_unrolled(case: str) -> None:
    """All of them, or none where data say which element is meant: then it is in local memory."""
    text = plan(case).kernels[-1].text
    own = text[text.index("float v[") :]
    left = re.findall(r"^ *for .*\n(?:.*\n)?.*\bv\[", own, re.MULTILINE)
    assert ("v[9][Ty][Tx]" not in own) is UNROLLED[case]
    assert not left or not UNROLLED[case], left


@pytest.mark.device
@pytest.mark.parametrize("case", CASES)
def test_sorted_as_your_c_does(case: str) -> None:
    p, source = plan(case), CSource(text=CASES[case])
    for n, m in ((0, 0), (1, 5), (3, 3), (19, 37)):
        sizes = {"n": n, "m": m} if "int m" in CASES[case] else {"n": n}
        found = run(p, source, choose(), sizes, 4)
        assert found.ok, (n, m, found.mismatches[0])
