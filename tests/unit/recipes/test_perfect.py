"""Imperfect nests: what is sunk, what becomes a nest of its own, and what stays as it is."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_same_meaning, c, untiled

from loopxform.errors import UnsupportedC
from loopxform.ir.printer import listing
from loopxform.prepare.parallel_band import prepare, prepare_all
from loopxform.transforms import Derivation, replay

ARGS = "int n, int m, float h, const float x[n], const float y[m], float A[n][m], float d[n]"
SUM = "float s = 0; for (int j = 0; j < m; j++) s += A[i][j];"
SCALED = "for (int j = 0; j < m; j++) A[i][j] = s * y[j];"

CASES = {
    "sunk": c(f"for (int i = 0; i < n; i++) {{ float s = x[i] * h; {SCALED} }}", ARGS),
    "sunk-twice": c(
        "for (int g = 0; g < n; g++) { float u = x[g]; for (int i = 0; i < n; i++) {"
        " float s = u * h; for (int j = 0; j < m; j++) B[g][i][j] = s * y[j]; } }",
        f"{ARGS}, float B[n][n][m]",
    ),
    "counter-declared-inside": c(
        "for (int i = 0; i < n; i++) { int j; for (j = 0; j < m; j++) A[i][j] = x[i] * y[j]; }",
        ARGS,
    ),
    "counter-left-by-one-loop": c(
        "for (int i = 0; i < n; i++) { int j; for (j = 0; j < m; j++) A[i][j] = x[i];"
        " for (j = 0; j < m; j++) A[i][j] += y[j]; d[i] = j; }",
        ARGS,
    ),
    "declared-outside": c(
        f"float s; for (int i = 0; i < n; i++) {{ s = x[i] * h; {SCALED} }}",
        ARGS,
    ),
    "in-front-of-the-nest": c(
        "float u = h * h; float w = u + 1; for (int i = 0; i < n; i++) d[i] = x[i] / w;", ARGS
    ),
    "sequential-outside": c(
        "for (int k = 0; k < m; k++) { float u = y[k]; for (int i = 0; i < n; i++)"
        " d[i] += u * x[i]; }",
        ARGS,
    ),
    "row-sum": c(f"for (int i = 0; i < n; i++) {{ {SUM} {SCALED} }}", ARGS),
    "behind": c(
        f"for (int i = 0; i < n; i++) {{ float s = x[i] * h; {SCALED} d[i] = s; }}",
        ARGS,
    ),
    "few-iterations": c(
        "for (int i = 0; i < n; i++) { float s = x[i]; for (int a = 0; a < 3; a++)"
        " B[i][a] = s + a; }",
        f"{ARGS}, float B[n][3]",
    ),
    "bound-in-front": c(
        "for (int i = 0; i < n; i++) { int e = i < m ? i : m; for (int j = 0; j < e; j++)"
        " A[i][j] = e; }",
        ARGS,
    ),
    "guard-around": c(
        "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) { float r = A[i][k];"
        " if (r < 0) continue; for (int j = 0; j < m; j++) B[i][j] += r * y[j]; }",
        f"{ARGS}, float B[n][m]",
    ),
    "guard-around-a-loop-that-changes-what-it-asks": c(
        "for (int i = 0; i < n; i++) if (d[i] > 0) for (int j = 0; j < m; j++)"
        " { A[i][j] = x[i]; d[i] -= 1; }",
        ARGS,
    ),
    "guard-with-another-branch": c(
        "for (int i = 0; i < n; i++) if (x[i] > 0) for (int j = 0; j < m; j++) A[i][j] = x[i];"
        " else d[i] = 0;",
        ARGS,
    ),
    "guard-around-two-loops": c(
        "for (int i = 0; i < n; i++) if (x[i] > 0) { for (int j = 0; j < m; j++) A[i][j] = x[i];"
        " for (int j = 0; j < n; j++) B[i][j] = x[j]; }",
        f"{ARGS}, float B[n][n]",
    ),
    "array-in-front": c(
        "for (int i = 0; i < n; i++) { float w[4]; for (int a = 0; a < 4; a++) w[a] = x[i] + a;"
        " for (int j = 0; j < m; j++) A[i][j] = w[0] * w[3]; }",
        ARGS,
    ),
    "row-of-an-iteration": c(
        "for (int i = 0; i < n; i++) { float w[m]; for (int j = 0; j < m; j++) w[j] = x[i] * y[j];"
        " for (int j = 0; j < m; j++) A[i][j] = w[m - 1 - j]; }",
        ARGS,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_nests(case: str, golden: Golden) -> None:
    start = Derivation(untiled(CASES[case]))
    nests = prepare_all(start)
    done = nests[-1].derivation
    assert {id(n.derivation) for n in nests} == {id(done)}
    for record in done.records:
        assert_same_meaning(start.function, record.result, (0, 1, 5))
    assert replay(start, done.to_json()["steps"]).function == done.function
    loops = "\n".join(", ".join(n.parallel) for n in nests)
    steps = "".join(f"{r.step}\n" for r in done.records)
    golden.check(f"{steps}\n{loops}\n\n{listing(done.function)}")


def test_one_nest_stays_one_where_a_recipe_is_asked_for() -> None:
    nest = prepare(Derivation(untiled(CASES["row-sum"])))
    assert nest.parallel == ("i",)


def test_counts_that_several_loops_leave_in_one_variable() -> None:
    """These loops cannot be told apart."""
    text = c(
        "for (int i = 0; i < n; i++) { int j; for (j = 0; j < m; j++) A[i][j] = x[i]; d[i] = j;"
        " for (j = 0; j < m; j += 2) A[i][j] = y[j]; d[i] += j; }",
        ARGS,
    )
    with pytest.raises(UnsupportedC, match="several loops count with 'j'") as refused:
        prepare(Derivation(untiled(text)))
    assert refused.value.code == "LX130"
