"""Running values in a single pass, on devices whose groups can wait for others.

    for i: { s += e; out[i] = s; }  ->  s_pass[0] = s; for ii: T iterations, from s_pass[ii/T] on

The chunks (`chain-chunks`) are a nest of their own. Each is run by a group, which reads what it
needs once. A loop whose chunks groups cannot run stays as it is.
"""

from __future__ import annotations

from collections import Counter

from loopxform.analysis.compaction import filled
from loopxform.analysis.running import Scan, scan_of
from loopxform.errors import LimitError, TransformError, UnsupportedC
from loopxform.ir.names import outer_name
from loopxform.ir.nodes import For, Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import at, resolve
from loopxform.offload.program_state import Program
from loopxform.offload.reductions import has_room
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.recipes.scan import along
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import KINDS
from loopxform.targets.target import Limits
from loopxform.transforms import ChainChunks, possible

WORD = 4
"""Bytes of an int, or a float."""


def _terms(fn: Function, var: str, limits: Limits) -> int:
    """Iterations of a chunk: as many as keep in local memory what `chained_terms` numbers of four
    bytes take. What is stored takes the place of what was read, unless one of them runs downwards.
    Each work-item has an odd number of iterations, which has no bank conflicts."""
    (site,) = resolve(fn, var)
    types, scan = symbols(fn), scan_of(fn, site.path)
    assert isinstance(scan, Scan)
    read, stored = (Counter(types[a] for a in along(site.loop, stored=x)) for x in (False, True))
    down = any(along(site.loop, stored=x, directions=(-1,)) for x in (False, True))
    kept = read + stored if down else read | stored
    kept.update(types[a] for a in filled(fn, site.path, scan.values, scan.compacted))
    size = max(WORD, sum(t.bytes * n for t, n in kept.items()))
    terms, items = limits.costs.chained_terms, KINDS["scan"].tiles.Tx
    if size == WORD:
        return terms
    each = terms * WORD // size // items
    return items * (each - (each + 1) % 2) if each else max(terms * WORD // size, 1)


def in_one_pass(program: Program, w: Work, s: For) -> bool:
    """Makes a nest of the chunks of a loop whose running values are known to be such; False where
    that cannot be mapped to groups, and nothing has changed."""
    limits = program.limits
    if limits is None or limits.warp == 1 or not limits.forward_progress:
        return False
    plain, var = w.derivation, outer_name(w.fn, s.var)
    if not w.attempt(ChainChunks(s.var, str(_terms(w.fn, s.var, limits)))):
        return False
    (site,) = resolve(w.fn, var)
    nest = Nest(w.derivation, (var,), site.path)
    options = program.allowing(program.options, s)
    tried = possible(
        lambda: one_nest(nest, {}, "scan", limits, options, strict=True),
        *(UnsupportedC, TransformError, LimitError),
    )
    if not isinstance(tried, Tiled) or not has_room(plain.function, w.fn):
        w.derivation = plain
        return False
    program.derivation = w.derivation
    program.nests[var] = nest
    program.partial[var] = f"running values of {s.var} in one pass"
    *outer, n = site.path
    first = at(w.fn, (*outer, n - 1))
    assert isinstance(first, For)
    program.notes[first.var] = f"no chunk of {s.var} has told the others anything yet"
    return True
