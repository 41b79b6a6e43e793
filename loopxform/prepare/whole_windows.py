"""Windows that the bounds of loops cut off at an edge, as whole ones with a condition.

    for (v = max(y - 3, 0); v < min(y + 4, h); v++) S(v)
        ->  for (v = y - 3; v < y + 4; v++) if (v >= 0 && v < h) S(v)

All iterations around have windows of one size then, of which a group stages a box with its halo.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.exchange import operands
from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import Bin, Decl, Expr, For, Function, If, Opaque, Stmt, Var
from loopxform.ir.types import Scalar, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import loads, names, walk, writes
from loopxform.transforms.edges.bounds import ends_of, guarded

MOST = 32
"""Iterations of a window: longer loops are tiled."""


def with_whole_windows(fn: Function) -> Function:
    """The function with a condition in each loop over a part of a window."""
    body = _body(fn.body, frozenset(), symbols(fn))
    return fn if body == fn.body else replace(fn, body=body)


def _body(
    body: tuple[Stmt, ...], around: frozenset[str], types: dict[str, Scalar]
) -> tuple[Stmt, ...]:
    out = list[Stmt]()
    for s in body:
        match s:
            case For():
                # What begins where a loop over tiles is, is a tile.
                single = abs(value_of(s.step) or 0) == 1
                inner = _body(s.body, around | ({s.var} if single else set()), types)
                out.append(_whole(replace(s, body=inner), around, types))
            case If():
                then, orelse = (_body(b, around, types) for b in (s.then, s.orelse))
                out.append(replace(s, then=then, orelse=orelse))
            case _:
                out.append(s)
    return tuple(out)


def _whole(loop: For, around: frozenset[str], types: dict[str, Scalar]) -> For:
    starts, ends = operands(loop.lo, "max"), ends_of(loop)
    plain = value_of(loop.step) == 1 and not (loop.live_out or _leaves(loop))
    signed = not any(promote(type_of(e, types)).is_unsigned for e in (*starts, *ends))
    if not (plain and signed and len(starts) + len(ends) > 2):
        return loop
    if any(_changes(e, loop.body) for e in (*starts, *ends)):  # C asks the start once
        return loop
    for lo in starts:
        for hi in ends:
            gap = (poly(hi) - poly(lo)).value
            if names(lo) & around and gap is not None and 1 < gap <= MOST:
                inside: list[Expr] = [Bin(">=", Var(loop.var), e) for e in starts if e != lo]
                inside += [Bin("<", Var(loop.var), e) for e in ends if e != hi]
                body = guarded(inside, loop.body)
                return replace(loop, lo=lo, hi=hi, body=body, asks=None)
    return loop


def _changes(e: Expr, body: tuple[Stmt, ...]) -> bool:
    """Whether statements may set what an expression is computed from."""
    inside = {s.var for _, s in walk(body) if isinstance(s, For)}
    inside |= {s.name for _, s in walk(body) if isinstance(s, Decl)} | writes(body)
    return bool((names(e) | {x.array for x in loads(e)}) & inside)


def _leaves(loop: For) -> bool:
    return any(isinstance(s, Opaque) for _, s in walk(loop.body))
