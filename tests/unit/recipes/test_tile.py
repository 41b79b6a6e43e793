"""The tile recipe: the listings of Cholewa-Madsen and Holst, every program of the corpus, and what
is refused."""

from __future__ import annotations

from functools import cache

import pytest
from c_texts import DIAGONAL, MM, SKEW, TWO
from conftest import Golden
from deriving import CORPUS, assert_same_meaning, c, corpus, start, untiled
from tilings import Recipe, Tiled, Tiles, tile

from loopxform.errors import LoopxformError, TransformError, UnsupportedC
from loopxform.ir import wellformed
from loopxform.ir.printer import listing
from loopxform.transforms import Derivation, Record, replay, with_tiles

RECIPES: tuple[Recipe, ...] = ("register", "block", "naive")
SEED_TILES = Tiles(Ty=16, Tx=16, Tk=16, Ry=8, Rx=4)
SMALL = Tiles(Ty=2, Tx=3, Tk=4, Ry=2, Rx=3)
UNEVEN = Tiles(Ty=3, Tx=1, Tk=2, Ry=1, Rx=2)
PROGRAMS = sorted(p.stem for p in CORPUS.glob("*.c"))


@cache
def tiled(text: str, sizes: Tiles, recipe: Recipe) -> Tiled:
    return tile(untiled(text), sizes, recipe)


def stage_text(title: str, records: tuple[Record, ...]) -> str:
    steps = "".join(f"  {r.step}  # {r.reason}\n" for r in records)
    return f"{title}\n{steps}\n{listing(records[-1].result)}"


@pytest.mark.parametrize("recipe", RECIPES)
def test_stages_of_the_matrix_product(recipe: Recipe, golden: Golden) -> None:
    """Register tiling reads as listings 2 to 10 of the seed, but for exact subscripts where the
    seed is loose: `(ii-iii)/Ry` for `ii-iii`, and `A_loc[ii-iii : ii-iii + Ry, k]`."""
    stages = tiled(corpus("mm"), SEED_TILES, recipe).derivation.stages
    for n, (title, records) in enumerate(stages):
        golden.check(stage_text(title, records), f"{n + 1}")
    if recipe == "register":
        titles = [title.split(":")[0] for title, _ in stages[:9]]
        assert titles == [f"Listing {n}" for n in range(2, 11)]


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_of_the_corpus(name: str, recipe: Recipe, golden: Golden) -> None:
    done = tiled(corpus(name), SEED_TILES, recipe)
    steps = "".join(f"{r.step}\n" for r in done.derivation.records)
    golden.check(f"{done.recipe}{f': {done.reason}' if done.reason else ''}\n\n{steps}")


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", [p for p in PROGRAMS if p != "mm_macro"])
def test_every_step_of_the_corpus_means_the_same(name: str, recipe: Recipe) -> None:
    done = tiled(corpus(name), SMALL if len(name) % 2 else UNEVEN, recipe)
    for record in done.derivation.records:
        wellformed.check(record.result)
    for _, records in done.derivation.stages[1::2]:
        assert_same_meaning(done.derivation.start, records[-1].result, (0, 1, 5))
    assert_same_meaning(done.derivation.start, done.function, (4, 7))


def test_a_program_on_globals_means_the_same() -> None:
    small = corpus("mm_macro")
    for name, value in (
        ("ROWS 19", "ROWS 5"),
        ("DEPTH 22", "DEPTH 7"),
        ("COLUMNS 13", "COLUMNS 4"),
    ):
        assert name in small
        small = small.replace(name, value)
    for recipe in RECIPES:
        done = tiled(small, SMALL, recipe)
        assert done.recipe == recipe
        assert_same_meaning(done.derivation.start, done.function, (1,))


@pytest.mark.parametrize("recipe", RECIPES)
def test_tiles_that_begin_before_the_array(recipe: Recipe) -> None:
    backwards = MM.replace("A[i][k] * B[k][j]", "A[M - 1 - i][k] * B[k][N - 1 - j]")
    done = tiled(backwards, SMALL, recipe)
    assert done.recipe == recipe
    assert_same_meaning(done.derivation.start, done.function, (0, 1, 5, 9))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_derivation_replays(name: str) -> None:
    done = tiled(corpus(name), SEED_TILES, "register")
    data = done.derivation.to_json()
    fresh = Derivation(with_tiles(untiled(corpus(name)), data["tiles"]))
    assert replay(fresh, data["steps"]).function == done.function


# ---------------------------------------------------------------- what does not fit

REFUSALS: dict[str, str] = {
    "two-nests": TWO,
    "no-nest": c("b[0] = a[0];"),
    "statement-outside": c("b[0] = 1; for (int i = 0; i < n; i++) b[i] = a[i];"),
    "recurrence": c("for (int i = 1; i < n; i++) a[i] = a[i - 1];"),
    "diagonal": SKEW.replace("a[i][j + 1]", "a[i][j] + a[i + 1][j + 1]"),
    "call": c("for (int i = 0; i < n; i++) a[i] = rand();"),
    "one-parallel-loop": c("for (int i = 0; i < n; i++) b[i] = a[i];"),
    "no-reuse": MM.replace("A[i][k] * B[k][j]", "C[i][j]"),
    "not-a-box": MM.replace("A[i][k]", "A[i][k / 2]").replace("B[k][j]", "B[k / 2][j]"),
}


@pytest.mark.parametrize("case", REFUSALS)
@pytest.mark.parametrize("recipe", ["register", "block"])
def test_refusal(case: str, recipe: Recipe, golden: Golden) -> None:
    first, sources = start(REFUSALS[case])
    with pytest.raises((UnsupportedC, TransformError)) as e:
        tile(first.start, SMALL, recipe, strict=True)
    golden.check(e.value.render(sources) + "\n")


MAPPED_NAIVELY = ("one-parallel-loop", "no-reuse", "not-a-box")


@pytest.mark.parametrize("case", MAPPED_NAIVELY)
def test_what_does_not_fit_is_mapped_naively_and_says_why(case: str) -> None:
    first, _ = start(REFUSALS[case])
    done = tile(first.start, SMALL)
    assert done.recipe == "naive"
    with pytest.raises(LoopxformError) as e:
        tile(first.start, SMALL, strict=True)
    assert done.reason == e.value.message
    assert_same_meaning(first.start, done.function, (0, 1, 7))


def test_names_of_the_user_are_left_alone() -> None:
    text = (
        MM.replace("acc", "ii").replace("int M", "int jjj, int M").replace("= ii;", "= ii * jjj;")
    )
    for recipe in RECIPES:
        done = tiled(text, SMALL, recipe)
        assert done.recipe == recipe
        assert_same_meaning(done.derivation.start, done.function, (0, 1, 6))


def test_a_diagonal_dependence_leaves_no_parallel_loop() -> None:
    with pytest.raises(UnsupportedC, match="can run in parallel"):
        tiled(DIAGONAL.replace("a[i][j] +", "a[i][j] + a[i + 1][j] +"), SMALL, "naive")


def test_reductions_into_arrays_alone() -> None:
    """The user asked for no parts: what stands in their way is not all that there is to say."""
    text = c(
        "for (int b = 0; b < n; b++) { d[b] += v[b]; e[x[b]] = e[x[b]] && v[b]; }",
        "int n, int d[n], int e[n], const int v[n], const int x[n]",
    )
    with pytest.raises(UnsupportedC, match=r"nor in parts: updates of 'e' .* no atomic") as e:
        tile(untiled(text), SMALL)
    assert "rfactor" not in e.value.render()
