"""Store-vectors: results that lie together are stored at once."""

from __future__ import annotations

import pytest
from c_texts import MAPPED, MM
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE

SIZES = {"Ty*Ry": "16", "Tx*Rx": "8", "Ry": "8", "Rx": "4", "Tk": "4"}
TILED = tuple(" ".join(SIZES.get(w, w) for w in step.split()) for step in MAPPED)
STAGED = (*TILED, "copy-to-local B kk", "unroll i#3", "unroll j#3")
TURNS = ("unroll i*", "unroll j*", "block-cyclic jj* j 2")
EVEN = ("assume N%4==0",)
ASSUMED = (*STAGED, *EVEN)
LAST = "j#3"


def records(body: str, members: str = "float x, y, z;") -> str:
    """A loop over records."""
    params = "int n, float a[restrict n], struct p p[restrict 2 * n]"
    return f"struct p {{ {members} }};\n{c(f'for (int i = 0; i < n; i++) {{ {body} }}', params)}"


def groups(items: int, each: int) -> tuple[str, ...]:
    """Work-items that run so many iterations."""
    tiles = f"stripmine i {items * each}", f"stripmine i {each} iv", "map ii group.x"
    whole = "separate-full-tiles ii", "normalise i* body", "unroll i#1"
    return ("parallelise i", *tiles, "map iv thread.x", "sequentialise i", *whole)


FOURS = groups(4, 4)
STORE = "store-vectors i#1 2"
RECORDS = records("p[i].y = 2; p[i].z = a[i] + i; p[i].x = a[i];")

NO_RECORDS = {
    "records-and-more": records("p[i].x = p[i].y = p[i].z = a[i]; a[i] = 0;"),
    "two-members": records("p[i].x = a[i]; p[i].z = 1;"),
    "member-twice": records("p[i].x = a[i]; p[i].y = 1; p[i].x = 2;"),
    "two-types": records("p[i].x = a[i]; p[i].y = 1; p[i].z = 2;", "float x, y; int z;"),
    "with-a-gap": records("p[i].x = 1; p[i].z = 2;", "double x; float z;"),
    "nested": records("p[i].x = 1; p[i].in.y = 2;", "float x; struct { float y; } in;"),
    "members-read": records("p[i].x = p[i].y; p[i].y = 1; p[i].z = 2;"),
    "other-records": records("p[i].x = 1; p[i].y = 1; p[n + i].z = 2;"),
}
LISTINGS = {
    "vectors": (MM, *ASSUMED, f"store-vectors {LAST} 4"),
    "pairs": (MM, *ASSUMED, f"store-vectors {LAST} 2"),
    "records": (RECORDS, *FOURS, "store-vectors i#1 4"),
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
    "records-too-wide": (RECORDS, *FOURS, "store-vectors i#1 8"),
    "records-apart": (RECORDS.replace("p[i]", "p[2*i]"), *FOURS, STORE),
    "odd-records": (RECORDS, *groups(3, 3), STORE),
    **{name: (text, *FOURS, STORE) for name, text in NO_RECORDS.items()},
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
    golden.check(made.text[max(made.text.rfind("acc") - 400, 0) :])


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
