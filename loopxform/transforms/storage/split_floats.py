"""Splitting floats into bfloat16, by products of which tensor units are quick:

    for k < U: s += A[i, k] * B[k, j]
  -> A_b[M, 6*K] = parts of A; B_b[6*K, N] = parts of B; for k < 6*K: s += A_b[i, k] * B_b[k, j]

A float is the sum of 2 or 3 bfloat16, each of them next to what those before it leave. The product
of two such sums is one sum of products, the smallest first, without those that count for less:

    2 parts    lo*hi, hi*lo, hi*hi
    3 parts    lo*hi, mid*mid, hi*lo, mid*hi, hi*mid, hi*hi

The copies hold the parts of an operand in this order, one behind the other along k, K terms each:
U, rounded up to a multiple of 32 with zeros. So the nest becomes an ordinary product of bfloat16,
which tensor units compute (step `tensorise`). Each result is as far from the exact one as

    2 parts    2^-15*(1 + terms/256)    times the sum of its products' magnitudes
    3 parts    2^-20*(1 + terms/8)

by what is left out (2^-15, and 2^-23), and by what units lose that round toward 0: of 16 terms less
than 2^-19 of the magnitudes that are added up. That holds for numbers that are 0, or 2^-100 or more
in magnitude, whose products are, too. An infinity may give a NaN. (Henry, Tang, Heinecke,
"Leveraging the bfloat16 artificial intelligence datatype for higher-precision computations", 2019.)

Legal where the nest reads each array for nothing but these products, which it adds to a sum that
begins with 0, and copies of both can be made (step `pack-operands`). It needs `fast` (the word).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.host_scalars import host_scalars
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.bfloats import nearest, widened
from loopxform.ir.condition_text import condition_text
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.types import FLOAT, INT_MAX, USHORT, Scalar, Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    at,
    loads,
    map_exprs,
    names,
    replace_at,
    stmt_exprs,
    walk,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.sites import one_loop, trusted
from loopxform.transforms.storage.copied import copy_nest, counted, counters, rounded, touched
from loopxform.transforms.storage.operands import Operand, misplaced, operand

TERMS = 32
"""Each part has a multiple of so many: no tile of the products ends within one."""

WIDTH = 8
"""Rows are multiples of so many elements, 16 bytes."""

BOUNDS = {"2": "2^-15*(1 + terms/256)", "3": "2^-20*(1 + terms/8)"}
"""How far a result is from the exact one, relative to the sum of its products' magnitudes."""


@record
class _Product:
    """The loop that adds up products, where it stands, and both factors."""

    site: LoopSite
    factors: tuple[Load, Load]


@record
class SplitFloats(Step):
    """Has the nest of `loop` multiply `parts` bfloat16 in place of each element of the two
    `arrays`, from copies, those called `A:T` turned."""

    loop: str
    parts: str
    arrays: tuple[str, ...]
    permitted: str = ""

    verb: ClassVar[str] = "split-floats"
    usage: ClassVar[str] = "split-floats LOOP 2|3 ARRAY[:T],ARRAY[:T] fast"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if self.parts not in BOUNDS or self.permitted not in ("", "fast"):
            return (Obstacle("LX025", f"'{self}' says nothing", None, remedy=self.usage),)
        if problems := misplaced(fn, site, self.arrays):
            return problems
        found = [operand(fn, site, x) for x in self.arrays]
        if problems := tuple(x for x in found if isinstance(x, Obstacle)):
            return problems
        product = self._product(fn, site)
        if isinstance(product, Obstacle):
            return (product,)
        if not self.permitted:
            text = f"{self.parts} bfloat16 hold a float to some bits: results differ"
            return (Obstacle("LX191", text, site.loop.origin.loc, remedy="allow it: --fp fast"),)
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
        product = site if isinstance(site, Obstacle) else self._product(fn, site)
        if isinstance(site, Obstacle) or isinstance(product, Obstacle):
            return ()
        copies = (self._shape(a, product) for a in self._operands(fn, site))
        few = Bin("<=", product.site.loop.hi, Const(INT_MAX // (2 * len(self._pairs()))))
        rows = (e for *outer, row in copies for e in counted(outer, row, 1))
        asked = dict.fromkeys((few, *rows))
        return tuple(e for e in asked if e not in fn.assumes and not always(fn, site.path, e))

    def pays(self, fn: Function, least: int) -> tuple[Expr, ...]:
        """When the copies pay: each element serves `least` iterations of the loops of the nest."""
        found = self._operands(fn, trusted(one_loop(fn, self.loop)))
        again = (Bin(">=", e, Const(least)) for a in found for e in a.again)
        return tuple(dict.fromkeys(again))

    def _operands(self, fn: Function, site: LoopSite) -> list[Operand]:
        found = [operand(fn, site, x) for x in self.arrays]
        return [x for x in found if isinstance(x, Operand)]

    def _product(self, fn: Function, site: LoopSite) -> _Product | Obstacle:
        """The products that are all that the nest reads both arrays for."""
        inside = (site.loop,)
        loops = [(p, s) for p, s in walk(inside) if isinstance(s, For)]
        path, loop = loops[-1]
        arrays = [a.param.name for a in self._operands(fn, site)]
        factors = _factors(loop, symbols(fn))
        if len(arrays) != 2 or factors is None or {x.array for x in factors} != set(arrays):
            text = "no loop adds up products of elements of these two arrays alone, floats"
            return _no(site, text, "leave the nest as it is")
        read = [x for _, s in walk(inside) for e in stmt_exprs(s) for x in loads(e)]
        if sum(x.array in arrays for x in read) != 2:
            text = f"'{arrays[0]}' or '{arrays[1]}' is read in several places"
            return _no(site, text, "leave the nest as it is")
        plain = value_of(loop.lo) == 0 and value_of(loop.step) == 1
        if not plain or not names(loop.hi) <= host_scalars(fn):
            text = f"'{loop.var}' does not count from 0 to a number that is known before the nest"
            return _no(site, text, "leave the nest as it is")
        if any(_terms(x, loop.var) is None for x in factors):
            text = f"'{loop.var}' is not one subscript of each array, and of no other"
            return _no(site, text, "leave the nest as it is")
        whole = LoopSite((*site.path, *path[1:]), loop)
        if not _begins_with_zero(fn, whole):
            text = f"the sum of the loop over '{loop.var}' does not begin with 0"
            return _no(site, text, "set it to 0 right before the loop")
        return _Product(whole, factors)

    def _shape(self, a: Operand, product: _Product) -> tuple[Expr, ...]:
        """The copy's."""
        (own,) = (x for x in product.factors if x.array == a.param.name)
        loop = product.site.loop
        each = Bin("*", Const(len(self._pairs())), rounded(loop.hi, TERMS))
        where = _terms(own, loop.var)
        whole = (simplify(each) if n == where else e for n, e in enumerate(a.box.upper))
        *outer, row = a.turn(tuple(whole))
        last = len(a.box.upper) - (2 if a.turned else 1)
        return (*outer, row if where == last else rounded(row, WIDTH))

    def _pairs(self) -> list[tuple[int, int]]:
        """The parts of both operands that are multiplied, the smallest first."""
        count = int(self.parts)
        pairs = [(a, b) for a in range(count) for b in range(count - a)]
        return sorted(pairs, key=lambda x: (-sum(x), -x[0]))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        product = self._product(fn, site)
        assert isinstance(product, _Product)
        before: list[Stmt] = []
        copies: dict[str, tuple[str, Operand]] = {}
        for a in self._operands(fn, site):
            now = replace(fn, body=(*fn.body, *before))
            target = fresh(now, f"{a.param.name}_b")
            copies[a.param.name] = (target, a)
            before += self._copied(now, a, target, product)
        before.sort(key=lambda s: not isinstance(s, Decl))

        def redirected(e: Expr) -> Expr:
            if not (isinstance(e, Load) and e.array in copies):
                return e
            target, a = copies[e.array]
            return widened(Load(target, a.turn(e.index)))

        loop = product.site.loop
        end = Bin("*", Const(len(self._pairs())), rounded(loop.hi, TERMS))
        origin = loop.origin.then(str(self))
        body = map_exprs(loop.body, redirected)
        longer = replace(loop, hi=simplify(end), body=body, origin=origin)
        fn = replace_at(fn, product.site.path, (longer,))
        nest = at(fn, site.path)
        return replace_at(fn, site.path, (*before, nest))

    def _copied(self, fn: Function, a: Operand, target: str, product: _Product) -> Iterator[Stmt]:
        """The declaration of the copy and the nest that makes it."""
        name, loop = a.param.name, product.site.loop
        origin = a.param.origin.then(str(self))
        shape = self._shape(a, product)
        yield Decl(target, USHORT, shape, Space.GLOBAL, like=name, turned=a.turned, origin=origin)
        side = [x.array for x in product.factors].index(name)
        where = _terms(product.factors[side], loop.var)
        assert where is not None
        variables = counters(fn, len(shape))
        index = tuple(map(Var, variables))
        terms = rounded(loop.hi, TERMS)
        ends = [terms if n == where else e for n, e in enumerate(a.turn(shape))]
        last = len(index) - (2 if a.turned else 1)
        inside = [(index[where], loop.hi), *((index[n], a.box.upper[n]) for n in {where, last})]
        exists: list[Expr] = [Bin("<", x, e) for x, e in dict.fromkeys(inside)]
        value = Select(conjunction(exists), Load(name, index), Const(0.0, FLOAT))
        body, parts = self._split(replace(fn, body=(*fn.body, Decl(target, USHORT))), value)
        for n, pair in enumerate(self._pairs()):
            further = simplify(Bin("+", Bin("*", Const(n), terms), index[where]))
            to = a.turn(tuple(further if d == where else e for d, e in enumerate(index)))
            body.append(Assign(Load(target, to), parts[pair[side]]))
        marked = (replace(s, origin=origin) for s in body)
        copy = copy_nest(fn, tuple(marked), variables, tuple(ends))
        when = touched(a.box)
        yield If(conjunction(when), (copy,), origin=origin) if when else copy

    def _split(self, fn: Function, value: Expr) -> tuple[list[Stmt], list[Var]]:
        """What computes the parts of a number, and their names, the largest first."""
        body, parts = list[Stmt](), list[Var]()
        rest = value
        for n in range(int(self.parts)):
            left, part = (fresh(fn, f"{x}_{n}") for x in ("left", "part"))
            body += [Decl(left, FLOAT), Assign(Var(left), rest)]
            body += [Decl(part, USHORT), Assign(Var(part), nearest(Var(left)))]
            parts.append(Var(part))
            rest = Bin("-", Var(left), widened(Var(part)))
        return body, parts

    @property
    def result(self) -> str:
        """How far results are from exact ones."""
        bound = BOUNDS[self.parts]
        return f"each result within {bound} times the sum of its products' magnitudes"

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return self.result


def _factors(loop: For, types: dict[str, Scalar]) -> tuple[Load, Load] | None:
    """The elements whose product is all that a loop adds to a number; floats."""
    s = loop.body[0] if len(loop.body) == 1 else None
    if not isinstance(s, Assign) or s.atomic or type_of(s.target, types) != FLOAT:
        return None
    match s.op, s.value:
        case ("+", Bin("*", Load() as a, Load() as b)):
            pass
        case ("", Bin("+", sum, Bin("*", Load() as a, Load() as b))) if sum == s.target:
            pass
        case ("", Bin("+", Bin("*", Load() as a, Load() as b), sum)) if sum == s.target:
            pass
        case _:
            return None
    return (a, b) if all(type_of(x, types) == FLOAT for x in (a, b)) else None


def _terms(factor: Load, var: str) -> int | None:
    """The one subscript that is the number of a term."""
    where = [n for n, e in enumerate(factor.index) if var in names(e)]
    return where[0] if len(where) == 1 and factor.index[where[0]] == Var(var) else None


def _begins_with_zero(fn: Function, site: LoopSite) -> bool:
    """Whether what a loop adds to is set to 0 right before."""
    (added,) = site.loop.body
    *outer, number = site.path
    before = at(fn, (*outer, number - 1)) if number > 0 else None
    match added, before:
        case (Assign(sum), Assign(target, value, "")):
            return sum == target and isinstance(value, Const) and value.value == 0
        case _:
            return False


def _no(site: LoopSite, text: str, remedy: str) -> Obstacle:
    return Obstacle("LX262", text, site.loop.origin.loc, remedy=remedy)
