"""SeparateFullTiles: whole tiles are worked on without the checks that partial ones need."""

from __future__ import annotations

import pytest
from c_texts import COPY, MAPPED, MM, PARALLEL, STAGED, STENCIL
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.codegen import emit

REGISTERS = (*STAGED, "copy-to-private A_loc k", "copy-to-private B_loc k")
GROUPS = ("map ii group.x", "map i thread.x")
BATCH = """\
void batch(int P, int M, int N, float A[P][M][N], float C[P][M][N])
{
  for (int p = 0; p < P; p++)
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++)
        C[p][i][j] = 2 * A[p][i][j];
}
"""

LISTINGS = {
    "registers": (
        MM,
        *REGISTERS,
        "clamp-edges acc",
        "pad kk",
        "separate-full-tiles jjj",
    ),
    "after-an-epilogue": (
        MM,
        *STAGED,
        "clamp-edges acc",
        "split kk full-tiles",
        "separate-full-tiles jjj",
    ),
    "with-every-check": (
        MM,
        *REGISTERS,
        "separate-full-tiles jjj",
    ),
    "moved-reads": (
        MM,
        *MAPPED,
        "clamp-edges acc",
        "separate-full-tiles jjj",
    ),
    "one-loop": (
        COPY,
        "parallelise i",
        "stripmine i 4",
        *GROUPS,
        "separate-full-tiles ii",
    ),
    "from-one-and-further-than-the-grid": (
        STENCIL.replace("for (int t = 0; t < n; t++)", "").replace("+ t", ""),
        "parallelise i",
        "stripmine i 4",
        *GROUPS,
        "copy-to-local a ii",
        "separate-full-tiles ii",
    ),
    "three-loops": (
        BATCH,
        *("parallelise p", *PARALLEL, "stripmine i 2 ii", "stripmine j 3 jj", "interchange i jj"),
        *("map p group.z", "map ii group.y", "map jj group.x", "map i thread.y", "map j thread.x"),
        "separate-full-tiles jj",
    ),
    "one-dimension-is-whole": (
        MM.replace("M", "12").replace("int 12, ", ""),
        *MAPPED,
        "separate-full-tiles jjj",
    ),
    "a-sequential-loop": (
        c("for (int i = 0; i < n; i++) b[i] = a[i];", "int n, float a[n], float b[n]"),
        *("stripmine i 8 i_g", "stripmine i 4 i_c", "separate-full-tiles i_c"),
    ),
    "a-parallel-loop": (
        c("for (int i = 0; i < n; i++) b[i] = a[i];", "int n, float a[n], float b[n]"),
        *("parallelise i", "stripmine i 4 i_c", "sequentialise i", "separate-full-tiles i_c"),
    ),
}

REFUSALS = {
    "copies-of-groups": (
        COPY,
        *("parallelise i", "stripmine i 4", "copy-to-local a ii", "separate-full-tiles ii"),
    ),
    "not-the-innermost": (
        MM,
        *MAPPED,
        "separate-full-tiles iii",
    ),
    "whole": (
        c("for (int i = 0; i < 8; i++) b[i] = a[i];", "float a[8], float b[8]"),
        "parallelise i",
        "stripmine i 4",
        *GROUPS,
        "separate-full-tiles ii",
    ),
    "no-tiles": (
        COPY,
        "parallelise i",
        "map i group.x",
        "separate-full-tiles i",
    ),
    "unknown": (
        MM,
        "separate-full-tiles x",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 5, 9)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


def test_a_kernel_of_two_versions(golden: Golden) -> None:
    """Barriers and what needs no check are there once; conditions speak of the group alone."""
    done = derived(MM, *REGISTERS, "clamp-edges acc", "pad kk", "separate-full-tiles jjj")
    text = emit.kernel(done).source
    assert text.count("barrier(") == 2
    assert text.count("A_reg[i] * B_reg[j]") == 1
    golden.check(text)
