"""Vector stores: for j: if (jj + j < N) C[i, jj+j] = e -> W neighbours of C at once.

    if (jj < N) *(float4 *)&C[i][jj] = (float4)(e(0), e(1), e(2), e(3));

A work-item stores W elements of a row by one instruction, and asks once whether they exist; where
they are changed, it reads them by one as well. Legal where the loop carries no dependence, the
elements begin at a multiple of W in rows that are multiples of W, and so does what the bounds check
compares with: then all W exist, or none does. The listing keeps the order of the program; the loop
is marked. (CLBlast's VWN, for results.)

Where the loop assigns all members of records, numbers of one type, vectors hold them in the order
in which they lie in memory: for j: { p[i + j].x = e(j); p[i + j].y = f(j); p[i + j].z = g(j); }.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.legality import reverse_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, If, Load, Stmt, Var
from loopxform.ir.types import BOOL, HALF, Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, declared, loops_around, names, replace_at, substitute
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjuncts, fixed_trips
from loopxform.transforms.latency.record_stores import RecordStores, record_stores
from loopxform.transforms.latency.vectorise import WIDTHS
from loopxform.transforms.latency.vectors import VECTOR_BYTES, divides, shape_of
from loopxform.transforms.sites import one_loop, trusted


@record
class StoreVectors(Step):
    """Stores `width` neighbours at once in the unrolled `loop`."""

    loop: str
    width: str

    verb: ClassVar[str] = "store-vectors"
    usage: ClassVar[str] = "store-vectors LOOP 2|4|8|16"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if self.width not in WIDTHS:
            return (_no(site, f"no vector has {self.width} elements"),)
        found = next(problems(fn, site, int(self.width)), None)
        if found is None:
            found = next(_places(fn, site, int(self.width)), None)
        if found is not None:
            return (_no(site, found),)
        return reverse_obstacles(fn, site.path)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin = site.loop.origin.then(str(self))
        new = replace(site.loop, stores=int(self.width), origin=origin)
        return replace_at(fn, site.path, (new,))

    def reason(self, fn: Function) -> str:
        loop = trusted(one_loop(fn, self.loop)).loop
        found, members = stored(loop), record_stores(fn.structs, loop)
        if members is not None:
            return f"an iteration assigns all members of {_records(members)}, side by side"
        assert found is not None
        return f"{self.width} elements of {found.target.array} exist together, or none of them"


@record
class Stored:
    """What a loop does that only assigns one element of an array, and the conditions."""

    conditions: tuple[Expr, ...]
    target: Load
    value: Expr


def stored(loop: For) -> Stored | None:
    """What the body of a loop assigns to one element; None where it does anything else."""
    body, conditions = loop.body, list[Expr]()
    while len(body) == 1 and isinstance(body[0], If) and not body[0].orelse:
        conditions += conjuncts(body[0].cond)
        body = body[0].then
    only: Stmt | None = body[0] if len(body) == 1 else None
    if isinstance(only, Assign) and isinstance(only.target, Load):
        value = Bin(only.op, only.target, only.value) if only.op else only.value
        return Stored(tuple(conditions), only.target, value)
    return None


def obstacles(fn: Function, site: LoopSite) -> Iterator[Obstacle]:
    """What later steps made of a loop, where it cannot store vectors any more."""
    yield from (_no(site, text) for text in problems(fn, site, site.loop.stores))


def problems(fn: Function, site: LoopSite, width: int) -> Iterator[str]:
    """Why a loop has no `width` neighbours to store, wherever they lie."""
    loop, found = site.loop, stored(site.loop)
    members = None if found is not None else record_stores(fn.structs, loop)
    fixed = fixed_trips(loop)
    count = None if fixed is None or fixed[1] else fixed[0].value
    around = [x.level.kind for x in loops_around(fn, site.path) if x.level]
    if loop.level is not None or "group" not in around:
        yield "it is not what a work-item does"
    elif not loop.unroll or value_of(loop.lo) != 0 or value_of(loop.step) != 1:
        yield "it is not unrolled, from 0 by 1"
    elif members is not None:
        yield from _members(fn, loop, members, None if count is None else int(count), width)
    elif count is None or count % width:
        yield f"its iterations are no multiple of {width}"
    elif found is None:
        yield "it does more than to assign one element of an array, or all members of records"
    else:
        yield from _elements(fn, site, found.target, width)


def _elements(fn: Function, site: LoopSite, target: Load, width: int) -> Iterator[str]:
    """Why the elements are no vector in global memory."""
    loop, kind = site.loop, symbols(fn)[target.array]
    *slow, last = target.index
    turns = next((x for x in loops_around(fn, site.path) if x.var == loop.dealt), None)
    if not in_memory(fn, target.array) or kind in (BOOL, HALF):
        yield f"'{target.array}' is not an array of its own in global memory, of numbers"
    elif width * kind.bytes > VECTOR_BYTES:
        yield f"{width} elements of '{target.array}' are more than a vector holds"
    elif any(loop.var in names(e) for e in slow) or factor(last, loop.var) != 1:
        yield f"'{loop.var}' does not run along the rows of '{target.array}'"
    elif turns is not None and (turns.level is None or turns.level.cyclic % width):
        yield f"the elements of a work-item are not dealt out {width} at a time"


def _members(
    fn: Function, loop: For, found: RecordStores, count: int | None, width: int
) -> Iterator[str]:
    """Why the records of all iterations are no vectors in memory."""
    kind, what = symbols(fn)[found.first.array], _records(found)
    *slow, last = found.first.index
    if kind in (BOOL, HALF) or loop.dealt:
        yield f"the members of '{what}' are no numbers that a work-item stores in order"
    elif width * kind.bytes > VECTOR_BYTES:
        yield f"{width} members of '{what}' are more than a vector holds"
    elif count is None or count * len(found.values) % width:
        yield f"what it assigns to '{what}' is no multiple of {width} numbers"
    elif any(loop.var in names(e) for e in slow) or factor(last, loop.var) != 1:
        yield f"'{loop.var}' does not run along '{what}'"


def _records(found: RecordStores) -> str:
    """The array of the records."""
    return found.first.array.rpartition(".")[0]


def _places(fn: Function, site: LoopSite, width: int) -> Iterator[str]:
    """Why vectors may begin elsewhere than at multiples of their width, or end past the array."""
    loop, found = site.loop, stored(site.loop)
    members = record_stores(fn.structs, loop)
    if members is not None:
        yield from _begin(fn, site, members, width)
        return
    assert found is not None
    array, last, inside = found.target.array, found.target.index[-1], (*site.path, 0)
    moving = {loop.var, loop.dealt} - {""}
    first = _first(fn, site, last)
    row = shape_of(fn, array)[1:][-1:]
    for e in (first, *(d for d in row if d is not None)):
        if not always(fn, inside, divides(width, e)):
            yield f"'{array}' is not known to have vectors of {width} there"
    for c in found.conditions:
        if not names(c) & moving:
            continue
        end = c.right if isinstance(c, Bin) and c.op == "<" and poly(c.left) == poly(last) else None
        fixed = end is not None and not names(end) & moving
        if end is None or not fixed or not always(fn, inside, divides(width, end)):
            yield f"some of {width} elements may exist alone"


def _begin(fn: Function, site: LoopSite, found: RecordStores, width: int) -> Iterator[str]:
    """Why vectors of members may begin elsewhere than at multiples of their width."""
    row = shape_of(fn, found.first.array)[1:][-1:]
    for e in (_first(fn, site, found.first.index[-1]), *(d for d in row if d is not None)):
        numbers = Bin("*", Const(len(found.values)), e)
        if not always(fn, (*site.path, 0), divides(width, numbers)):
            yield f"'{_records(found)}' is not known to have vectors of {width} there"


def _first(fn: Function, site: LoopSite, last: Expr) -> Expr:
    """A subscript of the first element, less what is a multiple of the vectors for certain."""
    first = substitute(last, {site.loop.var: Const(0)})
    turns = next((x for x in loops_around(fn, site.path) if x.var == site.loop.dealt), None)
    if turns is not None and factor(first, turns.var) == 1:
        first = substitute(first, {turns.var: turns.lo})
    return first


def factor(e: Expr, var: str) -> int | None:
    """The number that a variable is multiplied by, where that is all that is done with it."""
    p = poly(e)
    factor = p.coefficient(var).value
    linear = factor is not None and p.without(var) + p.coefficient(var) * poly(Var(var)) == p
    return factor if linear else None


def in_memory(fn: Function, array: str) -> bool:
    """Whether an array is one of its own in global memory, in its own order."""
    own: Decl | None = declared(fn.body).get(array)
    if own is not None:
        return own.space is Space.GLOBAL and not own.at
    return "." not in array and any(p.name == array and not p.values for p in fn.objects)


def _no(site: LoopSite, why: str) -> Obstacle:
    text = f"the loop over '{site.loop.var}' cannot store vectors: {why}"
    remedy = "let it store single elements"
    return Obstacle("LX189", text, site.loop.origin.loc, remedy=remedy)
