"""Distribution of a guard: every statement gets the condition, loops take it inside."""

from __future__ import annotations

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, refusal, start

from loopxform.errors import TransformError
from loopxform.prepare.while_loops import whole_loops
from loopxform.transforms import Derivation, step

ARGS = "int n, int m, const float A[n][m], float B[n][n]"
SUMS = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (j <= i) {"
    " float s = 0; for (int k = 0; k < m; k++) s += A[i][k] * A[j][k]; B[i][j] = s; }",
    ARGS,
)
BOTH = c(
    "float s = a[0]; if (s > 3) { b[0] = s; for (int i = 0; i < n; i++) a[i] = s; } "
    "else { float t = s * 2; for (int i = 0; i < n; i++) { a[i] = t; b[i] += 1; } }"
)
LISTINGS = {
    "sums": (SUMS, "distribute-guard j"),
    "then-loops": (SUMS, "distribute-guard j", "expand s j", "distribute j k"),
    "second-number": (
        c("for (int i = 0; i < n; i++) if (a[i] > 0) { float s = 1; s = 2; b[i] = s; }"),
        "distribute-guard i",
    ),
    "bound-set-under-it": (
        c(
            "for (int i = 0; i < n; i++) if (a[i] > 0) {"
            " int m = i; for (int k = 0; k < m; k++) b[i] += a[k]; }"
        ),
        "distribute-guard i",
    ),
    "bounds-from-an-array": (
        c(
            "for (int i = 0; i < n; i++) if (r[i] > 0) {"
            " for (int k = 0; k < r[i]; k++) b[i] += a[k]; b[i] *= 2; }",
            "int n, const int r[n], const float *restrict a, float *restrict b",
        ),
        "distribute-guard i",
    ),
    "place-both-branches": (BOTH, "distribute-guard 3"),
    "place-in-an-else-branch": (
        BOTH.replace("s > 3", "n > 9) b[1] = 2; else if (s > 3"),
        "distribute-guard 3.-1",
    ),
    "place-changes": (BOTH.replace("b[0] = s", "s = 1"), "distribute-guard 3"),
    "place-on-an-element": (
        c("if (a[0] > 3) for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) b[i] += a[j];"),
        "distribute-guard 1",
    ),
}

REFUSALS = {
    "no-guard": (MM, "distribute-guard j"),
    "else": (
        c("for (int i = 0; i < n; i++) { if (a[i] > 0) b[i] = 1; else b[i] = 2; }"),
        "distribute-guard i",
    ),
    "changes": (
        c("for (int i = 0; i < n; i++) { if (b[i] > 0) { b[i] = 0; b[i] += a[i]; } }"),
        "distribute-guard i",
    ),
    "unknown": (MM, "distribute-guard x"),
    "place-no-loop": (c("if (a[0] > 3) b[0] = 1;"), "distribute-guard 1"),
    "place-bounds-from-an-array": (
        c("if (n > 0) for (int i = 0; i < a[0]; i++) b[0] += i;", "int n, int a[n], int b[n]"),
        "distribute-guard 1",
    ),
    "place-not-modelled": (BOTH.replace("b[0] = s;", "unknown();"), "distribute-guard 3"),
    "place-no-condition": (BOTH, "distribute-guard 2"),
    "place-no-place": (BOTH, "distribute-guard 9"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps, sizes=(2, 5, 8)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


def test_loops_on_data_stay_under_their_condition(golden: Golden) -> None:
    """Whether they end may depend on it."""
    text = c("if (n > 3) { float s = a[0]; while (s > 1) s /= 2; b[0] = s; }")
    begun, sources = start(text)
    with pytest.raises(TransformError) as e:
        Derivation(whole_loops(begun.function)).then(step("distribute-guard 1"))
    golden.check(e.value.render(sources) + "\n")
