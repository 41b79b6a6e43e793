"""What holds of all elements of most tiles: a group asks it once, and then needs no tests.

    if (0 <= 2*first - 1 && 2*last + 1 <= w - 1 && first + 31 <= last)
      for n ...: { x = first + n;  t[n] = a[2*x - 1] + a[2*x + 1]; }
    else
      for n ...: { x = first + n;  if (x <= last) t[n] = a[2*x - 1 < 0 ? 0 : ...] + ...; }

What a tile in the middle of a large array would answer decides which questions are worth asking:
those of the others are asked for each element, as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from loopxform.errors import MalformedIR
from loopxform.ir.affine import poly
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Assign, Bin, Call, Cast, Const, Expr, Load, Select, Stmt, Var
from loopxform.ir.types import Scalar
from loopxform.ir.visit import map_children, names, substitute, walk_expr
from loopxform.transforms.overlapped.spans import line

LARGE = 1 << 14
"""Stands for sizes that are not known."""

REVERSED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

CONTRARY = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}

Ends = tuple[Expr, Expr]
"""A first and a last number."""

Ranges = Mapping[str, Ends]
"""Those of the coordinates that elements of a tile have."""


Scalars = tuple[tuple[str, Scalar, Expr], ...]


class _Sizes(dict[str, int]):
    def __missing__(self, name: str) -> int:
        return LARGE


@dataclass
class Interior:
    """The `asked` conditions; `samples` are the numbers that tiles in the middle have. No number of
    the program that mentions a name of `unsigned` is looked at."""

    samples: Sequence[Mapping[str, int]]
    unsigned: frozenset[str]
    asked: dict[Expr, None] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        covers: Mapping[str, tuple[Expr, Expr, int]],
        ends: Iterable[Stmt],
        types: Mapping[str, Scalar],
    ) -> Interior:
        """Of tiles that begin at the names of `covers`, between two ends and so many elements
        apart; `ends` sets those of their boxes."""
        sets = [s for s in ends if isinstance(s, Assign) and isinstance(s.target, Var)]
        samples = [_sample(covers, sets, more) for more in (0, 1)]
        return cls(samples, frozenset(n for n, t in types.items() if t.is_unsigned))

    def holds(self, test: Bin) -> bool:
        """Whether a comparison may be taken to hold: it is asked unless it always does."""
        gap = (poly(test.right) - poly(test.left)).value
        if gap is not None:
            return bool(evaluate(Bin(test.op, Const(0), Const(int(gap))), {}))
        try:
            usual = all(evaluate(test, numbers) for numbers in self.samples)
        except (MalformedIR, ZeroDivisionError):
            return False
        if usual:
            self.asked[test] = None
        return usual

    def settled_values(self, scalars: Scalars, value: Expr, ranges: Ranges) -> tuple[Scalars, Expr]:
        """What an element is computed from, without the choices of subscripts that all elements
        decide alike."""
        every = [
            (
                name,
                type,
                self.settled(e, ranges) if type.is_float else self.settled_integer(e, ranges),
            )
            for name, type, e in scalars
        ]
        return tuple(every), self.settled(value, ranges)

    def settled(self, e: Expr, ranges: Ranges) -> Expr:
        """A value without the choices in its subscripts that all elements decide alike."""
        if isinstance(e, Load):
            return Load(e.array, tuple(self.settled_integer(x, ranges) for x in e.index))
        return map_children(e, lambda x: self.settled(x, ranges))

    def settled_integer(self, e: Expr, ranges: Ranges) -> Expr:
        """An integer without such choices."""
        match e:
            case Select(cond, then, orelse):
                known = self._truth(cond, ranges)
                if known is not None:
                    return self.settled_integer(then if known else orelse, ranges)
            case Bin("min" | "max" as op, left, right):
                known = self._truth(Bin("<=" if op == "min" else ">=", left, right), ranges)
                if known is not None:
                    return self.settled_integer(left if known else right, ranges)
            case _:
                pass
        return map_children(e, lambda x: self.settled_integer(x, ranges))

    def _truth(self, cond: Expr, ranges: Ranges) -> bool | None:
        """Whether a comparison of a coordinate holds for all elements, or for none; None where
        neither may be taken to be."""
        if not isinstance(cond, Bin) or cond.op not in CONTRARY or not self._is_signed(cond):
            return None
        op, of, other = cond.op, cond.left, cond.right
        if names(other) & ranges.keys():
            op, of, other = REVERSED[op], other, of
        (var, *more) = names(of) & ranges.keys() or {""}
        if not var or more or names(other) & ranges.keys() or line(of, var) is None:
            return None
        first, last = (substitute(of, {var: end}) for end in ranges[var])
        rising = op in (">", ">=")
        if self.holds(Bin(op, first if rising else last, other)):
            return True
        return False if self.holds(Bin(CONTRARY[op], last if rising else first, other)) else None

    def _is_signed(self, e: Expr) -> bool:
        plain = not any(isinstance(x, Load | Call | Cast) for x in walk_expr(e))
        return plain and not names(e) & self.unsigned


def _sample(
    covers: Mapping[str, tuple[Expr, Expr, int]], sets: Sequence[Assign], more: int
) -> Mapping[str, int]:
    numbers = _Sizes()
    for name, (lo, hi, size) in covers.items():
        first, end = evaluate(lo, numbers), evaluate(hi, numbers)
        numbers[name] = first + size * ((end - first) // (2 * size) + more)
    for s in sets:
        assert isinstance(s.target, Var)
        numbers[s.target.name] = evaluate(s.value, numbers)
    return numbers
