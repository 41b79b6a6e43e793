"""One predicate per question about a loop; each answers with every obstacle, () meaning legal.

The questions are asked of the dependence matrix (`deps`): rows are dependences, columns the loops
around both statements, outermost first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from loopxform.analysis.dependence import Dependence, worst
from loopxform.analysis.deps import dependences
from loopxform.analysis.distinct import distinct
from loopxform.analysis.exchange import NotExchanged, exchanged
from loopxform.analysis.privatise import privacy
from loopxform.analysis.reductions import reductions
from loopxform.analysis.scope import below
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Decl, For, Function, Opaque, Stmt
from loopxform.ir.visit import Path, enclosing, names, reads, writes


def loop_at(fn: Function, path: Path) -> For:
    loop = enclosing(fn, path)[-1]
    if not isinstance(loop, For):
        raise TypeError(f"no loop at {path}")
    return loop


def parallel_obstacles(fn: Function, path: Path) -> tuple[Obstacle, ...]:
    """No row has its first non-`=` in the column of the loop. Storage declared inside the loop is
    private to an iteration and has no such row."""
    loop = loop_at(fn, path)
    if loop.parallel:
        return ()
    unknown = opaque_obstacles(fn, path)
    if unknown:
        return unknown
    rows = [d for d in dependences(fn, path, counters=True) if d.carrier == path]
    return tuple(_carried(loop, d, "is carried by", _remedy(fn, path, d)) for d in worst(rows))


def reverse_obstacles(fn: Function, path: Path) -> tuple[Obstacle, ...]:
    """Running a loop backwards reverses exactly the dependences it carries."""
    loop = loop_at(fn, path)
    if loop.live_out:
        return (_live_out(loop),)
    if loop.parallel or distinct(loop):
        return ()
    unknown = opaque_obstacles(fn, path)
    if unknown:
        return unknown
    rows = [d for d in dependences(fn, path, counters=True) if d.carrier == path]
    return tuple(_carried(loop, d, "would be reversed by", None) for d in worst(rows))


def interchange_obstacles(fn: Function, path: Path) -> tuple[Obstacle, ...]:
    """for i: for j: S -> for j: for i: S where the nest is perfect, the bounds of j can be written
    down outside of i, and no row reads (=, ..., <, >): it would begin with `>`. A forall carries
    nothing, so no such row exists: it moves inwards always (Cholewa-Madsen and Holst, footnote
    12)."""
    outer = loop_at(fn, path)
    structure = _not_swappable(fn, path, outer)
    if structure or outer.parallel:
        return structure
    unknown = opaque_obstacles(fn, path)
    if unknown:
        return unknown
    rows = [
        d
        for d in dependences(fn, path, counters=True)
        if len(d.direction) > 1 and d.direction[0] == "<" and d.direction[1] in (">", "*")
    ]
    return tuple(_reversed(d) for d in worst(rows))


def stays_parallel(fn: Function, path: Path) -> bool:
    """Whether the forall directly inside the loop at `path` still carries nothing once it stands
    outside of it: no row reads (<, ...) with anything but `=` for it."""
    if loop_at(fn, path).parallel:
        return True
    rows = [
        d
        for d in dependences(fn, path, counters=True)
        if len(d.direction) > 1 and d.direction[0] == "<"
    ]
    return all(d.direction[1] == "=" for d in rows)


def _not_swappable(fn: Function, path: Path, outer: For) -> tuple[Obstacle, ...]:
    place = outer.origin.loc
    if len(outer.body) != 1 or not isinstance(outer.body[0], For):
        message = f"the loop over '{outer.var}' does not hold just one loop"
        return (Obstacle("LX110", message, place, remedy=f"distribute {outer.var} first"),)
    inner = outer.body[0]
    if outer.live_out or inner.live_out:
        return (_live_out(outer if outer.live_out else inner),)
    found: list[Obstacle] = []
    if outer.var in _header(inner) and (why := _not_exchanged(fn, path)):
        message = f"the bounds of '{inner.var}' depend on '{outer.var}': {why}"
        remedy = f"normalise {inner.var}, so that the dependence becomes a guard"
        found.append(Obstacle("LX111", message, inner.origin.loc, remedy=remedy))
    changed = writes(inner.body) & (_header(inner) | _header(outer))
    if changed:
        message = f"the loops write '{min(changed)}', on which their bounds depend"
        remedy = "copy the bound into another variable before the loops"
        found.append(Obstacle("LX112", message, place, remedy=remedy))
    return tuple(found)


def _not_exchanged(fn: Function, path: Path) -> str:
    """Why the bounds of the two loops cannot be written down the other way round; "": they can."""
    try:
        exchanged(fn, path)
    except NotExchanged as e:
        return str(e)
    return ""


def distribute_obstacles(
    fn: Function, path: Path, cut: int, *, ordered: bool = False
) -> tuple[Obstacle, ...]:
    """for i: { A; B } -> for i: A; for i: B where no row carried by the loop leads from B to A, and
    nothing declared in A is used in B. For a forall only the latter can fail. `ordered`: the loops
    will be in a `dependence_order`, so that the former cannot."""
    loop = loop_at(fn, path)
    found = _shared_storage(loop, cut)
    if loop.parallel:
        return found
    unknown = opaque_obstacles(fn, path)
    if unknown:
        return (*found, *unknown)
    changed = writes(loop.body) & _header(loop)
    if changed:
        message = f"the loop writes '{min(changed)}', on which its bound depends"
        remedy = "copy the bound into another variable before the loop"
        found = (*found, Obstacle("LX112", message, loop.origin.loc, remedy=remedy))
    if ordered:
        return found
    depth = len(path)
    rows = [
        d
        for d in dependences(fn, path, counters=True)
        if d.carrier == path and _part(d.source.path, depth) >= cut > _part(d.sink.path, depth)
    ]
    text = "leads back to an earlier statement, carried by"
    return (*found, *(_carried(loop, d, text, None) for d in worst(rows)))


def dependence_order(fn: Function, path: Path, starts: Sequence[int]) -> tuple[int, ...] | None:
    """The parts of a loop, each of which begins with the statement of that number, in an order in
    which every dependence between two of them leads from an earlier to a later one: as far as it
    can, that of the text. None where dependences make a cycle of parts, or go to the header."""
    depth = len(path)
    before: dict[int, set[int]] = {n: set() for n in range(len(starts))}
    for d in dependences(fn, path, counters=True):
        source, sink = (bisect_right(starts, _part(x.path, depth)) - 1 for x in (d.source, d.sink))
        if min(source, sink) < 0:
            return None
        if source != sink:
            before[sink].add(source)
    order = list[int]()
    while len(order) < len(starts):
        ready = (n for n in before if n not in order and before[n] <= {*order})
        following = next(ready, None)
        if following is None:
            return None
        order.append(following)
    return tuple(order)


def _shared_storage(loop: For, cut: int) -> tuple[Obstacle, ...]:
    declared = [s for s in loop.body[:cut] if isinstance(s, Decl)]
    later = _mentioned(loop.body[cut:])
    return tuple(
        Obstacle(
            "LX121",
            f"'{s.name}' is declared in the body of '{loop.var}' and used on both sides of the cut",
            s.origin.loc,
            remedy=f"expand {s.name} over {loop.var} first",
        )
        for s in declared
        if s.name in later
    )


# ---------------------------------------------------------------- shared


def opaque_obstacles(fn: Function, path: Path) -> tuple[Obstacle, ...]:
    """The statements below `path` that are not modelled."""
    loop = enclosing(fn, path)[-1]
    return tuple(
        Obstacle("LX103", s.reason, s.origin.loc, remedy=s.help or None)
        for _, s in below(loop, path)
        if isinstance(s, Opaque)
    )


def describe(d: Dependence) -> str:
    """`the flow dependence of C from S0 (line 7) to S0 (line 7), direction (<, >),`."""
    return (
        f"the {d.kind} dependence of {d.array} from {d.source} to {d.sink}, direction {d.vector},"
    )


def _carried(loop: For, d: Dependence, verb: str, remedy: str | None) -> Obstacle:
    text = f"{describe(d)} {verb} the loop over '{loop.var}'"
    return _obstacle(d, text, remedy)


def _reversed(d: Dependence) -> Obstacle:
    proven = replace(d, exact=d.exact and d.tight)
    return _obstacle(proven, f"{describe(d)} would be reversed", "skew the inner loop first")


def _obstacle(d: Dependence, text: str, remedy: str | None) -> Obstacle:
    if d.exact:
        return Obstacle("LX101", text, d.sink.loc, d.witness, remedy)
    return Obstacle(
        "LX102",
        f"{text}, as far as can be told: it could not be excluded",
        d.sink.loc,
        None,
        remedy,
    )


def _remedy(fn: Function, path: Path, d: Dependence) -> str | None:
    loop = loop_at(fn, path)
    if any(r.array == d.array for r in reductions(fn, path)):
        op = next(r.op for r in reductions(fn, path) if r.array == d.array)
        return f"it is a reduction ({op}): keep {loop.var} sequential, or allow re-association"
    found = privacy(fn, path, d.array)
    if found.private:
        return f"make it private: privatise {d.array} {loop.var}"
    if found.with_copy:
        return f"{d.array} could be private if its last value were copied out"
    return None


def _part(path: Path, depth: int) -> int:
    """Which statement of a body something stands in; -1 for the header of the loop itself."""
    return path[depth] if len(path) > depth else -1


def _live_out(loop: For) -> Obstacle:
    message = f"'{loop.var}' is read after the loop over it ends"
    return Obstacle("LX130", message, loop.origin.loc, remedy="declare it in the loop")


def _header(loop: For) -> frozenset[str]:
    return names(loop.lo) | names(loop.hi) | names(loop.step)


def _mentioned(body: tuple[Stmt, ...]) -> frozenset[str]:
    """Every name that occurs in `body`, read or written."""
    return reads(body) | writes(body)
