"""Random loops of two branches: where each has a loop of its own, they compute the same."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from random_nests import lowered

from loopxform.ir.nodes import Function
from loopxform.transforms import Derivation, DistributeBranches
from loopxform.verify.interp import Program

PLACES = ("i", "i", "i", "i + 1", "i - 1", "i + 2", "0", "2*i")
HEADS = ("for (int i = 1; i < n; i++)", "for (int i = n; i > 0; i--)")


def _branch(rng: random.Random) -> str:
    arrays, at = ("a", "c", "a", "c", "e"), [rng.choice(PLACES) for _ in range(3)]
    target, *read = (f"{rng.choice(arrays)}[{x}]" for x in at)
    text = f"{target} {rng.choice(['=', '=', '+='])} {read[0]} * 2 - {rng.choice(read)};"
    if rng.random() < 0.2:
        text = f"for (int k = 0; k < 3; k++) {text.replace('[i]', '[i + k]')}"
    return f"{{ {text} }}"


def _function(rng: random.Random) -> str:
    cond = rng.choice(["b[i] > 0", "b[i] > b[i - 1]", "i < m", "b[i] > 0 && i != m", "a[i] > 0"])
    loop = f"{rng.choice(HEADS)} if ({cond}) {_branch(rng)} else {_branch(rng)}"
    arrays = ", ".join(f"float {x}[restrict 40]" for x in "abce")
    return f"void f(int n, int m, {arrays}) {{ {loop} }}"


def _results(fn: Function, seed: int) -> list[dict[str, Any]]:
    rng, out, program = np.random.default_rng(seed), [], Program(fn)
    for n, m in ((0, 0), (1, 1), (2, 1), (9, 4), (12, 20)):
        args = {"n": n, "m": m} | {x: rng.uniform(-1, 1, 40).astype(np.float32) for x in "abce"}
        program.run(args)
        out.append({x: args[x] for x in "abce"})
    return out


@pytest.mark.parametrize("count", [60, pytest.param(800, marks=pytest.mark.slow)])
def test_random_branches(count: int) -> None:
    print(f"seeds branches 0 to {count - 1}")
    accepted = 0
    for n in range(count):
        text = _function(random.Random(f"branches {n}"))
        start = Derivation(lowered(text))
        after, refusal = start.optional(DistributeBranches("i"))
        if refusal is not None:
            continue
        accepted += 1
        for before, now in zip(_results(start.function, n), _results(after.function, n)):
            assert all(np.array_equal(before[x], now[x]) for x in before), f"seed {n}: {text}"
    assert count / 5 < accepted < count, accepted
