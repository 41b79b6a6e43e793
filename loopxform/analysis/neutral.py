"""Padding that changes nothing: numbers for the elements past the end of staged arrays, with which
an iteration that the program does not have leaves every variable as it is, to the last bit.

    if (k < U) acc += A[k] * B[k]  ->  acc += A[k] * B[k], A[k] = 0.0 and B[k] = -0.0 from U on

Legal iff the body, computed with padding, ends with the value that each variable had: decided by
the rules of `unchanged.Rule`. x * 0 says nothing of a float x, which may be infinite: all that is
multiplied must be padding. Nothing is divided by padding or shifted by it, no subscript is computed
from it, and no arithmetic is added that may overflow. (Cholewa-Madsen and Holst, section 7.3.2.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice, product
from typing import assert_never

from loopxform.analysis.abstract_values import (
    Undefined,
    Value,
    either,
    integer,
    limits,
    real,
    unknown,
)
from loopxform.analysis.unchanged import Expressions, Rule, name_of
from loopxform.ir.nodes import (
    Assign,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Return,
    Stmt,
    Un,
)
from loopxform.ir.printer import stmt_text
from loopxform.ir.types import Scalar, Space
from loopxform.ir.typing import symbols
from loopxform.ir.updates import updated
from loopxform.ir.visit import declared, loads, names, stmt_exprs, writes
from loopxform.records import record

MOST_CHOICES = 4096
"""Combinations of padding that are tried at most."""


@record
class Neutral:
    """The padding of each array, and the rules by which it changes nothing."""

    pads: tuple[tuple[str, Expr], ...]
    rules: tuple[str, ...]


def padding(
    fn: Function,
    bodies: Sequence[tuple[Stmt, ...]],
    tiles: Mapping[str, Scalar],
    moving: frozenset[str],
) -> Neutral | str:
    """Padding for the arrays `tiles` with which every body changes nothing, or why there is none.
    They are copied from arrays of these types, which can hold it.

    The bodies run once more, with values of `moving` (variables of loops) that they never have in
    the program; what depends on neither those nor on what the bodies write has values that it has
    in an iteration of the program. Elements of `tiles` are all padding there.
    """
    types, wanted = symbols(fn), tuple(tiles)
    numbers = [_candidates(types[t], tiles[t]) for t in wanted]
    choices = list(islice(product(*numbers), MOST_CHOICES))
    problem = ""
    for invariants in (False, True):
        for chosen in choices:
            work = _Bodies(fn, dict(zip(wanted, chosen)), invariants=invariants)
            try:
                for body in bodies:
                    work.check(body, moving)
            except Undefined as e:
                problem = problem or str(e)
                continue
            pads = tuple((name, _text(v)) for name, v in zip(wanted, chosen))
            return Neutral(pads, tuple(dict.fromkeys(work.rules)))
    return problem


def _candidates(t: Scalar, source: Scalar) -> list[Value]:
    """Numbers that are neutral to something and that both types hold, the usual ones first."""
    if t.is_float and source.is_integer:
        return [real(t, x) for x in (0.0, 1.0)]
    if t.is_float:
        return [real(t, x) for x in (0.0, -0.0, math.nan, 1.0)]
    low, high = limits(t)
    return [integer(t, n) for n in dict.fromkeys((0, 1, high, low, -1)) if low <= n <= high]


def _text(v: Value) -> Expr:
    if v.number is None:
        return Const(v.low, v.type)
    if v.is_number(-0.0):
        return Un("-", Const(0.0, v.type))
    return Const(v.number, v.type)


class _Bodies(Expressions):
    """Runs bodies on what is known."""

    def check(self, body: tuple[Stmt, ...], moving: frozenset[str]) -> None:
        """Raises Undefined unless the body leaves everything as it is."""
        self.env, self.strict = {}, False
        self.computed = frozenset(self.pads) | writes(body) | frozenset(declared(body))
        self.moving = moving | self.computed
        self._run(body)

    def _run(self, body: tuple[Stmt, ...]) -> None:
        for s in body:
            match s:
                case Decl(name, t):
                    self.env[name] = unknown(t)
                case Assign():
                    self._assign(s)
                case Copy():
                    self._copy(s)
                case If(cond, then, orelse):
                    self._branch(cond, then, orelse)
                case For():
                    self._loop(s)
                case Return() | Opaque():
                    raise Undefined("a statement that is not an assignment")
                case _:
                    assert_never(s)

    def _assign(self, s: Assign) -> None:
        name = name_of(s.target)
        index = s.target.index if isinstance(s.target, Load) else ()
        value = updated(s.op, s.target, s.value) if s.op else s.value
        found = self.converted(self.value(value), self.types[name])
        self.subscripts(index)
        if name in self.env:
            self.env[name] = either(self.env[name], found) if index else found
        elif name not in self.storage or self.storage[name].space is Space.LOCAL:
            raise Undefined(f"'{name}' is written, which others see")
        elif found.place != s.target:
            raise Undefined(f"padding may change '{name}' in {stmt_text(s)}")

    def _copy(self, s: Copy) -> None:
        if s.target not in self.env:
            raise Undefined(f"'{s.target}' is filled")
        local = s.source in self.pads or s.source in self.storage
        if not local and not all(map(self.steady, stmt_exprs(s))):
            raise Undefined(f"'{s.source}' is read past the bounds check")
        self.subscripts(stmt_exprs(s))
        element = self.pads.get(s.source, self.env.get(s.source, unknown(self.types[s.target])))
        self.env[s.target] = self.converted(element, self.types[s.target])

    def _branch(self, cond: Expr, then: tuple[Stmt, ...], orelse: tuple[Stmt, ...]) -> None:
        holds = self.value(cond).truth
        before, strict = dict(self.env), self.strict
        self.strict = strict or not self.ordinary(cond)
        if holds is None:
            self._run(then)
            taken, self.env = self.env, dict(before)
            self._run(orelse)
            self.env = {n: either(taken[n], self.env[n]) for n in before}
        else:
            self._run(then if holds else orelse)
            self.env = {n: self.env[n] for n in before}
        if holds is False and not orelse:
            self.rules.append(Rule.SKIPPED)
        self.strict = strict

    def _loop(self, s: For) -> None:
        """An iteration, whatever those before it did to the variables around the loop."""
        if any(names(e) & self.moving for e in (s.lo, s.hi, s.step)):
            raise Undefined(f"the loop over '{s.var}' depends on padding")
        if self.strict and any(True for e in (s.lo, s.hi, s.step) for _ in loads(e)):
            raise Undefined(f"the bounds of the loop over '{s.var}' are read under a condition")
        changed = writes(s.body) & set(self.env)
        self.env |= {n: unknown(self.env[n].type) for n in changed}
        self._forget(s.var)
        before = dict(self.env)
        self._run(s.body)
        self.env = {n: either(v, self.env[n]) for n, v in before.items()}
        self._forget(s.var)

    def _forget(self, var: str) -> None:
        """Places that `var` is a subscript of are others now."""
        for n, v in self.env.items():
            if v.place is not None and var in names(v.place):
                self.env[n] = Value(v.type, v.low, v.high, v.number)
