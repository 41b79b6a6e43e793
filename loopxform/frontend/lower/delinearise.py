"""Flat arrays back to matrices: `A[i*n + k]` becomes `A[i, k]` of shape (?, n).

    every access  p = q * stride + r   with 0 <= r < stride   for all iterations

The strides are what loop variables are multiplied by in any access of the array; all accesses must
agree. `0 <= r` must be proven; `r < stride` may become a condition on the arguments
(`Function.assumes`), which the host checks. Anything else leaves the array as it is, with a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.frontend.lower.accesses import Access, Accesses, Refused
from loopxform.frontend.lower.columns import inside, is_backwards
from loopxform.frontend.lower.facts import Facts, is_stable
from loopxform.frontend.lower.numbered_elements import by_number, numbered
from loopxform.frontend.lower.strides import both_signs, is_mixed, stride_lists
from loopxform.frontend.parsed import Note
from loopxform.ir.affine import Poly, constant, poly, to_expr
from loopxform.ir.nodes import (
    Decl,
    Expr,
    Function,
    Param,
    Stmt,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.quotients import divide, quotient
from loopxform.ir.visit import map_body, map_exprs, walk


def delinearise(
    fn: Function, facts: Facts, *, of_rows: bool = False
) -> tuple[Function, list[Note]]:
    """`fn` with the shapes that could be recovered, and notes on those that could not. `of_rows`:
    of arrays whose elements are rows, too (`A[i*n + k][c]`)."""
    notes: list[Note] = []
    found = Accesses(facts)
    for p in fn.objects:
        if p.array and (len(p.shape) == 1 or (of_rows and p.shape[0] is None)):
            fn, note = _recover(fn, p, found)
            notes += [note] if note else []
    for p in fn.params if not of_rows else ():
        if p.array and len(p.shape) > 1 and not (p.flat or p.pointer or p.rows or p.is_member):
            fn = _recover_dimensions(fn, p, found)
    for _, s in walk(fn.body):
        if isinstance(s, Decl) and len(s.shape) == 1 and not is_number(s.shape[0]):
            fn = _recover_local(fn, s, found)
    return replace(fn, assumes=tuple(facts.assumes)), notes


def is_number(e: Expr) -> bool:
    return poly(e).constant is not None


def _recover_local(fn: Function, d: Decl, found: Accesses) -> Function:
    """The shape of an array that the function declares, `t[n*m]` as `t[n][m]`."""
    p = Param(d.name, d.type, d.shape, array=True)
    facts = found.facts
    asked = list(facts.assumes)
    changed, _ = _recover(replace(fn, params=(*fn.params, p)), p, found)
    new = next(x for x in changed.params if x.name == d.name)
    if new.shape[0] is None or not all(is_stable(x, facts.stable) for x in new.shape if x):
        facts.assumes[:] = asked
        return fn

    def shaped(s: Stmt) -> tuple[Stmt, ...]:
        if isinstance(s, Decl) and s.name == d.name:
            return (replace(s, shape=tuple(x for x in new.shape if x)),)
        return (s,)

    return replace(changed, params=fn.params, body=map_body(changed.body, shaped))


def _recover_dimensions(fn: Function, p: Param, found: Accesses) -> Function:
    """The dimensions of a matrix that are several, `y[h*w][9]` with `y[i*w + j][k]` as
    `y[h][w][9]`, where its declared size says how many the first of them has."""
    for d in reversed(range(len(p.shape))):
        extent, asked = p.shape[d], list(found.facts.assumes)
        if extent is None or is_number(extent):
            continue
        try:
            accesses = found.of(fn, p.name, d)
            fitting = _shape(accesses, found.facts, numbered(fn))
        except Refused:
            fitting = None
        affine = fitting is None or all(e.constant is not None for e in fitting[0])
        first = None if fitting is None or affine else _quotient_of(extent, fitting[0])
        if fitting is None or first is None:
            found.facts.assumes[:] = asked
            continue
        fn, p = _with_dimension(fn, p, d, (first, *map(to_expr, fitting[0])), accesses, fitting[1])
    return fn


def _with_dimension(
    fn: Function,
    p: Param,
    d: int,
    extents: tuple[Expr, ...],
    accesses: list[Access],
    indices: Indices,
) -> tuple[Function, Param]:
    """The function with these dimensions in place of dimension `d` of an array."""
    mapping = {
        id(a.load): replace(a.load, index=(*a.load.index[:d], *i, *a.load.index[d + 1 :]))
        for a, i in zip(accesses, indices)
    }
    shape = (*p.shape[:d], *extents, *p.shape[d + 1 :])
    new = replace(p, shape=shape, declared=p.declared or p.shape)
    body = map_exprs(fn.body, lambda e: mapping.get(id(e), e))
    params = tuple(new if x is p else x for x in fn.params)
    return replace(fn, params=params, body=body), new


def _recover(fn: Function, p: Param, found: Accesses) -> tuple[Function, Note | None]:
    try:
        accesses = found.of(fn, p.name)
        fitting = _shape(accesses, found.facts, numbered(fn))
    except Refused as why:
        return fn, Note(f"the shape of '{p.name}' is not known: {why.message}", why.load.origin.loc)
    if fitting is None:
        return fn, None
    extents, indices = fitting
    mapping = {
        id(a.load): replace(a.load, index=(*i, *a.load.index[1:]))
        for a, i in zip(accesses, indices)
    }
    body = map_exprs(fn.body, lambda e: mapping.get(id(e), e))
    shape = (_first(p, extents), *map(to_expr, extents), *p.shape[1:])
    new = replace(p, shape=shape, flat=True)
    params = tuple(new if x is p else x for x in fn.params)
    globals = tuple(new if x is p else x for x in fn.globals)
    return replace(fn, params=params, globals=globals, body=body), None


def _first(p: Param, extents: tuple[Poly, ...]) -> Expr | None:
    """The first dimension, where the declared size is a multiple of the others."""
    if p.shape[0] is None:
        return None
    return _quotient_of(p.shape[0], extents)


def _quotient_of(declared: Expr, extents: Extents) -> Expr | None:
    """A size by those of other dimensions, where it is a multiple of them."""
    size: Poly | None = poly(declared)
    for e in extents:
        size = divide(size, e) if size is not None else None
    return None if size is None else to_expr(size)


Extents = tuple[Poly, ...]
Indices = list[tuple[Expr, ...]]


def _shape(
    accesses: list[Access], facts: Facts, alone: frozenset[int]
) -> tuple[Extents, Indices] | None:
    """Extents of the inner dimensions and the index of every access; None for plain vectors. Those
    `alone` may stand for all elements of a matrix in turn (`numbered`)."""
    coefficients = [c for a in accesses for c in _coefficients(a, facts)]
    lists = [x for signed in both_signs(coefficients) for x in stride_lists(signed)]
    if not lists:
        return None
    symbolic = any(c.constant is None for c in coefficients)
    why: Refused | None = None
    for assume in (False, True) if symbolic else (False,):
        for strides in lists:
            if assume and any(s.constant is not None for s in strides):
                continue
            try:
                return _fit(accesses, strides, facts, assume, alone)
            except Refused as e:
                why = why or e
    if why is not None and symbolic:
        raise why
    return None


def _coefficients(a: Access, facts: Facts) -> Iterator[Poly]:
    """What each varying part of a subscript is multiplied by."""
    out: dict[Expr, Poly] = {}
    for m, c in a.poly.terms:
        varying = [x for x in m if not is_stable(x, facts.stable)]
        if len(varying) > 1:
            text = "two varying numbers are multiplied in the subscript"
            raise Refused(text, a.load)
        if varying:
            rest = list(m)
            rest.remove(varying[0])
            out[varying[0]] = out.get(varying[0], Poly(())) + Poly(((tuple(rest), c),))
    yield from out.values()


def _fit(
    accesses: list[Access],
    strides: list[Poly],
    facts: Facts,
    assume: bool,
    alone: frozenset[int],
) -> tuple[Extents, Indices]:
    """The shape with these strides (largest first), or Refused."""
    extents = _extents(strides, accesses)
    conditions: list[Expr] = []
    indices: Indices = []
    for a in accesses:
        counted = by_number(a, strides) if assume and id(a.load) in alone else None
        parts = counted or _split(a, strides, extents, facts, assume)
        if parts is None:
            raise Refused(_complaint(a, strides[-1]), a.load)
        index, asked = parts
        if any(map(is_mixed, strides)) and is_backwards(index[0], a.context, facts):
            raise Refused("rows are counted backwards from the first", a.load)
        indices.append(tuple(map(to_expr, index)))
        conditions += asked
    if all(s.constant is not None for s in strides) and not _inner_varies(indices, facts):
        raise Refused("the columns are constant", accesses[0].load)
    if not facts.assume_all(conditions):
        needed = " and ".join(map(expr_text, conditions))
        raise Refused(f"it would be right only where {needed}", accesses[0].load)
    return extents, indices


def _complaint(a: Access, row: Poly) -> str:
    text = expr_text(to_expr(a.poly), tight=True)
    return f"the column in [{text}] is not shown to be inside a row of {expr_text(to_expr(row))}"


def _inner_varies(indices: Indices, facts: Facts) -> bool:
    return any(not is_stable(i[-1], facts.stable) for i in indices)


def _extents(strides: list[Poly], accesses: list[Access]) -> Extents:
    """The sizes of the dimensions between the strides."""
    out = []
    for outer, inner in zip(strides, [*strides[1:], constant(1)]):
        size = divide(outer, inner)
        if size is None:
            text = "rows of different lengths are used"
            raise Refused(text, accesses[0].load)
        out.append(size)
    return tuple(out)


def _split(
    a: Access, strides: list[Poly], extents: Extents, facts: Facts, assume: bool
) -> tuple[list[Poly], list[Expr]] | None:
    """The index of an access, outermost first, and what must be asked of the arguments."""
    return _split_rest(a, a.poly, list(zip(strides, extents)), facts, assume)


def _split_rest(
    a: Access, p: Poly, levels: list[tuple[Poly, Poly]], facts: Facts, assume: bool
) -> tuple[list[Poly], list[Expr]] | None:
    if not levels:
        return [p], []
    stride, _ = levels[0]
    q = quotient(p, stride)
    for shift in (0, -1, 1):
        here = q + constant(shift)
        rest = p - here * stride
        inner = _split_rest(a, rest, levels[1:], facts, assume)
        if inner is None:
            continue
        index, asked = inner
        mine = inside(index[0], levels[0][1], a.context, facts, here if assume else None)
        if mine is not None:
            return [here, *index], [*asked, *mine]
    return None
