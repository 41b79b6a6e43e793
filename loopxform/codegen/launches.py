"""The nests of a mapped program: each is one kernel, launched in text order.

    T[M, N];                                    an array of the device, gone after the last launch
    forall ... ! group: T[...] = ...            the first kernel
    if (M >= 1) forall ... ! group: ... T[...]  the second, launched where the condition holds

Arrays declared beside the nests pass values from one kernel to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

from loopxform.codegen.buffers import Buffer
from loopxform.errors import EmitError
from loopxform.ir.nodes import Bin, Decl, Expr, For, Function, If, Param, Return, Stmt
from loopxform.ir.visit import loads, names, writes


@dataclass(frozen=True)
class Launch:
    """One nest: `function` is the program with this nest alone, arrays declared beside it among
    its parameters; `when` says whether it is launched (None: always)."""

    function: Function
    when: Expr | None


def launches(fn: Function) -> tuple[Launch, ...]:
    """The nests of `fn`. Raises EmitError where there is none, for a statement that no kernel can
    run, and for a condition that the host cannot compute beforehand."""
    if not any(_on_grid(s) for s in fn.body):
        raise EmitError(
            f"no loop of '{fn.name}' is mapped to groups",
            loc=fn.origin.loc,
            help="map the parallel loops: map i group.x",
        )
    own = [s for s in fn.body if isinstance(s, Decl)]
    arrays = tuple(Param(s.name, s.type, s.shape, array=True) for s in own if s.shape)
    shared = tuple(s for s in own if not s.shape)
    return tuple(
        Launch(replace(fn, params=(*fn.params, *arrays), body=(*shared, nest)), when)
        for nest, when in _nests(fn)
    )


def temporaries(fn: Function) -> tuple[Buffer, ...]:
    """The arrays declared beside the nests. Raises EmitError where the host cannot compute the
    extents of one."""
    known = scalars(fn)
    found = [s for s in fn.body if isinstance(s, Decl) and s.shape]
    for s in found:
        if not all(_is_known(d, known) for d in s.shape):
            raise EmitError(
                f"how large '{s.name}' is cannot be told before the first kernel runs",
                loc=s.origin.loc,
                help="declare it with sizes that are parameters",
            )
    return tuple(_temporary(s) for s in found)


def scalars(fn: Function) -> frozenset[str]:
    """The scalars that have the same value throughout."""
    return frozenset(p.name for p in fn.objects if not p.array) - writes(fn.body)


def _nests(fn: Function) -> Iterator[tuple[Stmt, Expr | None]]:
    known = scalars(fn)
    for s in fn.body:
        match s:
            case Decl() | Return(None):
                continue
            case For() if _on_grid(s):
                yield s, None
            case If(cond, (For() as inner,), ()) if _on_grid(s) and _is_known(cond, known):
                yield inner, cond
            case _:
                what = f"the loop over '{s.var}'" if isinstance(s, For) else "a statement"
                raise EmitError(
                    f"{what} stands beside the loops that are mapped to groups: no kernel runs it",
                    loc=s.origin.loc,
                    help="move the nest into a function of its own",
                )


def _on_grid(s: Stmt) -> bool:
    if isinstance(s, If):
        return any(map(_on_grid, s.then))
    return isinstance(s, For) and s.level is not None and s.level.kind == "grid"


def _is_known(e: Expr, known: frozenset[str]) -> bool:
    return names(e) <= known and not any(loads(e))


def _temporary(s: Decl) -> Buffer:
    count = reduce(lambda a, b: Bin("*", a, b), s.shape)
    p = Param(s.name, s.type, s.shape, array=True, origin=s.origin)
    return Buffer(p, count, None, read=True, written=True)
