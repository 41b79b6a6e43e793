"""The softmax of rows, as it is written.

forall i: { top = e; sum = e;  for j: if (w[i][j] > top) top = w[i][j];
            for j: { w[i][j] = exp(w[i][j] - top); sum += w[i][j] }
            for j: w[i][j] /= sum;  z[i] = sum }
"""

from __future__ import annotations

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Const,
    Decl,
    Expr,
    For,
    If,
    Load,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.visit import loads, names, substitute
from loopxform.records import record
from loopxform.transforms.attention.products import NotAttention

EXPONENTIALS = ("exp", "expf")
MAXIMA = ("fmax", "fmaxf")


@record
class Softmax:
    """A nest of rows: its parallel loops, the largest score at first (None: less than all others),
    what the sum begins with, the function, by what weights are divided (None: by nothing), and what
    is stored of each row, by array: expressions of `total`."""

    loops: tuple[For, ...]
    first: Expr | None
    start: Expr
    function: str
    top: str
    total: str
    divided: Expr | None
    stored: dict[str, Expr]


def softmax(loops: tuple[For, ...], weights: str, keys: Expr) -> Softmax:
    """The rows of `keys` scores in an array. Raises NotAttention where one is anything but a
    softmax."""
    return _Row(loops, weights, keys).read()


class _Row:
    """A row, read statement by statement."""

    def __init__(self, loops: tuple[For, ...], weights: str, keys: Expr) -> None:
        self.loops, self.weights, self.keys = loops, weights, keys
        self.row = tuple(Var(s.var) for s in loops)
        self.values = dict[str, Expr]()
        self.stored = dict[str, Expr]()
        self.top = self.total = self.function = ""
        self.start: Expr = Const(0)
        self.first: Expr | None = None
        self.divided: Expr | None = None

    def read(self) -> Softmax:
        for s in self.loops[-1].body:
            match s:
                case Decl(shape=()):
                    pass
                case Assign(Var(name), value, "") if name not in (self.top, self.total):
                    self.values[name] = self._now(value)
                case Assign(Load(array, index), value, "") if index == self.row:
                    self.stored[array] = self._of_total(self._now(value), s)
                case For() if not self.top:
                    self._largest(s)
                case For() if not self.total:
                    self._exponentials(s)
                case For() if self.divided is None:
                    self._division(s)
                case _:
                    raise self._odd(s)
        if not self.total:
            raise NotAttention("no weights are summed up", self.loops[0].origin.loc)
        return Softmax(
            self.loops,
            self.first,
            self.start,
            self.function,
            self.top,
            self.total,
            self.divided,
            self.stored,
        )

    def _odd(self, s: Stmt) -> NotAttention:
        return NotAttention("a row is not the softmax of its scores", s.origin.loc)

    def _now(self, e: Expr) -> Expr:
        """An expression of constants, the scores of the row and the total."""
        known = {n: v for n, v in self.values.items() if n not in (self.top, self.total)}
        return substitute(e, known)

    def _of_total(self, e: Expr, s: Stmt) -> Expr:
        """An expression of nothing but the total."""
        if not names(e) <= {self.total} or any(loads(e)):
            raise self._odd(s)
        return e

    def _score(self, s: For) -> Load:
        return Load(self.weights, (*self.row, Var(s.var)))

    def _largest(self, s: For) -> None:
        """`if (w > top) top = w`, or `top = fmax(top, w)`."""
        w = self._score(s)
        match s.body:
            case (If(Bin(">", a, Var(top)), (Assign(Var(target), value, ""),), ()),):
                fits = a == w == value and target == top
            case (Assign(Var(top), Call(name, (a, b))),) if name in MAXIMA:
                fits = {a, b} == {w, Var(top)}
            case (Assign(Var(top), Select(Bin(">", a, Var(t)), b, Var(u)), ""),):
                fits = a == b == w and t == u == top
            case _:
                raise self._odd(s)
        begin, first = value_of(s.lo), self.values.get(top)
        if not fits or s.hi != self.keys or value_of(s.step) != 1 or first is None:
            raise self._odd(s)
        self.first = self._first(first, begin, s)
        self.top = top

    def _first(self, first: Expr, begin: int | float | None, s: For) -> Expr | None:
        """What the largest score is at first; None where that is one, or less than all."""
        if first == Load(self.weights, (*self.row, Const(0))) and begin in (0, 1):
            return None
        if begin != 0 or names(first):
            raise self._odd(s)
        return None if _is_least(first) else first

    def _exponentials(self, s: For) -> None:
        """`w = exp(w - top); sum += w`, through a scalar or not."""
        w, values = self._score(s), dict[str, Expr]()
        weight: Expr | None = None
        for x in s.body:
            match x:
                case Decl(shape=()):
                    pass
                case Assign(Var(name), value, ""):
                    values[name] = value
                case Assign(Load() as target, value, "") if target == w and weight is None:
                    weight = values.get(value.name, value) if isinstance(value, Var) else value
                case Assign(Var(name), value, "+") if not self.total:
                    of = values.get(value.name, value) if isinstance(value, Var) else value
                    if not (of in (w, weight) and weight is not None):
                        raise self._odd(x)
                    self.total = name
                case _:
                    raise self._odd(x)
        match weight:
            case Call(function, (Bin("-", a, Var(top)),)) if function in EXPONENTIALS:
                fits = a == w and top == self.top
            case _:
                raise self._odd(s)
        if not fits or not self._all_keys(s) or self.total not in self.values:
            raise self._odd(s)
        self.function, self.start = function, self.values[self.total]
        if names(self.start) or any(loads(self.start)):
            raise self._odd(s)

    def _all_keys(self, s: For) -> bool:
        return value_of(s.lo) == 0 and value_of(s.step) == 1 and s.hi == self.keys

    def _division(self, s: For) -> None:
        """`w /= sum`, or `w *= e(sum)`."""
        w = self._score(s)
        match s.body:
            case (Assign(Load() as target, value, "/" | "*" as op),) if target == w:
                by = value
            case (Assign(Load() as target, Bin("/" | "*" as op, a, value), ""),) if (
                target == a == w
            ):
                by = value
            case _:
                raise self._odd(s)
        if not self._all_keys(s):
            raise self._odd(s)
        self.divided = Bin(op, w, self._of_total(self._now(by), s))


def _is_least(e: Expr) -> bool:
    """Whether it is minus infinity."""
    match e:
        case Const(value):
            return value == float("-inf")
        case Un("-", Const(value)):
            return value == float("inf")
        case Un("-", Bin("/", Const(a), Const(b))):
            return a == 1 and b == 0
        case Bin("/", Un("-", Const(a)), Const(b)):
            return a == 1 and b == 0
        case _:
            return False
