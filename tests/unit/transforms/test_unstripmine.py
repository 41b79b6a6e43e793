"""Unstripmine: a loop over tiles and the loop over one tile as one loop."""

from __future__ import annotations

from itertools import product

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_same_meaning, assert_step, c, derived, refusal, start

from loopxform.errors import TransformError
from loopxform.transforms import Unstripmine, possible


def blocked(tiles: str, tile: str, body: str = "a[i] += b[i];") -> str:
    loops = f"for (int ii = {tiles}) for (int i = {tile}) {{ {body} }}"
    return c(loops, "int n, int m, float a[n + 9], const float b[n + 9]")


WHOLE = "ii; i < ii + 4 && i < n; i++"
CUT = blocked("0; ii < n; ii += 4", WHOLE)
FIXED = c("for (int ii = 0; ii < 96; ii += 32) for (int i = ii; i < ii + 32; i++) a[i] = 0;",
          "float a[96]")  # fmt: skip
MACRO = blocked("0; ii < n; ii += 4", "ii; i < (ii + 4 < n ? ii + 4 : n); i++")
GREATER = blocked("0; ii < n; ii += 4", "ii; i <= (ii + 3 > n - 1 ? n - 1 : ii + 3); i++")
BEYOND = blocked("0; ii < n; ii += 4", "ii; i < ii + 4; i++")
FROM_M = blocked("m; ii < n; ii += 4", "ii; i < ii + 4 && i < n; i++", "a[i] += b[i];")
STRIDED = blocked("1; ii < n; ii += 4", "ii; i < ii + 4 && i < n; i += 2")
NUMBERED = blocked("0; ii < n / 4; ii++", "4 * ii; i < 4 * (ii + 1); i++")
CEILING = blocked("0; ii < (n + 3) / 4; ii++", "4 * ii; i < 4 * ii + 4 && i < n; i++")

LISTINGS = {
    "cut": (CUT, "unstripmine ii i"),
    "fixed": (FIXED, "unstripmine ii i"),
    "macro": (MACRO, "unstripmine ii i"),
    "greater": (GREATER, "unstripmine ii i"),
    "beyond": (BEYOND, "unstripmine ii i"),
    "from-m": (FROM_M, "unstripmine ii i"),
    "strided": (STRIDED, "unstripmine ii i"),
    "numbered": (NUMBERED, "unstripmine ii i"),
    "ceiling": (CEILING, "unstripmine ii i"),
    "inverse": (MM, "stripmine i 4", "unstripmine ii i"),
    "parallel": (MM, "parallelise i", "stripmine i 4", "unstripmine ii i"),
    "outer-parallel": (CUT, "parallelise ii", "unstripmine ii i"),
    "inwards": (MM, "stripmine i 8 ig", "stripmine i 4", "unstripmine ii i", "unstripmine ig i"),
}
REFUSALS = {
    "overlap": (blocked("0; ii < n; ii += 3", WHOLE), "unstripmine ii i"),
    "gap": (blocked("0; ii < n; ii += 5", WHOLE), "unstripmine ii i"),
    "begins-later": (blocked("0; ii < n; ii += 4", "2 * ii; i < 2 * ii + 4; i++"),
                     "unstripmine ii i"),
    "not-affine": (blocked("1; ii < n; ii += 4", "ii * ii; i < ii * ii + 4; i++"),
                   "unstripmine ii i"),
    "step": (blocked("0; ii < n; ii += 4", "ii; i < ii + 4 && i < n; i += 3"), "unstripmine ii i"),
    "tile-read": (blocked("0; ii < n; ii += 4", WHOLE, "a[i] += b[ii];"), "unstripmine ii i"),
    "far-away": (blocked("m; ii < n; ii += 4", "ii; i < ii + 4; i++", "a[0] += i;"),
                 "unstripmine ii i"),
    "two-types": (CUT.replace("int i =", "long i ="), "unstripmine ii i"),
    "beside": (MM, "unstripmine j k"),
    "unknown": (CUT, "unstripmine jj i"),
    "mapped": (CUT, "parallelise ii", "map ii group.x", "unstripmine ii i"),
    "last": (c("int ii, i; for (ii = 0; ii < n; ii += 4) for (i = ii; i < ii + 4 && i < n; i++)"
               " a[i] = 0; b[0] = i;"), "unstripmine ii i"),
}  # fmt: skip


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


BEGINS, ENDS = ("0", "1", "m - 2"), ("n", "9", "(n + 3) / 4")
STARTS = ("ii", "ii + 1", "4 * ii", "3 * ii")
LIMITS = ("", " && i < n", " && i < 7")


@pytest.mark.parametrize("begin", BEGINS)
def test_every_form_that_is_accepted_means_the_same(begin: str) -> None:
    accepted = 0
    forms = product(ENDS, ("1", "4"), STARTS, ("3", "4"), LIMITS, ("1", "2"))
    for end, step, start_at, size, limit, stride in forms:
        tile = f"{start_at}; i < {start_at} + {size}{limit}; i += {stride}"
        text = c(
            f"for (int ii = {begin}; ii < {end}; ii += {step}) for (int i = {tile})"
            " a[i + 9] = 2 * a[i + 9] + i;",
            "int n, int m, int a[120]",
        )
        before = start(text)[0]
        after = possible(lambda d=before: d.then(Unstripmine("ii", "i")), TransformError)
        if isinstance(after, TransformError):
            continue
        accepted += 1
        assert_same_meaning(before.function, after.function, (0, 1, 6))
    assert accepted > 8


def test_both_loops_are_parallel() -> None:
    assert derived(*LISTINGS["parallel"]).function.body[0].parallel
    assert not derived(*LISTINGS["outer-parallel"]).function.body[0].parallel
