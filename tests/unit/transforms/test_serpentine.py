"""Serpentine: register tiles that are walked there and back."""

from __future__ import annotations

import re
from itertools import pairwise, product

import pytest
from c_texts import MM, STAGED
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.codegen import emit

UNROLLED = (*STAGED, "copy-to-private B_loc k", "clamp-edges acc", "unroll i*", "unroll j*")
SUM = c(
    "for (int g = 0; g < n; g++) for (int i = 0; i < 4; i++) for (int j = 0; j < 6; j++)"
    " a[g] += x[g][i][j];",
    "int n, float a[n], float x[n][4][6]",
)
PLANE = SUM.replace("a[g] +=", "y[g][i][j] =").replace("float a[n]", "float y[n][4][6]")
MAPPED = ("parallelise g", "stripmine g 8 gg", "map gg group.x", "map g thread.x")
OPEN = (*MAPPED, "unroll i", "unroll j")

REFUSALS = {
    "unknown": (PLANE, *OPEN, "serpentine z"),
    "innermost": (PLANE, *OPEN, "serpentine j"),
    "not-unrolled": (PLANE, *MAPPED, "unroll i", "serpentine i"),
    "start": (PLANE.replace("i = 0", "i = 1"), *OPEN, "serpentine i"),
    "no-divisor": (PLANE, *OPEN, "serpentine i 3"),
    "no-number": (PLANE, *OPEN, "serpentine i Ty"),
    "carried": (SUM, *OPEN, "serpentine i"),
    "several": (MM, *UNROLLED, "serpentine i"),
}


def test_listing(golden: Golden) -> None:
    golden.check(assert_step(MM, *UNROLLED, "serpentine i#2 2"))


@pytest.mark.parametrize("rows", [1, 2])
def test_kernel(rows: int, golden: Golden) -> None:
    golden.check(emit.kernel(derived(MM, *UNROLLED, f"serpentine i#2 {rows}")).source)


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_neighbours_share_a_row_or_a_column(rows: int) -> None:
    """The order, read off the kernel: every element once, from one to the next one step."""
    source = emit.kernel(derived(PLANE, *OPEN, f"serpentine i {rows}")).source
    source = source.replace(", i = ", ";\nconst int i = ")
    chosen = {
        name: re.sub(r"(c\d(?: [/%] \d)+) \? (.+?) : ([^)]+)", r"(\2 if \1 else \3)", text)
        for name, text in re.findall(r"const int ([ij]) = (.+);", source)
    }
    seen = []
    for c0, c1, c2 in product(range(0, 4, rows), range(6), range(rows)):
        known = {"c0": c0, "c1": c1, "c2": c2}
        seen.append([eval(chosen[v].replace("/", "//"), {}, known) for v in "ij"])
    assert sorted(seen) == [list(p) for p in product(range(4), range(6))]
    apart = [abs(a - c) + abs(b - d) for (a, b), (c, d) in pairwise(seen)]
    assert len([d for d in apart if d > 1]) <= 4 // rows - 1
