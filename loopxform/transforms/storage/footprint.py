"""The box of an array that a piece of a nest reads: where it starts, how many elements it has.

Boxes start at an expression of the loops around the piece and have a size made of tile sizes only
(Cholewa-Madsen and Holst, section 2.2.2: `A[iii : iii + Ty*Ry, kk : kk + Tk]`).
"""

from __future__ import annotations

from collections.abc import Iterable

from loopxform.analysis.clamped import subscript
from loopxform.ir.affine import Poly, constant, poly, to_expr
from loopxform.ir.clamps import Clamped
from loopxform.ir.nodes import Expr, For, Function, Load, Stmt, Var
from loopxform.ir.visit import Path, loads, stmt_exprs, walk
from loopxform.records import record
from loopxform.source import Origin
from loopxform.transforms.edges.bounds import span


@record
class Box:
    """Per dimension of the array: the first index, and the number of indices (None: just one), and
    where the program clamps them (`floors`, `lasts`; None: it does not)."""

    lows: tuple[Poly, ...]
    sizes: tuple[Poly | None, ...]
    floors: tuple[Expr | None, ...]
    lasts: tuple[Expr | None, ...]

    @property
    def rank(self) -> int:
        """Dimensions that span more than one element."""
        return sum(s is not None for s in self.sizes)


@record
class Use:
    """A read of the array, its subscripts and where these are clamped, where it stands in the
    piece, and the loops of the piece around it, outermost first."""

    load: Load
    clamps: tuple[Clamped, ...]
    inner: tuple[For, ...]
    path: Path = ()

    @property
    def index(self) -> tuple[Expr, ...]:
        """The subscripts as they would be if they were not clamped."""
        return tuple(c.index for c in self.clamps)


def uses(fn: Function, body: tuple[Stmt, ...], array: str) -> tuple[Use, ...]:
    """Every read of `array` in `body`, a part of `fn`, targets of assignments left out."""
    out = []
    for path, s in walk(body):
        exprs = stmt_exprs(s)
        for e in exprs:
            for x in (x for x in loads(e) if x.array == array):
                clamps = tuple(subscript(fn, i) for i in x.index)
                out.append(Use(x, clamps, _inner(body, path), path))
    return tuple(out)


def _inner(body: tuple[Stmt, ...], path: tuple[int, ...]) -> tuple[For, ...]:
    """Loops of `body` strictly around the statement at `path`."""
    found = [(p, s) for p, s in walk(body) if isinstance(s, For)]
    return tuple(s for p, s in found if len(p) < len(path) and path[: len(p)] == p)


def box(found: tuple[Use, ...]) -> Box | None:
    """The smallest box around all uses, None where a start or a size is not fixed, or where they
    are clamped at different places.

    A dimension whose index does not vary over the inner loops is a single index, unless uses
    differ in it by constants (then it spans them).
    """
    lows: list[Poly] = []
    sizes: list[Poly | None] = []
    floors: list[Expr | None] = []
    lasts: list[Expr | None] = []
    for dim in range(len(found[0].index)):
        ends = [_alike(getattr(u.clamps[dim], end) for u in found) for end in ("floor", "last")]
        spans = [span(poly(u.index[dim]), u.inner) for u in found]
        union = _union([s for s in spans if s is not None])
        if union is None or any(s is None for s in spans) or any(len(e) > 1 for e in ends):
            return None
        lows.append(union[0])
        sizes.append(None if union[1] == constant(1) and not _varies(found, dim) else union[1])
        floors.append(next(iter(ends[0]), None))
        lasts.append(next(iter(ends[1]), None))
    return Box(tuple(lows), tuple(sizes), tuple(floors), tuple(lasts))


def _alike(ends: Iterable[Expr | None]) -> list[Expr]:
    """The different ones among the ends there are."""
    return list({poly(e): e for e in ends if e is not None}.values())


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
    return any(poly(u.index[dim]).mentions(x.var) for u in found for x in u.inner)


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


def relative(use: Use, target: str, found: Box, origin: Origin) -> Load | Var:
    """The element of the copy that stands for a read; a copy of one element is a scalar."""
    index: list[Expr] = []
    for e, low, size in zip(use.index, found.lows, found.sizes):
        if size is not None:
            index.append(to_expr(poly(e) - low))
    if not index:
        return Var(target, origin=origin)
    return Load(target, tuple(index), origin=origin)
