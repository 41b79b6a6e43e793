"""Which parallel loops C runs in parallel, and how: over threads, or in the lanes of a vector.

`parallel` is a fact about iterations, not about where their scalars live, nor about what OpenMP
has a form for.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.codegen.c.scopes import Scopes
from loopxform.ir.nodes import Assign, Copy, Decl, For, Load, Stmt, Var, While
from loopxform.ir.types import Scalar, common, promote
from loopxform.ir.typing import type_of
from loopxform.ir.visit import Path, names, walk


def threads_over(loop: For, path: Path, scopes: Scopes, types: dict[str, Scalar]) -> str:
    """The directive of a loop that threads share. The loops over groups directly inside it are
    shared with it where their bounds allow; groups that copy tiles take long enough to be given out
    one by one, so that no thread waits for the slowest."""
    band = [loop]
    while (inner := _group_inside(band, types)) is not None:
        path = (*path, 0)
        if path in scopes.outside or path in scopes.before:
            break
        band.append(inner)
    together = f" collapse({len(band)})" if len(band) > 1 else ""
    copies = any(isinstance(s, Copy) and s.collective for _, s in walk(loop.body))
    return f"parallel for{together}{' schedule(dynamic)' if copies else ''}"


def _group_inside(band: list[For], types: dict[str, Scalar]) -> For | None:
    match band[-1].body:
        case (For() as inner,) if inner.parallel and inner.level and inner.level.kind == "grid":
            own = {x.var: x.type for x in (*band, inner)}
            bounds = names(inner.lo) | names(inner.hi) | names(inner.step)
            fixed = not bounds & ({x.var for x in band} | _assigned_arrays(inner.body))
            return inner if fixed and canonical(inner, {**types, **own}) else None
        case _:
            return None


def is_vector(loop: For) -> bool:
    """Whether iterations are lanes of a vector: of a loop that holds no other, nor waits."""
    inside = [s for _, s in walk(loop.body)]
    waits = any(isinstance(s, Assign) and s.atomic for s in inside)
    return not waits and not any(isinstance(s, For | While) for s in inside)


def runs_parallel(loop: For, path: Path, scopes: Scopes, types: dict[str, Scalar]) -> bool:
    """Whether OpenMP may run the loop: a canonical header whose bounds do not change in the loop,
    and no scalar declared outside of the loop that its body assigns."""
    if not loop.parallel or path in scopes.outside or not canonical(loop, types):
        return False
    inside = {s.name for _, s in walk(loop.body) if isinstance(s, Decl)}
    for place, variables in scopes.before.items():
        if len(place) > len(path) and place[: len(path)] == path:
            inside |= {name for name, _ in variables}
    scalars = set(_assigned_scalars(loop.body, path, scopes)) - inside
    bounds = names(loop.lo) | names(loop.hi) | names(loop.step)
    return not scalars and not bounds & _assigned_arrays(loop.body)


def _assigned_scalars(body: tuple[Stmt, ...], path: Path, scopes: Scopes) -> Iterator[str]:
    for inner, s in walk(body, path):
        if isinstance(s, Assign) and isinstance(s.target, Var):
            yield s.target.name
        elif isinstance(s, For) and inner in scopes.outside:
            yield s.var


def _assigned_arrays(body: tuple[Stmt, ...]) -> set[str]:
    found = {s.target for _, s in walk(body) if isinstance(s, Copy)}
    return found | {
        s.target.array
        for _, s in walk(body)
        if isinstance(s, Assign) and isinstance(s.target, Load)
    }


def canonical(loop: For, types: dict[str, Scalar]) -> bool:
    """Whether the test of the header compares the integer variable itself, without converting it
    to an unsigned type first (which OpenMP has no form for)."""
    bound = promote(type_of(loop.hi, types))
    to = common(loop.type, bound)
    return to.is_integer and promote(loop.type).is_unsigned == to.is_unsigned
