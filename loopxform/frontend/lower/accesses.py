"""The accesses of a flat array: each subscript as a polynomial, and what holds around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from loopxform.frontend.lower.facts import Facts, is_stable
from loopxform.frontend.lower.ranges import Context, loop_bounds, under
from loopxform.ir.affine import Poly, poly
from loopxform.ir.nodes import (
    Assign,
    Bin,
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
    Var,
)
from loopxform.ir.typing import type_of
from loopxform.ir.visit import children, loads, names, stmt_exprs, substitute, walk, walk_expr
from loopxform.records import record

Conjuncts: TypeAlias = frozenset[Expr]


@record
class Access:
    """One subscript of a flat array: its polynomial and what holds around it."""

    load: Load
    poly: Poly
    context: Context


@record
class Refused(Exception):
    """Why an array stays flat."""

    message: str
    load: Load


class Accesses:
    """The accesses of the flat arrays of a function, which are found in one walk over its body."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.body: tuple[Stmt, ...] | None = None
        self.known: dict[str, Expr] = {}
        self.once = self.assigned = frozenset[str]()
        self.loads: dict[str, list[tuple[Load, Context]]] = {}

    def of(self, fn: Function, array: str, dimension: int = 0) -> list[Access]:
        """Every access of `array` in text order, by a subscript of it. Raises Refused."""
        if fn.body is not self.body:
            self._walk(fn)
        found: list[Access] = []
        for load, context in self.loads.get(array, ()):
            if any(x.array == array for i in load.index for x in loads(i)):
                raise Refused("it is indexed by itself", load)
            subscript = substitute(load.index[dimension], self.known)
            found.append(Access(load, poly(subscript), context))
        return found

    def _walk(self, fn: Function) -> None:
        self.body, self.known, self.loads = fn.body, known_scalars(fn, self.facts), {}
        self.once = frozenset()
        assigned = (s.target for _, s in walk(fn.body) if isinstance(s, Assign))
        self.assigned = frozenset(x.name for x in assigned if isinstance(x, Var))
        if not any(isinstance(s, Opaque) for _, s in walk(fn.body)):
            self.once = frozenset(name for name, n in _settings(fn).items() if n == 1)
        for e, context in self._expressions(fn.body, ()):
            for load, inside in _loads(e, context, self.known):
                self.loads.setdefault(load.array, []).append((load, inside))

    def _expressions(
        self,
        body: tuple[Stmt, ...],
        context: Context,
        around: tuple[str, ...] = (),
        denied: tuple[Conjuncts, ...] = (),
    ) -> Iterator[tuple[Expr, Context]]:
        """Every expression with what holds where it is evaluated: inside of loops with the counters
        `around`, where conditions that are `denied` do not all hold."""
        loop: For | None = None
        for s in body:
            for e in stmt_exprs(s):
                yield e, context
            match s:
                case For():
                    loop = s
                    inside = (*context, *loop_bounds(s, self.known))
                    yield from self._expressions(s.body, inside, (*around, s.var), denied)
                case If():
                    here = frozenset(_conjuncts(s.cond))
                    inside = under(s.cond, self.known, context, taken=True)
                    for left in (d - here for d in denied if d & here):
                        if len(left) == 1:
                            (only,) = left
                            inside = under(only, self.known, inside, taken=False)
                    yield from self._expressions(s.then, inside, around, denied)
                    inside = under(s.cond, self.known, context, taken=False)
                    more = (here,) if len(here) > 1 and self._is_kept(here, around) else ()
                    yield from self._expressions(s.orelse, inside, around, (*denied, *more))
                case Opaque():
                    yield from self._expressions(s.body, context, around, denied)
                case Assign(Var(name), Var(counter), "") if loop is not None:
                    if name in self.once and loop.var == counter:
                        context = (*context, *self._left_by(loop, name, context))
            if not isinstance(s, For | Decl):
                loop = None

    def _is_kept(self, conditions: Conjuncts, around: tuple[str, ...]) -> bool:
        """Whether conditions are about arguments, and about counters that are what they are."""
        fixed = self.facts.stable | {*around} - self.assigned
        return all(names(c) <= fixed for c in conditions)

    def _left_by(self, loop: For, name: str, context: Context) -> Context:
        """What holds for the variable `name` that keeps where a loop ended: nothing stands between
        the two."""
        if not isinstance(loop.step, Const) or loop.step.value < 0:
            return ()
        fixed = {*self.facts.stable, *(b.var for b in context)}
        begins = (b for b in loop_bounds(loop, self.known) if b.lower)
        return tuple(
            replace(b, var=name)
            for b in begins
            if all(isinstance(x, Var) and x.name in fixed for m, _ in b.limit.terms for x in m)
        )


def _conjuncts(e: Expr) -> Iterator[Expr]:
    """`x` and `y` of `x && y`."""
    if isinstance(e, Bin) and e.op == "&&":
        yield from _conjuncts(e.left)
        yield from _conjuncts(e.right)
    else:
        yield e


def _settings(fn: Function) -> Counter[str]:
    """How many statements set each scalar."""
    count: Counter[str] = Counter()
    for _, s in walk(fn.body):
        if isinstance(s, For):
            count[s.var] += 1
        elif isinstance(s, Assign) and isinstance(s.target, Var):
            count[s.target.name] += 1
    return count


def _loads(e: Expr, context: Context, known: dict[str, Expr]) -> Iterator[tuple[Load, Context]]:
    """Every element an expression reads, with what holds where it is read: an operand that C may
    leave out is evaluated where the first one says."""
    match e:
        case Load(_, index):
            yield e, context
            operands = [(i, context) for i in index]
        case Select(cond, then, orelse):
            taken, other = (under(cond, known, context, taken=t) for t in (True, False))
            operands = [(cond, context), (then, taken), (orelse, other)]
        case Bin("&&" | "||" as op, left, right):
            operands = [(left, context), (right, under(left, known, context, taken=op == "&&"))]
        case _:
            operands = [(x, context) for x in children(e)]
    for x, inside in operands:
        yield from _loads(x, inside, known)


MOST_NODES = 200
"""Of a value in terms of arguments: `b = a + a; c = b + b; ...` doubles with every line."""


def known_scalars(fn: Function, facts: Facts) -> dict[str, Expr]:
    """Locals set once, at the top of the function, from arguments: `int stride = 3 * w;`."""
    if any(isinstance(s, Opaque) for _, s in walk(fn.body)):
        return {}
    count = _settings(fn)
    known: dict[str, Expr] = {}
    sizes: dict[str, int] = {}
    for s in fn.body:
        match s:
            case Assign(Var(name), value, "") if count[name] == 1 and name not in facts.stable:
                sizes[name] = sum(
                    sizes.get(x.name, 1) if isinstance(x, Var) else 1 for x in walk_expr(value)
                )
                if sizes[name] > MOST_NODES:
                    continue
                value = substitute(value, known)
                same = type_of(value, facts.types) == facts.types[name]
                local = any(isinstance(d, Decl) and d.name == name for d in fn.body)
                if local and same and is_stable(value, facts.stable):
                    known[name] = value
    return known
