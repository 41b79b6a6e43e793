"""Scalar replacement across iterations: for i: y[i] = y[i - 1] + x[i]
  -> if (lo < hi) y_last = y[lo - 1]; for i: { y_last = y_last + x[i]; y[i] = y_last; }

What one iteration stores and the next one reads is kept in a scalar: the values of the array then
run through the loop, as those of a prefix sum do. Legal where each iteration stores one element,
another one each, and the element of the iteration before is read nowhere else than before that.
(Callahan, Carr and Kennedy, "Improving register allocation for subscripted variables", 1990;
Allen and Kennedy, "Optimizing Compilers for Modern Architectures", section 8.3.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Select,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    children,
    loads,
    map_expr,
    map_exprs,
    names,
    replace_at,
    stmt_exprs,
    substitute,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import (
    fixed_header,
    new_name,
    one_loop,
    trusted,
    unmapped,
    whole_loop,
)


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
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        structure = (
            *whole_loop(site),
            *fixed_header(site),
            *unmapped(site, "carry"),
            *new_name(fn, self.scalar, site),
        )
        if structure:
            return structure
        where = site.loop.origin.loc
        if site.loop.parallel:
            text = f"the loop over '{site.loop.var}' is parallel"
            return (Obstacle("LX206", text, where, remedy="name a loop that runs in order"),)
        why = self._obstacle(site)
        if why is None:
            return ()
        remedy = "name a loop such as: y[i] = y[i - 1] + x[i];"
        return (Obstacle("LX206", why, where, remedy=remedy),)

    def _obstacle(self, site: LoopSite) -> str | None:
        """Why the array has no element that is carried to the next iteration."""
        loop, every = site.loop, [s for _, s in walk(site.loop.body)]
        if any(isinstance(s, Opaque | Copy) for s in every):
            return "it holds what is not modelled"
        if any(isinstance(s, Decl) and s.name == self.array for s in every):
            return f"'{self.array}' is declared in it"
        stores = [s for s in every if isinstance(s, Assign) and _is_of(s.target, self.array)]
        found = _carried(loop, self.array)
        if len(stores) != 1 or found is None:
            return (
                f"no iteration of '{loop.var}' reads what the one before stores in '{self.array}'"
            )
        store, before = found
        moving = writes(loop.body) | {s.var for s in every if isinstance(s, For)}
        if names(Load("", before.index)) & moving:
            return f"the subscripts of '{expr_text(before)}' change in an iteration"
        later = loop.body[loop.body.index(store) + 1 :]
        inside = (x for _, s in walk(later) for e in stmt_exprs(s) for x in loads(e))
        if any(_is_same(x, before) for x in inside):
            return f"'{expr_text(before)}' is read behind the store, too"
        return None

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop = site.loop
        found = _carried(loop, self.array)
        assert found is not None
        store, before = found
        name = self.scalar or fresh(fn, f"{self.array}_last")
        origin = loop.origin.then(str(self))

        def to_scalar(e: Expr) -> Expr:
            same = isinstance(e, Load) and _is_same(e, before)
            return Var(name, origin=e.origin) if same else e

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
        index = (simplify(substitute(e, {loop.var: loop.lo})) for e in before.index)
        load = Assign(Var(name), Load(before.array, tuple(index)), label=f"load_{name}")
        up = (value_of(loop.step) or 1) > 0
        runs = Bin("<" if up else ">", loop.lo, loop.hi)
        made = (
            Decl(name, symbols(fn)[self.array], origin=origin),
            If(runs, (replace(load, origin=origin),), origin=origin),
            replace(loop, body=body, origin=origin),
        )
        return replace_at(fn, site.path, made)

    def reason(self, fn: Function) -> str:
        loop = trusted(one_loop(fn, self.loop)).loop
        found = _carried(loop, self.array)
        assert found is not None
        return f"{expr_text(found[1])} is what the iteration before stored, in {self.array} alone"


def carried_arrays(loop: For) -> tuple[str, ...]:
    """The arrays of which each iteration reads what the one before stored."""
    stored = (s.target for s in loop.body if isinstance(s, Assign))
    arrays = dict.fromkeys(t.array for t in stored if isinstance(t, Load))
    return tuple(a for a in arrays if _carried(loop, a) is not None)


def _carried(loop: For, array: str) -> tuple[Assign, Load] | None:
    """The store of the body, and what is read of the iteration before: in every iteration, no later
    than that."""
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
        read = (x for s in loop.body[: n + 1] if isinstance(s, Assign) for x in _certain(s))
        if any(_is_same(x, element) for x in read):
            return store, element
    return None


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
