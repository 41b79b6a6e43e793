"""Simd: loops whose iterations the compiler of a kernel is to have in vectors."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, derived, refusal

import loopxform as lx
from loopxform.codegen import emit
from loopxform.errors import LoopxformError
from loopxform.floating_point import SEPARATE

PARAMS = "int n, int m, const float a[restrict n][m], float s[restrict m]"
TEXT = c("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s[j] += a[i][j];", PARAMS)
ROWS = c("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s[i] += a[i][j];", PARAMS)
RUNNING = c("for (int j = 1; j < m; j++) s[j] += s[j - 1];", PARAMS)
REFUSALS = {
    "sum": (ROWS, "simd j 16"),
    "running-sum": (RUNNING, "simd j 16"),
    "outer-loop": (TEXT, "simd i 16"),
    "width": (TEXT, "simd j 12"),
    "mapped": (TEXT, "interchange i j", "parallelise j", "map j group.x", "simd j 16"),
}


def test_listing(golden: Golden) -> None:
    golden.check(assert_step(TEXT, "simd j 16", sizes=(0, 1, 5)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))


def test_the_hint_stands_in_front_of_its_loop() -> None:
    blocks = ("interchange i j", "stripmine j 64 j_v", "parallelise j_v", "interchange j i")
    items = ("stripmine j_v 1 j_g", "map j_g group.x", "map j_v thread.x")
    (made,) = emit.kernel(derived(TEXT, *blocks, "simd j 16", *items), fp=SEPARATE).kernels
    assert "LX_SIMD_16 for (int j = " in made.text


@pytest.mark.parametrize("kind", ["float", "double"])
def test_vectors_of_rows_and_of_columns(kind: str) -> None:
    """All lanes fill as many bytes; those of sums in order have a term of each row."""
    params = PARAMS.replace("float", kind).replace("s[restrict m]", "s[restrict n + m]")
    lanes = 128 // (4 if kind == "float" else 8)
    row = f"for (int i = 0; i < n; i++) {{ {kind} t = 0; "
    row += "for (int j = 0; j < m; j++) t += a[i][j]; s[i] = t; }"
    column = f"for (int j = 0; j < m; j++) {{ {kind} t = 0; "
    column += "for (int i = 0; i < n; i++) t += a[i][j]; s[j] = t; }"
    for body, allowed, hint in (
        (row, True, f"LX_SIMD_{lanes} for (int j_l = "),
        (row, False, ""),
        (column, False, f"LX_SIMD_{lanes} for (int j = j_v"),
    ):
        routine = lx.loads(f"void f({params}) {{ {body} }}")["f"]
        text = emit.kernel(routine.tile(limits="pocl", reassociate=allowed).derivation).source
        assert hint in text


def test_no_later_step_may_take_the_loop_outwards() -> None:
    items = ("stripmine j 1 j_g", "map j_g group.x", "map j thread.x")
    made = derived(TEXT, "simd j 16", "interchange i j", "parallelise j", *items)
    with pytest.raises(LoopxformError, match="is inside that over"):
        emit.kernel(made)
