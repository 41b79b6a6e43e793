"""Pad: staged tiles filled with numbers that change nothing, in place of bounds checks."""

from __future__ import annotations

import pytest
from c_texts import MAPPED, MM, STAGED
from conftest import Golden
from deriving import assert_step, derived, refusal, shown

from loopxform.transforms import step

REGISTERS = (*STAGED, "copy-to-private A_loc k", "copy-to-private B_loc k")


def reduced(body: str, *, type: str = "float", init: str = "0") -> str:
    """The matrix product with another body and another type."""
    out = MM.replace("acc += A[i][k] * B[k][j];", body).replace("acc = 0", f"acc = {init}")
    return out.replace("float", type)


LISTINGS = {
    "redomap": (
        MM,
        *REGISTERS,
        "clamp-edges acc",
        "pad kk",
    ),
    "with-the-checks-at-the-edges": (
        MM,
        *STAGED,
        "pad kk",
    ),
    "and-an-epilogue": (
        MM,
        *STAGED,
        "clamp-edges acc",
        "pad kk",
        "split kk full-tiles",
    ),
    "squared-differences": (
        reduced("{ float d = A[i][k] - B[k][j]; acc += d * d; }"),
        *STAGED,
        "clamp-edges acc",
        "pad kk",
    ),
    "greatest": (
        reduced("if (A[i][k] + B[k][j] > acc) acc = A[i][k] + B[k][j];", init="-1e30f"),
        *STAGED,
        "pad kk",
    ),
    "counted": (
        reduced("if (A[i][k] < B[k][j]) acc++;", type="int"),
        *STAGED,
        "pad kk",
    ),
    "a-neighbour-is-read-as-well": (
        reduced("acc += A[i][k] * A[i][k + 1] * B[k][j];", type="unsigned").replace(
            "A[M][U]", "A[M][99]"
        ),
        *STAGED,
        "pad kk",
    ),
    "every-second-element": (
        reduced("acc += A[i][2 * k] * B[k][j];").replace("A[M][U]", "A[M][99]"),
        *STAGED,
        "pad kk",
    ),
    "the-same-for-all": (
        reduced("acc += A[i][k] * B[k][j] * C[i][j];", type="int")
        .replace("C[i][j] = ", "D[i][j] = ")
        .replace("(int M", "(int D[][99], int M"),
        *STAGED,
        "pad kk",
    ),
}

REFUSALS = {
    "overflow": (
        reduced("acc += A[i][k] * A[i][k + 1] * B[k][j];", type="int").replace(
            "A[M][U]", "A[M][99]"
        ),
        *STAGED,
        "pad kk",
    ),
    "division": (
        reduced("acc += A[i][k] / B[k][j];"),
        *STAGED,
        "pad kk",
    ),
    "one-factor-is-not-padded": (
        MM,
        *MAPPED,
        "copy-to-local A kk",
        "pad kk",
    ),
    "registers-from-global-memory": (
        reduced("acc += A[i][k] * B[k][j];", type="int").replace("M", "12").replace("int 12, ", ""),
        *MAPPED,
        "copy-to-local B kk",
        "copy-to-private A k",
        "pad kk",
    ),
    "infinite-times-zero": (
        reduced("acc += A[i][k] * B[k][j] * C[i][j];")
        .replace("C[i][j] = ", "D[i][j] = ")
        .replace("(int M", "(float D[][99], int M"),
        *STAGED,
        "pad kk",
    ),
    "nothing-neutral": (
        reduced("acc = acc * 0.5f + A[i][k] * B[k][j];"),
        *STAGED,
        "pad kk",
    ),
    "subscript": (
        reduced("acc += w[A[i][k]] * B[k][j];", type="int").replace("(int M", "(int w[9], int M"),
        *STAGED,
        "pad kk",
    ),
    "only-under-a-condition": (
        reduced("if (A[i][k] == w[0][0]) acc += w[i][j] * B[k][j];", type="int").replace(
            "(int M", "(int w[][99], int M"
        ),
        *STAGED,
        "pad kk",
    ),
    "not-staged": (
        MM,
        *MAPPED,
        "pad kk",
    ),
    "unknown": (
        MM,
        "pad x",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


NEUTRAL = {
    "acc -= A[i][k] * B[k][j];": ("float", "0.0", "0.0"),
    "acc *= A[i][k] * B[k][j];": ("double", "1.0", "1.0"),
    "acc = fmaxf(acc, A[i][k] - B[k][j]);": ("float", "0.0", "nan"),
    "acc += sqrtf(A[i][k] * B[k][j]);": ("float", "0.0", "-0.0"),
    "acc += fabsf(A[i][k] - B[k][j]);": ("float", "0.0", "0.0"),
    "acc += A[i][k] * B[k][j];": ("int", "0", "0"),
    "acc = A[i][k] && B[k][j] && acc;": ("_Bool", "1", "1"),
    "acc ^= A[i][k] & B[k][j];": ("long", "0", "0"),
    "acc &= A[i][k] | B[k][j];": ("unsigned char", "0", "255"),
    "acc = acc < A[i][k] + B[k][j] ? acc : A[i][k] + B[k][j];": ("int", "0", "2147483647"),
}


@pytest.mark.parametrize("body", NEUTRAL)
def test_padding(body: str) -> None:
    """The padding of A and of B, and that the program means the same."""
    type, *pads = NEUTRAL[body]
    text = assert_step("#include <math.h>\n" + reduced(body, type=type), *STAGED, "pad kk")
    for name, pad in zip(("A_loc", "B_loc"), pads):
        assert f"{name} is {pad}" in text
        assert f"collectively, {pad} past U" in text


def test_a_sum_that_may_be_minus_zero_needs_minus_zero() -> None:
    """-0.0 + 0.0 is 0.0; squares are never -0.0, so there is no padding for their sum."""
    body = "acc += A[i][k] * A[i][k] + B[k][j] * B[k][j];"
    derived(reduced(body), *STAGED, "pad kk")
    before = derived(reduced(body, init="C[i][j]"), *STAGED)
    assert step("pad kk").check(before.function)


def test_whole_tiles_need_none() -> None:
    text = MM.replace("U", "8").replace("int 8, ", "")
    assert "if (kk" not in shown(derived(text, *STAGED, "split kk full-tiles"))
    assert "no bounds check" in refusal(text, *STAGED, "pad kk")
