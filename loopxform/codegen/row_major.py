"""The place of an element in memory, whose arrays lie there row by row."""

from __future__ import annotations

from loopxform.ir.nodes import Bin, Expr


def row_major(
    index: tuple[Expr, ...], shape: tuple[Expr | None, ...]
) -> tuple[tuple[Expr, ...], tuple[tuple[Expr, ...], ...]]:
    """Subscripts by which offsets are computed, and the length of the rows of each but the first,
    as factors: A[x/n][x%n] of rows of n elements is A[x] (loops that step `coalesce` made one)."""
    places, rows = [index[0]], list[tuple[Expr, ...]]()
    for i, extent in zip(index[1:], shape[1:]):
        assert extent is not None, "inner dimensions are always known"
        match places[-1], i:
            case Bin("/", x, n), Bin("%", y, m) if x == y and n == m == extent:
                places[-1] = x
                rows[-1:] = [(*r, extent) for r in rows[-1:]]
            case _:
                places.append(i)
                rows.append((extent,))
    return tuple(places), tuple(rows)
