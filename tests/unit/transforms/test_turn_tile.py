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
OWN_ROWS = """
void f(int n, int m, const float a[restrict n][m], float y[restrict n])
{
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < m; j++)
      s += a[i][j];
    y[i] = s;
  }
}
"""
TOGETHER = (
    *("parallelise i", "stripmine i 16 i_v", "sequentialise i", "separate-full-tiles i_v"),
    *("rename i#1 i_w", "expand s i_w", "distribute i_w", "interchange i_w j"),
    *("stripmine i_v 8 i_t", "map i_t group.x", "map i_v thread.x"),
)
WHOLE_ROWS = ("split j#1 m/16*16", "stripmine j#1 16 j_b", "rename i_w#2 k")
APART = ("copy-to-private a k a_k", "expand a_k j,k", "distribute k", "rename k#1 r")
COPIED = (*WHOLE_ROWS, *APART, "distribute j#1 r")
REFUSED_ROWS = {
    "own-elements-of-other-types": (
        OWN_ROWS.replace("const float", "const double").replace(
            "s += a[i][j]", "s += (float)a[i][j]"
        ),
        *TOGETHER,
        *COPIED,
        "turn-tile j#1",
    ),
    "own-no-copy": (OWN_ROWS, *TOGETHER, *COPIED, "turn-tile j#2"),
    "own-partial": (OWN_ROWS, *TOGETHER, *COPIED[1:], "turn-tile j#1"),
    "own-no-vectors": (
        OWN_ROWS,
        *(s.replace("16", "32") for s in (*TOGETHER, *COPIED)),
        "turn-tile j#1",
    ),
    "ahead-no-number": (OWN_ROWS, *TOGETHER, *COPIED, "turn-tile j#1 -64"),
    "ahead-elsewhere": (TEXT, *STEPS, WHOLE[0], "turn-tile j#1 64"),
}


def test_rows_of_a_work_item(golden: Golden) -> None:
    steps = (*TOGETHER, *COPIED, "turn-tile j#1 512", "simd k 16", "unroll j#2")
    golden.check(assert_step(OWN_ROWS, *steps, sizes=(0, 1, 17, 33)))


@pytest.mark.parametrize("case", REFUSED_ROWS)
def test_refused_rows(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSED_ROWS[case]))


def test_rows_are_one_statement_of_the_kernel() -> None:
    steps = (*TOGETHER, *COPIED, "turn-tile j#1 512", "expand s i")
    (made,) = emit.kernel(derived(OWN_ROWS, *steps), fp=SEPARATE).kernels
    assert "LX_TURN_TILE(float, 16, 512, c0, a_k, a, (ptrdiff_t)(i_v + c0)*m + j_b);" in made.text


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
