"""Large products of floats by tensor units that multiply bfloat16, of which floats are sums (step
`split-floats`).

    A_b, B_b = the parts of A and B; the nest multiplying these, in tiles of tensor units

(Henry, Tang, Heinecke, "Leveraging the bfloat16 artificial intelligence datatype for
higher-precision computations", 2019.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopxform.ir.condition_text import condition_text
from loopxform.ir.device_facts import WARP
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Const, Decl, Expr, Var
from loopxform.ir.tensor_tiles import TensorTile
from loopxform.ir.types import FLOAT, USHORT, Space
from loopxform.ir.visit import names
from loopxform.model.choice import Choice
from loopxform.model.cost import operand_packing
from loopxform.model.reuse import Stage
from loopxform.prepare.parallel_band import Nest, with_guards_inside
from loopxform.recipes.registry import choices
from loopxform.recipes.relayout_kernels import mapped_copy
from loopxform.recipes.tensor_units import as_multiplied, tensor_tile
from loopxform.recipes.variants import Draft, copies_pay
from loopxform.records import record
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import Assume, SplitFloats
from loopxform.transforms.storage.operands import TURNED

PARTS = 3
"""Bfloat16 that a float is the sum of where nothing else is asked: these hold all of its bits."""


@record
class SplitProducts:
    """The nest that multiplies the parts in place of floats, what is staged of it and by which
    product of tiles it is computed, and when the host takes it, because the copies pay."""

    nest: Nest
    choice: Choice
    tile: TensorTile
    guard: tuple[Expr, ...]
    about: str

    def with_copies(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Variants of the nest, with the kernels that make the copies. Raises TransformError."""
        return [self._with_copies(d) for d in drafts]

    def _with_copies(self, d: Draft) -> Draft:
        w = d.work()
        for s in self.nest.function.body:
            if isinstance(s, Decl) and s.space is Space.GLOBAL and s.type == USHORT:
                w.derivation = mapped_copy(w.derivation, s.name)
        guard = tuple(dict.fromkeys((*self.guard, *d.guard)))
        label, about = f"{d.label}, sums of bfloat16", (self.about, *d.about)
        return replace(d, label=label, derivation=w.derivation, guard=guard, about=about)


def split_products(
    nest: Nest, choice: Choice, limits: Limits, asked: Options
) -> SplitProducts | None:
    """The nest of which both operands are split, where they are arrays of floats, copies of them
    pay for some sizes, and the user does not forbid it."""
    parts = PARTS if asked.bfloat_parts is None else asked.bfloat_parts
    pairs = [s for s in choice.stages if s.type == FLOAT and s.tiled]
    if not parts or len(pairs) != 2 or len(choice.stages) != 2:
        return None
    arrays = tuple(s.array + _turned(nest, s) for s in pairs)
    step, fn = SplitFloats(nest.parallel[0], str(parts), arrays, "fast"), nest.function
    assumed = step.open_questions(fn)
    if step.check(replace(fn, assumes=(*fn.assumes, *assumed))):
        return None
    least, worthwhile = operand_packing(limits), copies_pay(nest, limits)
    guard = (*assumed, *step.pays(fn, least), *(() if worthwhile is None else (worthwhile,)))
    if not all(names(e) or evaluate(e, {}) for e in guard):
        return None
    guard = (Bin("<", Const(1), WARP), *(e for e in guard if names(e)))
    steps = (*(Assume(condition_text(e)) for e in assumed), step)
    now = nest.of(nest.derivation.titled("Floats as sums of bfloat16").run(steps))
    found, _ = choices(with_guards_inside(now), "register", limits, kept=True, few=False)
    asked = replace(asked, tensor_units=True)
    for own in (as_multiplied(c, limits, asked) for c in found):
        tile = tensor_tile(own, limits, asked)
        if tile is not None:
            about = f"each element serves {least} iterations"
            return SplitProducts(now, own, tile, guard, about)
    return None


def _turned(nest: Nest, s: Stage) -> str:
    """Whether rows of a copy are to have the terms of a sum one behind the other, where those of
    the array have rows of the result."""
    (read, *_) = s.reads
    return TURNED if read.load.index[-1] == Var(nest.parallel[-2]) else ""
