"""Which nests are contractions, when one product takes their place, and by what steps."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Golden
from deriving import c, every_step, shown

from loopxform.frontend import parse_file
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function
from loopxform.prepare.parallel_band import prepare
from loopxform.recipes.contraction import contraction
from loopxform.recipes.tile import tile
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Coalesce, Derivation, Dispatch, Unfold, replay, with_tiles

CORPUS = Path(__file__).parents[3] / "corpus"
H100 = PROFILES["h100"]
CONTRACT = (CORPUS / "nests" / "contract.c").read_text()
SIZES = ("na", "nb", "nc", "nd", "ne", "nf")


def function(text: str) -> Function:
    (fn,) = parse_file("t.c", text=text).unit.functions
    return fn


def nest(inside: str, params: str, loops: str = "abcd") -> str:
    every = "".join(f"for (int {v} = 0; {v} < n{v}; {v}++) " for v in loops)
    sizes = ", ".join(f"int {n}" for n in SIZES)
    return c(f"{every}{{ float s = 0; {inside} }}", f"{sizes}, {params}")


def term(a: str, b: str, loops: str = "ef") -> str:
    every = "".join(f"for (int {v} = 0; {v} < n{v}; {v}++) " for v in loops)
    return f"{every}s += A{a} * B{b};"


ARRAYS = "const float A[na][ne][nb][nf], const float B[nf][nd][nc][ne], float C[na][nb][nc][nd]"
STORE = "C[a][b][c][d] = s;"
SUM = term("[a][e][b][f]", "[f][d][c][e]")
KINDS = {
    "contract": (CONTRACT, "- / ab / cd / ef"),
    "other-order-of-loops": (nest(SUM + STORE, ARRAYS, "dbca"), "- / ab / cd / ef"),
    "columns-first": (
        nest(SUM.replace("A", "X").replace("B", "A").replace("X", "B") + STORE,
             "const float B[na][ne][nb][nf], const float A[nf][nd][nc][ne],"
             " float C[na][nb][nc][nd]"),
        "- / ab / cd / ef",
    ),
    "batches": (
        nest(term("[a][e][b]", "[d][e][c][a]", "e") + "C[a][b][c][d] = s;",
             "const float A[na][ne][nb], const float B[nd][ne][nc][na],"
             " float C[na][nb][nc][nd]"),
        "a / b / cd / e",
    ),
    "smallest-sums": (
        nest(SUM.replace("s += A[a][e][b][f] * B[f][d][c][e]",
                         "s = fminf(s, A[a][e][b][f] + B[f][d][c][e])") + STORE, ARRAYS),
        "- / ab / cd / ef",
    ),
    "convolution": ((CORPUS / "nests" / "conv_layer.c").read_text(), "- / o / brs / cpq"),
    "moving": (
        nest(term("[a+e][e][b][f]", "[f][d][c][e]") + STORE, ARRAYS.replace("A[na]", "A[na+ne]")),
        "- / ab / cd / ef",
    ),
}  # fmt: skip
OTHERS = {
    "product": (CORPUS / "mm.c").read_text(),
    "batched product": (CORPUS / "batched.c").read_text(),
    "triangle": (CORPUS / "nests" / "lower_pairs.c").read_text(),
    "windows side by side": nest(term("[a][e+b][f]", "[a][f][c][e]") + "C[a][b][c] = s;",
                                 "const float A[na][ne+nb][nf], const float B[na][nf][nc][ne],"
                                 " float C[na][nb][nc]", "abc"),
    "diagonal": nest(term("[a][e][b][e]", "[f][d][c][e]") + STORE, ARRAYS),
    "one operand twice": nest(term("[a][e][b][f]", "[a][e][d][f]").replace("B", "A") + STORE,
                              "const float A[na][ne][nb][nf], float C[na][nb][nc][nd]"),
    "three operands": nest(SUM.replace("* B", "* w[e] * B") + STORE, f"const float *w, {ARRAYS}"),
    "read again": nest(SUM + "C[a][b][c][d] = s + A[a][0][b][0];", ARRAYS),
    "a term for one": nest(term("[a][e][b]", "[f][d][c][e]") + STORE,
                           ARRAYS.replace("[nb][nf]", "[nb]")),
    "no columns": nest(term("[a][e][b][f]", "[f][e]") + "C[a][b] = s;",
                       "const float A[na][ne][nb][nf], const float B[nf][ne], float C[na][nb]",
                       "ab"),
    "bounds that differ": nest(SUM.replace("e < ne", "e < w[a]") + STORE,
                               f"const int *w, {ARRAYS}"),
    "from one": nest(SUM.replace("e = 0", "e = 1") + STORE, ARRAYS),
    "two sums": nest(f"{SUM} {SUM} {STORE}", ARRAYS),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_the_kinds_of_loops(name: str) -> None:
    text, kinds = KINDS[name]
    found = contraction(prepare(Derivation(function(text))))
    assert found is not None
    groups = (found.batches, found.rows, found.columns, found.terms)
    assert " / ".join("".join(x.var for x in g) or "-" for g in groups) == kinds


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_left_alone(name: str) -> None:
    assert contraction(prepare(Derivation(function(OTHERS[name])))) is None


# ---------------------------------------------------------------- when it pays


def guard_holds(done: Tiled, *sizes: int) -> bool:
    """Whether the host takes a variant of one product."""
    (dispatch,) = (r.step for r in done.derivation.records if isinstance(r.step, Dispatch))
    values = dict(zip(SIZES, sizes))
    conditions = [dispatch.conditions(v) for v in dispatch.variants]
    first = next(n for n, g in enumerate(conditions) if all(evaluate(e, values) for e in g))
    return any(isinstance(s, Coalesce) for s in dispatch.variants[first].steps)


@pytest.fixture(scope="module")
def contract() -> Tiled:
    return tile(function(CONTRACT), {}, None, H100)


@pytest.mark.parametrize(
    ("sizes", "product"),
    [
        ((64, 64, 64, 64, 32, 32), True),  # 4096 x 1024 x 4096
        ((64, 65, 63, 64, 31, 33), True),
        ((32, 128, 32, 128, 32, 32), True),  # tiles are full, but filled element by element
        ((4096, 1, 4096, 1, 1024, 1), True),
        ((16, 16, 16, 16, 16, 16), False),  # two tiles, and two copies
        ((1, 4096, 1, 4, 32, 32), False),  # few columns for the copy of A
        ((64, 64, 64, 64, 1, 1), False),  # nothing to sum up
        ((64, 0, 64, 64, 32, 32), False),
        ((0, 64, 64, 64, 32, 32), False),
        ((-64, -64, 64, 64, 32, 32), False),
        ((1 << 14, 1 << 14, 64, 64, 1, 1), False),  # an int does not number the results
        ((1 << 16, 1 << 16, 1, 1, 1, 1), False),  # nor the iterations
    ],
    ids=str,
)
def test_when_the_host_takes_one_product(
    contract: Tiled, sizes: tuple[int, ...], product: bool
) -> None:
    assert guard_holds(contract, *sizes) == product


@pytest.mark.parametrize(
    ("sizes", "product"),
    [((64, 64, 64, 64, 32, 32), True), ((4, 4, 4, 4, 4, 4), False)],
    ids=str,
)
def test_sizes_that_are_numbers_decide_it(sizes: tuple[int, ...], product: bool) -> None:
    options = Options(specialise=tuple(zip(SIZES, sizes)))
    done = tile(function(CONTRACT), {}, None, H100, options=options)
    assert any(isinstance(s, Unfold) for s in every_step(done.derivation)) == product
    assert (len(done.nest.parallel) == 2) == product


@pytest.mark.parametrize(
    ("asked", "sizes"),
    [
        (Options(relayout=()), {}),
        (Options(relayout=(("A", "0,2,1,3"),)), {}),
        (Options(), {"Ty": 8}),
        (Options(Rk=4, reassociate=True), {}),
    ],
    ids=str,
)
def test_what_the_user_asks_for_is_all_that_is_done(asked: Options, sizes: dict[str, int]) -> None:
    done = tile(function(CONTRACT), sizes, None, H100, options=asked)
    assert not any(isinstance(s, Unfold) for s in every_step(done.derivation))


@pytest.mark.parametrize("profile", ["generic", "cpu", "pocl"])
def test_a_device_of_which_no_rates_are_known_takes_the_nest_as_it_is(profile: str) -> None:
    done = tile(function(CONTRACT), {}, None, PROFILES[profile])
    assert not any(isinstance(s, Unfold) for s in every_step(done.derivation))


# ---------------------------------------------------------------- the steps


def test_the_steps(golden: Golden) -> None:
    """Those of the first variant, up to the nest of two parallel loops."""
    done = tile(function(CONTRACT), {}, None, replace(H100, async_copies=False))
    (dispatch,) = (r.step for r in done.derivation.records if isinstance(r.step, Dispatch))
    first = dispatch.variants[0].derivation
    assert first is not None
    product = [r for r in first.records if r.stage == "One product of matrices"]
    golden.check(shown(replace(first, records=tuple(product))))


def test_the_derivation_replays() -> None:
    """From JSON, as `apply --script` reads it."""
    one_shape = replace(H100, smaller_tiles=(), packed_tiles=())
    done = tile(function(CONTRACT), {}, None, one_shape).derivation
    data = json.loads(json.dumps(done.to_json()))
    assert any(isinstance(s, Unfold) for s in every_step(done))
    assert replay(Derivation(with_tiles(done.start, data["tiles"])), data["steps"]).function == (
        done.function
    )
