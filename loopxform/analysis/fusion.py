"""Fusion: what stands in the way of making one loop of two neighbours, and the loop they make.

    for i: A(i); for j: B(j)  ->  for i: { A(i); B(i) }

Legal iff both loops run through the same values, and no dependence leads from A(a) to B(b) with
a > b: fusion would run B(b) first (a fusion-preventing dependence). In the fused loop these are
the rows that the loop carries from B back to A. (Allen and Kennedy, "Optimizing Compilers for
Modern Architectures", section 6.2.5; Wolfe, "High Performance Compilers for Parallel Computing",
section 9.3.)
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.context import always, counterexample
from loopxform.analysis.dependence import Dependence, worst
from loopxform.analysis.deps import dependences
from loopxform.analysis.legality import loop_at, opaque_obstacles
from loopxform.analysis.pairs import Witness
from loopxform.analysis.privatise import privacy
from loopxform.analysis.region import visible
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Const, Decl, For, Function, If, Stmt, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.renaming import rename
from loopxform.ir.visit import Path, after, at, declared, names, reads, replace_at, walk, writes


def next_statement(fn: Function, path: Path) -> Stmt | None:
    """What stands directly after the statement at `path`."""
    try:
        return at(fn, after(path))
    except IndexError:
        return None


def next_loop(fn: Function, path: Path) -> For | None:
    """The loop that stands directly after the statement at `path`."""
    found = next_statement(fn, path)
    return found if isinstance(found, For) else None


def fuse_obstacles(fn: Function, path: Path) -> tuple[Obstacle, ...]:
    """Why the loop at `path` and the loop after it may not become one; () where they may."""
    first, second = loop_at(fn, path), next_loop(fn, path)
    if second is None:
        message = f"no loop follows the loop over '{first.var}' directly"
        remedy = "fusion takes two loops of one body with nothing between them"
        return (Obstacle("LX113", message, first.origin.loc, remedy=remedy),)
    unknown = (*opaque_obstacles(fn, path), *opaque_obstacles(fn, after(path)))
    if unknown:
        return unknown
    structure = (*_variables(first, second), *_names(fn, path), *_bounds(first, second))
    if structure:
        return structure
    differ = _iterations(fn, path)
    if differ is not None:
        return (differ,)
    back = [d for d in across(fn, path) if _from_second(d, path, len(first.body))]
    return tuple(_reversed(fn, path, d) for d in worst(back))


def fused(fn: Function, path: Path) -> Function:
    """`fn` with the two loops as one, sequential. What the second declares under a name that the
    first uses too is renamed."""
    first, second = loop_at(fn, path), next_loop(fn, path)
    assert second is not None
    new = {second.var: first.var}
    shared = _mentioned(first.body) & declared(second.body).keys()
    for name in sorted(shared - visible(fn, path).keys()):
        new[name] = fresh(fn, name)
    body = (*first.body, *rename(second.body, new))
    unroll = first.unroll and second.unroll
    live = first.live_out or second.live_out
    loop = replace(first, body=body, parallel=False, unroll=unroll, live_out=live)
    return replace_at(replace_at(fn, after(path), ()), path, (loop,))


def across(fn: Function, path: Path) -> list[Dependence]:
    """The rows of the fused loop that it carries from one of the two bodies to the other."""
    cut = len(loop_at(fn, path).body)
    return [
        d
        for d in dependences(fused(fn, path), path, counters=True)
        if d.carrier == path and _from_second(d, path, cut) != _to_second(d, path, cut)
    ]


def _from_second(d: Dependence, path: Path, cut: int) -> bool:
    return d.source.path[len(path)] >= cut


def _to_second(d: Dependence, path: Path, cut: int) -> bool:
    return d.sink.path[len(path)] >= cut


# ---------------------------------------------------------------- structure


def _variables(first: For, second: For) -> tuple[Obstacle, ...]:
    """The variable of the first loop takes the place of the other's: of its type, not read in the
    second for what the first left in it, and the last value of the other is not needed."""
    place, old, new = second.origin.loc, second.var, first.var
    if first.type != second.type:
        message = f"'{new}' is of type {first.type}, '{old}' of type {second.type}"
        remedy = "give the loop variables the same type"
        return (Obstacle("LX113", message, place, remedy=remedy),)
    if old == new:
        return ()
    if second.live_out:
        message = f"'{old}', which '{new}' would replace, is read after the loop over it ends"
        remedy = f"use {new} in both loops"
        return (Obstacle("LX130", message, place, remedy=remedy),)
    if new in _mentioned(second.body) | _header(second):
        message = f"the loop over '{old}' uses '{new}', which would be its own variable"
        return (Obstacle("LX114", message, place, remedy="rename one of them"),)
    return ()


def _names(fn: Function, path: Path) -> tuple[Obstacle, ...]:
    """Nothing that one body declares hides what the other means by the same name."""
    first, second = loop_at(fn, path), next_loop(fn, path)
    assert second is not None
    hiding = {s.name for s in first.body if isinstance(s, Decl)} & _mentioned(second.body)
    later = {s.name for s in second.body if isinstance(s, Decl)} & _mentioned(first.body)
    hidden = hiding - declared(second.body).keys() | (hiding | later) & visible(fn, path).keys()
    return tuple(
        Obstacle(
            "LX114",
            f"'{name}' is declared in one of the loops and means something else in the other",
            second.origin.loc,
            remedy="rename one of them",
        )
        for name in sorted(hidden)
    )


def _bounds(first: For, second: For) -> tuple[Obstacle, ...]:
    """The bounds of both loops are the same before, between and after them."""
    header = _header(first) | _header(second)
    counters = {s.var for _, s in walk((first, second)) if isinstance(s, For)}
    changed = header & (writes(first.body) | writes(second.body) | counters)
    if not changed:
        return ()
    message = f"the loops change '{min(changed)}', on which their bounds depend"
    remedy = "copy the bound into another variable before the loops"
    return (Obstacle("LX112", message, second.origin.loc, remedy=remedy),)


def _iterations(fn: Function, path: Path) -> Obstacle | None:
    """Both loops start at the same value, count by the same step, and every value of one is below
    the bound of the other."""
    first, second = loop_at(fn, path), next_loop(fn, path)
    assert second is not None
    step = value_of(first.step)
    if step is None or step != value_of(second.step):
        text = f"count by {expr_text(first.step)} and {expr_text(second.step)}"
        return _differ(first, second, text)
    start = Bin("==", first.lo, second.lo)
    if not always(fn, path, start):
        text = f"start at {expr_text(first.lo)} and {expr_text(second.lo)}"
        return _differ(first, second, text, counterexample(fn, path, start))
    text = f"end at {expr_text(first.hi)} and {expr_text(second.hi)}"
    ends = ((path, first, second), (after(path), second, first))
    for place, loop, other in ends:
        probed = _probe(fn, place)
        within = Bin("<" if step > 0 else ">", Var(loop.var), other.hi)
        if not always(probed, (*place, 0), within):
            return _differ(first, second, text, counterexample(probed, (*place, 0), within))
    return None


def _probe(fn: Function, path: Path) -> Function:
    """`fn` with a statement at the start of the loop at `path`, of which to ask what holds."""
    loop = loop_at(fn, path)
    return replace_at(fn, path, (replace(loop, body=(If(Const(1), ()), *loop.body)),))


def _differ(first: For, second: For, how: str, witness: str | None = None) -> Obstacle:
    both = f"'{first.var}'" if first.var == second.var else f"'{first.var}' and '{second.var}'"
    proven = "do not have" if witness else "are not proven to have"
    message = f"the loops over {both} {proven} the same iterations: they {how}"
    remedy = "split the longer loop where the shorter one ends, or normalise both"
    return Obstacle("LX113", message, second.origin.loc, witness, remedy)


# ---------------------------------------------------------------- dependences


def _reversed(fn: Function, path: Path, d: Dependence) -> Obstacle:
    """The row of the fused loop as the dependence of the two loops that it would reverse."""
    kind = {"flow": "anti", "anti": "flow", "output": "output"}[d.kind]
    text = f"the {kind} dependence of {d.array} from {d.sink} to {d.source}"
    text += " leads to an earlier iteration and would be reversed"
    remedy = "keep the loops apart, or shift the second one"
    if _own(fn, path, d.array):
        remedy = f"give each loop a variable of its own in place of {d.array}"
    if d.exact and d.point is not None:
        witness = _in_order(fn, path, d.point)
        return Obstacle("LX101", text, d.source.loc, witness, remedy)
    text += ", as far as can be told: it could not be excluded"
    return Obstacle("LX102", text, d.source.loc, remedy=remedy)


def _own(fn: Function, path: Path, name: str) -> bool:
    """Whether a scalar carries nothing into an iteration of either loop."""
    storage = visible(fn, path).get(name)
    scalar = storage is not None and storage.rank == 0
    return scalar and all(privacy(fn, p, name).exposed is None for p in (path, after(path)))


def _in_order(fn: Function, path: Path, point: Witness) -> str:
    """The iterations of the first loop and of the second, by the names of their variables."""
    first, second = loop_at(fn, path), next_loop(fn, path)
    assert second is not None
    later = {second.var if k == first.var else k: v for k, v in point.source.items()}
    return str(Witness(point.params, point.sink, later, point.elements))


def _header(loop: For) -> frozenset[str]:
    return names(loop.lo) | names(loop.hi) | names(loop.step)


def _mentioned(body: tuple[Stmt, ...]) -> frozenset[str]:
    """Every name that occurs in `body`: read, written, counted or declared."""
    own = {s.var for _, s in walk(body) if isinstance(s, For)}
    return reads(body) | writes(body) | own | declared(body).keys()
