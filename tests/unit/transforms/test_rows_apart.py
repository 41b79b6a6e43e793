"""Rows that row starts tell apart, which are parallel where these ascend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import Golden
from deriving import c, derived, refusal, shown

from loopxform.transforms import replay
from loopxform.verify.interp import Program

PARAMS = "int n, int m, int p[n + 1], int v[m], int y[m], int z[n]"
STEP = "rows-apart r"


def rows(body: str, header: str = "int k = p[r]; k < p[r + 1]; k++", params: str = PARAMS) -> str:
    inside = f"int s = 0; for ({header}) {{ {body} }} z[r] = s;"
    return c(f"for (int r = 0; r < n; r++) {{ {inside} }}", params)


def cells(body: str) -> str:
    return c(f"for (int r = 0; r < n; r++) {{ {body} }}", f"const int len, {PARAMS}")


LISTINGS = {
    "segments": (rows("s += v[k]; y[k] = s;"), STEP),
    "in-place": (rows("y[k] = y[k] * 2;"), "rows-apart r sorted"),
    "of-the-element-before": (
        rows("y[k] = y[k - 1] + v[k];", "int k = p[r] + 1; k < p[r + 1]; k++"), STEP,
    ),
    "of-the-next-one": (rows("y[k] = y[k + 1] + v[k];", "int k = p[r]; k < p[r + 1] - 1; k++"),
                        STEP),
    "backwards": (rows("s += v[k]; y[k] = s;", "int k = p[r + 1] - 1; k >= p[r]; k--"), STEP),
    "long": (
        rows("y[k] = k;", "long k = p[r]; k < p[r + 1]; k++"), STEP,
    ),
    "two-loops": (
        c("for (int r = 1; r <= n; r++) { for (int k = p[r - 1]; k < p[r]; k++) y[k] = v[k]; "
          "for (int k = p[r - 1]; k < p[r]; k++) y[k] *= 3; }", PARAMS), STEP,
    ),
    "of-one-length": (cells("for (int i = 0; i < 3; i++) y[p[r] + i] += v[r];"), STEP),
    "of-one-length-from-a-scalar": (
        cells("int s = p[r]; for (int k = 0; k < z[r]; k++) for (int i = 0; i < 2; i++) "
              "y[s + 2 - i] += y[s + 1] + k;"), STEP,
    ),
    "of-a-length-that-is-given": (
        cells("int s = p[r]; for (int i = 0; i < len; i++) y[s + i] = 2 * y[s + i] + v[i];"), STEP,
    ),
    "of-one-element": (cells("y[p[r]] = 2 * y[p[r]] + v[r];"), STEP),
}  # fmt: skip

REFUSALS = {
    "no-starts": (rows("y[k] = s;", "int k = 0; k < n; k++"), STEP),
    "the-row-before": (rows("y[k] = y[k - 1] + v[k];"), STEP),
    "beyond-the-row": (rows("y[k + 1] = v[k];"), STEP),
    "an-end-of-its-own": (rows("y[k] = s;", "int k = p[r]; k < p[r] + z[r]; k++"), STEP),
    "two-rows": (rows("y[k] = s;", "int k = p[r]; k < p[r + 2]; k++"), STEP),
    "every-other-row": (
        c("for (int r = 0; r < n; r += 2) for (int k = p[r]; k < p[r + 1]; k++) y[k] = r;", PARAMS),
        STEP,
    ),
    "starts-that-are-set": (rows("y[k] = k; p[r] = 0;"), STEP),
    "read-of-another-row": (rows("y[k] = v[k] + y[0];"), STEP),
    "scattered": (rows("y[v[k]] = k;"), STEP),
    "summed-up": (rows("y[k] = v[k]; z[0] += v[k];"), STEP),
    "under-a-condition": (
        c("for (int r = 0; r < n; r++) if (z[r] > 2) for (int k = p[r]; k < p[r + 1]; k++) "
          "y[k] = r;", PARAMS), STEP,
    ),
    "starts-of-another-sign": (
        rows("y[k] = k;", params=PARAMS.replace("int p", "unsigned p")), STEP,
    ),
    "an-unsigned-start-that-may-wrap-around": (
        rows("y[k] = y[k + 1];", "unsigned k = p[r]; k < p[r + 1] - 1; k++",
             PARAMS.replace("int p", "unsigned p")), STEP,
    ),
    "parallel": (rows("s += v[k];"), "parallelise r", STEP),
    "of-a-length-that-differs": (cells("for (int i = 0; i < z[r]; i++) y[p[r] + i] = r;"), STEP),
    "of-one-length-and-elsewhere": (
        cells("for (int i = 0; i < 2; i++) y[p[r] + i] = y[i] + r;"), STEP,
    ),
    "of-one-length-in-rows-that-may-not-run": (
        cells("if (z[r] > 1) for (int i = 0; i < 2; i++) y[p[r] + i] = r;"), STEP,
    ),
    "of-one-length-behind-the-start-of-the-row-before": (
        cells("int s = y[r]; for (int i = 0; i < 2; i++) y[s + i] = r; s = p[r];"), STEP,
    ),
    "of-one-length-from-unsigned-starts": (
        cells("for (int i = 0; i < 2; i++) y[p[r] + i] += r;").replace("int p", "unsigned p"), STEP,
    ),
    "of-one-length-from-a-start-cut-short": (
        cells("char s = p[r]; for (int i = 0; i < 2; i++) y[s + i] += r;"), STEP,
    ),
}  # fmt: skip

STARTS = ([0], [2, 2], [0, 3], [0, 0, 4, 4, 9], [1, 3, 9, 2, 5], [4, 0, 4, 0], [9, 5, 1])


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    """With starts that ascend and others, in any order of the rows where these run together."""
    text, *steps = LISTINGS[name]
    done = derived(text, *steps)
    golden.check(shown(done))
    assert replay(derived(text, *steps[:-1]), [done.records[-1].step.to_json()]) == done
    for starts in STARTS:
        for order in (None, 1, 2):
            args, expected = given(starts), given(starts)
            Program(done.start).run(expected)
            Program(done.function).run(args, order_seed=order)
            assert all(np.array_equal(args[name], expected[name]) for name in "yz")


def given(starts: list[int]) -> dict[str, Any]:
    rng = np.random.default_rng(len(starts))
    arrays = {n: rng.integers(0, 9, 12).astype(np.int32) for n in "vy"}
    z = np.zeros(len(starts) - 1, np.int32)
    return {
        "len": 2,
        "n": len(starts) - 1,
        "m": 12,
        "p": np.array(starts, np.int32),
        "z": z,
        **arrays,
    }


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    text, *steps = REFUSALS[name]
    golden.check(refusal(text, *steps))


def test_a_length_that_no_int_holds() -> None:
    """Rows that would be longer than that are not taken for short ones."""
    store = "if (i < 1 && j < 1) y[s + i + j + k] = y[s + i + j + k] * 3 + r;"
    inner = f"for (int k = 0; k < 2; k++) {store}"
    outer = (f"for (int {x} = 0; {x} < len; {x} += 900000000)" for x in "ij")
    done = derived(cells(f"int s = p[r]; {' '.join(outer)} {inner}"), STEP)
    starts = [1, 2, 3, 4, 5]
    for order in range(3):
        args, expected = ({**given(starts), "len": 1100000000} for _ in range(2))
        Program(done.start).run(expected)
        Program(done.function).run(args, order_seed=order)
        assert np.array_equal(args["y"], expected["y"])
