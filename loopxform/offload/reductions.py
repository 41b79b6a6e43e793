"""Reductions to scalars in a whole function:

    for k: s += e              ->  forall kk: part[kk/T] = the sum of T terms     a group for each
                                   for c: s += part[c]                            one group
    for i: for j: s += e       ->  forall i: part[i] = the sum over j             as any nest
                                   for c: s += part[c]                            as above, or at
                                                                                  once

Up to T terms are reduced by one group at once. Where the order of the terms has to stay, a group
reduces a chunk of fewer of them (`recipes.scan`), or a work-item of fewer still, and one work-item
combines the partial results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from loopxform.analysis.context import always
from loopxform.analysis.running import Scan, scan_of
from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.errors import Obstacle
from loopxform.ir.affine import Poly, poly, value_of
from loopxform.ir.names import fresh, outer_name
from loopxform.ir.nodes import Assign, Bin, Const, Decl, For, Function, Load, Stmt
from loopxform.ir.visit import (
    Path,
    at,
    declared,
    loads,
    loops,
    names,
    perfect_nest,
    reads,
    resolve,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.model.footprint import linear
from loopxform.offload.program_state import Program
from loopxform.prepare.parallel_band import Nest
from loopxform.prepare.perfect_nest import has_few_iterations, told_apart
from loopxform.recipes.deriving import Work
from loopxform.schedule.params import KINDS
from loopxform.transforms import (
    AtomicUpdates,
    Distribute,
    Normalise,
    Privatise,
    RemoveUnitLoop,
    Rfactor,
    Scalarise,
    UnitLoop,
)
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.restructure.places import place_text
from loopxform.transforms.sites import ascending


def in_parts(program: Program, s: For) -> bool:
    """Makes a nest of partial results of a loop that reduces, and a loop that combines them; False
    where it stays as it is."""
    verdict = program.verdicts().get(s.var)
    if verdict is None or verdict.parallel != "reduction":
        return False
    before, (site,) = program.derivation, resolve(program.fn, s.var)
    if not ascending(site):
        return _reduced(program, s, verdict)
    numbered = before.titled(f"The iterations of {s.var} numbered upwards")
    step = Normalise(s.var)
    if step.check(program.fn):
        return False
    program.derivation = numbered.then(step)
    (site,) = resolve(program.fn, s.var)
    reduced = _reduced(program, site.loop, verdict)
    if not reduced:
        program.derivation = before
    return reduced


def _reduced(program: Program, s: For, verdict: LoopVerdict) -> bool:
    """As `in_parts`, of a loop that counts upwards."""
    w = Work(program.derivation.titled(f"Partial results of the loop over {s.var}"), {})
    allowed = "reassociate" if program.allowing(program.options, s).reassociate else ""
    if any(not r.fixed for r in verdict.reductions):
        return _by_element(program, s, verdict, allowed)
    elements = tuple(r.array for r in verdict.reductions if r.array != r.var)
    path = resolve(program.fn, s.var)[0].path
    if not all(_is_there(program.fn, path, x) for x in _reduced_elements(s, elements)):
        program.hints[s.var] = (
            "where it has no iterations, the element need not exist: add up in a variable, or "
            "declare how many elements the array has"
        )
        return False
    if elements and _in_scalars(program, s, elements):
        return True
    if not w.attempt(*(Privatise(x, s.var) for x in verdict.shared)):
        return False
    problems = Rfactor(s.var, "1", allowed).check(w.fn)
    if problems:
        program.hints[s.var] = _hint(problems[0])
        return False
    return _combined(program, w, s, allowed, reason(verdict, program.sought))


def _combined(program: Program, w: Work, s: For, allowed: str, what: str) -> bool:
    """Reduces chunks of a loop at the same time, and combines their results: by a group; or, where
    their order has to stay, in chunks again, until one work-item has few left."""
    reduced, costs = KINDS["reduce"].tiles, program.costs
    ordered = Rfactor(s.var, str(reduced.Tx), allowed, "strided").check(w.fn)
    combined, size = s.var, None
    for level in range(costs.scan_levels if ordered else 1):
        site = resolve(w.fn, combined)[0]
        in_order = isinstance(scan_of(w.fn, site.path), Scan)
        alone = costs.scan_terms if in_order else costs.item_terms
        most = _chunk(site.loop, alone if ordered else reduced.Tk * costs.chunk_tiles)
        if most is None:
            break
        before = w.derivation
        if not w.attempt(Rfactor(combined, str(most), allowed)) or not has_room(
            before.function, w.fn
        ):
            if level == 0:
                return False
            w.derivation = before
            break
        size, chunk = most, combined if most == 1 else outer_name(before.function, combined)
        known = {x.loop.var for x in loops(before.function)}
        (combined,) = {x.loop.var for x in loops(w.fn)} - known - {chunk}
        program.partial[chunk] = f"partial results of {what}"
    if size not in (None, 1) or (size and not ordered and _reads_along_rows(s)):
        lasting = [o for o in ordered if o.code != "LX191"] or ordered
        why = f", in order: {lasting[0].message} ({lasting[0].remedy})" if ordered else ""
        program.why[combined] = f"combines partial results of {what}{why}"
    if not ordered:
        program.reducing.add(combined)
    program.derivation = w.derivation
    return size is not None


def _by_element(program: Program, s: For, verdict: LoopVerdict, allowed: str) -> bool:
    """Makes loops that reduce to scalars, and to elements that they name, of one that does both; or
    the updates of elements atomic, so that the scalars are all that is left to reduce."""
    step = AtomicUpdates(s.var, allowed)
    refused = step.refused(program.fn, resolve(program.fn, s.var)[0]) or step.check(program.fn)
    if refused:
        program.hints[s.var] = _hint(refused[0])
        return False
    if not any(r.fixed for r in verdict.reductions):
        return False
    title = f"The reductions of the loop over {s.var} in loops of their own"
    w = Work(program.derivation.titled(title), {})
    if not w.attempt(Distribute(tuple(x.var for x in perfect_nest(s)))):
        w = Work(program.derivation.titled(f"Atomic updates in the loop over {s.var}"), {})
        w.do(step)
    after = told_apart(w.derivation)
    known = {x.loop.var for x in loops(program.fn)} - {s.var}
    for v in judge(after.function, inlined=True):
        scalars = any(r.fixed and r.array == r.var for r in v.reductions)
        if v.var not in known and v.depth == verdict.depth and scalars:
            problems = Rfactor(v.var, "1", allowed).check(after.function)
            if problems:
                program.hints[s.var] = _hint(problems[0])
                return False
    program.derivation = after
    return True


def _in_scalars(program: Program, s: For, arrays: tuple[str, ...]) -> bool:
    """Keeps the elements that a loop reduces to in scalars, from before it to after it."""
    w = Work(program.derivation.titled(f"Scalars for the elements that {s.var} reduces to"), {})
    once = fresh(w.fn, "once")
    place = place_text(resolve(w.fn, s.var)[0].path)
    kept = (Scalarise(array, once) for array in dict.fromkeys(arrays))
    done = w.attempt(UnitLoop(place, "1", once), *kept, RemoveUnitLoop(once))
    program.derivation = w.derivation
    return done


def _reduced_elements(s: For, arrays: tuple[str, ...]) -> list[Load]:
    targets = (x.target for _, x in walk(s.body) if isinstance(x, Assign))
    return [t for t in targets if isinstance(t, Load) and t.array in arrays]


def _is_there(fn: Function, path: Path, element: Load) -> bool:
    """Whether an element exists in front of the loop at `path`: the first one, one that is used
    before and stays the same, or lies within declared extents; or the loop certainly uses it."""
    loop, (*outer, n) = at(fn, path), path
    assert isinstance(loop, For)
    place = tuple(map(poly, element.index))
    before = [at(fn, (*outer, k)) for k in range(n)]
    place_names = frozenset[str]().union(*map(names, element.index))
    moves = [k for k, s in enumerate(before) if writes((s,)) & place_names]
    kept = before[moves[-1] + 1 :] if moves else before
    used = (x for s in kept if isinstance(s, Assign) for e in stmt_exprs(s) for x in loads(e))
    first = all(value_of(e) == 0 for e in element.index)
    if first or _surely_runs(loop) or any(_is_same(x, element.array, place) for x in used):
        return True
    own = declared(fn.body).get(element.array)
    shape = own.shape if own else next(p.shape for p in fn.objects if p.name == element.array)
    return all(
        size is not None and always(fn, path, Bin("&&", Bin(">=", e, Const(0)), Bin("<", e, size)))
        for e, size in zip(element.index, shape)
    )


def _surely_runs(loop: For) -> bool:
    """Whether every statement of a loop runs at least once, by constants alone."""
    nests = (x for _, x in walk((loop,)) if not isinstance(x, Assign | Decl))
    return all(isinstance(x, For) and (value_of(Bin("-", x.hi, x.lo)) or 0) > 0 for x in nests)


def _is_same(x: Load, array: str, place: tuple[Poly, ...]) -> bool:
    return x.array == array and tuple(map(poly, x.index)) == place


def reason(verdict: LoopVerdict, sought: Mapping[str, str]) -> str:
    """`a reduction of s (+)`, or `a search for the first i` where a scalar is no name of the
    user's."""
    known = [r for r in verdict.reductions if r.var not in sought]
    found = dict.fromkeys(sought[r.var] for r in verdict.reductions if r.var in sought)
    texts = ", ".join(dict.fromkeys(f"{r.var} ({r.op})" for r in known))
    parts = (f"a reduction of {texts}" if texts else "", *(f"a search for {x}" for x in found))
    return " and ".join(x for x in parts if x)


def _reads_along_rows(s: For) -> bool:
    """Whether groups sum up what iterations of a loop come to, along the loops inside: to begin one
    takes a device longer than it takes another to add one term more."""
    inside = {x.var for _, x in walk(s.body) if isinstance(x, For)}
    last = [poly(x.index[-1]) for _, t in walk(s.body) for e in stmt_exprs(t) for x in loads(e)]
    return any(linear(p, v) in (1, -1) for p in last for v in inside) and not any(
        linear(p, s.var) for p in last
    )


def _chunk(s: For, most: int) -> int | None:
    """Iterations of a chunk, None where the loop has not more than `most`. The partial results of
    loops inside are those of single iterations."""
    if any(isinstance(x, For) and not has_few_iterations(x) for _, x in walk(s.body)):
        return 1
    return None if _known_trips(s, most) <= most else most


def _known_trips(s: For, otherwise: int) -> int:
    """How often a loop runs; more than `otherwise` where that is not known."""
    fixed = fixed_trips(s)
    known = fixed[0].value if fixed else None
    return otherwise + 1 if known is None else known


def has_room(before: Function, after: Function) -> bool:
    """Whether the extents of the new arrays are known before the first kernel."""
    fixed = frozenset(p.name for p in after.objects if not p.array) - writes(after.body)
    known = {s.name for _, s in walk(before.body) if isinstance(s, Decl)}
    made = (s for _, s in walk(after.body) if isinstance(s, Decl) and s.name not in known)
    return all(names(d) <= fixed for s in made for d in s.shape)


def few_results(program: Program, nest: Nest) -> bool:
    """Whether a nest may have a group for each result: partial results, or few."""
    chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
    most = program.costs.group_results
    total = prod(_known_trips(x, most) for x in chain)
    return nest.parallel[0] in program.partial or total <= most


def is_group_work(program: Program, body: Iterable[Stmt]) -> bool:
    """Whether one of the statements is a reduction that is worth a group."""
    return any(_is_reduced(program, s) for s in body)


def one_run(program: Program, found: list[tuple[Path, Stmt]]) -> list[tuple[Path, Stmt]]:
    """As many of the statements as go into one kernel: a reduction goes with what it does not
    depend on, and with no other long loop."""
    done: list[tuple[Path, Stmt]] = []
    for path, s in found:
        earlier = [x for _, x in done]
        if _is_reduced(program, s):
            needed = writes(tuple(earlier)) & (reads((s,)) - writes((s,)))
            if needed or any(_is_long(program, x) for x in earlier):
                break
        elif _is_long(program, s) and is_group_work(program, earlier):
            break
        done.append((path, s))
    return done


def _is_reduced(program: Program, s: Stmt) -> bool:
    return isinstance(s, For) and s.var in program.reducing and _is_long(program, s)


def _is_long(program: Program, s: Stmt) -> bool:
    short = program.costs.short_loop
    held = (x for _, x in walk((s,)) if isinstance(x, For))
    return any(_known_trips(x, short) > short for x in held)


def _hint(problem: Obstacle) -> str:
    """What stands in the way, and a remedy; of a loop on data its reason says both."""
    on_data = problem.code == "LX112"
    return "" if on_data else f"{problem.message} ({problem.remedy})"
