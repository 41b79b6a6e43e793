"""Every OpenMP loop of a function against what the analysis derives.

A claim is proven where its iterations may run in any order and at the same time with the results of
the sequential loop; refuted where a finding is proven; otherwise the doubts say what is in the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from loopxform.analysis.assumptions import assumed
from loopxform.analysis.openmp.called import called
from loopxform.analysis.openmp.claim import RACES, Claim, Doubt, Finding
from loopxform.analysis.openmp.clauses import clauses
from loopxform.analysis.openmp.conditions import conditions
from loopxform.analysis.openmp.construct import Construct, construct, is_loop
from loopxform.analysis.openmp.initial import initial
from loopxform.analysis.openmp.linear import closed_form
from loopxform.analysis.openmp.order import runs_twice
from loopxform.analysis.openmp.others import others
from loopxform.analysis.openmp.outside import outside
from loopxform.analysis.openmp.pointers import copies, originals, pointers
from loopxform.analysis.openmp.races import any_order, lost, races, thread_values
from loopxform.analysis.openmp.team import team
from loopxform.analysis.openmp.varying import varying
from loopxform.analysis.verdict import is_inlined
from loopxform.budget import Budget, Exhausted, shared, spend, within
from loopxform.ir.directives import Directive
from loopxform.ir.nodes import For, Function, Opaque
from loopxform.ir.visit import Path, at, walk
from loopxform.source import Loc

_UNDERSTOOD_TEXT = """private firstprivate lastprivate reduction shared default collapse linear
    safelen simdlen ordered nowait schedule num_threads if proc_bind map device aligned nontemporal
    num_teams thread_limit dist_schedule order defaultmap is_device_ptr"""
_UNDERSTOOD = frozenset(_UNDERSTOOD_TEXT.split())


def audit(
    fn: Function,
    directives: Sequence[Directive],
    seconds: float | None = None,
    unseen: Loc | None = None,
) -> tuple[Claim, ...]:
    """A claim for each OpenMP loop, in text order, then one for each directive that none of them
    accounts for. `fn` is the function as it was read. A loop of a function whose body stands in the
    place of a call is audited where the function is defined. The claims share `seconds` of CPU
    time, and what is left of the budget in force; one that needs more is not proven; nothing is
    where text that only OpenMP compilers see was left out (`unseen`)."""
    loops = ((n, d.paths[0]) for n, d in enumerate(directives) if d.paths and is_loop(d))
    own = [(n, path) for n, path in loops if not is_inlined(at(fn, path))]
    with within(Budget.of(seconds)):
        found = shared(own, lambda x: _in_time(fn, tuple(directives), *x))
    found = (*found, *others(fn, directives, [c.path for c in found]))
    return tuple(found if unseen is None else (_unsure(c, unseen) for c in found))


def _unsure(c: Claim, unseen: Loc) -> Claim:
    text = "what stands under _OPENMP was not read: check with -D_OPENMP"
    return replace(c, findings=(), doubts=(Doubt("LX316", text, unseen),), assumes=())


def _in_time(fn: Function, directives: tuple[Directive, ...], n: int, path: Path) -> Claim:
    try:
        spend()
        return _claim(fn, directives, n, path)
    except Exhausted as e:
        d = directives[n]
        return Claim(path, d.loc, d.text, doubts=(Doubt(e.code, f"{e.message}; {e.help}", d.loc),))


def _claim(fn: Function, directives: tuple[Directive, ...], n: int, path: Path) -> Claim:
    d = directives[n]
    loop = at(fn, path)
    if not isinstance(loop, For):
        code, reason = ("LX103", loop.reason) if isinstance(loop, Opaque) else ("LX314", "no loop")
        return Claim(path, d.loc, d.text, doubts=(Doubt(code, reason, loop.origin.loc),))
    c = construct(fn, directives, n, path)
    if c.has_private_default:
        text = "'default' makes variables private that no clause names, which is not modelled"
        return Claim(path, d.loc, d.text, doubts=(Doubt("LX314", text, d.loc),))
    if c.is_sequential:
        told = tuple(dict.fromkeys(_of_one_thread(c, directives)))
        findings = tuple(x for x in told if isinstance(x, Finding))
        doubts = tuple(x for x in told if isinstance(x, Doubt))
        return Claim(path, d.loc, d.text, findings, doubts)
    start = initial(c, directives)
    about = (_unmodelled(c), clauses(c), called(c), pointers(c))
    parts = (*about, start, varying(c, directives), _iterations(c), team(c, directives))
    loose = frozenset(p.name for p in fn.globals if p.local or p.name in c.threadprivate)
    waits = _may_wait(c)
    weighed = dict.fromkeys(_weighed(x, loose, waits=waits) for x in chain(*parts))
    astray = originals(c)
    kept = [x for x in weighed if isinstance(x, Doubt) or x.variable not in astray]
    findings = tuple(x for x in kept if isinstance(x, Finding))
    doubts = tuple(x for x in kept if isinstance(x, Doubt))
    alike = (f"all threads call {fn.name} with the same arguments",) if c.is_orphan else ()
    granted = (*assumed(fn, loop), *conditions(c), *alike)
    return Claim(path, d.loc, d.text, findings, doubts, granted)


def _of_one_thread(c: Construct, directives: Sequence[Directive]) -> Iterator[Finding | Doubt]:
    """What may be wrong where one thread runs all iterations in order: what has copies, and what
    other teams do."""
    found = chain(clauses(c), called(c), copies(c), _surroundings(c))
    astray = originals(c)
    for x in chain(found, initial(c, directives), lost(c)):
        if isinstance(x, Doubt) or x.variable not in astray:
            yield _in_order(x)


def _in_order(x: Finding | Doubt) -> Finding | Doubt:
    """What a clause does where one thread runs all iterations in order: copies have no value at
    first, and lose theirs at the end; what else goes wrong needs other threads."""
    if isinstance(x, Doubt) or x.code in ("LX302", "LX303"):
        return x
    return Doubt("LX311", x.message, x.loc)


def _may_wait(c: Construct) -> bool:
    """Whether something in the loop, or in its region, may keep threads apart: a lock behind a call
    of an unknown function, a loop that waits for a flag. What the C library does is known."""
    around = [at(c.fn, p) for p in c.region.paths] if c.region else []
    inside = [s for _, s in (*c.statements, *walk(tuple(around)))]
    return any(isinstance(s, Opaque) and not s.is_library_call for s in inside)


def _weighed(x: Finding | Doubt, pointers: frozenset[str], *, waits: bool) -> Finding | Doubt:
    """A finding that is none for certain becomes a doubt: each thread may have set a pointer of the
    function to memory of its own, and a race may be kept from happening."""
    if isinstance(x, Finding) and x.variable in pointers:
        text = f"a race on '{x.variable}' is not certain: each thread may have set the pointer anew"
        return Doubt("LX310", text, x.loc)
    if isinstance(x, Finding) and waits and x.code in RACES:
        text = f"{x.message}, unless what is not modelled here keeps them apart"
        return Doubt("LX310", text, x.loc)
    return x


def _iterations(c: Construct) -> Iterator[Finding | Doubt]:
    """Races between iterations, linear variables written as what they are in each."""
    fn = c.fn
    for name in sorted(c.directive.variables("linear")):
        fn = closed_form(fn, c.path, name) or fn
    c = c if fn is c.fn else replace(c, fn=fn)
    opaque = any(isinstance(s, Opaque) for _, s in c.statements)
    for x in races(c):
        if isinstance(x, Finding) or not opaque:
            yield x
    yield from any_order(c)
    yield from thread_values(c)
    yield from _moved_pointers(c)
    found = outside(c.fn, c.path)
    if found is not None:
        text = f"{found.text} is outside the array in some iteration, and may be any memory"
        yield Doubt("LX315", text, found.loc)


def _moved_pointers(c: Construct) -> Iterator[Doubt]:
    """That arrays do not overlap is assumed of a call; it is not while pointers are changed."""
    apart = [text for text in assumed(c.fn, c.loop) if text.endswith("do not overlap")]
    for _, s in walk(c.fn.body) if apart else ():
        if isinstance(s, Opaque) and s.code == "LX014":
            text = f"that {apart[0]} is not known here: {s.reason}"
            yield Doubt("LX310", text, s.origin.loc)
            return


def _unmodelled(c: Construct) -> Iterator[Doubt]:
    """What stands in the loop or in the pragma that nothing is known about."""
    for _, s in c.statements:
        if isinstance(s, Opaque):
            yield Doubt("LX103", s.reason, s.origin.loc)
    for clause in c.directive.clauses:
        if clause.name not in _UNDERSTOOD:
            text = f"the clause '{clause.name}' is not modelled"
            yield Doubt("LX314", text, c.directive.loc)
    for d in (*c.inside, *_alone_inside(c)):
        if not (is_loop(d) or d.words[:1] in (("critical",), ("atomic",), ("ordered",))):
            text = f"'{' '.join(d.words)}' in the loop is not modelled"
            yield Doubt("LX314", text, d.loc)
        elif d.words == ("atomic",) and d.clause("compare") is not None:
            yield Doubt("LX314", "'atomic compare' in the loop is not modelled", d.loc)
    twice = runs_twice(c)
    if twice is not None:
        text = "an iteration may run more than one ordered region, which is not modelled"
        yield Doubt("LX314", text, twice.loc)
    yield from _surroundings(c)


def _alone_inside(c: Construct) -> Iterator[Directive]:
    for d in c.alone:
        if d.words[:1] != ("ordered",):
            yield d


def _surroundings(c: Construct) -> Iterator[Doubt]:
    """Constructs around the loop in which it would run more than once, or not by a whole team."""
    if c.is_simd_only:
        return
    for n, d in enumerate(c.around):
        if d is c.region and not is_loop(d):
            yield from _nested(c.around[n + 1 :])
            return
        if is_loop(d) and c.directive.has("parallel", "teams"):
            continue
        if d.words[:1] == ("target",) and not d.has("parallel", "teams"):
            continue
        text = f"the loop stands in '{' '.join(d.words)}': who runs it together is not modelled"
        yield Doubt("LX314", text, d.loc)


def _nested(outer: Sequence[Directive]) -> Iterator[Doubt]:
    """A parallel region around that of the loop, all of whose threads run the loop: unless they
    share out a loop around it."""
    found = next((d for d in outer if d.has("parallel", "for", "single", "distribute")), None)
    if found is not None and found.has("parallel") and not is_loop(found):
        yield Doubt("LX314", "the loop stands in nested regions, which is not modelled", found.loc)
