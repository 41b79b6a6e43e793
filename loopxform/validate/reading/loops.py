"""Loops that count: their iterations as a dimension of the domain."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from loopxform.validate.ctypes import INT, CType
from loopxform.validate.model import Position, Whole
from loopxform.validate.polynomials import Polynomial, added
from loopxform.validate.reading.barriers import Barriers
from loopxform.validate.reading.syntax import identifier, is_name, line_of, stored_in
from loopxform.validate.reading.values import Cell
from loopxform.validate.unmodelled import EndedByData, Unmodelled


@dataclass
class Loops(Barriers):
    @abstractmethod
    def in_block(self, s: c_ast.Node | None) -> None:
        """Reads the body of a loop or a branch."""

    def loop(self, s: c_ast.For) -> Polynomial | None:
        """Reads a loop. What its counter holds behind it, where that is known."""
        name, type, start = self._start(s)
        first, _ = self.expr(start)
        self.forget(s)
        with self.within():
            step = self._step(s, name)
            if not isinstance(first, Polynomial):
                raise EndedByData("a loop whose start data decide", line_of(s))
            low = self.affine_of(first, s)
            self.fits(first, type, s)
            self.bind(name, Whole(self._count(low, step), type))
            self._while_it_holds(s, step)
            self._one_step_on(s, name, step)
            position = Position(iterator=self.dims - 1, backwards=step == -1)
            if self.in_phase:
                self.phase = (*self.phase, position)
                self.uniform(s)
            else:
                self.order = (*self.order, position)
            if name in stored_in(s.stmt):
                raise Unmodelled(f"a loop that changes its counter {name}", line_of(s))
            end = self._end(s, name, low, step)
            self.in_block(s.stmt)
        self.forget(s)
        return end

    def leave(self, s: c_ast.For, end: Polynomial | None) -> None:
        """Behind a loop: what is left in a counter that is declared in front of it."""
        name, type, _ = self._start(s)
        counter = None if isinstance(s.init, c_ast.DeclList) else self.find(name, s)
        if not isinstance(counter, Cell):
            return
        if end is None:
            self.undefined(counter, s)
        else:
            self.store(counter, (), (end, type), s)

    def _count(self, low: isl.PwAff, step: int) -> Polynomial:
        """The number of the counter in the iterations, which get a dimension."""
        trip = self.new_dimension()
        low = low.add_dims(isl.dim_type.in_, 1)
        if abs(step) == 1:
            counter = trip
            along = trip.sub(low) if step > 0 else low.sub(trip)
        else:  # counted in steps: no remainders, which isl is slow with
            counter = low.add(trip.scale_val(isl.Val(step)))
            along = trip
        self.domain = self.domain.intersect(along.ge_set(self.constant(0)))
        return Polynomial.of(counter)

    def _while_it_holds(self, s: c_ast.For, step: int) -> None:
        """Keeps the iterations up to the first for which the condition fails."""
        with self.within(checking=False):  # nobody asks beyond the last iteration
            pieces = self.condition(s.cond) if s.cond is not None else []
        if any(not isinstance(holds, bool) for _, holds in pieces):
            raise EndedByData("a loop that ends where data say so", line_of(s))
        inside = isl.Set.empty(self.domain.get_space())
        for where, holds in pieces:
            if holds:
                inside = inside.union(where)
        self._monotone(inside, step, s)
        self.domain = inside.coalesce()

    def _one_step_on(self, s: c_ast.For, name: str, step: int) -> None:
        """The counter stays in its type at the end of the last iteration, too."""
        counter, type = self.expr(identifier(name))
        if isinstance(counter, Polynomial):
            self.fits(added(counter, self.number(step)), type, s)

    def _monotone(self, inside: isl.Set, step: int, s: c_ast.For) -> None:
        """The iterations are those where the condition holds only if it holds up to its end."""
        gone = self.domain.subtract(inside)
        if gone.is_empty():
            return
        d = self.dims - 1
        later = isl.Map.universe(isl.Space.map_from_set(self.domain.get_space()))
        for k in range(d):
            later = later.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        order = later.order_gt if step == -1 else later.order_lt
        later = order(isl.dim_type.in_, d, isl.dim_type.out, d)
        if not gone.apply(later).intersect(inside).is_empty():
            raise Unmodelled("a loop whose condition fails and holds again", line_of(s))

    def _start(self, s: c_ast.For) -> tuple[str, CType, c_ast.Node]:
        """The counter, its type, and the expression of its first number."""
        init = s.init
        if init is None:
            step = s.next
            counter = (
                step.expr if isinstance(step, c_ast.UnaryOp) else getattr(step, "lvalue", None)
            )
            if isinstance(counter, c_ast.ID):
                return counter.name, self._type_of_name(counter), counter
        if isinstance(init, c_ast.DeclList) and len(init.decls) == 1:
            (d,) = init.decls
            if d.init is not None:
                type, _ = self.declared(d.type)
                if not type.whole:
                    raise Unmodelled("a loop whose counter is no whole number", line_of(s))
                return d.name, type, d.init
        if isinstance(init, c_ast.Assignment) and init.op == "=":
            target = init.lvalue
            if isinstance(target, c_ast.ID):
                return target.name, self._type_of_name(target), init.rvalue
        raise Unmodelled("a loop whose start is not one number", line_of(s))

    def _type_of_name(self, e: c_ast.ID) -> CType:
        binding = self.find(e.name, e)
        return binding.array.type if isinstance(binding, Cell) else binding.type

    def _step(self, s: c_ast.For, name: str) -> int:
        step = s.next
        if isinstance(step, c_ast.UnaryOp) and is_name(step.expr, name):
            if step.op in ("++", "p++"):
                return 1
            if step.op in ("--", "p--"):
                return -1
        if isinstance(step, c_ast.Assignment) and is_name(step.lvalue, name):
            op, by = _change(step)
            value, _ = self.expr(by) if op in ("+", "-") else (None, None)
            number = value.constant if isinstance(value, Polynomial) else None
            if number:
                return number if op == "+" else -number
        raise Unmodelled("a loop whose step is not a number", line_of(s))

    def _end(self, s: c_ast.For, name: str, low: isl.PwAff, step: int) -> Polynomial | None:
        """What the counter of `for (...; i < end; i += step)` holds behind the loop."""
        c = s.cond
        if step < 1 or not (isinstance(c, c_ast.BinaryOp) and c.op in ("<", "<=")):
            return None
        left, more = _sum(c.left)
        if not is_name(left, name):
            return None
        dims = low.dim(isl.dim_type.in_)
        outside = self.domain.project_out(isl.dim_type.set, dims, self.dims - dims)
        with self.within(domain=outside):
            end, _ = self.expr(c.right)
            if not isinstance(end, Polynomial) or end.affine is None:
                return None
            last = added(end, self.number(more - (c.op == "<=")), -1)
            count = added(added(last, Polynomial.of(low), -1), self.number(step - 1))
            trips = self.arithmetic("/", count, self.number(step), INT, line_of(s))
            if trips is None or trips.affine is None:
                return None
            some = trips.affine.max(self.constant(0))
            return Polynomial.of(low.add(some.scale_val(isl.Val(step))))


def _change(step: c_ast.Assignment) -> tuple[str, c_ast.Node]:
    """The operation and the number of `i += n`, and of `i = i + n`."""
    by = step.rvalue
    left = by.left if step.op == "=" and isinstance(by, c_ast.BinaryOp) else None
    if isinstance(left, c_ast.ID) and is_name(step.lvalue, left.name):
        return by.op, by.right
    return step.op[:-1], by


def _sum(e: c_ast.Node) -> tuple[c_ast.Node, int]:
    """`e + n` as e and n; any other expression and 0."""
    if isinstance(e, c_ast.BinaryOp) and e.op == "+" and isinstance(e.right, c_ast.Constant):
        return e.left, int(e.right.value)
    return e, 0
