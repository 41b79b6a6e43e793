"""SkipEmptyTiles: groups without iterations do nothing."""

from __future__ import annotations

import pytest
from c_texts import MAPPED, MM, TRIANGULAR
from conftest import Golden
from deriving import assert_step, c, refusal

import loopxform as lx

BODY = "c[i][j] += a[i][k] * a[j][k];"
PARAMS = "int n, int m, const float a[restrict n][m], float c[restrict n][n]"


def nest(head: str, body: str = BODY, params: str = PARAMS) -> str:
    return c(f"for (int i = 0; i < n; i++) {head} for (int k = 0; k < m; k++) {body}", params)


LOWER = nest("for (int j = 0; j <= i; j++)")
UPPER = nest("for (int j = i; j < n; j++)")
BAND = nest("for (int j = 0; j < n; j++) if (j <= i + 2 && i < j + 5)")
OTHERS = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { float s = 0;"
    " for (int k = 0; k < m; k++) s += a[i][k] * a[j][k];"
    " if (j <= i) c[i][j] = s; if (j > i) c[i][j] = -s; }",
    PARAMS,
)
DATA = nest("for (int j = 0; j < n; j++) if (a[j][0] > 0)")
TILES = (
    *("parallelise i", "parallelise j", "bounding-box j i"),
    *("stripmine i Ty ii", "stripmine j Tx jj", "interchange i jj"),
    *("map ii group.y", "map jj group.x", "map i thread.y", "map j thread.x"),
)


def tiled(text: str) -> tuple[str, ...]:
    """The program and the steps that make register tiles of it, without `trim`."""
    (routine,) = lx.loads(text)
    sizes = {"Ty": 2, "Tx": 3, "Tk": 2, "Ry": 2, "Rx": 2}
    done = routine.tile(recipe="register", **sizes)
    return text, *(
        s for r in done.derivation.records if not (s := str(r.step)).startswith("skip-empty-tiles")
    )


@pytest.mark.parametrize("case", ["LOWER", "UPPER", "BAND"])
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = tiled(globals()[case])
    golden.check(assert_step(text, *steps, "skip-empty-tiles jjj"))


@pytest.mark.parametrize("text", [LOWER, UPPER, BAND])
def test_the_recipe_trims(text: str) -> None:
    (routine,) = lx.loads(text)
    steps = [str(r.step) for r in routine.tile(recipe="register").derivation.records]
    assert steps[-1] == "skip-empty-tiles jjj"


REFUSALS = {
    "no-guard": (MM, *MAPPED, "skip-empty-tiles jjj"),
    "not-innermost": (TRIANGULAR, *TILES, "skip-empty-tiles ii"),
    "not-mapped": (TRIANGULAR, "skip-empty-tiles j"),
    "no-loop": (TRIANGULAR, *TILES, "skip-empty-tiles jj"),
    "unknown": (MM, "skip-empty-tiles x"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


@pytest.mark.parametrize("case", ["OTHERS", "DATA"])
def test_refusal_of_a_tiled_program(case: str, golden: Golden) -> None:
    text, *steps = tiled(globals()[case])
    golden.check(refusal(text, *steps, "skip-empty-tiles jjj"))


def test_only_once(golden: Golden) -> None:
    text, *steps = tiled(LOWER)
    golden.check(refusal(text, *steps, "skip-empty-tiles jjj", "skip-empty-tiles jjj"))
