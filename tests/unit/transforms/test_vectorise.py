"""Vectorise, and the versions of a nest that it needs: rows of vectors, narrow offsets."""

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
VERSIONED = (*REGISTERS, "clamp-edges acc", "epilogue kk", "version iii 4")
NARROW = (*REGISTERS, "clamp-edges acc", "index32 iii", "version iii#1 4")
PACKED = (*REGISTERS, "clamp-edges acc", "epilogue kk", "index32 iii", "pack iii#1 4 3")
PARTS = ("few i 4 8x8:1000,4x4:320", "expand acc i,j", "distribute i,j", "parallelise i#1")
PARTS += ("map i#1 group.x",)
BOTH = ("vectorise A_loc 4", "vectorise B_loc 4")
FIXED = MM.replace("int M, int U, int N, ", "").replace("M", "12").replace("N", "8")
FIXED = FIXED.replace("U", "16")
"""Sizes that are numbers need no version."""

PLACED = c("for (int i = 0; i < 16; i++) b[i] = a[2*i + AT];", "int n, float a[64], float b[16]")
COPIED = ("parallelise i", "stripmine i 4 ii", "map ii group.x", "map i thread.x")
"""One tile of a row."""

LISTINGS = {
    "version": (MM, *VERSIONED),
    "vectors": (MM, *VERSIONED, *BOTH),
    "narrow": (MM, *NARROW, *BOTH),
    "packed": (MM, *PACKED),
    "packed-vectors": (MM, *PACKED, *BOTH),
    "narrow-pointers": (FLAT, *PARALLEL, "map i group.y", "map j group.x", "index32 i"),
    "numbers": (FIXED, *REGISTERS, *BOTH),
    "lanes": (MM, *REGISTERS, "warp-tile iii 1 2"),
}

REFUSALS = {
    "no-tile": (MM, *VERSIONED, "vectorise A 4"),
    "no-width": (MM, *VERSIONED, "vectorise A_loc 3"),
    "too-wide": (MM, *VERSIONED, "vectorise A_loc 8"),
    "not-asked-for": (MM, *STAGED, "vectorise A_loc 4"),
    "narrow-tile": (MM, *VERSIONED, "vectorise B_loc 16"),
    "between-vectors": (
        PLACED.replace("AT", "1"),
        *COPIED,
        "copy-to-local a ii",
        "vectorise a_loc 2",
    ),
    "version-of-nothing": (MM, *TILED, "version iii 4"),
    "version-not-of-numbers": (FIXED, *STAGED, "version iii 4"),
    "version-inside": (MM, *STAGED, "version jjj 4"),
    "version-width": (MM, *STAGED, "version iii 5"),
    "pack-nothing": (MM, *TILED, "pack iii 4 3"),
    "pack-numbers": (FIXED, *STAGED, "pack iii 4 3"),
    "pack-inside": (MM, *STAGED, "pack jjj 4 3"),
    "pack-width": (MM, *STAGED, "pack iii 5 3"),
    "pack-least": (MM, *STAGED, "pack iii 4 some"),
    "narrow-part-of-a-shape": (MM, *PARTS, "index32 i#1"),
    "narrow-inside": (MM, *STAGED, "index32 jjj"),
    "narrow-without-rows": (PLACED.replace("AT", "0"), *COPIED, "index32 ii"),
    "lanes-not-a-rectangle": (MM, *TILED, "warp-tile iii 4 x"),
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


@pytest.mark.parametrize("case", ["vectors", "narrow", "lanes"])
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
