"""Running values in a whole function: prefix sums, recurrences of first order, compaction.

    for i: { s += e; out[i] = s; }  ->  forall ii: part[ii/T] = the sum of T terms
                                        for c: the same again, of part
                                        forall ii: T iterations, from part[ii/T] on
    for i: y[i] = y[i-1] + e        ->  the same, y[i-1] in a scalar

A loop that counts downwards is numbered upwards first. (`reduce-then-scan`; in one pass where
groups of the device can wait for others: `single_pass`.)
"""

from __future__ import annotations

from loopxform.analysis.running import Scan, scan_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import declared, loops, resolve, walk, writes
from loopxform.offload.program_state import Program
from loopxform.offload.reductions import has_room
from loopxform.offload.single_pass import in_one_pass
from loopxform.prepare.perfect_nest import has_few_iterations, told_apart
from loopxform.recipes.deriving import Work
from loopxform.transforms import Carry, Normalise, Privatise, ReduceThenScan
from loopxform.transforms.sites import ascending
from loopxform.transforms.storage.carry import carried_arrays


def in_scans(program: Program, s: For) -> bool:
    """Runs chunks of a loop with running values at the same time; False where it stays as it
    is."""
    if has_few_iterations(s) or any(isinstance(x, For) and x.parallel for _, x in walk(s.body)):
        return False
    w = Work(program.derivation.titled(f"Running values of the loop over {s.var}"), {})
    allowed = "reassociate" if program.allowing(program.options, s).reassociate else ""
    carried = {fresh(w.fn, f"{a}_last"): a for a in carried_arrays(w.fn, s)}
    for scalar, array in carried.items():
        w.attempt(Carry(array, s.var, scalar))
    for name in sorted(_outer_scalars(w.fn, s.var)):
        w.attempt(Privatise(name, s.var))
    if ascending(resolve(w.fn, s.var)[0]):
        w.attempt(Normalise(s.var))
    scan = scan_of(w.fn, resolve(w.fn, s.var)[0].path)
    if not isinstance(scan, Scan) or scan.only_reduces:
        return False
    if in_one_pass(program, w, s):
        return True
    size = program.costs.scan_terms
    why = ReduceThenScan(s.var, str(size), allowed).check(w.fn)
    if why:
        if why[0].code == "LX191":
            message = why[0].message
            for scalar, array in carried.items():
                message = message.replace(f"'{scalar}'", f"'{array}'")
            program.hints[s.var] = f"{message} ({why[0].remedy})"
        return False
    var = s.var
    for level in range(program.costs.scan_levels):
        plain, before = w.derivation, {site.loop.var for site in loops(w.fn)}
        if not w.attempt(ReduceThenScan(var, str(size), allowed)):
            break
        if not has_room(plain.function, w.fn):
            if level == 0:
                return False
            w.derivation = plain
            break
        w.derivation = told_apart(w.derivation)
        chunks, between = _made(w.fn, before)
        program.partial[chunks] = f"partial results of running values of {s.var}"
        program.why[between] = f"passes running values of {s.var} on from chunk to chunk"
        var = between
    program.derivation = w.derivation
    return True


def _outer_scalars(fn: Function, var: str) -> frozenset[str]:
    """The scalars that a loop sets, and that are declared outside of it."""
    (site,) = resolve(fn, var)
    inside = declared(site.loop.body).keys()
    scalars = {name for name, d in declared(fn.body).items() if not d.shape}
    return frozenset(writes(site.loop.body) & scalars) - inside


def _made(fn: Function, before: set[str]) -> tuple[str, str]:
    """Of the loops that the step made, that over chunks whose results are partial, and the one over
    these."""
    new = [site for site in loops(fn) if site.loop.var not in before]
    outermost = [
        s for s in new if not any(s.path[: len(x.path)] == x.path for x in new if x is not s)
    ]
    chunks = next(s.loop.var for s in outermost if s.loop.parallel)
    return chunks, next(s.loop.var for s in outermost if not s.loop.parallel)
