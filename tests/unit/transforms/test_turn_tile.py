"""Turn-tile: tiles of matrices that are turned in registers."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, derived, refusal

from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE

PARAMS = "int n, int m, const float a[restrict n][m], float b[restrict m][n]"
TEXT = f"""
void f({PARAMS})
{{
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++)
      b[j][i] = a[i][j];
}}
"""
BLOCKS = ("parallelise j", "parallelise i", "stripmine j 16 j_b", "stripmine i 16 i_b")
MAPPED = ("interchange j i_b", "sequentialise j", "sequentialise i")
ITEMS = ("stripmine i_b 1 i_g", "map i_g group.x", "map i_b thread.x")
WHOLE = ("separate-full-tiles i_g", "turn-tile j#1")
STEPS = (*BLOCKS, *MAPPED, "map j_b group.y", *ITEMS)


def _with(body: str, params: str = PARAMS) -> str:
    return TEXT.replace("b[j][i] = a[i][j];", body).replace(PARAMS, params)


DOUBLES = PARAMS.replace("float", "double")
MIXED = PARAMS.replace("const float", "const int")
REFUSALS = {
    "no-whole-tile": (TEXT, *STEPS, "turn-tile j"),
    "not-mapped": (TEXT, *BLOCKS, *MAPPED, "turn-tile j"),
    "other-sides": (_with("b[j][i] = a[i][j];", DOUBLES), *STEPS, *WHOLE),
    "other-types": (_with("b[j][i] = a[i][j];", MIXED), *STEPS, *WHOLE),
    "across-rows": (_with("b[j][n - 1 - i] = a[i][j];"), *STEPS, *WHOLE),
    "nothing-turned": (_with("b[j][i] = a[i][m - 1 - j];"), *STEPS, *WHOLE),
    "may-not-be-read": (_with("b[j][i] = i < j ? a[i][j] : 0;"), *STEPS, *WHOLE),
    "two-stores": (_with("{ b[j][i] = a[i][j]; b[j][i] += 1; }"), *STEPS, *WHOLE),
    "one-loop": (TEXT, *STEPS, WHOLE[0], "turn-tile i#1"),
}


def test_listing(golden: Golden) -> None:
    golden.check(assert_step(TEXT, *STEPS, *WHOLE, sizes=(0, 1, 17, 33)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))


def test_later_steps_may_not_change_the_tile() -> None:
    made = derived(TEXT, *STEPS, *WHOLE, "stripmine i#1 4 i_v")
    with pytest.raises(Exception, match="no tile that can be turned"):
        emit.kernel(made)


def test_tiles_are_loops_for_other_compilers() -> None:
    (made,) = emit.kernel(derived(TEXT, *STEPS, *WHOLE), fp=SEPARATE).kernels
    turned, loops = made.text.split("#if LX_NONTEMPORAL\n")[1].split("#endif")[0].split("#else\n")
    assert turned.count("LX_STORE_NONTEMPORAL(") == 1
    assert "a[(ptrdiff_t)i*m + j]" in loops
