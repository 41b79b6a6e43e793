"""Marks of loops that later steps made meaningless: no kernel is written."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import c, derived

from loopxform.codegen import emit
from loopxform.errors import EmitError

ROWS = c(
    "for (int p = 0; p < M; p++) for (int q = 0; q < 16; q++) A[p][q] += B[p][q];",
    "int M, float A[M][16], float B[M][16]",
)
DEALT = ("parallelise p", "parallelise q", "stripmine q 4 qq", "sequentialise q")
DEALT += ("normalise q body", "map p group.x", "map qq thread.x", "block-cyclic qq q 2")

PLANES = c(
    "for (int p = 0; p < M; p++) for (int q = 0; q < 16; q++) for (int i = 0; i < 4; i++)"
    " for (int j = 0; j < 4; j++) A[p][q][i][j] += B[p][q];",
    "int M, float A[M][16][4][4], float B[M][16]",
)
BACK = ("parallelise p", "parallelise q", "map p group.y", "map q thread.x")
BACK += ("unroll i", "unroll j", "serpentine i 2")

STALE = {
    "replicated": (ROWS, *DEALT, "unroll q full"),
    "stripmined": (ROWS, *DEALT, "stripmine q 2 u"),
    "turned": (PLANES, *BACK, "reverse j"),
    "turned-outside": (PLANES, *BACK, "reverse i"),
    "strips-inside": (PLANES, *BACK, "stripmine j 2 jj"),
    "split-inside": (PLANES, *BACK, "split j 1"),
    "split-outside": (PLANES, *BACK, "split i 1"),
    "part-unrolled": (PLANES, *BACK, "unroll i 2"),
    "strips-outside": (PLANES, *BACK, "stripmine i 3 ii"),
    "inner-replicated": (PLANES, *BACK, "unroll j full"),
    "swapped": (PLANES, *BACK, "interchange i j"),
}

STANDING = {
    "renamed": (ROWS, *DEALT, "rename qq zz"),
    "renamed-element": (ROWS, *DEALT, "rename q zz"),
    "renamed-row": (PLANES, *BACK, "rename i ii"),
}


@pytest.mark.parametrize("case", STALE)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = STALE[case]
    done = derived(text, *steps)
    with pytest.raises(EmitError) as e:
        emit.kernel(done)
    golden.check(f"{e.value.message}\n{e.value.help}\n")


@pytest.mark.parametrize("case", STANDING)
def test_marks_that_still_fit(case: str, golden: Golden) -> None:
    text, *steps = STANDING[case]
    source = emit.kernel(derived(text, *steps)).source
    golden.check(source[source.index("__kernel") :])
