"""Scalar replacement across iterations: for i: y[i] = y[i - 1] + x[i]
  -> if (lo < hi) y_last = y[lo - 1]; for i: { y_last = y_last + x[i]; y[i] = y_last; }

What one iteration stores and the next one reads is kept in a scalar: the values of the array then
run through the loop, as those of a prefix sum do. Legal where each iteration stores one element,
another one each, and the element of the iteration before is read nowhere else than before that.

Where conditions say whether it is read (y[i] = k[i] == k[i - 1] ? y[i - 1] + x[i] : x[i]), the
first iteration reads it under the same ones, which nothing in the loop may change.

What stands for it in the first iteration is what the scalar begins with: y[i] = (i > 0 ? y[i - 1] :
e) + x[i] -> y_last = e; for i: { y_last = y_last + x[i]; y[i] = y_last; }, where e is a number or a
variable that nothing changes, of the type of the elements. (Callahan, Carr and Kennedy, "Improving
register allocation for subscripted variables", 1990; Allen and Kennedy, "Optimizing Compilers for
Modern Architectures", section 8.3.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from typing import ClassVar

from loopxform.analysis.accesses import Guards, touched
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.evaluate import evaluate
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
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
from loopxform.ir.printer import expr_text
from loopxform.ir.types import BOOL, Scalar, common, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    children,
    loads,
    map_children,
    map_expr,
    map_exprs,
    names,
    replace_at,
    stmt_exprs,
    substitute,
    walk,
    walk_expr,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.first_iteration import is_first
from loopxform.transforms.sites import one_loop, plain_loop, trusted

SMALL = 128
"""Numbers below this are the same in every type."""


@record
class Carry(Step):
    """Keeps the element of `array` that the iteration of `loop` before stored in a scalar named
    `scalar` (default: y_last)."""

    array: str
    loop: str
    scalar: str = ""

    verb: ClassVar[str] = "carry"
    usage: ClassVar[str] = "carry ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = plain_loop(fn, self.loop, self.verb, self.scalar)
        if isinstance(site, tuple):
            return site
        where = site.loop.origin.loc
        if site.loop.parallel:
            text = f"the loop over '{site.loop.var}' is parallel"
            return (Obstacle("LX206", text, where, remedy="name a loop that runs in order"),)
        why = self._obstacle(fn, site)
        if why is None:
            return ()
        remedy = "name a loop such as: y[i] = y[i - 1] + x[i];"
        return (Obstacle("LX206", why, where, remedy=remedy),)

    def _obstacle(self, fn: Function, site: LoopSite) -> str | None:
        """Why the array has no element that is carried to the next iteration."""
        loop, every = site.loop, [s for _, s in walk(site.loop.body)]
        if any(isinstance(s, Opaque | Copy) for s in every):
            return "it holds what is not modelled"
        if any(isinstance(s, Decl) and s.name == self.array for s in every):
            return f"'{self.array}' is declared in it"
        stores = [s for s in every if isinstance(s, Assign) and _is_of(s.target, self.array)]
        found = _carried(fn, loop, self.array)
        if len(stores) != 1 or found is None:
            return (
                f"no iteration of '{loop.var}' reads what the one before stores in '{self.array}'"
            )
        store, before = found.store, found.before
        moving = writes(loop.body) | {s.var for s in every if isinstance(s, For)}
        if names(Load("", before.index)) & moving:
            return f"the subscripts of '{expr_text(before)}' change in an iteration"
        later = loop.body[loop.body.index(store) + 1 :]
        inside = (x for _, s in walk(later) for e in stmt_exprs(s) for x in loads(e))
        if any(_is_same(x, before) for x in inside):
            return f"'{expr_text(before)}' is read behind the store, too"
        if found.first is not None and names(found.first) & (moving | {loop.var, self.array}):
            return f"'{expr_text(found.first)}' changes in the loop"
        changing = [e for guards in found.asked for e, _ in guards if names(e) & moving]
        if changing:
            return f"'{expr_text(changing[0])}' changes in the loop"
        return None

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop = site.loop
        found = _carried(fn, loop, self.array)
        assert found is not None
        store, before = found.store, found.before
        name = self.scalar or fresh(fn, f"{self.array}_last")
        origin = loop.origin.then(str(self))

        scalar = Var(name)

        def is_before(e: Expr) -> bool:
            return isinstance(e, Load) and _is_same(e, before)

        chosen = [map_children(e, lambda x: scalar if is_before(x) else x) for e in found.chosen]

        def to_scalar(e: Expr) -> Expr:
            return replace(scalar, origin=e.origin) if is_before(e) or e in chosen else e

        n = loop.body.index(store)
        value = map_expr(store.value, to_scalar)
        if store.op:
            value = Bin(store.op, store.target, value, origin=store.value.origin)
        body = (
            *map_exprs(loop.body[:n], to_scalar),
            Assign(Var(name), value, label=store.label, origin=store.origin),
            Assign(store.target, Var(name), label=f"store_{name}", origin=store.origin),
            *loop.body[n + 1 :],
        )
        own = symbols(fn)[self.array]
        begun = tuple(_begun(loop, found, name, own))
        made = (
            Decl(name, own),
            *begun,
            replace(loop, body=body),
        )
        return replace_at(fn, site.path, tuple(replace(x, origin=origin) for x in made))

    def reason(self, fn: Function) -> str:
        loop = trusted(one_loop(fn, self.loop)).loop
        found = _carried(fn, loop, self.array)
        assert found is not None
        return (
            f"{expr_text(found.before)} is what the iteration before stored, in {self.array} alone"
        )


def carried_arrays(fn: Function, loop: For) -> tuple[str, ...]:
    """The arrays of which each iteration reads what the one before stored."""
    stored = (s.target for s in loop.body if isinstance(s, Assign))
    arrays = dict.fromkeys(t.array for t in stored if isinstance(t, Load))
    return tuple(a for a in arrays if _carried(fn, loop, a) is not None)


@record
class _Carried:
    """The store of the body, and what is read of the iteration before: in every iteration, no later
    than that; or in all but the `first`, in which `chosen` expressions have another value; or where
    one of several lists of conditions holds (`asked`)."""

    store: Assign
    before: Load
    first: Expr | None = None
    chosen: tuple[Select, ...] = ()
    asked: tuple[Guards, ...] = ()


def _begun(loop: For, found: _Carried, name: str, type: Scalar) -> Iterator[Stmt]:
    """What the scalar begins with: what the first iteration reads."""
    index = (simplify(substitute(e, {loop.var: loop.lo})) for e in found.before.index)
    load = Assign(Var(name), Load(found.before.array, tuple(index)), label=f"load_{name}")
    if found.first is not None:
        yield replace(load, value=found.first)
        return
    up = (value_of(loop.step) or 1) > 0
    runs: Expr = Bin("<" if up else ">", loop.lo, loop.hi)
    if found.asked:
        zero = Const(0.0 if type.is_float else 0, type)
        yield Assign(Var(name), zero, label=f"begin_{name}")
        reads = [_in_first(guards, loop) for guards in found.asked]
        if not any(reads):
            return
        runs = Bin("&&", runs, _joined("||", [e for e in reads if e is not None]))
    yield If(runs, (load,))


def _in_first(guards: Guards, loop: For) -> Expr | None:
    """Under which condition the first iteration reads; None where numbers say that it does not."""
    asked = [substitute(e if holds else Un("!", e), {loop.var: loop.lo}) for e, holds in guards]
    parts = [x for e in asked for x in _conjuncts(e)]
    if any(not names(x) and not evaluate(x, {}) for x in parts):
        return None
    return _joined("&&", asked)


def _joined(op: str, parts: list[Expr]) -> Expr:
    return reduce(lambda a, b: Bin(op, a, b), parts)


def _conjuncts(e: Expr) -> Iterator[Expr]:
    match e:
        case Bin("&&", left, right) | Un("!", Bin("||", left, right)):
            negated = isinstance(e, Un)
            for x in (left, right):
                yield from _conjuncts(Un("!", x) if negated else x)
        case _:
            yield e


def _carried(fn: Function, loop: For, array: str) -> _Carried | None:
    types = symbols(fn)
    previous: dict[str, Expr] = {loop.var: Bin("-", Var(loop.var), loop.step)}
    for n, store in enumerate(loop.body):
        if not isinstance(store, Assign) or not isinstance(store.target, Load):
            continue
        index = store.target.index
        before = tuple(simplify(substitute(e, previous)) for e in index)
        gaps = [(poly(a) - poly(b)).value for a, b in zip(index, before)]
        if store.target.array != array or all(gap in (None, 0) for gap in gaps):
            continue
        element = Load(array, before)
        earlier = [s for s in loop.body[: n + 1] if isinstance(s, Assign)]
        if any(_is_same(x, element) for s in earlier for x in _certain(s)):
            return _Carried(store, element)
        choices = [x for s in earlier for e in stmt_exprs(s) for x in _choices(e)]
        found = [
            (x, v) for x in choices if (v := _in_the_first(loop, x, element, types)) is not None
        ]
        inside = (x for _, s in walk(loop.body) for e in stmt_exprs(s) for x in loads(e))
        read = sum(_is_same(x, element) for x in inside)
        values = {v for _, v in found}
        if len(values) == 1 and read == len(found) and _keeps_type(fn, array, found[0][1]):
            return _Carried(store, element, found[0][1], tuple(x for x, _ in found))
        under = [
            g
            for s in earlier
            for e in stmt_exprs(s)
            for x, g in touched(e)
            if isinstance(x, Load) and _is_same(x, element)
        ]
        if under and read == len(under):
            return _Carried(store, element, asked=tuple(under))
    return None


def _choices(e: Expr) -> Iterator[Select]:
    return (x for x in walk_expr(e) if isinstance(x, Select))


def _in_the_first(loop: For, e: Select, before: Load, types: dict[str, Scalar]) -> Expr | None:
    """What a choice between an element, in all iterations but the first, and something else has in
    that one; None for other choices."""
    for holds, element, other in ((True, e.then, e.orelse), (False, e.orelse, e.then)):
        if isinstance(element, Load) and _is_same(element, before):
            plain = isinstance(other, Const | Var)
            return other if plain and is_first(loop, e.cond, types) == (not holds) else None
    return None


def _keeps_type(fn: Function, array: str, first: Expr) -> bool:
    """Whether a choice between an element and such a value has the type of the former."""
    types = symbols(fn)
    own, other = types[array], type_of(first, types)
    if own is BOOL or (other.is_float and not own.is_float):
        return False
    number = value_of(first)
    small = number is not None and 0 <= number < SMALL and other.is_integer
    return own == other or (small and promote(common(own, other)) == promote(own))


def _certain(s: Assign) -> Iterator[Load]:
    """The elements that a statement reads whatever the values are."""
    waiting: list[Expr] = [s.value, *(s.target.index if isinstance(s.target, Load) else ())]
    while waiting:
        e = waiting.pop()
        if isinstance(e, Load):
            yield e
        match e:
            case Select(first) | Bin("&&" | "||", first):
                waiting.append(first)
            case _:
                waiting += children(e)


def _is_of(target: Var | Load, array: str) -> bool:
    return isinstance(target, Load) and target.array == array


def _is_same(x: Load, element: Load) -> bool:
    return x.array == element.array and all(
        poly(a) == poly(b) for a, b in zip(x.index, element.index)
    )
