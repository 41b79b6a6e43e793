"""Neighbouring elements for each work-item, moved in vectors, where nothing is used again:

    forall i: { r[i] = rgb[3*i]; g[i] = rgb[3*i + 1]; b[i] = rgb[3*i + 2]; }
 -> forall i_g (a group): forall i_t < Tx: { rgb_reg[3*Rx] = a box of rgb, in vectors;
      for i < Rx (unrolled): { r_box[i] = rgb_reg[3*i]; ... };  r = r_box, in vectors; ... }

Fits nests without loops inside whose accesses are all along the innermost loop, some of them less
than a word of memory, or not of neighbours: the members of records that lie next to each other,
pixels of three colours, complex numbers. A vector asks for the bytes of several of them at a time.
What a work-item stores of such an array is one vector, next to those of its neighbours, or where
that cannot be several within a segment of memory: those further apart are written in parts.
Groups that are cut short move single elements. (Volkov, "Better performance at lower occupancy",
GTC 2010.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import ClassVar

from loopxform.errors import Obstacle, TransformError
from loopxform.ir.affine import Poly, constant, poly, to_expr, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Const, Decl, Expr, For, Function, If, Load, Stmt, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    declared,
    loads,
    perfect_nest,
    reads,
    resolve,
    stmt_exprs,
    substitute,
    walk,
    writes,
)
from loopxform.model.choice import Choice
from loopxform.model.footprint import linear
from loopxform.model.reuse import Dim
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import FAR_APART, ONE_ELEMENT, WHOLE_WORDS, Mapped, Question
from loopxform.recipes.deriving import Work, levels
from loopxform.schedule.params import KINDS, Options, Recipe, Tiles
from loopxform.targets.target import Limits
from loopxform.transforms import (
    BufferBox,
    CopyToPrivate,
    Fuse,
    MapTo,
    Normalise,
    SeparateFullTiles,
    Sequentialise,
    StoreVectors,
    Stripmine,
    Unroll,
    Vectorise,
)
from loopxform.transforms.latency.record_stores import row_of_members
from loopxform.transforms.latency.store_vectors import in_memory
from loopxform.transforms.latency.vectors import VECTOR_BYTES, shape_of

MOST_APART = 8
"""Elements from one that an iteration uses to that of the next."""


class Vectors:
    name: ClassVar[Recipe] = "vectors"

    def match(self, question: Question) -> Choice | str:
        nest, limits = question.facts.nest, question.limits
        if limits.vector or (limits.vector_width < 2 and not question.asked):
            return ONE_ELEMENT
        x = nest.parallel[-1]
        found = _accesses(nest, x)
        if not found:
            return FAR_APART
        size = _sizes(nest, found)
        narrow = any(n < limits.costs.word for n in size.values())
        if not question.asked and not narrow and set(found.values()) == {1}:
            return WHOLE_WORDS
        widest = VECTOR_BYTES // max(size.values())
        if not question.asked and not all(_has_vectors(nest.function, a, widest) for a in found):
            return FAR_APART
        most, fits = _elements_each(nest, found, limits)
        if not question.asked and not fits and any(_members(nest.function, a) for a in found):
            return FAR_APART
        return Choice(self.name, (Dim(x, "Tx"),), x, group=("Rx",), tiles=_tiles(most))

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        del options, limits  # vectors are as wide as they can be
        *others, x = nest.parallel
        apart = _accesses(nest, x) or {}
        group, item = levels(w.fn, Dim(x, "Tx")).group, fresh(w.fn, f"{x}_v")
        w.stage("Neighbouring elements for each work-item")
        w.do(Stripmine(x, w.size("Tx", "Rx"), group), Stripmine(x, w.size("Rx"), item))
        w.do(Sequentialise(x))
        w.stage("Mapping to groups and work-items")
        on_grid = [*others[-2:], group]
        w.do(*(Sequentialise(v) for v in others[:-2]))
        w.do(*(MapTo(v, f"group.{axis}") for v, axis in zip(on_grid, "zyx"[-len(on_grid) :])))
        w.do(MapTo(item, "thread.x"), SeparateFullTiles(group))
        w.do(Normalise(f"{x}*"))
        w.stage("Vectors")
        written = set(_stored(nest, dict.fromkeys(apart, 2)))
        moved = {array: _boxed(w, array, f"{item}#1") for array in sorted(apart)}
        apart_in_memory = next((a for a, done in moved.items() if a in written and not done), "")
        if apart_in_memory or not any(moved.values()):
            what = f"'{apart_in_memory}'" if apart_in_memory else "any array"
            text = f"what a work-item has of {what} is no row of vectors"
            where = nest.innermost.origin.loc
            raise TransformError("vectorise", (Obstacle("LX175", text, where),))
        w.attempt(Unroll(f"{x}#1"))
        for _, s in walk(nest.innermost.body):
            if isinstance(s, For):
                w.attempt(Unroll(f"{s.var}#1"))
        return Mapped(choice, group=group)


def elements_each(nest: Nest, limits: Limits) -> int:
    """How many neighbouring elements a work-item has; 1 where it would have no vectors."""
    found = _accesses(nest, nest.parallel[-1])
    return _elements_each(nest, found, limits)[0] if found else 1


def _elements_each(nest: Nest, apart: dict[str, int], limits: Limits) -> tuple[int, bool]:
    """How many a work-item has, and whether what it stores of an array, if several elements an
    iteration, is one vector, or within a segment."""
    size = _sizes(nest, apart)
    most = VECTOR_BYTES // max(size.values())
    stored = max((size[a] * apart[a] for a in _stored(nest, apart)), default=1)
    room = VECTOR_BYTES if VECTOR_BYTES % stored == 0 else limits.costs.segment
    while most > 2 and most * stored > room:
        most //= 2
    return most, most * stored <= room


def _sizes(nest: Nest, apart: dict[str, int]) -> dict[str, int]:
    """The bytes of an element of each array."""
    types = symbols(nest.function)
    return {a: types[_element(nest.function, a)].bytes for a in apart}


def _stored(nest: Nest, apart: dict[str, int]) -> Iterator[str]:
    """The arrays that an iteration writes, of which the next one has elements further apart."""
    written = writes(nest.innermost.body)
    return (a for a, n in apart.items() if n > 1 and _element(nest.function, a) in written)


def _members(fn: Function, array: str) -> tuple[str, ...]:
    """The arrays of the members of records that are a row of numbers; () for what is none."""
    owner = next((s for s in fn.structs if s.name == array), None)
    return () if owner is None else tuple(f"{array}.{m}" for m in row_of_members(owner))


def _element(fn: Function, array: str) -> str:
    """An array whose elements have the type of those of `array`, which may be one of records."""
    return next(iter(_members(fn, array)), array)


def _has_vectors(fn: Function, array: str, width: int) -> bool:
    """Whether rows of an array are vectors of that width, as far as numbers say so."""
    *_, row = shape = shape_of(fn, _element(fn, array))
    return len(shape) == 1 or (row is not None and (value_of(row) or 1) % width == 0)


def _tiles(most: int) -> Tiles:
    return replace(KINDS["vectors"].tiles, Rx=most)


def _boxed(w: Work, array: str, item: str) -> bool:
    """Has work-items move what they have of an array in vectors, where that lies in memory as
    some."""
    if members := _members(w.fn, array):
        return _stored_together(w, members, item)
    most, before = VECTOR_BYTES // symbols(w.fn)[array].bytes, w.derivation
    (site,) = resolve(w.fn, item)
    name = fresh(w.fn, f"{array}_reg")
    written = array in writes(site.loop.body)
    if not w.attempt((BufferBox if written else CopyToPrivate)(array, item, name)):
        return False
    filled = _widest(w, Vectorise, name, most)
    if not written:
        stored = True
    else:
        counter = f"{name}_e"
        w.do(Unroll(counter))
        w.attempt(Unroll(f"{name}_r"))  # where it has several rows
        stored = _widest(w, StoreVectors, counter, most)
    if not stored or not (filled or written):
        w.derivation = before
        return False
    return True


def _stored_together(w: Work, members: tuple[str, ...], item: str) -> bool:
    """Has work-items store records in vectors of their members."""
    most, before = VECTOR_BYTES // symbols(w.fn)[members[0]].bytes, w.derivation
    names = [fresh(w.fn, f"{m.replace('.', '_')}_reg") for m in members]
    first, *others = counters = [f"{name}_e" for name in names]
    boxes = (BufferBox(m, item, name) for m, name in zip(members, names))
    done = w.attempt(*boxes, *(Fuse(first, e) for e in others), Unroll(first))
    if done and _widest(w, StoreVectors, counters[0], most):
        return True
    w.derivation = before
    return False


def _widest(w: Work, step: type[Vectorise] | type[StoreVectors], subject: str, most: int) -> bool:
    """Applies a step for the widest vectors that it is legal for, if any."""
    while most > 1 and not w.attempt(step(subject, str(most))):
        most //= 2
    return most > 1


def _accesses(nest: Nest, x: str) -> dict[str, int]:
    """How many elements of each array an iteration is from the next one; none where that differs,
    or where iterations share elements, or accesses are not along the innermost loop, but for those
    that only data say."""
    body, out = nest.innermost.body, dict[str, int]()
    rows: dict[str, tuple[Poly, ...]] = {}
    chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
    if value_of(chain[-1].lo) != 0 or not is_straight(body):
        return {}
    inner = {s.var: range(value_of(s.hi) or 0) for _, s in walk(body) if isinstance(s, For)}
    for e in _elements(body):
        if e.array in declared(body) or (e.array not in writes(body) and any(_on_data(e))):
            continue
        *slow, last = map(poly, e.index)
        step = linear(last, x)
        if step == 0 and not any(p.mentions(x) for p in slow):
            continue
        if step is None or not 1 <= step <= MOST_APART or any(p.mentions(x) for p in slow):
            return {}
        if not _are_members(last - constant(step) * poly(Var(x)), inner, step):
            return {}
        array, step = _whole(nest.function, e.array, step)
        alike = out.setdefault(array, step), rows.setdefault(array, tuple(slow))
        if not array or alike != (step, tuple(slow)):
            return {}
    return out if all(_is_assigned(nest, a) for a in out) else {}


def is_straight(body: tuple[Stmt, ...]) -> bool:
    """Whether statements have no loops among them but short ones."""
    return all(
        is_short(s) if isinstance(s, For) else isinstance(s, Assign | Decl | If)
        for _, s in walk(body)
    )


def is_short(loop: For) -> bool:
    """Whether a loop runs from 0 to a number, as far as an iteration may be from the next one."""
    from_0 = value_of(loop.lo) == 0 and value_of(loop.step) == 1
    return from_0 and 0 < (value_of(loop.hi) or 0) <= MOST_APART


def _are_members(p: Poly, inner: Mapping[str, range], step: int) -> bool:
    """Whether a number is from 0 on and less than `step` in all iterations of short loops."""
    moving = [v for v in inner if p.mentions(v)]
    for values in product(*(inner[v] for v in moving)):
        at: dict[str, Expr] = {v: Const(n) for v, n in zip(moving, values)}
        member = poly(substitute(to_expr(p), at)).value
        if member is None or not 0 <= member < step:
            return False
    return True


def _whole(fn: Function, array: str, step: int) -> tuple[str, int]:
    """The array that elements lie in, and how far those of iterations are apart there: the records
    of members, where these are a row; "" where it is not one of its own in memory."""
    if in_memory(fn, array):
        return array, step
    records = array.rpartition(".")[0]
    members = _members(fn, records)
    return (records, len(members)) if array in members and step == 1 else ("", step)


def _is_assigned(nest: Nest, array: str) -> bool:
    """Whether records are assigned as a whole, and not read; any other array is as good."""
    members, body = {*_members(nest.function, array)}, nest.innermost.body
    return not members or (members <= writes(body) and not members & reads(body))


def _on_data(e: Load) -> Iterator[bool]:
    """Whether subscripts are elements of arrays."""
    return (True for i in e.index for _ in loads(i))


def _elements(body: tuple[Stmt, ...]) -> Iterator[Load]:
    for _, s in walk(body):
        for e in stmt_exprs(s):
            yield from loads(e)
