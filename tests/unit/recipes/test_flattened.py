"""Loops that hold parallelism between sequential loops: by work-items, by groups, flat."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_same_meaning, c, untiled

from loopxform.ir.printer import listing
from loopxform.offload.flattened import Offloaded
from loopxform.offload.program import offload
from loopxform.schedule.params import Options
from loopxform.targets.target import GENERIC
from loopxform.transforms import Derivation, Dispatch, replay
from loopxform.tune.drawing import text
from loopxform.tune.nests import nests_of, owners

STEPS = c(
    "for (int o = 0; o < n; o++) { int s = 2 * o; for (int i = 0; i < m; i++) a[o][i] = s; "
    "for (int t = 0; t < k; t++) { int u = t + 1; "
    "for (int i = 0; i < m; i++) b[o][i] = a[o][m - 1 - i] * u; "
    "for (int i = 0; i < m; i++) a[o][i] += b[o][i] - s; } }",
    "int n, int m, int k, int a[restrict n][m], int b[restrict n][m]",
)
SUMS = c(
    "for (int o = 0; o < n; o++) for (int t = 0; t < k; t++) { for (int i = 0; i < m; i++) { "
    "int s = 0; for (int j = 0; j < m; j++) s += d[o][i][j]; b[o][i] = s + a[o][i]; } "
    "for (int i = 0; i < m; i++) a[o][i] = b[o][m - 1 - i] & 7; }",
    "int n, int m, int k, const int d[restrict n][m][m], int a[restrict n][m], "
    "int b[restrict n][m]",
)
OTHERS = {
    "carried": STEPS.replace("b[o][i] = a[o][m - 1 - i]", "b[o][i] = a[n - 1 - o][m - 1 - i]"),
    "nothing-inside": c(
        "for (int o = 0; o < n; o++) for (int t = 1; t < n; t++) a[o][t] = a[o][t - 1] + 1;",
        "int n, int a[restrict n][n]",
    ),
    "more-than-a-loop": STEPS.replace("for (int o", "a[0][0] = 1; for (int o", 1),
}


def offloaded(source: str, **values: int) -> Offloaded:
    options = Options(threshold=tuple(values.items()))
    return offload(untiled(source), {}, GENERIC, options)


def choice(derivation: Derivation) -> Dispatch | None:
    steps = (r.step for r in derivation.records)
    return next((s for s in steps if isinstance(s, Dispatch)), None)


def test_listing(golden: Golden) -> None:
    golden.check(listing(offloaded(STEPS).function))


@pytest.mark.parametrize("source", [STEPS, SUMS], ids=["steps", "sums"])
@pytest.mark.parametrize("values", [(0, 0), (1000, 0), (1000, 1000)])
def test_all_mean_the_same(source: str, values: tuple[int, ...]) -> None:
    step = choice(offloaded(source).derivation)
    assert step is not None
    asked = {name: value for (name, _), value in zip(step.thresholds, values)}
    assert_same_meaning(untiled(source), offloaded(source, **asked).function, (0, 1, 4))


def test_guards_and_parts() -> None:
    done = offloaded(STEPS)
    step = choice(done.derivation)
    assert step is not None
    assert [name for name, _ in step.thresholds] == ["suff_outer_par_0", "suff_intra_par_1"]
    guard = ("n<suff_outer_par_0", "n*min(m,256)>=suff_intra_par_1")
    assert [(v.label, v.guard) for v in step.variants] == [
        ("groups, arrays in local memory", (*guard, "m<=6144")),
        ("groups", guard),
        ("flat", guard[:1]),
        ("items", ()),
    ]
    kinds = [(p.kind, len(p.loops)) for p in done.parts]
    assert kinds.count(("host", 1)) == 1
    assert kinds.count(("kernel", 2)) >= 2
    assert kinds.count(("kernel", 1)) >= 2
    recipes = [p.tiled.recipe for p in done.parts if p.tiled]
    assert (recipes[0], recipes[-1]) == ("group", "naive")


def test_versions_inside_a_version(golden: Golden) -> None:
    """Names of thresholds are their own, and the forest has a tree inside a tree."""
    derivation = offloaded(SUMS).derivation
    nests = nests_of(derivation)
    golden.check("\n".join(text(nests.forest, nests.defaults, ())))
    assert set(owners(derivation)) == set(nests.defaults) == set(nests.amounts)
    steps = derivation.to_json()["steps"]
    assert replay(Derivation(derivation.start), steps).function == derivation.function


@pytest.mark.parametrize(("count", "kinds"), [("40", {"host"}), ("40000000", set[str]())])
def test_a_known_count_decides(count: str, kinds: set[str]) -> None:
    source = STEPS.replace("o < n", f"o < {count}").replace("[restrict n]", f"[restrict {count}]")
    done = offloaded(source)
    assert choice(done.derivation) is None
    assert {p.kind for p in done.parts} == {"kernel", *kinds}


@pytest.mark.parametrize("case", OTHERS)
def test_programs_that_stay_as_they_are(case: str) -> None:
    step = choice(offloaded(OTHERS[case]).derivation)
    assert step is None or "flat" not in [v.label for v in step.variants]
