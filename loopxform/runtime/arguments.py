"""The arguments of a call from Python, by the rules of the C prototype.

C would convert a number to the type of the parameter, whatever is lost; here what does not fit is
refused. A whole number is what Python takes as an index: int and the integers of numpy, but neither
12.0 nor '13', and no bool. A real number may be rounded, as C rounds it, but not to infinity.
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

import numpy as np

from loopxform.codegen.structs import plain_names, pointed, roots
from loopxform.errors import ArgumentError
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function, Param


def bind(
    fn: Function, globals: Iterable[str], args: tuple[Any, ...], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Values by name: all parameters of `fn`, in order or by name, and by name the `globals` that
    it needs. Raises ArgumentError."""
    params = list(roots(p for p in fn.params if not p.ends))
    if len(args) > len(params):
        raise _call(fn, f"takes {len(params)} arguments, {len(args)} are given")
    twice = [n for n in params[: len(args)] if n in named]
    if twice:
        raise _call(fn, f"is given '{twice[0]}' twice, in order and by name")
    unknown = sorted(set(named) - {*params, *_others(fn)})
    if unknown:
        raise _call(fn, f"has no argument '{unknown[0]}'")
    values = {**dict(zip(params, args)), **named}
    for name in (*params, *globals):
        if name not in values:
            kind = "argument" if name in params else "global variable"
            raise _call(fn, f"is called without its {kind} '{name}'")
    return values


def _others(fn: Function) -> list[str]:
    """What is given by name only: variables of the file, and what pointers in structs point to."""
    plain = plain_names(fn)
    return [*roots(fn.globals), *(plain[n] for n in pointed(fn))]


def _call(fn: Function, message: str) -> ArgumentError:
    names = roots(p for p in fn.params if not p.ends)
    named = [f"{n}=..." for n in _others(fn)]
    return ArgumentError(f"{fn.name} {message}", help=f"{fn.name}({', '.join([*names, *named])})")


def ends_of(fn: Function, values: Mapping[str, Any]) -> dict[str, int]:
    """What the host finds out in C: how much arrays have of which the program does not tell. All of
    the arrays given may be touched."""
    arrays = {p.name: p for p in fn.objects if p.array}
    return {p.name: _rows(arrays[p.ends], values) for p in fn.objects if p.ends in values}


def _rows(p: Param, values: Mapping[str, Any]) -> int:
    """The elements of an array; the rows, where they all have a declared length."""
    count = int(getattr(values[p.name], "size", 0))
    sizes = () if p.flat else p.shape[1:]
    return count // max(1, prod(evaluate(d, values) for d in sizes if d is not None))


def number(name: str, dtype: str, value: Any, c_type: str = "") -> bool | int | float:
    """A number as a scalar of a numpy dtype can hold it; `c_type` is what C calls the dtype. Raises
    ArgumentError."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    kind = np.dtype(dtype).kind
    if kind == "b":
        return _truth(name, value)
    if isinstance(value, bool | np.bool_):
        raise _not(name, "a number", value)
    return _real(name, dtype, value) if kind == "f" else _whole(name, dtype, value, c_type or dtype)


def _truth(name: str, value: Any) -> bool:
    if isinstance(value, bool | np.bool_ | int | np.integer) and value in (0, 1):
        return bool(value)
    raise _not(name, "True or False", value)


def _whole(name: str, dtype: str, value: Any, c_type: str) -> int:
    try:
        exact = operator.index(value)
    except TypeError:
        raise _not(name, "a whole number", value) from None
    limits = np.iinfo(dtype)
    if not limits.min <= exact <= limits.max:
        raise _not(name, f"from {limits.min} to {limits.max} ({c_type})", value)
    return exact


def _real(name: str, dtype: str, value: Any) -> float:
    if not isinstance(value, int | float | np.integer | np.floating):
        raise _not(name, "a number", value)
    try:
        exact = float(value)
    except OverflowError:
        raise _not(name, f"a number that {dtype} can hold", value) from None
    with np.errstate(over="ignore"):
        stored = np.dtype(dtype).type(exact)
    if np.isinf(stored) and not np.isinf(exact):
        raise _not(name, f"a number that {dtype} can hold", value)
    return float(stored) if stored.itemsize < 4 else exact  # a half is passed as a float


def rounded(dtype: str, value: Any) -> float:
    """A real number as one of a numpy dtype."""
    return float(np.dtype(dtype).type(value))


def _not(name: str, wanted: str, value: Any) -> ArgumentError:
    kind = type(value).__name__
    return ArgumentError(f"{name} must be {wanted}, not {reprlib.repr(value)} ({kind})")
