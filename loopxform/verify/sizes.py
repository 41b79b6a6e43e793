"""Numbers for the scalars of a function, as a user gives them: known names, values that exist."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isfinite, prod

from loopxform.errors import InputError, UnsupportedC, UsageError
from loopxform.ir.nodes import Function, Param
from loopxform.nearest import did_you_mean
from loopxform.verify import arith

Number = int | float


def required_sizes(fn: Function) -> tuple[str, ...]:
    """Integer scalars of the function that a run needs numbers for."""
    return tuple(p.name for p in _scalars(fn) if p.type.is_integer)


def checked_sizes(fn: Function, sizes: Mapping[str, Number]) -> dict[str, Number]:
    """The numbers, integers as such. Raises UsageError where one is missing, is for nothing, or is
    no value of its parameter's type, UnsupportedC where only data of the caller's say how much of
    an array is touched."""
    _require_extents(fn)
    scalars = {p.name: p for p in _scalars(fn)}
    known = f"the scalars that can be given are: {', '.join(scalars) or 'none'}"
    for name in sizes:
        if name not in scalars:
            raise UsageError(
                f"'{name}' is not a scalar of {fn.name}",
                code="LX054",
                help=did_you_mean(name, scalars) + known,
            )
    missing = [n for n in required_sizes(fn) if n not in sizes]
    if missing:
        some = dict.fromkeys(missing, 64)
        raise UsageError(
            f"the run needs a number for {', '.join(missing)}",
            code="LX054",
            help="--size " + ",".join(f"{n}={v}" for n, v in {**sizes, **some}.items()),
        )
    tests = {p.name: 1 for p in fn.objects if p.tests}
    return {**{n: _value(scalars[n], v) for n, v in sizes.items()}, **tests}


def _require_extents(fn: Function) -> None:
    for p in (p for p in fn.objects if p.ends):
        raise UnsupportedC(
            f"how much of '{p.ends}' is touched only the data of a caller can tell",
            loc=fn.origin.loc,
            code="LX264",
            help=f"declare how many elements '{p.ends}' has: {p.ends}[n]; or build the written C",
        )


def _scalars(fn: Function) -> list[Param]:
    return [p for p in fn.objects if not p.array and not p.tests]


def _value(p: Param, value: Number) -> Number:
    if p.type.is_float:
        return float(value)
    low, high = arith.bounds(p.type)
    if isfinite(value) and value == int(value) and low <= value <= high:
        return int(value)
    raise UsageError(
        f"{value} is not a value of {p.type} {p.name}",
        code="LX054",
        help=f"give a whole number from {low} to {high}",
    )


def require_memory(fn: Function, extents: Mapping[str, tuple[int, ...]], copies: int) -> None:
    """Arrays of these extents, each held several times, must fit this machine. Raises
    InputError."""
    bytes_of = {p.name: p.type.bytes for p in fn.objects}
    needed = copies * sum(prod(e) * bytes_of[n] for n, e in extents.items())
    present = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed <= present:
        return
    shapes = ", ".join(f"{n}{''.join(f'[{d}]' for d in e)}" for n, e in extents.items())
    raise InputError(
        f"the run needs {_gigabytes(needed)} of memory, of which there are {_gigabytes(present)}",
        code="LX054",
        notes=[f"{copies} copies of {shapes}"],
        help="use smaller sizes",
    )


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
