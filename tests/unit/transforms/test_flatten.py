"""Flatten: a loop and one in its body become one loop."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_same_meaning, c, shown, start

from loopxform.errors import TransformError
from loopxform.prepare.while_loops import whole_bodies
from loopxform.transforms import Derivation, replay, step

HALVED = c(
    "for (int i = 0; i < n; i++) { int k = 0; float s = a[i]; "
    "while (s > 1) { s /= 2; k++; } b[i] = k; }"
)
LEFT = c(
    "for (int i = 0; i < n; i++) { int k; for (k = 0; k < 9; k++) { if (a[k] > b[i]) break; "
    "b[i] -= 1; } b[i] += k; }"
)
LENGTHS = c(
    "for (int i = 0; i < n; i++) { a[i] = 0; for (int k = m[i] & 3; k < m[i]; k += 2) a[i] += k; }",
    "int n, float a[restrict n], const int m[restrict n]",
)
COUNT = c(
    "for (int i = 0; i < n; i++) { int k, q; for (k = 0; k < m[i]; k++) a[i] += k; "
    "a[i] *= k; for (q = 0; q < 2; q++) a[i] += q; }",
    "int n, float a[restrict n], const int m[restrict n]",
)
DOWN = c(
    "for (int i = n - 1; i >= 0; i--) { float t[3]; t[0] = a[i]; do { t[0] -= 1; } while (t[0] > 0)"
    "; a[i] = t[0]; }"
)
TWICE = c(
    "for (int i = 0; i < n; i++) { float s = a[i]; while (s > 1) { s /= 2; } a[i] = s; }"
    "for (int i = 0; i < n; i++) { float s = b[i]; while (s > 1) { s /= 3; } b[i] = s; }"
)
NANS = c(
    "for (int i = 0; i < n; i++) { float s = a[i] - 1; int k = 0; s = s / s * a[i]; "
    "while (!(s >= 4) && k < 5) { s = s * s; k++; } b[i] = k; }"
)
GUARDED = c(
    "for (int i = 0; i < n; i++) if (a[i] > 0) { float s = a[i]; while (s > 1) { s /= 2; } "
    "b[i] = s; }"
)
OTHERWISE = c(
    "for (int i = 0; i < n; i++) { float s = a[i]; if (s < 0) { b[i] = 0; } else { float t = s; "
    "while (t > 1) { t /= 2; } s = t; } b[i] += s; }"
)
CONDITIONS = c(
    "for (int i = 0; i < n; i++) if (a[i] > 0) if (b[i] > 0) { float s = a[i]; "
    "while (s > 1) { s /= 2; } b[i] = s; }"
)
DEEP = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < 2; j++) { float s = a[i] + j; "
    "while (s > 1) { s /= 2; } b[i] += s; }"
)
ENDS = c("for (int i = 0; i < m[0]; i++) { for (int k = 0; k < i; k++) m[1] = k; }", "int *m")
BLOCK = c(
    "for (int g = 0; g < n; g++) for (int p = 0; p < 4; p++) for (int q = 0; q < 2; q++) "
    "a[g][p][q] = b[g];",
    "int n, float a[restrict n][4][2], const float b[restrict n]",
)
STEPS = c("for (int i = 0; i < n; i += 4) { float s = a[i]; while (s > 1) { s /= 2; } b[i] = s; }")
EXTENTS = c(
    "for (int i = 0; i < n; i++) { float t[i + 1]; t[i] = a[i]; while (t[i] > 1) { t[i] /= 2; } "
    "b[i] = t[i]; }"
)
READ_AFTER = c(
    "int i; for (i = 0; i < n; i++) { float s = a[i]; while (s > 1) { s /= 2; } b[i] = s; } a[0] ="
    " i;"
)

LISTINGS = {
    "while": (HALVED, "flatten i w"),
    "several": (HALVED, "flatten i w 4"),
    "tile-size": (HALVED, "flatten i w Tk"),
    "break": (LEFT, "flatten i k_2 2"),
    "lengths": (LENGTHS, "flatten i k"),
    "count-read-behind": (COUNT, "flatten i k 2"),
    "count-declared-before": (COUNT, "flatten i q"),
    "downwards": (DOWN, "flatten i w"),
    "names-of-others": (TWICE, "flatten i#2 w_2"),
    "not-a-number": (NANS, "flatten i w 3"),
    "of-a-work-item": (
        HALVED,
        *("parallelise i", "stripmine i Tx*Ry ii", "round-robin i Tx i_t", "map ii group.x"),
        *("map i_t thread.x", "flatten i w Tk"),
    ),
    "steps": (STEPS, "stripmine i 2*Tx", "flatten i w"),
    "condition": (GUARDED, "flatten i w"),
    "otherwise": (OTHERWISE, "flatten i w 2"),
}
REFUSALS = {
    "no-outer": (HALVED, "flatten q w"),
    "no-inner": (HALVED, "flatten i q"),
    "conditions": (CONDITIONS, "flatten i w"),
    "not-directly-inside": (DEEP, "flatten i w"),
    "itself": (HALVED, "flatten i i"),
    "outer-ends-by-data": (HALVED, "flatten w i"),
    "end-in-an-array": (ENDS, "flatten i k"),
    "extents": (EXTENTS, "flatten i w"),
    "read-after": (READ_AFTER, "flatten i w"),
    "end-of-int": (STEPS, "flatten i w"),
    "size": (HALVED, "flatten i w Tq"),
    "arranged": (
        BLOCK,
        "parallelise g",
        "stripmine g 8 gg",
        "map gg group.x",
        "map g thread.x",
        "unroll p",
        "unroll q",
        "serpentine p 2",
        "flatten p q",
    ),
    "mapped": (HALVED, "parallelise i", "map i group.x", "flatten i w"),
}


def whole(text: str) -> Derivation:
    """With the loops that data end as loops of the tree."""
    begun = start(text)[0]
    return Derivation(whole_bodies(begun.function))


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    first = whole(text)
    done = first.run(tuple(map(step, steps)))
    for r in done.records:
        assert_same_meaning(first.function, r.result, (0, 1, 2, 5, 6, 13))
    assert step(str(done.records[-1].step)) == done.records[-1].step
    assert replay(first, done.to_json()["steps"]).function == done.function
    golden.check(shown(done))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps, last = REFUSALS[case]
    before, sources = whole(text).run(tuple(map(step, steps))), start(text)[1]
    with pytest.raises(TransformError) as e:
        before.then(step(last))
    golden.check(e.value.render(sources) + "\n")
