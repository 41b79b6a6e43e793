"""Whole numbers of programs, against what they are for random sizes and iterations."""

from __future__ import annotations

import random
from itertools import product as pairs
from math import prod

import islpy as isl
import pytest

from loopxform.validate.polynomials import (
    ONE,
    Plain,
    Polynomial,
    added,
    extents_of,
    merged,
    multiplied,
    plain,
    product,
    quotient,
    split,
)
from loopxform.validate.unmodelled import Unmodelled

NAMES = ("m", "n", "p")
DIMS = 2
Sizes = dict[str, int]


def affine(constant: int, *coefficients: int, **parameters: int) -> Polynomial:
    """Of the iterations i0, i1 and the parameters."""
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, len(NAMES), DIMS)
    for at, name in enumerate(NAMES):
        space = space.set_dim_name(isl.dim_type.param, at, name)
    value = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space)) + constant
    for at, c in enumerate(coefficients):
        value = value.set_coefficient_val(isl.dim_type.in_, at, isl.Val(c))
    for name, c in parameters.items():
        value = value.set_coefficient_val(isl.dim_type.param, NAMES.index(name), isl.Val(c))
    return Polynomial.of(isl.PwAff.from_aff(value))


def number(p: isl.PwAff, sizes: Sizes, at: tuple[int, ...]) -> int:
    cells = isl.Map.from_pw_aff(p)
    for name, size in sizes.items():
        place = cells.find_dim_by_name(isl.dim_type.param, name)
        cells = cells.fix_val(isl.dim_type.param, place, isl.Val(size))
    for d, i in enumerate(at):
        cells = cells.fix_val(isl.dim_type.in_, d, isl.Val(i))
    point = cells.range().sample_point()
    return int(point.get_coordinate_val(isl.dim_type.set, 0).to_python())


def value(p: Polynomial, sizes: Sizes, at: tuple[int, ...]) -> int:
    return sum(number(v, sizes, at) * prod(sizes[x] for x in m) for m, v in p.terms.items())


def plain_value(p: Plain, sizes: Sizes) -> int:
    return sum(c * prod(sizes[x] for x in m) for m, c in p.items())


def random_plain(r: random.Random) -> Plain:
    """Of one or two terms, with a product of parameters in it more often than not."""
    terms: Plain = {}
    for _ in range(r.randint(1, 2)):
        names = tuple(sorted(r.sample(NAMES, r.choice((0, 1, 1, 2)))))
        terms[names] = terms.get(names, 0) + r.choice((1, 2, 3, -1))
    return {m: c for m, c in terms.items() if c} or {("n",): 1}


def random_affine(r: random.Random) -> Polynomial:
    parameters = {name: r.randint(-2, 2) for name in NAMES}
    return affine(r.randint(-3, 3), r.randint(-2, 2), r.randint(-2, 2), **parameters)


def random_sizes(r: random.Random) -> Sizes:
    return {name: r.randint(2, 9) for name in NAMES}


@pytest.mark.parametrize("seed", range(12))
def test_arithmetic_is_that_of_numbers(seed: int) -> None:
    r = random.Random(seed)
    sizes, at = random_sizes(r), (r.randint(0, 5), r.randint(0, 5))
    x, y, factor = random_affine(r), random_affine(r), random_affine(r)
    sizes_alone = multiplied(affine(0, **{r.choice(NAMES): 1}), affine(r.randint(1, 3), p=1))
    sign = r.choice((1, -1))
    total = added(multiplied(x, sizes_alone), y, sign)
    a, b, c, s = (value(v, sizes, at) for v in (x, y, factor, sizes_alone))
    assert value(total, sizes, at) == a * s + sign * b
    assert value(added(x, factor), sizes, at) == a + c
    known = plain(sizes_alone)
    assert known is not None
    assert plain_value(known, sizes) == s


def test_products_of_numbers_that_vary_are_not_modelled() -> None:
    with pytest.raises(Unmodelled, match="a product of two numbers that vary"):
        multiplied(affine(0, 1), affine(1, 0, 1))
    assert plain(affine(0, 1)) is None
    assert affine(4).constant == 4
    assert affine(4, 1).constant is None


@pytest.mark.parametrize("seed", range(20))
def test_quotients_undo_products(seed: int) -> None:
    r = random.Random(seed)
    sizes, a, b = random_sizes(r), random_plain(r), random_plain(r)
    both = product(a, b)
    assert plain_value(both, sizes) == plain_value(a, sizes) * plain_value(b, sizes)
    if both:
        assert quotient(both, b) == a
    odd = product(both, {ONE: 2})
    odd[ONE] = odd.get(ONE, 0) + 1
    assert (quotient(odd, b) is None) == (b not in ({ONE: 1}, {ONE: -1}))


M, N, LONGER = {("m",): 1}, {("n",): 1}, {("n",): 1, ONE: 3}


@pytest.mark.parametrize("inner", [(), (N,), (M, N), (LONGER,), (M, LONGER), ({("m",): 2}, N)])
def test_split_offsets_have_the_subscripts_that_they_were_made_of(inner: tuple[Plain, ...]) -> None:
    r = random.Random(f"{inner}")
    for _ in range(4):
        subscripts = [affine(r.randint(0, 3), *r.sample((0, 1, 2), 2)) for _ in (None, *inner)]
        offset = subscripts[0]
        for extent, subscript in zip(inner, subscripts[1:]):
            size = affine(extent.get(ONE, 0), **{m[0]: c for m, c in extent.items() if m})
            offset = added(multiplied(offset, size), subscript)
        sizes, at = random_sizes(r), (r.randint(0, 5), r.randint(0, 5))
        numbers = [number(p, sizes, at) for p in split(offset, inner)]
        assert numbers == [value(s, sizes, at) for s in subscripts]
        total = numbers[0]
        for extent, n in zip(inner, numbers[1:]):
            total = total * plain_value(extent, sizes) + n
        assert total == value(offset, sizes, at)


def test_offsets_that_rows_do_not_divide_are_not_modelled() -> None:
    n = affine(0, n=1)
    square = multiplied(n, n)
    with pytest.raises(Unmodelled, match="a stride that the array has not"):
        split(multiplied(affine(0, 1), square), ({("m",): 1},))
    with pytest.raises(Unmodelled, match="no multiple of a row"):
        split(multiplied(affine(0, 1), n), ({("n",): 2},))
    with pytest.raises(Unmodelled, match="of which none divides the other"):
        extents_of([{("m", "n"): 1}, {("p",): 1}])


def test_strides_tell_extents() -> None:
    m, n, p = ({(x,): 1} for x in NAMES)
    assert extents_of([product(product(m, n), p), p, product(n, p)]) == (m, n, p)
    assert extents_of([{ONE: 4}, n]) == (n,)


def test_merged_extents_have_as_many_cells() -> None:
    r = random.Random(5)
    for _ in range(20):
        kinds = [r.choice(("n", "m", 2, 3)) for _ in range(r.randint(1, 4))]
        extents: list[Plain] = [{(k,): 1} if isinstance(k, str) else {ONE: k} for k in kinds]
        sizes = random_sizes(r)
        joined = merged(extents)
        before = prod(plain_value(e, sizes) for e in extents)
        assert prod(plain_value(e, sizes) for e in joined if e is not None) == before
        assert not any(set(a) <= {ONE} for a in joined[1:] if a is not None)
    assert merged([None, {ONE: 3}, {("n",): 1}]) == (None, {("n",): 1})


def test_numbers_are_the_same_in_more_dimensions() -> None:
    x = multiplied(affine(1, 2, 3), affine(0, n=1))
    more = x.lifted(DIMS + 1)
    for at in pairs(range(3), repeat=DIMS + 1):
        assert value(more, {"n": 7, "m": 1, "p": 1}, at) == (1 + 2 * at[0] + 3 * at[1]) * 7
