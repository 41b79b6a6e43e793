"""Cases of `bench_loops.py`: sums and extrema of a whole array, of rows, and of columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from loop_cases import REORDERED, Arrays, Case

SIDE = 1 << 13
KINDS: dict[str, Any] = {"float": np.float32, "double": np.float64, "int": np.int32}
WHOLE = "{0} s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {1} y[0] = s;"


def _case(
    body: str, expected: Callable[[Arrays], Any], kind: str = "float", **options: Any
) -> Case:
    """A matrix `a` of n rows and a vector `x` as long as each, which are summed up in `y`."""
    dtype = KINDS[kind]

    def arguments(random: np.random.Generator, n: int) -> Arrays:
        a = random.integers(0, 5, (n, SIDE), dtype=np.int32).astype(dtype)
        x = random.integers(0, 3, SIDE, dtype=np.int32).astype(dtype)
        return {"n": n, "m": SIDE, "a": a, "x": x, "y": np.zeros(max(n, SIDE), dtype)}

    def results(given: Arrays) -> Arrays:
        y = np.atleast_1d(expected(given))
        return {f"y[:{len(y)}]": y.astype(dtype)}

    params = (
        f"int n, int m, const {kind} a[restrict n][m], const {kind} x[restrict m], "
        f"{kind} y[restrict {SIDE}]"
    )
    text = f"void f({params}) {{ {body} }}"
    moved = np.dtype(dtype).itemsize * SIDE
    return Case(text, arguments, lambda n: float(moved * n), results, SIDE, options)


ROWS = "for (int i = 0; i < n; i++) {{ {0} s = 0; for (int j = 0; j < m; j++) {1} y[i] = s; }}"
COLUMNS = "for (int j = 0; j < m; j++) { float s = 0; for (int i = 0; i < n; i++) %s y[j] = s; }"

CASES: dict[str, Case] = {
    "sum-int": _case(WHOLE.format("int", "s += a[i][j];"), lambda x: x["a"].sum(), "int"),
    "sum-any-order": _case(
        WHOLE.format("float", "s += a[i][j];"), lambda x: x["a"].sum(dtype=float), **REORDERED
    ),
    "sum-double-any-order": _case(
        WHOLE.format("double", "s += a[i][j];"), lambda x: x["a"].sum(), "double", **REORDERED
    ),
    "maximum-any-order": _case(
        WHOLE.format("float", "if (a[i][j] > s) s = a[i][j];"), lambda x: x["a"].max(), **REORDERED
    ),
    "sum-rows": _case(ROWS.format("float", "s += a[i][j];"), lambda x: x["a"].sum(1)),
    "sum-rows-any-order": _case(
        ROWS.format("float", "s += a[i][j];"), lambda x: x["a"].sum(1), **REORDERED
    ),
    "matvec": _case(ROWS.format("float", "s += a[i][j] * x[j];"), lambda x: x["a"] @ x["x"]),
    "matvec-any-order": _case(
        ROWS.format("float", "s += a[i][j] * x[j];"), lambda x: x["a"] @ x["x"], **REORDERED
    ),
    "sum-columns": _case(COLUMNS % "s += a[i][j];", lambda x: x["a"].sum(0)),
    "sum-columns-any-order": _case(COLUMNS % "s += a[i][j];", lambda x: x["a"].sum(0), **REORDERED),
}

TORCH: dict[str, Callable[[Any, Arrays], Any]] = {
    "sum-any-order": lambda torch, x: torch.sum(x["a"]),
    "sum-double-any-order": lambda torch, x: torch.sum(x["a"]),
    "maximum-any-order": lambda torch, x: torch.max(x["a"]),
    "sum-rows-any-order": lambda torch, x: torch.sum(x["a"], 1),
    "matvec-any-order": lambda torch, x: torch.mv(x["a"], x["x"]),
    "sum-columns": lambda torch, x: torch.sum(x["a"], 0),
}
