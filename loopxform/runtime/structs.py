"""Structs as numpy holds them: an array of a structured dtype is an array of structs of C.

Members are views of it: `p.x` of the loop tree is `p["x"]`. What a pointer inside a struct points
to is an argument of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from loopxform.codegen.structs import place, pointed
from loopxform.errors import ArgumentError
from loopxform.ir.nodes import Function, Struct
from loopxform.ir.records import Record

_Array = np.ndarray[Any, Any]


def dtype(r: Record) -> np.dtype[Any]:
    made: np.dtype[Any] = np.dtype(r.numpy)
    return made


def dtype_of(fn: Function, name: str) -> np.dtype[Any]:
    """Of the elements of an object. Raises KeyError."""
    found: dict[str, Any] = {s.name: s.type.numpy for s in fn.structs}
    found |= {p.name: p.type.numpy for p in fn.objects}
    made: np.dtype[Any] = np.dtype(found[name])
    return made


def with_members(fn: Function, args: Mapping[str, Any]) -> dict[str, Any]:
    """`args` with a view (or the number) for each member that is not given itself."""
    out = dict(args)
    for p in fn.objects:
        if p.tests:
            out.setdefault(p.name, 1)  # there is no array that is none
        at = place(fn, p.name) if p.is_member and p.name not in out else None
        if at is not None and at.struct.name in out and at.path[-1].type is not None:
            view = member(out[at.struct.name], [m.name for m in at.path])
            out[p.name] = view if p.shape else view.reshape(-1)[0].item()
    return out


def with_numbers(fn: Function, plain: Mapping[str, str], args: Mapping[str, Any]) -> dict[str, Any]:
    """`args` with the numbers in single structs, by the names that `plain` gives them. Raises
    ArgumentError."""
    out = dict(args)
    for s in fn.structs:
        if not s.array and isinstance(out.get(s.name), np.void):
            out[s.name] = np.asarray(out[s.name])
    for p in fn.objects:
        if p.tests:
            out[plain[p.name]] = 1
        at = place(fn, p.name) if p.is_member and not p.shape else None
        if at is None or at.struct.name not in out:
            continue
        structs, wanted = out[at.struct.name], dtype(at.struct.type)
        if not isinstance(structs, np.ndarray) or structs.dtype != wanted or not structs.size:
            kind = getattr(structs, "dtype", type(structs).__name__)
            raise ArgumentError(f"{at.struct.name} must be a struct of {wanted}, not {kind}")
        out[plain[p.name]] = member(structs, [m.name for m in at.path]).reshape(-1)[0].item()
    return out


def member(structs: Any, path: Sequence[str]) -> _Array:
    """The view of one member of all structs."""
    view = np.asarray(structs)
    for name in path:
        view = view[name]
    return np.asarray(view)


def leaves(r: Record, outside: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths to every number in a struct."""
    for m in r.members:
        if isinstance(m.type, Record):
            yield from leaves(m.type, (*outside, m.name))
        elif m.type is not None:
            yield (*outside, m.name)


def packed(fn: Function, args: Mapping[str, Any]) -> dict[str, Any]:
    """`args` with the structs whose members have the values that are given by name; the others
    are 0. Those of a plain pointer are as many as the longest member has elements."""
    out = {n: v for n, v in args.items() if "." not in n or n in pointed(fn)}
    for s in fn.structs:
        inside = {p.name: place(fn, p.name) for p in fn.objects if p.name in args}
        mine = [(n, at) for n, at in inside.items() if at is not None and at.struct == s]
        given = [(at, np.asarray(args[n])) for n, at in mine if at.path[-1].type is not None]
        lead = [_lead(s, a.shape[: at.rank(a.ndim)]) for at, a in given]
        shape = tuple(map(max, zip(*lead))) if lead else (1,) * len(s.shape)
        made = np.zeros(shape, dtype(s.type))
        for (at, values), n in zip(given, lead):
            view = member(made, [m.name for m in at.path])
            inner = values.shape[at.rank(values.ndim) :]
            view[tuple(map(slice, n))] = values.reshape((*n, *inner))
        out[s.name] = made
    return out


def _lead(s: Struct, shape: tuple[int, ...]) -> tuple[int, ...]:
    return (prod(shape),) if s.flat else shape
