"""Recompute: a nest runs once more in front of a later one that reads what it computes."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

ARGS = "int n, int m, float h, float a[n][m], float b[n][m], float d[n]"
OWN = "float t[n][m], u[n][m];"


def nest(value: str, target: str, y: str = "i", x: str = "j") -> str:
    return (
        f"for (int {y} = 0; {y} < n; {y}++) for (int {x} = 0; {x} < m; {x}++) {target} = {value};"
    )


FIRST = nest("a[i][j] * h", "t[i][j]")
SECOND = nest("t[k][l] + 1", "u[k][l]", "k", "l")
THIRD = nest("t[p][q] * u[p][q]", "b[p][q]", "p", "q")
STEP = "recompute i p"

LISTINGS = {
    "in-front": (c(OWN + FIRST + SECOND + THIRD, ARGS), STEP),
    "forall": (c(OWN + FIRST + SECOND + THIRD, ARGS), "parallelise i", "parallelise j", STEP),
    "in-a-loop": (
        c(f"for (int s = 0; s < n; s++) {{ {OWN} {FIRST} {SECOND} {THIRD} }}", ARGS),
        STEP,
    ),
    "otherwise": (
        c(f"if (n > 4) d[0] = 1; else {{ {OWN} {FIRST} {SECOND} {THIRD} }}", ARGS),
        STEP,
    ),
    "read-behind": (
        c(OWN + FIRST + SECOND + THIRD + nest("t[r][s]", "a[r][s]", "r", "s"), ARGS),
        STEP,
    ),
    "scalar-of-its-own": (
        c(
            f"{OWN} for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
            f" {{ float v = a[i][j]; t[i][j] = v * v; }} {SECOND} {THIRD}",
            ARGS,
        ),
        STEP,
    ),
}
REFUSALS = {
    "input-changes": (c(OWN + FIRST + SECOND + nest("1", "a[r][s]", "r", "s") + THIRD, ARGS), STEP),
    "scalar-changes": (c(OWN + FIRST + SECOND + "h = 2;" + THIRD, ARGS), STEP),
    "overlaps": (c(OWN + FIRST + SECOND + nest("1", "d[r]", "r", "s") + THIRD, ARGS), STEP),
    "written-twice": (
        c(OWN + FIRST + SECOND + nest("1", "t[r][s]", "r", "s") + THIRD, ARGS),
        STEP,
    ),
    "reads-itself": (c(OWN + nest("t[i][j] + h", "t[i][j]") + SECOND + THIRD, ARGS), STEP),
    "of-the-caller": (c("float u[n][m];" + nest("h", "b[i][j]") + THIRD, ARGS), STEP),
    "not-behind": (c(OWN + FIRST + SECOND + THIRD, ARGS), "recompute p i"),
    "not-read": (c(OWN + FIRST + SECOND + nest("h", "b[p][q]", "p", "q"), ARGS), STEP),
    "not-read-before": (c(OWN + FIRST + THIRD, ARGS), STEP),
    "mapped": (c(OWN + FIRST + SECOND + THIRD, ARGS), "parallelise i", "map i group.x", STEP),
    "unknown": (c(OWN + FIRST + THIRD, ARGS), "recompute i z"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
