"""Online softmax: scores, a softmax of each row of them, and weighted values, in one kernel."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import c, derived, refusal, shown

PARAMS = "int n, int m, int d, int l, const float q[restrict n][d], const float k[restrict m][d], "
PARAMS += "const float v[restrict m][l], float y[restrict n][l]"
SCORES = (
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { float t = 0; "
    "for (int c = 0; c < d; c++) t += q[i][c] * k[j][c]; w[i][j] = t; } "
)
TOP = (
    "float top = -INFINITY, sum = 0; for (int j = 0; j < m; j++) if (w[e][j] > top) top = w[e][j]; "
)
WEIGHTS = "for (int j = 0; j < m; j++) { w[e][j] = expf(w[e][j] - top); sum += w[e][j]; } "
ROWS = f"for (int e = 0; e < n; e++) {{ {TOP}{WEIGHTS}z[e] = sum; }} "
VALUES = (
    "for (int f = 0; f < n; f++) for (int g = 0; g < l; g++) { float u = 0; "
    "for (int x = 0; x < m; x++) u += w[f][x] * v[x][g]; y[f][g] = u / z[f]; }"
)
ARRAYS = "float w[n][m]; float z[n]; "
WHOLE = ARRAYS + SCORES + ROWS + VALUES
STEP = "online-softmax i,e,f 2,2 2,2 4 2 reassociate"


def text(body: str, params: str = PARAMS) -> str:
    return "#include <math.h>\n" + c(body, params)


def changed(old: str, new: str) -> str:
    assert old in WHOLE
    return text(WHOLE.replace(old, new))


LISTINGS = {
    "asked": (text(WHOLE), STEP),
    "assumed": (text(WHOLE), "assume l<=4", STEP),
    "filling": (text(WHOLE), "online-softmax i,e,f 2,2 2,2 4 2 9 reassociate"),
}
REFUSALS = {
    "order": (text(WHOLE), "online-softmax i,e,f 2,2 2,2 4 2"),
    "not-neighbours": (text(WHOLE), STEP.replace("i,e,f", "i,f,e")),
    "two": (text(WHOLE), STEP.replace("i,e,f", "i,e")),
    "sizes": (text(WHOLE), STEP.replace(" 4 2 ", " 4 3 ")),
    "no-sizes": (text(WHOLE), STEP.replace("2,2 2,2", "2 2,2")),
    "scores-seen": (text(WHOLE + " y[0][0] = w[0][0];"), STEP),
    "callers": (
        text(WHOLE.replace(ARRAYS, "float z[n]; "), f"{PARAMS}, float w[restrict n][m]"),
        STEP,
    ),
    "other-sum": (changed("float t = 0", "float t = 1"), STEP),
    "no-product": (changed("q[i][c] * k[j][c]", "q[i][c] + k[j][c]"), STEP),
    "one-query": (changed("q[i][c] * k[j][c]", "q[i][c] * q[i][c]"), STEP),
    "smallest": (changed("w[e][j] > top", "w[e][j] < top"), STEP),
    "other-function": (changed("expf(w[e][j] - top)", "sinf(w[e][j] - top)"), STEP),
    "not-the-largest": (changed("expf(w[e][j] - top)", "expf(w[e][j] - sum)"), STEP),
    "some-keys": (changed("for (int j = 0; j < m; j++) {", "for (int j = 1; j < m; j++) {"), STEP),
    "fewer-values": (changed("x < m", "x < n"), STEP),
    "other-weight": (changed("w[f][x] * v", "w[f][0] * v"), STEP),
    "top-seen": (changed("z[e] = sum", "z[e] = top"), STEP),
    "in-place": (
        text(WHOLE.replace("y[f][g]", "v[f][g]"), PARAMS.replace("const float v", "float v")),
        STEP,
    ),
    "in-order": (changed("t += q[i][c] * k[j][c]", "t = t * 0.5f + q[i][c] * k[j][c]"), STEP),
    "types": (changed("float u = 0", "double u = 0"), STEP),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(shown(derived(*LISTINGS[case])))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
