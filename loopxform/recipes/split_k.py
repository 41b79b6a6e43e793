"""A reduction in two kernels, for nests whose parallel loops are too small to fill a device:

    forall i: forall j: { s = c; for k: s += e; C[i, j] = s }
 -> part[M, N, chunks]
    forall kk: forall i: forall j: part[i, j, kk/T] = sum of e over a chunk of T = Tk*Rk iterations
    forall i: forall j: { s = c; for c: s += part[i, j, c]; C[i, j] = s }

Both are again nests with one sequential loop: the first can be tiled as any other. Partial results
of a group are neighbours in `part[M, N, chunks]`, those of neighbouring work-items in
`part[chunks, M, N]`. (Cholewa-Madsen and Holst, section 7.3.1.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopxform.errors import UnsupportedC
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Decl, For
from loopxform.ir.visit import walk
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.recipes.naive import one_item_each
from loopxform.records import record
from loopxform.schedule.params import KINDS
from loopxform.targets.target import Costs
from loopxform.transforms import (
    Derivation,
    Distribute,
    Expand,
    Interchange,
    Permute,
    Rename,
    Rfactor,
)


@record
class Split:
    """The nest of the partial results, the nest that combines them (of the same derivation), and
    the arrays of partial results."""

    chunks: Nest
    results: Nest
    arrays: tuple[str, ...]

    @property
    def neighbours(self) -> tuple[Permute, ...]:
        """The steps after which the results of one chunk lie together."""
        rank = len(self.results.parallel) + 1
        order = (str(rank - 1), *map(str, range(rank - 1)))
        return tuple(Permute(name, order) for name in self.arrays)


def split_reduction(nest: Nest, size: str, *, reassociate: bool = False) -> Split:
    """Both nests. `size` is the number of terms in a chunk.
    Raises UnsupportedC where there is not one reduction loop that can run first, TransformError
    where a step is refused."""
    seq = _only_loop(nest)
    outer = nest.parallel
    known = {s.name for _, s in walk(nest.function.body) if isinstance(s, Decl)}
    w = Work(nest.derivation.titled("Partial results of the reduction"), {})
    w.do(Rfactor(seq.var, size, "reassociate" if reassociate else ""))
    first = next(
        s for s in replace(nest, derivation=w.derivation).innermost.body if not isinstance(s, Decl)
    )
    if not (isinstance(first, For) and first.parallel):
        raise _not_first(nest, seq)
    chunk = first.var
    every = (s.name for _, s in walk(w.fn.body) if isinstance(s, Decl) and s.shape)
    made = tuple(name for name in every if name not in known)
    w.do(*(Expand(name, outer) for name in made))
    w.do(Distribute(outer, (chunk,)))
    w.stage("The partial results are a nest of their own")
    combining = list[str]()
    for var in outer:
        combining.append(fresh(w.fn, f"{var}_r"))
        w.do(Rename(f"{var}#2", combining[-1]))
    for var in reversed(outer):
        w.do(Interchange(var, chunk))
    return Split(
        Nest(w.derivation, (chunk, *outer), ()).of(w.derivation),
        Nest(w.derivation, tuple(combining), ()).of(w.derivation),
        made,
    )


def combined(
    derivation: Derivation, split: Split, sizes: Mapping[str, int], costs: Costs
) -> Derivation:
    """The combination with a work-item for each result, after the partial results are mapped, whose
    tile `sizes` it shares. Raises TransformError."""
    items = costs.combining_items
    rows = max(1, items // sizes.get("Tx", items))
    w = Work(derivation, {**KINDS["naive"].tiles.numbers, "Ty": rows, **sizes})
    w.stage("The results of one chunk lie together")
    w.do(*split.neighbours)
    one_item_each(w, replace(split.results, derivation=w.derivation))
    return w.derivation


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
