"""Every program of the corpus on a device, bit by bit what the user's C computes.

Contraction is off on both sides (#pragma OPENCL FP_CONTRACT OFF, cc -ffp-contract=off) and tiling
keeps the order of every sum, so that even floating-point results are identical.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from harness import (
    PROGRAMS,
    Sizes,
    check_on_device,
    given,
    kernel,
    plan,
    program,
    run_c,
    run_on_device,
    sizes_of,
    tiled,
)
from tilings import tile

from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.errors import DeviceError
from loopxform.ir.nodes import Copy, For, If, Stmt
from loopxform.ir.visit import loads, names, walk
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Recipe, Tiles
from loopxform.transforms import ClampEdges
from loopxform.verify.compare import compare

SEED = 17
TILES = (Tiles(4, 4, 4, 2, 2), Tiles(3, 5, 7, 2, 3), Tiles(4, 4, 2, 1, 2))
SIZES: tuple[Sizes, ...] = ((1, 1, 1), (33, 17, 70), (64, 32, 48), (0, 3, 4), (3, 0, 4), (3, 4, 0))


VARIANTS: list[tuple[Recipe, Tiles]] = [
    *(("register", tiles) for tiles in TILES[1:]),
    ("block", TILES[1]),
    ("naive", TILES[1]),
]
LARGE: list[tuple[Recipe, Tiles]] = [
    ("register", Tiles(16, 16, 16, 8, 4)),
    ("block", Tiles(16, 16, 16, 1, 1)),
]


@pytest.mark.device
@pytest.mark.parametrize("name", PROGRAMS)
def test_bit_identical_to_the_c_program(name: str) -> None:
    for size in SIZES:
        check_on_device(name, TILES[0], "register", sizes_of(name, *size), SEED)


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize(
    ("recipe", "tiles"),
    [*VARIANTS, *(pytest.param(*x, marks=pytest.mark.optimised) for x in LARGE)],
    ids=str,
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_bit_identical_in_every_variant(name: str, tiles: Tiles, recipe: Recipe) -> None:
    for size in SIZES:
        check_on_device(name, tiles, recipe, sizes_of(name, *size), SEED)


@pytest.mark.device
def test_sums_are_kept_in_order_and_not_contracted() -> None:
    """Large cancelling terms: another order, or a fused multiply-add, would round differently."""
    args = given("mm", sizes_of("mm", 20, 101, 20), SEED)
    rng = np.random.Generator(np.random.PCG64(SEED))
    args["A"] *= rng.choice([-1e6, 1e-3, 1.0], args["A"].shape).astype(np.float32)
    expected = run_c("mm", args)["C"]
    found = run_on_device(kernel("mm", TILES[0]), args)["C"]
    assert expected.tobytes() == found.tobytes()
    product = args["A"] @ args["B"]
    assert (product != expected).any()  # numpy sums in another order: the inputs do discriminate


@pytest.mark.device
def test_contraction_is_a_choice() -> None:
    """With contraction allowed results may differ in the last bits, and in no more."""
    contracted = emit.kernel(tiled("mm", TILES[0]).derivation)
    assert "FP_CONTRACT ON" in contracted.source
    assert "FP_CONTRACT OFF" in plan("mm", TILES[0]).source
    args = given("mm", sizes_of("mm", 33, 70, 17), SEED)
    found = run_on_device(CompiledKernel(contracted, choose()), args)
    assert not compare(run_c("mm", args), found, rtol=1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_tiles(name: str) -> None:
    """Every program is tiled in groups and registers."""
    result = tile(program(name), TILES[0])
    assert (result.recipe, result.reason) == ("register", "")
    copies = [s for _, s in walk(result.function.body) if isinstance(s, Copy)]
    assert sum(s.collective for s in copies) >= 2
    assert sum(not s.collective for s in copies) >= 2


# ---------------------------------------------------------------- no check between barriers


@pytest.mark.parametrize("recipe", ["register", "block"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_work_items_meet_no_bounds_check_between_barriers(name: str, recipe: Recipe) -> None:
    """Full tiles run at full speed; and PoCL's compiler is known to move code across barriers
    where work-items differ on a condition inside a loop that holds them."""
    for tiles in (TILES[0], TILES[2]) if recipe == "register" else (TILES[0],):
        p = plan(name, tiles, recipe)
        found = list(_checks_between_barriers(p))
        assert not found, (name, recipe, tiles, found)


def test_a_bounds_check_between_barriers_is_noticed() -> None:
    steps = [
        r for r in tiled("mm", TILES[0]).derivation.records if not isinstance(r.step, ClampEdges)
    ]
    before = next(r.result for r in reversed(steps) if r.step.verb == "copy-to-private")
    assert list(_checks_between_barriers(emit.program_plan(before, program("mm"))))


def _checks_between_barriers(p: Plan) -> Iterator[object]:
    """Conditions on loop variables that differ between work-items, in loops that hold copies."""
    (kernel,) = p.kernels
    moving = {t.loop.var for t in kernel.mapping.threads}
    for _, outer in walk(p.function.body):
        if not isinstance(outer, For) or outer.level is not None or not _holds_copies(outer):
            continue
        for _, s in walk(outer.body):
            if isinstance(s, If) and names(s.cond) & moving and not any(loads(s.cond)):
                yield s.cond
        inside = [s for _, s in walk(outer.body)]
        yield from (t.cuts for t in kernel.mapping.threads if t.cuts and t.loop in inside)


def _holds_copies(s: Stmt) -> bool:
    return any(isinstance(x, Copy) and x.collective for _, x in walk((s,)))


# ---------------------------------------------------------------- what does not fit


@pytest.mark.device
@pytest.mark.parametrize(
    ("tiles", "message"),
    [(Tiles(4, 4, 1 << 20, 2, 2), "local memory"), (Tiles(256, 256, 1, 1, 1), "65536 work-items")],
)
def test_a_tile_that_the_device_has_no_room_for(tiles: Tiles, message: str) -> None:
    """Refused before the device's compiler sees it: PoCL's would end the process."""
    with pytest.raises(DeviceError, match=message):
        kernel("mm", tiles)
