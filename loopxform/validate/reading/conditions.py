"""Conditions: where they hold, where they do not, and where data decide."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from loopxform.validate import expressions as ex
from loopxform.validate.ctypes import INT, CType
from loopxform.validate.model import Cases, Expr, Whole
from loopxform.validate.polynomials import Polynomial
from loopxform.validate.reading.cells import Cells
from loopxform.validate.reading.syntax import line_of
from loopxform.validate.reading.values import Digits, Pieces, Value, gathered
from loopxform.validate.unmodelled import Unmodelled


@dataclass
class Conditions(Cells, ABC):
    @abstractmethod
    def expr(self, e: c_ast.Node) -> Value:
        """What an expression comes to, and its type."""

    def condition(self, e: c_ast.Node) -> Pieces:
        """Where a condition holds, where not, and where data decide: a partition of the domain."""
        match e:
            case c_ast.UnaryOp() if e.op == "!":
                return [
                    (w, not h if isinstance(h, bool) else ex.operation("!", (h,), INT))
                    for w, h in self.condition(e.expr)
                ]
            case c_ast.BinaryOp() if e.op in ("&&", "||"):
                return self._connected(e)
        return self.truth(self.expr(e), e)

    def _connected(self, e: c_ast.BinaryOp) -> Pieces:
        """Of `a && b` and `a || b`: b counts where a does not decide."""
        pieces: Pieces = []
        stops = e.op == "||"
        for where, holds in self.condition(e.left):
            if holds is stops:
                pieces.append((where, holds))
                continue
            with self.within(domain=where):
                right = self.condition(e.right)
            for part, second in right:
                if isinstance(holds, bool):
                    pieces.append((part, second))
                elif second is (not stops):
                    pieces.append((part, holds))
                else:
                    b = self.whole(int(second)) if isinstance(second, bool) else second
                    pieces.append((part, ex.operation(e.op, (holds, b), INT)))
        return gathered(pieces)

    def truth(self, value: Value, node: c_ast.Node) -> Pieces:
        """Where a value is not zero."""
        v, _ = value
        match v:
            case Polynomial():
                return self._non_zero(v)
            case Whole():
                return self.truth((v.value, v.type), node)
            case Cases():
                pieces: Pieces = []
                for where, x in v.pieces:
                    with self.within(domain=self.domain.intersect(where)):
                        part = (x.value, x.type) if isinstance(x, Whole) else (x, v.type)
                        pieces += self.truth(part, node)
                return gathered(pieces)
            case Digits():
                raise Unmodelled("a condition on the number of a group", line_of(node))
        return [(self.domain, ex.truth(v, self.whole(0)))]

    def _non_zero(self, v: Polynomial) -> Pieces:
        a = v.affine
        if a is None:
            return [(self.domain, ex.operation("!=", (Whole(v, INT), self.whole(0)), INT))]
        zero = self.constant(0)
        holds = self.domain.intersect(a.ne_set(zero))
        return gathered([(holds, True), (self.domain.intersect(a.eq_set(zero)), False)])

    def logical(self, pieces: Pieces) -> Value:
        """A condition as a number, 1 or 0."""
        cases = [(w, self.whole(int(h)) if isinstance(h, bool) else h) for w, h in pieces]
        value = chosen(cases, INT)
        return (value.value if isinstance(value, Whole) else value), INT


def chosen(cases: list[tuple[isl.Set, Expr]], type: CType) -> Expr:
    """The expression of the part of the domain that an instance belongs to."""
    if len(cases) == 1:
        return cases[0][1]
    return Cases(tuple(cases), type)
