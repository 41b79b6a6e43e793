"""Matrix products: what a nest that is one asks of a BLAS library.

    C = A*B  or  C += A*B,  A and B transposed or not, row after row in memory

It is found from loops and subscripts, whatever the order of the loops and whether the sum is kept
in a scalar or in C. Any other statement, bound or subscript is a reason why the nest is not one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from loopxform.errors import UnsupportedC
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, Load, Return, Var
from loopxform.ir.types import DOUBLE, FLOAT, Scalar
from loopxform.ir.typing import all_types
from loopxform.ir.visit import Path, loops_around, names, walk
from loopxform.source import Loc

HELP = (
    "libraries are timed for C = A*B and C += A*B, A and B transposed or not; leave out --against"
)


@dataclass(frozen=True)
class Operand:
    """A matrix by its name; `transposed` says that its first subscript is the column. `row` is the
    distance of its rows in memory, in elements."""

    array: str
    transposed: bool
    row: Expr


class Numbers(NamedTuple):
    """The extents of a product, and the distances of rows in memory."""

    m: int
    n: int
    k: int
    a: int
    b: int
    c: int


@dataclass(frozen=True)
class Product:
    """`m` x `k` times `k` x `n`; `adds` says that C keeps what it has."""

    type: Scalar
    m: Expr
    n: Expr
    k: Expr
    a: Operand
    b: Operand
    c: Operand
    adds: bool

    def numbers(self, given: Mapping[str, Any]) -> Numbers:
        """The numbers of a call with these arguments."""
        scalars = {n: v for n, v in given.items() if np.ndim(v) == 0}
        ends = (max(0, evaluate(e, scalars)) for e in (self.m, self.n, self.k))
        return Numbers(*ends, *(evaluate(x.row, scalars) for x in (self.a, self.b, self.c)))


def product_of(fn: Function) -> Product:
    """The product that the function computes. Raises UnsupportedC with the place and the reason why
    it is none."""
    return _Search(fn).result()


@dataclass(frozen=True)
class _Placed:
    """An assignment, where it is, and the loops around it."""

    path: Path
    stmt: Assign
    loops: tuple[For, ...]


class _Search:
    def __init__(self, fn: Function) -> None:
        self.fn = fn

    def result(self) -> Product:
        if self.fn.structs:
            raise self._none("its numbers are members of structs")
        type = self._type()
        placed = self._assignments()
        updates = [p for p in placed if _is_update(p.stmt)]
        if len(updates) != 1:
            raise self._none("no statement, or more than one, adds a product of two elements")
        (update,) = updates
        others = [p for p in placed if p is not update]
        target = update.stmt.target
        if isinstance(target, Load):
            c, adds = target, not self._zeroed(target, others, update)
        else:
            c, adds = self._stored(target, others, update)
        return self._product(type, update, c, adds=adds)

    def _none(self, reason: str, loc: Loc | None = None) -> UnsupportedC:
        message = f"'{self.fn.name}' is not seen to be a matrix product: {reason}"
        return UnsupportedC(message, loc=loc or self.fn.origin.loc, code="LX068", help=HELP)

    def _type(self) -> Scalar:
        found = {t for t in all_types(self.fn) if t.is_float}
        arrays = {p.type for p in self.fn.objects if p.array}
        if len(found) == 1 and found == arrays and found <= {FLOAT, DOUBLE}:
            return found.pop()
        raise self._none("its numbers are not all float, or all double")

    def _assignments(self) -> list[_Placed]:
        out: list[_Placed] = []
        for path, s in walk(self.fn.body):
            match s:
                case For() | Decl(shape=()) | Return(None):
                    continue
                case Assign():
                    out.append(_Placed(path, _with_op(s), loops_around(self.fn, path)))
                case _:
                    raise self._none("there is more in it than loops and sums", s.origin.loc)
        return out

    # ------------------------------------------------------------ what C has before

    def _zeroed(self, c: Load, others: list[_Placed], update: _Placed) -> bool:
        """Whether C is set to zero, all of it, before it is added to."""
        for p in others:
            alone = _sets(p.stmt, c.array) and len(p.loops) == 2 and p.path < update.path
            if not (alone and self._ranges(p) == self._ranges(update)):
                raise self._none("a statement is no part of one", p.stmt.origin.loc)
        return bool(others)

    def _stored(self, sum: Var, others: list[_Placed], update: _Placed) -> tuple[Load, bool]:
        """Where the sum goes, and whether it is added to what is there."""
        if len(others) != 2 or len(update.loops) != 3:
            raise self._none("the sum is not set to zero, added to, and stored")
        first, last = others
        target, inner = last.stmt.target, update.path[:-1]
        around = update.loops[:2] == first.loops == last.loops
        ordered = first.path < inner < last.path and first.path[:-1] == last.path[:-1] == inner[:-1]
        if not (around and ordered and _is_zero(first.stmt, sum)):
            raise self._none("the sum is not set to zero right before its loop")
        stores = isinstance(target, Load) and last.stmt.value == sum and last.stmt.op in ("", "+")
        if not stores:
            raise self._none("more than the sum is stored", last.stmt.origin.loc)
        assert isinstance(target, Load)
        return target, last.stmt.op == "+"

    def _ranges(self, p: _Placed) -> list[tuple[Expr, Expr, Expr]]:
        """Of the two loops whose counters are the subscripts of the target, in their order."""
        ranges = {x.var: (x.lo, x.hi, x.step) for x in p.loops}
        if not isinstance(p.stmt.target, Load) or not _plain(p.stmt.target, ranges):
            raise self._none("the subscripts are not those of one", p.stmt.origin.loc)
        return [ranges[e.name] for e in p.stmt.target.index if isinstance(e, Var)]

    # ------------------------------------------------------------ roles

    def _product(self, type: Scalar, update: _Placed, c: Load, *, adds: bool) -> Product:
        ends = {x.var: self._end(x) for x in update.loops}
        value = update.stmt.value
        assert isinstance(value, Bin)
        factors = [e for e in (value.left, value.right) if isinstance(e, Load)]
        if len(ends) != 3 or len(c.index) != 2 or c.array in {f.array for f in factors}:
            raise self._none("it is not three loops over two matrices and a third one")
        row, column = (e.name if isinstance(e, Var) else "" for e in c.index)
        summed = next((v for v in ends if v not in (row, column)), "")
        by_loops = {frozenset(names(i) for i in f.index): f for f in factors}
        a = by_loops.get(frozenset((frozenset([row]), frozenset([summed]))))
        b = by_loops.get(frozenset((frozenset([summed]), frozenset([column]))))
        if a is None or b is None or not all(_plain(x, ends) for x in (a, b, c)):
            raise self._none("the subscripts are not those of one", update.stmt.origin.loc)
        m, n, k = (ends[v] for v in (row, column, summed))
        left, right = self._operand(a, row), self._operand(b, summed)
        return Product(type, m, n, k, left, right, self._operand(c, row), adds)

    def _end(self, x: For) -> Expr:
        if x.lo != Const(0) or x.step != Const(1):
            raise self._none(f"the loop over '{x.var}' does not count from 0", x.origin.loc)
        if not names(x.hi) <= {p.name for p in self.fn.objects if not p.array}:
            raise self._none(f"the loop over '{x.var}' has other ends", x.origin.loc)
        return x.hi

    def _operand(self, x: Load, first: str) -> Operand:
        shape = next(p.shape for p in self.fn.objects if p.name == x.array)
        assert shape[1] is not None
        return Operand(x.array, x.index[0] != Var(first), shape[1])


def _with_op(s: Assign) -> Assign:
    """`x = x + e` as `x += e`."""
    match s:
        case Assign(target, Bin("+", left, right), "") if target in (left, right):
            return replace(s, value=right if target == left else left, op="+")
        case _:
            return s


def _is_update(s: Assign) -> bool:
    match s:
        case Assign(_, Bin("*", Load(), Load()), "+"):
            return True
        case _:
            return False


def _is_zero(s: Assign, target: Var | Load) -> bool:
    return s.target == target and not s.op and isinstance(s.value, Const) and s.value.value == 0


def _sets(s: Assign, array: str) -> bool:
    return isinstance(s.target, Load) and s.target.array == array and _is_zero(s, s.target)


def _plain(x: Load, loops: Mapping[str, object]) -> bool:
    """Whether the two subscripts are counters of two loops."""
    found = {e.name for e in x.index if isinstance(e, Var) and e.name in loops}
    return len(x.index) == 2 == len(found)
