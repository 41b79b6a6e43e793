"""Coalesce: a loop and the one in it as one loop, in the same order."""

from __future__ import annotations

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.transforms import Coalesce

SQUARE = c("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = b[j][i] + i;",
           "int n, float a[n][n], const float b[n][n]")  # fmt: skip
NUMBERS = c("for (int i = 0; i < 6; i++) for (int j = 0; j < 7; j++) a[7*i + j] = b[i] * j;",
            "float a[42], const float b[6]")  # fmt: skip
CUBE = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++)"
    " a[(i*m + j)*l + k] = b[(k*m + j)*n + i];",
    "int n, int m, int l, float *a, const float *b",
)
SUM = c(
    "float s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += a[i][j]; b[0] = s;",
    "int n, int m, const float a[n][m], float b[1]",
)
TRIANGLE = c("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) a[i][j] = 0;",
             "int n, float a[n][n]")  # fmt: skip
FROM_ONE = c("for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = 0;",
             "int n, float a[n][n]")  # fmt: skip
DOWNWARDS = c("for (int i = n - 1; i >= 0; i--) for (int j = 0; j < n; j++) a[i][j] = 0;",
              "int n, float a[n][n]")  # fmt: skip
BESIDE = c("for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) a[i][j] = 0; a[i][i] = 1; }",
           "int n, float a[n][n]")  # fmt: skip
UNSIGNED = SQUARE.replace("int i", "unsigned i").replace("int j", "unsigned j")
TWO_TYPES = SQUARE.replace("int j", "long j")
SHORT = NUMBERS.replace("int i", "short i").replace("int j", "short j")
LONGS = SQUARE.replace("int ", "long ")
LARGE = c("for (int i = 0; i < 65536; i++) for (int j = 0; j < 65536; j++) a[i] = j;",
          "float a[65536]")  # fmt: skip
LAST = c("int i, j; for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i][j] = 0; a[0][0] = j;",
         "int n, float a[n][n]")  # fmt: skip
WIDER = c("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = -i / 2u + j;",
          "long n, long m, float a[n][m]")  # fmt: skip
POSITIVE, FEW = "assume n>=1", "assume n<=2147483647/n"
OF_CUBE = tuple(
    f"assume {x}" for x in ("m>=1", "l>=1", "n>=1", "m<=2147483647/l", "n<=2147483647/(l*m)")
)

LISTINGS = {
    "square": (SQUARE, POSITIVE, FEW, "coalesce i j"),
    "parallel": (SQUARE, POSITIVE, FEW, "parallelise i", "parallelise j", "coalesce i j both"),
    "outer-parallel": (SQUARE, POSITIVE, FEW, "parallelise i", "coalesce i j"),
    "numbers": (NUMBERS, "coalesce i j"),
    "longs": (LONGS, POSITIVE, "assume n<=9223372036854775807LL/n", "coalesce i j"),
    "wider-bounds": (WIDER, "assume m>=1", "assume n<=2147483647/m", "coalesce i j"),
    "unsigned": (UNSIGNED, POSITIVE, FEW, "coalesce i j"),
    "sum": (SUM, "assume m>=1", "assume n<=2147483647/m", "coalesce i j"),
    "three": (CUBE, *OF_CUBE, "coalesce j k", "coalesce i jk"),
    "inwards": (CUBE, *OF_CUBE, "coalesce i j", "coalesce ij k"),
    "product": (MM, "assume N>=1", "assume M<=2147483647/N", "coalesce i j"),
}

REFUSALS = {
    "no-such-loop": (SQUARE, "coalesce i z"),
    "reversed": (SQUARE, "coalesce j i"),
    "beside": (BESIDE, "coalesce i j"),
    "triangle": (TRIANGLE, POSITIVE, FEW, "coalesce i j"),
    "from-one": (FROM_ONE, POSITIVE, FEW, "coalesce i j"),
    "downwards": (DOWNWARDS, POSITIVE, FEW, "coalesce i j"),
    "two-types": (TWO_TYPES, POSITIVE, FEW, "coalesce i j"),
    "short": (SHORT, "coalesce i j"),
    "not-counted": (SQUARE, "coalesce i j"),
    "too-many": (LARGE, "coalesce i j"),
    "last-value": (LAST, POSITIVE, FEW, "coalesce i j"),
    "mapped": (SQUARE, POSITIVE, FEW, "parallelise i", "map i group.x", "coalesce i j"),
    "taken": (SQUARE, POSITIVE, FEW, "coalesce i j a"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


def test_the_number_of_elements_of_an_array_says_how_many_iterations_there_are() -> None:
    """Where an int holds a product of positive numbers, it holds that of some of them."""
    fn = derived(CUBE, *OF_CUBE).function
    assert not Coalesce("i", "j").open_questions(fn)
    assert not Coalesce("j", "k").open_questions(fn)
    others = derived(CUBE, "assume l>=1", "assume n<=2147483647/l").function
    assert [*map(str, Coalesce("i", "j").open_questions(others))]
