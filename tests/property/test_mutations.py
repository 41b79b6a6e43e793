"""The property suite sees bugs: each mutant of the analysis fails it within a few hundred nests.

Without a bug the same programs pass: they are those of `test_verdicts`.
"""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from mutants import MUTANTS, Mutant
from test_verdicts import check

from loopxform.analysis import directions
from loopxform.ir.memo import forget

ROUNDS, PROGRAMS = 6, 60
"""A mutant has so many rounds of so many programs to be caught in."""


def caught(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a check fails under the mutant. What it found out of programs is forgotten: other
    tests look at the same ones."""
    with monkeypatch.context() as m, ExitStack() as ending:
        ending.callback(forget)
        ending.callback(directions._asked.known.clear)
        mutant.plant(m)
        for seed in range(1, 1 + ROUNDS):
            try:
                check(mutant.kind, seed, PROGRAMS)
            except AssertionError:
                return True
    return False


CASES = [pytest.param(m, id=m.name, marks=[pytest.mark.slow] if m.slow else []) for m in MUTANTS]


@pytest.mark.parametrize("mutant", CASES)
def test_a_planted_bug_is_caught(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    assert caught(mutant, monkeypatch), f"{mutant.name} survived"


def test_there_are_many() -> None:
    assert len(MUTANTS) >= 30
    assert len({m.name for m in MUTANTS}) == len(MUTANTS)
