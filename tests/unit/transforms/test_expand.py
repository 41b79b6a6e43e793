"""Expand: every iteration gets its own element."""

from __future__ import annotations

import pytest
from c_texts import EXPANDED, MM, STAGED
from conftest import Golden
from deriving import assert_step, c, derived, refusal, shown

ROWS = "int n, int m, float A[n][m], float t[m]"


def rows(body: str, params: str = ROWS) -> str:
    """Iterations that use t."""
    return c(f"for (int i = 0; i < n; i++) {{ {body} }}", params)


SUMS = (
    c(
        "for (int r = 0; r < n; r++) for (int q = 0; q < m; q++) {"
        " for (int p = 0; p < k; p++) { t[p] = 0;"
        " for (int s = 0; s < k; s++) t[p] += A[r][q][s] * B[s][p]; }"
        " for (int p = 0; p < k; p++) A[r][q][p] = t[p]; }",
        "int n, int m, int k, float A[n][m][k], float B[k][k], float t[k]",
    )
)  # fmt: skip
FILL = "for (int j = 0; j < m; j++) t[j] = A[i][j] + 1;"
USE = "for (int j = 0; j < m; j++) A[i][j] = t[m - 1 - j];"

LISTINGS = {
    "four-loops": (
        MM,
        *EXPANDED,
    ),
    "innermost-only": (
        MM,
        "parallelise i",
        "expand acc j",
    ),
    "two-loops": (
        MM,
        "expand acc i,j",
    ),
    "array": (
        c("for (int i = 0; i < n; i++) { float t[2]; t[0] = a[i]; t[1] = t[0] + 1; b[i] = t[1]; }"),
        "expand t i",
    ),
    "may-be-empty": (
        c("for (int i = 2; i < n - 1; i++) { float t = a[i]; b[i] = t; }"),
        "expand t i",
    ),
    "downwards": (
        c("for (int i = n - 1; i >= 0; i--) { float t = a[i]; b[i] = t; }"),
        "expand t i",
    ),
    "step": (
        c("for (int i = 0; i < n; i += 3) { float t = a[i]; b[i] = t; }"),
        "expand t i",
    ),
    "constant-and-empty": (
        c("for (int i = 5; i < 3; i++) { float t = a[0]; b[0] = t; }", "float a[1], float b[1]"),
        "expand t i",
    ),
    "of-the-caller": (SUMS, "expand t r,q", "parallelise r"),
    "of-the-caller-innermost": (SUMS, "expand t q"),
    "of-the-function": (
        c(
            "float t[m]; for (int j = 0; j < m; j++) t[j] = 0;"
            f" for (int i = 0; i < n; i++) {{ {FILL} {USE} }}"
            " for (int j = 0; j < m; j++) b[j] = t[j];",
            "int n, int m, float A[n][m], float b[m]",
        ),
        "expand t i",
    ),
    "some-iteration-at-least": (
        c(
            f"for (int i = 0; i < 5; i++) {{ {FILL} {USE} }}",
            "int m, float A[5][m], float t[m]",
        ),
        "expand t i",
    ),
    "two-writers": (
        rows("t[0] = A[i][0]; for (int j = 1; j < m; j++) t[j] = t[j - 1] + A[i][j];"),
        "expand t i",
    ),
    "part-of-it": (
        rows("for (int j = 1; j < m - 1; j++) { t[j] = A[i][j]; A[i][j] = t[j] * 2; }"),
        "expand t i",
    ),
    "under-a-condition": (
        rows(
            "if (k > 1) { for (int j = 0; j < m; j++) { t[j] = i; A[i][j] = t[j]; } }"
            " else { t[0] = 1; A[i][0] = t[0]; }",
            f"{ROWS}, int k",
        ),
        "expand t i",
    ),
    "growing": (
        rows(
            "for (int j = 0; j < i; j++) { t[j] = A[i][j]; A[i][j] = t[j] * i; }",
            "int n, float A[n][n], float t[n]",
        ),
        "expand t i",
    ),
    "again-in-a-loop": (
        rows("for (int k = 0; k < 3; k++) { t[0] = A[i][0]; A[i][0] = t[0] * 2; }"),
        "expand t i",
    ),
    "last-downwards-by-two": (
        c(
            "for (int i = n - 1; i >= 3; i -= 2) { for (int j = 0; j < m; j++) t[j + 1] = A[i][j];"
            " for (int j = 0; j < m; j++) A[i][j] = t[j + 1] * 2; }",
            "int n, int m, float A[n][m], float t[m + 1]",
        ),
        "expand t i",
    ),
    "subscripts-of-the-last": (
        rows(
            "for (int j = 0; j <= i; j++) t[i - j] = A[i][j];"
            " for (int j = 0; j <= i; j++) A[i][j] = t[j] * 2;",
            "int n, float A[n][n], float t[n]",
        ),
        "expand t i",
    ),
    "pointer": (
        rows(f"{FILL} {USE}", "int n, int m, float A[n][m], float *t"),
        "expand t i",
    ),
    "in-a-loop-of-time": (
        c(f"for (int s = 0; s < 3; s++) for (int i = 0; i < n; i++) {{ {FILL} {USE} }}", ROWS),
        "expand t i",
    ),
}

REFUSALS = {
    "other-elements": (
        rows("for (int j = i; j < m; j++) { t[j] = A[i][j]; A[i][j] = t[j] * 2; }"),
        "expand t i",
    ),
    "element-by-element": (rows("t[i] = A[i][0]; A[i][0] = t[i] * 2;", ROWS), "expand t i"),
    "read-first": (
        rows("for (int j = 0; j < m; j++) A[i][j] = t[j]; " + FILL),
        "expand t i",
    ),
    "neighbour-read": (
        rows("for (int j = 0; j < m - 1; j++) { t[j] = A[i][j]; A[i][j] = t[j + 1]; }"),
        "expand t i",
    ),
    "condition-on-data": (
        rows("for (int j = 0; j < m; j++) if (A[i][j] > 0) t[j] = 1;"),
        "expand t i",
    ),
    "last-iteration-left-out": (
        rows("if (i < n - 1) for (int j = 0; j < m; j++) { t[j] = 1; A[i][j] = t[j]; }"),
        "expand t i",
    ),
    "where-data-say": (
        rows("t[k[i]] = A[i][0];", f"{ROWS}, int k[n]"),
        "expand t i",
    ),
    "extent-computed": (
        rows(
            "int l = k[i]; for (int j = 0; j < l; j++) t[j] = 1;",
            f"{ROWS}, int k[n]",
        ),
        "expand t i",
    ),
    "used-outside": (
        c(
            "for (int i = 0; i < n; i++) { t[0] = i; for (int j = 0; j < m; j++) { t[0] = 1;"
            " A[i][j] = t[0]; } }",
            ROWS,
        ),
        "expand t i,j",
    ),
    "triangular": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) { t[0] = i; A[i][j] = t[0]; }",
            "int n, float A[n][n], float t[1]",
        ),
        "expand t i,j",
    ),
    "inner-to-outer": (SUMS, "expand t q,r"),
    "not-all-of-them": (SUMS, "expand t r,p#1"),
    "not-written": (SUMS, "expand B r"),
    "no-such-loop": (SUMS, "expand t z"),
    "not-read-after": (
        c(
            f"float t[m]; for (int i = 0; i < n; i++) {{ {FILL} {USE} }}",
            "int n, int m, float A[n][m]",
        ),
        "expand t i",
    ),
    "not-modelled": (rows(f"{FILL} {USE} if (A[i][0] > 9) break;"), "expand t i"),
    "mapped": (SUMS, "expand t r,q", "parallelise r", "map r group.x", "expand A r"),
    "unsigned": (
        c(
            f"for (unsigned i = k; i < n; i++) {{ {FILL} {USE} }}",
            "unsigned n, unsigned k, int m, float A[n][m], float t[m]",
        ),
        "expand t i",
    ),
    "in-two-copies": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j += 2)"
            " { float t = a[i]; b[j] = t; }"
        ),
        "split j full-tiles",
        "expand t i,j",
    ),
    "shared": (
        MM,
        "parallelise i",
        "parallelise j",
        "expand acc i",
    ),
    "of-the-caller": (
        MM,
        "expand C j",
    ),
    "scalar-of-the-caller": (MM, "expand N j"),
    "not-inside": (
        MM,
        "expand acc k",
    ),
    "unknown-name": (
        MM,
        "expand sum j",
    ),
    "unknown-loop": (
        MM,
        "expand acc x",
    ),
    "trip-count-unknown": (
        c("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) { float t = a[j]; b[j] = t; }"),
        "expand t i,j",
    ),
    "trip-count-computed": (
        c(
            "for (int i = 0; i < n; i++) { int m = k[i]; for (int j = 0; j < m; j++) { "
            "float t = a[j]; b[j] = t; } }",
            "int n, float *a, float *b, int k[n]",
        ),
        "expand t i,j",
    ),
    "extent-varies": (
        c("for (int i = 0; i < n; i++) { float t[i + 1]; t[i] = a[i]; b[i] = t[i]; }"),
        "expand t i",
    ),
    "bound-changes": (
        c(
            "for (int i = m; i < n; i++) { float t = a[i]; b[i] = t; m = 0; }",
            "int n, int m, float *a, float *b",
        ),
        "expand t i",
    ),
    "staged": (
        MM,
        *STAGED,
        "expand A_loc kk",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


def test_a_domain_with_too_many_cases_has_no_last_iteration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a domain lost conditions, an iteration past the last one is none that writes all."""
    monkeypatch.setattr("loopxform.analysis.domain.MAX_DOMAIN", 1)
    text = c(
        "for (int i = n/2; i < m; i++) { t[i & 3] = i; A[i & 7] = t[i & 3]; }",
        "int n, int m, int A[8], int t[40]",
    )
    assert "LX144" in refusal(text, "expand t i")


def test_a_copy_of_a_member_is_not_called_as_kernels_call_the_member() -> None:
    struct = "struct w { float *t; int k; };"
    text = f"{struct} {rows(FILL + USE, 'int n, int m, float A[n][m], struct w *s')}"
    found = shown(derived(text.replace("t[", "s->t["), "expand s.t i"))
    assert "s.t[j_2] = s_t_2[n-1, j_2];" in found
