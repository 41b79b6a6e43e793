"""A nest too hard for the time given is unknown for that reason; deep nests are not hard."""

from __future__ import annotations

import time

from nests import fn, loop, s, when

from loopxform.analysis.deadline import Deadline, time_is_up, within
from loopxform.analysis.deps import dependences
from loopxform.analysis.matrix import matrix
from loopxform.analysis.verdict import judge
from loopxform.ir.nodes import Function, Stmt


def nested(depth: int, target: str, value: str) -> Function:
    body: Stmt = s(f"a[{target}] = a[{value}]", "S0")
    for k in reversed(range(depth)):
        body = loop(f"i{k}", 0, "n", body)
    return fn("n, a[]", body)


def tangled() -> Function:
    """Many pairs of accesses with remainders: seconds of work."""
    body = [
        when(f"i % {k % 5 + 2} == {k % 2}", s(f"a[i//{k % 3 + 2} + {k}] = a[(i*3) % {k + 3}]", "S"))
        for k in range(30)
    ]
    return fn("n, a[]", loop("i", 1, "n", *body))


def test_sixty_loops_are_judged_in_seconds() -> None:
    """Each loop of a sum of sixty variables carries: the patterns are too many to list, one row per
    level stands for them, with a witness."""
    every = " + ".join(f"i{k}" for k in range(60))
    for target in ("0", "i59", every):
        began = time.process_time()
        verdicts = judge(nested(60, target, f"{target} + 1"))
        assert time.process_time() - began < 8
        assert {v.parallel for v in verdicts} == {"no"}


def test_patterns_that_are_too_many_are_one_row_with_a_witness() -> None:
    every = " + ".join(f"i{k}" for k in range(8))
    rows = dependences(nested(8, every, every))
    assert {(len(rows), d.exact) for d in rows if d.level == 0} == {(len(rows), True)}
    (first,) = {d.direction for d in rows if d.level == 0}
    assert first == ("<", *"*******")
    assert not any(d.tight for d in rows if d.level == 0)
    assert all(d.tight for d in rows if d.level == 6)


def test_time_limit() -> None:
    f = tangled()
    (v,) = judge(f, seconds=0)
    assert (v.parallel, [r.code for r in v.reasons]) == ("unknown", ["LX104"])
    assert v.reasons[0].message.startswith("time limit")
    (m,) = matrix(f, seconds=0)
    assert all(not d.exact for d in m.rows)
    assert {d.direction for d in m.rows} == {("<",), ("=",)}


def test_answers_given_early_are_not_remembered() -> None:
    f = nested(2, "i1", "i1 + 1")
    assert [v.parallel for v in judge(f, seconds=0)] == ["unknown"] * 2
    assert [v.parallel for v in judge(f)] == ["no"] * 2
    assert [v.parallel for v in judge(f, seconds=0)] == ["no"] * 2


def test_limits_end_with_their_block() -> None:
    limit = Deadline.after(0)
    assert not time_is_up()
    with within(limit):
        assert time_is_up()
    assert limit.missed
    assert not time_is_up()
    with within(Deadline.after(None)) as endless:
        assert not time_is_up()
    assert not endless.missed


def test_each_nest_has_its_own_time() -> None:
    """What one nest missed says nothing of the next."""
    easy = loop("j", 0, "n", s("b[j] = 1"))
    f = fn("n, a[], b[]", *tangled().body, easy)
    first, second = judge(f, seconds=0.05)
    assert first.var == "i"
    assert (second.var, second.parallel) == ("j", "yes")
