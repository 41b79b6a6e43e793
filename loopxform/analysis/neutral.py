"""Padding that changes nothing: numbers for the elements past the end of staged arrays, with which
an iteration that the program does not have leaves every variable as it is, to the last bit.

    if (k < U) acc += A[k] * B[k]  ->  acc += A[k] * B[k], A[k] = 0.0 and B[k] = -0.0 from U on

Legal iff the body, computed with padding, ends with the value that each variable had: decided by
the rules of `Rule` over what `known` knows of its expressions. x * 0 says nothing of a float x,
which may be infinite: all that is multiplied must be padding. (Seed 000, section 7.3.2.) Nothing is
divided by padding or shifted by it, no subscript is computed from it, and no arithmetic is added
that may overflow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import assert_never

from loopxform.analysis.invariants import never_minus_zero, truth_values
from loopxform.analysis.known import (
    Undefined,
    Value,
    arithmetic,
    bitwise,
    compare,
    convert,
    either,
    integer,
    limits,
    negative,
    real,
    truth,
    unknown,
)
from loopxform.ir.functions import INTEGER, base_name, parameters
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
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
    Select,
    Stmt,
    Tile,
    Un,
    Var,
)
from loopxform.ir.printer import stmt_text
from loopxform.ir.types import INT, Scalar, Space, common, promote
from loopxform.ir.typing import COMPARISONS, symbols, type_of
from loopxform.ir.visit import declared, loads, names, writes

MOST_CHOICES = 4096
"""Combinations of padding that are tried at most."""


class Rule:
    """Why a value stays as it is. `x` is what it was."""

    ANY_SUM = "x + -0.0 is x"
    SUM = "x + 0.0 is x, which is never -0.0"
    DIFFERENCE = "x - 0.0 is x"
    INTEGER_SUM = "x + 0 is x"
    PRODUCT = "x * 1 is x"
    BITS = "x & ~0, x | 0 and x ^ 0 are x"
    LOGIC = "x && 1 and x || 0 are x, which is 0 or 1"
    EXTREME = "no x is beyond the last value of its type"
    NAN = "fmax and fmin of x and NaN are x"
    UNORDERED = "a comparison with NaN is false"
    SKIPPED = "the condition is false"


@dataclass(frozen=True)
class Neutral:
    """The padding of each array, and the rules by which it changes nothing."""

    pads: tuple[tuple[str, Expr], ...]
    rules: tuple[str, ...]


def padding(
    fn: Function, bodies: Sequence[tuple[Stmt, ...]], tiles: Iterable[str], moving: frozenset[str]
) -> Neutral | str:
    """Padding for the arrays `tiles` with which every body changes nothing, or why there is none.

    The bodies run once more, with values of `moving` (variables of loops) that they never have in
    the program; what depends on neither those nor on what the bodies write has values that it has
    in an iteration of the program. Elements of `tiles` are all padding there.
    """
    types, wanted = symbols(fn), tuple(dict.fromkeys(tiles))
    choices = list(islice(product(*(_candidates(types[t]) for t in wanted)), MOST_CHOICES))
    problem = "nothing that is read is padding"
    for invariants in (False, True):
        for chosen in choices:
            work = _Bodies(fn, dict(zip(wanted, chosen)), moving, invariants=invariants)
            try:
                for body in bodies:
                    work.check(body)
            except Undefined as e:
                problem = str(e)
                continue
            pads = tuple((name, _text(v)) for name, v in zip(wanted, chosen))
            return Neutral(pads, tuple(dict.fromkeys(work.rules)))
    return problem


def _candidates(t: Scalar) -> list[Value]:
    """Numbers that are neutral to something, the usual ones first."""
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


class _Bodies:
    """Runs bodies on what is known. `env` holds the variables that a body declares itself; `strict`
    is set where the program may never have come."""

    def __init__(
        self, fn: Function, pads: dict[str, Value], moving: frozenset[str], *, invariants: bool
    ) -> None:
        self.fn, self.pads, self.loops = fn, pads, moving
        self.types, self.storage = symbols(fn), declared(fn.body)
        self.invariants = invariants
        self.rules: list[str] = []
        self.env: dict[str, Value] = {}
        self.moving = moving
        self.strict = False

    def check(self, body: tuple[Stmt, ...]) -> None:
        """Raises Undefined unless the body leaves everything as it is."""
        self.env, self.strict = {}, False
        self.moving = self.loops | set(self.pads) | writes(body) | set(declared(body))
        self._run(body)

    # ------------------------------------------------------------ statements

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
        name = _name(s.target)
        index = s.target.index if isinstance(s.target, Load) else ()
        value = Bin(s.op, s.target, s.value) if s.op else s.value
        found = self._as(self.value(value), self.types[name])
        self._subscripts(index)
        if name in self.env:
            self.env[name] = either(self.env[name], found) if index else found
        elif name not in self.storage or self.storage[name].space is Space.LOCAL:
            raise Undefined(f"'{name}' is written, which others see")
        elif found.place != s.target:
            raise Undefined(f"padding may change '{name}' in {stmt_text(s)}")

    def _copy(self, s: Copy) -> None:
        if s.target not in self.env:
            raise Undefined(f"'{s.target}' is filled")
        element = self.pads.get(s.source, self.env.get(s.source, unknown(self.types[s.target])))
        self.env[s.target] = self._as(element, self.types[s.target])

    def _branch(self, cond: Expr, then: tuple[Stmt, ...], orelse: tuple[Stmt, ...]) -> None:
        holds = self.value(cond).truth
        before, strict = dict(self.env), self.strict
        self.strict = strict or not self._ordinary(cond)
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

    # ------------------------------------------------------------ expressions

    def _ordinary(self, e: Expr) -> bool:
        """Whether an iteration of the program computes `e` as well, with the same result."""
        used = names(e)
        return bool(used) and not self.strict and not used & self.moving

    def _as(self, v: Value, to: Scalar) -> Value:
        """Converted as by an assignment."""
        place = v.place
        home = None if place is None else self.types[_name(place)]
        return convert(v, to, home)

    def _subscripts(self, index: tuple[Expr, ...]) -> None:
        for i in index:
            for x in loads(i):
                raise Undefined(f"a subscript is read from '{x.array}'")
            if names(i) & (self.moving - self.loops):
                raise Undefined("a subscript is computed from padding")

    def value(self, e: Expr) -> Value:
        """What is known of an expression. Raises Undefined."""
        match e:
            case Const(n, t):
                return real(t, float(n)) if t.is_float else integer(t, int(n))
            case Tile(_, n):
                return integer(INT, n)
            case Var(name):
                return self.env[name] if name in self.env else self._at(e, name)
            case Load(array, index):
                return self._element(e, array, index)
            case Bin(op, left, right):
                return self._binary(e, op, left, right)
            case Un(op, operand):
                return self._unary(e, op, operand)
            case Cast(t, operand):
                return unknown(t) if self._ordinary(e) else self._as(self.value(operand), t)
            case Call(name, args):
                return self._call(e, name, args)
            case Select(cond, then, orelse):
                return self._select(e, cond, then, orelse)
            case _:
                assert_never(e)

    def _at(self, e: Var | Load, name: str) -> Value:
        """What a variable of the program holds."""
        t = self.types[name]
        if self.invariants and name in self.storage and truth_values(self.fn, name):
            return Value(t, 0, 1, place=e)
        v = unknown(t)
        return Value(t, v.low, v.high, place=e)

    def _element(self, e: Load, array: str, index: tuple[Expr, ...]) -> Value:
        if array not in self.pads and array not in self.storage:
            if self._ordinary(e):
                return unknown(self.types[array])
            raise Undefined(f"'{array}' is read past the bounds check")
        self._subscripts(index)
        if array in self.pads:
            return self.pads[array]
        return self.env[array] if array in self.env else self._at(e, array)

    def _binary(self, e: Bin, op: str, left: Expr, right: Expr) -> Value:
        if self._ordinary(e):
            return unknown(type_of(e, self.types))
        if op in ("&&", "||"):
            return self._logic(op, left, right)
        a, b = self.value(left), self.value(right)
        if op in ("<<", ">>"):
            return self._shift(op, a, b, right)
        t = common(a.type, b.type)
        a, b = self._as(a, t), self._as(b, t)
        if op in COMPARISONS:
            if (a.is_nan or b.is_nan) and op != "!=":
                self.rules.append(Rule.UNORDERED)
            return truth(compare(op, a, b))
        if op in ("min", "max"):
            return self._extreme(op == "max", a, b)
        if op in ("/", "%"):
            if not self.strict and not names(e):
                return unknown(t)
            raise Undefined("a division would meet padding")
        kept = self._kept(op, a, b)
        if kept is not None:
            return kept
        return bitwise(op, a, b) if op in "&|^" else arithmetic(op, a, b)

    def _kept(self, op: str, a: Value, b: Value) -> Value | None:
        """The operand that is the result, where the other one is neutral."""
        if a.place is not None and (rule := self._neutral(op, a, b)):
            self.rules.append(rule)
            return a
        if op != "-" and b.place is not None and (rule := self._neutral(op, b, a)):
            self.rules.append(rule)
            return b
        return None

    def _neutral(self, op: str, x: Value, n: Value) -> str | None:
        """The rule by which x op n is x."""
        if x.type.is_float:
            if op == "+" and n.is_number(-0.0):
                return Rule.ANY_SUM
            if op == "+" and n.is_number(0.0) and self._never_minus_zero(x):
                return Rule.SUM
            if op == "-" and n.is_number(0.0):
                return Rule.DIFFERENCE
            return Rule.PRODUCT if op == "*" and n.is_number(1.0) else None
        if op in "+-" and n.integer == 0:
            return Rule.INTEGER_SUM
        if op == "*" and n.integer == 1:
            return Rule.PRODUCT
        if op in "|^" and n.integer == 0:
            return Rule.BITS
        mask = n.integer
        if op != "&" or mask is None:
            return None
        below = mask & (mask + 1) == 0 and x.low >= 0 and x.high <= mask
        return Rule.BITS if mask == -1 or below else None

    def _never_minus_zero(self, x: Value) -> bool:
        name = "" if x.place is None else _name(x.place)
        return self.invariants and name in self.storage and never_minus_zero(self.fn, name)

    def _logic(self, op: str, left: Expr, right: Expr) -> Value:
        decided = op == "||"
        a = self.value(left)
        if a.truth is decided:
            return truth(decided)
        strict, self.strict = self.strict, self.strict or not self._ordinary(left)
        b = self.value(right)
        self.strict = strict
        if b.truth is decided:
            return truth(decided)
        for x, n in ((a, b), (b, a)):
            if n.truth is not None and x.place is not None and (x.low, x.high) == (0, 1):
                self.rules.append(Rule.LOGIC)
                return self._as(x, INT)
        return truth(not decided if a.truth is b.truth is (not decided) else None)

    def _shift(self, op: str, a: Value, b: Value, amount: Expr) -> Value:
        t, n = promote(a.type), b.integer
        a = self._as(a, t)
        if not (self._ordinary(amount) if n is None else 0 <= n < 8 * t.bytes):
            raise Undefined("a shift by padding")
        if a.integer == 0:
            return integer(t, 0)
        if op == "<<" and not t.is_unsigned:
            raise Undefined("a shift that may overflow")
        return unknown(t)

    def _extreme(self, most: bool, a: Value, b: Value) -> Value:
        """The greater or the smaller of two integers."""
        for x, n in ((a, b), (b, a)):
            if a.type.is_integer and (n.high <= x.low if most else x.high <= n.low):
                self.rules += [Rule.EXTREME] if x.place is not None else []
                return x
        return either(a, b)

    def _unary(self, e: Un, op: str, operand: Expr) -> Value:
        if self._ordinary(e):
            return unknown(type_of(e, self.types))
        v = self.value(operand)
        if op == "!":
            return truth(None if v.truth is None else not v.truth)
        v = self._as(v, promote(v.type))
        if op == "+":
            return v
        if op == "-":
            return negative(v)
        return unknown(v.type) if v.integer is None else integer(v.type, ~v.integer)

    def _call(self, e: Call, name: str, args: tuple[Expr, ...]) -> Value:
        t = type_of(e, self.types)
        wanted = parameters(name)
        if self._ordinary(e):
            return unknown(t)
        if wanted is None:
            raise Undefined(f"a call of {name}")
        values = [self._as(self.value(a), w) for a, w in zip(args, wanted, strict=True)]
        a, b = values[0], values[-1]
        if name in INTEGER:
            return a if a.low >= 0 else negative(a) if a.high <= 0 else self._magnitude(a)
        match base_name(name):
            case "fmax" | "fmin" if a.is_nan or b.is_nan:
                self.rules.append(Rule.NAN)
                return a if b.is_nan else b
            case "fabs" if a.number is not None:
                return real(t, abs(a.number))
            case "sqrt" if a.is_nan or a.number == 0:
                return a
            case "fma":
                x = arithmetic("*", values[0], values[1])
                return self._kept("+", x, b) or arithmetic("+", x, b)
            case _:
                return unknown(t)

    def _magnitude(self, v: Value) -> Value:
        negative(v)
        return Value(v.type, 0, max(-v.low, v.high))

    def _select(self, e: Select, cond: Expr, then: Expr, orelse: Expr) -> Value:
        t = type_of(e, self.types)
        if self._ordinary(e):
            return unknown(t)
        holds = self.value(cond).truth
        strict, self.strict = self.strict, self.strict or not self._ordinary(cond)
        sides = [x for x, at in ((then, True), (orelse, False)) if holds is not (not at)]
        found = [self._as(self.value(x), t) for x in sides]
        self.strict = strict
        if len(found) == 1:
            return found[0]
        order = _order(cond, then, orelse)
        if order is not None and t.is_integer and self._compared_in(cond, t):
            return self._extreme(order == ">", *found)
        return either(*found)

    def _compared_in(self, cond: Expr, t: Scalar) -> bool:
        assert isinstance(cond, Bin)
        return common(type_of(cond.left, self.types), type_of(cond.right, self.types)) == t


def _name(place: Var | Load) -> str:
    return place.name if isinstance(place, Var) else place.array


def _order(cond: Expr, then: Expr, orelse: Expr) -> str | None:
    """`>` for x > y ? x : y and what says the same, `<` for the smaller of the two."""
    if not isinstance(cond, Bin) or cond.op not in ("<", "<=", ">", ">="):
        return None
    if (cond.left, cond.right) == (then, orelse):
        return cond.op[0]
    if (cond.left, cond.right) == (orelse, then):
        return ">" if cond.op[0] == "<" else "<"
    return None
