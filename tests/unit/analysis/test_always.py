"""Conditions proven at a place in the program."""

from __future__ import annotations

import time
from dataclasses import replace

from nests import e, fn, integer, loop, mm, opaque, s, when

from loopxform.analysis.context import always, never
from loopxform.analysis.domain import names_of
from loopxform.ir.nodes import Bin, If, Tile, Var


def test_loop_bounds() -> None:
    f = mm()
    at = (0, 0, 2, 0)
    assert always(f, at, e("0 <= i and i < M and j < N and k < U"))
    assert never(f, at, e("i >= M or j < 0"))
    assert not always(f, at, e("i < N"))
    assert not never(f, at, e("i < N"))
    assert always(f, at, e("M > 0"))
    assert not always(f, (0,), e("M > 0"))


def test_auxiliary_integers_of_two_questions_differ() -> None:
    """With names that are numbered anew, the quotient in `n % 2` would be the one in `n / 16`:
    functions beside this one make its names be gathered again."""
    inner = loop("k", "n / 16 * 16", "n", s("x[k] = 1"), step=16)
    f = fn("m, n, x[n]", loop("i", 0, "m", loop("j", 0, "m", inner, step=64), step=64))
    assert always(f, (0, 0, 0, 0), e("k % 2 == 0"))
    for _ in range(20):
        names_of(replace(f))
    assert not always(f, (0, 0, 0, 0), e("n % 2 == 0"))
    even = replace(f, assumes=(e("n % 2 == 0"),))
    assert always(even, (0, 0, 0, 0), e("n % 2 == 0"))


def test_the_loop_itself_is_not_part_of_its_context() -> None:
    f = mm()
    assert not always(f, (0,), e("i < M"))
    assert always(f, (0, 0), e("i < M"))


def test_strides_and_tile_numbers() -> None:
    inner = loop("i", "ii", "min(n, ii + Ry)", s("a[i] = 1"))
    f = fn("n, a[]", loop("iii", 0, "n", loop("ii", "iii", "min(n, iii + Ty*Ry)", inner, step="Ry"),
                          step="Ty*Ry"))  # fmt: skip
    assert always(f, (0, 0), e("iii % (Ty*Ry) == 0"))
    assert always(f, (0, 0, 0), e("ii + Ry <= iii + Ty*Ry"))
    assert always(f, (0, 0, 0, 0), e("(ii - iii) // Ry < Ty and (ii - iii) // Ry >= 0"))
    assert always(f, (0, 0, 0, 0), e("i - ii < Ry and i < n"))
    assert not always(f, (0, 0, 0), e("ii + Ry <= n"))
    assert always(f, (0, 0, 0), e("ii % 2 == 0"))
    assert not always(f, (0, 0, 0), e("ii % 4 == 0"))


def test_guards_and_assumptions() -> None:
    f = fn(
        "n, m, a[]",
        when("n > 3 and m < n", s("a[0] = 1"), orelse=(s("a[1] = 1"),)),
        assumes=("m > 5",),
    )
    assert always(f, (0, 0), e("n > 4 and m < n"))
    assert always(f, (0, 0), e("n >= 7"))
    assert always(f, (0, -1), e("m > 5 and (n <= 3 or m >= n)"))
    assert not always(f, (0, -1), e("n <= 3"))


def test_a_threshold_is_any_number() -> None:
    """Another may stand for it when the program runs, but it is the same one everywhere."""
    size = Bin("<", Var("n"), Tile("T", 128))
    for guard, known in ((size, True), (Bin("<", Var("n"), Tile("T", 128, True)), False)):
        inner = If(guard, (s("a[2] = 1"),))
        f = fn("n, a[]", If(guard, (s("a[0] = 1"), inner), (s("a[1] = 1"),)))
        assert always(f, (0, 0), e("n < 128")) == known
        assert never(f, (0, -1), e("n < 128")) == known
        assert always(f, (0, 1, 0), guard)
        assert never(f, (0, -1), guard)


def test_a_guard_whose_variable_changes_says_nothing() -> None:
    f = fn("n, a[]", when("n > 3", s("n = 0"), s("a[0] = 1")))
    assert not always(f, (0, 1), e("n > 3"))
    g = fn("n, a[]", loop("i", 0, "n", s("n = n - 1"), s("a[i] = 1")))
    assert not always(g, (0, 1), e("i < n"))


def test_a_header_says_nothing_of_what_its_body_sets_to_an_unknown_value() -> None:
    f = fn("n, m, a[]", when("n > 3", s("n = m*m"), s("a[0] = n")))
    assert always(f, (0, 0), e("m == m"))
    assert not always(f, (0, 1), e("n > 3"))
    g = fn("n, m, a[]", when("n > 3", s("a[0] = 1"), orelse=(s("n = m*m"), s("a[0] = n"))))
    assert not always(g, (0, -2), e("n <= 3"))
    h = fn("n, m, a[]", loop("i", 0, "n", s("n = m*m"), s("a[i] = n")))
    assert not always(h, (0, 1), e("i < n"))
    nested = when("n > 3", loop("i", 0, "m", s("n = m*m"), s("a[i] = n")))
    assert not always(fn("n, m, a[]", nested), (0, 0, 1), e("n > 3"))


def test_what_is_not_modelled_leaves_nothing_certain() -> None:
    f = fn("n, a[]", when("n > 3", opaque(), s("a[0] = 1")))
    assert not always(f, (0, 1), e("n > 3"))


def test_assumptions_speak_of_entry() -> None:
    f = fn("n, a[]", s("n = n - 9"), s("a[0] = 1"), assumes=("n > 5",))
    assert not always(f, (1,), e("n > 5"))


def test_values_of_temporaries() -> None:
    f = fn("n, a[]", integer("m"), s("m = n + 1"), loop("i", 0, "n", s("a[i] = 1")))
    assert always(f, (2, 0), e("i + 1 < m"))


def test_unknown_conditions() -> None:
    f = fn("n, x:float, a[]", loop("i", 0, "n", s("a[i] = 1")))
    assert not always(f, (0, 0), e("x > 0"))
    assert not never(f, (0, 0), e("x > 0"))
    assert not always(f, (0, 0), e("i*n >= 0"))
    assert never(f, (0, 0), e("x > 0 and i < 0"))
    assert always(f, (0, 0), e("x > 0 or i >= 0"))


def test_it_is_cheap() -> None:
    f = mm()
    cond = e("i + 1 <= M")
    always(f, (0, 0, 2, 0), cond)
    start = time.process_time()
    for _ in range(50):
        assert always(f, (0, 0, 2, 0), cond)
    assert (time.process_time() - start) / 50 < 0.001
