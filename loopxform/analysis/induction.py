"""Scalars whose value in iteration q is known in closed form, though the program carries it along.

    induction    for i: { ... j = j + e; ... }   j is j0 + e*q, after the update j0 + e*(q+1)
                 for i: { j++; ... j++; ... }    j is j0 + 2*q, then j0 + 2*q + 1 and j0 + 2*q + 2
                 for i: { k = j + 1; j = k + 1; }
    wrap-around  for i: { ... x ...; x = f(i); } x is f(i - step) from the second iteration on

j0 is the value on entry, q = 0, 1, 2, ... the number of the iteration, and nothing in the loop
changes e. The dependence is real as the program stands; `substitute j i` removes the first,
peeling an iteration the second. (Allen and Kennedy, section 4.5.)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from loopxform.analysis.domain import names_of
from loopxform.analysis.scope import below, inside
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Return,
    Un,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, enclosing, names, stmt_exprs, walk_expr, writes
from loopxform.records import slotted


@slotted
class Induction:
    """`name` grows by `increment` in each iteration. `places` are the statements of the loop's body
    that set it, with what it has grown by in the iteration then."""

    name: str
    increment: Expr
    places: tuple[tuple[int, Expr], ...]

    def __str__(self) -> str:
        """The closed form, `counter` counting the iterations from 0."""
        return f"{self.name} + {_factor(self.increment)}{self.counter}"

    @property
    def counter(self) -> str:
        """q, or where that is the variable, t."""
        return "t" if self.name == "q" else "q"


def _factor(e: Expr) -> str:
    text = expr_text(e)
    if text == "1":
        return ""
    return f"{text}*" if text.isalnum() else f"({text})*"


def induction(fn: Function, path: Path, name: str) -> Induction | None:
    """What `name` is an induction variable of the loop at `path` by, or None."""
    loop = enclosing(fn, path)[-1]
    count = _assigned(fn, path, name)
    if not count or not isinstance(loop, For):
        return None
    types, places = names_of(fn).types, list[tuple[int, Expr]]()
    grown: dict[str, Expr] = {name: Const(0)}
    for n, s in enumerate(loop.body):
        match s:
            case Assign(Var(target)) if types.get(target) == types[name]:
                amount = _grown(s, grown)
                if amount is None or _moves(fn, path, amount):
                    grown.pop(target, None)
                else:
                    grown[target] = simplify(amount)
                if target == name:
                    if name not in grown:
                        return None
                    places.append((n, grown[name]))
            case _:
                if name in writes((s,)):
                    return None
                grown = {x: e for x, e in grown.items() if x not in writes((s,))}
    return Induction(name, grown[name], tuple(places)) if len(places) == count else None


def _grown(s: Assign, grown: Mapping[str, Expr]) -> Expr | None:
    """How much more an assignment gives than the induction variable had when the iteration began:
    `grown` says so of scalars."""
    assert isinstance(s.target, Var)
    value = Bin(s.op, s.target, s.value) if s.op else s.value
    match value:
        case Var(x):
            return grown.get(x)
        case Bin("+", Var(x), e) if x in grown and not names(e) & grown.keys():
            return Bin("+", grown[x], e)
        case Bin("+", e, Var(x)) if x in grown and not names(e) & grown.keys():
            return Bin("+", grown[x], e)
        case Bin("-", Var(x), e) if x in grown and not names(e) & grown.keys():
            return Bin("-", grown[x], e)
        case _:
            return None


def growth(fn: Function, path: Path, name: str) -> str:
    """How a scalar grows in the loop at `path` that is no induction variable of its own: in several
    places, in a loop inside, or under a condition; "" where it does anything else."""
    loop = enclosing(fn, path)[-1]
    found = [
        (p, s) for p, s in below(loop, path) if isinstance(s, Assign) and s.target == Var(name)
    ]
    type = names_of(fn).types.get(name)
    steps = [_increment(s) for _, s in found]
    if not found or type is None or not type.is_integer:
        return ""
    if any(e is None or _moves(fn, path, e) for e in steps):
        return ""
    around = [s for p, _ in found for s in enclosing(fn, p)[len(path) : -1]]
    if any(isinstance(s, If) for s in around):
        return (
            f"{name} grows only where a condition holds (packing): "
            "what it is depends on all iterations before"
        )
    loops = list(dict.fromkeys(s.var for s in around if isinstance(s, For)))
    if loops:
        return f"{name} is an induction variable that grows in the loop over '{loops[0]}' too"
    sums = reduce(lambda a, b: Bin("+", a, b), (e for e in steps if e is not None))
    total = expr_text(simplify(sums))
    return (
        f"{name} is an induction variable that grows in {len(found)} places, by {total} in each "
        "iteration: let it grow in one place only"
    )


def wraps_around(fn: Function, path: Path, name: str) -> Expr | None:
    """The value that a wrap-around variable of the loop at `path` has at the end of an iteration,
    or None: it depends on the loop variable only, and every read comes before the assignment."""
    found = _only_assignment(fn, path, name)
    loop = enclosing(fn, path)[-1]
    if found is None or not isinstance(loop, For):
        return None
    place, s = found
    if s.op or loop.var not in names(s.value) or _moves(fn, path, s.value, besides=loop.var):
        return None
    later = (x for p, x in below(loop, path) if p[len(path)] > place)
    return None if any(name in names(e) for x in later for e in stmt_exprs(x)) else s.value


def _only_assignment(fn: Function, path: Path, name: str) -> tuple[int, Assign] | None:
    """The one statement of the loop that changes an integer scalar, if every iteration runs it."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    if _assigned(fn, path, name) != 1:
        return None
    for n, s in enumerate(loop.body):
        if isinstance(s, Assign) and s.target == Var(name):
            return n, s
    return None


def _assigned(fn: Function, path: Path, name: str) -> int:
    """How many statements of the loop at `path` set an integer scalar that lives longer than its
    iterations; 0 where anything else may."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    facts, type = inside(loop, path), names_of(fn).types.get(name)
    if type is None or not type.is_integer or type.bytes < 4:
        return 0
    if name in facts.declared or name in facts.loop_vars or name == loop.var:
        return 0
    if any(isinstance(s, Opaque | Return) for _, s in below(loop, path)):
        return 0
    return facts.assigned[name]


def _increment(s: Assign) -> Expr | None:
    """e of `j = j + e` in any form."""
    match s:
        case Assign(_, value, "+"):
            return value
        case Assign(_, value, "-"):
            return Un("-", value)
        case Assign(target, Bin("+", left, right), "") if target in (left, right):
            return right if left == target else left
        case Assign(target, Bin("-", left, right), "") if left == target:
            return Un("-", right)
        case _:
            return None


def _moves(fn: Function, path: Path, e: Expr, besides: str = "") -> bool:
    """Whether the value of `e`, an integer made of scalars, may change while the loop runs."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    facts, type = inside(loop, path), names_of(fn).type_of(e)
    if type is None or not type.is_integer or any(isinstance(x, Load) for x in walk_expr(e)):
        return True
    moving = {x for x in names(e) if facts.may_change(x)} | ({loop.var} & names(e))
    return bool(moving - {besides})
