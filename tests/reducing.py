"""Loops that reduce, and what comes of them in one order and in another."""

from __future__ import annotations

from typing import Any

import numpy as np
from deriving import arguments, c, derived, shown

from loopxform.verify.interp import Program


def loop(update: str, params: str = "int n, int a[n], int s[1]", before: str = "") -> str:
    """A loop over k that updates t, which begins and ends as s[0]."""
    kind = params.rsplit(",", 1)[1].split("s[1]")[0].strip()
    body = f"{kind} t = s[0]; {before} for (int k = 0; k < n; k++) {update} s[0] = t;"
    return c(body, params)


REAL = "int n, float a[n], float s[1]"


def shown_where_rounding_differs(text: str, *steps: str) -> str:
    """As `assert_step`, on whole numbers, whose sums are exact."""
    done = derived(text, *steps)
    for size in (0, 1, 4, 9):
        results = []
        for fn in (done.start, done.function):
            args = arguments(fn, size)
            whole(args)
            Program(fn).run(args, order_seed=size)
            results.append(args)
        for name, value in results[0].items():
            assert np.array_equal(value, results[1][name]), name
    return shown(done)


def whole(args: dict[str, Any]) -> None:
    for value in args.values():
        if isinstance(value, np.ndarray):
            value[...] = np.arange(value.size).reshape(value.shape) % 7 - 3


def results(text: str, values: list[Any], first: Any, step: str = "rfactor k 2") -> tuple[Any, Any]:
    """s[0] after the loop as written, and after it in parts."""
    done = derived(text, step)
    out = []
    for fn in (done.start, done.function):
        types = {p.name: p.type.numpy for p in fn.params}
        args = {"n": len(values), "a": np.array(values, types["a"])}
        args["s"] = np.array([first], types["s"])
        Program(fn).run(args)
        out.append(args["s"][0])
    return out[0], out[1]
