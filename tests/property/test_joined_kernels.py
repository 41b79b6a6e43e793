"""Random steps of the host, with what one work-item does between nests, in loops that count and in
loops that data end: the text of the kernels computes what the program says."""

from __future__ import annotations

import copy
from random import Random

import numpy as np
import pytest

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

HEAD = """\
#include <math.h>
void f(int n, int m, double a[restrict n], double b[restrict n], double s[restrict 8],
       int out[restrict 4])
"""
NESTS = (
    "for (int i = 0; i < n; i++) {0}[i] = {0}[i] * 0.5 + {1};",
    "for (int i = 1; i < n; i++) {0}[i] = {2}[i - 1] + {1};",
    "for (int i = 0; i < 5; i++) {0}[i] += {1};",
    "for (int i = k + 1; i < n; i++) {0}[i] = {2}[k] - {1};",
    "e = 0; for (int i = 0; i < n; i++) e = fmax(e, fabs({0}[i]));",
)
SINGLES = ("s[{3}] = s[{4}] + {1};", "{0}[k] = s[{3}];", "s[{3}] = {0}[k] * 0.25;", "d = d + {1};")
VALUES = ("1", "s[1]", "d", "e", "k", "0.5")


def program(seed: int) -> str:
    """A function of steps; `k` counts them."""
    rng = Random(seed)

    def line(texts: tuple[str, ...]) -> str:
        one, other = rng.sample(("a", "b"), 2)
        numbers = (rng.randrange(8), rng.randrange(8))
        return rng.choice(texts).format(one, rng.choice(VALUES), other, *numbers)

    body = [line(NESTS if rng.random() < 0.5 else SINGLES) for _ in range(rng.randrange(3, 8))]
    body.append(line(NESTS[:1]))
    text = "\n    ".join(body)
    loop = rng.choice(
        (
            "for (k = 0; k < m; k++) {{\n    {0}\n  }}",
            "k = 0; while (d < m) {{\n    {0}\n    d = d + 1; k++;\n  }}",
        )
    )
    whole = f"double d = 0, e = 1; int k;\n  {loop.format(text)}"
    return f"{HEAD}{{\n  {whole}\n  out[0] = k; s[0] += d + e;\n}}"


def assert_kernels_agree(seed: int) -> bool:
    """Whether kernels of the program were joined."""
    text = program(seed)
    routine = lx.loads(text)["f"].offload(contract=False)
    p = emit.kernel(routine.derivation, fp=SEPARATE)
    for sizes in ({"n": 9, "m": 4}, {"n": 300, "m": 2}):
        given = arguments(p.start, sizes, seed)
        after = copy.deepcopy(given)
        execute(p, after, seed=seed)
        Program(p.start).run(given)
        found = compare({k: v for k, v in given.items() if isinstance(v, np.ndarray)}, after)
        assert not found, (text, found)
    return any("join-kernels" in str(r.step) for r in routine.derivation.records)


def test_random_steps() -> None:
    joined = [assert_kernels_agree(seed) for seed in range(3)]
    assert any(joined)


@pytest.mark.slow
def test_more_random_steps() -> None:
    joined = sum(assert_kernels_agree(seed) for seed in range(100, 112))
    assert joined >= 6
