"""Answers are kept by what was asked, whatever its names are: other questions have their own."""

from __future__ import annotations

from loopxform.analysis.linear import Conj, Constraint
from loopxform.analysis.parts import has_point


def between(low: str, x: str, high: str, least: int) -> Conj:
    """low + least <= x < high <= low + 1"""
    return (
        Constraint(False, {x: 1, low: -1, "": -least}),
        Constraint(False, {high: 1, x: -1, "": -1}),
        Constraint(False, {low: 1, high: -1, "": 1}),
    )


def test_names_make_no_difference_but_where_they_stand_does() -> None:
    assert has_point(between("a", "b", "c", 0))
    assert has_point(between("c", "a", "b", 0))
    assert not has_point(between("a", "b", "c", 1))
    assert not has_point(between("$2", "$1", "n", 1))
    assert has_point(between("$2", "$1", "n", 0))
    assert not has_point(between("a", "b", "a", 0))
