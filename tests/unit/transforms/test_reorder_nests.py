"""ReorderNests: neighbouring nests in another order."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

ARGS = "int n, float a[n], float b[n], const float x[n]"
OWN = "float s[n], t[n], u[n];"
FIRST = "for (int i = 0; i < n; i++) s[i] = x[i] + 1;"
SECOND = "for (int j = 0; j < n; j++) t[j] = x[j] * 2;"
THIRD = "for (int k = 0; k < n; k++) u[k] = t[k] + 3;"
LAST = "for (int l = 0; l < n; l++) a[l] = s[l] * u[l];"
ALL = OWN + FIRST + SECOND + THIRD + LAST

LISTINGS = {
    "last-of-three": (c(ALL, ARGS), "reorder-nests j,k,i"),
    "two": (c(ALL, ARGS), "reorder-nests j,i"),
    "as-they-are": (c(ALL, ARGS), "reorder-nests i,j,k,l"),
    "otherwise": (c(f"if (n > 3) a[0] = 1; else {{ {ALL} }}", ARGS), "reorder-nests j,k,i"),
}
REFUSALS = {
    "flow": (c(ALL, ARGS), "reorder-nests i,k,j"),
    "anti": (
        c(OWN + FIRST + "for (int j = 0; j < n; j++) b[j] = s[j];"
          "for (int k = 0; k < n; k++) s[k] = x[k];", ARGS),
        "reorder-nests k,j",
    ),
    "output": (
        c("float s[n];" + FIRST + "for (int j = 0; j < n; j++) s[j] = 2;"
          "for (int k = 0; k < n; k++) a[k] = s[k];", ARGS),
        "reorder-nests j,i",
    ),
    "overlap": (
        c("for (int i = 0; i < n; i++) a[i] = 1; for (int j = 0; j < n; j++) b[j] = 2;", ARGS),
        "reorder-nests j,i",
    ),
    "apart": (c(ALL, ARGS), "reorder-nests k,i"),
    "unknown": (c(ALL, ARGS), "reorder-nests i,z"),
}  # fmt: skip


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
