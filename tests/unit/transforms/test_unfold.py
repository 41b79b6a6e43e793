"""Unfold: a nest that has copies of its arrays, dimensions of which are one."""

from __future__ import annotations

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.ir.nodes import Decl
from loopxform.ir.visit import walk

TENSORS = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++)"
    " d[i][j][k] = a[k][i][j] + a[k][i][0] * b[j];",
    "int n, int m, int l, const float a[l][n][m], const float b[m], float d[n][m][l]",
)
INSIDE = c(
    "for (int t = 0; t < 4; t++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    " d[i][j] += a[j][i];",
    "int n, const float a[n][n], float d[n][n]",
)
PART = c(
    "for (int i = 0; i + 1 < n; i++) for (int j = 0; j < n; j++) d[i][j] = 2 * d[i][j];",
    "int n, float d[n][n]",
)
POINTERS = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++)"
    " d[(i*m + j)*l + k] = a[(k*n + i)*m + j];",
    "int n, int m, int l, const float *a, float *d",
)
NUMBERS = c(
    "for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) for (int k = 0; k < 6; k++)"
    " d[i][j][k] = a[k][i][j];",
    "const float a[6][4][5], float d[4][5][6]",
)
INDIRECT = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (d[i][j] > 0)"
    " d[i][j] = a[x[j]][j];",
    "int n, const int *x, const float a[][100], float d[n][n]",
)
SIZES = ["n", "m", "l"]
POSITIVE = [f"assume {v}>=1" for v in SIZES]
COUNTED = ("assume {2}<=1073741823", *POSITIVE, "assume {1}<=2147483647/{2}",
           "assume {0}<=2147483647/({2}*{1})")  # fmt: skip


def counted(order: str) -> tuple[str, ...]:
    """That an int numbers the elements of a copy with dimensions of these lengths."""
    return tuple(x.format(*order) for x in COUNTED)


LISTINGS = {
    "matrix": (TENSORS, *counted("nlm"), "unfold i a 1,0*2"),
    "turned": (TENSORS, *counted("mln"), "unfold i a 2,0,1 a_turned"),
    "as-it-is": (TENSORS, *counted("lnm"), "unfold i a 0*1,2"),
    "one-row": (TENSORS, *counted("lnm"), "unfold i a 0*1*2"),
    "result": (TENSORS, *counted("nml"), "unfold i d 0,1*2"),
    "turned-result": (TENSORS, *counted("lnm"), "unfold i d 2,0*1"),
    "part": (
        *(PART, "assume n<=1073741823", "assume n>=2", "assume n-1<=2147483647/n"),
        "unfold i d 0*1",
    ),
    "pointers": (POINTERS, *counted("nlm"), "unfold i a 1,0*2"),
    "numbers": (NUMBERS, "unfold i a 1,2*0"),
    "and-one-loop": (
        *(TENSORS, *counted("lnm"), *counted("nml"), "unfold i a 0,1*2", "unfold i d 0*1,2"),
        "coalesce i j",
    ),
}

REFUSALS = {
    "unknown-loop": (TENSORS, "unfold z a 0*1,2"),
    "unknown-array": (TENSORS, "unfold i e 0*1,2"),
    "scalar": (TENSORS, "unfold i n 0"),
    "not-all": (TENSORS, "unfold i a 0*1"),
    "twice": (TENSORS, "unfold i a 0*1,1*2"),
    "no-number": (TENSORS, "unfold i a 0*x,1*2"),
    "same-order": (TENSORS, "unfold i a 0,1,2"),
    "inside": (INSIDE, "unfold i a 1,0"),
    "not-affine": (INDIRECT, "unfold i a 1,0"),
    "mapped": (MM, "parallelise i", "map i group.x", "unfold i A 1,0"),
    "not-counted": (TENSORS, "unfold i a 1,0*2"),
    "taken": (TENSORS, *counted("lnm"), "unfold i a 0*1,2 b"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


@pytest.mark.parametrize(
    ("case", "stands"),
    [("as-it-is", True), ("one-row", True), ("result", True), ("matrix", False), ("part", True)],
)
def test_where_the_array_stands_for_its_copy(case: str, stands: bool) -> None:
    """In the order that it has, without gaps."""
    text, *steps = LISTINGS[case]
    (copy,) = (s for _, s in walk(derived(text, *steps).function.body) if isinstance(s, Decl))
    assert (copy.like, copy.turned) == ("d" if case in ("result", "part") else "a", not stands)
