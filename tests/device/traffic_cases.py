"""Nests whose accesses are counted under Oclgrind, at sizes that the tiles divide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from corpus_nests import Nest, nest
from harness import simulate
from tilings import ROOM

from loopxform.api.tile import TiledRoutine, tile_routine
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.schedule.params import PLAIN, Options, Recipe
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource, Library

SEED = 4
TILES = {"Ty": 2, "Tx": 4, "Tk": 2, "Ry": 2, "Rx": 2}

Row = tuple[int, int, int, int]
"""Global reads, global writes, local reads, local writes."""


@dataclass(frozen=True, eq=False)
class Case:
    """A nest of the corpus, the numbers of its sizes (8 where none is given), and how it is tiled:
    `recipe` is what the user asks for, None what is found on a device that runs so many work-items
    (`warp`) in lockstep."""

    name: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    recipe: Recipe | None = None
    tiles: Mapping[str, int] = field(default_factory=lambda: TILES)
    options: Options = PLAIN
    warp: int = 1

    @property
    def label(self) -> str:
        asked = f"-{self.recipe}" if self.recipe else ""
        return f"{self.name}{asked}"

    @property
    def nest(self) -> Nest:
        return nest(self.name)

    @property
    def scalars(self) -> dict[str, int | float]:
        return {**self.nest.fixed, **dict.fromkeys(self.nest.residual, 8), **self.sizes}

    @property
    def integers(self) -> dict[str, int]:
        return {n: v for n, v in self.scalars.items() if isinstance(v, int)}

    @property
    def naive(self) -> Case:
        """The same nest with a work-item for each iteration."""
        tiles = {n: self.tiles[n] for n in ("Ty", "Tx") if n in self.tiles}
        return replace(self, recipe="naive", tiles=tiles, options=PLAIN)

    @cached_property
    def tiled(self) -> TiledRoutine:
        routine, options, room = self.nest.routine, self.options, replace(ROOM, warp=self.warp)
        return tile_routine(routine, self.tiles, self.recipe, room, fp=SEPARATE, options=options)


CASES = (
    Case("gemm_double"),
    Case("gemm_double", recipe="block"),
    Case("gemm_double", recipe="one-sided"),
    Case("mm_column_major"),
    Case("small_products", {"batch": 3}, tiles={}),
    Case("complex_product"),
    Case("batch_scale", {"n": 2}),
    Case("hamming"),
    Case("conv_layer", {"n": 2, "co": 4, "ci": 4, "h": 2}),
    Case("triangular_product"),
    Case("causal_attention"),
    Case("nbody_structs"),
    Case("force_vector"),
    Case("coulomb_grid"),
    Case("kmeans_assign", recipe="1-d"),
    Case("lava_boxes", {"boxes": 3, "nn": 2}),
    Case("embedding_bag"),
    Case("weighted_rows", recipe="one-sided"),
    Case("softmax_rows", tiles={**TILES, "Tk": 1}, warp=32),
    Case("row_moments", warp=32),
    Case("row_histogram"),
    Case("log_sum_exp", warp=32),
    Case("filter_7x7"),
    Case("convolve_7x7"),
    Case("bilateral", {"h": 10, "w": 14}),
    Case("box_blur"),
    Case("stencil_27", {"n": 4, "m": 10, "l": 10}, tiles={**TILES, "Tz": 2}),
)
"""Every recipe; strips, halos, colours, batches, structs, indirect tiles, tuples, triangles,
sequential loops that nest and that follow one another, windows of constants."""


def plan_of(done: TiledRoutine) -> Plan:
    return emit.kernel(done.derivation, fp=SEPARATE)


def given(case: Case, plan: Plan) -> dict[str, Any]:
    """Random arguments."""
    args = arguments(plan.start, case.scalars, SEED, case.nest.inputs)
    Library(CSource(str(case.nest.file)), [plan.start]).read_constants(case.name, args)
    return args


def counted(plan: Plan, args: Mapping[str, Any]) -> Row:
    """What Oclgrind counts in all kernels. Fails where it finds anything wrong."""
    report = simulate(plan, args)
    assert report.clean, report.findings[0]

    def both(space: str) -> Iterator[int]:
        for kind in ("loads", "stores"):
            tables = [getattr(c, kind) for c in report.counts.values()]
            yield sum(t[space].count for t in tables if space in t)

    (a, b), (x, y) = both("global"), both("local")
    return a, b, x, y
