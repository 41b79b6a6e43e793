"""Stores that conditions choose from as one, and what makes such expressions plain."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

PARAMS = "int n, int a[n], int b[n], int y[n]"
STEP = "if-convert i"


def loop(body: str, params: str = PARAMS, before: str = "") -> str:
    return c(f"{before} for (int i = 0; i < n; i++) {{ {body} }}", params)


REAL = "int n, float a[n], float b[n], float y[n]"
LISTINGS = {
    "choice": (loop("if (a[i] > 2) y[i] = a[i]; else y[i] = 3;"), STEP),
    "common-term": (loop("if (i > 0) y[i] = y[i - 1] + a[i]; else y[i] = a[i];"), STEP),
    "common-real-term": (loop("if (i > 0) y[i] = y[i - 1] + a[i]; else y[i] = a[i];", REAL), STEP),
    "common-terms": (
        loop("if (a[i] > 2) y[i] = a[i] - b[i]; else y[i] = a[i] - b[i] - i + 1;"), STEP),
    "updates": (loop("y[i] = a[i]; if (i > 1) y[i] += b[i]; if (a[i] > 3) y[i] -= 2;"), STEP),
    "real-updates": (loop("y[i] = a[i]; if (i > 1) y[i] += b[i]; y[i] *= 2;", REAL), STEP),
    "nested": (loop("if (i > 1) { if (i > 2) y[i] = 1; else y[i] = 2; } else y[i] = 3;"), STEP),
    "two-stores": (
        loop("if (a[i] > 2) { y[i] = 1; b[i] = 2; } else { y[i] = 3; b[i] = y[i]; }"), STEP),
    "one-place": (loop("if (i == 0) y[0] = a[0]; else y[i] = b[i];"), STEP),
    "overridden": (loop("y[i] = a[i]; if (b[i] > 2) y[i] = 7;"), STEP),
    "longer": (
        loop("if (i > 0) y[i] = y[i - 1] + a[i]; else y[i] = a[i];",
             "int n, int a[n], unsigned long y[n]"), STEP),
    "forward": (loop("int v = a[i] + 1; long w = v; y[i] = v * w;"), "forward-substitute v i",
                "forward-substitute w i"),
    "forward-to-its-end": (loop("int v = y[i] + 1; b[i] = v; y[i] = v;"), "forward-substitute v i"),
    "copy": (loop("int v = s + a[i]; y[i] = v; s = v;", before="int s = 0;"), "merge-copy v i"),
    "peel": (loop("if (!i) y[0] = a[0]; else y[i] = y[i - 1] * 3 + (i > 0 ? a[i] : 0);"),
             "peel i"),
    "peel-backwards": (
        c("for (int i = n - 1; i >= 0; i -= 2) y[i] = i < n - 1 && a[i] > 2 ? y[i + 1] : 5;",
          PARAMS), "peel i"),
    "wider-than-its-term": (
        loop("if (a[i] > 2) y[i] = b[i] - a[i]; else y[i] = b[i];",
             "int n, unsigned a[n], long b[n], long y[n]"), STEP),
    "peel-in-types-of-choices": (
        loop("y[i] = (i > 0 ? a[i] : 1) / 2; b[i] = (!i ? -1 : i + 1u) > 5;",
             "int n, float a[n], int b[n], float y[n]"), "peel i"),
    "peel-unsigned": (
        c("for (unsigned i = 0; i < n; i++) y[i] = i > 0 ? 3 : i - 1 > 5;", PARAMS), "peel i"),
    "peel-where-a-second-exists": (
        c("for (int i = k; i < n; i++) y[i] = i == k ? 1 : a[i];",
          "int n, int k, int a[n], int y[n]"), "assume k<=2147483646", "peel i"),
    "peel-from-a-number": (
        c("for (long i = k; i < n; i++) y[i] = i == k ? i * i : a[i];",
          "int n, int k, int a[n], long y[n]"), "peel i"),
}  # fmt: skip
REFUSALS = {
    "two-elements": (loop("if (a[i] > 2) y[i] = 1; else y[n - 1 - i] = 3;"), STEP),
    "nothing-else": (loop("if (a[i] > 2) y[i] = 1;"), STEP),
    "asks-what-it-sets": (
        loop("if (y[i] > 2) { y[i] = 1; b[i] = 2; } else { y[i] = 3; b[i] = 1; }"), STEP),
    "may-read-it": (loop("y[i] = a[i]; if (y[b[i] % 2] > 1) y[i] += 1;"), STEP),
    "moves-what-it-sets": (
        c("x[x[0]] = 2; for (int i = 0; i < n; i++) { x[x[i]] = n; if (i < 9) x[x[i]] += 5; }",
          "int n, int x[n]"), STEP),
    "negated-product": (loop("y[i] = -(a[i] * b[i]); if (i) y[i] += 1;", REAL), STEP),
    "to-be-fused": (loop("y[i] = a[i] * b[i]; y[i] += 1;", REAL), STEP),
    "another-type-in-between": (
        loop("if (i > 0) y[i] = a[i] + 1u; else y[i] = a[i];", "int n, int a[n], long y[n]"),
        STEP, STEP),
    "changed-before-its-use": (
        loop("int v = a[i]; a[i] = 3; y[i] = v;"), "forward-substitute v i"),
    "set-twice": (loop("int v = a[i]; v++; y[i] = v;"), "forward-substitute v i"),
    "fused-product": (loop("float v = a[i] * b[i]; y[i] = v + 1;", REAL), "forward-substitute v i"),
    "old-value-used": (
        loop("int v = s + a[i]; y[i] = v - s; s = v;", before="int s = 0;"), "merge-copy v i"),
    "set-elsewhere": (
        loop("int v = s + a[i]; s = v; if (v > 3) s = 0; y[i] = s;", before="int s = 0;"),
        "merge-copy v i"),
    "another-type": (
        loop("int v = s + a[i]; y[i] = v; s = v;", before="short s = 0;"), "merge-copy v i"),
    "chosen-product": (
        loop("float v = i ? -(a[i] * b[i]) : 1; y[i] = v + 1;", REAL), "forward-substitute v i"),
    "compared-as-unsigned": (
        c("for (int i = -1; i < n; i++) y[i + 1] = i < 0u ? 1 : 2;", PARAMS), "peel i"),
    "no-first": (loop("y[i] = i > 2 ? 1 : 2;"), "peel i"),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    text, *steps = LISTINGS[name]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 2, 5)))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    text, *steps = REFUSALS[name]
    golden.check(refusal(text, *steps))
