"""What the iteration before stored, in a scalar."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

PARAMS = "int n, int a[n], int b[n], int y[n]"


def loop(body: str, params: str = PARAMS) -> str:
    return c(f"for (int k = 1; k < n; k++) {{ {body} }}", params)


LISTINGS = {
    "sum": (loop("y[k] = y[k - 1] + a[k];"), "carry y k"),
    "in-place": (loop("a[k] += a[k - 1];"), "carry a k last"),
    "maximum": (loop("y[k] = y[k - 1] > a[k] ? y[k - 1] : a[k];"), "carry y k"),
    "before-the-store": (loop("int t = a[k - 1]; a[k] = t * b[k] + 1; y[k] = a[k];"), "carry a k"),
    "of-a-row": (
        c("for (int i = 0; i < n; i++) for (int k = 1; k < n; k++) w[i][k] += w[i][k - 1];",
          "int n, int w[n][n]"),
        "carry w k",
    ),
    "of-rows": (
        c("for (int k = 1; k < n; k++) w[k][0] = w[k - 1][0] * a[k];",
          "int n, int a[n], int w[n][1]"),
        "carry w k",
    ),
    "in-steps": (c("for (int k = 2; k < n; k += 2) a[k] ^= a[k - 2];", PARAMS), "carry a k"),
    "backwards": (c("for (int k = n - 2; k >= 0; k--) a[k] += a[k + 1];", PARAMS), "carry a k"),
    "and-one-further-back": (
        c("for (int k = 2; k < n; k++) y[k] = y[k - 1] + y[k - 2];", PARAMS), "carry y k",
    ),
    "but-in-the-first": (
        c("for (int k = 0; k < n; k++) y[k] = (k > 0 ? y[k - 1] : 0) + a[k];", PARAMS), "carry y k",
    ),
    "but-in-the-first-by-its-number": (
        c("for (int k = 2; k < n; k += 3) y[k] = (k == 2 ? n : y[k - 3]) * 3 + a[k];", PARAMS),
        "carry y k", "reduce-then-scan k 2",
    ),
    "but-in-the-last": (
        c("for (int k = n - 1; k >= 0; k--) y[k] = a[k] + (k <= n - 2 ? y[k + 1] : 7);", PARAMS),
        "carry y k",
    ),
    "under-a-condition": (
        c("for (int k = 0; k < n; k++) a[k] = k > 0 ? a[k - 1] + 1 : 0;", PARAMS), "carry a k",
    ),
    "in-segments": (loop("y[k] = b[k] == b[k - 1] ? y[k - 1] + a[k] : a[k];"), "carry y k"),
    "in-segments-from-the-first": (
        c("for (int k = 0; k < n; k++) y[k] = !(k == 0 || b[k] > 4) ? y[k - 1] + a[k] : a[k];",
          PARAMS),
        "carry y k", "branch-choice y_last k", "reduce-then-scan k 2",
    ),
    "under-two-conditions": (
        c("for (int k = 1; k < n; k++) a[k] = (k > 1 ? a[k - 1] : 0) + (b[k] > 2 ? a[k - 1] : 0);",
          PARAMS), "carry a k",
    ),
    "but-in-the-second": (
        c("for (int k = 1; k < n; k++) a[k] = (k > 2 ? a[k - 1] : 0) + 1;", PARAMS), "carry a k",
    ),
    "of-data-in-the-first": (
        c("for (int k = 1; k < n; k++) a[k] = (k > 1 ? a[k - 1] : b[0]) + 1;", PARAMS), "carry a k",
    ),
    "another-type-in-the-first": (
        c("for (int k = 1; k < n; k++) a[k] = (k > 1 ? a[k - 1] : 0u) / 3;", PARAMS), "carry a k",
    ),
    "a-real-number-in-the-first": (
        c("for (int k = 1; k < n; k++) a[k] = (k > 1 ? a[k - 1] : 0.5f) * 3;", PARAMS), "carry a k",
    ),
    "then-a-scan": (loop("y[k] = y[k - 1] + a[k];"), "carry y k", "reduce-then-scan k 2"),
}  # fmt: skip

REFUSALS = {
    "under-a-condition-that-changes": (
        loop("b[k] = a[k]; y[k] = b[k] > b[k - 1] ? y[k - 1] + 1 : 0;"), "carry y k",
    ),
    "what-changes-in-the-first": (
        c("int t = 0; for (int k = 1; k < n; k++) { t += 3; a[k] = (k > 1 ? a[k - 1] : t) * 3; }",
          PARAMS), "carry a k",
    ),
    "read-behind-it": (loop("a[k] = a[k - 1] + 1; b[k] = a[k - 1];"), "carry a k"),
    "stored-twice": (loop("a[k] = a[k - 1] + 1; a[0] = 3;"), "carry a k"),
    "one-element": (loop("a[3 % n] = a[3 % n] + k;"), "carry a k"),
    "two-back": (c("for (int k = 2; k < n; k++) a[k] = a[k - 2] + k;", PARAMS), "carry a k"),
    "moved": (loop("int j = k; j = j + b[k] % 2; a[j] = a[j - 1];"), "carry a k"),
    "parallel": (loop("a[k] = b[k];"), "parallelise k", "carry a k"),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    text, *steps = LISTINGS[name]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 2, 5, 8)))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    text, *steps = REFUSALS[name]
    golden.check(refusal(text, *steps))
