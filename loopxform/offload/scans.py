"""Running values in a whole function: prefix sums, recurrences of first order, compaction.

    for i: { s += e; out[i] = s; }  ->  forall ii: part[ii/T] = the sum of T terms
                                        for c: the same again, of part
                                        forall ii: T iterations, from part[ii/T] on
    for i: y[i] = y[i-1] + e        ->  the same, y[i-1] in a scalar

A loop that counts downwards is numbered upwards first. (`reduce-then-scan`; in one pass where
groups of the device can wait for others: `single_pass`.)
"""

from __future__ import annotations

from loopxform.analysis.running import NoScan, scan_of
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import loops, resolve, walk
from loopxform.ir.whiles import condition
from loopxform.offload.program_state import Program
from loopxform.offload.reductions import has_room
from loopxform.offload.single_pass import in_one_pass
from loopxform.prepare.perfect_nest import has_few_iterations, told_apart
from loopxform.recipes.deriving import Work
from loopxform.recipes.running_loop import RunningLoop, converted_loop, running_loop
from loopxform.transforms import Assume, Peel, ReduceThenScan
from loopxform.transforms.restructure.peel import second_exists


def in_scans(program: Program, s: For) -> bool:
    """Runs chunks of a loop with running values at the same time; False where it stays as it
    is."""
    if has_few_iterations(s) or any(isinstance(x, For) and x.parallel for _, x in walk(s.body)):
        return False
    allowed = "reassociate" if program.allowing(program.options, s).reassociate else ""
    titled = program.derivation.titled(f"Running values of the loop over {s.var}")
    found = converted_loop(titled, s.var)
    if found is None:
        return _peeled(program, s, allowed)
    w = Work(found.derivation, {})
    if in_one_pass(program, w, s):
        return True
    size = program.costs.scan_terms
    why = ReduceThenScan(s.var, str(size), allowed).check(w.fn)
    if why:
        program.hints[s.var] = _hint(why[0], found)
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


def _peeled(program: Program, s: For, allowed: str) -> bool:
    """Runs the first iteration apart, where the others can be computed in chunks."""
    titled = program.derivation.titled(f"The first iteration of {s.var} apart")
    asked = Assume(condition_text(second_exists(s)))
    if value_of(s.lo) is None:  # so that the others are a loop beside the first one
        titled, _ = titled.optional(asked)
    found = running_loop(titled, s.var, Peel(s.var))
    if found is None:
        program.hints.setdefault(s.var, _no_scan(program, s))
        return False
    step = ReduceThenScan(s.var, str(program.costs.scan_terms), allowed)
    why = step.check(found.derivation.function)
    if why:
        program.hints[s.var] = _hint(why[0], found)
        return False
    program.derivation = told_apart(titled.then(Peel(s.var)))
    return True


def _no_scan(program: Program, s: For) -> str:
    """Why values that run through a loop cannot be computed apart from it; "": there are none."""
    if condition(s) is not None or any(isinstance(x, For) for _, x in walk(s.body)):
        return ""
    why = scan_of(program.fn, resolve(program.fn, s.var)[0].path)
    return f"{why.message} ({why.remedy})" if isinstance(why, NoScan) and why.runs else ""


def _hint(why: Obstacle, found: RunningLoop) -> str:
    """What stands in the way, of arrays where scalars have taken their place; of a loop on data its
    reason says so."""
    if why.code == "LX112":
        return ""
    message = why.message
    for scalar, array in found.carried:
        message = message.replace(f"'{scalar}'", f"'{array}'")
        if f"anti dependence of {array} " in message and not why.remedy:
            text = f"iterations read elements of {array} that later ones overwrite"
            return f"{text} (read those from a copy of {array} made before)"
    return f"{message} ({why.remedy})" if why.remedy else message


def _made(fn: Function, before: set[str]) -> tuple[str, str]:
    """Of the loops that the step made, that over chunks whose results are partial, and the one over
    these."""
    new = [site for site in loops(fn) if site.loop.var not in before]
    outermost = [
        s for s in new if not any(s.path[: len(x.path)] == x.path for x in new if x is not s)
    ]
    chunks = next(s.loop.var for s in outermost if s.loop.parallel)
    return chunks, next(s.loop.var for s in outermost if not s.loop.parallel)
