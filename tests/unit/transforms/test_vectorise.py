"""Vectorise, and what it needs: rows of vectors, offsets in 32 bits."""

from __future__ import annotations

import pytest
from c_texts import FLAT, MAPPED, MM, PARALLEL
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.codegen import emit

SIZES = {"Ty*Ry": "16", "Tx*Rx": "8", "Ry": "8", "Rx": "4", "Tk": "4"}
"""Tiles of whole vectors."""

TILED = tuple(" ".join(SIZES.get(w, w) for w in step.split()) for step in MAPPED)
STAGED = (*TILED, "copy-to-local A kk", "copy-to-local B kk")
REGISTERS = (*STAGED, "copy-to-private A_loc k", "copy-to-private B_loc k")
EVEN = ("assume U%4==0", "assume N%4==0")
FEW = ("assume M<=2147483647/max(U,1)", "assume U<=2147483647/max(N,1)")
FEW += ("assume M<=2147483647/max(N,1)",)
COUNTED = tuple(
    f"assume {part}"
    for rows, row in (("M", "U"), ("U", "N"))
    for part in (
        *(f"{row}<=1073741823", f"{row}>=1", f"{rows}>=1"),
        f"{rows}<=2147483647/(4*(({row}+3)/4))",
    )
)
ASSUMED = (*REGISTERS, "clamp-edges acc", "split kk full-tiles", *EVEN)
NARROW = (*REGISTERS, "clamp-edges acc", *FEW, "index32 iii", *EVEN)
PACKED = (*REGISTERS, "clamp-edges acc", "split kk full-tiles", *FEW, "index32 iii", *COUNTED)
PACKED += ("pack iii 4",)
BOTH = ("vectorise A_loc 4", "vectorise B_loc 4")
FIXED = MM.replace("int M, int U, int N, ", "").replace("M", "12").replace("N", "8")
FIXED = FIXED.replace("U", "16")
"""Of sizes that are numbers nothing is assumed."""

PLACED = c("for (int i = 0; i < 16; i++) b[i] = a[2*i + AT];", "int n, float a[64], float b[16]")
COPIED = ("parallelise i", "stripmine i 4 ii", "map ii group.x", "map i thread.x")
"""One tile of a row."""

EIGHT = c(
    "for (int i = 0; i < n; i++) { b[i] = 0; for (int k = 0; k < 8; k++) b[i] += a[8*i + k]; }",
    "int n, float a[100], float b[n]",
)
ROW = ("assume n<=10", "parallelise i", "stripmine i 4 ii", "map ii group.x", "map i thread.x")
ROW += ("copy-to-private a i",)
"""What each iteration reads itself."""

LISTINGS = {
    "vectors": (MM, *ASSUMED, *BOTH),
    "narrow": (MM, *NARROW, *BOTH),
    "packed": (MM, *PACKED),
    "packed-vectors": (MM, *PACKED, *BOTH),
    "narrow-pointers": (
        *(FLAT, *PARALLEL, "map i group.y", "map j group.x"),
        *("assume n<=2147483647/max(n,1)", "index32 i"),
    ),
    "numbers": (FIXED, *REGISTERS, *BOTH),
    "lanes": (MM, *REGISTERS, "warp-tile iii 1 2"),
    "lanes-in-pairs": (MM, *REGISTERS, "warp-tile iii 2 2 paired"),
    "from-memory": (EIGHT, *ROW, "vectorise a_reg 4"),
}

REFUSALS = {
    "no-tile": (MM, *ASSUMED, "vectorise A 4"),
    "no-width": (MM, *ASSUMED, "vectorise A_loc 3"),
    "too-wide": (MM, *ASSUMED, "vectorise A_loc 8"),
    "not-asked-for": (MM, *STAGED, "vectorise A_loc 4"),
    "narrow-tile": (MM, *ASSUMED, "vectorise B_loc 16"),
    "between-vectors": (
        PLACED.replace("AT", "1"),
        *COPIED,
        "copy-to-local a ii",
        "vectorise a_loc 2",
    ),
    "pack-nothing": (MM, *TILED, "pack iii 4"),
    "pack-numbers": (FIXED, *STAGED, "pack iii 4"),
    "pack-inside": (MM, *STAGED, "pack jjj 4"),
    "pack-width": (MM, *STAGED, "pack iii 5"),
    "pack-many": (MM, *STAGED, "pack iii 4"),
    "narrow-many": (MM, *STAGED, "index32 iii"),
    "narrow-inside": (MM, *STAGED, "index32 jjj"),
    "narrow-without-rows": (PLACED.replace("AT", "0"), *COPIED, "index32 ii"),
    "lanes-not-a-rectangle": (MM, *TILED, "warp-tile iii 4 x"),
    "lanes-in-no-pairs": (MM, *TILED, "warp-tile iii 1 8 paired"),
    "lanes-in-threes": (MM, *TILED, "warp-tile iii 2 8 threes"),
    "from-odd-places": (EIGHT.replace("8*i", "9*i"), *ROW, "vectorise a_reg 4"),
    "not-as-many": (EIGHT.replace("8", "6"), *ROW, "vectorise a_reg 4"),
    "lanes-of-one-dimension": (PLACED.replace("AT", "0"), *COPIED, "warp-tile ii 4 8"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 5, 8)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


@pytest.mark.parametrize("case", ["vectors", "narrow", "lanes", "lanes-in-pairs", "from-memory"])
def test_kernel(case: str, golden: Golden) -> None:
    """Vectors that work-items read at the same time are neighbours in the tile."""
    text, *steps = LISTINGS[case]
    golden.check(emit.kernel(derived(text, *steps)).source)


def test_padding_takes_single_elements_again() -> None:
    """Where padding stands for what lies past the end, a vector may be a part of both."""
    steps = (FIXED.replace("16", "18"), *REGISTERS, "clamp-edges acc", "vectorise A_loc 2")
    one, other = (derived(*steps, *more) for more in ((), ("pad kk",)))
    assert emit.kernel(one).source.count("LX_VECTOR(float2") == 1
    assert emit.kernel(other).source.count("LX_VECTOR(float2") == 0
