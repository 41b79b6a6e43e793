"""A reduction in two kernels, for nests whose parallel loops are too small to fill a device:

    forall i: forall j: { s = c; for k: s += e; C[i, j] = s }
 -> part[M, N, chunks]
    forall kk: forall i: forall j: part[i, j, kk/T] = sum of e over a chunk of T = Tk*Rk iterations
    forall i: forall j: { s = c; for c: s += part[i, j, c]; C[i, j] = s }

The first is again a nest with one sequential loop, and can be tiled as any other. (Seed 000,
section 7.3.1.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopxform.errors import UnsupportedC
from loopxform.ir.names import fresh, outer_name, used_names
from loopxform.ir.nodes import Decl, For, Function
from loopxform.ir.visit import at, perfect_nest, walk
from loopxform.recipes.naive import one_item_each
from loopxform.recipes.nest import Nest
from loopxform.recipes.work import Work
from loopxform.transforms import Derivation, Distribute, Expand, Interchange, Rename, Rfactor


def parallel_redomap(
    nest: Nest, sizes: Mapping[str, int], *, reassociate: bool = False
) -> Derivation:
    """Both kernels with a work-item for each iteration; `sizes` are Ty, Tx, Tk and Rk. Raises
    UnsupportedC, TransformError."""
    taken = used_names(nest.derivation.start) | used_names(nest.function)
    tiles = {n: sizes[n] for n in ("Ty", "Tx", "Tk", "Rk") if n not in taken}
    w = Work(nest.derivation.with_tiles(tiles), dict(sizes))
    named = replace(nest, derivation=w.derivation)
    chunks, results = split_reduction(named, w.size("Tk", "Rk"), reassociate=reassociate)
    w.derivation = chunks.derivation
    one_item_each(w, chunks)
    one_item_each(w, replace(results, derivation=w.derivation))
    return w.derivation


def split_reduction(nest: Nest, size: str, *, reassociate: bool = False) -> tuple[Nest, Nest]:
    """The nest of the partial results, and the nest that combines them (of the same derivation).
    Raises UnsupportedC where there is not one reduction loop that can run first, TransformError
    where a step is refused."""
    seq = _only_loop(nest)
    outer = nest.parallel
    chunk = outer_name(nest.function, seq.var)
    known = {s.name for _, s in walk(nest.function.body) if isinstance(s, Decl)}
    w = Work(nest.derivation.titled("Partial results of the reduction"), {})
    w.do(Rfactor(seq.var, size, "reassociate" if reassociate else ""))
    first = next(
        s for s in replace(nest, derivation=w.derivation).innermost.body if not isinstance(s, Decl)
    )
    if not (isinstance(first, For) and first.var == chunk):
        raise _not_first(nest, seq)
    made = [s.name for _, s in walk(w.fn.body) if isinstance(s, Decl) and s.shape]
    w.do(*(Expand(name, outer) for name in made if name not in known))
    w.do(Distribute(outer, (chunk,)))
    w.stage("The partial results are a nest of their own")
    for var in outer:
        w.do(Rename(f"{var}#2", fresh(w.fn, f"{var}_r")))
    for var in reversed(outer):
        w.do(Interchange(var, chunk))
    chunks, results = (n for n, s in enumerate(w.fn.body) if isinstance(s, For))
    combining = tuple(x.var for x in perfect_nest(_loop(w.fn, results))[: len(outer)])
    return (
        Nest(w.derivation, (chunk, *outer), (chunks,)),
        Nest(w.derivation, combining, (results,)),
    )


def _only_loop(nest: Nest) -> For:
    found = [s for s in nest.innermost.body if isinstance(s, For)]
    if len(found) == 1:
        return found[0]
    raise UnsupportedC(
        f"{len(found)} sequential loops inside the parallel ones, not one",
        loc=nest.innermost.origin.loc,
        code="LX063",
        help="distribute the parallel loops around each of them",
    )


def _not_first(nest: Nest, seq: For) -> UnsupportedC:
    return UnsupportedC(
        f"the loop over '{seq.var}' uses what is computed before it in the nest",
        loc=seq.origin.loc or nest.innermost.origin.loc,
        code="LX063",
        help="compute it inside the loop, or in a nest of its own",
    )


def _loop(fn: Function, n: int) -> For:
    loop = at(fn, (n,))
    assert isinstance(loop, For)
    return loop
