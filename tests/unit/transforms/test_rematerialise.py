"""Sinking: what is computed in front of a loop for it is computed in each of its iterations."""

from __future__ import annotations

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, refusal

ARGS = "int n, int m, float h, float x[n], const float y[m], float A[n][m], float d[n]"


def rows(before: str, body: str, after: str = "", bounds: str = "int j = 0; j < m; j++") -> str:
    """Statements, a loop over j and statements, in a loop over i."""
    return c(f"for (int i = 1; i < n; i++) {{ {before} for ({bounds}) {body} {after} }}", ARGS)


SCALED = rows("float t = x[i] * h;", "A[i][j] = t * y[j];")
PIVOT = rows(
    "float f = A[i][0] / A[0][0];", "A[i][j] -= f * A[0][j];", bounds="int j = 1; j < m; j++"
)
LAST = rows("float t = A[i][m - 1];", "A[i][j] = t;")

LISTINGS = {
    "scaled": (SCALED, "rematerialise j"),
    "forall": (SCALED, "parallelise i", "parallelise j", "rematerialise j"),
    "pivot": (PIVOT, "parallelise j", "rematerialise j"),
    "later-element": (LAST, "rematerialise j"),
    "at-first-use": (
        rows(
            "float t = x[i] * h;",
            "{ float s = 0; for (int k = 0; k < m; k++) s += y[k]; A[i][j] = s * t; }",
        ),
        "rematerialise j",
    ),
    "in-front-of-the-nest": (
        c(
            "float inv = 1 / (h * h); for (int i = 0; i < n; i++)"
            " for (int j = 0; j < m; j++) A[i][j] = inv * y[j];",
            ARGS,
        ),
        "rematerialise i",
        "rematerialise j",
    ),
    "behind": (rows("float t = x[i] * h;", "A[i][j] = t * y[j];", "d[i] = t;"), "rematerialise j"),
    "between": (rows("float t = x[i]; d[i] = t;", "A[i][j] = t * y[j];"), "rematerialise j"),
    "changed-behind": (rows("float t = x[i];", "A[i][j] = t; x[i] = t + 1;"), "rematerialise j"),
    "changed-in-the-loop": (
        rows("float t = A[i][m - 1];", "A[i][j] = t;", "d[i] = t;"),
        "rematerialise j",
    ),
    "bound": (
        rows("int e = m - 1;", "A[i][j] = e * y[j];", bounds="int j = 0; j < e; j++"),
        "rematerialise j",
    ),
    "under-a-condition": (
        rows(
            "float t; float u = x[i]; if (h > 0) t = u * h; else t = u;",
            "A[i][j] = t * y[j];",
            "d[i] = u;",
        ),
        "rematerialise j",
    ),
    "one-of-two": (rows("float t = x[i]; float u = h;", "A[i][j] = t * u;"), "rematerialise j u"),
    "else": (
        rows("if (h > 2) d[i] = 0; else {", "A[i][j] = t;", "}").replace(
            "else {", "else { float t = x[i];"
        ),
        "rematerialise j",
    ),
    "into-two-loops": (
        c(
            "float inv = 1 / h; for (int i = 0; i < n; i++) d[i] = x[i] * inv;"
            " for (int i = 0; i < n; i++) x[i] = inv;",
            ARGS,
        ),
        "rematerialise i#1",
        "rematerialise i#2",
    ),
}

REFUSALS = {
    "written-in-the-loop": (PIVOT.replace("j = 1", "j = 0"), "rematerialise j"),
    "race": (LAST, "parallelise j", "rematerialise j"),
    "unknown-element": (
        c(
            "for (int i = 0; i < n; i++) { float t = A[i][p[i]];"
            " for (int j = 0; j < m; j++) A[i][j] = t; }",
            f"{ARGS}, const int p[n]",
        ),
        "rematerialise j",
    ),
    "accumulator": (rows("float t = 0;", "t += A[i][j];", "d[i] = t;"), "rematerialise j t"),
    "only-an-accumulator": (rows("float t = 0;", "t += A[i][j];", "d[i] = t;"), "rematerialise j"),
    "loop": (
        rows("float s = 0; for (int k = 0; k < m; k++) s += A[i][k];", "A[i][j] /= s;"),
        "rematerialise j s",
    ),
    "changed-before-the-loop": (
        rows("float t = x[i]; x[i] = 1;", "A[i][j] = t;"),
        "rematerialise j",
    ),
    "side-effect": (
        rows("float t = 0; if (h > 0) { t = x[i]; d[i] = 1; }", "A[i][j] = t;"),
        "rematerialise j t",
    ),
    "declared-outside": (
        c(
            "float t; for (int i = 0; i < n; i++) {"
            " t = x[i]; for (int j = 0; j < m; j++) A[i][j] = t; }",
            ARGS,
        ),
        "rematerialise j t",
    ),
    "parameter": (c("h = h * h; for (int i = 0; i < n; i++) d[i] = h;", ARGS), "rematerialise i h"),
    "counter": (
        c(
            "int k = 3; float t = k; for (int i = 0; i < n; i++) {"
            " for (k = 0; k < 3; k++) d[i] += 1; d[i] += t; }",
            ARGS,
        ),
        "rematerialise i",
    ),
    "not-used": (rows("float t = x[i]; float u = t;", "A[i][j] = u;"), "rematerialise j t"),
    "not-set": (rows("float t; float u = 1;", "A[i][j] = u;"), "rematerialise j t"),
    "perhaps-set-by-what-is-not-modelled": (
        c(
            "for (int i = 0; i < n; i++) { float t = *v; if (h > 0) t = x[i];"
            " for (int j = 0; j < m; j++) A[i][j] = t; }",
            f"{ARGS}, volatile float *v",
        ),
        "rematerialise j",
    ),
    "volatile": (
        c(
            "for (int i = 0; i < n; i++) { float t = *v;"
            " for (int j = 0; j < m; j++) A[i][j] = t; }",
            f"{ARGS}, volatile float *v",
        ),
        "rematerialise j t",
    ),
    "mapped": (
        SCALED,
        *("parallelise i", "parallelise j", "rematerialise j", "map i group.x", "map j group.y"),
        "rematerialise j",
    ),
    "nothing": (MM, "rematerialise k"),
    "unknown": (MM, "rematerialise x"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
