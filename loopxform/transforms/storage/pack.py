"""Packing: S -> A_p[M, ceil(U/W)*W] = A, the rest of each row 0; S of A_p.

Rows whose length the width of a vector does not divide begin where no vector may. The tiles of a
nest are filled from a copy with longer rows instead, which pays for sizes with which every element
of the copy is read often. Where the rows are vectors as they are, the copy would be the array
itself: the host passes that in place of it, and copies nothing.
Legal where the nest only reads the array, and the box that is touched of it is known, with so few
elements that an int can number those of the copy (`assume` it); of a plain pointer its last element
must be touched, and the end of its rows. What lies beyond the end of a row is the padding of the
tiles, where they have any: they must end where the rows do; else it is never used. (Goto and van de
Geijn, "Anatomy of high-performance matrix multiplication"; CLBlast's padded copies.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.extent import Extent, existing_box
from loopxform.analysis.host_scalars import host_scalars
from loopxform.errors import Obstacle
from loopxform.ir.condition_text import condition_text
from loopxform.ir.memo import remembered
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Param,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.types import FLOAT, Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    Path,
    at,
    enclosing,
    loops_around,
    map_body,
    names,
    replace_at,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.latency.vectorise import WIDTHS
from loopxform.transforms.latency.vectors import (
    Found,
    copies,
    divides,
    open_questions,
    unfit,
    widest,
)
from loopxform.transforms.sites import is_outermost, one_loop, trusted
from loopxform.transforms.storage.copied import (
    COUNTERS,
    copy_nest,
    counted,
    counters,
    rounded,
    touched,
)


@record
class _Packed:
    """An array to be copied: the box that is touched of it, its declared rows, and the loops over
    groups whose iterations read the same of it, by how often these run; `rest` lies beyond the end
    of a row."""

    param: Param
    box: Extent
    row: Expr
    again: tuple[Expr, ...]
    rest: Expr


@record
class Pack(Step):
    """Fills the tiles of a mapped nest from copies whose rows are multiples of `width`."""

    loop: str
    width: str

    verb: ClassVar[str] = "pack"
    usage: ClassVar[str] = "pack LOOP 2|4|8|16"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if self.width not in WIDTHS:
            return (_no(site, f"no vector has {self.width} elements", "use 2, 4, 8 or 16"),)
        found = self._packed(fn, site)
        if found:
            return tuple(
                Obstacle(
                    "LX194",
                    f"an int may not number the elements of a copy: {expr_text(e)} is not known",
                    site.loop.origin.loc,
                    remedy=f"assume {condition_text(e)}",
                )
                for e in self._open(fn, site, found)
            )
        text = f"no tile in the loop over '{site.loop.var}' needs a copy of its array to be filled "
        remedy = (
            "map the loops and stage an array first, which the nest only reads, in rows whose "
            "length is a parameter"
        )
        return (_no(site, f"{text}with vectors of {self.width}", remedy),)

    def _packed(self, fn: Function, site: LoopSite) -> tuple[_Packed, ...]:
        """The arrays that a copy makes fit for vectors."""
        return _packed(fn, self, site.path)

    def packed(self, fn: Function, site: LoopSite) -> tuple[_Packed, ...]:
        """The same, not remembered."""
        if not is_outermost(fn, site):
            return ()
        known, width, path = host_scalars(fn), int(self.width), site.path
        tiles = [f for f in copies(fn) if f.path[: len(path)] == path and f.copy.collective]
        nest = at(fn, path)
        written = writes((nest,))
        out = []
        for name in dict.fromkeys(f.copy.source for f in tiles):
            param = next((p for p in fn.objects if p.name == name), None)
            own = [f for f in tiles if f.copy.source == name]
            if param is None or name in written or len(param.shape) > len(COUNTERS):
                continue
            if not _odd(fn, own, width):
                continue
            box, padded = _box(fn, name, own, known), _padded(own)
            rows = [d for d in param.shape[1:] if d is not None]
            if box is None or not rows or len(rows) + 1 < len(param.shape):
                continue
            if len(padded) > 1 or any({e, box.upper[-1]} != {rows[-1]} for _, e in padded):
                continue
            sizes = {n for e in (*box.upper, *rows, *touched(box)) for n in names(e)}
            again = tuple(dict.fromkeys(_again(fn, own)))
            whole = not param.flat or (box.corner and box.upper[-1] == rows[-1])
            if sizes <= known and again and whole and all(names(e) <= known for e in again):
                zero = Const(0.0, FLOAT) if param.type.is_float else Const(0)
                rest = next((pad for pad, _ in padded), zero)
                out.append(_Packed(param, box, rows[-1], again, rest))
        return tuple(out)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        found = self._packed(fn, site)
        origin = site.loop.origin.then(str(self))
        before: list[Stmt] = []
        new: dict[str, str] = {}
        for p in found:
            name = p.param.name
            new[name] = fresh(replace(fn, body=(*fn.body, *before)), f"{name}_p")
            before += self._copied(replace(fn, body=(*fn.body, *before)), p, new[name])
        before.sort(key=lambda s: not isinstance(s, Decl))
        copied = tuple(new.values())
        nest = replace(site.loop, narrow=(*site.loop.narrow, *copied), origin=origin)
        body = map_body((nest,), lambda s: (self._from(s, new),))
        return replace_at(fn, site.path, (*before, *body))

    def open_questions(self, fn: Function) -> tuple[Expr, ...]:
        """What must be assumed for the step to be legal."""
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return ()
        return tuple(self._open(fn, site, self._packed(fn, site)))

    def _open(self, fn: Function, site: LoopSite, found: tuple[_Packed, ...]) -> list[Expr]:
        """That an int can number the elements of the copies, as far as that is not known."""
        asked = dict.fromkeys(e for p in found for e in self._counted(p))
        return [e for e in asked if e not in fn.assumes and not always(fn, site.path, e)]

    def _counted(self, p: _Packed) -> Iterator[Expr]:
        rows = [d for d in p.param.shape[1:-1] if d is not None]
        return counted((p.box.upper[0], *rows), p.row, int(self.width))

    def pays(self, fn: Function, least: int, copying: Expr | None = None) -> tuple[Expr, ...]:
        """When the copies pay: each serves `least` iterations of the loops over groups that read
        the same of it, and `copying` holds, or is not made."""
        asked: list[Expr] = []
        for p in self._packed(fn, trusted(one_loop(fn, self.loop))):
            often: Expr = divides(int(self.width), p.row)
            for e in p.again:
                enough: Expr = Bin(">=", e, Const(least))
                enough = enough if copying is None else Bin("&&", enough, copying)
                often = Bin("||", often, enough)
            asked.append(often)
        return tuple(dict.fromkeys(asked))

    def _copied(self, fn: Function, p: _Packed, target: str) -> Iterator[Stmt]:
        """The declaration of the copy and the nest that makes it."""
        origin = p.param.origin.then(str(self))
        rows = [d for d in p.param.shape[1:-1] if d is not None]
        row = rounded(p.row, int(self.width))
        shape, name = (p.box.upper[0], *rows, row), p.param.name
        kind = symbols(fn)[name]
        yield Decl(target, kind, shape, Space.GLOBAL, like=name, origin=origin)
        variables = counters(fn, len(shape))
        index = tuple(map(Var, variables))
        inside = Bin("<", index[-1], p.box.upper[-1])
        rounds = kind.is_integer and type_of(p.rest, {}).is_float
        rest = Cast(kind, p.rest) if rounds else p.rest
        value = Select(inside, Load(name, index), rest)
        move = Assign(Load(target, index), value, label=f"copy_{target}", origin=origin)
        copy = copy_nest(fn, (move,), variables, (*p.box.upper[:-1], row))
        when = touched(p.box)
        yield If(conjunction(when), (copy,), origin=origin) if when else copy

    def _from(self, s: Stmt, new: dict[str, str]) -> Stmt:
        """A tile filled from the copy."""
        if not (isinstance(s, Copy) and s.collective and s.source in new):
            return s
        last = s.slices[-1]
        limit = None if last.limit is None else rounded(last.limit, int(self.width))
        slices = (*s.slices[:-1], replace(last, limit=limit))
        return replace(s, source=new[s.source], slices=slices)

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        text = ", ".join(p.param.name for p in self._packed(fn, site))
        return f"{text} is only read, or not copied"


@remembered(8)
def _packed(fn: Function, step: Pack, path: Path) -> tuple[_Packed, ...]:
    loop = at(fn, path)
    assert isinstance(loop, For)
    return step.packed(fn, LoopSite(path, loop))


def _padded(found: list[Found]) -> set[tuple[Expr, Expr]]:
    """What the tiles have in place of elements beyond an end of rows, and that end."""
    last = [(f.copy.pad, f.copy.slices[-1]) for f in found]
    return {(pad, x.limit) for pad, x in last if pad is not None and x.limit and not x.clamp}


def _odd(fn: Function, found: list[Found], width: int) -> bool:
    """Whether rows are all that keeps these copies from moving vectors."""
    open_ones = list[Expr]()
    for f in found:
        if widest(fn, f.copy.target, width) != width or unfit(fn, f, width):
            return False
        open_ones += open_questions(fn, f, width)
        if f.copy.slices[-1].lo in open_ones:
            return False
    return bool(open_ones)


def _box(fn: Function, name: str, found: list[Found], known: frozenset[str]) -> Extent | None:
    """What is touched of an array; of a pointer, of which a mapped program does not tell it, what
    tiles end at where one of them is filled: then all of that was touched when they were made."""
    whole = existing_box(fn, name)
    if whole is not None:
        return whole
    ends = [{s.limit for s in slices} - {None} for slices in zip(*(f.copy.slices for f in found))]
    upper = [e for limits in ends if len(limits) == 1 for e in limits if e is not None]
    reached = [_reached(fn, f, known) for f in found]
    conds = [c for c in reached if c is not None]
    if len(upper) < len(ends) or len(conds) < len(reached):
        return None
    when = reduce(lambda a, b: Bin("||", a, b), dict.fromkeys(conds))
    return Extent(name, tuple(upper), when, corner=True)


def _reached(fn: Function, found: Found, known: frozenset[str]) -> Expr | None:
    """That all loops around a copy have iterations, where the host can tell."""
    out: list[Expr] = []
    for s in enclosing(fn, found.path)[:-1]:
        if isinstance(s, For):
            out.append(Bin("<", s.lo, s.hi))
        else:
            return None
    return conjunction(out) if all(names(c) <= known for c in out) else None


def _again(fn: Function, found: list[Found]) -> Iterator[Expr]:
    """How often loops over groups run whose variables say nothing about what a tile is filled
    from."""
    for f in found:
        used = {n for x in f.copy.slices for n in names(x.lo)}
        for s in loops_around(fn, f.path):
            if s.level is not None and s.level.kind == "grid" and s.var not in used:
                yield s.hi


def _no(site: LoopSite, text: str, remedy: str) -> Obstacle:
    return Obstacle("LX194", text, site.loop.origin.loc, remedy=remedy)
