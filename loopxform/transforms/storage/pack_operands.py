"""Operand packing: S -> A_t[U, ceil(M/W)*W] = A turned; B_p[U, ceil(N/W)*W] = B; S of A_t and B_p.

The nest reads copies of arrays in the layout of its tiles: a tile that has the columns of
an array for its rows is filled from a copy whose last two dimensions change places, and rows of all
copies are multiples of the width, so that vectors can be moved at once, and by the device on its
own (step `async`). That pays where each element serves many iterations of the loops of a perfect
nest. Where the host can give the nest the array itself in place of a copy (step `pack`), it does.
Legal where the nest only reads the arrays, and the box that is touched of them is known, with so
few elements that an int can number those of the copies (`assume` it); of a plain pointer its last
element must be touched, and the end of its rows. What lies beyond the end of a row is never used.
(Goto and van de Geijn, "Anatomy of high-performance matrix multiplication"; Henriksen, "Transposing
for Coalesced Memory Access".)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.condition_text import condition_text
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, Function, If, Load, Select, Stmt, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.types import Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, map_exprs, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.latency.vectorise import WIDTHS
from loopxform.transforms.sites import one_loop, trusted
from loopxform.transforms.storage.copied import copy_nest, counted, counters, rounded, touched
from loopxform.transforms.storage.operands import Operand, misplaced, no, operand


@record
class PackOperands(Step):
    """Has the nest of `loop` read copies of `arrays` with rows of multiples of `width`, those
    called `A:T` turned."""

    loop: str
    width: str
    arrays: tuple[str, ...]

    verb: ClassVar[str] = "pack-operands"
    usage: ClassVar[str] = "pack-operands LOOP 2|4|8|16 ARRAY[:T],ARRAY[:T],..."
    former: ClassVar[tuple[str, ...]] = ("arrange",)

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if self.width not in WIDTHS:
            return (no(site, f"no vector has {self.width} elements", "use 2, 4, 8 or 16"),)
        if problems := misplaced(fn, site, self.arrays):
            return problems
        found = [operand(fn, site, x) for x in self.arrays]
        if problems := tuple(x for x in found if isinstance(x, Obstacle)):
            return problems
        return tuple(
            no(
                site,
                f"an int may not number the elements of a copy: {expr_text(e)} is not known",
                f"assume {condition_text(e)}",
            )
            for e in self.open_questions(fn)
        )

    def open_questions(self, fn: Function) -> tuple[Expr, ...]:
        """What must be assumed for the step to be legal: that an int can number the elements of the
        copies, as far as that is not known."""
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return ()
        asked = dict.fromkeys(e for a in self._all(fn, site) for e in self._counted(a))
        return tuple(e for e in asked if e not in fn.assumes and not always(fn, site.path, e))

    def _counted(self, a: Operand) -> Iterator[Expr]:
        *outer, row = a.shape
        return counted(outer, row, int(self.width))

    def pays(self, fn: Function, least: int, turned: int) -> tuple[Expr, ...]:
        """When the copies pay: each element serves `least` iterations of the loops of the nest,
        `turned` where rows are vectors as they are, and only have to be turned."""
        asked: list[Expr] = []
        for a in self._all(fn, trusted(one_loop(fn, self.loop))):
            odd = Bin(
                "!=", Bin("%", a.param.shape[-1] or Const(1), Const(int(self.width))), Const(0)
            )
            for e in a.again:
                asked.append(Bin(">=", e, Const(least)))
                if a.turned:
                    asked.append(Bin("||", odd, Bin(">=", e, Const(turned))))
        return tuple(dict.fromkeys(asked))

    def _all(self, fn: Function, site: LoopSite) -> list[Operand]:
        found = [operand(fn, site, x) for x in self.arrays]
        return [x for x in found if isinstance(x, Operand)]

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        found = self._all(fn, site)
        origin = site.loop.origin.then(str(self))
        before: list[Stmt] = []
        copies: dict[str, tuple[str, Operand]] = {}
        for a in found:
            name = a.param.name
            now = replace(fn, body=(*fn.body, *before))
            target = fresh(now, f"{name}_{'t' if a.turned else 'p'}")
            copies[name] = (target, a)
            before += self._copied(now, a, target)
        before.sort(key=lambda s: not isinstance(s, Decl))

        def redirected(e: Expr) -> Expr:
            if not (isinstance(e, Load) and e.array in copies):
                return e
            target, a = copies[e.array]
            return replace(e, array=target, index=a.turn(e.index))

        nest = map_exprs((replace(site.loop, origin=origin),), redirected)
        return replace_at(fn, site.path, (*before, *nest))

    def _copied(self, fn: Function, a: Operand, target: str) -> Iterator[Stmt]:
        """The declaration of the copy and the nest that makes it."""
        width, name = int(self.width), a.param.name
        origin = a.param.origin.then(str(self))
        *outer, row = a.shape
        shape = (*outer, rounded(row, width))
        kind = symbols(fn)[name]
        yield Decl(target, kind, shape, Space.GLOBAL, like=name, turned=a.turned, origin=origin)
        variables = counters(fn, len(shape))
        index = tuple(map(Var, variables))
        to = a.turn(index)
        ends = a.turn(a.box.upper)
        value = Select(Bin("<", to[-1], ends[-1]), Load(name, index), Const(0))
        move = Assign(Load(target, to), value, label=f"copy_{target}", origin=origin)
        copy = copy_nest(fn, (move,), variables, a.turn((*ends[:-1], shape[-1])))
        when = touched(a.box)
        yield If(conjunction(when), (copy,), origin=origin) if when else copy

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        text = ", ".join(a.param.name for a in self._all(fn, site))
        return f"{text} is only read, or not copied"
