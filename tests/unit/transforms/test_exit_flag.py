"""ExitFlag: the condition of a loop in a variable."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_same_meaning, c, shown, start

from loopxform.errors import TransformError
from loopxform.prepare.while_loops import whole_loops
from loopxform.transforms import Derivation, replay, step

HALVED = c("float s = 9; while (s > a[0]) { for (int i = 0; i < n; i++) b[i] = s; s /= 2; }")
COUNTED = c("for (int i = 0; i < n; i++) a[i] = 1;")
LEFT = c("for (int i = 0; i < n; i++) { b[i] = 1; if (a[i] > 1) break; }")

LISTINGS = {
    "comparison": (HALVED, "exit-flag w"),
    "named": (HALVED, "exit-flag w go"),
    "again": (HALVED, "exit-flag w", "exit-flag w go"),
    "number": (
        c("int k = n; while (k) { a[k - 1] = k; k /= 2; }"),
        "exit-flag w",
    ),
}
REFUSALS = {
    "counts": (COUNTED, "exit-flag i"),
    "unknown": (COUNTED, "exit-flag j"),
    "taken": (HALVED, "exit-flag w s"),
    "other-step": (HALVED, "parallelise w"),
    "other-step-of-several": (HALVED, "sequentialise w*"),
    "tiles-of-a-loop-that-a-break-leaves": (LEFT, "stripmine i_2 4"),
}


def whole(text: str) -> Derivation:
    return Derivation(whole_loops(start(text)[0].start))


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    first = whole(text)
    done = first.run(tuple(map(step, steps)))
    assert_same_meaning(first.function, done.function, (1, 4, 9))
    assert replay(first, done.to_json()["steps"]).function == done.function
    golden.check(shown(done))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, last = REFUSALS[case]
    first, sources = whole(text), start(text)[1]
    with pytest.raises(TransformError) as e:
        first.then(step(last))
    golden.check(e.value.render(sources) + "\n")
