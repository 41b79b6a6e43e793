"""Storage that each iteration of a band of parallel loops has for itself.

t; for i: for j: { t = e; S(t) }         -> for i: for j: { t; t = e; S(t) }
for i: for k: a[i] += S                  -> for i: { s = a[i]; for k: s += S; a[i] = s }
"""

from __future__ import annotations

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Assign, For, Load
from loopxform.ir.visit import (
    Path,
    at,
    counters,
    declared,
    loads,
    perfect_nest,
    reads,
    replace_at,
    resolve,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.transforms import Derivation, Expand, Privatise, Scalarise


def with_private_storage(
    derivation: Derivation,
    path: Path,
    parallel: list[str],
    needed: frozenset[str],
    *,
    apart: bool,
) -> Derivation:
    """Declares inside the innermost parallel loop what each iteration writes for itself: scalars,
    and the arrays among those that are `needed`. An array that has no fixed size gets an element
    for each iteration, if `apart`."""
    innermost, fn = parallel[-1], derivation.function
    outermost = at(fn, path)
    assert isinstance(outermost, For)
    body = perfect_nest(outermost)[len(parallel) - 1].body
    beside = replace_at(fn, path, ()).body
    outside = declared(beside)
    used = (writes(body) | reads(body)) - counters(fn)
    for name in (n for n in outside if n in used):
        private = Privatise(name, innermost)
        shared = name in reads(beside) | writes(beside) and private.check(derivation.function)
        if shared or (outside[name].shape and name not in needed):
            continue
        derivation = derivation.then(private)
        if apart and any(value_of(d) is None for d in outside[name].shape):
            derivation = derivation.then(Expand(name, tuple(parallel)))
    arrays = {p.name for p in fn.objects if p.array} | {n for n, s in outside.items() if s.shape}
    for array in _accumulated(body, arrays):
        step = Scalarise(array, innermost)
        while array in _accumulated(body, arrays) and not step.check(derivation.function):
            derivation = derivation.then(step)
            (site,) = resolve(derivation.function, innermost)
            body = site.loop.body
    return derivation


def _accumulated(body: tuple[object, ...], arrays: set[str]) -> list[str]:
    """Those of the arrays that a loop inside the body both reads and writes."""
    out: dict[str, None] = {}
    for s in body:
        if not isinstance(s, For):
            continue
        for _, inner in walk(s.body):
            if isinstance(inner, Assign) and isinstance(inner.target, Load) and not inner.atomic:
                array = inner.target.array
                read = {x.array for e in stmt_exprs(inner)[1:] for x in loads(e)}
                if array in arrays and (inner.op or array in read):
                    out[array] = None
    return list(out)
