"""Numbers of the host code, which sizes decide: guards, and rooms on the device."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from pycparser import c_ast

from loopxform.validate import host as host_code
from loopxform.validate.ctypes import LONG
from loopxform.validate.model import Program, Scalar, Whole
from loopxform.validate.polynomials import Plain, Polynomial, plain, quotient
from loopxform.validate.programs.function import User
from loopxform.validate.reading.reader import Reader
from loopxform.validate.reading.syntax import called_name
from loopxform.validate.reading.values import Pieces
from loopxform.validate.unmodelled import Unmodelled


def sizes_of(u: User) -> Reader:
    """Reads numbers of the host code."""
    r = Reader(Program(u.program.space))
    r.domain = u.context
    bind_scalars(r, u)
    return r


def bind_scalars(r: Reader, u: User) -> None:
    for n, t in u.scalars.items():
        r.bind(n, Whole(r.parameter(n), t) if t.whole else Scalar(n, t))
    r.bind(host_code.THRESHOLD, Scalar(host_code.THRESHOLD, LONG))


def ranges(u: User) -> isl.Set:
    """What the types of the parameters hold."""
    r = Reader(Program(u.program.space))
    held = r.domain
    for n, t in u.scalars.items():
        if t.whole:
            low = -(1 << (t.bits - 1)) if t.signed else 0
            number = r.affine_of(r.parameter(n))
            held = held.intersect(r.between(number, low, low + (1 << t.bits)))
    return held.params()


def decided(r: Reader, e: c_ast.Node) -> Pieces:
    """A condition of the host code; one that is not modelled may go either way."""
    try:
        return r.condition(e)
    except Unmodelled:
        return [(r.domain, Scalar("unknown", LONG))]


def accepted(u: User, host: host_code.Host) -> isl.Set:
    """The sizes that the host code does not refuse."""
    r = sizes_of(u)
    for g in host.guards:
        for where, holds in decided(r, g):
            if holds is False:
                r.domain = r.domain.subtract(where)
    return r.domain


# ---------------------------------------------------------------- rooms


def rows_of(r: Reader, room: c_ast.Node, inner: Sequence[Plain | None]) -> isl.PwAff | None:
    """How many rows a memory of so many elements has, where the inner extents divide that."""
    extents = [e for e in inner if e is not None]
    positive = isl.Set.universe(r.program.space)
    for scalar in r.scopes[0].values():  # of a negative one there are no fewer rows
        if isinstance(scalar, Whole):
            positive = positive.intersect(r.affine_of(scalar.value).ge_set(r.constant(0)))
    with r.within(domain=positive):
        factors = _numbers(r, factors_of(room))
        if factors is None:
            return None
        rest: list[Polynomial] = []
        for f in factors:
            size = plain(f)
            if size is not None and size in extents:
                extents.remove(size)
            else:
                rest.append(f)
        if not extents and len(rest) == 1:
            return rest[0].affine
        rows = plain(factors[0]) if len(factors) == 1 else None
        for e in extents:
            rows = quotient(rows, e) if rows is not None else None
        if rows is None or any(len(m) > 1 for m in rows):
            return None
        return r.polynomial(rows).affine


def _numbers(r: Reader, expressions: Sequence[c_ast.Node]) -> list[Polynomial] | None:
    """None where data decide one of them."""
    values = [r.expr(e)[0] for e in expressions]
    numbers = [v for v in values if isinstance(v, Polynomial)]
    return numbers if len(numbers) == len(values) else None


def factors_of(e: c_ast.Node) -> list[c_ast.Node]:
    """Of a product whose factors are `max(x, 0)` or `max(x, 1)`, the x; else what it is itself."""
    if isinstance(e, c_ast.BinaryOp) and e.op == "*":
        parts = _factors(e)
        if parts is not None:
            return parts
    return [e]


def _factors(e: c_ast.Node) -> list[c_ast.Node] | None:
    if isinstance(e, c_ast.BinaryOp) and e.op == "*":
        left, right = _factors(e.left), _factors(e.right)
        return None if left is None or right is None else [*left, *right]
    if isinstance(e, c_ast.FuncCall) and called_name(e) == "max":
        return [e.args.exprs[0]]
    return [e] if isinstance(e, c_ast.Constant) else None
