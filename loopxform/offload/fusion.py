"""Neighbouring nests that compute element by element become one: fewer launches, and what one of
them writes or reads is at hand for the other.

    for i: for j: b[i][j] = f(a[i][j]);
    for i: for j: c[i][j] = g(b[i][j]);         ->  for i: for j: { b[i][j] = ...; c[i][j] = ... }

Only where that takes nothing away: all loops of both are parallel and stay so, there is no loop
inside them (which would be tiled), they touch a common element, and they walk through the rows of
every array.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from loopxform.analysis.verdict import judge
from loopxform.errors import TransformError
from loopxform.ir.nodes import For, Load, Stmt, Var
from loopxform.ir.visit import (
    bodies,
    declared,
    loads,
    names,
    perfect_nest,
    stmt_exprs,
    substitute,
    walk,
)
from loopxform.source import Loc
from loopxform.transforms import Derivation, Fuse

Nest = tuple[For, ...]
"""The loops of a perfect nest, outermost first."""


Lines = dict[str, tuple[int, ...]]
"""Where nests were that are parts of others, by the outermost loops of these."""


def fused_neighbours(d: Derivation, apart: Collection[Loc]) -> tuple[Derivation, Lines]:
    """The same program with such neighbours fused, and where they were; loops whose place is in
    `apart` stay as they are."""
    tried: set[tuple[str, str]] = set()
    lines: Lines = {}
    while True:
        pairs = (p for p in _pairs(d.function.body) if _alike(*p) and not _at(p, apart))
        pair = next((p for p in pairs if (p[0][0].var, p[1][0].var) not in tried), None)
        if pair is None:
            return d, lines
        (a, *_), (b, *_) = pair
        tried.add((a.var, b.var))
        made = _fused(d, *pair)
        if made is not None:
            d = made
            here = (b.origin.loc.line,) if b.origin.loc else ()
            lines[a.var] = (*lines.get(a.var, ()), *here, *lines.pop(b.var, ()))


def also(lines: Sequence[int]) -> str:
    """That a nest holds those of other lines."""
    return f"fused with the nest{'s' if len(lines) > 1 else ''} at " + ", ".join(
        f"line {n}" for n in lines
    )


def _pairs(body: tuple[Stmt, ...]) -> Iterator[tuple[Nest, Nest]]:
    """Neighbouring nests, in all bodies."""
    for a, b in pairwise(body):
        if isinstance(a, For) and isinstance(b, For):
            yield perfect_nest(a), perfect_nest(b)
    for s in body:
        for inner in bodies(s):
            yield from _pairs(inner)


def _at(pair: tuple[Nest, Nest], places: Collection[Loc]) -> bool:
    return any(x.origin.loc in places for nest in pair for x in nest)


def _alike(first: Nest, second: Nest) -> bool:
    """Whether two nests are as deep, have no loop inside, and touch a common element."""
    both = (first, second)
    inside = [declared(x[-1].body) for x in both]
    if len(first) != len(second) or inside[0].keys() & inside[1].keys():
        return False
    if any(isinstance(s, For) for x in both for _, s in walk(x[-1].body)):
        return False
    new = {y.var: x.var for x, y in zip(first, second)}
    return all(map(_by_rows, both)) and bool(_elements(first, {}) & _elements(second, new))


def _elements(nest: Nest, new: dict[str, str]) -> set[Load]:
    """What an iteration touches, with loops under other names."""
    found = {x for _, s in walk(nest[-1].body) for e in stmt_exprs(s) for x in loads(e)}
    renamed = {old: Var(name) for old, name in new.items()}
    return {Load(x.array, tuple(substitute(i, {**renamed}) for i in x.index)) for x in found}


def _by_rows(nest: Nest) -> bool:
    """Whether the innermost loop alone runs through the last subscript of every array."""
    *outer, last = (x.var for x in nest)
    return all(
        not names(x.index[-1]) & set(outer) and last not in names(Load("", x.index[:-1]))
        for x in _elements(nest, {})
    )


def _fused(d: Derivation, first: Nest, second: Nest) -> Derivation | None:
    """One nest of two, where all its loops are parallel, as all of theirs are."""
    every = {x.var for x in (*first, *second)}
    if not every <= _parallel(d):
        return None
    made = d.titled(f"The nests of {first[0].var} and {second[0].var} in one")
    try:
        made = made.run(tuple(Fuse(x.var, y.var) for x, y in zip(first, second)))
    except TransformError:
        return None
    return made if {x.var for x in first} <= _parallel(made) else None


def _parallel(d: Derivation) -> set[str]:
    return {v.var for v in judge(d.function) if v.parallel == "yes"}
