"""Arrays of an iteration in a fixed size, for local memory:

   forall i < n: { t[m]; ... x[i, j] ... }
-> where m <= C, forall i < n: { t[C]; x_row[C]; ... x_row[j] ... }
"""

from __future__ import annotations

from collections.abc import Iterable

from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Bin, Const, Decl, Expr
from loopxform.ir.types import INT_MAX
from loopxform.ir.visit import declared, names, walk, writes
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.buffered_slices import with_slices
from loopxform.recipes.deriving import Work
from loopxform.records import record
from loopxform.transforms import Assume, BoundExtent
from loopxform.transforms.storage.bound_extent import possible_values


@record
class BoundedArrays:
    """A nest with arrays of fixed sizes in its iterations, `buffers` of slices among them, and the
    conditions under which these do."""

    nest: Nest
    buffers: frozenset[str]
    fits: tuple[Expr, ...]


def bounded_arrays(
    nest: Nest, room: int, *, rows: bool, multiple: int = 1, least: int = 1
) -> BoundedArrays | None:
    """Slices that an iteration uses again, or `rows` alone, get buffers, which are arrays of the
    iteration, and these a fixed size where their extents are parameters, of at most so many bytes
    together, an element `least` bytes: a `multiple` of elements along the only dimension."""
    sliced, taken = with_slices(nest, room, rows=rows)
    arrays = [s for _, s in walk(sliced.innermost.body) if isinstance(s, Decl) and _is_open(s)]
    known = frozenset(p.name for p in nest.function.objects if not p.array)
    fixed = known - writes(nest.function.body)
    if sliced is nest and not arrays:
        return None
    if not all(names(e) <= fixed for d in arrays for e in d.shape):
        return None
    w = Work(sliced.derivation.titled("Arrays of a fixed size"), {})
    fits = dict[str, Expr]()
    for decl in arrays:
        most = _most(decl, (room - taken) // len(arrays), least)
        most -= most % multiple
        for e in (x for d in decl.shape for x in possible_values(d) if value_of(x) is None):
            asked = Bin("<=", e, Const(most))
            fits[condition_text(asked)] = asked
        sizes = tuple(str(value_of(e) or most) for e in decl.shape)
        assumed = [Assume(t) for t in fits]
        if most < 1 or not w.attempt(*assumed, BoundExtent(decl.name, sizes)):
            return None
    buffers = declared(sliced.innermost.body).keys() - declared(nest.innermost.body).keys()
    return BoundedArrays(nest.of(w.derivation), frozenset(buffers), tuple(fits.values()))


def longest(fits: Iterable[Expr]) -> int:
    """The most elements along a dimension of which conditions say that an array fits."""
    return min((value_of(e.right) or 0 for e in fits if isinstance(e, Bin)), default=INT_MAX - 1)


def _is_open(decl: Decl) -> bool:
    return any(value_of(e) is None for e in decl.shape)


def _most(decl: Decl, share: int, least: int) -> int:
    """How large the open dimensions of an array may be that has its share of the bytes."""
    count = share // max(decl.type.bytes, least)
    for e in decl.shape:
        count //= value_of(e) or 1
    rank = sum(value_of(e) is None for e in decl.shape)
    most = int(count ** (1 / rank))
    return most + 1 if (most + 1) ** rank <= count else most
