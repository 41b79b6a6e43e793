"""Running values in a single pass, on devices whose groups can wait for others.

    for i: { s += e; out[i] = s; }  ->  s_pass[0] = s; for ii: T iterations, from s_pass[ii/T] on

The chunks (`chain-chunks`) are a nest of their own. Each is run by a group, which reads what it
needs once. A loop whose chunks groups cannot run stays as it is.
"""

from __future__ import annotations

from loopxform.errors import LimitError, TransformError, UnsupportedC
from loopxform.ir.names import outer_name
from loopxform.ir.nodes import For
from loopxform.ir.visit import at, resolve
from loopxform.offload.program_state import Program
from loopxform.offload.reductions import has_room
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.recipes.tile_nest import Tiled, one_nest
from loopxform.transforms import ChainChunks, possible


def in_one_pass(program: Program, w: Work, s: For) -> bool:
    """Makes a nest of the chunks of a loop whose running values are known to be such; False where
    that cannot be mapped to groups, and nothing has changed."""
    limits = program.limits
    if limits is None or not limits.forward_progress:
        return False
    plain, var = w.derivation, outer_name(w.fn, s.var)
    if not w.attempt(ChainChunks(s.var, str(limits.costs.chained_terms))):
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
