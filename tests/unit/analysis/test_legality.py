"""Legality: what is allowed, what is refused, and how the refusal reads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from nests import fn, integer, loop, mm, mm_c89, opaque, s, skew, when

from loopxform.analysis.legality import (
    distribute_obstacles,
    interchange_obstacles,
    parallel_obstacles,
    reverse_obstacles,
)
from loopxform.errors import Obstacle
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import Path, enclosing, replace_at


def forall(f: Function, path: Path) -> Function:
    node = enclosing(f, path)[-1]
    assert isinstance(node, For)
    return replace_at(f, path, (replace(node, parallel=True),))


def one(found: tuple[Obstacle, ...]) -> Obstacle:
    (obstacle,) = found
    return obstacle


def test_outer_loops_of_the_matrix_product_are_parallel() -> None:
    f = mm()
    assert parallel_obstacles(f, (0,)) == parallel_obstacles(f, (0, 0)) == ()
    k = one(parallel_obstacles(f, (0, 0, 2)))
    assert k.code == "LX101"
    assert "the flow dependence of acc from S1 (line" in k.message
    assert k.message.endswith("direction (<), is carried by the loop over 'k'")
    assert k.witness == "k=0 and k=1 (M=1, N=1, U=2, i=0, j=0)"
    assert k.remedy is not None
    assert "reduction (+)" in k.remedy


def test_a_shared_temporary_is_refused_with_privatisation_as_remedy() -> None:
    found = one(parallel_obstacles(mm_c89(), (1,)))
    assert found.remedy == "make it private: privatise acc i"


def test_what_cannot_be_told_is_refused_as_such() -> None:
    f = fn("n, a[], p[]:int", loop("i", 0, "n", s("a[p[i]] = 1", "S0")))
    found = one(parallel_obstacles(f, (0,)))
    assert (found.code, found.witness) == ("LX102", None)
    assert "could not be excluded" in found.message


def test_an_opaque_statement_stops_every_question_about_loops_around_it() -> None:
    f = fn("n, a[]", loop("i", 0, "n", loop("j", 0, "n", s("a[j] = i")), opaque()))
    assert one(parallel_obstacles(f, (0,))).code == "LX103"
    assert one(distribute_obstacles(f, (0,), 1)).code == "LX103"
    assert one(reverse_obstacles(f, (0,))).code == "LX103"
    assert parallel_obstacles(f, (0, 0)) == ()


def test_interchange_would_reverse() -> None:
    found = one(interchange_obstacles(skew(), (0,)))
    assert found.message.startswith("the flow dependence of a from S0 (line")
    assert found.message.endswith("direction (<, >), would be reversed")
    assert found.witness == "i=0, j=1 and i=1, j=0 (M=3, N=3)"


def test_interchange_of_a_shared_scalar_shows_iterations_that_swap() -> None:
    f = fn("n, t:float, a[n][n]", loop("i", 0, "n", loop("j", 0, "n", s("t = a[i, j]", "S0"))))
    found = one(interchange_obstacles(f, (0,)))
    assert found.witness == "i=0, j=1 and i=1, j=0 (n=2)"


def test_interchange_allowed() -> None:
    same = fn("n, a[n][n]", loop("i", 1, "n", loop("j", 1, "n", s("a[i, j] = a[i-1, j-1]"))))
    assert interchange_obstacles(same, (0,)) == ()


def test_a_forall_moves_inwards_whatever_it_holds() -> None:
    assert interchange_obstacles(forall(skew(), (0,)), (0,)) == ()
    opaque_inside = fn("n", loop("i", 0, "n", loop("j", 0, "n", opaque()), parallel=True))
    assert interchange_obstacles(opaque_inside, (0,)) == ()


@pytest.mark.parametrize("parallel", [False, True])
def test_structure_is_asked_first(parallel: bool) -> None:
    triangle = fn(
        "n, a[n][n]", loop("i", 0, "n", loop("j", 0, "i*i", s("a[i, j] = 1")), parallel=parallel)
    )
    found = one(interchange_obstacles(triangle, (0,)))
    text = "the bounds of 'j' depend on 'i': they are not affine"
    assert (found.code, found.message) == ("LX111", text)
    assert found.remedy
    two = fn("n, a[]", loop("i", 0, "n", s("a[i] = 1"), loop("j", 0, "n", s("a[j] = 1"))))
    assert one(interchange_obstacles(two, (0,))).code == "LX110"


def test_bounds_that_the_nest_changes() -> None:
    f = fn("n, m, a[]", loop("i", 0, "n", loop("j", 0, "m", s("m = m - 1"))))
    assert one(interchange_obstacles(f, (0,))).code == "LX112"
    g = fn("n, a[]", loop("i", 0, "n", s("a[i] = 1"), s("n = n - 1")))
    assert "LX112" in [o.code for o in distribute_obstacles(g, (0,), 1)]


def test_loop_variables_read_later() -> None:
    f = fn("n, a[]", loop("i", 0, "n", loop("j", 0, "n", s("a[j] = 1"), live_out=True)))
    assert one(interchange_obstacles(f, (0,))).code == "LX130"
    g = fn("n, a[]", loop("i", 0, "n", s("a[i] = 1"), live_out=True))
    assert one(reverse_obstacles(g, (0,))).code == "LX130"


def test_distribution_keeps_dependences_that_lead_forwards() -> None:
    forwards = fn("n, a[], b[]", loop("i", 1, "n", s("a[i] = 1"), s("b[i] = a[i-1]")))
    assert distribute_obstacles(forwards, (0,), 1) == ()
    backwards = fn("n, a[], b[]", loop("i", 1, "n", s("b[i] = a[i-1]", "S0"), s("a[i] = 1", "S1")))
    found = one(distribute_obstacles(backwards, (0,), 1))
    assert "from S1" in found.message
    assert "leads back to an earlier statement" in found.message


def test_distribution_needs_expanded_storage_even_for_a_forall() -> None:
    f = forall(mm(), (0, 0))
    found = one(distribute_obstacles(f, (0, 0), 2))
    assert (found.code, found.remedy) == ("LX121", "expand acc over j first")
    apart = fn("n, a[], b[]", loop("i", 0, "n", s("a[i] = a[i+1]"), s("b[i] = 1"), parallel=True))
    assert distribute_obstacles(apart, (0,), 1) == ()


def test_reversal() -> None:
    assert reverse_obstacles(fn("n, a[]", loop("i", 0, "n", s("a[i] = 1"))), (0,)) == ()
    found = one(reverse_obstacles(fn("n, a[]", loop("i", 1, "n", s("a[i] = a[i-1]", "S0"))), (0,)))
    assert "would be reversed by the loop over 'i'" in found.message


def test_a_counter_that_is_read_later_is_a_result() -> None:
    """Which iteration ran last says what an inner loop leaves in its variable."""
    inner = loop("k", 0, "i", s("b[i] = k"), live_out=True)
    found = one(reverse_obstacles(fn("n, k, b[]", loop("i", 0, "n", inner)), (0,)))
    assert "output dependence of k" in found.message
    other = when("i < 3", loop("k", 0, "5", s("b[i] = k"), live_out=True))
    f = fn("n, k, b[]", loop("i", 0, "n", inner, other))
    assert "output dependence of k" in one(distribute_obstacles(f, (0,), 1)).message


def test_a_guard_that_reads_what_the_loop_writes() -> None:
    f = fn("n, a[]", loop("i", 1, "n", when("a[i-1] > 0", s("a[i] = 1", "S0"))))
    found = one(parallel_obstacles(f, (0,)))
    assert "flow dependence of a from S0" in found.message
    assert "to if" in found.message


def test_an_inner_variable_kept_outside_is_shared() -> None:
    f = fn(
        "n, a[]", integer("j"), loop("i", 0, "n", loop("j", 0, "i", s("a[i] = 1")), s("a[i] = j"))
    )
    found = one(parallel_obstacles(f, (1,)))
    assert "of j" in found.message
    assert found.remedy == "make it private: privatise j i"
