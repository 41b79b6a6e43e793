"""Elements of a block tile that a work-item computes together: what they read alike is read once.

    for n ...: { x = first + n;  t[x] = x % 2 == 0 ? a[x/2 - 1] + a[x/2] : a[x/2]; }
      ->  for n ...: { x = first + 2*n;  t[x] = a[x/2 - 1] + a[x/2];  t[x + 1] = a[x/2]; }

There are as many of them along a dimension as the remainders of its counter have values that are
asked about, so that each is a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import lcm, prod

from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Const, Expr, Load, Select, Var
from loopxform.ir.types import Scalar
from loopxform.ir.typing import type_of
from loopxform.ir.visit import loads, map_expr, names, substitute, walk_expr
from loopxform.transforms.overlapped.block_stages import Piece

MOST = 8
"""Elements of a block: the text has each of them."""

Steps = tuple[int, ...]
"""Numbers along the dimensions that a piece has counters for."""


def block_of(pieces: Sequence[Piece], rank: int) -> Steps:
    """As many elements along each dimension as the remainders of counters have values; one where
    those are too many."""
    out = [1] * rank
    for p in pieces:
        for d, var in enumerate(counters(p)):
            out[d] = lcm(out[d], *(n for op, n in _divisors(p, var) if op == "%"))
    return tuple(out) if prod(out) <= MOST else (1,) * rank


def counters(p: Piece) -> list[str]:
    """Those of a piece, in the order of its dimensions."""
    return [a.var for a in p.along if a.var]


def divides(p: Piece, var: str, block: int) -> bool:
    """Whether a piece divides a counter by what divides a block."""
    return any(block % n == 0 for _, n in _divisors(p, var))


def _divisors(p: Piece, var: str) -> Iterator[tuple[str, int]]:
    loop = next(x for x in p.template.loops if x.var == var)
    every = (x for e in p.template.values for x in walk_expr(e) if isinstance(x, Bin))
    for x in every:
        if not loop.type.is_unsigned and x.op in ("/", "%") and _behind(x.left, var) is not None:
            n = value_of(x.right)
            if n is not None and 1 < n <= MOST:
                yield x.op, n


def _behind(e: Expr, var: str) -> int | None:
    """How much more than a counter an expression is."""
    return (poly(e) - poly(Var(var))).value if var in names(e) and not any(loads(e)) else None


def moved(p: Piece, steps: Steps, multiples: Steps, types: Mapping[str, Scalar]) -> Piece:
    """A piece for the iterations so many behind those of its counters. Those that it divides are
    not negative, and multiples of these numbers; `types` are those of names."""
    own = counters(p)
    shift = {v: n for v, n in zip(own, steps) if n}
    known = {v: n for v, n in zip(own, multiples) if n > 1 and divides(p, v, n)}
    if not shift and not known:
        return p
    values: dict[str, Expr] = {v: Bin("+", Var(v), Const(n)) for v, n in shift.items()}
    counted = {x.var: x.type for x in p.template.loops}
    kinds = {**types, **counted, **{name: type for name, type, _ in p.template.scalars}}

    def there(e: Expr) -> Expr:
        return map_expr(substitute(e, values), lambda x: _settled(x, known, kinds))

    t = p.template
    scalars = tuple((name, type, there(e)) for name, type, e in t.scalars)
    reads = tuple(
        replace(r, load=_load(there(r.load)), index=tuple(map(there, r.index))) for r in p.reads
    )
    along = tuple(
        replace(a, offset=simplify(Bin("+", a.offset, Const(a.factor * shift.get(a.var, 0)))))
        for a in p.along
    )
    template = replace(t, value=there(t.value), scalars=scalars)
    return replace(p, template=template, reads=reads, along=along)


def _load(e: Expr) -> Load:
    assert isinstance(e, Load)
    return e


def _settled(e: Expr, known: Mapping[str, int], types: dict[str, Scalar]) -> Expr:
    """A quotient or a remainder of a counter and a number as that of the counter; a choice that is
    made so."""
    match e:
        case Bin("/" | "%" as op, left, right):
            n, (var, *more) = value_of(right), [*names(left) & known.keys()] or [""]
            behind = _behind(left, var) if var and not more else None
            if n is None or n < 1 or behind is None or behind < 0 or known[var] % n:
                return e
            if op == "%":
                return Const(behind % n)
            whole = Bin("/", Var(var), right)
            return Bin("+", whole, Const(behind // n)) if behind // n else whole
        case Select(cond, then, orelse) if all(map(_is_plain, walk_expr(cond))):
            alike = type_of(then, types) == type_of(orelse, types)
            return (then if evaluate(cond, {}) else orelse) if alike else e
        case _:
            return e


def _is_plain(e: Expr) -> bool:
    """Whether an expression is a whole number, or compares or joins such."""
    if isinstance(e, Const):
        return isinstance(e.value, int)
    return isinstance(e, Bin) and e.op not in ("/", "%")
