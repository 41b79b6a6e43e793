"""What would take away a dependence that a loop carries."""

from __future__ import annotations

from loopxform.analysis.induction import growth, induction, wraps_around
from loopxform.analysis.relaxation import relaxes
from loopxform.analysis.same_stores import same_stores
from loopxform.analysis.scatters import Scatter, scatter
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import For, Function
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, loops


def remedy(fn: Function, path: Path, loop: For, array: str) -> str:
    """What would take a dependence of `array` away that the loop at `path` carries, to follow the
    reason: where its values are known in advance, or an order of updates is not needed. Nothing
    where there is no such remedy."""
    grows = induction(fn, path, array)
    if grows is not None:
        return (
            f"; {array} is an induction variable, {grows} in iteration {grows.counter} from 0: "
            f"'substitute {array} {_reference(fn, path, loop)}' takes the dependence away"
        )
    last = wraps_around(fn, path, array)
    if last is not None:
        return (
            f"; {array} is a wrap-around variable, {expr_text(last)} of the iteration before "
            f"from the second one on: {_peeling(fn, path, loop)}"
        )
    how = growth(fn, path, array)
    if how:
        return f"; {how}"
    for stores in same_stores(fn, path):
        if stores.array == array:
            return (
                f"; all that it stores to {array} is {expr_text(stores.value)}: "
                f"'atomic-stores {_reference(fn, path, loop)}' takes the dependence away"
            )
    if isinstance(scatter(fn, path, array), Scatter):
        return (
            f"; the last iteration that stores to an element wins: "
            f"'last-stores {array} {_reference(fn, path, loop)}' finds it first"
        )
    op = relaxes(fn, path, array)
    return f"; {_another_array(array, op)}" if op else ""


def _another_array(array: str, op: str) -> str:
    """What would take the order of updates away that read what others have updated."""
    return (
        f"if the values of '{array}' from before the loop will do, read them from another array: "
        f"then this is a reduction ({op})"
    )


def _peeling(fn: Function, path: Path, loop: For) -> str:
    """What takes the first iteration off: a step, where its point can be said in a word."""
    start, step = value_of(loop.lo), value_of(loop.step)
    if start is None or step is None or step < 1:
        return "peel the first iteration"
    return f"'split {_reference(fn, path, loop)} {start + step}' peels the first iteration"


def _reference(fn: Function, path: Path, loop: For) -> str:
    """What a step calls the loop: `i`, or `i#2` where it is the second over i."""
    same = [site.path for site in loops(fn) if site.loop.var == loop.var]
    return loop.var if len(same) == 1 else f"{loop.var}#{same.index(path) + 1}"
