"""Specialise: numbers in place of sizes."""

from __future__ import annotations

import numpy as np
import pytest
from c_texts import FLAT, MM, STAGED
from conftest import Golden
from deriving import c, derived, refusal, shown

from loopxform.codegen import emit
from loopxform.codegen.host.guards import conditions
from loopxform.ir.nodes import Function
from loopxform.verify.interp import Program

NUMBERS = ("specialise M 8", "specialise U 5", "specialise N 7")
ONE = c("for (int i = 0; i < n; i++) a[i] = a[i] + n;", "int n, float a[n]")
BYTES = c("for (int i = 0; i < n; i++) a[i] = n;", "unsigned char n, float a[n]")
MOVES = c("n = n / 2; for (int i = 0; i < n; i++) a[i] = 1;", "int n, float a[n]")

LISTINGS = {
    "rows": (MM, *NUMBERS),
    "flat": (FLAT, "specialise n 6"),
    "zero": (ONE, "specialise n 0"),
}

REFUSALS = {
    "unknown": (MM, "specialise X 4"),
    "array": (MM, "specialise A 4"),
    "negative": (MM, "specialise M -4"),
    "large": (MM, "specialise M 2147483648"),
    "no-number": (MM, "specialise M N"),
    "changes": (MOVES, "specialise n 4"),
    "twice": (MM, "specialise M 4", "specialise M 5"),
    "character": (BYTES, "specialise n 4"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(shown(derived(text, *steps)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


@pytest.mark.parametrize("steps", [NUMBERS, NUMBERS[1:], (*NUMBERS, *STAGED)], ids=len)
def test_the_same_for_these_sizes(steps: tuple[str, ...]) -> None:
    done = derived(MM, *steps)
    rng = np.random.default_rng(3)

    def result(fn: Function) -> np.ndarray:
        a, b = rng.random((8, 5)).astype("f"), rng.random((5, 7)).astype("f")
        args = {"M": 8, "U": 5, "N": 7, "A": a, "B": b, "C": np.zeros((8, 7), "f")}
        Program(fn).run(args)
        return args["C"]  # type: ignore[return-value]

    expected = result(done.start)
    rng = np.random.default_rng(3)
    assert np.array_equal(expected, result(done.function))


def test_other_sizes_are_asked_for() -> None:
    done = derived(MM, *NUMBERS[:2])
    asked = [x.why for x in conditions(done.start, done.function)]
    assert "the assumption M == 8 does not hold" in asked
    assert "the assumption U == 5 does not hold" in asked


def test_no_version_for_what_is_known() -> None:
    """Rows are vectors, and elements are few."""
    sizes = {"Ty*Ry": "16", "Tx*Rx": "8", "Ry": "8", "Rx": "4", "Tk": "4"}
    staged = [" ".join(sizes.get(w, w) for w in s.split()) for s in STAGED]
    fixed = ("specialise M 16", "specialise U 8", "specialise N 12")
    done = derived(MM, *fixed, *staged, "index32 iii", "vectorise A_loc 4", "vectorise B_loc 4")
    plan = emit.kernel(done)
    assert len(plan.kernels) == 1
    assert "LX_VECTOR(float4, 4, &A[" in plan.source
    assert "ptrdiff_t" not in plan.source
    assert [p.name for p in plan.kernels[0].arguments if not hasattr(p, "param")] == []
