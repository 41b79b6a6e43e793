"""Which arrays are read from a copy in another layout, which are not, and how many transactions."""

from __future__ import annotations

import pytest
from deriving import assert_same_meaning, c, corpus

from loopxform.cli.transactions_text import transactions
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Function
from loopxform.recipes.tile import estimate, tile
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import Options, Recipe
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Relayout

GENERIC = PROFILES["generic"]


def function(text: str) -> Function:
    (fn,) = parse_file("t.c", text=text).unit.functions
    return fn


def tiled(
    text: str,
    recipe: Recipe | None = None,
    profile: str = "generic",
    options: Options | None = None,
) -> Tiled:
    return tile(function(text), {}, recipe, PROFILES[profile], options=options or Options())


def orders(done: Tiled) -> dict[str, str]:
    """The arrays that are copied, with the order of their dimensions."""
    steps = (r.step for r in done.derivation.records)
    return {s.array: ",".join(s.order) for s in steps if isinstance(s, Relayout)}


def walk(passes: int | str, type: str = "float", more: str = "") -> str:
    """A recurrence along the rows of a, made several times: no group can copy these together."""
    return c(
        f"for (int i = 0; i < n; i++) {{ {type} s = 0; for (int p = 0; p < {passes}; p++) "
        f"for (int k = 0; k < m; k++) s = s / 2 + a[i][k]{more}; b[i] = s; }}",
        f"int n, int m, int passes, const {type} a[restrict n][m], {type} b[restrict n]",
    )


RAGGED = c(
    "for (int i = 0; i < n; i++) { int s = 0; for (int k = 0; k < length[i]; k++) "
    "s = s / 2 + a[i][k]; b[i] = s; }",
    "int n, int m, const TYPE a[restrict n][m], const int length[restrict n], int b[restrict n]",
)
CUBE = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { float s = 0; "
    "for (int p = 0; p < n; p++) for (int k = 0; k < n; k++) s = s / 2 + a[INDEX]; b[i][j] = s; }",
    "int n, const float a[restrict n][n][n], float b[restrict n][n]",
)
COPIED = {
    "read for each pass": (walk("passes"), {"a": "1,0"}),
    "read twice": (walk(2), {"a": "1,0"}),
    "doubles, read four times": (walk(4, "double"), {"a": "1,0"}),
    "the middle dimension last": (CUBE.replace("INDEX", "i][j][k"), {"a": "0,2,1"}),
    "the first dimension last": (CUBE.replace("INDEX", "j][i][k"), {"a": "1,2,0"}),
    "of a flat array": (
        walk("passes")
        .replace("a[restrict n][m]", "*restrict a")
        .replace("a[i][k]", "a[i * m + k]"),
        {"a": "1,0"},
    ),
}
NOT_COPIED = {
    "floats, read once": walk(1),
    "characters of rows of their own lengths, read once": RAGGED.replace("TYPE", "char"),
    "floats of rows of their own lengths, read once": RAGGED.replace("TYPE", "float"),
    "doubles, read twice": walk(2, "double"),
    "columns": walk("passes").replace("a[i][k]", "a[k][i]"),
    "flat columns": walk("passes")
    .replace("a[restrict n][m]", "*restrict a")
    .replace("a[i][k]", "a[k * n + i]"),
    "what all work-items read alike": walk("passes").replace("a[i][k]", "a[0][k]"),
    "a few elements, which registers hold": walk("passes").replace("k < m", "k < 3"),
    "addresses that depend on data": walk("passes").replace("a[i][k]", "a[(int)b[i]][k]"),
    "arrays that are written": c(
        "for (int i = 0; i < n; i++) for (int p = 0; p < n; p++) "
        "for (int k = 1; k < n; k++) a[i][k] = a[i][k - 1] / 2 + a[i][k];",
        "int n, float a[n][n]",
    ),
    "rows that a group copies": c(
        "for (int i = 0; i < n; i++) { float s = 0; for (int k = 0; k < m; k++) s += a[i][k]; "
        "b[i] = s; }",
        "int n, int m, const float a[restrict n][m], float b[restrict n]",
    ),
    "rows along which neighbours can lie": CUBE.replace("INDEX", "j][k][i"),
}


@pytest.mark.parametrize("case", COPIED)
def test_copied_where_that_pays(case: str) -> None:
    text, wanted = COPIED[case]
    done = tiled(text)
    assert orders(done) == wanted
    assert_same_meaning(function(text), done.function, (0, 1, 7))


@pytest.mark.parametrize("case", NOT_COPIED)
def test_not_copied_where_that_does_not_pay(case: str) -> None:
    done = tiled(NOT_COPIED[case])
    assert orders(done) == {}
    assert done.copied == ()


NESTS: dict[str, dict[str, str]] = {
    "nests/best_shift": {"x": "1,0"},
    "nests/kmeans_assign": {"X": "1,0"},
    "nests/nearest_distance": {"Q": "1,0"},
    "nests/smoothing_grid": {"x": "1,0"},
    "nests/triangles": {"adj": "1,0"},
    "mm_at": {},
    "mm_bt": {},
    "mm_flat": {},
    "nests/csr": {},
    "nests/floyd_step": {},
    "nests/force_vector": {},
    "nests/mm_column_major": {},
    "nests/row_histogram": {},
    "nests/row_sum": {},
    "nests/softmax_rows": {},
    "nests/transpose": {},
    "nests/weighted_rows": {},
    "nests/word_counts": {},
}


@pytest.mark.parametrize("name", NESTS)
def test_nests_of_the_corpus(name: str) -> None:
    assert orders(tiled(corpus(name))) == NESTS[name]


def test_what_the_user_asks_for_is_done() -> None:
    text = walk("passes")
    assert orders(tiled(text, options=Options(relayout=()))) == {}
    assert orders(tiled(text, "naive")) == {}
    assert orders(tiled(walk(1), options=Options(relayout=(("a", "1,0"),)))) == {"a": "1,0"}


def test_work_items_that_do_not_run_in_step_walk_rows() -> None:
    assert orders(tiled(walk("passes"), profile="pocl")) == {}


# ---------------------------------------------------------------- neighbours


def near(text: str, warp: str = "generic") -> str:
    return tiled(text, "naive", warp).choice.neighbours


def test_neighbours_lie_along_rows() -> None:
    columns = c(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[j][i] = a[j][i] + x[j];",
        "int n, int m, float a[m][n], float b[m][n], float x[m]",
    )
    rows = columns.replace("[j][i]", "[i][j]").replace("[m][n]", "[n][m]")
    assert near(columns) == "i"
    assert near(rows) == "j"
    assert near(columns, "pocl") == "j"
    done = tiled(columns, "naive")
    assert "map i* thread.x" in [str(r.step) for r in done.derivation.records]
    assert_same_meaning(function(columns), done.function, (0, 1, 20))


def test_the_outermost_of_three_loops_may_be_the_one() -> None:
    text = c(
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) "
        "b[j][k][i] = a[k][j][i];",
        "int n, float a[n][n][n], float b[n][n][n]",
    )
    done = tiled(text, "naive")
    assert done.choice.neighbours == "i"
    assert_same_meaning(function(text), done.function, (0, 1, 5))


# ---------------------------------------------------------------- numbers worked out by hand

N = 1024
WORKED: dict[str, tuple[str, Recipe | None, dict[str, int]]] = {
    "neighbours": (
        c("for (int i = 0; i < n; i++) b[i] = a[i];", "int n, double *a, float *b"),
        "naive",
        {"a": N // 4, "b": N // 8},
    ),
    "rows": (walk(1), "naive", {"a": N * N, "b": N // 8}),
    "indirect": (
        c("for (int i = 0; i < n; i++) b[i] = a[at[i]];", "int n, float *a, int *at, char *b"),
        "naive",
        {"a": N, "at": N // 8, "b": N // 32},
    ),
    "members of structs of 24 bytes": (
        "struct s { double x, y, z; };\n"
        + c("for (int i = 0; i < n; i++) b[i] = p[i].y;", "int n, struct s *p, double *b"),
        "naive",
        {"p.y": 24 * N // 32, "b": N // 4},
    ),
    "rows that a group copies in tiles of 64": (
        NOT_COPIED["rows that a group copies"],
        "1-d",
        {"a": N * N // 8, "b": N // 8},
    ),
    "a box that all work-items share": (
        c(
            "for (int i = 0; i < n; i++) { float s = 0; "
            "for (int k = 0; k < m; k++) s += a[i] * x[k]; b[i] = s; }",
            "int n, int m, const float *restrict a, const float *restrict x, float *restrict b",
        ),
        "1-d",
        {"a": N // 8, "x": N // 256 * N // 8, "b": N // 8},
    ),
    "tiles of 128 x 16 and of 16 x 128, and writes 8 elements apart": (
        corpus("mm"),
        "register",
        {"A": N**3 // 128 // 8, "B": N**3 // 128 // 8, "C": N * N},
    ),
}


@pytest.mark.parametrize("case", WORKED)
def test_numbers(case: str) -> None:
    text, recipe, wanted = WORKED[case]
    assert estimate(tiled(text, recipe), GENERIC).counts == wanted


def test_a_copy_counts_with_the_nest() -> None:
    before, after = transactions(tiled(walk("passes")), GENERIC)
    assert before == {"a": N**3, "b": N // 8}
    assert after == {"a": N * N // 8, "a_t": N * N // 8 + N**3 // 8, "b": N // 8}


@pytest.mark.parametrize(("profile", "count"), [("pocl", 1), ("generic", 0)])
def test_whole_groups_in_turn_ask_no_conditions(profile: str, count: int) -> None:
    """Their compiler has work-items in vectors then; loops inside it has in vectors itself."""
    sizes = "int n, int m, const float a[restrict n][m], float b[restrict n][m]"
    rows = "for (int i = 0; i < n; i++)"
    source = c(f"{rows} for (int j = 0; j < m; j++) b[i][j] = 2 * a[i][j];", sizes)
    done = tiled(source, "naive", profile)
    verbs = [r.step.verb for r in done.derivation.records]
    assert verbs.count("separate-full-tiles") == count
    assert_same_meaning(function(source), done.function, (0, 1, 5))
    recurrence = f"{rows} for (int j = 1; j < m; j++) b[i][j] = a[i][j] - b[i][j - 1];"
    done = tiled(c(recurrence, sizes), "naive", profile)
    assert "separate-full-tiles" not in [r.step.verb for r in done.derivation.records]
