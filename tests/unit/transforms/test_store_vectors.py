"""Store-vectors: results that lie together are stored at once."""

from __future__ import annotations

import pytest
from c_texts import MAPPED, MM
from conftest import Golden
from deriving import assert_step, derived, refusal

from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE

SIZES = {"Ty*Ry": "16", "Tx*Rx": "8", "Ry": "8", "Rx": "4", "Tk": "4"}
TILED = tuple(" ".join(SIZES.get(w, w) for w in step.split()) for step in MAPPED)
STAGED = (*TILED, "copy-to-local B kk", "unroll i#3", "unroll j#3")
TURNS = ("unroll i*", "unroll j*", "block-cyclic jj* j 2")
EVEN = ("assume N%4==0",)
ASSUMED = (*STAGED, *EVEN)
LAST = "j#3"

LISTINGS = {
    "vectors": (MM, *ASSUMED, f"store-vectors {LAST} 4"),
    "pairs": (MM, *ASSUMED, f"store-vectors {LAST} 2"),
    "in-turns": (MM, *TILED, "copy-to-local B kk", *TURNS, *EVEN, "store-vectors j#3 2"),
}
REFUSALS = {
    "odd-rows": (MM, *STAGED, f"store-vectors {LAST} 4"),
    "no-width": (MM, *ASSUMED, f"store-vectors {LAST} 3"),
    "too-wide": (MM, *ASSUMED, f"store-vectors {LAST} 8"),
    "wider-than-turns": (
        *(MM, *TILED, "copy-to-local B kk", *TURNS),
        *(*EVEN, "store-vectors j#3 4"),
    ),
    "doubles": (MM.replace("float", "double"), *ASSUMED, f"store-vectors {LAST} 4"),
    "halves": (MM.replace("float", "_Float16"), *STAGED, f"store-vectors {LAST} 4"),
    "not-unrolled": (MM, *TILED, "copy-to-local B kk", *EVEN, "store-vectors j#3 4"),
    "of-registers": (MM, *TILED, "copy-to-local B kk", "unroll j#1", "store-vectors j#1 4"),
    "across-rows": (MM, *ASSUMED, "store-vectors i#3 4"),
    "work-items": (MM, *ASSUMED, "store-vectors jj#3 4"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 5, 8)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))


@pytest.mark.parametrize("case", LISTINGS)
def test_the_kernel(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    (made,) = emit.kernel(derived(text, *steps), fp=SEPARATE).kernels
    assert "LX_STORE(" in made.text
    golden.check(made.text[made.text.rindex("acc") - 400 :])


CHANGED = MM.replace("C[i][j] = acc", "C[i][j] += acc * C[i][j] - 1")
"""What is read before is read at once, too."""


def test_what_is_changed_is_read_at_once() -> None:
    (kernel,) = emit.kernel(derived(CHANGED, *ASSUMED, f"store-vectors {LAST} 4")).kernels
    assert kernel.text.count("LX_VECTOR(float4, 4, &C[") == 1
    assert "v.s3 + (acc[i][j + 3] * v.s3 - 1)" in kernel.text


def test_later_steps_may_not_change_the_loop() -> None:
    made = derived(MM, *ASSUMED, f"store-vectors {LAST} 4", "unroll j#3 2")
    with pytest.raises(Exception, match="cannot store vectors"):
        emit.kernel(made)
