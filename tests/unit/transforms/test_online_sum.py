"""Online sums: the largest element of a row and a sum of exponentials less that in one pass."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Golden
from deriving import arguments, c, derived, refusal, shown

from loopxform.verify.interp import Program

PARAMS = "int n, double x[n], double y[n], double z[1]"
TOP = "double top = x[0]; for (int j = 1; j < n; j++) if (x[j] > top) top = x[j];"
SUM = "double s = 0; for (int k = 0; k < n; k++) {{ y[k] = {0}; s += y[k]; }}"
WEIGHTS = SUM.format("exp(x[k] - top)")
DIVISION = "for (int l = 0; l < n; l++) y[l] /= s;"
STEP = "online-sum j k 4 reassociate"


def row(*parts: str, params: str = PARAMS) -> str:
    return "#include <math.h>\n" + c(" ".join(parts), params)


TO_E = [part.replace("< n", "< e") for part in (TOP, WEIGHTS, DIVISION)]
SOFTMAX = row(TOP, WEIGHTS, DIVISION)

LISTINGS = {
    "softmax": SOFTMAX,
    "logarithm": row(
        "double top = -INFINITY, s = 1; for (int j = 0; j < n; j++) top = fmax(top, x[j]);"
        "for (int k = 0; k < n; k++) { double d = x[k] - top; s += exp(d); } z[0] = top + log(s);"
    ),
    "in-place": row(
        "double top = -9, s = 0; for (int j = 0; j < n; j++) { if (top < y[j]) top = y[j]; }"
        "for (int k = 0; k < n; k++) { double e = exp(y[k] - top); y[k] = e; s += e; } z[0] = s;"
        "double by = 1 / s; for (int l = 0; l < n; l++) y[l] = y[l] * by;"
    ),
}

REFUSALS = {
    "without-permission": (SOFTMAX, "online-sum j k 4"),
    "another-order": (SOFTMAX, "online-sum k j 4 reassociate"),
    "no-parts": (SOFTMAX, "online-sum j k 0 reassociate"),
    "no-division": (row(TOP, WEIGHTS), STEP),
    "smallest": (row(TOP.replace(">", "<"), WEIGHTS, DIVISION), STEP),
    "another-element": (row(TOP, SUM.format("exp(x[n-1-k] - top)"), DIVISION), STEP),
    "twice": (row(TOP, SUM.format("exp(2 * (x[k] - top))"), DIVISION), STEP),
    "not-all": (row(TOP.replace("j = 1", "j = 2"), WEIGHTS, DIVISION), STEP),
    "stored-between": (row(TOP, WEIGHTS, "x[1] = 3;", DIVISION), STEP),
    "read-between": (row(TOP, WEIGHTS, "z[0] = y[0];", DIVISION), STEP),
    "bound-that-changes": (
        row("int e = n;", TO_E[0], "e = e - 1;", TO_E[1], TO_E[2]),
        STEP,
    ),
    "counter-that-is-read": (
        row("int j;", TOP.replace("int j", "j"), WEIGHTS, DIVISION, "z[0] = j;"),
        STEP,
    ),
    "changed-between": (row(TOP, WEIGHTS, "top = 3;", DIVISION), STEP),
    "other-division": (row(TOP, WEIGHTS, DIVISION.replace("l = 0", "l = 1")), STEP),
    "neighbour": (row(TOP, WEIGHTS, DIVISION.replace("/= s", "= y[l] + y[n-1]")), STEP),
    "subtracted": (row(TOP, WEIGHTS.replace("s += y[k]", "s -= y[k]"), DIVISION), STEP),
    "narrower": (
        row(TOP, WEIGHTS, DIVISION, params="int n, double x[n], float y[n]"),
        STEP,
    ),
    "stored-before": (
        row(
            "double top = y[0]; for (int j = 1; j < n; j++) if (y[j] > top) top = y[j];",
            "double s = 0; for (int k = 0; k < n; k++) { double v = y[k]; y[k] = exp(v - top);"
            "s += exp(y[k] - top); }",
            DIVISION,
        ),
        STEP,
    ),
    "elements-summed-up": (
        row(
            "double top = y[0]; for (int j = 1; j < n; j++) if (y[j] > top) top = y[j];",
            "double s = 0; for (int k = 0; k < n; k++) { double v = y[k]; y[k] = exp(v - top);"
            "s += v; }",
            DIVISION,
        ),
        STEP,
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    done = derived(LISTINGS[case], STEP)
    for size in (1, 3, 4, 9):
        expected, found = (arguments(done.start, size) for _ in range(2))
        Program(done.start).run(expected)
        Program(done.function).run(found, order_seed=size)
        for name in ("y", "z"):
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-12)
    golden.check(shown(done))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
