"""Which shape of tiles is the quickest: what the host asks is what the plan computes."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.host import control as host_control
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Const, Expr, Var
from loopxform.ir.types import INT, LONG
from loopxform.ir.visit import walk_expr
from loopxform.model.tile_shapes import (
    MOST_BITS,
    MOST_CHUNK_TIME,
    MOST_CHUNKS,
    MOST_TIME,
    Shape,
    least,
    quickest,
)
from loopxform.transforms.edges.bounds import conjunction

TRIPS = (Var("M"), Var("N"))
U = Var("U")
TYPES = {"M": INT, "N": INT}
SEED = 20261125


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


@pytest.mark.parametrize("units", [1, 7, 132])
def test_the_iterations_count(units: int) -> None:
    """With few of them the epilogue decides, with many the time of a tile; what C computes fits a
    long long whatever the sizes are."""
    shapes = [
        Shape((128, 128), 930, 60, 10),
        Shape((64, 128), 500, 130, 200, resident=3),
        Shape((8, 32), 49, 60),
        Shape((64, 64), 249, 188, chunk=1024),
    ]
    types = {**TYPES, "U": INT}
    asked = [least(s, shapes[:n], TRIPS, units, types, U) for n, s in enumerate(shapes) if n]
    seen = set()
    draw = Random(SEED)
    for _ in range(400):
        m, n, u = (round(2 ** draw.uniform(0, 13)) for _ in range(3))
        holding = [all(evaluate(e, {"M": m, "N": n, "U": u}) for e in guard) for guard in asked]
        number = max((n for n, holds in enumerate(holding, 1) if holds), default=0)
        times = [s.taken([m, n], units, u) for s in shapes]
        assert times[number] == min(times), (SEED, m, u, n)
        seen.add(number)
    assert len(seen) == len(shapes)
    for m, n, u in product((-(2**31), -1, 0, 5, 2**31 - 1), repeat=3):
        for guard in asked:
            assert largest(guard, {"M": m, "N": n, "U": u}) < 2**63


def test_the_longest_times_of_chunks_fit_a_long_long() -> None:
    chunk = Shape((1, 1), MOST_CHUNK_TIME, MOST_CHUNK_TIME, chunk=1)
    guard = least(chunk, [Shape((1, 1), MOST_TIME)], TRIPS, 1, {**TYPES, "U": INT}, U)
    for m, n, u in product((1, 1023, 1024, 2**31 - 1), (1, 1023), (1, MOST_CHUNKS - 1, 2**31 - 1)):
        assert largest(guard, {"M": m, "N": n, "U": u}) < 2**63


def test_differences_are_asked_for_in_64_bits() -> None:
    """`hi - lo` may be none that an int holds: 64 bits hold it."""
    trips = [Bin("-", Var("M"), Const(3)), Var("N")]
    terms = Bin("-", U, Const(5))
    shapes = [Shape((8, 8), 900), Shape((4, 4), 300, chunk=64)]
    asked = list(least(shapes[1], shapes[:1], trips, 4, {**TYPES, "U": INT}, terms))
    d = Dialect("c", {"M": INT, "N": INT, "U": INT})
    for e in asked:
        text = host_control.asked(e, d)
        assert ("(long long)M - 3" in text) == ("M - 3" in text)
        assert ("(long long)U - 5" in text) == ("U - 5" in text)


def test_iterations_that_only_a_long_holds_are_asked_for_first() -> None:
    shapes = [Shape((8, 8), 900, 10, 3), Shape((4, 4), 300, 10, 3)]
    guard = least(shapes[1], shapes[:1], TRIPS, 4, {**TYPES, "U": LONG}, U)
    assert evaluate(conjunction(list(guard)), {"M": 4, "N": 4, "U": 2**31 - 1})
    assert not evaluate(conjunction(list(guard)), {"M": 4, "N": 4, "U": 2**31})
