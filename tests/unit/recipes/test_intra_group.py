"""The recipe group: the work-items of a group share the loops inside an iteration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from conftest import Golden
from deriving import assert_same_meaning, c, untiled

from loopxform.codegen import emit
from loopxform.errors import UnsupportedC
from loopxform.ir.printer import listing
from loopxform.recipes.tile import tile
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import Options
from loopxform.targets.target import GENERIC

ROWS = "int n, int m, const int a[restrict n][m], int b[restrict n][m]"
MIRROR = c(
    "for (int i = 0; i < n; i++) { int t[m]; for (int j = 0; j < m; j++) t[j] = 2 * a[i][j] + 1; "
    "for (int j = 0; j < m; j++) b[i][j] = t[j] * t[m - 1 - j]; }",
    ROWS,
)
STEPS = c(
    "for (int i = 0; i < n; i++) { int t[64]; for (int j = 0; j < 64; j++) t[j] = i; "
    "for (int g = 0; g < m; g++) { for (int j = 0; j < 64; j++) t[j] += a[i][g]; "
    "if (g > 2) for (int j = 62; j >= 0; j--) t[j] += j; b[i][g] = t[g & 63]; } }",
    ROWS,
)
PLANES = c(
    "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) for (int k = 0; k < m; k++) "
    "b[i][j][k] = a[i][k][j]; for (int j = 0; j < m; j++) for (int k = 1; k < m; k++) "
    "b[i][j][k] += b[i][j][k - 1]; }",
    "int n, int m, const int a[restrict n][m][m], int b[restrict n][m][m]",
)
SUMS = c(
    "for (int i = 0; i < n; i++) { int s = 0, most = a[i][0]; for (int j = 0; j < m; j++) "
    "{ b[i][j] = a[i][j] - a[i][0]; s += a[i][j]; } for (int j = 1; j < m; j++) "
    "if (a[i][j] > most) most = a[i][j]; for (int j = 0; j < m; j++) b[i][j] += s - most; }",
    ROWS,
)
RECURRENCE = c(
    "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) b[i][j] = a[i][j]; "
    "for (int j = 1; j < m; j++) b[i][j] += b[i][j - 1] / 2; }",
    ROWS,
)
MEAN = c(
    "for (int i = 0; i < n; i++) { float s = 0; for (int j = 0; j < m; j++) s += a[i][j]; "
    "for (int j = 0; j < m; j++) b[i][j] = a[i][j] - s / m; }",
    "int n, int m, const float a[restrict n][m], float b[restrict n][m]",
)
LISTINGS = {
    "mirror": MIRROR,
    "steps": STEPS,
    "planes": PLANES,
    "sums": SUMS,
    "recurrence": RECURRENCE,
    "mean": MEAN,
}

REFUSALS = {
    "nothing-inside": (
        c("for (int i = 0; i < n; i++) a[i] = i;", "int n, int a[n]"),
        "no loop inside the parallel ones is parallel, or a reduction",
    ),
    "a-scalar-of-the-first": (
        c(
            "for (int i = 0; i < n; i++) { int s = 0; for (int j = 0; j < m; j++) b[i][j] = j; "
            "for (int j = 0; j < m; j++) { s = s / 2 + a[i][j]; b[i][j] += s; } b[i][0] = s; }",
            ROWS,
        ),
        "the first work-item of a group would set 's' for all",
    ),
    "an-array-of-a-work-item": (
        c(
            "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) b[i][j] = 0; "
            "for (int j = 0; j < m; j++) { int t[m]; for (int k = 0; k < m; k++) t[k] = a[i][k]; "
            "for (int k = 1; k < m; k++) t[k] += t[k - 1] / 2; b[i][j] = t[j]; } }",
            ROWS,
        ),
        "'t' has no fixed size: no work-item can keep it",
    ),
}


def grouped(source: str, *, reassociate: bool = False, **given: int) -> Tiled:
    options = Options(reassociate=reassociate)
    return tile(untiled(source), given, "group", GENERIC, strict=True, options=options)


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    done = grouped(LISTINGS[case], reassociate=True)
    golden.check(listing(done.function))
    (kernel,) = emit.kernel(done.derivation).kernels
    golden.check(kernel.text, "kernel")


@pytest.mark.parametrize("case", [x for x in LISTINGS if x != "mean"])
@pytest.mark.parametrize("given", [{}, {"Tx": 2}, {"Ty": 1, "Tx": 3}])
def test_it_means_the_same(case: str, given: dict[str, int]) -> None:
    done = grouped(LISTINGS[case], **given)
    assert_same_meaning(untiled(LISTINGS[case]), done.function, (0, 1, 4, 7))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str) -> None:
    source, text = REFUSALS[case]
    with pytest.raises(UnsupportedC, match=text) as error:
        grouped(source)
    assert error.value.code == "LX063"


def test_sums_stay_in_order_where_they_must() -> None:
    """Every work-item adds up the row, in the order of the program."""
    done = grouped(MEAN)
    assert done.choice.shared == (("j_2",),)
    (kernel,) = emit.kernel(done.derivation).kernels
    assert "__local" not in kernel.text
    assert "for (int j = 0; j < m; ++j)" in kernel.text


@pytest.mark.parametrize(
    ("changed", "place"),
    [({}, "local"), ({"local_bytes": 100}, "global")],
)
def test_arrays_that_do_not_fit_are_in_global_memory(changed: dict[str, Any], place: str) -> None:
    limits = replace(GENERIC, **changed)
    done = tile(untiled(STEPS), {}, "group", limits, strict=True)
    (kernel,) = emit.kernel(done.derivation).kernels
    assert ("__local int t" in kernel.text) == (place == "local")
    assert f"barrier(CLK_{place.upper()}_MEM_FENCE);" in kernel.text
