"""Large products from copies that are arranged as their tiles are: the device fills tiles with
vectors on its own, past registers, and what a work-item keeps there it has for the product.

    if (every element serves many iterations) { copies; the nest, its tiles copied ahead }
    else the nest as it is

(Goto and van de Geijn, "Anatomy of high-performance matrix multiplication"; docs/performance.md.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Decl, For, Function, If
from loopxform.ir.visit import Path, at, names, perfect_nest, walk
from loopxform.model.choice import Choice
from loopxform.model.resources import Demand
from loopxform.model.reuse import Stage
from loopxform.model.waves import Tiling, arranged_shapes, quickest
from loopxform.prepare.parallel_band import Nest
from loopxform.records import record
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import Arrange, Derivation
from loopxform.transforms.storage.arrange import TURNED


@record
class Arrangement:
    """The step that makes the version, and the shapes of tiles that it is worked on in."""

    step: Arrange
    shapes: list[Tiling]


def arrangement(
    nest: Nest,
    choice: Choice,
    needs: Demand,
    sizes: Mapping[str, int],
    trips: Mapping[str, int | None],
    limits: Limits,
    options: Options,
) -> Arrangement | None:
    """How a nest would be arranged whose parallel loops have `trips` iterations, as far as these
    are known: where its tiles, all of floats, are parts of matrices along the two tiled loops and
    one that runs in step, the device copies on its own, and the user asks for nothing else."""
    asked = (options.stages, options.vector, options.pack, options.preload, options.pad)
    plain = all(x is None for x in (*asked, options.layouts, options.chunks, options.narrow))
    if not (plain and limits.asynchronous and limits.at_once > 1) or options.versions:
        return None
    if choice.recipe != "register" or len(nest.parallel) != 2 or len(choice.strips) != 1:
        return None
    if options.asynchronous or options.bands or not all(map(_is_matrix, choice.stages)):
        return None
    arrays = tuple(s.array + (TURNED if s.fast == 0 else "") for s in choice.stages)
    read = {r.array for r in choice.reads}
    if len({s.array for s in choice.stages}) < len(arrays) or len(read) != len(arrays):
        return None
    width, loop = str(limits.at_once), nest.parallel[0]
    found = arranged_shapes(choice, needs, sizes, limits, nest.parallel)
    step = Arrange(loop, width, str(limits.arrange), str(limits.turn), arrays)
    if not found or step.check(nest.function) or not _may_pay(nest, step):
        return None
    counts = [n for n in trips.values() if n is not None]
    if len(counts) == len(trips):
        found = [found[quickest([t.shape for t in found], counts, limits.compute_units)]]
    return Arrangement(step, found)


def _may_pay(nest: Nest, step: Arrange) -> bool:
    """Whether there are sizes for which the copies are made."""
    whole = at(step.rewrite(nest.function), nest.path)
    assert isinstance(whole, If)
    return bool(names(whole.cond)) or bool(evaluate(whole.cond, {}))


def _is_matrix(s: Stage) -> bool:
    """Whether a tile is a part of a matrix of floats, along both of its dimensions."""
    floats = s.type.is_float and s.item_bytes == 4 and not s.converted
    flat = len(s.box.widths) == 2 and all(len(r.load.index) == 2 for r in s.reads)
    return floats and flat and s.tiled


def asynchronous(asked: Options, shape: Tiling, limits: Limits) -> Options:
    """How tiles are worked on that the device copies on its own: their last part in an epilogue,
    what work-items read of them read ahead."""
    rows = limits.serpentine if asked.serpentine is None else asked.serpentine
    return replace(
        asked,
        asynchronous=True,
        stages=shape.buffers,
        preload=True,
        pad=False,
        pack=0,
        serpentine=rows,
    )


def version(nest: Nest, derivation: Derivation) -> tuple[Nest, Nest]:
    """The nest that reads the copies, and the one that stands for all other sizes."""
    whole = at(derivation.function, nest.path)
    assert isinstance(whole, If)
    last = len(whole.then) - 1
    return _nest(nest, derivation, (*nest.path, last)), _nest(nest, derivation, (*nest.path, -1))


def _nest(nest: Nest, derivation: Derivation, path: Path) -> Nest:
    loop = at(derivation.function, path)
    assert isinstance(loop, For)
    loops = perfect_nest(loop)[: len(nest.parallel)]
    return replace(nest, derivation=derivation, parallel=tuple(x.var for x in loops), path=path)


def copies_of(fn: Function, step: Arrange) -> list[str]:
    """The copies that the step made."""
    arrays = {x.removesuffix(TURNED) for x in step.arrays}
    return [s.name for _, s in walk(fn.body) if isinstance(s, Decl) and s.like in arrays]
