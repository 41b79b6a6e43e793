"""The property tests of steps see bugs in fusing, splitting, sinking: each fails them quickly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from test_steps import sweep_imperfect, sweep_neighbours

from loopxform.analysis import fusion
from loopxform.ir.nodes import Bin
from loopxform.transforms.restructure import fuse, guards, rematerialise, split

Planted = Callable[[pytest.MonkeyPatch], None]
MUTANTS: list[Planted] = []
OF_SINKING: list[Planted] = []
ROUNDS, PROGRAMS = 12, 50
"""A mutant has so many rounds of so many programs to be caught in."""


def mutant(plant: Planted) -> Planted:
    MUTANTS.append(plant)
    return plant


def rows_without(m: pytest.MonkeyPatch, lost: Callable[[Any], bool]) -> None:
    real = fusion.across
    m.setattr(fusion, "across", lambda *args: [d for d in real(*args) if not lost(d)])


@mutant
def dependences_prevent_nothing(m: pytest.MonkeyPatch) -> None:
    rows_without(m, lambda _: True)


@mutant
def flow_dependences_prevent_nothing(m: pytest.MonkeyPatch) -> None:
    """In the fused loop they are the anti dependences that lead back."""
    rows_without(m, lambda d: d.kind == "anti")


@mutant
def anti_dependences_prevent_nothing(m: pytest.MonkeyPatch) -> None:
    rows_without(m, lambda d: d.kind == "flow")


@mutant
def output_dependences_prevent_nothing(m: pytest.MonkeyPatch) -> None:
    rows_without(m, lambda d: d.kind == "output")


@mutant
def scalars_prevent_nothing(m: pytest.MonkeyPatch) -> None:
    rows_without(m, lambda d: d.array in "tusq")


@mutant
def what_is_not_proven_prevents_nothing(m: pytest.MonkeyPatch) -> None:
    rows_without(m, lambda d: not d.exact)


@mutant
def the_wrong_way_prevents(m: pytest.MonkeyPatch) -> None:
    m.setattr(fusion, "_from_second", fusion._to_second)


@mutant
def two_foralls_are_always_one(m: pytest.MonkeyPatch) -> None:
    m.setattr(fuse, "across", lambda *_: [])


@mutant
def any_two_loops_have_the_same_iterations(m: pytest.MonkeyPatch) -> None:
    m.setattr(fusion, "_iterations", lambda *_: None)


@mutant
def one_loop_may_run_longer(m: pytest.MonkeyPatch) -> None:
    real = fusion.always
    m.setattr(fusion, "always", lambda fn, path, cond: real(fn, path, cond) or cond.op in "<>")


@mutant
def the_variable_of_the_second_loop_stays(m: pytest.MonkeyPatch) -> None:
    m.setattr(fusion, "rename", lambda body, new: body)  # noqa: ARG005


@mutant
def the_first_part_ends_at_the_point(m: pytest.MonkeyPatch) -> None:
    m.setattr(split, "_end", lambda fn, site, point: point)  # noqa: ARG005


@mutant
def the_second_part_starts_at_the_point(m: pytest.MonkeyPatch) -> None:
    m.setattr(split, "_start", lambda fn, site, point: point)  # noqa: ARG005


@mutant
def both_parts_run_the_point(m: pytest.MonkeyPatch) -> None:
    real = split._end
    m.setattr(split, "_end", lambda *args: Bin("+", real(*args), split.Const(1)))


@mutant
def what_may_run_is_dropped(m: pytest.MonkeyPatch) -> None:
    m.setattr(guards, "never", lambda fn, path, cond: not guards.always(fn, path, cond))


def of_sinking(plant: Planted) -> Planted:
    OF_SINKING.append(plant)
    return plant


@of_sinking
def writes_in_the_loop_prevent_nothing(m: pytest.MonkeyPatch) -> None:
    m.setattr(rematerialise, "dependences", lambda *_, **__: [])


@of_sinking
def writes_in_front_of_the_loop_prevent_nothing(m: pytest.MonkeyPatch) -> None:
    m.setattr(rematerialise._Sunk, "_rooted", lambda *_: None)


@of_sinking
def scalars_that_the_loop_writes_are_sunk(m: pytest.MonkeyPatch) -> None:
    m.setattr(rematerialise, "_changes", lambda _: frozenset())


@of_sinking
def nothing_is_kept_outside(m: pytest.MonkeyPatch) -> None:
    m.setattr(rematerialise._Sunk, "kept", property(lambda _: ()))


@of_sinking
def what_is_kept_stands_behind_the_loop(m: pytest.MonkeyPatch) -> None:
    m.setattr(rematerialise._Sunk, "_stays_in_front", property(lambda _: False))


def caught(plant: Planted, m: pytest.MonkeyPatch) -> bool:
    plant(m)
    sweep = sweep_imperfect if plant in OF_SINKING else sweep_neighbours
    for seed in range(50, 50 + ROUNDS):
        try:
            sweep(seed, PROGRAMS)
        except (Exception, pytest.fail.Exception):
            return True
    return False


@pytest.mark.parametrize("plant", [*MUTANTS, *OF_SINKING], ids=lambda f: f.__name__)
def test_a_planted_bug_is_caught(plant: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as m:
        assert caught(plant, m), f"{plant.__name__} survived"


@pytest.mark.slow
def test_without_one_nothing_fails() -> None:
    counts = sweep_neighbours(50, 2 * PROGRAMS)
    for verb in ("fuse", "split"):
        assert counts[f"accepted {verb}"] >= 20, counts
        assert counts[f"refused {verb}"] >= 20, counts
