"""Searches as reductions leave behind what the C program does, wherever the first hit is.

Every array ends where it is declared to end, so that a read behind it is found.
"""

from __future__ import annotations

import random
from collections import Counter
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from loopxform import loads
from loopxform.prepare.searches import searches_as_reductions
from loopxform.prepare.while_loops import whole_loops
from loopxform.targets.target import GENERIC
from loopxform.verify.interp import Program

PROPERTIES = (
    *("a[i] == key", "a[i] > key", "a[i] + i > key", "b[i + 1] < a[i]", "a[i] / 3 == b[i]"),
    *("a[i] && b[i] > key", "b[i] != b[i + 1] || a[i] == key", "a[n - 1 - i] == key"),
    *("a[b[i]] > key", "a[i] / b[i] > key", "a[i + 1] == key"),
)
"""The last three are not defined for all iterations, the one before them is not proven to be."""
EXITS = ("pos = i;", "pos = a[i]; key = -1;", "pos = i + key; out[1] = pos;", "if (i > 2) pos = 9;")
FORMS = (
    "for (i = {lo}; i < n; i++) if ({c}) {{ {e} break; }}",
    "for (i = {lo}; i < n; i++) {{ int w = b[i] * 2;"
    " if (w > key) if ({c}) {{ {e} pos += w; break; }} }}",
    "for (i = {lo}; i < n; i++)"
    " {{ if (b[i] == 1) {{ int w = a[i]; if ({c}) {{ pos += w; break; }} }} }}",
    "for (i = {lo}; i < n && !({c}); i++) ;",
    "i = {lo}; while (n > i && !({c})) i++;",
    "i = {lo}; while (i < n) {{ if ({c}) {{ {e} break; }} i++; }}",
    "go = 1; for (i = {lo}; i < n && go; i++) if ({c}) {{ {e} go = 0; }}",
    "go = 0; for (i = {lo}; !go && i < n; i++) if (b[i] < 3) if ({c}) {{ go = 1; {e} }}",
    "for (i = {lo}; i < n; i++)"
    " if ({c}) {{ {e} break; }} else if (a[i] == 5) {{ pos = 5; break; }}",
    "for (i = {lo}; go && i < n; i++) if ({c}) go = 0;",
    "for (i = {lo}; i < n; i++) {{ out[2] = i; if ({c}) break; }}",
)


def text(rng: random.Random) -> str:
    lo = rng.choice(("0", "0", "1", "3"))
    form = rng.choice(FORMS).format(lo=lo, c=rng.choice(PROPERTIES), e=rng.choice(EXITS))
    return (
        "void f(int n, int key, const int a[restrict n], const int b[restrict n + 1],"
        f" int out[restrict 6]) {{ int i = 77, pos = -1, go = 3; {form}"
        " out[0] = pos; out[3] = i; out[4] = go; out[5] = key; }"
    )


def arguments(rng: random.Random) -> dict[str, Any]:
    n = rng.choice((0, 1, 2, 3, 5, 8))
    a, b = (np.array([rng.randint(0, 6) for _ in range(n + k)], "i4") for k in (0, 1))
    return {"n": n, "key": rng.randint(0, 8), "a": a, "b": b, "out": np.zeros(6, "i4")}


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_random_searches(part: int) -> None:
    """Every other one is cut into parts."""
    counts = Counter[str]()
    for seed in range(80):
        parts = (2, 5) if seed % 2 else GENERIC.search_parts
        rng = random.Random(f"{part} {seed}")
        source = text(rng)
        fn = loads(source)["f"].function
        found = searches_as_reductions(fn, parts)
        counts["left"] += bool(found.left)
        if found.fn is fn:
            continue
        counts["done"] += 1
        before, after = Program(whole_loops(fn)), Program(whole_loops(found.fn))
        for _ in range(12):
            given = arguments(rng)
            one, other = deepcopy(given), deepcopy(given)
            before.run(one)
            after.run(other)
            assert (one["out"] == other["out"]).all(), (source, given, one["out"], other["out"])
    assert counts["done"] > 20, counts
    assert counts["left"] > 5, counts
