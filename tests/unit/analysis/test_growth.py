"""Work grows with the length of the text, not with its square: counted in calls of functions, which
are the same on any machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import pytest

import loopxform as lx
from loopxform.analysis.directions import Refinement
from loopxform.analysis.linear import Conj, Constraint
from loopxform.analysis.matrix import matrix
from loopxform.analysis.system import Elimination
from loopxform.ir.memo import forget


def body(statements: Iterable[str], declared: str = "") -> str:
    return f"{declared}\n    for (int i = 0; i < n; i++) {{\n" + "\n".join(statements) + "\n    }"


def unrolled(n: int) -> str:
    lines = (f"x[128 * i + {k}] = x[128 * i + {k}] * y[128 * i + {k}];" for k in range(n))
    return f"void f(int n, float *restrict x, float *restrict y) {{{body(lines)}}}"


def pointers(n: int) -> str:
    """Pointers that stay, as each is relative to one of two arrays."""
    first = "".join(f"float *p{k} = x;\n" for k in range(n))
    lines = (f"if (i > {k}) p{k} = y; *p{k} = i; p{k}++;" for k in range(n))
    return f"void f(int n, float *x, float *y) {{{body(lines, first)}}}"


def calls(n: int) -> str:
    first = "int " + ", ".join(f"s{k} = {k}" for k in range(n)) + ";"
    lines = (f"s{k} = g(s{k});" for k in range(n))
    return f"int g(int); void f(int n, float *x) {{{body(lines, first)}}}"


def arrays(n: int) -> str:
    declared = ", ".join(f"float *a{k}" for k in range(n))
    lines = (f"a{k}[b[i]] = i;" for k in range(n))
    return f"void f(int n, const int *b, {declared}) {{{body(lines)}}}"


def loops(n: int) -> str:
    lines = (f"for (int j = 0; j < n; j++) x[i][j] += {k};" for k in range(n))
    return f"void f(int n, float x[n][n]) {{{body(lines)}}}"


def work(text: str) -> int:
    """How many functions are called to read a file, those written in C aside."""
    forget()
    count = 0

    def seen(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        lx.loads(text)
    finally:
        sys.setprofile(before)
    return count


CASES: dict[str, tuple[Callable[[int], str], int]] = {
    "pointers": (pointers, 40),
    "calls": (calls, 300),
    "arrays": (arrays, 80),
}


@pytest.mark.parametrize("case", CASES)
def test_twice_the_text_takes_twice_the_work(case: str) -> None:
    text, n = CASES[case]
    work(text(2))  # what is loaded, once
    assert work(text(2 * n)) < 2.5 * work(text(n))


@pytest.mark.parametrize("text", [unrolled, loops])
def test_pairs_that_are_alike_are_one_question(
    text: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    found = Elimination.__init__

    def counted(self: Elimination, *args: Any) -> None:
        nonlocal asked
        asked += 1
        found(self, *args)

    monkeypatch.setattr(Elimination, "__init__", counted)

    def questions(n: int) -> int:
        nonlocal asked
        forget()
        asked = 0
        lx.loads(text(n))["f"].check()
        return asked

    questions(2)
    assert questions(24) < 3 * max(8, questions(12))


def test_names_that_sort_alike_share_their_answers_and_keep_their_points() -> None:
    def system(low: str, step: str, high: str) -> Conj:
        return (
            Constraint(False, {low: 1, "": -1}),
            Constraint(False, {high: 1, low: -1, step: -1, "": -1}),
            Constraint(True, {step: 1, "": -2}),
        )

    first = Refinement(system("a", "b~", "n"), ("b~",))
    second = Refinement(system("i", "i~", "m"), ("i~",))
    assert first.carried() == second.carried() != []
    point = second.point(("<",))
    assert point is not None
    assert {k: point[k] for k in ("i", "i~", "m")} == {"i": 1, "i~": 2, "m": 4}
    assert second.point((">",)) is None


BRANCHES = """
void f(int n, const int *restrict c, float *restrict b)
{
    float t[4];
    for (int i = 0; i < n; i++) {
        if (c[i]) {
            t[0] = i;
            t[1] = i;
        } else {
            b[2 * i] = t[0];
            b[2 * i + 1] = t[1];
        }
    }
}
"""


def test_statements_that_share_a_domain_stay_in_their_branches() -> None:
    """Neither is the write before the read in an iteration, nor does it depend on it there."""
    (loop,) = lx.loads(BRANCHES)["f"].check()
    assert loop.parallel == "unknown"
    found = matrix(lx.loads(BRANCHES)["f"].function)
    rows = [d for m in found for d in m.rows if d.array == "t"]
    assert rows
    assert all(d.level is not None for d in rows if d.kind != "output")
