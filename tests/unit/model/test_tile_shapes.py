"""Which shape of tiles is the quickest: what the host asks is what the plan computes."""

from __future__ import annotations

from itertools import product

import pytest

from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Expr, Var
from loopxform.ir.types import INT
from loopxform.ir.visit import walk_expr
from loopxform.model.tile_shapes import MOST_BITS, MOST_TIME, Shape, least, quickest

TRIPS = (Var("M"), Var("N"))
TYPES = {"M": INT, "N": INT}


def guards(shapes: list[Shape], units: int) -> list[tuple[Expr, ...]]:
    """Of the last shape first, as the host asks them."""
    return [least(s, shapes[:n], TRIPS, units, TYPES) for n, s in [*enumerate(shapes)][:0:-1]]


def taken(shapes: list[Shape], units: int, scalars: dict[str, int]) -> int:
    """The number of the shape that runs."""
    for n, guard in zip(range(len(shapes) - 1, 0, -1), guards(shapes, units)):
        if all(evaluate(e, scalars) for e in guard):
            return n
    return 0


@pytest.mark.parametrize("units", [1, 4, 7])
@pytest.mark.parametrize("smaller", [((4, 8), (4, 4), (2, 4)), ((6, 4), (3, 8), (4, 3))])
def test_the_guards_are_those_of_the_plan(units: int, smaller: tuple[tuple[int, int], ...]) -> None:
    times: tuple[tuple[int, ...], ...] = ((1000, 90), (508, 180), (300,), (203, 65))
    shapes = [Shape(x, *t) for x, t in zip(((8, 8), *smaller), times)]
    seen = set()
    for m, n in product((0, 1, 3, 4, 8, 9, 17, 33, 80, 200), (0, 1, 4, 5, 17, 64, 100)):
        number = taken(shapes, units, {"M": m, "N": n})
        times_taken = [s.taken([m, n], units) for s in shapes]
        assert times_taken[number] == min(times_taken), (m, n, number, times_taken)
        assert times_taken[quickest(shapes, [m, n], units)] == min(times_taken)
        seen.add(number)
    assert len(seen) > 1


@pytest.mark.parametrize("between", [(), (Shape((8, 2), 700),)])
def test_large_sizes_are_not_counted(between: tuple[Shape, ...]) -> None:
    """No product is computed that could overflow: there are many tiles then."""
    large, small = Shape((8, 8), MOST_TIME, MOST_TIME), Shape((4, 4), MOST_TIME // 4)
    shapes, most = [large, *between, small], 2**31 - 1
    edge, narrow = 4 * 2 ** (MOST_BITS // 2) - 1, 2 * 2 ** (MOST_BITS // 2) - 1
    few = ((most, 1), (1, most), (most, most), (most - 3, 7), (edge, edge), (edge, narrow))
    for m, n in (*few, (-most, -most), (-most, 1), (1, -most), (-most, most)):
        for guard in guards(shapes, 1):
            assert largest(guard, {"M": m, "N": n}) <= most, (m, n)


def largest(guard: tuple[Expr, ...], scalars: dict[str, int]) -> int:
    """The largest number that C computes, either way: nothing to the right of what is false."""
    most = 0
    for e in guard:
        assert not isinstance(e, Bin) or e.op not in ("&&", "||")
        most = max([most, *(abs(evaluate(x, scalars)) for x in walk_expr(e))])
        if not evaluate(e, scalars):
            break
    return most
