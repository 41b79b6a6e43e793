"""The test of products of tiles on a device, before a host uses them (templates/tensor.c.j2)."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from loopxform.codegen import render
from loopxform.ir import warp_groups
from loopxform.ir.tensor_tiles import SUB_GROUP_EXTENSION, Instruction, by_sub_groups
from loopxform.ir.types import DOUBLE, FLOAT, HALF, USHORT, Scalar
from loopxform.ir.warp_groups import PANEL, ROW, GroupInstruction, Rows
from loopxform.records import record

HALVES, BFLOATS = ("halves", "half_of"), ("bfloats", "bfloat_of")

TERMS = ROW // 2
"""Of each result that warps compute together."""


@record
class TensorProbe:
    """What templates/tensor_probe.cl.j2 prints."""

    every: tuple[Instruction, ...]
    groups: tuple[GroupInstruction, ...] = ()
    warps: ModuleType = warp_groups
    extension: str = SUB_GROUP_EXTENSION

    @property
    def products(self) -> tuple[Instruction, ...]:
        """Those that a warp computes by instructions."""
        return tuple(i for i in self.every if not i.tile.function)

    @property
    def sub_groups(self) -> dict[int, list[Instruction]]:
        """Those of sub-groups, by the work-items of these."""
        return by_sub_groups(self.every)

    @property
    def doubles(self) -> bool:
        """Whether products of doubles are among them."""
        return any(i.left == DOUBLE for i in self.every)

    @property
    def bytes(self) -> tuple[Instruction, ...]:
        """Those of integers of eight bits that a warp computes."""
        return tuple(i for i in self.products if i.left.bytes == 1)

    @property
    def byte_sums(self) -> dict[str, Instruction]:
        """The functions that compute results of those of eight bits in the ordinary way."""
        return {self.sum(i): i for i in self.every if i.left.bytes == 1}

    @property
    def halves(self) -> bool:
        """Whether products of halves are among them."""
        return HALF in self._types

    @property
    def bfloats(self) -> bool:
        """Whether products of upper halves of floats are among them."""
        return USHORT in self._types

    @property
    def _types(self) -> set[Scalar]:
        return {i.left for i in self.every} | {i.type for i in self.groups}

    @property
    def short_kinds(self) -> list[tuple[str, str]]:
        """The functions that give two numbers of 16 bits, and one of them as a float."""
        return [x for x, t in ((HALVES, HALF), (BFLOATS, USHORT)) if t in self._types]

    @property
    def reals(self) -> bool:
        """Whether sums of floats are among them."""
        return bool(self.groups) or any(i.tile.sums[0] == FLOAT for i in self.every)

    @property
    def words(self) -> bool:
        """Whether products of words are."""
        return self.reals or bool(self.byte_sums)

    def word(self, i: Instruction) -> str:
        """The function that gives a word of an operand."""
        return "word" if i.left.bytes == 1 else self.kind(i.left)

    def kind(self, t: Scalar) -> str:
        """The function that gives two numbers of 16 bits."""
        return (BFLOATS if t == USHORT else HALVES)[0]

    @property
    def floats(self) -> bool:
        """Whether products of floats of 11 bits are among them."""
        return any(i.left == FLOAT for i in self.every)

    @property
    def near(self) -> list[tuple[str, str, str]]:
        """Those whose sums are near those in order: the functions that give a word and a sum, and
        the macro."""
        of = {
            HALF: ("halves", "sum_halves"),
            USHORT: ("bfloats", "sum_bfloats"),
            FLOAT: ("part", "sum_floats"),
        }
        return [(*of[i.left], i.macro) for i in self.products if i.left in of]

    def sum(self, i: Instruction) -> str:
        """The name of the function that computes a result of it in the ordinary way."""
        return f"sum_{i.left.cl}_{i.right.cl}"

    @property
    def done(self) -> dict[str, GroupInstruction]:
        """By its name what waits for results that warps compute together."""
        return {i.done: i for i in self.groups}

    def shapes(self, i: GroupInstruction) -> tuple[int, int]:
        """How 32 terms of both operands of it lie."""
        rows = Rows(ROW).shape()
        return rows, Rows(PANEL).shape(TERMS * PANEL) if i.panels else rows


def tensor_probe(products: Sequence[Instruction], groups: Sequence[GroupInstruction] = ()) -> str:
    """The program of the kernels that compare products of tiles with what a work-item computes:
    `lx_tiles` counts for each work-item how many of its results differ, `lx_warps` how many of
    those that warps compute together, `lx_sub_groups` of those that sub-groups of LX_SUB_GROUPS
    work-items do."""
    return render.fill("tensor_probe.cl.j2", p=TensorProbe(tuple(products), tuple(groups)))
