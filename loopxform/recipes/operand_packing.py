"""Large products from packed operands: the device copies their tiles in vectors on its own, past
registers, which work-items have for the product.

    A_t = A turned; B_p = B; the nest reading A_t and B_p, its tiles copied ahead

(Goto and van de Geijn, "Anatomy of high-performance matrix multiplication"; docs/experiments.md.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from loopxform.analysis.context import always
from loopxform.ir.condition_text import condition_text
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Const, Decl, Expr, Function
from loopxform.ir.types import Space
from loopxform.ir.visit import declared, names, perfect_nest, walk
from loopxform.model.choice import Choice
from loopxform.model.cost import operand_packing, transposition
from loopxform.model.resources import Demand
from loopxform.model.reuse import Stage
from loopxform.model.tile_shapes import LONG_BITS, Shape, long_time, quickest
from loopxform.model.waves import Tiling, packed_shapes, shapes
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.variants import copies_pay, known_iterations
from loopxform.records import record
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import Assume, PackOperands
from loopxform.transforms.edges.bounds import trip_count
from loopxform.transforms.latency.vectors import divides
from loopxform.transforms.storage.operands import TURNED


@record
class PackedOperands:
    """The step that has the nest read copies (None: it reads copies in the layout of its tiles
    already), what it assumes, when the copies pay, and the shapes of tiles that the nest is worked
    on in."""

    step: PackOperands | None
    assumed: tuple[Expr, ...]
    pays: tuple[Expr, ...]
    shapes: list[Tiling]

    def about(self, limits: Limits) -> str:
        """When the host takes it, in words."""
        if self.step is None:
            return f"rows are vectors of {limits.vector_width}"
        return f"each element serves {operand_packing(limits)} iterations"

    def applied(self, nest: Nest) -> Nest:
        """The nest that reads the copies. Raises TransformError."""
        titled = nest.derivation.titled("Operand packing")
        assumed = (Assume(condition_text(e)) for e in self.assumed)
        return nest.of(titled.run((*assumed, *(() if self.step is None else (self.step,)))))

    def copies(self, fn: Function) -> list[str]:
        """The copies that the step makes."""
        packed = () if self.step is None else self.step.arrays
        arrays = {x.removesuffix(TURNED) for x in packed}
        return [s.name for _, s in walk(fn.body) if isinstance(s, Decl) and s.like in arrays]


def packed_operands(
    nest: Nest,
    choice: Choice,
    needs: Demand,
    sizes: Mapping[str, int],
    trips: Mapping[str, int | None],
    limits: Limits,
    options: Options,
) -> PackedOperands | None:
    """How the operands of a nest would be packed whose parallel loops have `trips` iterations, as
    far as these are known: where its tiles, all of floats, are parts of matrices along the two
    tiled loops and one that runs in step, the device copies on its own, and the user asks for
    nothing else."""
    asked = (options.stages, options.vector, options.pack, options.register_pipeline, options.pad)
    plain = all(x is None for x in (*asked, options.relayout, options.Rk, options.index))
    if (
        not (plain and limits.async_copies and limits.vector_width > 1)
        or options.separate_full_tiles
    ):
        return None
    if not choice.has("register tile") or len(nest.parallel) != 2 or len(choice.strips) != 1:
        return None
    if options.async_copies or options.swizzle_groups or not all(map(_is_matrix, choice.stages)):
        return None
    read = {r.array for r in choice.reads}
    arrays = {s.array for s in choice.stages}
    if len(arrays) < len(choice.stages) or len(read) != len(arrays):
        return None
    found = packed_shapes(choice, needs, sizes, limits, nest.parallel)
    asking = _asking(nest, choice, limits)
    if not found or asking is None:
        return None
    step, assumed, pays = asking
    if step is None:
        others = shapes(choice, needs, sizes, {}, limits, nest.parallel)[1:]
        pays = _sooner(nest, found[0].shape, [t.shape for t in others], limits)
    if not _may_hold((*assumed, *pays)):
        return None
    counts = [n for n in trips.values() if n is not None]
    if len(counts) == len(trips):
        times = [t.shape for t in found], counts, limits.compute_units
        found = [found[quickest(*times, known_iterations(nest))]]
    pays = tuple(e for e in pays if names(e))
    return PackedOperands(step, assumed, pays, found)


def _asking(
    nest: Nest, choice: Choice, limits: Limits
) -> tuple[PackOperands | None, tuple[Expr, ...], tuple[Expr, ...]] | None:
    """The step, what it assumes, and when its copies pay. It leaves out copies in the layout of the
    tiles (step `unfold`), of which rows must be vectors; there is no step where the nest reads
    nothing else. None where it is refused."""
    fn, width = nest.function, limits.vector_width
    own = {name: d.shape for name, d in declared(fn.body).items() if d.space is Space.GLOBAL}
    ready = [s for s in choice.stages if s.array in own and s.fast != 0]
    rows = (divides(width, own[s.array][-1]) for s in ready)
    assumed = tuple(e for e in rows if not always(fn, nest.path, e))
    others = [s for s in choice.stages if s not in ready]
    if not others:
        return None, assumed, ()
    arrays = tuple(s.array + (TURNED if s.fast == 0 else "") for s in others)
    step = PackOperands(nest.parallel[0], str(width), arrays)
    assumed = (*assumed, *step.open_questions(fn))
    if step.check(replace(fn, assumes=(*fn.assumes, *assumed))):
        return None
    pays = step.pays(fn, operand_packing(limits), transposition(limits))
    worthwhile = copies_pay(nest, limits)
    return step, assumed, pays if worthwhile is None else (*pays, worthwhile)


def _sooner(nest: Nest, shape: Shape, others: Sequence[Shape], limits: Limits) -> tuple[Expr, ...]:
    """When tiles of a shape take less time than those of others."""
    counts = [trip_count(x) for x in perfect_nest(nest.outermost)[: len(nest.parallel)]]
    most, units = Const(1 << LONG_BITS // len(counts)), limits.compute_units
    few = (Bin("<=", n, most) for n in counts)
    times = (long_time(counts, s, units) for s in (shape, *others))
    own = next(times)
    return (*few, *(Bin("<", own, other) for other in times))


def _may_hold(conditions: tuple[Expr, ...]) -> bool:
    """Whether there are sizes for which all of the conditions hold."""
    return all(names(e) or evaluate(e, {}) for e in conditions)


def _is_matrix(s: Stage) -> bool:
    """Whether a tile is a part of a matrix of floats, along both of its dimensions."""
    floats = s.type.is_float and s.item_bytes == 4 and not s.converted
    flat = len(s.box.widths) == 2 and all(len(r.index) == 2 for r in s.reads)
    return floats and flat and s.tiled


def asynchronous(asked: Options, shape: Tiling, limits: Limits) -> Options:
    """How tiles are worked on that the device copies on its own: their last part in an epilogue,
    what work-items read of them read ahead."""
    rows = limits.serpentine if asked.serpentine is None else asked.serpentine
    return replace(
        asked,
        async_copies=True,
        stages=shape.buffers,
        register_pipeline=True,
        pad=False,
        pack=0,
        serpentine=rows,
    )
