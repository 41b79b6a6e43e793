"""Unfolding windows: S of X[c][y + p][x + q] -> X_m[C*P*Q, Y*X]; S of X_m[(c*P + p)*Q + q, y*X + x]

The nest reads a matrix that has a row for each iteration of some loops, and a column for each of
the others: `im2col` of a convolution. Nobody makes it: kernels compute where its elements are in
the array, so that the nest becomes a product of matrices (step `coalesce`) that reads what it read
before. What the nest writes of an array is written there, too.
Legal where the nest uses one element of the array in each iteration, under no condition, and
another one in each where it writes; where the loops that its subscripts name, each of them in one
of the two groups, count from 0 to numbers of the caller's; where an int can number rows and columns
(`assume` it); and where the rows of the array are declared. (Chellapilla, Puri and Simard, "High
performance convolutional neural networks for document processing", 2006; without the matrix:
Chetlur et al., "cuDNN: efficient primitives for deep learning", 2014.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import ClassVar

from loopxform.analysis.host_scalars import host_scalars
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Param,
    Stmt,
    Var,
)
from loopxform.ir.stand_ins import position
from loopxform.ir.types import Scalar, Space, common
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    along,
    loads,
    map_exprs,
    names,
    reads,
    replace_at,
    stmt_exprs,
    substitute,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.edges.bounds import conjunction, trip_count
from loopxform.transforms.sites import one_loop, trusted
from loopxform.transforms.storage.copied import COUNTERS, copy_nest, counted, counters
from loopxform.transforms.storage.unfolding import MERGED, Unfolding, refusal


@record
class UnfoldWindows(Unfolding):
    """Has the nest of `loop` read `array` as a matrix: `order` names the loops that number its
    rows, `c*p*q`, and those that number its columns."""

    verb: ClassVar[str] = "unfold-windows"
    usage: ClassVar[str] = "unfold-windows LOOP ARRAY LOOP*LOOP,LOOP*LOOP [NAME]"

    def _refused(self, fn: Function, site: LoopSite) -> Obstacle | None:
        found = self._windows(fn, site)
        return found if isinstance(found, Obstacle) else None

    def _numbered(self, fn: Function, site: LoopSite) -> Iterator[Expr]:
        found = self._windows(fn, site)
        assert isinstance(found, _Windows)
        for group in found.groups:
            *rows, last = (x.hi for x in group)
            if rows:
                yield from counted(rows, last, 1)

    def _what(self) -> str:
        return "its rows or columns"

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The loops that number rows, and those that number columns, outermost first."""
        return tuple(tuple(text.split(MERGED)) for text in self.order)

    def _windows(self, fn: Function, site: LoopSite) -> _Windows | Obstacle:
        """What is read of the array."""
        param = next((p for p in fn.objects if p.name == self.array), None)
        nest = (site.loop,)
        used = reads(nest) | writes(nest)
        if not isinstance(param, Param) or not param.array or self.array not in used:
            text = f"the loop over '{site.loop.var}' uses no array '{self.array}' of the caller's"
            return refusal(site, text, "name an array parameter that it reads or writes")
        places = [
            (along(nest, path)[:-1], x)
            for path, s in walk(nest)
            for e in stmt_exprs(s)
            for x in loads(e)
            if x.array == self.array
        ]
        around, load = min(places, key=lambda x: len(x[0]))
        whole = len(load.index) == len(param.shape) and None not in param.shape[1:]
        if any(x != load for _, x in places) or not whole or param.flat or param.is_member:
            text = f"'{self.array}' is not used in one place, with a subscript for each dimension"
            return refusal(
                site, text, f"declare it with its shape: {param.type} {self.array}[n][m]"
            )
        if any(not isinstance(s, For) for x, _ in places for s in x):
            text = f"a condition says what is used of '{self.array}'"
            return refusal(site, text, "leave it as it is")
        if any(x[: len(around)] != around for x, _ in places):
            return refusal(site, f"'{self.array}' is used in several loops", "leave it as it is")
        if self.array in writes(nest) and len({*load.index}) < len(load.index):
            return refusal(site, f"not all elements of '{self.array}' are written once", "leave it")
        return self._counted(fn, site, [s for s in around if isinstance(s, For)], load)

    def _counted(
        self, fn: Function, site: LoopSite, around: list[For], load: Load
    ) -> _Windows | Obstacle:
        """The same, if the host can number its elements."""
        by_name = {s.var: s for s in around}
        known = host_scalars(fn) - writes((site.loop,)) - set(by_name)
        used = {n for e in load.index for n in names(e)}
        named = [v for group in self.groups for v in group]
        if any(True for e in load.index for _ in loads(e)):
            text = f"data say what is used of '{self.array}'"
            return refusal(site, text, "leave it as it is")
        if self.array in writes((site.loop,)) and not {*load.index} <= {*map(Var, by_name)}:
            text = f"'{self.array}' is written at other places than those of loops"
            return refusal(site, text, "leave it as it is")
        if len(self.order) != 2 or sorted(named) != sorted(used & set(by_name)):
            text = f"'{','.join(self.order)}' is not each loop that the subscripts of"
            text += f" '{self.array}' name, once, in two groups"
            return refusal(site, text, f"name {', '.join(sorted(used & set(by_name)))}")
        if len(by_name) < len(around) or len(named) > len(COUNTERS):
            return refusal(site, "loops have the same name, or are too many", "rename them")
        uneven = next((s for s in around if not _counts_to(s, known)), None)
        if uneven is not None or not used <= known | set(by_name):
            what = f"the loop over '{uneven.var}' counts" if uneven else f"'{self.array}' is used"
            text = f"where {what} is not known before the nest"
            return refusal(site, text, "count from 0 by 1 to a number of the caller's")
        if any(by_name[v].type != by_name[named[0]].type for v in named):
            text = f"loops that number '{self.array}' have variables of several types"
            return refusal(site, text, "declare them with one type")
        rows, columns = ([by_name[v] for v in group] for group in self.groups)
        others = tuple(s for s in around if s.var not in named)
        return _Windows(load, (tuple(rows), tuple(columns)), others, by_name[named[0]].type)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        found = self._windows(fn, site)
        assert isinstance(found, _Windows)
        target = self.target or fresh(fn, f"{self.array}_m")
        origin = site.loop.origin.then(str(self))
        types = symbols(fn)
        shape = tuple(simplify(reduce(_times, map(trip_count, g))) for g in found.groups)
        parts = dict[str, Expr]()
        for n, group in enumerate(found.groups):
            parts |= found.parts(position(n), group, types)
        decl = Decl(
            target,
            types[self.array],
            shape,
            Space.GLOBAL,
            like=self.array,
            at=tuple(simplify(substitute(e, parts)) for e in found.load.index),
            origin=origin,
        )
        copy = self._copied(replace(fn, body=(*fn.body, decl)), found, target, site)

        def redirect(e: Expr) -> Expr:
            return Load(target, found.place({})) if e == found.load else e

        nest, back = map_exprs((replace(site.loop, origin=origin),), redirect), list[Stmt]()
        if self.array in writes((site.loop,)):
            beside = replace(fn, body=(*fn.body, decl, copy))
            back = [self._copied(beside, found, target, site, back=True)]
        return replace_at(fn, site.path, (decl, copy, *nest, *back))

    def _copied(
        self, fn: Function, found: _Windows, target: str, site: LoopSite, *, back: bool = False
    ) -> Stmt:
        """The nest that would make the matrix, or copy it `back`, where the program uses the array
        at all."""
        origin = site.loop.origin.then(str(self))
        loops = [x for group in found.groups for x in group]
        own = dict(zip((x.var for x in loops), map(Var, counters(fn, len(loops)))))
        index = tuple(substitute(e, dict(own)) for e in found.load.index)
        to, of = Load(target, found.place(dict(own))), Load(self.array, index)
        source, label = (to, f"copy_{self.array}") if back else (of, f"copy_{target}")
        move = Assign(of if back else to, source, label=label, origin=origin)
        ends = tuple(x.hi for x in loops)
        nest = copy_nest(fn, (move,), tuple(v.name for v in own.values()), ends)
        when: list[Expr] = [Bin(">=", x.hi, Const(1)) for x in found.others]
        return If(conjunction(when), (nest,), origin=origin) if when else nest

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"the elements of the matrix are those of {self.array}"


@record
class _Windows:
    """What a nest reads of an array, the loops that number rows and columns, the others around it,
    and the type of their variables."""

    load: Load
    groups: tuple[tuple[For, ...], ...]
    others: tuple[For, ...]
    type: Scalar

    def place(self, own: dict[str, Expr]) -> tuple[Expr, ...]:
        """The row and the column of an iteration, whose variables may have other values."""
        return tuple(self._number(group, own) for group in self.groups)

    def _number(self, group: Sequence[For], own: dict[str, Expr]) -> Expr:
        first, *others = group
        out: Expr = own.get(first.var, Var(first.var))
        for x in others:
            out = Bin("+", _times(out, x.hi), own.get(x.var, Var(x.var)))
        return out

    def parts(self, name: str, group: Sequence[For], types: dict[str, Scalar]) -> dict[str, Expr]:
        """The variables of the loops of a group, of the number of an iteration."""
        out = dict[str, Expr]()
        below: Expr | None = None
        for n, x in reversed(list(enumerate(group))):
            rest: Expr = Var(name) if below is None else Bin("/", Var(name), below)
            row = self._as_counter(x.hi, types)
            out[x.var] = Bin("%", rest, row) if n else rest
            below = row if below is None else simplify(_times(row, below))
        return out

    def _as_counter(self, e: Expr, types: dict[str, Scalar]) -> Expr:
        return e if common(self.type, type_of(e, types)) == self.type else Cast(self.type, e)


def _times(a: Expr, b: Expr) -> Expr:
    return Bin("*", a, b)


def _counts_to(s: For, known: frozenset[str]) -> bool:
    """Whether a loop counts from 0 by 1 to a number that the host knows."""
    return value_of(s.lo) == 0 and value_of(s.step) == 1 and names(s.hi) <= known
