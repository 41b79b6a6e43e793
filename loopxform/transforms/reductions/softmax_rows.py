"""Rows of which two loops find the largest element and sum up exponentials less that.

for j: top = max(top, x(j));  for j: { y[j] = exp(x(j) - top); sum += y[j] }
for j: y[j] /= sum
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from loopxform.analysis.reductions import subtracts, update_at
from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Stmt,
    Var,
)
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    at,
    loads,
    map_exprs,
    names,
    reads,
    substitute,
    substitute_body,
    writes,
)
from loopxform.records import record

EXPONENTIALS = ("exp", "expf")


@record
class Row:
    """The statements around the loops, where these stand (that for the largest element, that for
    the sum, that which divides), the update of the largest element, `score` and `weight` (an
    element and what it counts for, by the variable of the second loop), and what is stored."""

    body: tuple[Stmt, ...]
    places: tuple[int, int, int]
    update: Stmt
    top: str
    total: str
    score: Expr
    weight: Call
    var: str
    kind: Scalar
    store: Load | None

    def stored(self) -> For:
        """The last loop, in which weights are computed again."""
        loop = self.body[self.places[2]]
        assert isinstance(loop, For)
        assert self.store is not None
        number: dict[str, Expr] = {self.var: Var(loop.var)}
        kept, again = substitute(self.store, number), substitute(self.weight, number)
        (s,) = loop.body
        assert isinstance(s, Assign)
        value = Bin(s.op, kept, s.value) if s.op else s.value
        whole = replace(s, value=_with(value, kept, again), op="")
        return replace(loop, body=(whole,))


def _with(e: Expr, old: Expr, new: Expr) -> Expr:
    (s,) = map_exprs((Assign(Var(""), e),), lambda x: new if x == old else x)
    assert isinstance(s, Assign)
    return s.value


def row_of(fn: Function, first: LoopSite, second: LoopSite) -> Row | str:
    """The row that two loops walk along, or why it is none."""
    parent = at(fn, first.path[:-1]) if first.path[:-1] else None
    around = first.path[:-1] == second.path[:-1] and (parent is None or isinstance(parent, For))
    a, b = first.path[-1], second.path[-1]
    if not around or a >= b:
        return "the two loops do not follow each other in one body"
    if first.loop.live_out:
        return f"'{first.loop.var}' is read after its loop"
    body = parent.body if isinstance(parent, For) else fn.body
    largest, weights = _largest(first.loop), _weights(second.loop)
    if largest is None:
        return f"the loop over '{first.loop.var}' does not find a largest element alone"
    if weights is None:
        return f"the loop over '{second.loop.var}' does not sum up exponentials alone"
    update, top, element = largest
    total, weight, store = weights
    types = {**symbols(fn), second.loop.var: second.loop.type}
    var, kind = second.loop.var, types[top]
    score = substitute(element, {first.loop.var: Var(var)})
    if weight.args != (Bin("-", score, Var(top)),):
        return f"'{total}' does not sum up exponentials of elements less '{top}'"
    if any(type_of(e, types) != kind for e in (Var(total), score, weight, store or score)):
        return "elements, exponentials and the sum have different types"
    if not _same_elements(body[:a], first.loop, second.loop, top, score):
        return "the two loops do not walk along the same elements"
    c = _divides(body, b, second.loop, store) if store is not None else b
    row = Row(body, (a, b, c), update, top, total, score, weight, var, kind, store)
    return _disturbed(row) or row


def _plain(loop: For) -> list[Stmt] | None:
    """The statements of a body, with the values of the scalars that it declares in place of them;
    None where one is set twice, or read after what it was read from has changed."""
    values, out, own = dict[str, Expr](), list[Stmt](), set[str]()
    for s in loop.body:
        match s:
            case Decl(name, shape=()):
                own.add(name)
            case Assign(Var(name), value, "") if name in own and name not in values:
                values[name] = substitute(value, values)
            case Assign() | If():
                (plain,) = substitute_body((s,), values)
                if (writes((s,)) | reads((plain,))) & own:
                    return None
                out.append(plain)
                _stored(values, plain)
            case _:
                return None
    return out


def _stored(values: dict[str, Expr], s: Stmt) -> None:
    """Brings values up to date behind a store: what it stores is the element then."""
    if not isinstance(s, Assign) or not isinstance(s.target, Load):
        return
    for name, value in list(values.items()):
        if value == s.value and not s.op:
            values[name] = s.target
        elif any(x.array == s.target.array for x in loads(value)):
            del values[name]


def _largest(loop: For) -> tuple[Stmt, str, Expr] | None:
    """The update of a loop that finds a largest element, and what it updates by what."""
    body = _plain(loop) or []
    update = update_at((), body[0]) if len(body) == 1 else None
    if update is None or update.op != "max" or not isinstance(update.target, Var):
        return None
    return body[0], update.target.name, update.value


def _weights(loop: For) -> tuple[str, Call, Load | None] | None:
    """The sum of a loop, what it adds, and where it stores that."""
    total, weight, store = "", None, None
    for s in _plain(loop) or ():
        update = update_at((), s)
        if update is not None and isinstance(update.target, Var) and not total:
            total, weight = update.target.name, update.value
            if update.op != "+" or subtracts(update.stmt):
                return None
            if store is not None and weight == store.target:
                weight = store.value
            elif store is not None and store.target.array in reads((s,)):
                return None
        elif isinstance(s, Assign) and isinstance(s.target, Load) and not s.op and store is None:
            store = Stored(s.target, s.value)
        else:
            return None
    if not isinstance(weight, Call) or weight.name not in EXPONENTIALS or not total:
        return None
    if store is None:
        return total, weight, None
    own = store.target.index.count(Var(loop.var)) == 1
    return (total, weight, store.target) if own and store.value == weight else None


@record
class Stored:
    """An element, and what is stored there."""

    target: Load
    value: Expr


def _same_elements(
    before: tuple[Stmt, ...], first: For, second: For, top: str, score: Expr
) -> bool:
    """Whether the first loop, together with what the largest element is at first, sees the elements
    of the second."""
    if value_of(first.step) != 1 or value_of(second.step) != 1 or first.hi != second.hi:
        return False
    later = (poly(first.lo) - poly(second.lo)).value
    if later == 0:
        return True
    begin = substitute(score, {second.var: second.lo})
    for s in reversed(before):
        if isinstance(s, Assign) and s.target == Var(top):
            return later == 1 and not s.op and s.value == begin
        if not isinstance(s, Decl | Assign) or writes((s,)) & names(begin):
            return False
    return False


def _divides(body: tuple[Stmt, ...], b: int, second: For, store: Load) -> int:
    """Where the loop stands that goes on with what is stored, all of it; -1: there is none."""
    found = (c for c in range(b + 1, len(body)) if not isinstance(body[c], Decl | Assign))
    c = next(found, -1)
    s = body[c] if c >= 0 else None
    if not isinstance(s, For) or (s.lo, s.hi, s.step) != (second.lo, second.hi, second.step):
        return -1
    kept = substitute(store, {second.var: Var(s.var)})
    one = s.body[0] if len(s.body) == 1 else None
    if not isinstance(one, Assign) or one.target != kept:
        return -1
    others = [x for x in loads(one.value) if x.array == store.array]
    return c if all(x == kept for x in others) else -1


def _disturbed(row: Row) -> str:
    """What statements between the loops change or need that they may not."""
    a, b, c = row.places
    if c < 0:
        return "what is stored is not divided in a loop over the same elements"
    between = (*row.body[a + 1 : b], *row.body[b + 1 : c])
    if not all(isinstance(s, Decl | Assign) for s in between):
        return "there are other statements between the loops"
    second = row.body[b]
    assert isinstance(second, For)
    fixed = (names(row.score) | {row.top}) - {row.var} | names(second.lo) | names(second.hi)
    if row.store is not None:
        fixed |= {n for i in row.store.index for n in names(i)} - {row.var}
        same = [x for x in loads(row.score) if x.array == row.store.array]
        if any(x != row.store for x in same):
            return f"elements of '{row.store.array}' are read that are stored elsewhere"
        if row.store.array in reads(between):
            return f"'{row.store.array}' is read between the loops"
    if row.total in names(row.score) or row.top == row.total:
        return "the elements depend on their sum"
    if writes(between) & fixed or row.total in writes(row.body[b + 1 : c]):
        return "what the loops read changes between them"
    return f"'{row.total}' is read too early" if row.total in reads(row.body[a + 1 : b]) else ""


def softmax_loops(body: tuple[Stmt, ...]) -> tuple[str, str] | None:
    """The loops of a body that could be one pass."""
    found = [s for s in body if isinstance(s, For)]
    for first, second in pairwise(found):
        if _largest(first) is not None and _weights(second) is not None:
            return first.var, second.var
    return None
