"""What a function needs of an array, and what it gives back: the ranges, in words."""

from __future__ import annotations

from collections.abc import Callable

import islpy
import pytest

from loopxform.analysis import sets, transfers
from loopxform.analysis.extent import Extent, explain
from loopxform.analysis.transfers import Range, movement
from loopxform.frontend import parse_file
from loopxform.ir.printer import expr_text

HEAD = (
    "void f(int n, int m, int c, int *p, float *a, float *b, float d[n], float A[n][n],"
    " float B[n][9])"
)

MOVED: dict[str, tuple[str, str | None, str | None]] = {
    # statement, what a (or A, or B) needs, what it gives back
    "written": ("for (int i = 0; i < n; i++) a[i] = b[i];", None, "0 to n - 1"),
    "inside": ("for (int i = 1; i < n - 1; i++) a[i] = b[i - 1] + b[i];", None, "1 to n - 2"),
    "every other": (
        "for (int i = 0; i < n; i += 2) a[i] = 1;",
        "1 to 2 * ((n + 1) / 2) - 3 if n >= 3",
        "0 to 2 * ((n + 1) / 2) - 2",
    ),
    "updated": ("for (int i = 2; i < n; i++) a[i] += 1;", "2 to n - 1", "2 to n - 1"),
    "written first": (
        "for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i++) a[i] += a[n - 1 - i];",
        None,
        "0 to n - 1",
    ),
    "read beyond": (
        "for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i++) b[i] = a[i + 1];",
        "n to n",
        "0 to n - 1",
    ),
    "read in an earlier step": (
        "for (int t = 0; t < m; t++) { for (int i = 0; i < n; i++) b[i] = a[i];"
        " for (int i = 0; i < n; i++) a[i] = b[i]; }",
        "0 to n - 1",
        "0 to n - 1",
    ),
    "behind a condition on data": (
        "for (int i = 0; i < n; i++) if (b[i] > 0) a[i] = 1;"
        " for (int i = 0; i < n; i++) b[i] = a[i];",
        "0 to n - 1",
        "0 to n - 1",
    ),
    "whatever the number": (
        "for (int i = 0; i < n; i++) if (c > 2) a[i] = 1; else a[i] = 2;"
        " for (int i = 0; i < n; i++) a[i] *= 2;",
        None,
        "0 to n - 1",
    ),
    "as far as the number allows": (
        "for (int i = 0; i < n; i++) { if (c > 2) a[i] = 1; b[i] = a[i]; }",
        "0 to n - 1 if 2 >= c",
        "0 to n - 1 if c >= 3",
    ),
    "a bound from data": (
        "for (int i = 0; i < p[0]; i++) d[i] = 1; for (int i = 0; i < n; i++) d[i] += 1;",
        "0 to n - 1",
        "0 to n - 1",
    ),
    "rows": (
        "for (int i = 1; i < n - 1; i++) for (int j = 0; j < n; j++) A[i][j] = 1;",
        None,
        "1, 0 to n - 2, n - 1",
    ),
    "part of rows": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) B[i][j] = 1;",
        "0, m to n - 2, 8 if 8 >= m && n >= 2",
        "0, 0 to n - 1, m - 1",
    ),
    "a triangle": (
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) A[i][j] = 1;",
        "0, 1 to n - 2, n - 1 if n >= 2",
        "0, 0 to n - 1, n - 1",
    ),
    "two sizes": (
        "for (int i = 2; i < n; i++) d[i] = 1; for (int i = 5; i < m; i++) d[i] = 1;",
        "n to 4 if m >= 6 && n >= 3 && 4 >= n",
        "n >= 3 ? 2 : 5 to m >= 6 && m >= n + 1 ? m - 1 : n - 1 if m >= 6 || n >= 3",
    ),
}


def words(found: Range | None) -> str | None:
    if found is None:
        return None
    first, last = (", ".join(map(expr_text, x)) for x in (found.first, found.last))
    return f"{first} to {last}" + (f" if {expr_text(found.when)}" if found.when else "")


@pytest.mark.parametrize(("body", "into", "back"), MOVED.values(), ids=MOVED)
def test_ranges(body: str, into: str | None, back: str | None) -> None:
    (fn,) = parse_file("t.c", text=f"{HEAD} {{ {body} }}").unit.functions
    array = next(x for x in "ABda" if f"{x}[" in body)
    touched = explain(fn, array)
    assert isinstance(touched, Extent)
    found = movement(fn, next(p for p in fn.params if p.name == array), touched)
    assert (words(found.into), words(found.back)) == (into, back)


def test_what_is_too_hard_is_moved_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the last question of some takes more operations than are left."""
    body = "for (int t = 0; t < m; t++) for (int i = 0; i < n; i++) A[i][t] = A[i + 1][i];"
    (fn,) = parse_file("t.c", text=f"{HEAD} {{ {body} }}").unit.functions
    touched = explain(fn, "A")
    assert isinstance(touched, Extent)

    class Costly:
        def intersect(self, _: object) -> None:
            raise islpy.Error("maximal number of operations exceeded")

    monkeypatch.setattr(transfers._Search, "_unwritten", lambda _: Costly())
    found = movement(fn, next(p for p in fn.params if p.name == "A"), touched)
    assert words(found.into) == "0, 0 to n, max(m, n) - 1"


@pytest.mark.parametrize("case", ["read in an earlier step", "behind a condition on data"])
def test_every_question_to_isl_has_its_own_limit(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the last question left of its limit is not what the next one has."""
    asked, depth = sets.bounded, [0]

    def bounded(question: Callable[[], object]) -> object:
        depth[0] += 1
        try:
            return asked(question)
        finally:
            depth[0] -= 1
            if not depth[0]:
                sets.context().set_max_operations(1)
                sets.context().reset_operations()

    monkeypatch.setattr(sets, "bounded", bounded)
    body, into, back = MOVED[case]
    (fn,) = parse_file("t.c", text=f"{HEAD} {{ {body} }}").unit.functions
    found = explain(fn, "a")
    assert isinstance(found, Extent)
    try:
        moved = movement(fn, next(p for p in fn.params if p.name == "a"), found)
    finally:
        sets.context().set_max_operations(0)
    assert (words(moved.into), words(moved.back)) == (into, back)
