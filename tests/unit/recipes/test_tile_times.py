"""Times of tiles: measured where the profile of the device has them all, else modelled."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import loopxform as lx
from loopxform.ir.nodes import If
from loopxform.ir.visit import walk
from loopxform.model.tile_shapes import MOST_TIME, Shape
from loopxform.model.waves import SCALE, Tiling, of_vectors, timed
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits
from loopxform.transforms import Dispatch

H100 = PROFILES["h100"]
LARGE = ((16, 8, 8), (8, 8, 8), (8, 12, 6), (8, 6, 6), (8, 10, 4))
KEPT = (*LARGE, (8, 8, 4), (8, 6, 4), (8, 4, 4), (4, 4, 2), (4, 2, 2))
TILINGS = [
    Tiling({"Ty": y, "Tx": 16, "Tk": 8, "Ry": rows, "Rx": columns}, Shape((1, 1), 1))
    for y, rows, columns in KEPT
]


def times(limits: Limits) -> list[tuple[int, int, int]]:
    shapes = [t.shape for t in timed(TILINGS, limits)]
    return [(s.time, s.start, s.epilogue) for s in shapes]


def test_measured() -> None:
    assert times(H100) == [row[1:4] for row in H100.tile_times[: len(KEPT)]]


def test_measured_where_rows_are_vectors() -> None:
    """Times of their own, and waves in rounds; as they are where one was not measured."""
    plain = timed(TILINGS, H100)
    shapes = [t.shape for t in of_vectors(plain, H100)]
    rows = [(s.time, s.start, s.epilogue, s.resident) for s in shapes]
    measured = [row for row in H100.tile_times if row[0].endswith("vectors")]
    assert rows == [row[1:] for row in measured]
    assert max(s.resident for s in shapes) > 1
    short = replace(H100, tile_times=(*H100.tile_times[: len(KEPT)], *measured[:-1]))
    assert of_vectors(plain, short) == plain


def test_times_that_would_overflow_an_int_keep_their_proportions() -> None:
    table = tuple((name, *(100 * x for x in row), 1) for name, *row, _ in H100.tile_times)
    scaled = times(replace(H100, tile_times=table))
    assert max(map(max, scaled)) == MOST_TIME
    longest = max(x for _, *row in table[: len(KEPT)] for x in row)
    for row, (_, *long, _) in zip(scaled, table):
        assert [x / MOST_TIME for x in row] == pytest.approx([x / longest for x in long], abs=0.001)


@pytest.mark.parametrize("device", ["gtx780ti", "a100", "rtx2080ti"])
def test_modelled(device: str) -> None:
    """In proportion to the elements of a tile, small ones longer; results are written in that too.
    Within a fifth of what is measured on a device of the same kind."""
    modelled = times(PROFILES[device])
    assert modelled[0][0] == SCALE
    assert len({start for _, start, _ in modelled}) == 1
    for (time, _, _), (_, measured, *_) in zip(modelled[:5], H100.tile_times):
        assert time == pytest.approx(measured, rel=1 / 5)
    for t, (_, _, epilogue) in zip(TILINGS, modelled):
        share = t.sizes["Ty"] * t.sizes["Ry"] * t.sizes["Rx"] / (16 * 8 * 8)
        assert epilogue == pytest.approx(share * modelled[0][2], abs=0.6)


def test_no_tile_of_a_kind_that_fits() -> None:
    assert timed([], H100) == []
    for size in (16384, 18000, 24000):
        assert lx.load("corpus/mm.c")["mm"].tile(limits=replace(H100, local_bytes=size)).sizes


def test_one_that_was_not_measured_leaves_all_to_the_model() -> None:
    left = times(replace(H100, tile_times=H100.tile_times[1:]))
    modelled = times(PROFILES["a100"])
    assert [row[:2] for row in left] == [row[:2] for row in modelled]


def test_a_device_never_gets_the_times_of_another() -> None:
    """The numbers that the host compares are the model's, for each profile but one."""
    for device in ("gtx780ti", "a100"):
        tiled = lx.load("corpus/mm.c")["mm"].tile(limits=device)
        text = " ".join(
            str(s.cond) for _, s in walk(tiled.derivation.function.body) if isinstance(s, If)
        )
        assert "Const(value=501" in text
        assert "Const(value=560" not in text


def chunks(limits: Limits) -> list[Shape]:
    tiled = lx.load("corpus/mm.c")["mm"].tile(limits=limits, fp="reassociate")
    (dispatch,) = (r.step for r in tiled.derivation.records if isinstance(r.step, Dispatch))
    labels = [v.label for v in dispatch.variants if "split-K" in v.label]
    assert len(labels) == len(set(labels)), "each variant has a name of its own"
    costs = {v.label: v.cost for v in dispatch.variants if "split-K" in v.label}
    return [Shape((1, 1), *map(int, re.findall(r"\d+", cost))) for cost in costs.values()]


@pytest.mark.slow
def test_times_of_chunks_are_in_the_unit_of_the_other_tiles() -> None:
    """Scaled with them; left to the model where these are."""
    measured = chunks(H100)
    assert len(measured) == 6  # three, with vectors and without
    table = tuple((name, *(100 * x for x in row)) for name, *row in H100.tile_times)
    for scaled, plain in zip(chunks(replace(H100, tile_times=table)), measured):
        assert scaled.time == pytest.approx(plain.time * MOST_TIME / 930, abs=1)
        assert scaled.start == pytest.approx(plain.start * MOST_TIME / 930, abs=1)
    modelled = chunks(replace(H100, tile_times=H100.tile_times[1:]))
    assert [s.time for s in modelled] != [s.time for s in measured]
    for model, plain in zip(modelled, measured):
        assert model.time == pytest.approx(plain.time, rel=0.7)
    free = replace(H100, tile_times=(), costs=replace(H100.costs, launch=0))
    assert chunks(free) == [], "nothing says what a launch takes"
