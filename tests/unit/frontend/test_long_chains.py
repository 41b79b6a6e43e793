"""Sums of hundreds of terms are read in parts, with the bits of C."""

from __future__ import annotations

import numpy as np
import pytest
from deriving import c

from loopxform.frontend import parse_file
from loopxform.frontend.lower.long_chains import TERMS
from loopxform.ir.nodes import Assign, Decl, For, Function
from loopxform.ir.types import DOUBLE, FLOAT, INT
from loopxform.ir.visit import walk
from loopxform.verify.interp import Program

PARAMS = "int n, const float a[n], const double d[n], const int k[n], float z[n], int w[n]"


def lowered(target: str, terms: list[str]) -> Function:
    text = c(f"for (int i = 0; i < n; i++) {target} = {' + '.join(terms)};", PARAMS)
    return parse_file("t.c", text=text).unit.functions[0]


def parts(fn: Function) -> list[Decl]:
    return [s for _, s in walk(fn.body) if isinstance(s, Decl)]


@pytest.mark.parametrize("count", [TERMS, TERMS + 2, 729])
def test_same_bits(count: int) -> None:
    rng = np.random.default_rng(count)
    factors = [f"{x:.4f}f" for x in rng.uniform(-1, 1, count)]
    fn = lowered("z[i]", [f"{x} * a[i]" for x in factors])
    a, z = rng.uniform(-1, 1, 3).astype(np.float32), np.zeros(3, np.float32)
    Program(fn).run({"n": 3, "a": a, "d": np.zeros(3), "k": np.zeros(3, np.int32), "z": z,
                     "w": np.zeros(3, np.int32)})  # fmt: skip
    expected = np.zeros(3, np.float32)
    for n, x in enumerate(factors):
        term = np.float32(float(x[:-1])) * a
        expected = term if n == 0 else expected + term
    assert np.array_equal(z, expected)
    assert len(parts(fn)) == max(0, -(-count // TERMS) - 1) - (count % TERMS == 1)


def test_types() -> None:
    """A part has the type of the sum so far."""
    mixed = lowered("z[i]", ["a[i]"] * (TERMS + 5) + ["d[i]"] * (2 * TERMS))
    assert [s.type for s in parts(mixed)] == [FLOAT, DOUBLE, DOUBLE]
    assert [s.type for s in parts(lowered("w[i]", ["k[i]"] * (2 * TERMS)))] == [INT]
    (loop,) = mixed.body
    assert isinstance(loop, For)
    kinds = [type(s) for s in loop.body]
    assert kinds == [Decl, Assign] * 3 + [Assign]
    assert INT not in {s.type for s in parts(mixed)}
