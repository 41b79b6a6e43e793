"""Versions of a nest: the guards, in which order, and that all of them mean the same."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from conftest import Golden
from deriving import assert_same_meaning, c, untiled
from versioned import CASES, COLUMNS, ROWS, SMALL, SQUARES, TWO, versioned

from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin
from loopxform.ir.printer import expr_text, listing
from loopxform.ir.visit import walk_expr
from loopxform.recipes.tile import tile
from loopxform.runtime.schedule import launched, not_known
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation, Dispatch, replay, thresholds_of
from loopxform.tune.nests import nests_of
from loopxform.verify.check_run import arguments
from loopxform.verify.group.execute import Executor
from loopxform.verify.interp import Program


def choices(derivation: Derivation) -> list[Dispatch]:
    return [r.step for r in derivation.records if isinstance(r.step, Dispatch)]


def guards(derivation: Derivation) -> dict[str, tuple[str, ...]]:
    (step,) = choices(derivation)
    return {v.label: v.guard for v in step.variants}


@pytest.mark.parametrize("case", CASES)
def test_versions(case: str) -> None:
    text, labels = CASES[case]
    done = versioned(text)
    found = [v.label for step in choices(done.derivation) for v in step.variants]
    assert tuple(found or ["items"]) == labels


def test_listing(golden: Golden) -> None:
    golden.check(listing(versioned(ROWS).function))


def test_iterations_that_no_guard_can_ask_for() -> None:
    """A `do` loop has at least one: `n > 0 ? n : 1`."""
    text = c(
        "for (int i = 0; i < 6; i++) { int k = 0; do { s[i] += a[i][k]; k++; } while (k < n); }",
        "int n, const int a[6][n], int s[6]",
    )
    assert choices(versioned(text).derivation) == []


@pytest.mark.parametrize("case", CASES)
def test_all_mean_the_same(case: str) -> None:
    done = versioned(CASES[case][0])
    assert_same_meaning(untiled(CASES[case][0]), done.function, (0, 1, 2, 5))


@pytest.mark.parametrize("case", [n for n, (_, labels) in CASES.items() if len(labels) > 1])
def test_kernels_of_each(case: str) -> None:
    """Run from their text, on both sides of every threshold; sums are of whole numbers."""
    text, labels = CASES[case]
    plan = emit.kernel(versioned(text).derivation, fp=SEPARATE)
    executor, taken = Executor(plan), set[int]()
    scalars = {p.name for p in plan.start.objects if not p.array}
    for n, m in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 69), (2, 70), (3, 71), (8, 5), (9, 3)):
        named = {"n": n, "m": m if len(scalars) < 3 else 4, "l": m}
        named = named if len(scalars) > 1 else {"n": max(n, m)}
        given = arguments(plan.start, {x: named[x] for x in scalars}, 3)
        for array in given.values():
            if getattr(array, "dtype", np.dtype(int)).kind == "f":
                array[...] = np.round(array * 50)
        expected = copy.deepcopy(given)
        Program(plan.start).run(expected)
        taken |= {number for number, _ in launched(plan, named, not_known)}
        executor.run(given, seed=n)
        for name, value in expected.items():
            assert np.array_equal(value, given[name]), (case, named, name)
    assert taken == set(range(len(plan.kernels))), labels


def test_guards() -> None:
    groups = ("n*(m-3)<suff_outer_par_0", "l>=suff_intra_par_1")
    assert guards(versioned(SQUARES).derivation) == {
        "chunks": (*groups, "n*(m-3)<suff_group_par_2", "l>=suff_inner_par_3"),
        "groups": groups,
        "items": (),
    }
    assert guards(versioned(COLUMNS).derivation) == {
        "chunks": ("n<suff_outer_par_0", "m>=suff_inner_par_1"),
        "items": (),
    }


def test_amounts_are_numbers_of_64_bits() -> None:
    """Whatever the sizes are, with three parallel loops too."""
    text = c(
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++) { "
        "int s = 0; for (int l = 0; l < m; l++) s += a[i][j][k][l]; y[i][j][k] = s; }",
        "int n, int m, const int a[restrict n][n][m][m], int y[restrict n][n][m]",
    )
    amounts = nests_of(versioned(text).derivation).amounts
    assert expr_text(amounts["suff_outer_par_0"]) == "max(min(n*n, 2147483647), 0) * m"
    for n, m in ((-(2**31), 2**31 - 1), (2**31 - 1, 2**31 - 1), (2**31 - 1, -(2**31)), (0, 5)):
        products = [x for x in walk_expr(amounts["suff_outer_par_0"]) if isinstance(x, Bin)]
        assert all(abs(evaluate(x, {"n": n, "m": m})) < 2**63 for x in products)


def test_several_nests_number_their_thresholds() -> None:
    kinds = ("suff_outer_par", "suff_intra_par", "suff_group_par", "suff_inner_par")
    names = [f"{kind}_{number}" for number, kind in enumerate((*kinds, *kinds))]
    assert list(thresholds_of(versioned(TWO).derivation)) == names


def test_no_permission_no_other_order() -> None:
    assert not choices(versioned(SQUARES, reassociate=False).derivation)


@pytest.mark.parametrize(
    ("n", "m", "labels"),
    [
        ("40000", "m", []),
        ("40", "m", ["chunks", "groups", "items"]),
        ("200", "m", ["groups", "items"]),
        ("200", "100", ["groups"]),
        ("n", "8", []),
        ("n", "100", ["groups", "items"]),
        ("n", "100000", ["chunks", "groups", "items"]),
    ],
)
def test_known_amounts_decide(n: str, m: str, labels: list[str]) -> None:
    text = ROWS.replace("i < n", f"i < {n}").replace("k < m", f"k < {m}")
    for name, number in (("n", n), ("m", m)):
        text = text.replace(f"{name}]", f"{number}]")
    done = tile(untiled(text), {})
    found = [v.label for step in choices(done.derivation) for v in step.variants]
    assert (found or ["groups"] * (done.recipe == "reduce")) == labels


def test_defaults_fill_the_device() -> None:
    """Where the model can tell, in proportion to what the versions cost."""
    for profile, values in (
        ("pocl", [512, 32768]),
        ("generic", [19967, 32, 128, 32768]),
    ):
        done = tile(untiled(ROWS), {}, limits=PROFILES[profile])
        assert list(thresholds_of(done.derivation).values()) == values


def test_replay() -> None:
    """Thresholds are saved with the schedule."""
    done = versioned(ROWS).derivation
    steps = json.loads(json.dumps(done.to_json()))["steps"]
    assert list(steps[-1]["thresholds"].values()) == [9, 2, 3, 70]
    assert replay(Derivation(done.start), steps).function == done.function


def test_none_for_tiled_c_or_on_request() -> None:
    cpu = tile(untiled(ROWS), {}, limits=PROFILES["cpu"])
    asked = tile(untiled(ROWS), {}, "1-d", limits=SMALL)
    split = tile(untiled(ROWS), {}, limits=SMALL, options=Options(Rk=2))
    assert not any(choices(done.derivation) for done in (cpu, asked, split))
