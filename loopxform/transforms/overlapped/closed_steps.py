"""That the steps of a loop over time are closed: what one writes is carried to the next one by
kernels that run several, or nobody needs it.

With W what the body of the loop writes, each statement being one of which the tree says that:

    W = fields + host + private, no name being in two of them, and none a counter
      fields   arrays whose stores are all stages: kernels carry them
      host     integers that are set between the nests: the clock has what they are in each step
      private  scalars that iterations of nests set before they read them, and nobody else reads
    what stages are computed from is of fields, of the iteration or of the clock, or it is not in W
    bounds and extents are not in W, and made of no elements and no counters

Then so many steps of the stages, one after the other, are as many iterations of the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.analysis.liveness import first_use, live_after
from loopxform.ir.nodes import Assign, Decl, For, Function, If, Load, Stmt
from loopxform.ir.visit import Path, loads, names, resolve, stmt_exprs, walk, writes
from loopxform.transforms.overlapped.clock import Clock, Run
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.sizes import shape_of
from loopxform.transforms.overlapped.straight_line import iterations
from loopxform.transforms.overlapped.templates import Template


def require_closed(
    fn: Function, loop: For, clock: Clock, nests: Sequence[Run], found: Sequence[Template]
) -> None:
    """Raises NotStages unless the steps of a loop over time are closed: `found` are the stages of
    their `nests`, and the `clock` has what the host sets between these."""
    loc, sums = loop.origin.loc, [s for _, s in walk(loop.body) if isinstance(s, Assign)]
    written, in_nests = writes(loop.body), writes(tuple(run.nest for run in nests))
    arrays = frozenset(s.target.array for s in sums if isinstance(s.target, Load))
    fields = frozenset(t.target.array for t in found)
    private, host = in_nests - fields, written - in_nests
    counters = frozenset(x.var for _, x in walk((loop,)) if isinstance(x, For))

    _require_known_statements(loop)
    for name in sorted((arrays ^ fields) | (written & counters)):
        raise NotStages(f"the loop sets '{name}', but no stage does", loc)
    for name in sorted(private):
        _require_private(fn, loop, nests, name)
    for name in sorted(host - {s.name for s in clock.states}):
        _require_dead(fn, loop, name)
    for t in found:
        _require_fixed(clock, t, written | counters, fields)
    _require_fixed_bounds(fn, loop, found, written | counters)


def _require_known_statements(loop: For) -> None:
    """The tree says what every statement reads and writes."""
    for _, s in walk(loop.body):
        plain = isinstance(s, For | If) or (isinstance(s, Decl) and not s.shape)
        if not plain and not (isinstance(s, Assign) and not s.atomic):
            raise NotStages("a statement of the loop is none of a stencil", s.origin.loc)


def _require_private(fn: Function, loop: For, nests: Sequence[Run], name: str) -> None:
    """The values of a scalar begin and end in iterations of nests."""
    by_value = {p.name for p in fn.params if not (p.array or p.pointer or p.is_member)}
    if name in {p.name for p in fn.objects} - by_value:
        raise NotStages(f"the loop sets '{name}', which belongs to others", loop.origin.loc)
    _require_dead(fn, loop, name)
    for s in _between(loop, _path(fn, loop), nests):
        if any(name in names(e) for e in stmt_exprs(s)):
            raise NotStages(f"'{name}' is used outside of the nests that set it", s.origin.loc)
    for run in nests:
        inner = [(p, x) for p, x in walk(run.nest.body, run.path) if isinstance(x, For)]
        for path, x in [(run.path, run.nest), *inner]:
            in_order = x is not run.nest and not x.parallel and iterations(x) is not None
            if not in_order and first_use(fn, x.body, path, name) == "read":
                text = f"an iteration of '{x.var}' may read what another one set '{name}' to"
                raise NotStages(text, x.origin.loc, "set it in the iteration first")


def _require_dead(fn: Function, loop: For, name: str) -> None:
    """Nobody reads what a scalar is behind the loop."""
    if live_after(fn, _path(fn, loop), name) is not False:
        raise NotStages(f"'{name}' is read behind the loop that sets it", loop.origin.loc)


def _require_fixed(
    clock: Clock, t: Template, changing: frozenset[str], fields: frozenset[str]
) -> None:
    """Nothing but fields, the iteration and the clock says what a stage computes, and where."""
    own = {name for name, _, _ in t.scalars} | {x.var for x in t.loops}
    known = fields | own | {s.name for s in clock.states} | {clock.time}
    said = (*t.values, *t.target.index, t.when)
    for name in sorted((frozenset[str]().union(*map(names, said)) - known) & changing):
        raise NotStages(f"'{name}' is not the same in all steps", t.loc)


def _require_fixed_bounds(
    fn: Function, loop: For, found: Sequence[Template], changing: frozenset[str]
) -> None:
    """No step changes how many there are, what the nests count, or the extents of arrays."""
    counted = {x: (x.lo, x.hi, x.step) for x in (loop, *(x for t in found for x in t.loops))}
    for x, bounds in counted.items():
        if any(any(loads(e)) or names(e) & changing for e in bounds):
            text = f"the bounds of the loop over '{x.var}' are not the same in all steps"
            raise NotStages(text, x.origin.loc)
    for t in found:
        extents = [e for e in shape_of(fn, t.target.array) if e is not None]
        if any(any(loads(e)) or names(e) & changing for e in extents):
            text = f"the extents of '{t.target.array}' are not the same in all steps"
            raise NotStages(text, t.loc)


def _between(loop: For, path: Path, nests: Sequence[Run]) -> Iterator[Stmt]:
    """The statements of a step that are in no nest."""
    inside = {run.path for run in nests}
    for at, s in walk(loop.body, path):
        if not any(at[: len(p)] == p for p in inside):
            yield s


def _path(fn: Function, loop: For) -> Path:
    (site,) = resolve(fn, loop.var)
    return site.path
