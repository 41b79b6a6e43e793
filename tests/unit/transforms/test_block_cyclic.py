"""BlockCyclic: the elements of a tile dealt out to work-items in turns."""

from __future__ import annotations

import pytest
from c_texts import MM, STAGED
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.codegen import emit

NUMBERS = {"Ty*Ry": "8", "Tx*Rx": "8", "Ry": "4", "Rx": "4", "Tk": "2"}


def numbered(step: str) -> str:
    for name, number in NUMBERS.items():
        step = step.replace(name, number)
    return step


TILES = (*map(numbered, STAGED), "copy-to-private A_loc k", "copy-to-private B_loc k")
MAPPED = (*TILES, "clamp-edges acc")
DEALT = ("block-cyclic ii* i 2", "block-cyclic jj* j 2")

ROW = c("for (int i = 1; i < n; i++) { BODY }", "int n, float b[n], float x[n + 9]")
STRIPS = ("parallelise i", "stripmine i 64 iii", "stripmine i 4 ii", "sequentialise i")
ITEMS = (*STRIPS, "normalise i", "map iii group.x", "map ii thread.x")


def row(body: str, *steps: str) -> tuple[str, ...]:
    return (ROW.replace("BODY", body), *ITEMS, *steps)


REFUSALS = {
    "unknown": (MM, *MAPPED, "block-cyclic z i 2"),
    "group": (MM, *MAPPED, "block-cyclic iii i 2"),
    "more-than-all": row("b[i] = x[i];", "block-cyclic ii i 8"),
    "no-divisor": row("b[i] = x[i];", "block-cyclic ii i 3"),
    "no-number": row("b[i] = x[i];", "block-cyclic ii i Ty"),
    "no-elements": row("b[i] = x[i];", "block-cyclic ii k 2"),
    "other-numbers": (
        ROW.replace("BODY", "b[i] = x[i];"),
        *STRIPS,
        *("map iii group.x", "map ii thread.x", "block-cyclic ii i 2"),
    ),
    "the-others-stay": (MM, *MAPPED, "block-cyclic ii#1 i 2"),
    "other-bounds": (
        c(
            "for (int p = 0; p < M; p++) for (int q = 0; q < 24; q++) A[p][q] += B[p][q];",
            "int M, float A[M][24], float B[M][24]",
        ),
        *("parallelise p", "parallelise q", "stripmine q 4 qq", "split qq 8", "sequentialise q*"),
        *("normalise q* body", "map p group.x", "map qq* thread.x", "block-cyclic qq* q 2"),
    ),
    "more-than-its-elements": row(
        "b[i] = x[i - 1] + x[i];",
        *("copy-to-local x iii", "copy-to-private x_loc ii", "block-cyclic ii i 2"),
    ),
}


def test_listing(golden: Golden) -> None:
    golden.check(assert_step(MM, *MAPPED, *DEALT))


def test_arrays_of_the_function_are_no_registers(golden: Golden) -> None:
    """Unlike those in its loops, they have elements of all work-items."""
    source = c(
        "float w[max]; for (int i = 1; i < n; i++) w[i] = x[i]; "
        "for (int j = 1; j < n; j++) b[j] = w[j];",
        "int n, float b[n], float x[n + 9]",
    ).replace("max", "n + 1")
    golden.check(assert_step(source, *ITEMS, "block-cyclic ii i 2"))


def test_kernel(golden: Golden) -> None:
    golden.check(emit.kernel(derived(MM, *MAPPED, *DEALT)).source)


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
