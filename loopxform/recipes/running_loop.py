"""A loop with running values as steps find them: what the iteration before stored in scalars, each
value in one variable, iterations numbered upwards."""

from __future__ import annotations

from loopxform.analysis.running import Scan, scan_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, For, Function, Var
from loopxform.ir.visit import declared, names, resolve, writes
from loopxform.recipes.deriving import Work
from loopxform.records import record
from loopxform.transforms import (
    BranchChoice,
    Carry,
    Derivation,
    ForwardSubstitute,
    IfConvert,
    MergeCopy,
    Normalise,
    Privatise,
    Step,
)
from loopxform.transforms.restructure.branch_choice import chosen_scalars
from loopxform.transforms.restructure.merge_copy import merged_copies
from loopxform.transforms.sites import ascending
from loopxform.transforms.storage.carry import carried_arrays


@record
class PreparedLoop:
    """A derivation that ends with such a loop, and the arrays that elements are carried of, by the
    scalars that hold these."""

    derivation: Derivation
    carried: tuple[tuple[str, str], ...]


@record
class RunningLoop:
    """A derivation that ends with such a loop, its running values, and the arrays that some of them
    are elements of, by scalar."""

    derivation: Derivation
    scan: Scan
    carried: tuple[tuple[str, str], ...]


def running_loop(derivation: Derivation, var: str, *first: Step) -> RunningLoop | None:
    """The loop over `var`, after some steps, with values that run through it; None where it has
    none, or just reduces."""
    prepared = prepared_loop(derivation, var, *first)
    if prepared is None:
        return None
    w = Work(prepared.derivation, {})
    if ascending(resolve(w.fn, var)[0]):
        w.attempt(Normalise(var))
    scan = scan_of(w.fn, resolve(w.fn, var)[0].path)
    if not isinstance(scan, Scan) or scan.only_reduces:
        return None
    return RunningLoop(w.derivation, scan, prepared.carried)


def prepared_loop(derivation: Derivation, var: str, *first: Step) -> PreparedLoop | None:
    """The loop over `var`, after some steps, as running values are found in it; its iterations
    count as they did. None where one of the steps is refused."""
    w = Work(derivation, {})
    if first and not w.attempt(*first):
        return None
    for name in sorted(_outer_scalars(w.fn, var)):
        w.attempt(Privatise(name, var))
    (site,) = resolve(w.fn, var)
    for name in merged_copies(site.loop):
        w.attempt(MergeCopy(name, var))
    (site,) = resolve(w.fn, var)
    carried = tuple((fresh(w.fn, f"{a}_last"), a) for a in carried_arrays(w.fn, site.loop))
    for scalar, array in carried:
        w.attempt(Carry(array, var, scalar))
    if not _is_scan(w.fn, var):
        for name in chosen_scalars(resolve(w.fn, var)[0].loop):
            w.attempt(BranchChoice(name, var))
    if not _is_scan(w.fn, var):
        for name in _former_values(resolve(w.fn, var)[0].loop):
            w.attempt(ForwardSubstitute(name, var))
    return PreparedLoop(w.derivation, carried)


def converted_loop(derivation: Derivation, var: str) -> RunningLoop | None:
    """As `running_loop`, with one store where conditions choose from several, if need be."""
    return running_loop(derivation, var) or running_loop(derivation, var, IfConvert(var))


def _is_scan(fn: Function, var: str) -> bool:
    return isinstance(scan_of(fn, resolve(fn, var)[0].path), Scan)


def _former_values(loop: For) -> tuple[str, ...]:
    """The scalars of a body that keep what it makes of those from outside that it sets later."""
    local = declared(loop.body).keys()
    found, later = list[str](), frozenset[str]()
    for s in reversed(loop.body):
        match s:
            case Assign(Var(name), value, "") if name in local and names(value) & later:
                found.append(name)
            case _:
                pass
        later |= writes((s,)) - local
    return tuple(reversed(found))


def _outer_scalars(fn: Function, var: str) -> frozenset[str]:
    """The scalars that a loop sets, and that are declared outside of it."""
    (site,) = resolve(fn, var)
    inside = declared(site.loop.body).keys()
    scalars = {name for name, d in declared(fn.body).items() if not d.shape}
    return frozenset(writes(site.loop.body) & scalars) - inside
