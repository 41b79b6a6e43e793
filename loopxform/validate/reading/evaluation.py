"""What expressions come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import islpy as isl
from pycparser import c_ast

from loopxform.validate import expressions as ex
from loopxform.validate.ctypes import INT, CType, common, named, promoted
from loopxform.validate.model import Expr, Whole
from loopxform.validate.polynomials import Polynomial, added
from loopxform.validate.reading.calls import Calls, affine
from loopxform.validate.reading.conditions import chosen
from loopxform.validate.reading.scopes import joined
from loopxform.validate.reading.syntax import construct, is_null, line_of
from loopxform.validate.reading.values import Cell, Value
from loopxform.validate.unmodelled import Unmodelled


class Choice(NamedTuple):
    """Of `c ? a : b` on a part of the domain: whether c holds, and what may be chosen there."""

    where: isl.Set
    holds: bool | Expr
    first: Value | None
    second: Value | None

    @property
    def decided(self) -> Value | None:
        """The one that is chosen; None where data decide."""
        if isinstance(self.holds, bool):
            return self.first if self.holds else self.second
        return None


@dataclass
class Evaluation(Calls):
    tested: set[str] = field(default_factory=set)
    """The pointers of the caller that are compared with null."""

    def expr(self, e: c_ast.Node) -> Value:
        match e:
            case c_ast.Constant():
                return self._literal(e)
            case c_ast.ID():
                return self._variable(e)
            case c_ast.ArrayRef() | c_ast.StructRef():
                return self._element_at(e)
            case c_ast.UnaryOp():
                return self._unary(e)
            case c_ast.BinaryOp() if e.op in ("&&", "||"):
                return self.logical(self.condition(e))
            case c_ast.BinaryOp() if (pointer := self._asked_for_null(e)) is not None:
                return pointer
            case c_ast.BinaryOp():
                return self.binary(e.op, self.expr(e.left), self.expr(e.right), e)
            case c_ast.TernaryOp():
                return self._select(e)
            case c_ast.Cast():
                type, dims = self.declared(e.to_type.type)
                if dims:
                    raise Unmodelled("a cast to an array", line_of(e))
                return self.cast(self.expr(e.expr), type, e)
            case c_ast.FuncCall():
                return self.function(e)
            case c_ast.Assignment():
                raise Unmodelled("an assignment in an expression", line_of(e))
        raise Unmodelled(construct(e), line_of(e))

    def _asked_for_null(self, e: c_ast.BinaryOp) -> Value | None:
        """Whether a pointer of the caller's is null is a number that comes with the call."""
        for a, b in ((e.left, e.right), (e.right, e.left)):
            if e.op not in ("==", "!=") or not isinstance(a, c_ast.ID) or not is_null(b):
                continue
            array = next((c[a.name] for c in reversed(self.scopes) if a.name in c), None)
            if isinstance(array, Cell) and array.array.kind == "global" and not self.in_kernel:
                self.tested.add(a.name)
                given = self.parameter(f"{a.name}_given")
                return given if e.op == "!=" else added(self.number(1), given, -1), INT
        return None

    def _element_at(self, e: c_ast.Node) -> Value:
        cell, places = self.reached(e)
        return self.element(cell, places, e), cell.array.type

    def _literal(self, e: c_ast.Constant) -> Value:
        if e.type == "char":
            return self.number(ex.character(e.value)), INT
        if e.type in ("float", "double", "long double"):
            type = named(["float" if e.value[-1] in "fF" else "double"])
            assert type is not None
            return ex.number(ex.floating(e.value), type), type
        text = e.value.rstrip("uUlL")
        value = int(text, 0) if not (text.startswith("0") and text.isdigit()) else int(text, 8)
        suffix = e.value[len(text) :].lower()
        words = ["unsigned"] * ("u" in suffix) + ["long"] * ("l" in suffix or value >= 1 << 31)
        type = named([*words, "int"])
        assert type is not None
        return self.number(value), type

    def _variable(self, e: c_ast.ID) -> Value:
        if e.name in ex.INFINITE:
            return ex.infinity(e.name)
        if e.name in ("true", "false"):
            return self.number(int(e.name == "true")), INT
        binding = self.find(e.name, e)
        match binding:
            case Cell():
                return self._held(binding, e)
            case Whole():
                return binding.value, binding.type
        return binding, binding.type

    def _held(self, cell: Cell, e: c_ast.ID) -> Value:
        if cell.sizes or cell.array.kind in ("global", "scratch"):
            raise Unmodelled(f"the array {e.name} as a pointer", line_of(e))
        number = self.known.get(cell.array.name)
        if number is not None:
            return number.lifted(self.dims), cell.array.type
        return self.element(cell, (), e), cell.array.type

    def _unary(self, e: c_ast.UnaryOp) -> Value:
        match e.op:
            case "!":
                return self.logical(self.condition(e))
            case "*":
                return self._element_at(e)
            case "-" | "+" | "~":
                v, t = self.expr(e.expr)
                t = promoted(t)
                if e.op == "+":
                    return v, t
                if isinstance(v, Polynomial) and e.op == "-" and t.signed:
                    return added(self.number(0), v, -1), t
                return ex.negated(self.expression((v, t), e), e.op, t), t
            case "sizeof":
                raise Unmodelled("sizeof", line_of(e))
        raise Unmodelled(f"the operator {e.op.strip('p')} in an expression", line_of(e))

    # ------------------------------------------------------------ c ? a : b

    def _select(self, e: c_ast.TernaryOp) -> Value:
        choices: list[Choice] = []
        for where, holds in self.condition(e.cond):
            with self.within(domain=where):
                first = self.expr(e.iftrue) if holds is not False else None
                second = self.expr(e.iffalse) if holds is not True else None
            choices.append(Choice(where, holds, first, second))
        type = self._type_of(e, choices)
        number = _decided_number(choices)
        if number is not None:
            return number, type
        return chosen([(c.where, self._chosen(c, type, e)) for c in choices], type), type

    def _chosen(self, c: Choice, type: CType, e: c_ast.TernaryOp) -> Expr:
        with self.within(domain=c.where):
            operands = [
                self.expression(self.cast(v, type, e), e)
                for v in (c.first, c.second)
                if v is not None
            ]
        if isinstance(c.holds, bool):
            return operands[0]
        return ex.operation("?:", (c.holds, *operands), type)

    def _type_of(self, e: c_ast.TernaryOp, choices: Sequence[Choice]) -> CType:
        """In which both meet, even where one of them is never chosen."""
        types = [v[1] for c in choices for v in (c.first, c.second) if v is not None]
        for branch, values in (
            (e.iftrue, [c.first for c in choices]),
            (e.iffalse, [c.second for c in choices]),
        ):
            if all(v is None for v in values):
                with self.within():
                    types.append(self.expr(branch)[1])
        type = promoted(types[0])
        for t in types[1:]:
            type = common(type, t)
        return type


def _decided_number(choices: Sequence[Choice]) -> Polynomial | None:
    """The number that is chosen, where nothing depends on data."""
    parts: list[isl.PwAff] = []
    for c in choices:
        number = affine(c.decided[0]) if c.decided is not None else None
        if number is None:
            return None
        parts.append(number.intersect_domain(c.where))
    return Polynomial.of(joined(parts)) if parts else None
