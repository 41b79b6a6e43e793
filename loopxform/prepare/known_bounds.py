"""Bounds of loops that are kept in local variables, as the numbers that these are computed from.

    L = len[i]; if (L > u) L = u; for (k = 0; k < L; k++)  ->  for (k = 0; k < min(len[i], u); k++)
    end = jj + 32 > n ? n : jj + 32; for (j = jj; j < end; j++)  ->  ... j < min(jj + 32, n) ...
    end = n & ~3; for (k = 0; k < end; k += 4)  ->  for (k = 0; k < n/4*4; k += 4), where n >= 0

What a loop ends at then says how it depends on the loops around, and where it ends at the latest. A
value stands for a variable as long as nothing that it is made of may change; one that is an element
of an array as long as nothing is stored in that array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from loopxform.ir.clamps import chosen
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
    Opaque,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.quotients import WORD, cleared, in_quotients
from loopxform.ir.types import Scalar, promote
from loopxform.ir.typing import COMPARISONS, symbols, type_of
from loopxform.ir.visit import declared, loads, map_expr, names, substitute, walk, walk_expr, writes
from loopxform.ir.whiles import condition

MOST = 32
"""Parts of a value that stands for a variable."""

Values = dict[str, Expr]


def with_known_bounds(fn: Function, fixed: frozenset[str]) -> Function:
    """The function with the values of its own scalars in the bounds of loops. What is assumed of
    those that are `fixed` is asked of the caller."""
    work = _Bounds(fn, fixed)
    body = work.block(fn.body, {})
    if body == fn.body:
        return fn
    new = (c for c in dict.fromkeys(work.asked) if c not in fn.assumes)
    return replace(fn, body=body, assumes=(*fn.assumes, *new))


class _Bounds:
    def __init__(self, fn: Function, fixed: frozenset[str]) -> None:
        self.types: dict[str, Scalar] = symbols(fn)
        self.own = {n for n, d in declared(fn.body).items() if not (d.shape or d.exposed)}
        self.fixed, self.asked = fixed, list[Expr]()

    def block(self, body: tuple[Stmt, ...], values: Values) -> tuple[Stmt, ...]:
        """The statements of a body; `values` are those in front of it, afterwards those behind."""
        return tuple(self._stmt(s, values) for s in body)

    def _stmt(self, s: Stmt, values: Values) -> Stmt:
        match s:
            case For():
                _forget(values, (s,))
                lo, hi = s.lo, s.hi
                if condition(s) is None:
                    lo, hi = (self._shorter(substitute(e, values)) for e in (lo, hi))
                    lo, hi = map(self._in_quotients, (lo, hi))
                asks = None if s.asks is None else substitute(s.asks, values)
                return replace(s, lo=lo, hi=hi, asks=asks, body=self.block(s.body, dict(values)))
            case If():
                return self._branches(s, values)
            case Assign(Var(name), value, op):
                value = self._shorter(substitute(value, values))
                _forget(values, (s,))
                if not op and self._stands(name, value):
                    values[name] = self._converted(name, value)
            case _:
                _forget(values, (s,))
        return s

    def _branches(self, s: If, values: Values) -> If:
        cond = substitute(s.cond, values)
        taken, other = dict(values), dict(values)
        then, orelse = self.block(s.then, taken), self.block(s.orelse, other)
        _forget(values, (s,))
        for name in taken.keys() & other.keys() - values.keys():
            value = self._shorter(Select(cond, taken[name], other[name]))
            fixed = not names(value) & _scalars((s,)) and not _arrays(value) & writes((s,))
            if fixed and self._stands(name, value):
                values[name] = self._converted(name, value)
        return replace(s, then=then, orelse=orelse)

    def _in_quotients(self, e: Expr) -> Expr:
        """A bound that arguments say by quotients of them."""
        return map_expr(in_quotients(e), self._divided) if names(e) <= self.fixed else e

    def _divided(self, e: Expr) -> Expr:
        """A number without its lowest bits as a quotient."""
        match e:
            case Bin(">>", n, Const(int(bits))) if 0 < bits < WORD and self._is_counted(n):
                return Bin("/", n, Const(1 << bits))
            case _:
                return e

    def _is_counted(self, n: Expr) -> bool:
        """Whether a number has a sign, and can be asked not to be negative (and now is)."""
        plain = names(n) <= self.fixed and all(map(self._is_plain, walk_expr(n)))
        if plain and any(isinstance(x, Var) for x in walk_expr(n)):
            self.asked.append(Bin("<=", Const(0), n))
            return True
        return False

    def _shorter(self, e: Expr) -> Expr:
        """A value that is the less or the greater of two, as that, where both are computed in any
        case: `end < n ? end + 1 : n` is for an end that has no number next to it."""
        if not isinstance(e, Select) or not all(map(self._is_plain, walk_expr(e))):
            return e
        if not all(_is_computed(x, e.cond) for x in (e.then, e.orelse)):
            return e
        return chosen(e.cond, e.then, e.orelse) or e

    def _stands(self, name: str, value: Expr) -> bool:
        """Whether a value may stand for a variable: numbers with a sign, that the variable can
        hold, and that are computed without an error."""
        if name not in self.own or name in names(value):
            return False
        parts, t = list(walk_expr(value)), self.types[name]
        holds = t.is_integer and not t.is_unsigned and type_of(value, self.types).bytes <= t.bytes
        decided = any(isinstance(x, Select) for x in parts)
        return holds and not decided and len(parts) <= MOST and all(map(self._is_plain, parts))

    def _converted(self, name: str, value: Expr) -> Expr:
        t = self.types[name]
        return value if type_of(value, self.types) == promote(t) else Cast(t, value)

    def _is_plain(self, e: Expr) -> bool:
        signed = type_of(e, self.types)
        if not signed.is_integer or signed.is_unsigned:
            return False
        match e:
            case Load(_, index):
                return not any(x for i in index for x in loads(i))
            case Bin("/" | "%", _, Const(int(divisor))):
                return divisor > 0
            case Bin("<<" | ">>", _, Const(int(bits))):
                return 0 < bits < WORD
            case Bin("&", _, mask):
                return cleared(mask) > 0
            case Bin(op):
                return op in ("+", "-", "*", "min", "max") or op in COMPARISONS
            case Un(op, operand):
                return op == "-" or (op == "~" and isinstance(operand, Const))
            case Cast(t, operand):
                inner = type_of(operand, self.types)
                return inner.is_integer and not inner.is_unsigned and inner.bytes <= t.bytes
            case _:
                return isinstance(e, Var | Const | Select)


def _is_computed(e: Expr, cond: Expr) -> bool:
    """Whether a value is a number or a variable, or a condition computes it as well."""
    return isinstance(e, Var | Const) or any(x == e for x in walk_expr(cond))


def _forget(values: Values, changing: tuple[Stmt, ...]) -> None:
    """Drops what is made of what statements may change."""
    if any(isinstance(s, Opaque) and not s.is_break for _, s in walk(changing)):
        values.clear()
        return
    scalars, stored = _scalars(changing), writes(changing)
    for name, value in list(values.items()):
        if name in scalars or names(value) & scalars or _arrays(value) & stored:
            del values[name]


def _scalars(body: tuple[Stmt, ...]) -> frozenset[str]:
    """What statements may set, count with or declare."""
    inside: Iterable[Stmt] = [s for _, s in walk(body)]
    counters = {s.var for s in inside if isinstance(s, For)}
    return writes(body) | counters | {s.name for s in inside if isinstance(s, Decl)}


def _arrays(e: Expr) -> frozenset[str]:
    return frozenset(x.array for x in loads(e))
