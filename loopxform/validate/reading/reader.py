"""Statements of a function in the order of its text.

One reader serves the user's C and kernels: what differs (work-items, where the arrays come from) is
bound by `programs`. Whole numbers that follow from iterations and parameters are followed through
variables; every other variable is a cell that statements store to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from loopxform.validate.ctypes import INT
from loopxform.validate.model import Expr, Position
from loopxform.validate.polynomials import Polynomial
from loopxform.validate.reading.desugar import counting_down, whole_number, without_continue
from loopxform.validate.reading.folds import Folds
from loopxform.validate.reading.syntax import (
    called_name,
    construct,
    ends_early,
    has_barrier,
    line_of,
)
from loopxform.validate.unmodelled import EndedByData, Unmodelled


@dataclass
class Reader(Folds):
    """Reads one function into `program`."""

    def block(self, items: Sequence[c_ast.Node] | None) -> None:
        items = list(items or ())
        for at, s in enumerate(items):
            skipping = without_continue(s, items[at + 1 :])
            if skipping is not None:
                self._placed(at, skipping)
                return
            loop = counting_down(s)
            self._placed(at, s if loop is None else loop)

    def in_block(self, s: c_ast.Node | None) -> None:
        if isinstance(s, c_ast.Compound):
            self.block(s.block_items)
        elif s is not None:
            self._placed(0, s)

    def _placed(self, at: int, s: c_ast.Node) -> None:
        """A statement at a place of its sequence, which the barriers around it are ordered by."""
        if isinstance(s, c_ast.Decl | c_ast.DeclList):
            self._declarations(at, s)
        elif isinstance(s, c_ast.For) and not ends_early(s.stmt):
            self._loop(at, s)
        else:
            with self._at(2 * at, s):
                self._statement(s)

    def _loop(self, at: int, s: c_ast.For) -> None:
        with self._at(2 * at, s):
            try:
                end = self.loop(s)
            except EndedByData:
                self.fold(s)
                return
        with self._at(2 * at + 1, None):
            self.leave(s, end)

    @contextmanager
    def _at(self, place: int, s: c_ast.Node | None) -> Iterator[None]:
        """At a place of a sequence. Each statement has two: loops leave their counters behind."""
        if self.in_phase:
            with self.within(phase=(*self.phase, Position(place)), in_phase=has_barrier(s)):
                yield
        else:
            with self.within(order=(*self.order, Position(place))):
                yield

    def _declarations(self, at: int, s: c_ast.Decl | c_ast.DeclList) -> None:
        """In the scope around them."""
        before = self.phase, self.order, self.in_phase
        if self.in_phase:
            self.phase, self.in_phase = (*self.phase, Position(2 * at)), False
        else:
            self.order = (*self.order, Position(2 * at))
        for d in s.decls if isinstance(s, c_ast.DeclList) else (s,):
            self.declaration(d)
        self.phase, self.order, self.in_phase = before

    def _statement(self, s: c_ast.Node) -> None:
        match s:
            case c_ast.Compound():
                self.block(s.block_items)
            case c_ast.For() | c_ast.While():
                self.fold(s)
            case c_ast.If():
                self._branch(s)
            case c_ast.Assignment():
                self.assignment(s.lvalue, s.op, s.rvalue, s)
            case c_ast.UnaryOp() if s.op in ("p++", "++", "p--", "--"):
                self.assignment(s.expr, s.op.strip("p")[0] + "=", whole_number(1), s)
            case c_ast.EmptyStatement() | c_ast.Pragma():
                pass
            case c_ast.Cast() if isinstance(s.expr, c_ast.ID):
                pass  # (void)x
            case c_ast.FuncCall() if called_name(s) == "barrier":
                self.barrier(s)
            case c_ast.FuncCall():
                raise Unmodelled(f"a call of {called_name(s)}", line_of(s))
            case _:
                raise Unmodelled(construct(s), line_of(s))

    # ------------------------------------------------------------ branches

    def _branch(self, s: c_ast.If) -> None:
        before = dict(self.known)
        in_phase = self.in_phase
        ways: list[tuple[isl.Set, dict[str, Polynomial]]] = []
        for where, holds in self.condition(s.cond):
            self.known = dict(before)
            if not isinstance(holds, bool):
                if in_phase:
                    raise Unmodelled("a barrier under a condition on data", line_of(s))
                with self.within(domain=where):
                    self._both(s, holds)
            elif (body := s.iftrue if holds else s.iffalse) is not None:
                with self.within(domain=where):
                    if in_phase and has_barrier(body):
                        self.uniform(s)
                    self.in_block(body)
            ways.append((where, self.known))
        self.known = self.met(ways)

    def _both(self, s: c_ast.If, holds: Expr) -> None:
        """Both branches of a condition on data: what they store depends on a flag that holds it."""
        flag = self.new_cell("condition", INT, (), "private", line_of(s))
        with self.within(order=(*self.order, Position(0))):
            self.store(flag, (), (holds, INT), s)
        for at, (body, negated) in enumerate(((s.iftrue, False), (s.iffalse, True)), 1):
            if body is None:
                continue
            with self.within(order=(*self.order, Position(at))):
                self.flags = (*self.flags, (flag, negated))
                self.in_block(body)
                self.flags = self.flags[:-1]
                self.forget(body)
