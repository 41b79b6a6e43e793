"""How much work the user's loops and the kernels do, as C computes it from the scalars.

The unit is the operation of a loop over neighbouring floats that a C compiler vectorises: on them
the host is quickest (`y[i] = a*y[i] + x[i]` are five, which the runtime times). An arithmetic
operation is one, so is an access to an element.

    work_of_host   what C compilers are seen to make of the user's loops, at their best: a bound of
                   their time from below, so that a device is not taken for quicker than it is
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
from functools import cache
from math import prod

from loopxform.codegen import cexpr
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.host.amounts import Unbounded, end, is_literal, literal, times, total, value
from loopxform.codegen.host.walks import Columns
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

SCALAR = 3
"""Operations of one that is not vectorised: a vector of SSE2 or Neon has four floats, but loops
that store less, or read what does not change, do more in a clock cycle than the timed one."""

CHAIN = 25
"""Operations in the time of a floating-point addition that waits for the one before it: two clock
cycles at least (Golden Cove; four before), of which the five of the loop that is timed take less
than half a one."""

PAGES = 1536
"""Of memory that a processor keeps the translations of: the second-level TLBs of servers have 1536
(Skylake) to 3072 entries (Zen 4)."""

MISS = 200
"""Operations in the time of an access to a page that is none of these: 3.5 ns where 8 to 11 were
measured (Sapphire Rapids, pairs of columns of 1500 rows)."""

LONGEST = 2000
"""Characters of a formula: C compilers need not take lines of more than 4095."""


def work_of_host(fn: Function, *, reassociated: bool = False) -> str | None:
    """Operations of a call of the user's function, an expression of C, or None; `reassociated` says
    that its compiler may vectorise sums."""
    set_inside = writes(fn.body) | {s.var for _, s in walk(fn.body) if isinstance(s, For)}
    scalars = [p for p in fn.objects if _is_number(p) and p.name not in set_inside]
    hosts = (_WalkingHost, _Host)  # the plainer one where the formula of the other is too long
    found = (_formula(x(fn, reassociated=reassociated), scalars) for x in hosts)
    return next(filter(None, found), None)


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
    except Unbounded:
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
                    raise Unbounded
                case _:
                    own += self.statement(s, around)
        return total(literal(own), *parts)

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
            raise Unbounded
        trips = times("1", value(to_expr(count), known))
        middle = times("0.5", total(value(s.lo, known), end(s, known)))
        inside = self.body(s.body, {**known, s.var: middle}, (*around, s))
        if is_literal(trips):
            return times(literal(max(0.0, float(trips))), inside)
        return times(f"lx_greater(0, {trips})", inside)


class _Host(_Work):
    def __init__(self, fn: Function, *, reassociated: bool) -> None:
        super().__init__(fn)
        self.reassociated = reassociated
        self._own = cache(_own)
        self._assigns = cache(_assigns)

    def branch(
        self, body: tuple[Stmt, ...], known: Mapping[str, str], around: tuple[For, ...]
    ) -> str:
        """Half the times that it might run."""
        return times("0.5", self.body(body, known, around))

    def statement(self, s: Stmt, around: tuple[For, ...]) -> float:
        operations = _operations(s)
        if not isinstance(s, Assign):
            return operations
        own = [x for e in (s.target, s.value) for x in walk_expr(e) if isinstance(x, Load | Var)]
        size = max(self.types[x.array if isinstance(x, Load) else x.name].bytes for x in own)
        if self._is_vectorised(s, around):
            return operations * max(size, 4) / 4
        return max(operations * SCALAR, CHAIN * self._waits(s, around))

    def _is_vectorised(self, s: Assign, around: tuple[For, ...]) -> bool:
        """Whether a compiler may do it for several iterations at once: of the loop around it, or of
        one further out, which it may put inside."""
        inner = (
            not self._waits(s, around) and self._is_contiguous(s, around[-1]) if around else False
        )
        outer = (
            _walks_a_row(s, x)
            and self._is_contiguous(s, x)
            and not _is_carried(s, x)
            and self._may_move(s, x)
            for x in around[:-1]
        )
        return inner or any(outer)

    def _may_move(self, s: Assign, loop: For) -> bool:
        """Whether compilers are seen to move a loop inside, or to run several of its iterations at
        once: not where others of its statements that share data with this one are no such
        candidates, nor where it touches the array that it changes in several places."""
        related = [x for x in self._assigns(loop) if self._share(s, x)]
        places = (x for r in related for x in _touched(r) if x.array == _target(s))
        return all(self._is_contiguous(x, loop) for x in related) and all(
            _is_close(x, s.target) for x in places
        )

    def _share(self, one: Assign, other: Assign) -> bool:
        """Whether one sets what the other reads or sets."""
        return _target(one) in self._own(other) or _target(other) in self._own(one)

    def _is_contiguous(self, s: Assign, loop: For) -> bool:
        """Whether neighbouring iterations touch neighbouring elements, or the same one."""
        return all(_stride(x, loop.var) in (0, 1, -1) for e in stmt_exprs(s) for x in loads(e))

    def _waits(self, s: Assign, around: tuple[For, ...]) -> bool:
        """Whether each iteration of the innermost loop needs the sum of the one before it."""
        if not around or self.reassociated or not self.types[_target(s)].is_float:
            return False
        scalar = isinstance(s.target, Var) and s.target in _places(s)
        return scalar or _is_carried(s, around[-1])


class _WalkingHost(_Host):
    """With what loops wait for that walk along columns."""

    def __init__(self, fn: Function, *, reassociated: bool) -> None:
        super().__init__(fn, reassociated=reassociated)
        self.columns = Columns(fn)

    def loop(self, s: For, known: Mapping[str, str], around: tuple[For, ...]) -> str:
        computed = super().loop(s, known, around)
        own = [x for x in s.body if isinstance(x, Assign)]
        if any(isinstance(x, For) for _, x in walk(s.body)):
            return computed
        scalar = [x for x in own if not self._is_vectorised(x, (*around, s))]
        places = (x for t in scalar for x in _touched(t) if _stride(x, s.var) not in (0, 1, -1))
        pages = self.columns.pages(places, s.var, known)
        count = trips_to(s, s.hi)
        if count is None or pages == "0":
            return computed
        touched = times(value(to_expr(count), known), pages)
        missed = f"lx_greater(0, {total(touched, literal(-PAGES))})"
        return total(computed, times(literal(MISS), missed))


class _Item(_Work):
    def __init__(self, fn: Function, items: int) -> None:
        super().__init__(fn)
        self.items = items

    def loop(self, s: For, known: Mapping[str, str], around: tuple[For, ...]) -> str:
        """Of those that are mapped one iteration, in the middle."""
        if s.level is None:
            return super().loop(s, known, around)
        middle = times("0.5", total(value(s.lo, known), end(s, known)))
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
                raise Unbounded
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


def _walks_a_row(s: Assign, loop: For) -> bool:
    return any(_stride(x, loop.var) in (1, -1) for x in _touched(s))


def _touched(s: Assign) -> Iterator[Load]:
    """The elements that a statement reads or sets."""
    yield from (x for e in stmt_exprs(s) for x in loads(e))


def _own(s: Assign) -> frozenset[str]:
    """The names of what a statement reads or sets."""
    places = (*_places(s), s.target)
    return frozenset(x.array if isinstance(x, Load) else x.name for x in places)


def _assigns(loop: For) -> tuple[Assign, ...]:
    return tuple(x for _, x in walk(loop.body) if isinstance(x, Assign))


def _is_close(place: Load, target: Load | Var) -> bool:
    """Whether it is the element that is set, or one at a constant distance."""
    if isinstance(target, Var):
        return True
    return all((poly(a) - poly(b)).value is not None for a, b in zip(place.index, target.index))


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
