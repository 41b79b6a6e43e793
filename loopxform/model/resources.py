"""What a tiled nest needs of a device, as functions of the tile sizes (Cholewa-Madsen and Holst,
section 2.2.4).

work-items of a group   Ty * Tx
local memory            4*Tk*Ty*Ry + 4*Tk*Tx*Rx      a term for each staged box
registers of an item    2*(Ry + Rx) + 2*Ry*Rx + 16   operands, accumulators, a margin
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Decl, For
from loopxform.ir.typing import symbols
from loopxform.ir.visit import names, reads, stmt_exprs, walk, writes
from loopxform.model.choice import Choice
from loopxform.model.footprint import Factors, amount, product_text
from loopxform.model.reuse import Stage
from loopxform.prepare.parallel_band import Nest
from loopxform.records import record
from loopxform.schedule.constraints import Constraint
from loopxform.targets.target import Limits

MARGIN = 16
"""Registers for addresses, counters and temporaries."""


@record
class Use:
    """How much of something sizes need, as a formula with its numbers, and how much there is."""

    what: str
    formula: str
    total: int
    most: int
    unit: str = ""

    @property
    def exceeded(self) -> str:
        """`group size: Ty*Tx = 64*64 = 4096 > 1024 work-items`."""
        return f"{self.what}: {self.formula} > {self.most} {self.unit}".rstrip()

    @property
    def constraint(self) -> Constraint:
        """The formula alone, for any sizes."""
        return Constraint(self.what, self.formula.partition(" = ")[0], self.most, self.unit)


@record
class Demand:
    """`items` are the work-items of a group in x, y, z, `kept` the elements of a work-item per
    tiled loop; `operand` and `accumulators` count 32-bit words per element kept; every staged box
    has `buffers`."""

    items: tuple[Factors, ...]
    kept: tuple[str, ...]
    stages: tuple[Stage, ...]
    operand: int
    accumulators: int
    buffers: int = 1

    def broken(self, sizes: Mapping[str, int], limits: Limits) -> tuple[str, ...]:
        """Each limit that the sizes exceed, as a formula with its numbers."""
        return tuple(u.exceeded for u in self.uses(sizes, limits) if u.total > u.most)

    def spills(self, sizes: Mapping[str, int], limits: Limits) -> bool:
        """Whether a work-item needs more registers than there are."""
        return any(u.total > u.most for u in self._registers(sizes, limits))

    def uses(self, sizes: Mapping[str, int], limits: Limits) -> tuple[Use, ...]:
        """What the sizes use of what the device has."""
        found = (*self._group(sizes, limits), *self._local(sizes, limits))
        return (*found, *self._registers(sizes, limits))

    def _group(self, sizes: Mapping[str, int], limits: Limits) -> Iterator[Use]:
        names = tuple(f for d in reversed(self.items) for f in d)
        total = amount(names, sizes)
        numbers = "*".join(str(sizes[str(n)]) for n in names)
        text = _shown(product_text(names), numbers, total)
        yield Use("group size", text, total, limits.group_size, "work-items")
        for factors, most in zip(self.items, limits.item_sizes):
            own = amount(factors, sizes)
            if own > most:
                text = f"{product_text(factors)} = {own}"
                yield Use("group size", text, own, most, "work-items in one dimension")

    def _local(self, sizes: Mapping[str, int], limits: Limits) -> Iterator[Use]:
        if not self.stages:
            return
        total = self.buffers * sum(s.bytes(sizes) for s in self.stages)
        terms = " + ".join(s.formula for s in self.stages)
        numbers = " + ".join(
            "*".join(map(str, (s.item_bytes, *s.columns(sizes)))) for s in self.stages
        )
        if self.buffers > 1:
            terms, numbers = (f"{self.buffers}*({x})" for x in (terms, numbers))
        yield Use("local memory", _shown(terms, numbers, total), total, limits.local_bytes, "bytes")

    def _registers(self, sizes: Mapping[str, int], limits: Limits) -> Iterator[Use]:
        if not self.kept:
            return
        # On a CPU the operands of one row are in registers, those of the rows come one by one.
        held = self.kept[-1:] if limits.vector else self.kept
        margin = limits.vector // 4 or MARGIN
        each, operands = [sizes[n] for n in self.kept], [sizes[n] for n in held]
        total = self.operand * sum(operands) + self.accumulators * prod(each) + margin
        names = _sum(self.operand, held) + f" + {_product(self.accumulators, self.kept)}"
        texts = [str(n) for n in each]
        numbers = _sum(self.operand, list(map(str, operands)))
        numbers += f" + {_product(self.accumulators, texts)}"
        text = _shown(f"{names} + {margin}", f"{numbers} + {margin}", total)
        yield Use("registers", text, total, limits.registers)


def _sum(factor: int, names: tuple[str, ...] | list[str]) -> str:
    text = " + ".join(names)
    if factor == 1:
        return text
    return f"{factor}*({text})" if len(names) > 1 else f"{factor}*{text}"


def _product(factor: int, names: tuple[str, ...] | list[str]) -> str:
    return "*".join([str(factor), *names] if factor > 1 else names)


def _shown(formula: str, numbers: str, total: int) -> str:
    """`Ty*Tx = 64*64 = 4096`."""
    return " = ".join(dict.fromkeys((formula, numbers, str(total))))


def demand(nest: Nest, choice: Choice, buffers: int = 1, *, moved: bool = False) -> Demand:
    """The demand of a choice for a nest, with so many buffers for each staged box, in which rows
    are `moved` in place of being padded."""
    if choice.recipe == "naive":
        flat = (("Ty", "Tx"),) if len(nest.parallel) == 1 else (("Tx",), ("Ty",))
        return Demand(flat, (), (), 0, 0)
    if choice.recipe in ("histogram", "elementwise", "uneven"):
        return Demand(tuple((d.items,) for d in choice.dims if d.items), (), (), 0, 0)
    if choice.shared:
        return Demand(tuple((n,) for n in reversed(choice.group)), (), (), 0, 0)
    items = tuple((d.items,) if d.items else () for d in reversed(choice.dims))
    kept = tuple(d.kept for d in choice.dims if d.kept)
    words = [-(-s.item_bytes // 4) for s in choice.stages]
    stages = tuple(replace(s, moved=moved) for s in choice.stages)
    return Demand(items, kept, stages, max([1, *words]), max(1, _accumulated(nest)), buffers)


def _accumulated(nest: Nest) -> int:
    """Words of what sequential loops update for every element that a work-item keeps, and of what
    they read of each alone, which was computed before."""
    types = symbols(nest.function)
    loops = tuple(s for s in nest.innermost.body if isinstance(s, For))
    outside = [s for s in nest.innermost.body if isinstance(s, Decl)]
    total = 0
    for s in outside:
        if s.name in writes(loops) or (s.name in reads(loops) and _is_own(nest, s.name)):
            total += -(-types[s.name].bytes // 4) * prod(value_of(d) or 1 for d in s.shape)
    return total


def _is_own(nest: Nest, name: str) -> bool:
    """Whether a scalar has a value of its own in each iteration of the parallel loops."""
    every = (s for _, s in walk(nest.innermost.body))
    found = {n for s in every if name in writes((s,)) for e in stmt_exprs(s) for n in names(e)}
    return found >= set(nest.parallel)
