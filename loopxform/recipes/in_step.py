"""Loops that all work-items of a group run in step, as their terms are summed up in order:

    x_row in local memory;  for j < n: s += x_row[j]
 -> for (jj = 0; jj < n / 16 * 16; jj += 16) for j < 16, unrolled: s += x_row[jj + j];  the rest

Each work-item computes the same, from elements that one read of local memory gives to all of them:
that takes no longer than if one of them did. What hides the latency of a sum in order are other
groups, so that arrays in local memory have to be small (`in_step_groups`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loopxform.ir.accuracy import ULPS
from loopxform.ir.affine import value_of
from loopxform.ir.functions import base_name
from loopxform.ir.names import outer_name
from loopxform.ir.nodes import Assign, Bin, Call, Expr, For, Function, If, Load, Stmt
from loopxform.ir.types import Scalar, Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import bodies, declared, loads, resolve, stmt_exprs, walk, walk_expr
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.transforms import Expand, NameTerms, Normalise, Split, Stripmine, Unroll
from loopxform.transforms.edges.bounds import fixed_trips, trip_count


def left_loops(body: Sequence[Stmt], most: int) -> Iterator[For]:
    """The loops of more than so many iterations in a mapped program that no work-items share."""
    for s in body:
        if isinstance(s, For) and (s.level is None or value_of(trip_count(s)) == 1):
            held = any(isinstance(x, For) and x.level is not None for _, x in walk(s.body))
            if held or s.level:
                yield from left_loops(s.body, most)
            elif not _is_short(s, most):
                yield s
        elif isinstance(s, If):
            yield from (x for part in bodies(s) for x in left_loops(part, most))


def _is_short(s: For, most: int) -> bool:
    """Whether it has at most so many iterations, those of loops inside included, as can be told."""
    total = 1
    for x in (s, *(x for _, x in walk(s.body) if isinstance(x, For))):
        fixed = fixed_trips(x)
        total *= most + 1 if fixed is None else fixed[0].value or most + 1
    return total <= most


def in_local_memory(fn: Function, loops: Sequence[For]) -> bool:
    """Whether loops read nothing but local memory, and write to none."""
    own = {n for n, d in declared(fn.body).items() if d.shape and d.space is Space.LOCAL}
    for _, s in walk(tuple(loops)):
        stored = isinstance(s, Assign) and isinstance(s.target, Load)
        if stored or any(x.array not in own for e in stmt_exprs(s) for x in loads(e)):
            return False
    return True


def takes_long(fn: Function, loops: Sequence[For]) -> bool:
    """Whether loops compute what takes much longer than a sum: quotients, roots, functions."""
    types = symbols(fn)
    for _, s in walk(tuple(loops)):
        divides = isinstance(s, Assign) and s.op == "/"
        if divides or any(_is_slow(x, types) for e in stmt_exprs(s) for x in walk_expr(e)):
            return True
    return False


def _is_slow(e: Expr, types: dict[str, Scalar]) -> bool:
    match e:
        case Bin("/"):
            return not type_of(e, types).is_integer
        case Call(name):
            base = base_name(name)
            return base is None or base == "sqrt" or base in ULPS
    return False


def quick_loops(fn: Function, shared: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Those of the shared loops, alone ones, that compute nothing that takes long."""
    for v in (names[0] for names in shared if len(names) == 1):
        sites = resolve(fn, v)
        if not takes_long(fn, [x.loop for x in sites]):
            yield v


def with_terms_apart(nest: Nest, loops: Iterable[str]) -> Nest:
    """The nest with arrays of the terms that loops sum up, so that they can be computed by many."""
    w = Work(nest.derivation.titled("Terms apart from their sums"), {})
    for var in (v for v in loops if len(resolve(w.fn, v)) == 1):
        known, before = declared(w.fn.body).keys(), w.derivation
        if w.attempt(NameTerms(var)):
            made = [n for n in declared(w.fn.body) if n not in known]
            if not w.attempt(*(Expand(n, (var,)) for n in made)):
                w.derivation = before
    return nest.of(w.derivation)


def unroll_in_parts(w: Work, loops: Iterable[str], count: int) -> None:
    """Unrolls so many iterations of each of the loops, where that is legal."""
    for var in (v for v in loops if len(resolve(w.fn, v)) == 1):
        over = outer_name(w.fn, var)
        tiles = (Stripmine(var, str(count), over), Normalise(var, "body"))
        w.attempt(*tiles, Split(over, "full-tiles"), Unroll(f"{var}*"))
