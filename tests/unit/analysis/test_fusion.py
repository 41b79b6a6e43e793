"""Fusion: which neighbours may become one loop, and how the refusal reads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from nests import decl, fn, loop, mm, opaque, s, when

from loopxform.analysis.fusion import across, fuse_obstacles, fused
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing


def one(found: tuple[Obstacle, ...]) -> Obstacle:
    (obstacle,) = found
    return obstacle


def pair(second: str, hi: str = "n", var: str = "i") -> Function:
    return fn(
        "n, a[], b[]", loop("i", 0, "n", s("a[i] = 1", "S0")), loop(var, 0, hi, s(second, "S1"))
    )


def test_dependences_may_lead_forwards_only() -> None:
    assert fuse_obstacles(pair("b[i] = a[i]"), (0,)) == ()
    assert fuse_obstacles(pair("b[i] = a[i-1]"), (0,)) == ()
    assert across(pair("b[i] = a[i]"), (0,)) == []
    assert [d.kind for d in across(pair("b[i] = a[i-1]"), (0,))] == ["flow"]
    found = one(fuse_obstacles(pair("b[i] = a[i+1]"), (0,)))
    assert found.code == "LX101"
    assert found.message.startswith("the flow dependence of a from S0")
    assert found.witness == "i=1 and i=0 (n=2)"


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [("a[i] = 1", "b[i] = a[i+1]", "flow"), ("b[i] = a[i]", "a[i+1] = 1", "anti"),
     ("a[i] = 1", "a[i+1] = 1", "output")],
)  # fmt: skip
def test_every_kind_of_dependence_counts(first: str, second: str, kind: str) -> None:
    f = fn(
        "n, a[], b[]",
        loop("i", 0, "n", s(first, "S0")),
        loop("j", 0, "n", s(second.replace("[i", "[j"), "S1")),
    )
    found = one(fuse_obstacles(f, (0,)))
    assert found.message.startswith(f"the {kind} dependence of a from S0")
    assert found.witness == "i=1 and j=0 (n=2)"


def test_a_scalar_that_both_set_is_shared() -> None:
    text = "n, t, a[]"
    f = fn(
        text,
        loop("i", 0, "n", s("t = i", "S0")),
        loop("i", 0, "n", s("t = 2", "S1"), s("a[i] = t")),
    )
    found = one(fuse_obstacles(f, (0,)))
    assert "dependence of t" in found.message


def test_iterations_must_be_proven_the_same() -> None:
    longer = one(fuse_obstacles(pair("b[i] = a[i]", "n - 1"), (0,)))
    assert (longer.code, longer.witness) == ("LX113", "i=0 (n=1)")
    assert one(fuse_obstacles(mm(), (0,))).code == "LX113"
    steps = replace(
        pair("b[i] = 1"),
        body=(*pair("b[i] = 1").body[:1], loop("i", 0, "n", s("b[i] = 1"), step=2)),
    )
    assert "count by 1 and 2" in one(fuse_obstacles(steps, (0,))).message


def test_loops_that_end_alike_by_their_step() -> None:
    """0, 2, 4: below 5 and below 6."""
    f = fn(
        "a[], b[]",
        loop("i", 0, "5", s("a[i] = 1"), step=2), loop("i", 0, "6", s("b[i] = 1"), step=2),
    )  # fmt: skip
    assert fuse_obstacles(f, (0,)) == ()
    g = fn(
        "a[], b[]",
        loop("i", 0, "5", s("a[i] = 1"), step=2), loop("i", 0, "7", s("b[i] = 1"), step=2),
    )  # fmt: skip
    assert one(fuse_obstacles(g, (0,))).witness == "i=6"


def test_a_condition_around_may_make_bounds_equal() -> None:
    def around(cond: str) -> Function:
        loops = loop("i", 0, "n", s("a[i] = 1")), loop("i", 0, "m", s("b[i] = 1"))
        return fn("n, m, a[], b[]", when(cond, *loops))

    assert fuse_obstacles(around("n == m"), (0, 0)) == ()
    assert one(fuse_obstacles(around("n <= m"), (0, 0))).witness == "i=0 (n=0, m=1)"


def test_bounds_that_the_first_loop_changes() -> None:
    f = fn("n, a[]", loop("i", 0, "5", s("n = 5")), loop("i", 0, "n", s("a[i] = 1")))
    assert one(fuse_obstacles(f, (0,))).code == "LX112"
    g = fn(
        "k, a[]",
        loop("i", 0, "k", loop("k", 0, "5", s("a[k] = 1"))),
        loop("i", 0, "k", s("a[i] = 1")),
    )
    assert one(fuse_obstacles(g, (0,))).code == "LX112"


def test_names_keep_their_meaning() -> None:
    captured = fn(
        "n, a[]", decl("t"),
        loop("i", 0, "n", decl("t"), s("t = 1"), s("a[i] = t")),
        loop("i", 0, "n", s("a[i] = t")),
    )  # fmt: skip
    assert one(fuse_obstacles(captured, (1,))).code == "LX114"
    later = fn(
        "n, a[]", decl("t"),
        loop("i", 0, "n", s("a[i] = t")),
        loop("i", 0, "n", decl("t"), s("t = 1"), s("a[i] = t")),
    )  # fmt: skip
    assert one(fuse_obstacles(later, (1,))).code == "LX114"
    deeper = loop("j", 0, "n", decl("t"), s("t = 1"), s("b[j] = t"))
    outer = fn(
        "n, a[], b[]", decl("t"), s("t = 3"),
        loop("i", 0, "n", s("a[i] = t")),
        loop("i", 0, "n", s("a[i] = t"), deeper),
    )  # fmt: skip
    assert "t_2" not in listing(fused(outer, (2,)))
    own = fn(
        "n, a[], b[]",
        loop("i", 0, "n", decl("t"), s("t = 1"), s("a[i] = t")),
        loop("i", 0, "n", decl("t"), s("t = 2"), s("b[i] = t")),
    )  # fmt: skip
    assert fuse_obstacles(own, (0,)) == ()
    assert "b[i] = t_2" in listing(fused(own, (0,)))


def test_the_variable_of_the_second_loop_goes() -> None:
    assert fuse_obstacles(pair("b[j] = 1", var="j"), (0,)) == ()
    live = pair("b[j] = 1", var="j")
    read = replace(live, body=(live.body[0], replace(live.body[1], live_out=True)))
    assert one(fuse_obstacles(read, (0,))).code == "LX130"
    assert one(fuse_obstacles(pair("b[j] = i", var="j"), (0,))).code == "LX114"
    f = fn(
        "n, a[]",
        loop("i", 0, "n", s("a[i] = 1")),
        loop("j", 0, "n", loop("i", 0, "n", s("a[i] = j"))),
    )
    assert one(fuse_obstacles(f, (0,))).code == "LX114"


def test_what_is_not_modelled_stops_it() -> None:
    for first, second in ((opaque(), s("a[i] = 1")), (s("a[i] = 1"), opaque())):
        f = fn("n, a[]", loop("i", 0, "n", first), loop("i", 0, "n", second))
        assert one(fuse_obstacles(f, (0,))).code == "LX103"


def test_loops_of_an_else_branch() -> None:
    f = pair("b[i] = a[i]")
    both = fn("n, m, a[], b[]", when("m > 0", s("n = n")))
    held = replace(both, body=(replace(both.body[0], then=(), orelse=f.body),))
    assert fuse_obstacles(held, (0, -1)) == ()
    assert listing(fused(held, (0, -1))).count("for") == 1
    assert one(fuse_obstacles(held, (0, -2))).code == "LX113"
