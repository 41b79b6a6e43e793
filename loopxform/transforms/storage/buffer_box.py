"""Buffered boxes: for i: { for k < W: A[W*i + k] = e } -> for i: { T A_box[W];
  for k < W: A_box[k] = e;  for q < W: A[W*i + q] = A_box[q]; }

Each iteration of a loop works on a copy of its own of the box of an array that it writes: of one
fixed size, along the last dimension. The box is filled first where the iteration reads the array,
and stored at its end, in a loop that moves nothing else (`store-vectors`). Legal where all uses of
the array in the loop are in the box, and each element of it is written in every iteration for
certain: then all of them exist, and no other iteration that runs meanwhile uses them. (Volkov,
"Better performance at lower occupancy", GTC 2010; `stage_mem` of Exo.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import constant, poly, simplify, to_expr
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
        size = to_expr(self.box.sizes[-1] or constant(1))
        *fixed, low = map(to_expr, self.box.lows)
        slices = (*(Slice(e, None) for e in fixed), Slice(low, size))
        copied = {u.load: relative(u, name, self.box, u.load.origin) for u in self.used}
        counter = fresh(fn, f"{name}_e")
        element = Load(self.array, (*fixed, simplify(Bin("+", low, Var(counter)))))
        last = Assign(element, Load(name, (Var(counter),)), label=f"store_{name}", origin=origin)
        fill = (Copy(name, self.array, slices, False, origin=origin),) if self.filled else ()
        return (
            Decl(name, symbols(fn)[self.array], (size,), Space.PRIVATE, origin=origin),
            *fill,
            *map_exprs(
                self.site.loop.body,
                lambda e: copied.get(e, e) if isinstance(e, Load) else e,
            ),
            For(counter, Const(0), size, Const(1), (last,), origin=origin),
        )


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
    size = None if found is None or found.sizes[-1] is None else found.sizes[-1].value
    if found is None or size is None or found.rank > 1 or not 1 < size <= LARGEST:
        text = f"an iteration of '{site.loop.var}' does not use a row of '{array}' of fixed size"
        return Obstacle("LX162", text, remedy="stripmine the loops its subscripts use")
    if any(f is not None for f in (*found.floors, *found.lasts)):
        return Obstacle("LX162", f"subscripts of '{array}' are clamped")
    moving = writes(body) | declared(body).keys()
    if {n for u in (*reads, *written) for e in u.index for n in names(e)} & moving:
        return Obstacle("LX162", f"the loop computes subscripts of '{array}'")
    if _certain(site, array, found) != set(range(size)):
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


def _certain(site: LoopSite, array: str, found: Box) -> set[int]:
    """The elements of the box that every iteration writes: under loops of a fixed number of
    iterations, and no condition."""
    out, low = set[int](), found.lows[-1]
    for inner, s in _unconditional(site.loop.body, ()):
        if isinstance(s.target, Load) and s.target.array == array:
            index = poly(s.target.index[-1]) - low
            for values in product(*(trips for _, trips in inner)):
                at: dict[str, Expr] = {x.var: _at(x, n) for (x, _), n in zip(inner, values)}
                place = poly(substitute(to_expr(index), at)).value
                out |= set() if place is None else {place}
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
