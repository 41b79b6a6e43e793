"""How much work the user's loops and the kernels do, as C computes it from the scalars.

The unit is the operation of a loop over neighbouring floats that a C compiler vectorises: on them
the host is quickest (`y[i] = a*y[i] + x[i]` are five, which the runtime times). An arithmetic
operation is one, so is an access to an element.

    work_of_host   what a C compiler makes of the user's loops, at its best: a bound of their time
                   from below, so that a device is not taken for quicker than it is
    work_of_item   of a kernel, what one work-item does

A sum over a loop is its iterations times what the middle one does: exact where bounds are
constant, and where they grow with one other loop (triangles); three loops that grow with each other
are n^3/8 where n^3/6 is right. What a condition guards counts half for the host, whole for a
kernel. Numbers are doubles, in which nothing overflows. There is no formula where data say how
often a loop runs, or a function is called that may do anything.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from math import prod

from loopxform.codegen import cexpr
from loopxform.codegen.cexpr import Dialect
from loopxform.ir.affine import poly, to_expr, value_of
from loopxform.ir.functions import INTEGER, base_name
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Param,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.typing import symbols
from loopxform.ir.visit import children, loads, names, stmt_exprs, walk, walk_expr, writes
from loopxform.ir.whiles import condition
from loopxform.transforms.edges.bounds import trips_to

DIVISION = 20
"""Operations of a quotient: processors divide a vector of floats in 4 to 8 clock cycles."""

FUNCTION = 100
"""Operations of a math function."""

SCALAR = 4
"""Operations of one that is not vectorised: the floats of a vector of SSE2 or Neon."""

CHAIN = 40
"""Operations in the time of a floating-point addition that waits for the one before it: four clock
cycles, of which the five of the loop that is timed take less than half a one."""

LONGEST = 2000
"""Characters of a formula: C compilers need not take lines of more than 4095."""


class _Unbounded(Exception):
    """There is no formula."""


def work_of_host(fn: Function, *, reassociated: bool = False) -> str | None:
    """Operations of a call of the user's function, an expression of C, or None; `reassociated` says
    that its compiler may vectorise sums."""
    set_inside = writes(fn.body) | {s.var for _, s in walk(fn.body) if isinstance(s, For)}
    scalars = [p for p in fn.objects if _is_number(p) and p.name not in set_inside]
    return _formula(_Host(fn, reassociated=reassociated), scalars)


def work_of_item(fn: Function, scalars: Iterable[Param], items: int) -> str | None:
    """Operations of a work-item of a kernel, an expression of C, or None; `fn` is the mapped nest
    with `items` in a group, `scalars` have a value where it is launched."""
    return _formula(_Item(fn, items), [p for p in scalars if _is_number(p)])


def _is_number(p: Param) -> bool:
    return not p.array and p.type.is_integer


def _formula(work: _Work, scalars: list[Param]) -> str | None:
    d = Dialect("c", work.types)
    known = {p.name: f"(double){cexpr.expr(Var(p.name), d)}" for p in scalars}
    try:
        text = work.body(work.function.body, known, ())
    except _Unbounded:
        return None
    return text if len(text) <= LONGEST else None


# ---------------------------------------------------------------- sums


class _Work(ABC):
    """Sums over a program; `known` are the values of scalars in the middle of their loops."""

    def __init__(self, fn: Function) -> None:
        self.function = fn
        self.types = symbols(fn)

    def body(
        self, body: tuple[Stmt, ...], known: Mapping[str, str], around: tuple[For, ...]
    ) -> str:
        own, parts = 0.0, list[str]()
        for s in body:
            match s:
                case For():
                    parts.append(self.loop(s, known, around))
                case If(_, then, orelse):
                    own += self.statement(s, around)
                    parts += [self.branch(x, known, around) for x in (then, orelse)]
                case Opaque():
                    raise _Unbounded
                case _:
                    own += self.statement(s, around)
        return _sum(_number(own), *parts)

    def branch(
        self, body: tuple[Stmt, ...], known: Mapping[str, str], around: tuple[For, ...]
    ) -> str:
        return self.body(body, known, around)

    @abstractmethod
    def statement(self, s: Stmt, around: tuple[For, ...]) -> float:
        """Operations of a statement that is not a loop."""

    def loop(self, s: For, known: Mapping[str, str], around: tuple[For, ...]) -> str:
        """Its iterations times what the middle one does."""
        count = trips_to(s, s.hi)
        if count is None or condition(s) is not None:
            raise _Unbounded
        trips = _times("1", value(to_expr(count), known))
        middle = _times("0.5", _sum(value(s.lo, known), _end(s, known)))
        inside = self.body(s.body, {**known, s.var: middle}, (*around, s))
        if _is_literal(trips):
            return _times(_number(max(0.0, float(trips))), inside)
        return _times(f"lx_greater(0, {trips})", inside)


class _Host(_Work):
    def __init__(self, fn: Function, *, reassociated: bool) -> None:
        super().__init__(fn)
        self.reassociated = reassociated

    def branch(
        self, body: tuple[Stmt, ...], known: Mapping[str, str], around: tuple[For, ...]
    ) -> str:
        """Half the times that it might run."""
        return _times("0.5", self.body(body, known, around))

    def statement(self, s: Stmt, around: tuple[For, ...]) -> float:
        operations = _operations(s)
        if not isinstance(s, Assign):
            return operations
        own = [x for e in (s.target, s.value) for x in walk_expr(e) if isinstance(x, Load | Var)]
        size = max(self.types[x.array if isinstance(x, Load) else x.name].bytes for x in own)
        if self._is_vectorised(s, around):
            return operations * max(size, 4) / 4
        return operations * SCALAR + CHAIN * self._waits(s, around)

    def _is_vectorised(self, s: Assign, around: tuple[For, ...]) -> bool:
        """Whether a compiler may do it for several iterations at once: of the loop around it, or of
        one further out, which it may put inside."""
        inner = (
            not self._waits(s, around) and self._is_contiguous(s, around[-1]) if around else False
        )
        outer = (self._is_contiguous(s, x) and not _is_carried(s, x) for x in around[:-1])
        return inner or any(outer)

    def _is_contiguous(self, s: Assign, loop: For) -> bool:
        """Whether neighbouring iterations touch neighbouring elements, or the same one."""
        return all(_stride(x, loop.var) in (0, 1, -1) for e in stmt_exprs(s) for x in loads(e))

    def _waits(self, s: Assign, around: tuple[For, ...]) -> bool:
        """Whether each iteration of the innermost loop needs the sum of the one before it."""
        if not around or self.reassociated or not self.types[_target(s)].is_float:
            return False
        scalar = isinstance(s.target, Var) and s.target in _places(s)
        return scalar or _is_carried(s, around[-1])


class _Item(_Work):
    def __init__(self, fn: Function, items: int) -> None:
        super().__init__(fn)
        self.items = items

    def loop(self, s: For, known: Mapping[str, str], around: tuple[For, ...]) -> str:
        """Of those that are mapped one iteration, in the middle."""
        if s.level is None:
            return super().loop(s, known, around)
        middle = _times("0.5", _sum(value(s.lo, known), _end(s, known)))
        return self.body(s.body, {**known, s.var: middle}, around)

    def statement(self, s: Stmt, around: tuple[For, ...]) -> float:  # noqa: ARG002
        if isinstance(s, Copy):
            elements = prod(value_of(x.size) or 1 for x in s.slices if x.size is not None)
            return elements / self.items if s.collective else elements
        return _operations(s)


# ---------------------------------------------------------------- statements


def _operations(s: Stmt) -> float:
    """Arithmetic, and accesses to elements; subscripts are free."""
    if isinstance(s, Decl):
        return 0
    own = sum(map(_operations_of, stmt_exprs(s)))
    if isinstance(s, Assign) and s.op:
        own += 1 + isinstance(s.target, Load)
    return own


def _operations_of(e: Expr) -> float:
    inner = sum(map(_operations_of, children(e)))
    match e:
        case Load(_, index):
            return 1 + sum(1 for i in index for _ in loads(i))
        case Call(name):
            if base_name(name) is None and name not in INTEGER:
                raise _Unbounded
            return FUNCTION + inner
        case Bin("/" | "%"):
            return DIVISION + inner
        case Var() | Cast() | Un():
            return inner
        case _:
            return inner + bool(children(e))


def _target(s: Assign) -> str:
    return s.target.array if isinstance(s.target, Load) else s.target.name


def _places(s: Assign) -> Iterator[Load | Var]:
    """What a statement reads."""
    if s.op:
        yield s.target
    yield from (x for x in walk_expr(s.value) if isinstance(x, Load | Var))


def _is_carried(s: Assign, loop: For) -> bool:
    """Whether it reads the element that it has set in the iteration before, or in all of them."""
    return isinstance(s.target, Load) and any(
        _is_behind(x, s.target, loop) for x in _places(s) if isinstance(x, Load)
    )


def _is_behind(place: Load, target: Load, loop: For) -> bool:
    step = _stride(target, loop.var)
    if place.array != target.array or step is None:
        return False
    if place.index == target.index:
        return step == 0
    *rows, column = (poly(a) - poly(b) for a, b in zip(target.index, place.index))
    return step != 0 and all(x.value == 0 for x in rows) and column.value in (1, -1)


def _stride(x: Load, counter: str) -> int | None:
    """How far apart the elements of neighbouring iterations are in their row; None in another one,
    or where it is no number."""
    if not any(counter in names(i) for i in x.index):
        return 0
    last = poly(x.index[-1])
    step = last.coefficient(counter).value
    return step if step and not any(counter in names(i) for i in x.index[:-1]) else None


# ---------------------------------------------------------------- values


def value(e: Expr, known: Mapping[str, str]) -> str:
    """An integer in double; a quotient is not rounded, and of alternatives the greater one counts.
    Raises _Unbounded."""
    number = value_of(e)
    if number is not None:
        return _number(number)
    match e:
        case Var(name) if name in known:
            return known[name]
        case Cast(_, inner):
            return value(inner, known)
        case Un("-", inner):
            return _times("-1", value(inner, known))
        case Bin(op, left, right):
            return _combined(op, value(left, known), value(right, known))
        case Select(cond, then, orelse):
            op = "min" if _is_least(cond, then, orelse) else "max"
            return _combined(op, value(then, known), value(orelse, known))
        case _:
            raise _Unbounded


def _is_least(cond: Expr, then: Expr, orelse: Expr) -> bool:
    """Whether `cond ? then : orelse` is the lesser of the two."""
    match cond:
        case Bin("<" | "<=", left, right):
            return (left, right) == (then, orelse)
        case Bin(">" | ">=", left, right):
            return (right, left) == (then, orelse)
        case _:
            return False


def _combined(op: str, a: str, b: str) -> str:
    match op:
        case "+":
            return _sum(a, b)
        case "-":
            return _sum(a, _times("-1", b))
        case "*":
            return _times(a, b)
        case "/":
            return _quotient(a, b)
        case "max":
            return a if a == b else f"lx_greater({a}, {b})"
        case "min":
            return f"-lx_greater({_times('-1', a)}, {_times('-1', b)})"
        case _:
            raise _Unbounded


def _quotient(a: str, b: str) -> str:
    """Where the divisor is 0, C may compute neither."""
    if not _is_literal(b):
        return f"{a} / lx_greater(1, {b})"
    return _times(_number(1 / float(b)), a) if float(b) else "0"


def _end(s: For, known: Mapping[str, str]) -> str:
    """The last value of the counter."""
    step = value_of(s.step) or 1
    return _sum(value(s.hi, known), _number(-1 if step > 0 else 1))


def _number(x: float) -> str:
    return f"{x:.12g}"


def _is_literal(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _sum(*terms: str) -> str:
    """Numbers are added up, and 0 is left out."""
    literal = sum(float(x) for x in terms if _is_literal(x))
    rest = [x for x in terms if not _is_literal(x)]
    if literal or not rest:
        rest.append(_number(literal))
    return rest[0] if len(rest) == 1 else f"({' + '.join(rest)})".replace("+ -", "- ")


def _times(a: str, b: str) -> str:
    (x, left), (y, right) = _factors(a), _factors(b)
    rest = [t for t in (left, right) if t]
    if x * y in (0, 1) and rest:
        return "0" if x * y == 0 else " * ".join(rest)
    return " * ".join([_number(x * y), *rest])


def _factors(text: str) -> tuple[float, str]:
    """The number that a product begins with, and the rest."""
    first, _, rest = text.partition(" * ")
    return (float(first), rest) if _is_literal(first) else (1.0, text)
