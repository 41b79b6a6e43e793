"""Stages of block tiles that copy elements of others, read where those are.

    t[y][x] = a[2*y][2*x + 1];  b[y][x] = t[y][x - 1] + t[y][x]
      ->  b[y][x] = a[2*y][2*x - 1] + a[2*y][2*x + 1]

That saves the tile of the copy, and a phase. It is left where work-items beside one another would
read words of one bank of local memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from loopxform.ir.affine import poly, simplify
from loopxform.ir.nodes import Bin, Expr, Load, Var
from loopxform.ir.types import Scalar
from loopxform.ir.visit import loads, substitute
from loopxform.transforms.overlapped.block_stages import BlockRead, Piece
from loopxform.transforms.overlapped.stages import Field, replaced

BANK = 4
"""Bytes of a bank of local memory."""


def forwarded(
    every: Sequence[Piece], stored: Collection[Field], types: Mapping[str, Scalar]
) -> list[Piece]:
    """The pieces without copies of fields, which their readers read themselves; those of `stored`
    are kept."""
    made = [p.field for p in every]
    copies: dict[Field, Piece] = {}
    out: list[Piece] = []
    for p in every:
        p = _through(p, copies) if any(r.field in copies for r in p.reads) else p
        readers = [q for q in every if any(r.field == p.field for r in q.reads)]
        alone = made.count(p.field) == 1 and p.field not in stored and readers
        if alone and _is_copy(p, types) and all(_reads_plainly(q, p) for q in readers):
            copies[p.field] = p
        else:
            out.append(p)
    return out


def _is_copy(p: Piece, types: Mapping[str, Scalar]) -> bool:
    """Whether a piece copies elements of a field, at subscripts that are sums, which neighbours
    read from several banks."""
    value = p.template.value
    if not isinstance(value, Load) or p.template.scalars or [r.load for r in p.reads] != [value]:
        return False
    if types[value.array] != types[p.field.array] or any(a.factor > 1 for a in p.along):
        return False
    atoms = {x for e in value.index for m, _ in poly(e).terms for x in m}
    if not all(isinstance(x, Var) for x in atoms):
        return False
    step = poly(value.index[-1]).coefficient(p.template.loops[-1].var).value
    return step is not None and (abs(step) <= 1 or abs(step) * types[value.array].bytes <= BANK)


def _reads_plainly(q: Piece, p: Piece) -> bool:
    """Whether a piece reads a copy at subscripts that hold no elements, in counters of one type."""
    kinds = {x.type for t in (p.template, q.template) for x in t.loops}
    own = {name for name, _, _ in q.template.scalars}
    index = [e for r in q.reads if r.field == p.field for e in r.index]
    return len(kinds) == 1 and not any([*loads(e)] or _names_any(e, own) for e in index)


def _names_any(e: Expr, own: Collection[str]) -> bool:
    return any(isinstance(x, Var) and x.name in own for m, _ in poly(e).terms for x in m)


def _through(p: Piece, copies: Mapping[Field, Piece]) -> Piece:
    """A piece that reads what copies are of."""
    new = {r.load: _source(r, copies[r.field]) for r in p.reads if r.field in copies}

    def read(x: Load) -> Expr | None:
        return new[x].load if x in new else None

    t = p.template
    scalars = tuple((name, type, replaced(e, read)) for name, type, e in t.scalars)
    template = replace(t, value=replaced(t.value, read), scalars=scalars)
    return replace(p, template=template, reads=tuple(new.get(r.load, r) for r in p.reads))


def _source(r: BlockRead, copy: Piece) -> BlockRead:
    """What is read instead of an element of a copy."""
    at = zip(copy.along, r.index)
    values = {a.var: simplify(Bin("-", e, a.offset)) for a, e in at if a.var}
    (source,) = copy.reads
    load = Load(
        source.load.array, tuple(simplify(substitute(e, values)) for e in source.load.index)
    )
    index = tuple(load.index[n] for n in source.field.dims)
    return BlockRead(load, source.field, index, r.certain and source.certain)
