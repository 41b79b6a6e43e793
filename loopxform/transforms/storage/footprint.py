"""The box of an array that a piece of a nest reads: where it starts, how many elements it has.

Boxes start at an expression of the loops around the piece and have a size made of tile sizes only
(seed 000, section 2.2.2: `A[iii : iii + Ty*Ry, kk : kk + Tk]`).
"""

from __future__ import annotations

from loopxform.ir.affine import Poly, constant, poly, to_expr
from loopxform.ir.nodes import Expr, For, Load, Stmt, Var
from loopxform.ir.visit import Path, loads, stmt_exprs, walk
from loopxform.records import record
from loopxform.transforms.edges.bounds import span


@record
class Box:
    """Per dimension of the array: the first index, and the number of indices (None: just one)."""

    lows: tuple[Poly, ...]
    sizes: tuple[Poly | None, ...]

    @property
    def rank(self) -> int:
        """Dimensions that span more than one element."""
        return sum(s is not None for s in self.sizes)


@record
class Use:
    """A read of the array, where it stands in the piece, and the loops of the piece around it,
    outermost first."""

    load: Load
    inner: tuple[For, ...]
    path: Path = ()


def uses(body: tuple[Stmt, ...], array: str) -> tuple[Use, ...]:
    """Every read of `array` in `body`, targets of assignments left out."""
    out = []
    for path, s in walk(body):
        exprs = stmt_exprs(s)
        for e in exprs:
            out += [Use(x, _inner(body, path), path) for x in loads(e) if x.array == array]
    return tuple(out)


def _inner(body: tuple[Stmt, ...], path: tuple[int, ...]) -> tuple[For, ...]:
    """Loops of `body` strictly around the statement at `path`."""
    found = [(p, s) for p, s in walk(body) if isinstance(s, For)]
    return tuple(s for p, s in found if len(p) < len(path) and path[: len(p)] == p)


def box(found: tuple[Use, ...]) -> Box | None:
    """The smallest box around all uses, None where a start or a size is not fixed.

    A dimension whose index does not vary over the inner loops is a single index, unless uses
    differ in it by constants (then it spans them).
    """
    lows: list[Poly] = []
    sizes: list[Poly | None] = []
    for dim in range(len(found[0].load.index)):
        spans = [span(poly(u.load.index[dim]), u.inner) for u in found]
        union = _union([s for s in spans if s is not None])
        if union is None or any(s is None for s in spans):
            return None
        lows.append(union[0])
        sizes.append(None if union[1] == constant(1) and not _varies(found, dim) else union[1])
    return Box(tuple(lows), tuple(sizes))


def boxes(found: tuple[Use, ...]) -> tuple[tuple[tuple[Use, ...], Box], ...]:
    """The uses in text order, those together that one box holds: `A[i, k]` and `A[j, k]` are two,
    `A[i-1, j]` and `A[i+1, j]` are one. Uses without a box are left out."""
    groups: list[tuple[Use, ...]] = []
    for use in found:
        if box((use,)) is None:
            continue
        home = next((n for n, g in enumerate(groups) if box((*g, use)) is not None), None)
        if home is None:
            groups.append((use,))
        else:
            groups[home] = (*groups[home], use)
    return tuple((g, b) for g in groups if (b := box(g)) is not None)


def _varies(found: tuple[Use, ...], dim: int) -> bool:
    """Whether the index depends on an inner loop (which may have a single iteration)."""
    return any(poly(u.load.index[dim]).mentions(x.var) for u in found for x in u.inner)


def _union(spans: list[tuple[Poly, Poly]]) -> tuple[Poly, Poly] | None:
    """One interval over several that start a fixed distance apart."""
    if not spans:
        return None
    low, size = spans[0]
    for other_low, other_size in spans[1:]:
        gap = (other_low - low).value
        end_gap = (other_low + other_size - low - size).value
        if gap is None or end_gap is None:
            return None
        end = other_low + other_size if end_gap > 0 else low + size
        low = other_low if gap < 0 else low
        size = end - low
    return low, size


def relative(load: Load, target: str, found: Box) -> Load | Var:
    """The element of the copy that stands for `load`; a copy of one element is a scalar."""
    index: list[Expr] = []
    for e, low, size in zip(load.index, found.lows, found.sizes):
        if size is not None:
            index.append(to_expr(poly(e) - low))
    if not index:
        return Var(target, origin=load.origin)
    return Load(target, tuple(index), origin=load.origin)
