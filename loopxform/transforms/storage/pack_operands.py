"""Operand packing: S -> A_t[U, ceil(M/W)*W] = A turned; B_p[U, ceil(N/W)*W] = B; S of A_t and B_p.

The nest reads copies of arrays in the layout of its tiles: a tile that has the columns of
an array for its rows is filled from a copy whose last two dimensions change places, and rows of all
copies are multiples of the width, so that vectors can be moved at once, and by the device on its
own (step `async`). That pays where each element serves many iterations of the loops of a perfect
nest. Where the host can give the nest the array itself in place of a copy (step `pack`), it does.
Legal where the nest only reads the arrays, and the box that is touched of them is known, with so
few elements that an int can number those of the copies (`assume` it); of a plain pointer its last
element must be touched, and the end of its rows. What lies beyond the end of a row is never used.
(Goto and van de Geijn, "Anatomy of high-performance matrix multiplication"; seed 004, "Transposing
for Coalesced Memory Access".)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.extent import Extent, NoExtent, explain
from loopxform.analysis.host_scalars import host_scalars
from loopxform.errors import Obstacle
from loopxform.ir.condition_text import condition_text
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Param,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.types import Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    loads,
    loops_around,
    map_exprs,
    names,
    perfect_nest,
    reads,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction, trip_count
from loopxform.transforms.latency.vectorise import WIDTHS
from loopxform.transforms.sites import ascending, fixed_header, one_loop, trusted
from loopxform.transforms.storage.copied import (
    COUNTERS,
    copy_nest,
    counted,
    counters,
    rounded,
    touched,
)

TURNED = ":T"
"""Behind the name of an array whose last two dimensions change places."""


@record
class _Operand:
    """An array to be copied: what is touched of it, how often loops run whose
    iterations read the same of it, and whether the copy is turned."""

    param: Param
    box: Extent
    again: tuple[Expr, ...]
    turned: bool

    @property
    def shape(self) -> tuple[Expr, ...]:
        """The copy's, its rows not rounded yet."""
        *_, row = self.param.shape
        assert row is not None
        *outer, last = (*self.box.upper[:-1], self.box.upper[-1] if self.turned else row)
        return self.turn((*outer, last))

    def turn(self, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Subscripts of the array as those of the copy."""
        return (*index[:-2], index[-1], index[-2]) if self.turned else index


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
            return (_no(site, f"no vector has {self.width} elements", "use 2, 4, 8 or 16"),)
        if loops_around(fn, site.path):
            text = f"the loop over '{site.loop.var}' is inside another one"
            return (_no(site, text, "name the outermost loop"),)
        if len({_split(x)[0] for x in self.arrays}) < len(self.arrays):
            text = f"an array is there twice in '{','.join(self.arrays)}'"
            return (_no(site, text, "name each array once"),)
        if problems := _unmapped(site):
            return problems
        found = [self._operand(fn, site, x) for x in self.arrays]
        if problems := tuple(x for x in found if isinstance(x, Obstacle)):
            return problems
        return tuple(
            _no(
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

    def _counted(self, a: _Operand) -> Iterator[Expr]:
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

    def _operand(self, fn: Function, site: LoopSite, text: str) -> _Operand | Obstacle:
        name, turned = _split(text)
        param = next((p for p in fn.objects if p.name == name and p.array), None)
        nest = (site.loop,)
        if param is None or name not in reads(nest):
            text = f"the loop over '{site.loop.var}' reads no array '{name}' of the caller's"
            return _no(site, text, "name an array parameter that it reads")
        if name in writes(nest):
            text = f"'{name}' is written in the loop over '{site.loop.var}': a copy would go stale"
            return _no(site, text, "pack arrays that are only read")
        rows = [d for d in param.shape[1:] if d is not None]
        if not rows or len(rows) + 1 < len(param.shape) or len(param.shape) > len(COUNTERS):
            text = f"'{name}' has no rows"
            return _no(site, text, f"declare it with its rows: {param.type} {name}[M][N]")
        box = explain(fn, name)
        if isinstance(box, NoExtent):
            return box.obstacle
        if param.flat and not (box.corner and box.upper[-1] == rows[-1]):
            text = f"where the part of '{name}' that is touched ends is not known"
            return _no(site, text, f"declare it with its shape: {param.type} {name}[M][N]")
        again = tuple(dict.fromkeys(_again(site.loop, name)))
        used = {n for e in (*box.upper, *rows, *touched(box), *again) for n in names(e)}
        if not again or not used <= host_scalars(fn):
            text = f"how often each element of '{name}' is used is not known before the nest"
            return _no(site, text, "leave it out")
        return _Operand(param, box, again, turned)

    def _all(self, fn: Function, site: LoopSite) -> list[_Operand]:
        found = [self._operand(fn, site, x) for x in self.arrays]
        return [x for x in found if isinstance(x, _Operand)]

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        found = self._all(fn, site)
        origin = site.loop.origin.then(str(self))
        before: list[Stmt] = []
        copies: dict[str, tuple[str, _Operand]] = {}
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

    def _copied(self, fn: Function, a: _Operand, target: str) -> Iterator[Stmt]:
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
        copy = copy_nest(fn, move, variables, a.turn((*ends[:-1], shape[-1])))
        when = touched(a.box)
        yield If(conjunction(when), (copy,), origin=origin) if when else copy

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        text = ", ".join(a.param.name for a in self._all(fn, site))
        return f"{text} is only read, or not copied"


def _split(text: str) -> tuple[str, bool]:
    """`A:T` is A, turned."""
    return text.removesuffix(TURNED), text.endswith(TURNED)


def _unmapped(site: LoopSite) -> tuple[Obstacle, ...]:
    """What keeps the iterations of a nest from being counted."""
    for n, loop in enumerate(perfect_nest(site.loop)):
        inner = LoopSite((*site.path, *[0] * n), loop)
        if problems := (*ascending(inner), *fixed_header(inner)):
            return problems
    inside = [s for _, s in walk((site.loop,))]
    if any(isinstance(s, Opaque | Copy) or (isinstance(s, For) and s.level) for s in inside):
        text = f"the loop over '{site.loop.var}' is mapped, or holds what is not modelled"
        return (_no(site, text, "pack arrays before loops are mapped"),)
    left = [s for s in inside if isinstance(s, For) and s.live_out]
    if left:
        text = f"the last value of '{left[0].var}' is used behind the loop over it"
        return (_no(site, text, f"give it a variable of its own: final-value {left[0].var}"),)
    return ()


def _again(nest: For, array: str) -> Iterator[Expr]:
    """How often loops run whose variables say nothing about what is read of an array."""
    found = perfect_nest(nest)
    read = (x for _, s in walk((nest,)) for e in stmt_exprs(s) for x in loads(e))
    used = {n for x in read if x.array == array for i in x.index for n in names(i)}
    yield from (trip_count(x) for x in found if x.var not in used)


def _no(site: LoopSite, text: str, remedy: str) -> Obstacle:
    return Obstacle("LX158", text, site.loop.origin.loc, remedy=remedy)
