"""PackOperands: a nest that reads copies of its arrays, as its tiles will have them."""

from __future__ import annotations

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.ir.evaluate import evaluate
from loopxform.transforms import PackOperands

BATCHED = c(
    "for (int p = 0; p < n; p++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    " { d[p][i][j] = 0; for (int k = 0; k < n; k++) d[p][i][j] += a[p][i][k] * b[k][j]; }",
    "int n, const float a[n][n][n], const float b[n][n], float d[n][n][n]",
)
POINTERS = c(
    "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++)"
    " { float s = 0; for (int k = 0; k < u; k++) s += a[i*u+k] * b[k*n+j]; d[i*n+j] = s; }",
    "int m, int u, int n, const float *a, const float *b, float *d",
)
PART = c(
    "for (int i = 0; i < m; i++) for (int j = 0; j < m; j++)"
    " { float s = 0; for (int k = 0; k < m; k++) s += a[i*u+k]; d[i*m+j] = s; }",
    "int m, int u, const float *a, float *d",
)
COUNTED = c(
    "int i; for (i = 0; i < n; i++) for (int j = 0; j < n; j++) d[i][j] = a[j][0]; d[0][0] = i;",
    "int n, const float a[n][n], float d[n][n]",
)
DATA = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < w[0]; j++) d[i][j] = a[i][0];",
    "int n, const int *w, const float a[n][n], float d[n][n]",
)
INSIDE = c(
    "for (int t = 0; t < 4; t++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    " d[i][j] += a[j][i];",
    "int n, const float a[n][n], float d[n][n]",
)
SOME = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    " { if (d[i][j] > 0) d[i][j] = a[2*i+x[j]][j]; }",
    "int n, const int *x, const float a[][100], float d[n][n]",
)


def assumed(rows: str, row: str, width: int) -> tuple[str, ...]:
    """That an int numbers the elements of a copy with rows of that length."""
    last = f"{width}*(({row}+{width - 1})/{width})"
    parts = (f"{row}<=1073741823", f"{row}>=1", f"{rows}>=1", f"{rows}<=2147483647/({last})")
    return tuple(f"assume {part}" for part in parts)


OF_A, OF_B = assumed("U", "M", 4), assumed("U", "N", 4)
LISTINGS = {
    "product": (MM, *OF_A, *OF_B, "pack-operands i 4 A:T,B"),
    "both-turned": (MM, *assumed("U", "M", 2), *assumed("N", "U", 2), "pack-operands i 2 A:T,B:T"),
    "one": (MM, *OF_B, "pack-operands i 4 B"),
    "batched": (
        *(BATCHED, *assumed("n", "n", 4), "assume n<=2147483647/(4*((n+3)/4)*n)"),
        "pack-operands p 4 a:T,b",
    ),
    "pointers": (POINTERS, *assumed("u", "m", 4), *assumed("u", "n", 4), "pack-operands i 4 a:T,b"),
    "twice": (MM, *OF_A, *OF_B, "pack-operands i 4 A:T", "pack-operands i 4 B"),
}

REFUSALS = {
    "unknown-loop": (MM, "pack-operands z 4 A"),
    "unknown-array": (MM, "pack-operands i 4 D"),
    "written": (MM, "pack-operands i 4 C"),
    "twice": (MM, "pack-operands i 4 A,A:T"),
    "width": (MM, "pack-operands i 3 A"),
    "inside": (INSIDE, "pack-operands i 4 a"),
    "no-rows": (DATA, "pack-operands i 4 w"),
    "data": (DATA, "pack-operands i 4 a"),
    "part-of-rows": (PART, "pack-operands i 4 a:T"),
    "counter-used": (COUNTED, "pack-operands i 4 a"),
    "not-affine": (SOME, "pack-operands i 4 a"),
    "mapped": (MM, "parallelise i", "map i group.x", "pack-operands i 4 A"),
    "not-counted": (MM, "pack-operands i 4 B"),
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
    ("sizes", "made"),
    [
        ((8, 3, 8), True),
        ((7, 3, 8), False),
        ((8, 3, 7), False),
        ((8, 4, 8), False),
        ((8, 4, 15), False),
        ((8, 4, 16), True),
        ((8, 0, 16), False),
        ((8, 2**31 // 8, 16), False),
        ((2**30, 1, 16), False),
    ],
)
def test_where_copies_are_made(sizes: tuple[int, int, int], made: bool) -> None:
    """Each element of A serves N iterations, of B M of them; A is turned, which pays later where
    its rows are vectors; an int numbers the elements of each copy."""
    fn, step = derived(MM).function, PackOperands("i", "4", ("A:T", "B"))
    asked = (*step.open_questions(fn), *step.pays(fn, 8, 16))
    assert all(evaluate(e, dict(zip("MUN", sizes))) for e in asked) == made
