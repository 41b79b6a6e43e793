"""Which launches devices may share, and the rows that groups touch then."""

from __future__ import annotations

import pytest
from deriving import derived

from loopxform.codegen import emit
from loopxform.codegen.host import control

ROWS = """
void f(int n, int m, float a[restrict n][m], float b[restrict n][m], float t[restrict n][9],
       int k[restrict n])
{
"""
NEST = """
  for (int i = 1; i < n - 1; i++)
    for (int j = 0; j < m; j++)
      b[i][j] = a[i - 1][j];
"""
BY_ROWS = ("parallelise i", "stripmine i 4", "map ii group.x", "map i thread.x")
BY_BOTH = (
    *("parallelise i", "parallelise j", "stripmine i 4", "stripmine j 8", "interchange i jj"),
    *("map ii group.y", "map jj group.x", "map i thread.y", "map j thread.x"),
)
M = "4 * (long long)m"
TOO_WIDE = "((long long)m >= 9 && (long long)n >= 3)"


@pytest.mark.parametrize(
    ("nest", "steps", "expected"),
    [
        pytest.param(
            NEST, BY_ROWS, f"0, 1, 1, 4, 2|2, {M}, -1, 3, 0, 0|3, {M}, 0, 4, 0, 4", id="rows"
        ),
        pytest.param(
            NEST, BY_BOTH, f"1, 1, 1, 4, 2|2, {M}, -1, 3, 0, 0|3, {M}, 0, 4, 0, 4", id="tiles"
        ),
        pytest.param(
            NEST,
            (*BY_BOTH, "swizzle-groups ii 8"),
            f"1, 8, 1, 4, 2|2, {M}, -1, 3, 0, 0|3, {M}, 0, 4, 0, 4",
            id="whole bands of groups",
        ),
        pytest.param(
            NEST.replace("a[i - 1][j]", "a[k[i]][j]"),
            BY_ROWS,
            f"0, 1, 1, 4, 3|2, 0, 0, 0, 0, 0|3, {M}, 0, 4, 0, 4|4, 4, 0, 4, 0, 0",
            id="rows that data name",
        ),
        pytest.param(
            NEST.replace("b[i]", "t[i]").replace("j < m", "j <= m"),
            BY_ROWS,
            f"0, 1, 1, 4, {TOO_WIDE} ? 0 : 2|2, 0, 0, 0, 0, 0|3, 36, 0, 4, 0, 4",
            id="rows of a size that loops do not speak of",
        ),
        pytest.param(
            NEST.replace("a[i - 1][j]", "b[i][j] * a[n - 1 - i][j]"),
            BY_ROWS,
            f"0, 1, 1, 4, 2|2, 0, 0, 0, 0, 0|3, {M}, 0, 4, 0, 4",
            id="in place",
        ),
        pytest.param(
            NEST.replace("b[i][j] = a[i - 1][j]", "b[j][i] = a[j][i]").replace("j < m", "j < n"),
            BY_ROWS,
            "",
            id="groups that write the same rows",
        ),
        pytest.param(
            "  for (int i = 0; i < n / 2; i++)\n    k[2 * i] = 0;\n",
            BY_ROWS,
            "",
            id="rows apart",
        ),
        pytest.param(
            "  for (int i = 0; i < 4; i++)\n    k[i] = 0;\n", BY_ROWS, "", id="a single group"
        ),
    ],
)
def test_what_is_shared(nest: str, steps: tuple[str, ...], expected: str) -> None:
    lines = control.lines(emit.kernel(derived(f"{ROWS}{nest}}}\n", *steps)))
    head, *windows = expected.split("|")
    listed = ", ".join(f"{{ {w} }}" for w in windows)
    call = f"lx_split(lx_job, {head}, (const struct lx_window[]){{ {listed} }});"
    assert [x for x in lines if "lx_split" in x] == ([call] if expected else [])
