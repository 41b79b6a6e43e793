"""Unfolding: A[a][e][b] -> A_m[E, A*B] = A; S of A_m[e, a*B + b].

The nest has a copy of an array in which dimensions stand in another order, and several may be one:
a matrix, once the loops over them are one as well (step `coalesce`). What it writes is copied back.
Where the copy has the elements in the order of the array, the host gives the nest the array itself
in its place, and copies nothing.
Legal where the box that is touched of the array is known, with so few elements that an int can
number those of the copy (`assume` it); of a plain pointer its last element must be touched.
(Matricization: Kolda and Bader, "Tensor decompositions and applications", section
2.4. Transposing, then one product: Springer and Bientinesi, "Design of a high-performance GEMM-like
tensor-tensor multiplication".)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.extent import Extent, NoExtent, existing_box, explain
from loopxform.analysis.host_scalars import host_scalars
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Decl,
    Expr,
    Function,
    If,
    Load,
    Param,
    Stmt,
    Var,
)
from loopxform.ir.types import Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    map_exprs,
    names,
    reads,
    replace_at,
    writes,
)
from loopxform.records import record
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.sites import one_loop, trusted
from loopxform.transforms.storage.copied import (
    COUNTERS,
    copy_nest,
    counted,
    counters,
    touched,
)
from loopxform.transforms.storage.unfolding import MERGED, Unfolding, refusal


@record
class Unfold(Unfolding):
    """Has the nest of `loop` read a copy of `array`: `order` names, for each dimension of the copy,
    the dimension of the array, or several that become one, `1*3`."""

    verb: ClassVar[str] = "unfold"
    usage: ClassVar[str] = "unfold LOOP ARRAY DIM*DIM,DIM,... [NAME]   (1*3,0*2: a matrix)"

    def _refused(self, fn: Function, site: LoopSite) -> Obstacle | None:
        found = self._box(fn, site)
        return found if isinstance(found, Obstacle) else None

    def _numbered(self, fn: Function, site: LoopSite) -> Iterator[Expr]:
        box = self._box(fn, site)
        assert isinstance(box, Extent)
        *rows, last = (box.upper[n] for g in self.groups for n in g)
        return counted(rows, last, 1)

    def _what(self) -> str:
        return "the elements of the copy"

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """For each dimension of the copy those of the array, outermost first."""
        return tuple(tuple(map(int, text.split(MERGED))) for text in self.order)

    def _box(self, fn: Function, site: LoopSite) -> Extent | Obstacle:
        """What is touched of the array."""
        param = next((p for p in fn.objects if p.name == self.array and p.array), None)
        nest = (site.loop,)
        if param is None or self.array not in reads(nest) | writes(nest):
            text = f"the loop over '{site.loop.var}' uses no array '{self.array}' of the caller's"
            return refusal(site, text, "name an array parameter that it reads or writes")
        if (problem := self._no_order(param)) is not None:
            return problem
        told, box = explain(fn, self.array), existing_box(fn, self.array)
        if isinstance(told, NoExtent):
            return told.obstacle
        if box is None or (param.flat and not box.corner):
            text = f"where the part of '{self.array}' that is touched ends is not known"
            return refusal(
                site, text, f"declare it with its shape: {param.type} {self.array}[n][m]"
            )
        if not {n for e in (*box.upper, *touched(box)) for n in names(e)} <= host_scalars(fn):
            text = f"how much of '{self.array}' is touched is not known before the nest"
            return refusal(site, text, "leave it as it is")
        return box

    def _no_order(self, param: Param) -> Obstacle | None:
        rank = len(param.shape)
        named = [n for text in self.order for n in text.split(MERGED)]
        dims = [str(n) for n in range(rank)]
        if sorted(named) == dims and list(self.order) != dims and rank <= len(COUNTERS):
            return None
        text = (
            f"'{','.join(self.order)}' is no other order of the {rank} "
            f"dimension{'s' if rank != 1 else ''} of '{self.array}', of which some may become one"
        )
        remedy = f"each of {', '.join(dims)} once, * between those that become one"
        return Obstacle("LX025", text, param.origin.loc, remedy=remedy)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        box = self._box(fn, site)
        assert isinstance(box, Extent)
        target = self.target or fresh(fn, f"{self.array.replace('.', '_')}_m")
        origin = site.loop.origin.then(str(self))

        def redirect(e: Expr) -> Expr:
            if isinstance(e, Load) and e.array == self.array:
                return replace(e, array=target, index=self._place(e.index, box.upper))
            return e

        decl, nest = self._declared(fn, site, box, target), (replace(site.loop, origin=origin),)
        copy = self._copied(fn, site, box, target)
        beside, back = replace(fn, body=(*fn.body, copy)), list[Stmt]()
        if self.array in writes(nest):
            back = [self._copied(beside, site, box, target, back=True)]
        redirected = map_exprs(nest, redirect)
        return replace_at(fn, site.path, (decl, copy, *redirected, *back))

    def _place(self, index: Sequence[Expr], upper: Sequence[Expr]) -> tuple[Expr, ...]:
        """Subscripts of the array as those of the copy."""

        def number(so_far: Expr, n: int) -> Expr:
            return Bin("+", Bin("*", so_far, upper[n]), index[n])

        return tuple(reduce(number, g[1:], index[g[0]]) for g in self.groups)

    def _declared(self, fn: Function, site: LoopSite, box: Extent, target: str) -> Decl:
        """The declaration of the copy."""
        groups = ([box.upper[n] for n in g] for g in self.groups)
        shape = tuple(simplify(reduce(lambda a, b: Bin("*", a, b), g)) for g in groups)
        kind, turned = symbols(fn)[self.array], not self._is_alike(fn, box)
        origin = site.loop.origin.then(str(self))
        return Decl(
            target, kind, shape, Space.GLOBAL, like=self.array, turned=turned, origin=origin
        )

    def _copied(
        self, fn: Function, site: LoopSite, box: Extent, target: str, *, back: bool = False
    ) -> Stmt:
        """The nest that makes the copy, or copies it `back`."""
        origin = site.loop.origin.then(str(self))
        variables = counters(fn, len(box.upper))
        index = tuple(map(Var, variables))
        to, of = Load(target, self._place(index, box.upper)), Load(self.array, index)
        source, label = (to, f"copy_{self.array}") if back else (of, f"copy_{target}")
        move = Assign(of if back else to, source, label=label, origin=origin)
        copy = copy_nest(fn, (move,), variables, box.upper)
        when = [c for c in touched(box) if not always(fn, site.path, c)]
        return If(conjunction(when), (copy,), origin=origin) if when else copy

    def _is_alike(self, fn: Function, box: Extent) -> bool:
        """Whether the elements of the copy stand in the order of the array, without gaps, and that
        is an array of its own."""
        param = next(p for p in fn.objects if p.name == self.array)
        order = [n for g in self.groups for n in g]
        rows = zip(param.shape[1:], box.upper[1:])
        whole = all(d is not None and poly(d) == poly(e) for d, e in rows)
        return whole and order == sorted(order) and not param.is_member

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"the elements of {self.array} are the same in the copy"
