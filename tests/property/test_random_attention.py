"""Random attention: loops as people write them, and some that are none. What becomes nests of parts
of the iterations means the same, and so does what `online-softmax` accepts, but for rounding: in
the interpreter, and with work-items that stop at barriers.

Every failure names its seed; `program` turns it back into the text.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from deriving import c, start

from loopxform.codegen import emit
from loopxform.floating_point import PERMITTED
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import For, Function
from loopxform.offload.flattened import only_loop
from loopxform.offload.iteration_nests import iteration_nests
from loopxform.prepare.perfect_nest import told_apart
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Assume, Derivation, OnlineSoftmax
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

PARAMS = (
    "int h, int n, int m, int d, int l, float scale, const float q[restrict h][n][d], "
    "const float k[restrict h][m][d], const float v[restrict h][m][l], "
    "const float bias[restrict n][m], float y[restrict h][n][l]"
)
TILES = (("1,1", "2,2", "2"), ("2,2", "2,2", "2"), ("2,2", "1,4", "4"), ("3,2", "2,1", "2"))
"""Work-items, elements of each, terms in local memory."""


def program(seed: int) -> str:
    """A loop over heads and queries, or over queries alone."""
    rng = random.Random(seed)
    at = rng.choice(["[b][i]", "[b][i]", "[0][i]"])
    of = at.replace("[i]", "")
    score = rng.choice(["t", "t * scale", "t + bias[i][j]", "j <= i ? t : -INFINITY", "scale - t"])
    if rng.random() < 0.3:
        score = f"(j + i) % 3 ? {score} : -1e30f"
    first = rng.choice(["-INFINITY", "-INFINITY", "-1e30f", "0"])
    larger = rng.choice(
        ["if (w[j] > top) top = w[j];", "top = fmaxf(top, w[j]);", "top = w[j] > top ? w[j] : top;"]
    )
    together = rng.random() < 0.4
    dot = f"float t = 0; for (int c = 0; c < d; c++) t += q{at}[c] * k{of}[j][c]; w[j] = {score}; "
    largest = "" if together else f"for (int j = 0; j < m; j++) {larger}"
    weight = rng.choice(
        [
            "w[j] = expf(w[j] - top); sum += w[j];",
            "float e = expf(w[j] - top); w[j] = e; sum += e;",
        ]
    )
    divided, result = rng.choice(
        [
            ("", "t / sum"),
            ("", "scale * t / sum + 1"),
            ("float by = 1 / sum;", "t * by"),
            ("for (int j = 0; j < m; j++) w[j] /= sum;", "t"),
            ("for (int j = 0; j < m; j++) w[j] = w[j] / sum;", "t - scale"),
        ]
    )
    if rng.random() < 0.1:  # none
        weight = rng.choice([weight.replace("+=", "-="), weight.replace("- top", "- scale")])
    total = rng.choice(["0", "0", "1"])
    body = (
        f"float w[m], top = {first}, sum = {total}; "
        f"for (int j = 0; j < m; j++) {{ {dot}{larger if together else ''} }} {largest} "
        f"for (int j = 0; j < m; j++) {{ {weight} }} {divided} "
        f"for (int c = 0; c < l; c++) {{ float t = 0; "
        f"for (int j = 0; j < m; j++) t += w[j] * v{of}[j][c]; y{at}[c] = {result}; }}"
    )
    if rng.random() < 0.3:  # as many keys as there are queries, up to that of the query
        keys, short = rng.choice([("n", "i + 1"), ("n", "i"), ("n", "n - i"), ("n", "n")])
        body = body.replace("j < m", f"j < {short}").replace("w[m]", f"w[{keys}]")
    around = "for (int b = 0; b < h; b++) " if "b" in at else ""
    return c(f"{around}for (int i = 0; i < n; i++) {{ {body} }}", PARAMS)


def given(rng: np.random.Generator) -> dict[str, Any]:
    h, n, m, d, width = (int(rng.integers(low, 8)) for low in (1, 0, 0, 0, 0))
    h, n = min(h, 2), min(n, m)
    shapes = {"q": (h, n, d), "k": (h, m, d), "v": (h, m, width), "bias": (n, m)}
    args: dict[str, Any] = {"h": h, "n": n, "m": m, "d": d, "l": width, "scale": np.float32(0.5)}
    args |= {x: rng.standard_normal(s).astype(np.float32) for x, s in shapes.items()}
    if rng.random() < 0.3:
        args["k"][rng.random(args["k"].shape) < 0.1] = rng.choice([np.inf, -np.inf, np.nan, 90])
    return {**args, "y": np.full((h, n, width), 7, np.float32)}


def run(fn: Function, args: dict[str, Any]) -> Any:
    own = copy.deepcopy(args)
    with np.errstate(all="ignore"):
        Program(fn).run(own)
    return own["y"]


def assert_alike(found: Any, wanted: Any, seed: int) -> None:
    assert np.allclose(found, wanted, rtol=2e-4, atol=1e-5, equal_nan=True), (seed, program(seed))


def check(seed: int) -> Counter[str]:
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    fn = replace(start("#include <math.h>\n" + program(seed))[0].start, tiles=())
    fn = told_apart(Derivation(fn)).function
    site = only_loop(fn)
    assert site is not None
    nests = iteration_nests(Derivation(fn), site, PROFILES["generic"])
    if nests is None:
        return Counter(["no nests"])
    every = [given(numbers) for _ in range(3)]
    wanted = [run(fn, args) for args in every]
    for args, y in zip(every, wanted, strict=True):
        assert np.array_equal(run(nests.derivation.function, args), y, equal_nan=True), seed
    loops = tuple(s.var for s in nests.derivation.function.body if isinstance(s, For))
    items, elements, depth = rng.choice(TILES)
    pairs = tuple(items.split(",")), tuple(elements.split(","))
    step = OnlineSoftmax(loops, *pairs, "8", depth, reassociate="reassociate")
    if step.check(nests.derivation.function):
        return Counter(["nests"])
    asked = replace(step, groups="2")
    apart = nests.derivation.then(asked)
    assumed = (Assume(condition_text(e)) for e in step.asked(nests.derivation.function))
    alone = nests.derivation.run((*assumed, step))
    plan = emit.kernel(alone, fp=PERMITTED["reassociate"])
    for n, (args, y) in enumerate(zip(every, wanted, strict=True)):
        assert_alike(run(apart.function, args), y, seed)
        assert_alike(run(alone.function, args), y, seed)
        if n == 0:
            with np.errstate(all="ignore"):
                execute(plan, args, seed=seed)
            assert_alike(args["y"], y, seed)
    return Counter(["one kernel"])


@pytest.mark.parametrize("programs", [3, pytest.param(30, marks=pytest.mark.slow)])
def test_random_attention(programs: int) -> None:
    found = sum(map(check, range(programs)), Counter[str]())
    assert found["one kernel"] >= programs // 2, found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1040, 20))
def test_many_random_attention(seed: int) -> None:
    sum((check(n) for n in range(seed, seed + 20)), Counter[str]())
