"""Updates of an array that wait for the end of the loop, in which it holds a scalar of it."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

PARAMS = "int n, int a[n], int b[n], int x[n + 1][n], float z[n + 1][n]"
STEP = "defer-update x j"


def loop(body: str, header: str = "int j = 0; j < n; j++", after: str = "") -> str:
    inside = f"int s = i; for ({header}) {{ {body} }} {after}"
    return c(f"for (int i = 0; i < n; i++) {{ {inside} }}", PARAMS)


LISTINGS = {
    "sum": (loop("s += a[j]; x[i + 1][j] = x[i][j] + s;"), STEP),
    "scalar-first": (loop("s += a[j]; x[i + 1][j] = s - 2 * x[i][j];"), "defer-update x j k"),
    "stored-before-the-update": (loop("x[i + 1][j] = b[j] * s; s += a[j];"), STEP),
    "of-the-counter": (loop("s = a[j]; x[i][j] = s + j;"), STEP),
    "backwards": (
        loop("s ^= a[j]; x[i + 1][j] = x[i][j] + s;", "int j = n - 1; j >= 0; j--"), STEP,
    ),
    "in-steps": (loop("s += a[j]; x[i + 1][j] = x[i][j] + s;", "int j = 1; j < n; j += 2"), STEP),
    "then-apart": (
        loop("s += a[j]; x[i + 1][j] = x[i][j] + s;"), STEP, "distribute i j_2",
        "parallelise i#1", "parallelise j_2",
    ),
}  # fmt: skip

REFUSALS = {
    "no-store": (loop("s += a[j];"), STEP),
    "under-a-condition": (loop("s += a[j]; if (b[j] > 2) x[i + 1][j] = x[i][j] + s;"), STEP),
    "an-update": (loop("s += a[j]; x[i][j] += s;"), STEP),
    "one-element": (loop("s += a[j]; x[i + 1][3 % n] = a[j] + s;"), STEP),
    "the-element-itself": (loop("s += a[j]; x[i][j] = x[i][j] + s;"), STEP),
    "its-own-row": (loop("s += a[j]; x[i][j] = x[i][n - 1] + s;"), STEP),
    "a-row-by-data": (loop("s += a[j]; x[i][j] = x[b[j] % n][j] + s;"), STEP),
    "read-later": (loop("s += a[j]; x[i + 1][j] = x[i][j] + s; s += x[i + 1][j];"), STEP),
    "two-scalars": (loop("int t = a[j] * 2; s += t; x[i + 1][j] = t * s;"), STEP),
    "the-scalar-alone": (loop("s += a[j]; x[i][j] = s;"), STEP),
    "an-array-that-is-set": (loop("s += a[j]; b[j] = s; x[i + 1][j] = b[j] + s;"), STEP),
    "another-type": (loop("s += a[j]; z[i + 1][j] = z[i][j] + s;"), "defer-update z j"),
    "parallel": (loop("x[i][j] = a[j];"), "parallelise j", STEP),
    "read-behind": (
        c("int j = 0; for (int i = 0; i < n; i++) { int s = 0; for (j = 0; j < n; j++) { s += a[j];"
          " x[i + 1][j] = x[i][j] + s; } b[i] = j; }", PARAMS), STEP,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    text, *steps = LISTINGS[name]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 2, 5)))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    text, *steps = REFUSALS[name]
    golden.check(refusal(text, *steps))
