"""NarrowFunctions: quotients and functions of floats in float, where their values only end in
floats."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Golden
from deriving import c, derived, refusal, shown

from loopxform.floating_point import PERMITTED
from loopxform.offload.program import offload
from loopxform.transforms import step
from loopxform.verify.interp import Program

PARAMS = (
    "int n, const float x[n], const float y[n], const double d[n], float z[n],"
    " double w[n], int k[n]"
)


def loop(*values: str) -> str:
    stores = "".join(f"z[i] = {value}; " for value in values)
    return c(f"for (int i = 0; i < n; i++) {{ {stores}}}", PARAMS)


NARROWED = {
    "root": "sqrt(x[i])",
    "over-a-root": "y[i] + 1.0f / sqrt(0.0001f + x[i] * x[i])",
    "quotient": "-1.0 / (double)y[i]",
    "by-an-integer": "d[i] + x[i] / 3.0",
    "product-with-a-root": "x[i] * (-2.0 / sqrt(y[i]))",
    "sum-of-three": "x[i] + sqrt(y[i]) - x[i]",
    "with-whole-numbers": "1 + k[i] - (x[i] < 1 ? sqrt(x[i]) : k[i])",
    "bounded": "d[i] - sin(x[i]) + 1.0 / sqrt(y[i])",
    "root-of-a-root": "sqrt(sqrt(x[i]))",
    "function": "pow(x[i], 2.5)",
    "choice": "x[i] < y[i] ? -log(x[i]) : 0.5 * x[i]",
    "conversion": "y[i] * (float)(1 / sqrt(x[i]))",
}
KEPT = {
    "product-of-functions": "exp(x[i]) * exp(-y[i])",
    "quotient-of-functions": "exp(x[i]) / exp(y[i])",
    "function-of-a-quotient": "sqrt(1.0 / x[i])",
    "of-doubles": "sqrt(d[i]) + 1 / d[i]",
    "constant-that-is-no-float": "x[i] / 0.1",
    "large-over-a-root": "x[i] * (1e30 / sqrt(y[i]))",
    "integer": "sqrt(n) + 1.0 / n",
    "argument": "sin(0.1 * x[i])",
    "compared": "1.0 / x[i] < d[i]",
    "sum-of-large": "exp(x[i]) - exp(y[i])",
    "sum-of-quotients": "x[i] - 1.0 / y[i]",
    "sum-of-products": "d[i] - x[i] * (-2.0 / sqrt(y[i]))",
    "infinite": "1e999 / x[i]",
}
DOUBLES = c(
    "for (int i = 0; i < n; i++) { w[i] = 1 / sqrt(x[i]); double t = sqrt(y[i]); z[i] = t; }",
    PARAMS,
)
UPDATES = c(
    "for (int i = 0; i < n; i++) { z[i] += sqrt(x[i]); z[i] *= sqrt(y[i]); z[i] -= exp(x[i]); }",
    PARAMS,
)
LISTINGS = {"values": (loop(*NARROWED.values()), "narrow-functions i")}
REFUSALS = {
    "kept": (loop(*KEPT.values()), "narrow-functions i"),
    "doubles": (DOUBLES, "narrow-functions i"),
    "no-such-loop": (UPDATES, "narrow-functions q"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(shown(derived(*LISTINGS[case])))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))


def test_updates() -> None:
    after = shown(derived(UPDATES, "narrow-functions i"))
    assert "z[i] += sqrtf(x[i])" in after
    assert "z[i] *= sqrt((double)y[i])" in after
    assert "z[i] -= exp((double)x[i])" in after


@pytest.mark.parametrize("case", NARROWED)
def test_error(case: str) -> None:
    """What is stored differs by a few units in the last place of the largest term."""
    n, rng = 400, np.random.default_rng(3)
    x, y = (np.exp2(rng.uniform(-20, 20, n)).astype(np.float32) for _ in range(2))
    x[::7] = 2.0**40
    d = rng.uniform(-1, 1, n)
    text = loop(NARROWED[case])
    start = derived(text)
    found = []
    for fn in (start.function, start.then(step("narrow-functions i")).function):
        args = {"n": n, "x": x, "y": y, "d": d, "z": np.zeros(n, np.float32), "w": np.zeros(n)}
        args["k"] = np.arange(n, dtype=np.int32) * 12345 + 16777217
        Program(fn).run(args)
        found.append(args["z"].astype(np.float64))
    largest = np.max([np.abs(found[0]), x, y], axis=0)
    assert np.all(np.abs(found[0] - found[1]) <= 4 * 2.0**-23 * largest)


def test_sums_stay_in_double() -> None:
    """What is large and goes away again takes nothing of a root with it."""
    n, x = 1, np.array([2.0], np.float32)
    for value in ("y[i] + sqrt(x[i]) - y[i]", "k[i] - sqrt(x[i]) + d[i]"):
        fn = derived(loop(value), "narrow-functions i").function
        args = {"n": n, "x": x, "y": x * 1e9, "d": np.array([-16777217.0])}
        args |= {"k": np.array([16777217], np.int32), "w": np.zeros(n)}
        args["z"] = np.zeros(n, np.float32)
        Program(fn).run(args)
        assert abs(abs(args["z"][0]) - 2**0.5) < 1e-6


@pytest.mark.parametrize("level", ["reassociate", "fast"])
def test_only_where_permitted(level: str) -> None:
    done = offload(derived(loop("sqrt(x[i])")).start, {}, fp=PERMITTED[level])
    steps = [str(r.step) for r in done.derivation.records]
    assert ("narrow-functions i" in steps) == (level == "fast")
