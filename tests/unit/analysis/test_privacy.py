"""Privatisation: written before read in each iteration, not needed afterwards."""

from __future__ import annotations

import pytest
from nests import decl, fn, integer, loop, mm_c89, opaque, returns, s, when

from loopxform.analysis.privatise import is_private, privacy, private_obstacles
from loopxform.ir.nodes import Function, Stmt


def nest(
    *body: Stmt, after: tuple[Stmt, ...] = (), params: str = "n, m, x:float, a[], b[]"
) -> Function:
    return fn(params, decl("t"), decl("w", 10), loop("i", 0, "n", *body), *after)


PRIVATE = {
    "written first": (s("t = 1"), s("a[i] = t")),
    "never read": (s("t = 1"),),
    "both branches": (when("x > 0", s("t = 1"), orelse=(s("t = 2"),)), s("a[i] = t")),
    "same affine guard": (when("i > 3", s("t = 1")), when("i > 3", s("a[i] = t"))),
    "smaller guard": (when("i > 3", s("t = 1")), when("i > 5", s("a[i] = t"))),
    "a loop that runs": (loop("j", 0, 4, s("t = j")), s("a[i] = t")),
    "accumulated": (s("t = 0"), loop("j", 0, "m", s("t += b[j]")), s("a[i] = t")),
    "same loop, same guard": (loop("j", 0, "m", s("t = j")), loop("j", 0, "m", s("a[j] = t"))),
}
EXPOSED = {
    "read first": (s("a[i] = t"), s("t = 1")),
    "update": (s("t += a[i]"),),
    "one branch": (when("x > 0", s("t = 1")), s("a[i] = t")),
    "larger guard": (when("i > 3", s("t = 1")), when("i > 2", s("a[i] = t"))),
    "a loop that may not run": (loop("j", 0, "m", s("t = j")), s("a[i] = t")),
    "unknown guards": (when("x > 0", s("t = 1")), when("x > 0", s("a[i] = t"))),
    "never written": (s("a[i] = t"),),
}


@pytest.mark.parametrize("case", PRIVATE)
def test_private(case: str) -> None:
    assert private_obstacles(nest(*PRIVATE[case]), (2,), "t") == ()


@pytest.mark.parametrize("case", EXPOSED)
def test_exposed(case: str) -> None:
    assert [o.code for o in private_obstacles(nest(*EXPOSED[case]), (2,), "t")] == ["LX143"]


def test_arrays_element_by_element() -> None:
    fill = loop("j", 0, 10, s("w[j] = a[j]"))
    assert is_private(nest(fill, loop("j", 0, 10, s("b[i] = w[9 - j]"))), (2,), "w")
    assert is_private(nest(fill, loop("j", 0, 5, s("b[i] = w[2*j]"))), (2,), "w")
    most = loop("j", 0, 9, s("w[j] = a[j]"))
    assert not is_private(nest(most, loop("j", 0, 10, s("b[i] = w[j]"))), (2,), "w")
    halves = (loop("j", 0, 5, s("w[2*j] = 0")), loop("j", 0, 5, s("w[2*j + 1] = 0")))
    assert is_private(nest(*halves, loop("j", 0, 10, s("b[i] = w[j]"))), (2,), "w")
    prefix = (s("w[0] = 0"), loop("j", 1, 10, s("w[j] = w[j-1] + a[j]")))
    assert is_private(nest(*prefix), (2,), "w")
    assert not is_private(nest(prefix[1]), (2,), "w")


def test_the_value_after_the_loop() -> None:
    body = (s("t = 1"), s("a[i] = t"))
    used = nest(*body, after=(s("a[0] = t"),))
    (found,) = private_obstacles(used, (2,), "t")
    assert (found.code, found.message) == ("LX144", "'t' may be read after the loop over 'i'")
    assert privacy(used, (2,), "t").last_value
    assert privacy(used, (2,), "t").with_copy
    again = nest(*body, after=(s("t = 2"), s("a[0] = t")))
    assert is_private(again, (2,), "t")
    second = nest(*body, after=(loop("i", 0, "n", *body),))
    assert is_private(second, (2,), "t")
    assert not is_private(nest(*body, after=(opaque(),)), (2,), "t")
    assert not is_private(nest(*body, after=(returns("t"),)), (2,), "t")


def test_the_value_in_the_next_iteration_of_a_loop_around() -> None:
    f = fn("n, a[]", decl("t"), loop("k", 0, "n", s("a[k] = t"), loop("i", 0, "n", s("t = i"))))
    assert not is_private(f, (1, 1), "t")
    g = fn("n, a[]", loop("k", 0, "n", decl("t"), s("t = 0"), loop("i", 0, "n", s("t = i"))))
    assert is_private(g, (0, 2), "t")


def test_an_inner_object_of_the_same_name_is_another_one() -> None:
    shadow = loop("k", 0, 5, decl("t"), s("t = 0"))
    f = nest(s("t = 1"), after=(shadow, s("a[0] = t")))
    assert not is_private(f, (2,), "t")


def test_what_the_caller_owns() -> None:
    (found,) = private_obstacles(nest(s("a[0] = 1"), s("b[i] = a[0]")), (2,), "a")
    assert (found.code, found.message) == (
        "LX144",
        "'a' belongs to the caller, who sees its last value",
    )


def test_a_bound_is_read_before_each_iteration() -> None:
    f = fn("n, a[]", integer("t"), s("t = 9"), loop("i", 0, "t", s("t = 5"), s("a[i] = t")))
    assert not is_private(f, (2,), "t")


def test_matrix_product_of_1989() -> None:
    f = mm_c89()
    assert is_private(f, (1,), "acc")
    assert is_private(f, (1, 0), "acc")
    assert [o.code for o in private_obstacles(f, (1, 0, 1), "acc")] == ["LX143", "LX144"]
