"""Table 3 of Cholewa-Madsen and Holst, counted: memory accesses of the naive, block tiled and
register tiled product under Oclgrind, which executes the kernels as they are written.

All twelve entries hold exactly on sizes that the tiles divide; none differs by design. Elsewhere
copies read the last valid element again in place of what is past the edge, so that tiles count
whole, while accumulation stops at U; the formulas for that are below too.
"""

from __future__ import annotations

from dataclasses import astuple

import pytest
from harness import given, plan, simulate, sizes_of

from loopxform.schedule.params import Recipe, Tiles

SEED = 3
TILES = Tiles(Ty=2, Tx=4, Tk=3, Ry=3, Rx=2)
Row = tuple[int, int, int, int]
"""Global reads, global writes, local reads, local writes."""


def counted(name: str, recipe: Recipe, tiles: Tiles, m: int, u: int, n: int) -> Row:
    p = plan(name, tiles, recipe)
    report = simulate(p, given(name, sizes_of(name, m, u, n), SEED))
    assert report.clean
    c = report.counts[p.kernels[0].name]
    spaces = [(table, space) for space in ("global", "local") for table in (c.loads, c.stores)]
    a, b, x, y = (table[space].count if space in table else 0 for table, space in spaces)
    return a, b, x, y


def table3(recipe: Recipe, tiles: Tiles, m: int, u: int, n: int) -> Row:
    """The three columns of the table."""
    ty, tx, _, ry, rx, _ = astuple(tiles)
    mnu = m * n * u
    if recipe == "naive":
        return 2 * mnu, m * n, 0, 0
    if recipe == "block":
        copied = mnu // ty + mnu // tx
        return copied, m * n, 2 * mnu, copied
    copied = mnu // (ty * ry) + mnu // (tx * rx)
    return copied, m * n, mnu // ry + mnu // rx, copied


@pytest.mark.oclgrind
@pytest.mark.parametrize("recipe", ["naive", "block", "register"])
@pytest.mark.parametrize("tiles", [TILES, Tiles(4, 4, 4, 2, 2), Tiles(3, 2, 5, 1, 4)], ids=str)
def test_the_table_holds_where_tiles_divide(recipe: Recipe, tiles: Tiles) -> None:
    m, u, n = 2 * tiles.Ty * tiles.Ry, 3 * tiles.Tk, 3 * tiles.Tx * tiles.Rx
    assert counted("mm", recipe, tiles, m, u, n) == table3(recipe, tiles, m, u, n)


@pytest.mark.oclgrind
@pytest.mark.parametrize("sizes", [(13, 7, 17), (1, 2, 3), (12, 10, 16)], ids=str)
def test_partial_tiles_count_whole_tiles(sizes: tuple[int, int, int]) -> None:
    m, u, n = sizes
    ty, tx, tk, ry, rx, _ = astuple(TILES)
    groups = -(-m // (ty * ry)) * -(-n // (tx * rx))
    copied = groups * -(-u // tk) * tk * (ty * ry + tx * rx)
    local_reads = groups * ty * tx * u * (ry + rx)
    assert counted("mm", "register", TILES, m, u, n) == (copied, m * n, local_reads, copied)


@pytest.mark.oclgrind
@pytest.mark.parametrize("recipe", ["naive", "block", "register"])
def test_code_around_the_reduction_adds_its_own(recipe: Recipe) -> None:
    """gemm also reads C once per element, a bias is read once per element."""
    m, u, n = 12, 9, 16
    reads, *others = table3(recipe, TILES, m, u, n)
    for name in ("gemm", "mm_bias"):
        assert counted(name, recipe, TILES, m, u, n) == (reads + m * n, *others), name


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["mm_at", "mm_bt", "mm_flat", "mm_accumulate"])
def test_the_layout_and_the_spelling_do_not_matter(name: str) -> None:
    m, u, n = 12, 9, 16
    assert counted(name, "register", TILES, m, u, n) == table3("register", TILES, m, u, n)
