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
from loopxform.frontend.lower.facts import Facts, is_stable
from loopxform.frontend.lower.numbered_elements import by_number, numbered
from loopxform.frontend.lower.ranges import Context, cases, counted_to, extremes, gaps
from loopxform.frontend.lower.strides import both_signs, is_mixed, stride_lists
from loopxform.frontend.parsed import Note
from loopxform.ir.affine import Monomial, Poly, constant, poly, to_expr
from loopxform.ir.nodes import (
    Bin,
    Const,
    Decl,
    Expr,
    Function,
    Param,
    Stmt,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.quotients import WORD, divide, quotient
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
        if any(map(is_mixed, strides)) and _backwards(index[0], a.context, facts):
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
        mine = _inside(index[0], levels[0][1], a.context, facts, here if assume else None)
        if mine is not None:
            return [here, *index], [*asked, *mine]
    return None


def _inside(
    index: Poly, extent: Poly, context: Context, facts: Facts, row: Poly | None
) -> list[Expr] | None:
    """The conditions under which 0 <= index < extent, whatever `?:` in it choose; None where it
    cannot be shown. They may be asked of the arguments where the `row` is given."""
    out: list[Expr] = []
    for value, where in cases(index, context):
        if _is_contradictory(where, facts):
            continue
        asked = _value_inside(value, extent, where, facts, row)
        if asked is None:
            return None
        out += asked
    return out


def _is_contradictory(context: Context, facts: Facts) -> bool:
    """Whether no number is where the conditions want it: `u < -x` and `u >= w - x`."""
    return any(_is_reached(-gap - constant(1), context, facts) for gap in gaps(context))


def _value_inside(
    index: Poly, extent: Poly, context: Context, facts: Facts, row: Poly | None
) -> list[Expr] | None:
    counted = counted_to(context)

    def known(e: Expr) -> bool:
        return facts.known(e) or e in counted

    lows = extremes(index, context, known, greatest=False)
    above: list[Expr] | None = [] if any(_is_reached(x, context, facts) for x in lows) else None
    if above is None:
        one = row is not None and is_stable(to_expr(index), facts.stable)  # column n - 1 of all
        asked = lows if one else [x for x in lows if row is not None and _is_margin(x)]
        above = _asked(asked, context, facts)
    if above is None:
        return None
    highs = extremes(index, context, known, greatest=True)
    left = [extent - constant(1) - high for high in highs]
    if any(g.constant is not None and g.constant >= 0 for g in left):
        return above
    if any(map(_has_quotient, left)) and any(_is_reached(g, context, facts) for g in left):
        return above
    below = None if row is None else _asked(left, context, facts)
    return None if below is None else [*above, *below]


def _is_margin(low: Poly) -> bool:
    """Whether columns begin at an argument, or a sum of some: `for (x = r; x < w - r; x++)`,
    `a[(k + i)*n + k + j]`."""
    return all(c > 0 for m, c in low.terms if m)


def _asked(numbers: list[Poly], context: Context, facts: Facts) -> list[Expr] | None:
    """The condition on arguments under which one of the numbers is not negative."""
    for g in numbers:
        fixed = g.constant is None and is_stable(to_expr(g), facts.stable)
        if fixed and not _where_nothing_runs(g, context):
            return [_at_least_zero(g)]
    return None


def _backwards(row: Poly, context: Context, facts: Facts) -> bool:
    """Whether the number of a row varies, but is never more than 0: then its length has the wrong
    sign."""
    highs = extremes(row, context, facts.known, greatest=True)
    return row.constant is None and any(h.constant is not None and h.constant <= 0 for h in highs)


def _where_nothing_runs(g: Poly, context: Context) -> bool:
    """Whether g >= 0 only where a loop around has no iteration: then it is no condition to ask."""
    lows = [b for b in context if b.lower]
    more = [(b.limit - a.limit) for a in lows for b in context if b.var == a.var and not b.lower]
    for trips in more:  # at least 0 where the loop runs
        for m, c in g.terms:
            other = dict(trips.terms).get(m, 0)
            if m and c * other < 0:
                both = constant(abs(other)) * g + constant(abs(c)) * trips
                if both.constant is not None and both.constant < 0:
                    return True
    return False


def _is_reached(low: Poly, context: Context, facts: Facts) -> bool:
    """Whether a number is not negative, where all loops around have an iteration."""
    spans = gaps(context)
    halved = frozenset(n for g in spans for n in _divided(g))
    return _never_negative(low, facts, halved) or any(
        _never_negative(low - g, facts, halved) for g in spans
    )


def _never_negative(p: Poly, facts: Facts, halved: frozenset[Poly] = frozenset()) -> bool:
    """By its terms: the type says nothing, a difference of unsigned numbers can be negative. Those
    of `halved` are not negative either."""

    def known(atom: Expr) -> bool:
        parts = _quotient((atom,))
        divided = parts is not None and _never_negative(parts[0], facts, halved)
        return divided or facts.known(atom) or poly(atom) in halved

    if all(c > 0 and all(map(known, m)) for m, c in p.terms):
        return True
    return any(_never_negative(x, facts, halved) for x in _without_quotients(p, facts, halved))


def _without_quotients(p: Poly, facts: Facts, halved: frozenset[Poly]) -> Iterator[Poly]:
    """What is negative where `p` is, with n instead of d*(n/d), which is at most that: of
    `w - w/2` it is `2*w - w`."""
    for m, c in p.terms:
        found = _quotient(m)
        if found is not None and c < 0 and _never_negative(found[0], facts, halved):
            n, d = found
            yield constant(d) * (p - Poly(((m, c),))) + constant(c) * n


def _has_quotient(p: Poly) -> bool:
    return any(_quotient(m) is not None for m, _ in p.terms)


def _divided(gap: Poly) -> Iterator[Poly]:
    """The numbers of which loops run to a part: `n/d - 1` is not negative, so n is not."""
    terms = dict(gap.terms)
    first, others = terms.pop((), 0), list(terms.items())
    if first < 0 and len(others) == 1 and others[0][1] > 0:
        found = _quotient(others[0][0])
        if found is not None:
            yield found[0]


def _quotient(m: Monomial) -> tuple[Poly, int] | None:
    """n and d of a term that is n/d, rounded towards 0 or downwards."""
    match m:
        case (Bin("/", n, Const(int(d))),) if d > 0:
            return poly(n), int(d)
        case (Bin(">>", n, Const(int(bits))),) if 0 <= bits < WORD:
            return poly(n), 1 << bits
        case _:
            return None


def _at_least_zero(g: Poly) -> Expr:
    """`g >= 0` with the negative terms on the left: `U <= lda`."""
    minus = Poly(tuple((m, -c) for m, c in g.terms if c < 0))
    plus = Poly(tuple((m, c) for m, c in g.terms if c > 0))
    return Bin("<=", to_expr(minus), to_expr(plus))
