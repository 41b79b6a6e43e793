"""Tiled kernels compiled by the C compiler: tables 4 and 5 of Cholewa-Madsen and Holst and the
corpus, bit by bit as the user's C, and a spread of both under the sanitizers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from corpus_nests import NAMES, nest
from harness import check_kernel, plan, sizes_of
from test_table45 import PROGRAMS, SIZES, SMALL_SIZES, SMALL_TILES, TILES, label

from loopxform.codegen import emit
from loopxform.errors import DeviceError
from loopxform.floating_point import SEPARATE
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Tiles
from loopxform.verify.check_run import run
from loopxform.verify.cref import CSource

SEED = 54
QUICK = {"mm": 0, "mm_int_div": 3, "mm_bool_and": 6}


def check(kernel: CompiledKernel, name: str, size: tuple[int, int, int]) -> None:
    check_kernel(kernel, name, sizes_of(name, *size), SEED)


def _tables() -> Iterator[object]:
    for name in PROGRAMS:
        for n, tiles in enumerate(TILES):
            if name != "mm" and n not in (0, 3, 6, QUICK[name]):
                continue
            marks = [] if n == QUICK[name] else [pytest.mark.slow]
            yield pytest.param(name, tiles, marks=marks, id=f"{name}-{label(tiles)}")


@pytest.mark.parametrize(("name", "tiles"), list(_tables()))
def test_every_size_of_table_4(name: str, tiles: Tiles) -> None:
    kernel = CompiledKernel(plan(name, tiles), choose("c"))
    for size in SIZES:
        check(kernel, name, size)


@pytest.mark.parametrize(
    ("device", "name", "tiles", "size"),
    [
        ("c+asan", "mm", SMALL_TILES[1], SMALL_SIZES[-1]),
        ("c+asan", "mm_bool_and", SMALL_TILES[6], SMALL_SIZES[3]),
        ("c+tsan", "mm_int_div", SMALL_TILES[2], SMALL_SIZES[-1]),
        *(
            pytest.param(device, name, tiles, size, marks=pytest.mark.slow)
            for device in ("c+asan", "c+tsan")
            for name in PROGRAMS
            for tiles, size in list(zip(SMALL_TILES, SMALL_SIZES[-7:], strict=True))[::3]
        ),
    ],
)
def test_sanitizers_find_nothing_in_tiled_products(
    device: str, name: str, tiles: Tiles, size: tuple[int, int, int]
) -> None:
    check(CompiledKernel(plan(name, tiles), choose(device)), name, size)


@pytest.mark.parametrize(
    ("device", "old", "new", "what"),
    [
        ("c+tsan", "barrier(CLK_LOCAL_MEM_FENCE);", "", "data race"),
        ("c+tsan", "get_group_id(0) *", "0 *", "data race"),
        ("c+asan", "min(iii + c0, M - 1)", "(iii + c0)", "heap-buffer-overflow"),
        ("c+asan", "B_loc[c0][c1] = B", "B_loc[c0][c1 + 5] = B", "out of bounds"),
        ("c+asan", "if (ii + i < M && jj + j < N)", "if (jj + j < N)", "heap-buffer-overflow"),
    ],
)
def test_what_is_planted_in_a_tiled_product_is_found(
    device: str, old: str, new: str, what: str
) -> None:
    right = plan("mm", SMALL_TILES[1])
    assert old in right.source
    (kernel,) = right.kernels
    wrong = replace(right, kernels=(replace(kernel, text=kernel.text.replace(old, new)),))
    with pytest.raises(DeviceError, match=what) as e:
        check(CompiledKernel(wrong, choose(device)), "mm", (10, 7, 21))
    assert any("kernel.cl:" in n for n in e.value.notes)


SPREAD = NAMES[::9]
"""Nests that run by default; the others are slow."""


def _nests(device: str, quick: tuple[str, ...], names: tuple[str, ...]) -> Iterator[object]:
    for name in names:
        marks = [] if name in quick else [pytest.mark.slow]
        yield pytest.param(device, name, marks=marks, id=f"{device}-{name}")


@pytest.mark.parametrize(
    ("device", "name"),
    [
        *_nests("c", SPREAD, NAMES),
        *_nests("c+asan", SPREAD[1::4], SPREAD),
        *_nests("c+tsan", SPREAD[::4], SPREAD),
    ],
)
def test_nests_of_the_corpus_run_like_the_c_program(device: str, name: str) -> None:
    n, where = nest(name), choose(device)
    tiled = n.routine.tile(contract=False)
    scalars = n.scalars if device == "c" else n.small(13)
    result = run(
        emit.kernel(tiled.derivation, fp=SEPARATE),
        CSource(str(n.file)),
        where,
        scalars,
        SEED,
        inputs=n.inputs,
    )
    assert result.ok, result.mismatches[0]
    assert result.elements
