"""Versions of loops whose iterations hold parallel loops: by work-items, by groups, flat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from conftest import Golden
from deriving import assert_same_meaning, c, untiled

from loopxform.codegen import emit
from loopxform.ir.affine import value_of
from loopxform.ir.printer import listing
from loopxform.ir.visit import declared
from loopxform.offload.program import offload
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import GENERIC, Limits
from loopxform.transforms import Derivation, Dispatch, replay
from loopxform.tune.drawing import text
from loopxform.tune.forest import comparisons
from loopxform.tune.nests import nests_of

H100 = PROFILES["h100"]
ROWS = "int n, int m, const int a[restrict n][m], int b[restrict n][m]"
MIRROR = c(
    "for (int i = 0; i < n; i++) { int t[m]; for (int j = 0; j < m; j++) t[j] = 2 * a[i][j] + 1; "
    "for (int j = 0; j < m; j++) b[i][j] = t[j] * t[m - 1 - j]; }",
    ROWS,
)
MEAN = c(
    "for (int i = 0; i < n; i++) { float s = 0, w = 0; for (int j = 0; j < m; j++) s += a[i][j]; "
    "for (int j = 1; j < m; j++) w += a[i][j] * a[i][j - 1]; b[i][0] = s / m; b[i][1] = w; }",
    "int n, int m, const float a[restrict n][m], float b[restrict n][2]",
)
STEPS = c(
    "for (int i = 0; i < n; i++) for (int g = 0; g < 5; g++) { "
    "for (int j = 0; j < m; j++) b[i][j] = a[i][m - 1 - j] + g; "
    "for (int j = 0; j < m; j++) for (int k = 0; k < l; k++) x[i][j][k] = b[i][j] + k; }",
    f"{ROWS}, int l, int x[restrict n][m][l]",
)
TWO_ARRAYS = c(
    "for (int i = 0; i < n; i++) { int t[m]; double r[m][2]; for (int j = 0; j < m; j++) "
    "t[j] = a[i][j]; for (int j = 0; j < m; j++) r[m - 1 - j][1] = t[j]; "
    "for (int j = 1; j < m; j++) b[i][j] = r[j][1]; }",
    ROWS,
)
RECURRENCE = c(
    "for (int i = 0; i < n; i++) { int t[m]; for (int j = 0; j < m; j++) t[j] = a[i][j]; "
    "for (int j = 1; j < m; j++) t[j] += t[j - 1] / 2; "
    "for (int j = 0; j < m; j++) b[i][j] = t[m - 1 - j]; }",
    ROWS,
)
ONE_SUM = c(
    "for (int i = 0; i < n; i++) { int s = 0; for (int j = 0; j < m; j++) s += a[i][j]; "
    "b[i][0] = s; }",
    ROWS,
)
PRODUCT = c(
    "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) { int s = 0; "
    "for (int k = 0; k < m; k++) s += a[i][k] * x[k][j]; b[i][j] = s; } "
    "for (int j = 0; j < m; j++) b[i][j] += a[i][m - 1 - j]; }",
    f"{ROWS}, const int x[restrict m][m]",
)
PAIR = c(
    "for (int i = 0; i < n; i++) { int s = a[i][0]; for (int j = 1; j < m; j++) b[i][j] = s; }",
    ROWS,
)
PEAK = c(
    "for (int i = 0; i < n; i++) { float most = a[i][0], s = 0; for (int j = 1; j < m; j++) "
    "if (a[i][j] > most) most = a[i][j]; for (int j = 0; j < m; j++) s += a[i][j]; "
    "b[i][0] = s / most; }",
    "int n, int m, const float a[restrict n][m], float b[restrict n][1]",
)
SOURCES = {"mirror": MIRROR, "mean": MEAN, "steps": STEPS, "two-arrays": TWO_ARRAYS}


def tiled(source: str, limits: Limits = GENERIC, **values: int) -> Derivation:
    options = Options(reassociate=True, threshold=tuple(values.items()))
    return tile(untiled(source), {}, None, limits, options=options).derivation


def offloaded(source: str, limits: Limits = GENERIC, **values: int) -> Derivation:
    options = Options(reassociate=True, threshold=tuple(values.items()))
    return offload(untiled(source), {}, limits, options).derivation


def choice(derivation: Derivation) -> Dispatch | None:
    steps = (r.step for r in derivation.records)
    return next((s for s in steps if isinstance(s, Dispatch)), None)


def labels(derivation: Derivation) -> list[str]:
    step = choice(derivation)
    return [v.label for v in step.variants] if step and step.thresholds else []


@pytest.mark.parametrize("derive", [tiled, offloaded])
def test_guards(derive: Callable[[str], Derivation]) -> None:
    step = choice(derive(MIRROR))
    assert step is not None
    guard = ("n<suff_outer_par_0", "n*min(m,256)>=suff_intra_par_1")
    assert [(v.label, v.guard) for v in step.variants] == [
        ("groups, arrays in local memory", (*guard, "m<=6144")),
        ("groups", guard),
        ("flat", guard[:1]),
        ("items", ()),
    ]
    assert dict(step.thresholds)["suff_intra_par_1"] == 32 * 1024


@pytest.mark.parametrize(
    ("case", "versions"),
    [
        ("mean", ["groups, arrays in local memory", "groups", "items"]),
        ("steps", ["groups", "flat", "items"]),
        ("two-arrays", ["groups, arrays in local memory", "groups", "flat", "items"]),
    ],
)
def test_versions_of_functions(case: str, versions: list[str]) -> None:
    assert labels(offloaded(SOURCES[case])) == versions


def test_arrays_share_local_memory() -> None:
    """Each has half of the half of it: 12288 bytes, 3072 ints or 768 pairs of doubles."""
    step = choice(offloaded(TWO_ARRAYS))
    assert step is not None
    assert step.variants[0].guard[-2:] == ("m<=3072", "m<=768")
    first = emit.kernel(offloaded(TWO_ARRAYS)).kernels[0]
    assert "__local int t[3072]" in first.text
    assert "__local double r[768][2]" in first.text


def test_a_recurrence_that_one_work_item_would_run_leaves_groups_out() -> None:
    assert "groups" not in labels(tiled(RECURRENCE)) + labels(offloaded(RECURRENCE))


@pytest.mark.parametrize("source", [ONE_SUM, PRODUCT, PAIR], ids=["sum", "product", "pair"])
def test_nests_that_do_better_without(source: str) -> None:
    """A sum has versions of its own, tiles of a product read its operands less often, and what is
    already spread over two loops needs no groups."""
    for derive in (tiled, offloaded):
        found = nests_of(derive(source)).forest
        assert not any("min(" in x.amount for x in comparisons(found))


def test_sums_in_order_run_in_step(golden: Golden) -> None:
    """From a row in local memory, in groups of a warp."""
    done = offload(untiled(MEAN), {}, GENERIC)
    assert labels(done.derivation) == [
        *("groups, small arrays in local memory", "a nest for each loop"),
        *("groups, arrays in local memory", "items"),
    ]
    step = choice(done.derivation)
    assert step is not None
    many = ("n>=suff_outer_par_2", "m>=512")
    assert [v.guard[2:] for v in step.variants] == [("m<=2048",), many, ("m<=4096",), ()]
    golden.check(listing(done.function))


SOFTMAX = "#include <math.h>\n" + c(
    "for (int i = 0; i < n; i++) { float top = a[i][0], s = 0; "
    "for (int j = 0; j < m; j++) if (a[i][j] > top) top = a[i][j]; "
    "for (int j = 0; j < m; j++) s += expf(a[i][j] - top); "
    "for (int j = 0; j < m; j++) b[i][j] = expf(a[i][j] - top) / s; }",
    "int n, int m, const float a[restrict n][m], float b[restrict n][m]",
)


def test_rows_that_fill_local_memory_leave_room_for_parts_of_reductions() -> None:
    """The largest version has one group on a unit: 48 KiB hold the row and its terms, and what the
    work-items of a warp combine."""
    costs = replace(H100.costs, in_step_groups_at_least=1)
    done = offload(untiled(SOFTMAX), {}, replace(H100, costs=costs))
    step = choice(done.derivation)
    assert step is not None
    fits = [v.guard[-1] for v in step.variants if v.label.startswith("groups")]
    assert fits == ["m<=1024", "m<=2048", "m<=5376", "m>=512"]


@pytest.mark.parametrize("source", [MEAN, SOFTMAX], ids=["mean", "softmax"])
def test_long_rows_in_order_get_a_nest_for_each_loop(source: str, golden: Golden) -> None:
    """Sums in scalars, from tiles of rows; what is left is parallel."""
    step = choice(offload(untiled(source), {}, H100).derivation)
    assert step is not None
    (apart,) = (v for v in step.variants if v.label == "a nest for each loop")
    assert apart.derivation is not None
    assert_same_meaning(untiled(source), apart.derivation.function, (0, 1, 3))
    golden.check(listing(apart.derivation.function))


def test_loops_that_store_what_they_sum_up_stay_together() -> None:
    both = "{ b[i][j] = expf(a[i][j] - top); s += b[i][j]; }"
    stored = SOFTMAX.replace("s += expf(a[i][j] - top);", both)
    assert stored != SOFTMAX
    assert "a nest for each loop" not in labels(offload(untiled(stored), {}, H100).derivation)


def test_extrema_in_order_are_found_in_chunks(golden: Golden) -> None:
    """Of 65 iterations, an odd number: work-items read different banks of local memory."""
    done = offload(untiled(PEAK), {}, GENERIC)
    step = choice(done.derivation)
    assert step is not None
    groups = (v for v in step.variants if v.label.startswith("groups"))
    for variant, most in zip(groups, (2048, 4096)):
        sizes = [str(x) for x in variant.steps if x.verb in ("rfactor", "bound-extent")]
        parts = -(-most // 65)
        assert sizes == [
            f"bound-extent a_row {most}",
            "rfactor j 65",
            f"bound-extent most_part {parts}",
        ]
    golden.check(listing(done.function))


def test_each_nest_of_a_function_has_versions() -> None:
    """With thresholds of their own; a product has none."""
    source = c(
        "for (int i = 0; i < n; i++) { float s = 0; for (int j = 0; j < m; j++) s += a[i][j]; "
        "for (int j = 0; j < m; j++) a[i][j] /= s; } "
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { float s = 0; "
        "for (int k = 0; k < m; k++) s += a[i][k] * a[j][k]; b[i][j] = s; } "
        "for (int i = 0; i < n; i++) { float s = 0; for (int j = 0; j < n; j++) s += b[i][j]; "
        "for (int j = 0; j < n; j++) b[i][j] -= s; }",
        "int n, int m, float a[restrict n][m], float b[restrict n][n]",
    )
    for order, kinds in ((True, ("arrays", "groups")), (False, ("small arrays", "arrays"))):
        done = offload(untiled(source), {}, GENERIC, Options(reassociate=order)).derivation
        steps = [r.step for r in done.records if isinstance(r.step, Dispatch) and r.step.thresholds]
        expected = ["groups" if k == "groups" else f"groups, {k} in local memory" for k in kinds]
        if not order:
            expected.insert(1, "a nest for each loop")
            expected.append("groups, sums in chunks in local memory")
        assert [[v.label for v in s.variants] for s in steps] == [[*expected, "items"]] * 2
        kinds = ("outer", "intra") if order else ("outer", "intra", "outer")
        names = [f"suff_{kind}_par_{n}" for n, kind in enumerate(kinds * 2)]
        assert [name for s in steps for name, _ in s.thresholds] == names
        assert_same_meaning(untiled(source), done.function, (0, 1, 4))


@pytest.mark.parametrize(("size", "versions"), [(2000, 2), (20000, 0)])
def test_no_array_of_an_iteration_is_there_for_all_of_a_nest(size: int, versions: int) -> None:
    """One that has no room in a group leaves a work-item for each iteration, among other nests."""
    body = "for (int p = 0; p < n; p++) for (int i = 0; i < n; i++)"
    text = c(
        f"{body} b[p][i] = p - i; {body} {{ int t[{size}]; for (int j = 0; j < {size}; j++) "
        f"t[j] = j * i + b[p][i]; for (int j = 0; j < m; j++) x[p][i][j] = t[j * 7 % {size}]; }}",
        "int n, int m, int b[restrict n][n], int x[restrict n][n][m]",
    )
    done = offload(untiled(text), {}, GENERIC).derivation
    assert len(labels(done)) == versions
    extents = [d.shape for d in declared(done.function.body).values() if d.shape]
    assert all(value_of(shape[0]) is not None for shape in extents)


@pytest.mark.parametrize(
    "source",
    [
        MEAN.replace("s += a[i][j]", "s += a[i][j] / s"),
        MEAN.replace("s += a[i][j]", "s += a[i][j] * b[j & 1][0]"),
        MEAN.replace("w += a[i][j] * a[i][j - 1]", "w += a[i][j] * a[(i + 1) % n][j]"),
        MEAN.replace("a[i][j]", "a[j][i]").replace("a[i][j - 1]", "a[j][i]"),
    ],
    ids=["quotients-of-sums", "global-memory", "no-row", "columns"],
)
def test_sums_in_order_that_leave_groups_out(source: str) -> None:
    assert labels(offload(untiled(source), {}, GENERIC).derivation) == []


def test_rows_of_a_number_of_elements_have_no_guard() -> None:
    source = MEAN.replace("[n][m]", "[n][500]").replace("j < m", "j < 500")
    assert labels(offloaded(source)) == ["groups, arrays in local memory", "items"]
    step = choice(offloaded(source))
    assert step is not None
    assert step.variants[0].guard == ("n<suff_outer_par_0",)


def test_rows_that_never_fit_stay_in_global_memory() -> None:
    source = MEAN.replace("[n][m]", "[n][9000]").replace("j < m", "j < 9000")
    assert labels(offloaded(source)) == ["groups", "items"]


def test_rows_have_no_copies_in_global_memory() -> None:
    """Beside an array of the iteration that takes most of the local memory."""
    source = c(
        "for (int i = 0; i < n; i++) { int t[9000]; int s = 0; for (int j = 0; j < 9000; j++) "
        "t[j] = j * n; for (int j = 0; j < 5000; j++) s += a[i][j]; for (int j = 0; j < 5000; j++) "
        "b[i][j] = a[i][j] - s + t[8999 - j]; }",
        "int n, const int a[restrict n][5000], int b[restrict n][5000]",
    )
    done = offload(untiled(source), {}, GENERIC).derivation
    assert "groups" in labels(done)
    assert "a_row" not in emit.kernel(done).kernels[0].text


def test_rows_are_read_once() -> None:
    """Whichever loops use them: two sums, and what writes them."""
    source = c(
        "for (int i = 0; i < n; i++) { float s = 0, v = 0; for (int j = 0; j < m; j++) "
        "s += a[i][j]; for (int j = 0; j < m; j++) v += (a[i][j] - s) * (a[i][j] - s); "
        "for (int j = 0; j < m; j++) a[i][j] = (a[i][j] - s) / v; }",
        "int n, int m, float a[restrict n][m]",
    )
    for reassociate in (False, True):
        done = offload(untiled(source), {}, GENERIC, Options(reassociate=reassociate))
        text = emit.kernel(done.derivation).kernels[0].text
        assert text.count("= a[") == text.count(" a[", text.index("{")) / 2
        assert "a_row[" in text


@pytest.mark.parametrize("case", ["mirror", "steps", "two-arrays"])
@pytest.mark.parametrize(
    "chosen",
    [
        {"suff_outer_par": 0},
        {"suff_outer_par": 9999, "suff_intra_par": 0},
        {"suff_outer_par": 9999, "suff_intra_par": 9999},
    ],
)
def test_all_versions_mean_the_same(case: str, chosen: dict[str, int]) -> None:
    source = SOURCES[case]
    for derive in (tiled, offloaded)[case == "steps" :]:
        step = choice(derive(source, GENERIC))
        assert step is not None
        values = {n: chosen.get(n.rpartition("_")[0], 0) for n, _ in step.thresholds}
        done = derive(source, replace(GENERIC, local_bytes=200), **values)
        assert_same_meaning(untiled(source), done.function, (0, 1, 4))


@pytest.mark.parametrize(
    ("numbers", "versions"),
    [
        ({"m": 256}, ["groups", "items"]),
        ({"m": 255}, []),
        ({"n": 9}, []),
        ({"n": 900}, ["groups, arrays in local memory", "groups", "flat"]),
        ({"n": 900_000}, []),
    ],
)
def test_known_sizes_decide(numbers: dict[str, int], versions: list[str]) -> None:
    """A work-item can keep an array of so many ints: nothing is flattened then."""
    options = Options(specialise=tuple(numbers.items()))
    for derive in (tile, offload):
        done = derive(untiled(MIRROR), {}, limits=GENERIC, options=options)
        assert labels(done.derivation) == versions


def test_a_tree_of_versions(golden: Golden) -> None:
    nests = nests_of(tiled(MIRROR, H100))
    sizes = {"few": {"n": 4, "m": 100}, "more": {"n": 2000, "m": 100}, "short": {"n": 1000, "m": 3}}
    datasets = [(name, nests.instance(now)) for name, now in sizes.items()]
    golden.check("\n".join(text(nests.forest, nests.defaults, datasets)))


def test_steps_are_replayed() -> None:
    derivation = offloaded(TWO_ARRAYS)
    steps = derivation.to_json()["steps"]
    assert replay(Derivation(derivation.start), steps).function == derivation.function
