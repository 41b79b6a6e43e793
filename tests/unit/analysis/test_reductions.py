"""Every form of a reduction, and what only looks like one."""

from __future__ import annotations

import pytest
from nests import decl, fn, loop, opaque, s, when

from loopxform.analysis.reductions import reductions
from loopxform.ir.nodes import Function, Stmt

PARAMS = "n, t:float, u:float, c, d, x[], y[], k[]:int, C[n][n]"


def nest(*body: Stmt) -> Function:
    return fn(PARAMS, loop("i", 0, "n", *body))


FORMS = [
    (s("t += x[i]"), "+"), (s("t -= x[i]"), "+"), (s("t *= x[i]"), "*"),
    (s("t = t + x[i]"), "+"), (s("t = x[i] + t"), "+"), (s("t = t - x[i]"), "+"),
    (s("t = t * x[i]"), "*"), (s("t = x[i] + t + y[i]"), "+"),
    (s("c &= k[i]"), "&"), (s("c |= k[i]"), "|"), (s("c ^= k[i]"), "^"),
    (s("c = c & k[i]"), "&"), (s("c = k[i] | c"), "|"), (s("c = c ^ k[i]"), "^"),
    (s("c = c and k[i] > 0"), "&&"), (s("c = k[i] > 0 or c"), "||"),
    (s("t = fmin(t, x[i])"), "min"), (s("t = fminf(x[i], t)"), "min"),
    (s("t = fmax(t, x[i])"), "max"), (s("t = fmaxf(x[i], t)"), "max"),
    (s("t = x[i] if x[i] < t else t"), "min"),
    (s("t = t if x[i] < t else x[i]"), "max"), (s("t = x[i] if t < x[i] else t"), "max"),
    (s("t = t if t < x[i] else x[i]"), "min"), (s("t = x[i] if x[i] >= t else t"), "max"),
    (s("t = t if t >= x[i] else x[i]"), "max"), (s("t = t if x[i] > t else x[i]"), "min"),
    (when("x[i] > t", s("t = x[i]")), "max"), (when("t > x[i]", s("t = x[i]")), "min"),
    (when("x[i] <= t", s("t = x[i]")), "min"), (when("y[i] > 0", s("t += x[i]")), "+"),
    (s("c += k[i]"), "+"), (s("C[0, c] += x[i]"), "+"),
]  # fmt: skip


@pytest.mark.parametrize(("stmt", "op"), FORMS, ids=lambda x: x if isinstance(x, str) else "")
def test_recognised(stmt: Stmt, op: str) -> None:
    (found,) = reductions(nest(stmt), (0,))
    assert found.op == op
    assert found.array in ("t", "c", "C")


REFUSED = {
    "e reads s": s("t = t + x[i] * t"),
    "the other way round": s("t = x[i] - t"),
    "division": s("t = x[i] / t"),
    "element of the iteration": s("x[i] += 1"),
    "histogram": s("x[k[i]] += 1"),
    "rounded at each step": s("c += x[i]"),
    "index that moves": s("C[d, i] += 1"),
    "guard reads s": when("t > 0", s("t += x[i]")),
    "wrong comparison": s("t = x[i] if x[i] < y[i] else t"),
    "an else": when("x[i] > t", s("t = x[i]"), orelse=(s("u = 0"),)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_not_recognised(case: str) -> None:
    assert [r for r in reductions(nest(REFUSED[case]), (0,)) if r.array != "u"] == []


def test_other_uses_disqualify() -> None:
    assert reductions(nest(s("t += x[i]"), s("y[i] = t")), (0,)) == ()
    assert reductions(nest(s("t += x[i]"), s("t = 0")), (0,)) == ()
    assert reductions(nest(s("t += x[i]"), s("t *= y[i]")), (0,)) == ()
    assert reductions(nest(s("t += x[i]"), opaque()), (0,)) == ()
    assert reductions(nest(s("c += 1"), loop("j", 0, "c", s("x[j] = 1"))), (0,)) == ()
    assert reductions(nest(s("t += u"), s("u = t")), (0,)) == ()


def test_several_at_once() -> None:
    found = reductions(
        nest(s("t += x[i]", "S0"), s("u = fmax(u, x[i])", "S1"), s("t += y[i]", "S2")), (0,)
    )
    assert [(r.var, r.op, r.labels) for r in found] == [
        ("t", "+", ("S0", "S2")),
        ("u", "max", ("S1",)),
    ]


def test_an_element_that_does_not_change_with_the_loop() -> None:
    f = fn(
        PARAMS,
        loop("i", 0, "n", loop("j", 0, "n", loop("k", 0, "n", s("C[i, j] += x[k]", "S0")))),
    )
    assert [(r.var, r.array) for r in reductions(f, (0, 0, 0))] == [("C[i, j]", "C")]
    assert reductions(f, (0, 0)) == ()
    outer = fn(PARAMS, loop("k", 0, "n", loop("j", 0, "n", s("C[0, j] += x[k]"))))
    assert [r.op for r in reductions(outer, (0,))] == ["+"]


def test_storage_of_the_iteration_is_no_reduction() -> None:
    assert reductions(nest(decl("v"), s("v += x[i]")), (0,)) == ()
