"""Where comparisons end a loop, as the number that its variable does not reach.

    i <= n            i < n + 1                  for n == INT_MAX C has an endless loop
    i < m && i <= n   i < min(m, n + 1)          where n < INT_MAX can be asked before the loops run
                      i < (n < m ? n + 1 : m)    for other n
    i + 1 < n         i < n - 1                  where n > INT_MIN can be asked
                      i < (long long)n - 1       for other n
    i < m && i != n   i < (n >= 0 ? min(n, m) : m)   where the loop begins at 0

The number next to the last of a type does not exist, and programs use the last one for no limit.
What is asked is a condition of the written code (`Function.representable`): analysis computes with
integers of mathematics.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from pycparser import c_ast

from loopxform.frontend.desugar.jumps import LOOPS, Jump
from loopxform.frontend.lower.expressions import Expressions
from loopxform.frontend.lower.facts import Facts, follows
from loopxform.frontend.lower.ranges import extremes
from loopxform.frontend.lower.refusal import refused
from loopxform.frontend.lower.subscripts import wraps
from loopxform.ir.affine import Poly, constant, poly, simplify, to_expr, value_of
from loopxform.ir.nodes import Bin, Cast, Const, Expr, Load, Select, Var
from loopxform.ir.types import INT, INT_MAX, LLONG, Scalar, common
from loopxform.ir.visit import names, walk_expr
from loopxform.records import record

_UNSIGNED = "write i + 1 < n instead of i < n - 1, or make the variables signed (int or long)"
_LAST = "the bound may be the last number of its type, and the loop end before it"
_STRICT = "end the loop with < (or >) and the number next to it"
_SIGNED = "make the variables signed (int or long)"
_BREAK = Jump(lambda n: isinstance(n, c_ast.Break), (*LOOPS, c_ast.Switch))
_AWAY = Jump(lambda n: isinstance(n, c_ast.Return | c_ast.Goto))


@record
class End:
    """`var + shift op bound`; `part` is the bound in the text, `said` the operator there. One said
    with != ends the loop only where that begins before it: at `start`, if other things end it."""

    bound: Expr
    op: str
    shift: int
    part: c_ast.Node
    said: str
    start: Expr | None = None

    @property
    def next(self) -> int:
        """How far from the bound the first number is that `var` does not reach."""
        return {"<": 0, "<=": 1, ">": 0, ">=": -1}[self.op] - self.shift

    def is_closed(self, *, up: bool) -> bool:
        """Whether that number lies beyond the bound. Where the bound is the last number of its
        type, `var` never gets past it."""
        return self.next != 0 and (self.next > 0) == up


def asked(ends: list[End], var: str) -> Expr | None:
    """What C asks of a variable, where its bound is another; None where that says it, too."""
    found: Expr | None = None
    for end in ends:
        moved = Bin("+" if end.shift > 0 else "-", Var(var), Const(abs(end.shift)))
        test = Bin(end.said, moved if end.shift else Var(var), end.bound)
        found = test if found is None else Bin("&&", found, test)
    alone = len(ends) == 1 and ends[0].said in ("<", ">") and not ends[0].shift
    return None if alone else found


def left_early(body: c_ast.Node) -> bool:
    """Whether a loop with this body may end before its condition says so."""
    return _BREAK.held(body) or _AWAY.held(body)


class Ends:
    """The exclusive bounds of one function's loops; asks `facts` for what they need to exist."""

    def __init__(self, expressions: Expressions, facts: Facts) -> None:
        self.type_of = expressions.type_of
        self.types = expressions.types
        self.facts = facts

    def exclusive(self, ends: list[End], *, up: bool, early: bool) -> Expr:
        """The nearest of several ends. NotModelled where the number next to one may not exist, and
        the loop may end all the same: it has other ends, or is left `early`."""
        passed = [end for end in ends if end.start is not None and not self._is_before(end, up=up)]
        ends = [end for end in ends if end not in passed]
        if not ends:
            ends = [self._asked_before(passed.pop(0), up=up)]
        nearest = self._nearest(ends, up=up, early=early or bool(passed))
        for end in passed:
            nearest = self._unless_passed(end, nearest, up=up)
        return nearest

    def _nearest(self, ends: list[End], *, up: bool, early: bool) -> Expr:
        op = "min" if up else "max"
        if len(ends) == 1 and ends[0].is_closed(up=up) and not early:
            return self._in_parts(ends[0], op) or self._sum(ends[0], ends[0].bound)
        found = [self._representable(end, op) for end in ends]
        nearest = _nearest([e for e in found if e is not None], op)
        rest = [end for end, e in zip(ends, found) if e is None]
        beside = [self._wide(end) for end in rest if not end.is_closed(up=up)]
        nearest = _nearest([e for e in (nearest, *beside) if e is not None], op)
        closed = [end for end in rest if end.is_closed(up=up)]
        if nearest is None:
            return self._all_closed(closed, op, early=early)
        for end in closed:
            nearest = self._within(end, nearest, up=up)
        return nearest

    # ------------------------------------------------------------ bounds that may be passed

    def _is_before(self, end: End, *, up: bool) -> bool:
        """Whether a loop is known to begin no later than at an end said with !=."""
        assert end.start is not None
        distance = Bin("-", Bin("+", end.bound, Const(end.next)), end.start)
        gap = value_of(distance)
        if gap is not None:
            return gap >= 0 if up else gap <= 0
        return up and not end.next and value_of(end.start) == 0 and self.facts.known(end.bound)

    def _asked_before(self, end: End, *, up: bool) -> End:
        """The same, asked of the arguments. Raises NotModelled where it cannot be."""
        assert end.start is not None
        distance = Bin("-", end.start, Const(end.next)) if end.next else end.start
        if not self.facts.assume(Bin(">=" if up else "<=", end.bound, distance)):
            raise refused(end.part, "the loop may begin beyond its bound", _STRICT)
        return end

    def _unless_passed(self, end: End, nearest: Expr, *, up: bool) -> Expr:
        """The nearer of two ends, where the loop does not begin beyond the one said with !=."""
        op, start = "min" if up else "max", end.start
        assert start is not None
        bound = self._representable(end, op) or self._wide(end)
        return Select(Bin(">=" if up else "<=", bound, start), Bin(op, bound, nearest), nearest)

    # ------------------------------------------------------------ the number next to a bound

    def _representable(self, end: End, op: str) -> Expr | None:
        """The number next to a bound, where it exists or can be asked to; else None."""
        if not end.next:
            return end.bound
        in_parts = self._in_parts(end, op)
        if in_parts is not None:
            return in_parts
        return (
            self._sum(end, end.bound)
            if self._exists(end.bound, end.next, up=end.next > 0)
            else None
        )

    def _in_parts(self, end: End, op: str) -> Expr | None:
        """Of a min (or max) of sums, that of the numbers next to each of them."""
        parts = list(operands(end.bound, op))
        if len(parts) == 1 or not all(len(poly(x).terms) > 1 for x in parts):
            return None
        asked = len(self.facts.representable)
        if not all(self._exists(x, end.next, up=end.next > 0) for x in parts):
            del self.facts.representable[asked:]
            return None
        return _nearest([self._sum(end, x) for x in parts], op)

    def _sum(self, end: End, bound: Expr) -> Expr:
        """One that wraps around is any number, but the next one is not computed from it."""
        if not self.is_difference(bound):
            raise refused(end.part, "an unsigned difference may wrap around below zero", _UNSIGNED)
        if not self._is_sum(end, bound):
            raise refused(end.part, "an unsigned sum may wrap around", _SIGNED)
        if any(isinstance(e, Cast | Load) for e in walk_expr(bound)):
            return self._added(end, bound)
        found = simplify(Bin("+", bound, Const(end.next)))
        return found if names(found) == names(bound) else self._added(end, bound)

    def _added(self, end: End, bound: Expr) -> Expr:
        op, amount = "+" if end.next > 0 else "-", Const(abs(end.next))
        return Bin(op, bound, amount, origin=bound.origin)

    def is_difference(self, e: Expr) -> bool:
        """Whether no unsigned difference wraps around in a number, or one can be asked not to (and
        now is)."""
        if not wraps(e, self.types):
            return True
        if not isinstance(e, Bin) or e.op != "-":
            return False
        inside = wraps(e.left, self.types) or wraps(e.right, self.types)
        return not inside and self.facts.assume(Bin(">=", e.left, e.right))

    def _is_sum(self, end: End, bound: Expr) -> bool:
        """Whether unsigned arithmetic that is combined with a smaller number does not wrap around,
        or can be asked not to."""
        t = self.type_of(bound)
        computed = any(isinstance(x, Bin) and x.op in ("+", "*") for x in walk_expr(bound))
        if end.next >= 0 or not t.is_unsigned or not computed:
            return True
        return self._exists(bound, 0, up=True)

    # ------------------------------------------------------------ where it may not exist

    def _wide(self, end: End) -> Expr:
        """The number in front of a bound, in a type that has it."""
        if self.type_of(end.bound).bytes == LLONG.bytes:
            raise refused(end.part, _LAST, _STRICT)
        return self._added(end, Cast(LLONG, end.bound))

    def _within(self, end: End, nearest: Expr, *, up: bool) -> Expr:
        """The number next to a bound only where the bound is nearer than another end."""
        if abs(end.next) != 1:
            raise refused(end.part, _LAST, _STRICT)
        nearer = Bin("<" if up else ">", end.bound, nearest)
        return Select(nearer, self._sum(end, end.bound), nearest)

    def _all_closed(self, ends: list[End], op: str, *, early: bool) -> Expr:
        """The number next to the nearest of bounds: without it C has an endless loop."""
        if early or len({end.next for end in ends}) > 1:
            raise refused(ends[0].part, _LAST, _STRICT)
        nearest = _nearest([end.bound for end in ends], op)
        assert nearest is not None
        return self._sum(ends[0], nearest)

    # ------------------------------------------------------------ what is known and asked

    def _exists(self, bound: Expr, distance: int, *, up: bool) -> bool:
        """Whether the number so far from a bound is not beyond (or with `up` False before) its
        type, or can be asked not to be (and now is)."""
        t = common(self.type_of(bound), INT)
        p = poly(bound)
        last = extremes(p, self.facts.around, self.facts.known, greatest=up) or [p]
        found = [q + constant(distance) for q in last]
        if any(
            self._reached(q)[1] <= t.most if up else self._reached(q)[0] >= t.least for q in found
        ):
            return True
        return any(self._asked(q, t, up=up) for q in found)

    def _asked(self, p: Poly, t: Scalar, *, up: bool) -> bool:
        """Asks that a sum is not beyond a type."""
        here = next((c for m, c in p.terms if m == ()), 0)
        value = to_expr(p - constant(here))
        most = INT_MAX if t.is_unsigned and t.bytes == 8 else t.most
        last = Const(most - here, t) if up else Const(t.least - here, t)
        condition = Bin("<=" if up else ">=", value, last)
        if follows(condition, self.facts.assumes):
            return True
        if t.is_unsigned:
            return isinstance(value, Var) and self.facts.assume(condition)
        return self.facts.represent(condition)

    def _reached(self, p: Poly) -> tuple[int, int]:
        """The least and greatest value that the types leave to a sum."""
        low = high = 0
        for m, c in p.terms:
            ends = [c, c]
            for atom in m:
                ends = [x * y for x in ends for y in self._values(atom)]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _values(self, e: Expr) -> tuple[int, int]:
        match e:
            case Const(value) if isinstance(value, int):
                return int(value), int(value)
            case Bin("min" | "max" as op, left, right):
                choose = min if op == "min" else max
                (a, b), (c, d) = self._reached(poly(left)), self._reached(poly(right))
                return choose(a, c), choose(b, d)
            case _:
                t = self.type_of(e)
                return (0 if self.facts.known(e) else t.least), t.most


def operands(e: Expr, op: str) -> Iterator[Expr]:
    """Those of nested mins (or maxs)."""
    if isinstance(e, Bin) and e.op == op:
        yield from operands(e.left, op)
        yield from operands(e.right, op)
    else:
        yield e


def _nearest(ends: list[Expr], op: str) -> Expr | None:
    return reduce(lambda a, b: Bin(op, a, b), ends) if ends else None
