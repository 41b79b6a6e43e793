"""Windows at the edge of an array, in random spellings: tiles are filled with what the program
reads, and nothing outside of the array is touched.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest
from deriving import assert_same_meaning, untiled
from tilings import Recipe, Tiles, tile

RECIPES: tuple[Recipe, ...] = ("stencil", "register", "1-d")


def _index(rng: random.Random, name: str, at: str, size: str) -> tuple[str, str]:
    """Statements that compute a subscript, and the condition under which it is one, if it may be
    none."""
    start = f"int {name} = {at};"
    last, low = f"{size} - 1", "0"
    clamps = (
        f"if ({name} < {low}) {name} = {low}; if ({name} > {last}) {name} = {last};",
        f"if ({name} >= {last}) {name} = {last}; else if ({name} <= {low}) {name} = {low};",
        f"{name} = {name} < {low} ? {low} : {name} > {last} ? {last} : {name};",
        f"{name} = {name} > {last} ? {last} : {name}; {name} = {name} > {low} ? {name} : {low};",
    )
    inside = f"{name} >= 0 && {name} < {size}"
    if rng.random() < 0.5:
        return f"{start} {rng.choice(clamps)}", ""
    return start, inside


def _program(rng: random.Random) -> str:
    flat = rng.random() < 0.5
    dy, dx = rng.randint(-3, 1), rng.randint(-3, 1)
    row, ask_row = _index(rng, "r", f"y + v + {dy}", "h")
    column, ask_column = _index(rng, "c", f"x + u + {dx}", "w")
    element = "a[r * w + c]" if flat else "a[r][c]"
    asked = " && ".join(filter(None, (ask_row, ask_column)))
    if asked and rng.random() < 0.4:
        summed = f"s += ({asked} ? {element} : 2) * t[v][u];"
    elif asked and rng.random() < 0.5:
        summed = f"if (!({asked})) continue; s += {element} * t[v][u];"
    else:
        summed = f"{f'if ({asked}) ' if asked else ''}s += {element} * t[v][u];"
    a = "const int *a" if flat else "const int a[h][w]"
    return f"""void f(int h, int w, {a}, const int t[3][3], int b[h][w]) {{
      for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {{ int s = 0;
        for (int v = 0; v < 3; v++) {{ {row} for (int u = 0; u < 3; u++) {{ {column} {summed} }} }}
        b[y][x] = s; }} }}"""


@pytest.mark.parametrize("seed", range(6))
def test_random_windows(seed: int) -> None:
    rng, staged = random.Random(seed), Counter[str]()
    for _ in range(8):
        first = untiled(_program(rng))
        sizes = Tiles(Ty=2, Tx=rng.choice((1, 3)), Tk=2, Ry=rng.choice((1, 2)), Rx=2)
        done = tile(first, sizes, rng.choice(RECIPES))
        staged.update(s.stage.array for s in done.staged)
        assert_same_meaning(first, done.function, (1, 2, 5))
    assert staged["a"]
