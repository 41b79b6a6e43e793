"""Exact elimination agrees with isl, and its points satisfy what they were asked for."""

from __future__ import annotations

import random

import pytest

from loopxform.analysis import sets, system
from loopxform.analysis.linear import Constraint, conj_names


def random_conj(r: random.Random) -> list[Constraint]:
    names = "abcd"[: r.randint(1, 4)]
    out = []
    for _ in range(r.randint(1, 6)):
        lin = {v: c for v in names if (c := r.randint(-3, 3))}
        if c := r.randint(-6, 6):
            lin[""] = c
        out.append(Constraint(r.random() < 0.25, lin))
    if r.random() < 0.5:
        for v in names:
            out.append(Constraint(False, {v: 1, "": r.randint(0, 4)}))
            out.append(Constraint(False, {v: -1, "": r.randint(0, 4)}))
    return out


def holds(c: Constraint, point: dict[str, int]) -> bool:
    value = sum(k * (point.get(name, 0) if name else 1) for name, k in c.lin.items())
    return value == 0 if c.eq else value >= 0


def agree(seed: int, cases: int) -> None:
    r = random.Random(seed)
    for _ in range(cases):
        conj = random_conj(r)
        point = system.solve(conj)
        expected = sets.sample(conj)
        assert (point is None) == (expected is None), (seed, conj)
        assert point is None or all(holds(c, point) for c in conj), (seed, conj, point)


def test_solve_agrees_with_isl() -> None:
    agree(1, 400)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 7))
def test_solve_agrees_with_isl_at_length(seed: int) -> None:
    agree(seed, 2000)


def test_projection_agrees_with_isl() -> None:
    r = random.Random(3)
    keep = frozenset("ab")
    for _ in range(200):
        conj = random_conj(r)
        left = system.eliminate(conj, keep)
        mine = sets.build(() if left is None else (left,), ("a", "b"))
        assert mine.is_equal(sets.build((tuple(conj),), ("a", "b"))), conj


def test_a_point_is_as_near_to_zero_as_it_can_be() -> None:
    conj = [Constraint(False, {"M": 1, "i": -1, "": -1}), Constraint(False, {"i": 1, "": -2})]
    assert system.solve(conj) == {"M": 3, "i": 2}


def test_parity_needs_integers() -> None:
    assert system.solve([Constraint(True, {"x": 2, "y": -4, "": 1})]) is None
    assert system.solve([Constraint(True, {"x": 2, "y": 3, "": 1})]) is not None


def test_names_of_c_may_be_keywords_of_isl() -> None:
    conj = [Constraint(False, {"mod": 3, "exists": -5}), Constraint(False, {"exists": 7, "and": 2})]
    assert conj_names(conj) == {"mod", "exists", "and"}
    assert sets.sample(conj) is not None


def test_a_question_too_hard_is_not_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(_: object) -> None:
        raise sets.TooHard

    monkeypatch.setattr(sets, "sample", give_up)
    hard = [
        Constraint(False, {"x": 2, "y": -3, "": -1}),
        Constraint(False, {"x": -2, "y": 3, "": 2}),
        Constraint(False, {"x": 3, "y": -2}),
        Constraint(False, {"x": -3, "y": 2, "": 5}),
    ]
    assert system.feasible(hard)
