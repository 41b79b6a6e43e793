"""The accesses that the plan predicts, and those that Oclgrind counts: equal where tiles divide."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from traffic_cases import CASES, Case, Row, counted, given, plan_of

from loopxform.model import access_counts
from loopxform.model.access_counts import Traffic
from loopxform.schedule.params import Options

DOCS = Path(__file__).parents[2] / "docs" / "tiling.md"
RECIPES = {"register", "block", "coarsened", "one-sided", "1-d", "stencil", "naive"}


def totals(found: Traffic, sizes: dict[str, int]) -> tuple[Fraction, ...]:
    return tuple(access_counts.total(terms, sizes) for _, terms in found.rows())


def is_exact(found: Traffic) -> bool:
    return all(access_counts.exact(terms) for _, terms in found.rows())


def simulated(case: Case) -> Row:
    plan = plan_of(case.tiled)
    return counted(plan, given(case, plan))


def test_every_recipe_is_there() -> None:
    assert {c.tiled.tiled.recipe for c in CASES} == RECIPES


def test_the_documented_lines_are_those_of_the_plan() -> None:
    said = re.findall(r"^\| `(\w+)` \| ([\w-]+) \| (.* = .*) \|$", DOCS.read_text(), re.MULTILINE)
    predicted = set[tuple[str, str, str]]()
    for case in CASES:
        for recipe, found in (
            ("naive", access_counts.naive(case.tiled.derivation)),
            (case.tiled.tiled.recipe, access_counts.tiled(case.tiled.derivation)),
        ):
            cells = " | ".join(f"{n} = {n}" for n in totals(found, case.integers))
            predicted.add((case.name, recipe, cells))
    assert len(said) > 20
    assert set(said) <= predicted


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.label)
def test_the_tiled_kernel_accesses_what_was_predicted(case: Case) -> None:
    found = access_counts.tiled(case.tiled.derivation)
    assert is_exact(found)
    assert totals(found, case.integers) == simulated(case)


@pytest.mark.oclgrind
@pytest.mark.parametrize("case", {c.name: c for c in CASES}.values(), ids=lambda c: c.name)
def test_the_naive_kernel_accesses_what_was_predicted(case: Case) -> None:
    found = access_counts.naive(case.tiled.derivation)
    assert is_exact(found)
    assert totals(found, case.integers) == simulated(case.naive)


OPTIONS = {
    "padded": Case("gemm_double", options=Options(pad=True)),
    "versions": Case("gemm_double", options=Options(separate_full_tiles=True)),
    "another-layout": Case(
        "row_sum", {"M": 32, "N": 32}, options=Options(relayout=(("A", "1,0"),))
    ),
    "chunks": Case("hamming", options=Options(Rk=2)),
}


@pytest.mark.oclgrind
@pytest.mark.parametrize("option", OPTIONS)
def test_all_kernels_of_a_program_count(option: str) -> None:
    case = OPTIONS[option]
    found = access_counts.tiled(case.tiled.derivation)
    assert is_exact(found)
    assert totals(found, case.integers) == simulated(case)


BOUNDS = ("masked_mean", "range_query", "floyd_step", "substring", "triangles")


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", BOUNDS)
def test_what_data_decide_is_bounded_and_said_to_be(name: str) -> None:
    case = Case(name)
    found = access_counts.tiled(case.tiled.derivation)
    assert not is_exact(found)
    for (_, terms), count in zip(found.rows(), simulated(case)):
        total = access_counts.total(terms, case.integers)
        assert access_counts.text(terms).startswith("at most ") is not access_counts.exact(terms)
        assert total == count if access_counts.exact(terms) else total >= count


@pytest.mark.oclgrind
def test_the_data_tell_how_often_a_loop_runs() -> None:
    case = Case("csr")
    done = case.tiled
    found, plan = access_counts.tiled(done.derivation), plan_of(done)
    assert access_counts.text(found.global_reads) == "2*n + 4*n*trips(e)"
    with pytest.raises(KeyError, match="trips"):
        access_counts.total(found.global_reads, case.integers)
    args = given(case, plan)
    args["rowptr"] = np.array([0, 0, 3, 4, 4, 6, 7, 7, 8], np.int32)
    assert totals(found, {**case.integers, "trips(e)": 1}) == counted(plan, args)
