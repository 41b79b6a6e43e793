"""Random arguments for a function, the same for the same seed.

Floats lie in [0.5, 1.5), so that sums of products stay well scaled and roots, logarithms and
divisions are defined; with `signed` half of them are negative. Integers are non-zero and small.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from loopxform.errors import InputError
from loopxform.ir.nodes import Function, Param
from loopxform.ir.types import Scalar
from loopxform.runtime.structs import packed
from loopxform.verify.interp import evaluate
from loopxform.verify.ranges import Interval
from loopxform.verify.sizes import require_memory
from loopxform.verify.subscripts import needs
from loopxform.verify.values import FLOATS, Values, draw

_Array = np.ndarray[Any, Any]

COPIES = 4
"""Of every array: as drawn, given, expected, computed."""


def make_inputs(
    fn: Function,
    sizes: Mapping[str, int | float],
    seed: int,
    *,
    shapes: Mapping[str, int] | None = None,
    values: Mapping[str, Values] | None = None,
    signed: bool = False,
    nonzero: bool = True,
) -> dict[str, Any]:
    """Every parameter and global of `fn` by name, structs as one array of them, fit for
    `interp.run` and `cref.Library.run`.

    `sizes` gives the integer scalars (and any other scalar that should not be random); `shapes`
    the first extent of arrays whose declaration leaves it open. Integer elements are drawn from
    -9..-1 and 1..9 (1..9 where unsigned; 0 too unless `nonzero`), those that decide subscripts so
    that every access is inside its array, those of the arrays in `values` as that says. Scalar
    globals become 0-d arrays, so that their final value can be seen. An array draws from a stream
    of its own, whatever else the function takes. Raises InputError where a size is missing,
    UsageError as `needs` does.
    """
    args: dict[str, Any] = {}
    for p in fn.objects:
        if not p.shape:
            value = _scalar(p, sizes, _stream(seed, p.name), signed)
            args[p.name] = np.array(value, p.type.numpy) if p.is_global else value
    extents = {p.name: extents_of(p, fn, args, shapes or {}) for p in fn.objects if p.shape}
    require_memory(fn, extents, COPIES)
    given = dict(values or {})
    floats = Interval(-FLOATS.high, FLOATS.high) if signed else FLOATS
    wanted = needs(fn, _numbers(fn, args), extents, given, floats) | given
    for p in fn.objects:
        if p.shape:
            rng = _stream(seed, p.name)
            if p.name in wanted:
                args[p.name] = _within(p, extents[p.name], rng, wanted[p.name])
            else:
                args[p.name] = _draw(p.type, extents[p.name], rng, signed, nonzero)
    for p in fn.objects:
        if p.tests:
            del args[p.name]  # the array is there
    return packed(fn, args) if fn.structs else args


def _numbers(fn: Function, args: Mapping[str, Any]) -> dict[str, int | float]:
    """The scalars, by name."""
    return {p.name: _number(args[p.name]) for p in fn.objects if not p.shape}


def _within(p: Param, extents: tuple[int, ...], rng: np.random.Generator, values: Values) -> _Array:
    if 0 in extents:
        return np.zeros(extents, p.type.numpy)
    if values.within.low <= values.within.high:
        return draw(p.type, extents, rng, values)
    raise InputError(
        f"no element of {p.name} keeps a subscript inside its array",
        loc=p.origin.loc,
        code="LX065",
        help="give other sizes",
    )


def extents_of(
    p: Param, fn: Function, args: Mapping[str, Any], shapes: Mapping[str, int]
) -> tuple[int, ...]:
    """The extents of an array for given scalars. Raises InputError where the first is open."""
    scalars = {q.name: (q.type, _number(args[q.name])) for q in fn.objects if q.name in args}
    scalars = {q.name: scalars[q.name] for q in fn.objects if not q.shape}
    out = []
    for d in p.shape:
        if d is not None:
            out.append(int(evaluate(d, scalars)))
        elif p.name in shapes:
            out.append(shapes[p.name])
        else:
            raise InputError(
                f"the declaration of {p.name} does not say how many rows it has",
                loc=p.origin.loc,
                code="LX054",
                help=f"give the first extent of {p.name}",
            )
    if any(n < 0 for n in out):
        raise InputError(
            f"{p.name} would have the negative extents {out}",
            code="LX054",
            help="give sizes of 0 or more",
        )
    return tuple(out)


def _number(value: Any) -> int | float:
    number: int | float = value.item() if isinstance(value, np.ndarray | np.generic) else value
    return number


def _stream(seed: int, name: str) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([seed, zlib.crc32(name.encode())]))


def _scalar(
    p: Param, sizes: Mapping[str, int | float], rng: np.random.Generator, signed: bool
) -> int | float:
    if p.tests:
        return 1
    if p.name in sizes:
        return sizes[p.name]
    if p.type.is_integer:
        raise InputError(
            f"no value is given for {p.type} {p.name}",
            loc=p.origin.loc,
            code="LX054",
            help=f"give one, for example {p.name}=64",
        )
    return _number(_draw(p.type, (), rng, signed, True))


def _draw(
    t: Scalar, shape: tuple[int, ...], rng: np.random.Generator, signed: bool, nonzero: bool
) -> _Array:
    values: _Array
    if t.is_float:
        values = rng.uniform(FLOATS.low, FLOATS.high, shape)
        if signed:
            values = values * rng.choice([-1.0, 1.0], shape)
    elif t.kind == "bool":
        values = rng.integers(0, 2, shape)
    else:
        values = rng.integers(1, 10, shape)
        if not t.is_unsigned:
            values = values * rng.choice([-1, 1], shape)
        if not nonzero:
            values = np.where(rng.random(shape) < 0.1, 0, values)
    return np.ascontiguousarray(np.asarray(values).astype(t.numpy)).reshape(shape)
