"""Few: versions of a nest in smaller tiles, for sizes that leave much of a device without work; and
settle, which lets one of them serve more."""

from __future__ import annotations

from itertools import product

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Expr, For, If, Stmt
from loopxform.ir.visit import walk_expr
from loopxform.model.waves import quickest
from loopxform.transforms.mapping.few import MOST_BITS, MOST_TIME, Shape

ROWS = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < len[0]; j++) a[i][j] = 1;",
    "int n, int *len, float a[n][64]",
)
INSIDE = c("for (int t = 0; t < 4; t++) for (int i = 0; i < n; i++) a[i] += b[i];")
SET = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    " { a[i][j] = 0; for (int k = 0; k < n; k++) a[i][j] += b[i][k]; }",
    "int n, float a[n][n], float b[n][n]",
)
TWO = "8x4:100,4x4:60"
FOUR = "8x8:1000+90,4x8:508+180,4x4:300,2x4:203+65"

REFUSALS = {
    "unknown": (MM, f"few z 4 {TWO}"),
    "not-nested": (MM, "few i 4 8x4x2:100,4x4x2:60"),
    "not-alike": (MM, "few i 4 8x4:100,4:60"),
    "inside": (INSIDE, "few i 4 8:100,4:60"),
    "no-size": (MM, "few i 4 Tyx4:100,4x4:60"),
    "no-time": (MM, "few i 4 8x4,4x4:60"),
    "too-long": (MM, f"few i 4 8x4:{MOST_TIME + 1},4x4:60"),
    "one-shape": (MM, "few i 4 8x4:100"),
    "no-number": (MM, f"few i many {TWO}"),
    "data": (ROWS, f"few i 4 {TWO}"),
    "not-descending": (MM, "few i 4 4x4:100,8x4:60"),
    "not-within": (MM, "few i 4 8x4:100,4x8:60"),
    "last-not-within": (MM, "few i 4 8x4:100,4x4:60,9x2:50"),
    "no-start": (MM, "few i 4 8x4:100,4x4:60+"),
    "too-long-a-start": (MM, f"few i 4 8x4:100,4x4:60+{MOST_TIME + 1}"),
    "settle-part": (SET, f"few i 4 {TWO}", "distribute i_few,j_few", "settle i_few#1"),
    "settle-other-part": (SET, f"few i 4 {TWO}", "distribute i_few,j_few", "settle i_few#2"),
    "settle-unknown": (MM, f"few i 4 {TWO}", "settle z"),
    "settle-alone": (MM, "settle i"),
    "settle-largest": (MM, f"few i 4 {TWO}", "settle i"),
    "settle-inside": (MM, f"few i 4 {TWO}", "settle j_few"),
}

LISTINGS = {
    "two": (MM, "few i 4 2x3:100,1x3:60"),
    "four": (MM, f"few i 3 {FOUR}"),
    "not-within-each-other": (MM, "few i 3 8x8:100,6x4:40,4x6:45,2x4:20"),
    "unsigned": (MM.replace("int ", "unsigned "), "few i 4 2x3:100,1x3:60"),
    "settled": (MM, f"few i 3 {FOUR}", "settle i_few"),
    "settled-small": (MM, f"few i 3 {FOUR}", "settle i_few_3"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


def taken(s: Stmt, scalars: dict[str, int]) -> str:
    """The loop of the version that runs."""
    while isinstance(s, If):
        (s,) = s.then if evaluate(s.cond, scalars) else s.orelse
    assert isinstance(s, For)
    return s.var


@pytest.mark.parametrize("units", [1, 4, 7])
@pytest.mark.parametrize("smaller", [((4, 8), (4, 4), (2, 4)), ((6, 4), (3, 8), (4, 3))])
def test_the_conditions_are_those_of_the_plan(
    units: int, smaller: tuple[tuple[int, int], ...]
) -> None:
    times: tuple[tuple[int, ...], ...] = ((1000, 90), (508, 180), (300,), (203, 65))
    shapes = [Shape(x, *t) for x, t in zip(((8, 8), *smaller), times)]
    choice = derived(MM, f"few i {units} {','.join(map(str, shapes))}").function.body[0]
    loops = ["i", "i_few", "i_few_2", "i_few_3"]
    seen = set()
    for m, n in product((0, 1, 3, 4, 8, 9, 17, 33, 80, 200), (0, 1, 4, 5, 17, 64, 100)):
        found = taken(choice, {"M": m, "N": n, "U": 1})
        taken_by = [s.taken([m, n], units) for s in shapes]
        assert taken_by[loops.index(found)] == min(taken_by), (m, n, found, taken_by)
        assert taken_by[quickest(shapes, [m, n], units)] == min(taken_by)
        seen.add(found)
    assert len(seen) > 1


def test_large_sizes_are_not_counted() -> None:
    """No product is computed that could overflow: there are many tiles then."""
    large, small = f"8x8:{MOST_TIME}+{MOST_TIME}", f"4x4:{MOST_TIME // 4}"
    for between in ("", "8x2:700,"):
        _check_largest(f"{large},{between}{small}")


def _check_largest(shapes: str) -> None:
    choice = derived(MM, f"few i 1 {shapes}").function.body[0]
    assert isinstance(choice, If)
    most = 2**31 - 1
    edge, narrow = 4 * 2 ** (MOST_BITS // 2) - 1, 2 * 2 ** (MOST_BITS // 2) - 1
    few = ((most, 1), (1, most), (most, most), (most - 3, 7), (edge, edge), (edge, narrow))
    for m, n in (*few, (-most, -most), (-most, 1), (1, -most), (-most, most)):
        inner: Stmt = choice
        while isinstance(inner, If):
            assert largest(inner.cond, {"M": m, "N": n}) <= most, (m, n)
            (inner,) = inner.orelse


def largest(e: Expr, scalars: dict[str, int]) -> int:
    """The largest number that C computes, either way: nothing to the right of what is false."""
    match e:
        case Bin("&&", left, right):
            first = largest(left, scalars)
            return max(first, largest(right, scalars)) if evaluate(left, scalars) else first
        case Bin("||", left, right):
            first = largest(left, scalars)
            return first if evaluate(left, scalars) else max(first, largest(right, scalars))
        case _:
            return max(abs(evaluate(x, scalars)) for x in walk_expr(e))
