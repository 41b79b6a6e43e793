"""What is neither a nest of a whole function nor the host's: one work-item runs it, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count, takewhile

from loopxform.analysis.host_scalars import computed_by_host, host_scalars
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Decl, For, If, Return, Stmt, Var
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    Path,
    declared,
    loops,
    names,
    resolve,
    walk,
    walk_expr,
    writes,
)
from loopxform.ir.whiles import condition, is_while
from loopxform.offload.order_reasons import in_order
from loopxform.offload.program_state import Part, Place, Program, holds_nests, inner_places, is_flag
from loopxform.offload.reductions import one_run
from loopxform.prepare.perfect_nest import has_few_iterations
from loopxform.recipes.deriving import Work
from loopxform.transforms import (
    ExitFlag,
    Parallelise,
    Privatise,
    UnitLoop,
)
from loopxform.transforms.restructure.places import place_text


def sequential(program: Program, place: Place) -> None:
    """Puts what is left of a body of the host into loops of one iteration."""
    hosted = _hosted(program)
    for n in count():
        found = program.statements(place)[n:]
        if not found:
            break
        _, s = found[0]
        if _is_left(program, s, hosted):
            left = takewhile(lambda x: _is_left(program, x[1], hosted), found)
            single(program, tuple(one_run(program, list(left))))
        elif _is_entered(program, s):
            for body in inner_places(s, place, n):
                sequential(program, body)


def flagged(program: Program) -> None:
    """Conditions on data of the host's loops are computed where the data are, into flags that the
    host reads."""
    while True:
        known = _hosted(program)
        asking = (s.loop for s in loops(program.fn) if s.loop.var in program.hosts)
        found = next((s for s in asking if _is_asked_of_data(program, s, known)), None)
        if found is None:
            return
        titled = program.derivation.titled("Conditions on data as flags")
        program.derivation = titled.then(ExitFlag(found.var))


def _is_asked_of_data(program: Program, s: For, known: frozenset[str]) -> bool:
    cond = condition(s)
    if cond is None or is_flag(program.fn, cond):
        return False
    types = symbols(program.fn)
    whole = all(type_of(x, types).is_integer for x in walk_expr(cond))
    return not (whole and computed_by_host(cond) and names(cond) <= known)


def _is_entered(program: Program, s: Stmt) -> bool:
    """Whether the host runs the statements inside."""
    return (isinstance(s, If) and holds_nests(s)) or (isinstance(s, For) and s.var in program.hosts)


def _is_left(program: Program, s: Stmt, hosted: frozenset[str]) -> bool:
    """Whether a statement is neither a nest, nor the host's."""
    match s:
        case Decl() | Return():
            return False
        case For():
            mapped = s.parallel or s.var in program.nests or s.var in program.hosts
            return not mapped and not _set_only(s, hosted)
        case If():
            return not holds_nests(s) and not _set_only(s, hosted)
        case _:
            return not _set_only(s, hosted)


def _hosted(program: Program) -> frozenset[str]:
    """The scalars of the host: none that statements set which are not its own."""
    excluded = frozenset[str]()
    while True:
        hosted = host_scalars(program.fn, but=excluded) | program.hosts
        left = (s for s in _everywhere(program) if _is_left(program, s, hosted))
        lost = frozenset(n for s in left for n in writes((s,))) & hosted
        if not lost:
            return hosted
        excluded |= lost


def _everywhere(program: Program, place: Place = ()) -> Iterator[Stmt]:
    """The statements of the host's bodies."""
    for n, (_, s) in enumerate(program.statements(place)):
        yield s
        if _is_entered(program, s):
            for body in inner_places(s, place, n):
                yield from _everywhere(program, body)


def single(program: Program, run: tuple[tuple[Path, Stmt], ...]) -> None:
    """Statements that follow one another, as a nest of one iteration."""
    first, last = run[0][0], run[-1][0]
    name = fresh(program.fn, "once")
    every = list(_outermost(s for _, s in run))
    places = (s.origin.loc for s in (*every, *(s for _, s in run)))
    origin = next((loc for loc in places if loc), None)
    held = tuple(s.var for s in every if not is_while(s))
    reasons = dict.fromkeys(_reason(program, s) for s in every if not has_few_iterations(s))
    w = Work(program.derivation.titled("What one work-item runs in order"), {})
    w.do(UnitLoop(place_text(first), str(abs(last[-1] - first[-1]) + 1), name))
    inside = resolve(w.fn, name)[0].loop.body
    own = declared(inside).keys()
    scalars = {n for n, decl in declared(w.fn.body).items() if not decl.shape}
    counting = {s.var for _, s in walk(inside) if isinstance(s, For) and s.live_out}
    for x in sorted(scalars & (writes(inside) | counting) - own):
        w.attempt(Privatise(x, name))
    w.do(Parallelise(name))
    program.derivation = w.derivation
    program.singles.append(name)
    why = "; ".join(reasons) or "statements between the nests"
    program.parts.append(Part(name, origin, held, "one work-item", why))


def _outermost(body: Iterable[Stmt]) -> Iterator[For]:
    """The loops of a body that no other loop holds."""
    for s in body:
        if isinstance(s, For):
            yield s
        elif isinstance(s, If):
            yield from _outermost((*s.then, *s.orelse))


def _reason(program: Program, s: For) -> str:
    why = program.why.get(s.var) or in_order(s, program.verdicts().get(s.var), program.sought)
    return f"a loop on data: {why}" if is_while(s) else f"{s.var}: {why}"


def _set_only(s: Stmt, hosted: frozenset[str]) -> bool:
    """Whether a statement does nothing but set scalars of the host, from such."""
    match s:
        case Assign(Var(name)):
            return name in hosted
        case If(cond, then, orelse):
            own = computed_by_host(cond) and names(cond) <= hosted
            return own and all(_set_only(x, hosted) for x in (*then, *orelse))
        case For():
            header = (s.lo, s.hi, s.step)
            own = all(computed_by_host(e) and names(e) <= hosted | {s.var} for e in header)
            return own and not s.live_out and all(_set_only(x, hosted) for x in s.body)
        case Decl():
            return not s.shape
        case _:
            return False
