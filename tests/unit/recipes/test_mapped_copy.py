"""The kernel of a copy in another layout: tiles that turn in local memory."""

from __future__ import annotations

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_same_meaning, c, start

from loopxform.codegen import emit
from loopxform.ir.evaluate import evaluate
from loopxform.ir.printer import listing
from loopxform.recipes.relayout_kernels import mapped_copy
from loopxform.transforms import Derivation, step

CUBE = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { "
    "for (int k = 0; k < l; k++) b[i][j] += a[i][k][j]; }",
    "int n, int m, int l, double a[n][l][m], float b[n][m]",
)
FOUR = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < 2; k++) "
    "for (int h = 0; h < l; h++) b[i] += a[i][j][k][h];",
    "int n, int m, int l, float a[n][m][2][l], float b[n]",
)
CASES = {
    "matrix": (MM, "A", "1,0"),
    "cube": (CUBE, "a", "2,0,1"),
    "cube-keeps-its-columns": (CUBE, "a", "1,0,2"),
    "four-dimensions": (FOUR, "a", "3,1,0,2"),
    "four-dimensions-keep-the-last": (FOUR, "a", "2,1,0,3"),
}


def turned(case: str, tile: int) -> Derivation:
    text, array, order = CASES[case]
    return mapped_copy(start(text)[0].then(step(f"relayout {array} {order} T")), "T", tile)


@pytest.mark.parametrize("case", CASES)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(listing(turned(case, 32).function))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tile", [4, 8])
def test_means_the_same(case: str, tile: int) -> None:
    done = turned(case, tile)
    assert_same_meaning(done.start, done.function, (0, 1, 3, 9))


def test_kernel(golden: Golden) -> None:
    """Both sides are coalesced, and the tile has a column more than it needs."""
    done = turned("matrix", 32)
    rest = ("privatise acc j", "parallelise i", "parallelise j")
    rest += ("stripmine i 4", "stripmine j 4", "interchange i jj")
    rest += ("map ii group.y", "map jj group.x", "map i thread.y", "map j thread.x")
    plan = emit.kernel(done.run(tuple(map(step, rest))))
    copy, product = plan.kernels
    golden.check(copy.text)
    assert (copy.group_shape, copy.local_bytes) == ((32, 8, 1), 32 * 33 * 4)
    assert (product.group_shape, product.local_bytes) == ((4, 4, 1), 0)
    assert copy.groups({"M": 33, "U": 100, "N": 1}) == (2, 4, 1)
    assert copy.groups({"M": 33, "U": 100, "N": 0}) == (0, 0, 0)
    (room,) = (c for c in plan.conditions if c.why == "T would be too large")
    sizes = [(9, 0), (2**23, 2**23), (2**24, 2**24), (2**25, 2**24), (2**31 - 1, 2**31 - 1)]
    holds = [evaluate(room.expr, {"M": m, "U": u, "N": 1}) for m, u in sizes]
    assert holds == [1, 1, 1, 0, 0]
