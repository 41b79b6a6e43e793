"""Arrays that the device has for itself: declared beside the nests of a program, in global memory.

They pass values from one kernel to the next. One that is like an array of the caller's (step
`pack`) need not be there at all: where the rows of both have one length, the host gives kernels
that array, and the nest that would make the copy is not launched. So it does where none that is
launched reads the copy.
"""

from __future__ import annotations

from functools import reduce

from loopxform.analysis.host_scalars import computed_by_host
from loopxform.codegen.host.buffers import Buffer
from loopxform.errors import EmitError
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Const, Decl, Expr, For, Function, If, Param, Stmt, Un
from loopxform.ir.stand_ins import is_view
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import bodies, declared, loads, names, writes
from loopxform.transforms.edges.bounds import conjunction

NEVER = Const(0)
"""When a copy is needed for which an array of the caller's always stands."""


def temporaries(fn: Function) -> tuple[Buffer, ...]:
    """The arrays declared beside the nests. Raises EmitError where the host cannot compute the
    extents of one before the first kernel."""
    known = scalars(fn)
    found = own_arrays(fn)
    for s in found:
        if not all(names(d) <= known and not any(loads(d)) for d in s.shape):
            raise EmitError(
                f"how large '{s.name}' is cannot be told before the first kernel runs",
                loc=s.origin.loc,
                help="declare it with sizes that are parameters",
            )
    return tuple(_temporary(fn, s) for s in found)


def _temporary(fn: Function, s: Decl) -> Buffer:
    count = reduce(lambda a, b: Bin("*", a, b), s.shape)
    p = own_param(s)
    same = stands_for(fn, s) if s.like else None
    needed = list(_conditions(fn.body, s.name, scalars(fn)))
    needed += [] if same is None else [Un("!", same)]
    when = NEVER if same == Const(1) else conjunction(needed) if needed else None
    return Buffer(p, count, when, written=True, like=s.like)


def own_arrays(fn: Function) -> list[Decl]:
    """The arrays declared beside the nests, in loops of the host too."""
    found: list[Decl] = []
    waiting = list(fn.body)
    while waiting:
        s = waiting.pop(0)
        if isinstance(s, Decl) and s.shape:
            found.append(s)
        elif not on_grid(s):
            waiting = [*(x for b in bodies(s) for x in b), *waiting]
    return found


def own_param(s: Decl) -> Param:
    """An array of the device as kernels have it."""
    of = s.like if s.at else ""
    return Param(s.name, s.type, s.shape, array=True, of=of, at=s.at, origin=s.origin)


def row_lengths(fn: Function) -> dict[str, Param]:
    """By copies of arrays in longer rows, the scalar that says how long they are, if no number."""
    types, out = symbols(fn), dict[str, Param]()
    for s in own_arrays(fn):
        if s.like and not s.at and value_of(s.shape[-1]) is None:
            out[s.name] = Param(fresh(fn, f"{s.name}_row"), type_of(s.shape[-1], types))
    return out


def stands_for(fn: Function, s: Decl) -> Expr | None:
    """Where the array of the caller's that `s` is like has rows of the same length, so that the
    host can give the kernels that array in place of a copy: always, where dimensions of it are one
    in the copy (step `unfold`). None: never, as where elements are of another type."""
    own = next((p for p in fn.objects if p.name == s.like), None)
    if own is None or s.turned or own.type != s.type:
        return None
    if is_view(fn, s):
        return Const(1)
    rows = [(a, b) for a, b in zip(s.shape[1:], own.shape[1:]) if a != b]
    return conjunction([Bin("==", a, b) for a, b in rows if b is not None])


def _conditions(
    body: tuple[Stmt, ...], name: str, known: frozenset[str], around: tuple[Expr, ...] = ()
) -> tuple[Expr, ...]:
    """The conditions around the declaration of an array, outermost first, which the host can ask
    before the first kernel; none in a loop of the host, which may not come to them."""
    for s in body:
        if isinstance(s, Decl) and s.name == name:
            return around
        if isinstance(s, If) and made_of(s.cond, known):
            for branch, cond in ((s.then, s.cond), (s.orelse, Un("!", s.cond))):
                if name in declared(branch):
                    return _conditions(branch, name, known, (*around, cond))
    return ()


def scalars(fn: Function) -> frozenset[str]:
    """The scalars of the caller's that have the same value throughout."""
    return frozenset(p.name for p in fn.objects if not p.array) - writes(fn.body)


def made_of(e: Expr, known: frozenset[str]) -> bool:
    return computed_by_host(e) and names(e) <= known


def on_grid(s: Stmt) -> bool:
    return isinstance(s, For) and s.level is not None and s.level.kind == "grid"
