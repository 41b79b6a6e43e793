"""Buffered boxes: for i: { for k < W: A[W*i + k] = e } -> for i: { T A_box[W];
  for k < W: A_box[k] = e;  for q < W: A[W*i + q] = A_box[q]; }

Each iteration of a loop works on a copy of its own of the box of an array that it writes: of one
fixed size, along the last dimension, of one row or several. The box is filled first where the
iteration reads the array, and stored at its end, in loops that move nothing else (`store-vectors`).
Legal where all uses of the array in the loop are in the box, and each element of it is written in
every iteration for certain: then all of them exist, and no other iteration that runs meanwhile uses
them. (Volkov, "Better performance at lower occupancy", GTC 2010; `stage_mem` of Exo.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, to_expr
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
    Load,
    Opaque,
    Return,
    Slice,
    Stmt,
    Var,
)
from loopxform.ir.types import Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    declared,
    map_body,
    map_exprs,
    names,
    replace_at,
    substitute,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.sites import new_name, one_loop, trusted
from loopxform.transforms.storage.footprint import Box, Use, box, relative, uses

LARGEST = 256
"""Elements of a box: more would not stay in registers."""


@record
class BufferBox(Step):
    """Gives each iteration of `loop` a copy of the box of `array` that it writes; `target` names
    the copy (default: A_box)."""

    array: str
    loop: str
    target: str = ""

    verb: ClassVar[str] = "buffer-box"
    usage: ClassVar[str] = "buffer-box ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        taken = new_name(fn, self.target, site)
        if taken:
            return taken
        found = _buffered(fn, site, self.array)
        if not isinstance(found, Obstacle):
            return ()
        return (replace(found, loc=found.loc or site.loop.origin.loc),)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        found = _buffered(fn, site, self.array)
        assert isinstance(found, _Buffer)
        name = self.target or fresh(fn, f"{self.array}_box")
        body = found.body(fn, name, str(self))
        return replace_at(fn, site.path, (replace(site.loop, body=body),))

    def reason(self, fn: Function) -> str:
        var = trusted(one_loop(fn, self.loop)).loop.var
        return f"an iteration of {var} writes a whole box of {self.array}, and uses nothing else"


@record
class _Buffer:
    """A copy about to be made of a box of an array; whether it is filled first."""

    site: LoopSite
    array: str
    box: Box
    used: tuple[Use, ...]
    filled: bool

    def body(self, fn: Function, name: str, step: str) -> tuple[Stmt, ...]:
        origin = self.site.loop.origin.then(step)
        sizes = [None if n is None else to_expr(n) for n in self.box.sizes]
        shape = tuple(n for n in sizes if n is not None)
        slices = tuple(Slice(to_expr(low), n) for low, n in zip(self.box.lows, sizes))
        copied = {u.load: relative(u, name, self.box, u.load.origin) for u in self.used}
        fill = (Copy(name, self.array, slices, False, origin=origin),) if self.filled else ()
        return (
            Decl(name, symbols(fn)[self.array], shape, Space.PRIVATE, origin=origin),
            *fill,
            *map_exprs(
                self.site.loop.body,
                lambda e: copied.get(e, e) if isinstance(e, Load) else e,
            ),
            self._stored(fn, name, step),
        )

    def _stored(self, fn: Function, name: str, step: str) -> Stmt:
        """The loop over the elements of a row, in one over rows where there are several."""
        origin, rows = self.site.loop.origin.then(step), self.box.rank - 1
        wanted = [f"{name}_{'r' * n}" for n in range(rows, 0, -1)]
        counters = [fresh(fn, x) for x in (*wanted, f"{name}_e")]
        left, index = iter(counters), list[Expr]()
        for low, n in zip(map(to_expr, self.box.lows), self.box.sizes):
            index.append(low if n is None else simplify(Bin("+", low, Var(next(left)))))
        element, kept = Load(self.array, tuple(index)), Load(name, tuple(map(Var, counters)))
        store: Stmt = Assign(element, kept, label=f"store_{name}", origin=origin)
        ends = [to_expr(n) for n in self.box.sizes if n is not None]
        for counter, end in reversed(list(zip(counters, ends))):
            store = For(counter, Const(0), end, Const(1), (store,), origin=origin)
        return store


def _buffered(fn: Function, site: LoopSite, array: str) -> _Buffer | Obstacle:
    """The copy, or why there is none."""
    body, own = site.loop.body, declared(fn.body).get(array)
    if (own is not None and own.space is not Space.GLOBAL) or array not in writes(body):
        text = f"'{array}' is no array in global memory that the loop over '{site.loop.var}' writes"
        return Obstacle("LX168", text, remedy="name an array that the loop writes")
    for _, s in walk(body):
        if isinstance(s, For) and s.level is not None:
            return Obstacle("LX162", f"work-items share the loop over '{s.var}'", s.origin.loc)
        if isinstance(s, Opaque | Return):
            return Obstacle("LX162", f"an iteration of '{site.loop.var}' may end early")
        if isinstance(s, Copy) and array in (s.source, s.target):
            return Obstacle("LX161", f"'{array}' is staged in the loop", s.origin.loc)
        if isinstance(s, Assign) and s.atomic and array in writes((s,)):
            return Obstacle("LX161", f"others update elements of '{array}'", s.origin.loc)
    reads = uses(fn, map_body(body, _without_target), array)
    written = tuple(_written(fn, body, array))
    found = box((*reads, *written))
    sizes = () if found is None else tuple(n.value for n in found.sizes if n is not None)
    whole = found is not None and found.sizes[-1] is not None and None not in sizes
    shape = tuple(int(n) for n in sizes if n is not None)
    if found is None or not whole or not (shape[-1] > 1 and prod(shape) <= LARGEST):
        text = f"an iteration of '{site.loop.var}' does not use a row of '{array}' of fixed size"
        return Obstacle("LX162", text, remedy="stripmine the loops its subscripts use")
    if any(f is not None for f in (*found.floors, *found.lasts)):
        return Obstacle("LX162", f"subscripts of '{array}' are clamped")
    moving = writes(body) | declared(body).keys()
    if {n for u in (*reads, *written) for e in u.index for n in names(e)} & moving:
        return Obstacle("LX162", f"the loop computes subscripts of '{array}'")
    if _certain(site, array, found) != set(product(*map(range, shape))):
        text = f"an iteration of '{site.loop.var}' may leave elements of '{array}' alone"
        return Obstacle("LX161", text, remedy="leave it where it is")
    return _Buffer(site, array, found, (*reads, *written), bool(reads) or _changes(body, array))


def _written(fn: Function, body: tuple[Stmt, ...], array: str) -> Iterator[Use]:
    """What is assigned to, as if it were read."""
    for path, s in walk(body):
        if isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array == array:
            alone = replace(s, target=Var("_"), op="", value=s.target)
            inner = tuple(x for p, x in walk(body) if isinstance(x, For) and path[: len(p)] == p)
            for u in uses(fn, (alone,), array):
                yield Use(u.load, u.clamps, inner, path)


def _without_target(s: Stmt) -> tuple[Stmt, ...]:
    return (replace(s, target=Var("_"), op=""),) if isinstance(s, Assign) else (s,)


def _changes(body: tuple[Stmt, ...], array: str) -> bool:
    """Whether elements are read to be changed (`+=`)."""
    return any(isinstance(s, Assign) and s.op and array in writes((s,)) for _, s in walk(body))


def _certain(site: LoopSite, array: str, found: Box) -> set[tuple[int, ...]]:
    """The elements of the box that every iteration writes: under loops of a fixed number of
    iterations, and no condition."""
    out = set[tuple[int, ...]]()
    for inner, s in _unconditional(site.loop.body, ()):
        if isinstance(s.target, Load) and s.target.array == array:
            ends = zip(s.target.index, found.lows, found.sizes)
            index = [to_expr(poly(e) - low) for e, low, n in ends if n is not None]
            for values in product(*(trips for _, trips in inner)):
                at: dict[str, Expr] = {x.var: _at(x, n) for (x, _), n in zip(inner, values)}
                place = [poly(substitute(e, at)).value for e in index]
                out |= set() if None in place else {tuple(int(n) for n in place if n is not None)}
    return out


def _at(loop: For, n: int) -> Bin:
    """The value of a loop's variable in iteration n."""
    return Bin("+", loop.lo, Bin("*", Const(n), loop.step))


Inner = tuple[tuple[For, range], ...]
"""Loops around a statement, with the numbers of their iterations."""


def _unconditional(body: tuple[Stmt, ...], inner: Inner) -> Iterator[tuple[Inner, Assign]]:
    for s in body:
        if isinstance(s, Assign):
            yield inner, s
        elif isinstance(s, For):
            fixed = fixed_trips(s)
            count = fixed[0].value if fixed is not None and not fixed[1] else None
            if count is not None:
                yield from _unconditional(s.body, (*inner, (s, range(count))))
