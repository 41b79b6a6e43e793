"""One pass over a row for its largest element and a sum of exponentials in proportion to it:

    top = e;  for j: top = max(top, x(j));  sum = 0;  for j: { y[j] = exp(x(j) - top); sum += y[j] }
              for j: y[j] /= sum
 -> top_part[C], sum_part[C]
    for l < C: { largest = -inf; own = 0
                 for k < (hi - lo + C - 1) / C: if (lo + l + C*k < hi) { v = x(lo + l + C*k)
                     if (v > largest) { own *= exp(largest - v); largest = v }
                     own += v == largest ? 1 : exp(v - largest) }
                 top_part[l] = largest; sum_part[l] = own }
    for l < C: top = max(top, top_part[l])
    for l < C: if (sum_part[l] is not 0) sum += sum_part[l] * exp(top_part[l] - top)
    for j: y[j] = exp(x(j) - top) / sum

Part l takes every C-th element, and scales what it has summed up with each larger one it finds. The
row is read twice instead of three times, and nothing is stored before the sum is known. That rounds
differently, and needs `reassociate`. Rows with NaN, or an infinity that is their largest element,
have a sum of NaN, as in C; an element of minus infinity counts for nothing. Legal where the loops
do nothing else, and nothing between them changes or needs what they compute. (Milakov and
Gimelshein, "Online normalizer calculation for softmax", 2018.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar

from loopxform.analysis.reductions import subtracts, update_at
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Select,
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
    replace_at,
    substitute,
    substitute_body,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import replace_iterator
from loopxform.transforms.reductions.strided import obstacles, strided
from loopxform.transforms.sites import one_loop, parse_size, trusted

EXPONENTIALS = ("exp", "expf")


@record
class OnlineSum(Step):
    """Finds the largest element, as the loop `largest` does, and sums up exponentials, as the loop
    `summed` does, in one pass of `size` parts. `reassociate` (the word) allows the sum to round
    differently."""

    largest: str
    summed: str
    size: str
    reassociate: str = ""

    verb: ClassVar[str] = "online-sum"
    usage: ClassVar[str] = "online-sum LARGEST SUMMED SIZE [reassociate]"
    flags: ClassVar[Mapping[str, str]] = {"reassociate": "reassociate"}

    def is_in_order(self) -> bool:
        return False

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        sites = [one_loop(fn, ref) for ref in (self.largest, self.summed)]
        if missing := tuple(s for s in sites if isinstance(s, Obstacle)):
            return missing
        first, second = (trusted(s) for s in sites)
        if odd := obstacles(fn, second, self.size, "sum up"):
            return odd
        row = _row(fn, first, second)
        loc = second.loop.origin.loc
        if isinstance(row, str):
            remedy = "write top = max(x[j]), then sum += exp(x[j] - top), then y[j] /= sum"
            return (Obstacle("LX261", row, loc, remedy=remedy),)
        if self.reassociate:
            return ()
        text = f"'{row.total}' would be rounded differently, in proportion to other elements"
        return (Obstacle("LX191", text, loc, remedy="allow it: --fp reassociate"),)

    def rewrite(self, fn: Function) -> Function:
        first, second = (trusted(one_loop(fn, r)) for r in (self.largest, self.summed))
        row = _row(fn, first, second)
        assert isinstance(row, Row)
        made = _Pass(fn, row, second, self.size, str(self))
        a, b, c = row.places
        body = [*row.body[:a], *made.parts(), made.top(), *row.body[a + 1 : b], made.total()]
        body += row.body[b + 1 : c]
        body += () if row.store is None else (row.stored(),)
        body += row.body[c + 1 :]
        return _with_body(fn, first, tuple(body))

    def reason(self, fn: Function) -> str:
        first, second = (trusted(one_loop(fn, r)) for r in (self.largest, self.summed))
        row = _row(fn, first, second)
        assert isinstance(row, Row)
        return f"what is added to {row.total} scales with {row.top}"


def _with_body(fn: Function, site: LoopSite, body: tuple[Stmt, ...]) -> Function:
    """The function with `body` in place of the statements that the loop is one of."""
    around = site.path[:-1]
    if not around:
        return replace(fn, body=body)
    parent = at(fn, around)
    assert isinstance(parent, For)
    return replace_at(fn, around, (replace(parent, body=body),))


# ---------------------------------------------------------------- what a row is


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


def _row(fn: Function, first: LoopSite, second: LoopSite) -> Row | str:
    """The row that two loops walk along, or why it is none."""
    parent = at(fn, first.path[:-1]) if first.path[:-1] else None
    around = first.path[:-1] == second.path[:-1] and (parent is None or isinstance(parent, For))
    a, b = first.path[-1], second.path[-1]
    if not around or a >= b:
        return "the two loops do not follow each other in one body"
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
    fixed = (names(row.score) | {row.top}) - {row.var}
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


# ---------------------------------------------------------------- one pass


class _Pass:
    """The loops that take the place of the first two."""

    def __init__(self, fn: Function, row: Row, site: LoopSite, size: str, step: str) -> None:
        self.fn, self.row, self.site, self.size = fn, row, site, size
        self.origin = site.loop.origin.then(step)
        count = parse_size(fn, size)
        assert not isinstance(count, Obstacle)
        self.count = count
        self.tops, self.totals = (fresh(fn, f"{n}_part") for n in (row.top, row.total))
        self.largest, self.own = (fresh(fn, f"{n}_own") for n in (row.top, row.total))
        self.element = fresh(fn, f"{row.var}_element")

    def _exp(self, e: Expr) -> Expr:
        return replace(self.row.weight, args=(e,))

    def parts(self) -> tuple[Stmt, ...]:
        """The arrays of the parts, and the loop over these."""
        kind, loop = self.row.kind, self.site.loop
        walk = replace(loop, body=self._found())
        number = fresh(self.fn, f"{loop.var}_t")
        outer = strided(self.fn, replace(self.site, loop=walk), self.size, self.origin, number)
        body = self._in_step(outer, number)
        begun: tuple[Stmt, ...] = (
            Decl(self.largest, kind),
            Decl(self.own, kind),
            Assign(Var(self.largest), Const(float("-inf"), kind), label=f"begin_{self.largest}"),
            Assign(Var(self.own), Const(0.0, kind), label=f"begin_{self.own}"),
        )
        kept = tuple(
            Assign(Load(array, (Var(number),)), Var(name), label=f"store_{name}")
            for array, name in ((self.tops, self.largest), (self.totals, self.own))
        )
        both = (self.tops, self.totals)
        arrays = (Decl(name, kind, (self.count,), origin=self.origin) for name in both)
        return (*arrays, replace(outer, body=(*begun, *body, *kept)))

    def _in_step(self, outer: For, number: str) -> tuple[Stmt, ...]:
        """The loop of a part, as long for all of them where it counts in the type of the user's."""
        (inner,) = outer.body
        loop = self.site.loop
        if not isinstance(inner, For) or inner.type != loop.type:
            return outer.body
        turn = fresh(self.fn, f"{loop.var}_k")
        rest = Bin("-", Bin("+", Bin("-", loop.hi, loop.lo), self.count), Const(1))
        turns = simplify(Bin("/", simplify(rest), self.count))
        first = Bin("+", loop.lo, Var(number))
        element = simplify(Bin("+", first, Bin("*", self.count, Var(turn))))
        body = replace_iterator(inner.body, loop.var, element)
        guarded = If(Bin("<", element, loop.hi), body)
        return (replace(inner, var=turn, lo=Const(0), hi=turns, step=Const(1), body=(guarded,)),)

    def _found(self) -> tuple[Stmt, ...]:
        """What is done with an element."""
        v, largest, own = Var(self.element), Var(self.largest), Var(self.own)
        one = Const(1.0, self.row.kind)
        term = Select(Bin("==", v, largest), one, self._exp(Bin("-", v, largest)))
        larger = (
            Assign(own, self._exp(Bin("-", largest, v)), "*", label=f"scale_{self.own}"),
            Assign(largest, v, label=f"find_{self.largest}"),
        )
        return (
            Decl(self.element, self.row.kind),
            Assign(v, self.row.score, label=f"read_{self.element}"),
            If(Bin(">", v, largest), larger),
            Assign(own, term, "+", label=f"sum_{self.own}"),
        )

    def top(self) -> For:
        """The largest of all parts, found as the user does."""
        var = fresh(self.fn, f"{self.tops}_l")
        update = update_at((), self.row.update)
        assert update is not None
        part = Load(self.tops, (Var(var),))
        body = map_exprs((self.row.update,), lambda e: part if e == update.value else e)
        return self._over_parts(var, body)

    def total(self) -> For:
        """The sum of all parts, each scaled."""
        var = fresh(self.fn, f"{self.totals}_l")
        own, kind = Load(self.totals, (Var(var),)), self.row.kind
        scale = self._exp(Bin("-", Load(self.tops, (Var(var),)), Var(self.row.top)))
        empty = Bin("==", own, Const(0.0, kind))
        term = Select(empty, Const(0.0, kind), Bin("*", own, scale))
        label = f"combine_{self.row.total}"
        return self._over_parts(var, (Assign(Var(self.row.total), term, "+", label=label),))

    def _over_parts(self, var: str, body: tuple[Stmt, ...]) -> For:
        return For(var, Const(0), self.count, Const(1), body, origin=self.origin)


def softmax_loops(body: tuple[Stmt, ...]) -> tuple[str, str] | None:
    """The loops of a body that could be one pass."""
    found = [s for s in body if isinstance(s, For)]
    for first, second in pairwise(found):
        if _largest(first) is not None and _weights(second) is not None:
            return first.var, second.var
    return None
