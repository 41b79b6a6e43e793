"""WarpTile: each work-item has a place of its own, and neighbours stand where they are meant to."""

from __future__ import annotations

import re

import pytest
from c_texts import MM

from loopxform.codegen import emit
from loopxform.frontend import parse_file
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES

ROWS, COLUMNS = 8, 16
H100 = PROFILES["h100"]
SHAPES = [(2, 2), (2, 16), (4, 8), (8, 4), (8, 2)]


def places(rows: int, columns: int, *, kept: int) -> list[tuple[int, int]]:
    """Where the work-items of a group stand (y, x), in order, where each keeps so many elements."""
    (fn,) = parse_file("f.c", text=MM).unit.functions
    sizes = {"Ty": ROWS, "Tx": COLUMNS, "Tk": 16, "Ry": kept, "Rx": kept}
    options = Options(warp_tile=(rows, columns), stages=1)
    source = emit.kernel(tile(fn, sizes, "register", H100, options=options).derivation).source
    found = {}
    for name in ("local_y", "local_x"):
        match = re.search(rf"{name} = \(int\)\((.*?)\)[,;]", source)
        assert match is not None, source
        found[name] = match[1].replace("/", "//").replace("Tx", str(COLUMNS))
    numbers = range(ROWS * COLUMNS)
    return [tuple(eval(found[n], {"item": i}) for n in found) for i in numbers]  # type: ignore[misc]


@pytest.mark.parametrize("kept", [4, 12])
@pytest.mark.parametrize("shape", SHAPES)
def test_each_work_item_has_a_place_of_its_own(shape: tuple[int, int], kept: int) -> None:
    """Those that run in lockstep fill a rectangle of that shape."""
    found = places(*shape, kept=kept)
    assert sorted(found) == [(y, x) for y in range(ROWS) for x in range(COLUMNS)]
    rows, columns = shape
    for n in range(0, len(found), rows * columns):
        warp = found[n : n + rows * columns]
        assert len({y for y, _ in warp}) == rows
        assert len({x for _, x in warp}) == columns


@pytest.mark.parametrize("shape", SHAPES)
def test_pairs_where_reads_take_longer_than_the_arithmetic(shape: tuple[int, int]) -> None:
    """16 elements of each need many reads for their multiply-adds, 144 few."""
    apart = {kept: places(*shape, kept=kept)[1] for kept in (4, 12)}
    assert apart == {4: (1, 0), 12: (0, 1)}
