"""Bringing a nest into the form the tile recipes start from: foralls outside, redomap inside.

    forall i: forall j: { code1; for k: redomap; code2 }

Sequential loops move inside parallel ones, scalars become private, an element that is accumulated
in place is kept in a scalar. (Cholewa-Madsen and Holst, sections 2.1 step 0 and 2.4.)
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import pairwise, takewhile
from math import prod

from loopxform.analysis.domain import names_of
from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.errors import UnsupportedC
from loopxform.ir.affine import value_of
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Decl, For, Function, If, Opaque, Stmt
from loopxform.ir.types import Space
from loopxform.ir.visit import Path, at, declared, names, perfect_nest, resolve, walk
from loopxform.prepare.integral_images import rows_then_columns
from loopxform.prepare.numbering import renumbered
from loopxform.prepare.only_nest import only_nest
from loopxform.prepare.perfect_nest import (
    FEW,
    distributed,
    has_few_iterations,
    nests,
    require_names,
    sunk,
    told_apart,
    undeclared,
)
from loopxform.prepare.private_storage import with_private_storage
from loopxform.prepare.same_stores import stored_alike
from loopxform.records import record
from loopxform.transforms import (
    AtomicUpdates,
    BoundingBox,
    Derivation,
    DistributeGuard,
    Expand,
    Interchange,
    Normalise,
    Parallelise,
    Rematerialise,
    Reverse,
    UnitLoop,
)
from loopxform.transforms.edges.bounds import trip_count
from loopxform.transforms.restructure.places import place_text
from loopxform.transforms.restructure.unit_loop import BESIDE


@record
class Nest:
    """A prepared nest: its parallel loops, outermost first, and where it stands. New names may not
    be those that are `reserved`."""

    derivation: Derivation
    parallel: tuple[str, ...]
    path: tuple[int, ...]
    reserved: frozenset[str] = frozenset()

    @property
    def function(self) -> Function:
        return self.derivation.function

    def alone(self) -> Nest:
        """The same loops, of a derivation that begins here."""
        names = used_names(self.derivation.start)
        start = Derivation(self.function).titled(self.derivation.stage)
        return replace(self, derivation=start, reserved=names)

    @property
    def taken(self) -> frozenset[str]:
        """Names that something new may not have."""
        started = used_names(self.derivation.start)
        return self.reserved | started | used_names(self.function)

    def of(self, derivation: Derivation) -> Nest:
        """The same loops in a program derived further."""
        (site,) = resolve(derivation.function, self.parallel[0])
        return replace(self, derivation=derivation, path=site.path)

    @property
    def outermost(self) -> For:
        """The loop that holds the nest."""
        return _loop(self.function, self.path)

    @property
    def innermost(self) -> For:
        """The innermost parallel loop, whose body is code1 redomap code2."""
        return perfect_nest(self.outermost)[len(self.parallel) - 1]


def prepare(
    derivation: Derivation, *, every: bool = False, apart: bool = True, reassociate: bool = False
) -> Nest:
    """The one nest of a function: its loops that can be parallel are foralls, outermost, each step
    checked; inner ones of a few iterations only where `every` asks for them. Arrays of an
    iteration that have no fixed size get an element for each, if `apart`. Sums of real numbers into
    arrays may be in another order where that says `reassociate`.

    Raises UnsupportedC where there is not one nest, or no loop of it is parallel, with the reason
    of the outermost.
    """
    alone = _alone(derivation)
    path = nests(alone.function)[0].path
    nest = prepare_at(alone, path, every=every, apart=apart, reassociate=reassociate)
    return with_own_elements(nest) if apart else nest


def prepare_all(derivation: Derivation, *, reassociate: bool = False) -> tuple[Nest, ...]:
    """The nest of a function, or several where loops inside it become nests of their own (of one
    derivation). Raises UnsupportedC as `prepare` does."""
    if _is_in_parts(derivation.function):
        parts = told_apart(derivation.titled("Listing 2: Outer loops parallelized"))
    else:
        whole = _alone(derivation)
        (site,) = nests(whole.function)
        tables = rows_then_columns(whole, site.loop.var, reassociate=reassociate)
        parts = tables or distributed(whole, site.loop.var)
    found = []
    for number in range(len(nests(parts.function))):
        parts = sunk(parts, nests(parts.function)[number].loop.var)
        path = nests(parts.function)[number].path
        nest = prepare_at(parts, path, reassociate=reassociate)
        found.append(with_own_elements(nest))
        parts = found[-1].derivation
    return tuple(n.of(parts) for n in found)


def _is_in_parts(fn: Function) -> bool:
    """Whether sums of the nest are nests of their own, which pass arrays of the device on."""
    several = sum(isinstance(s, For) for s in fn.body) > 1
    passed = any(isinstance(s, Decl) and s.space is Space.GLOBAL for s in fn.body)
    return several and passed and all(isinstance(s, For | Decl) for s in fn.body)


def _alone(derivation: Derivation) -> Derivation:
    """The program with scalars that are computed around its loops computed inside them. Raises
    UnsupportedC where there is anything but one nest."""
    derivation = stored_alike(derivation).titled("Listing 2: Outer loops parallelized")
    for site in nests(derivation.function)[:1]:
        step = Rematerialise(site.loop.var)
        before = derivation.function.body[: site.path[0]]
        if not all(isinstance(s, Decl) for s in before) and not step.check(derivation.function):
            derivation = derivation.then(step)
    derivation = sunk(derivation, only_nest(derivation.function).loop.var)
    require_names(told_apart(derivation).function)
    return derivation


def prepare_at(
    derivation: Derivation,
    path: Path,
    *,
    every: bool = False,
    apart: bool = True,
    reassociate: bool = False,
) -> Nest:
    """As `prepare`, the nest at `path`: of several, no two have loops of one name."""
    derivation = _parallel_outwards(derivation, path)
    chain = perfect_nest(_loop(derivation.function, path))
    judged = judge(derivation.function, inlined=True, at=path)
    verdicts = {v.var: v for v in judged if v.path[: len(path)] == path}
    wanted = []
    for loop in chain:
        if verdicts[loop.var].parallel not in ("yes", "privatizable"):
            break
        wanted.append(loop.var)
    if all(map(has_few_iterations, chain[: len(wanted)])) and len(wanted) < len(chain):
        order = "reassociate" if reassociate else ""
        var = chain[len(wanted)].var
        after, refusal = derivation.optional(AtomicUpdates(var, order))
        if refusal is None and _becomes_parallel(after, path, var):
            return prepare_at(after, path, every=every, apart=apart, reassociate=reassociate)
    if not wanted:
        raise _not_parallel(derivation.function, [verdicts[loop.var] for loop in chain])
    wanted = wanted if every else _worth_spreading(chain, wanted)
    needed = frozenset(name for v in wanted for name in verdicts[v].shared)
    derivation = with_private_storage(derivation, path, wanted, needed, apart=apart)
    for var in wanted:
        derivation = upwards(_forall(derivation, var), var)
    for n in range(len(wanted)):
        derivation = _boxed(derivation, wanted, n)
    derivation = renumbered(undeclared(told_apart(derivation)), wanted)
    return Nest(derivation, tuple(wanted), resolve(derivation.function, wanted[0])[0].path)


def _becomes_parallel(derivation: Derivation, path: Path, var: str) -> bool:
    """Whether a loop of the nest at `path` is parallel now."""
    judged = judge(derivation.function, inlined=True, at=path)
    found = (v for v in judged if v.path[: len(path)] == path)
    return any(v.var == var and v.parallel in ("yes", "privatizable") for v in found)


def _forall(derivation: Derivation, var: str) -> Derivation:
    (site,) = resolve(derivation.function, var)
    return derivation if site.loop.parallel else derivation.then(Parallelise(var))


def alone(derivation: Derivation) -> Nest | None:
    """A reduction with no parallel loop around it, as a nest of one iteration; None where the
    function is anything else. Raises UnsupportedC where that cannot be prepared."""
    fn = derivation.function
    nests = [(n,) for n, s in enumerate(fn.body) if isinstance(s, For)]
    if len(nests) != 1 or any(isinstance(s, Opaque) for _, s in walk(fn.body)):
        return None
    (verdict,) = (v for v in judge(fn, inlined=True) if v.path == nests[0])
    step = UnitLoop(verdict.var, BESIDE)
    if verdict.parallel != "reduction" or step.check(fn):
        return None
    return prepare(derivation.titled("Listing 2: A nest of one iteration").then(step))


def _worth_spreading(chain: tuple[For, ...], wanted: list[str]) -> list[str]:
    """Without innermost loops of a few iterations (colours, coordinates), unless that comes to many
    for one work-item (small matrices), or there are no other loops than those."""
    inner = list(takewhile(has_few_iterations, reversed(chain[1 : len(wanted)])))
    together = prod(value_of(trip_count(loop)) or 1 for loop in inner)
    rest = wanted[: len(wanted) - len(inner)]
    alone = all(has_few_iterations(loop) for loop in chain[: len(rest)])
    return wanted if together > FEW or alone else rest


def with_guards_inside(nest: Nest) -> Nest:
    """The nest with a guard that fills it at every statement instead, and so with conditions around
    its reductions."""
    step = DistributeGuard(nest.parallel[-1])
    if not step.check(nest.function):
        nest = replace(nest, derivation=nest.derivation.then(step))
    while (path := _around_a_reduction(nest)) is not None:
        step = DistributeGuard(place_text(path))
        if step.check(nest.function):
            break
        nest = replace(nest, derivation=told_apart(nest.derivation.then(step)))
    return nest


def _around_a_reduction(nest: Nest) -> Path | None:
    """The first condition in the body of an iteration that holds a loop of many, unless it is the
    same for all of the nest."""
    (site,) = resolve(nest.function, nest.parallel[-1])
    same = names_of(nest.function).inputs
    for n, s in enumerate(site.loop.body):
        inside = (x for _, x in walk((s,)) if isinstance(x, For))
        differs = isinstance(s, If) and not names(s.cond) <= same
        if differs and any(not has_few_iterations(x) for x in inside):
            return (*site.path, n)
    return None


def _boxed(derivation: Derivation, wanted: list[str], n: int) -> Derivation:
    """A triangular domain becomes a box with a guard inside the innermost loop, where it can; a
    loop of every second iteration that begins elsewhere each time is numbered first."""
    before, var = derivation, wanted[n]
    (site,) = resolve(derivation.function, var)
    over = tuple(v for v in wanted[:n] if v in names(site.loop.lo) | names(site.loop.hi))
    moves = bool(names(site.loop.lo) & set(over)) and value_of(site.loop.step) != 1
    numbered = [Normalise(var)] if moves else []
    guards = [DistributeGuard(v) for v in wanted[n:-1]]
    steps = [*numbered, BoundingBox(var, over), *guards]
    for step in steps if over else ():
        if step.check(derivation.function):
            return before
        derivation = derivation.then(step)
    return derivation


def upwards(derivation: Derivation, var: str) -> Derivation:
    """A parallel loop that counts downwards counts upwards."""
    (site,) = resolve(derivation.function, var)
    if (value_of(site.loop.step) or 1) > 0:
        return derivation
    step = Reverse(var)
    return derivation.then(Normalise(var) if step.check(derivation.function) else step)


def _loop(fn: Function, path: tuple[int, ...]) -> For:
    loop = at(fn, path)
    assert isinstance(loop, For)
    return loop


def _parallel_outwards(derivation: Derivation, path: tuple[int, ...]) -> Derivation:
    """Swaps a sequential loop with a parallel one directly inside it, while that is legal."""
    for _ in range(16):
        judged = judge(derivation.function, inlined=True, at=path)
        verdicts = {v.var: v.parallel for v in judged}
        chain = perfect_nest(_loop(derivation.function, path))
        swaps = [
            Interchange(outer.var, inner.var)
            for outer, inner in pairwise(chain)
            if verdicts.get(outer.var) not in ("yes", "privatizable")
            and verdicts.get(inner.var) in ("yes", "privatizable")
        ]
        legal = [s for s in swaps if not s.check(derivation.function)]
        if not legal:
            return derivation
        derivation = derivation.then(legal[0])
    return derivation


def with_own_elements(nest: Nest) -> Nest:
    """Arrays that an iteration declares and that have no fixed size get an element for each, where
    that is legal."""
    derivation = nest.derivation
    for name, decl in declared(nest.innermost.body).items():
        step = Expand(name, nest.parallel)
        is_open = any(value_of(d) is None for d in decl.shape)
        if is_open and not step.check(derivation.function):
            derivation = derivation.then(step)
    return nest.of(derivation)


def _not_parallel(fn: Function, verdicts: list[LoopVerdict]) -> UnsupportedC:
    """The reason of the outermost loop; an answer where the others are refuted as well."""
    verdict = verdicts[0]
    notes = [f"{r.code}: {r.message}" for r in verdict.reasons]
    file = "" if verdict.loc is None else f"{shlex.quote(verdict.loc.file)} "
    error = UnsupportedC(
        f"no loop of the nest in '{fn.name}' can run in parallel ({verdict.var}: "
        f"{verdict.parallel})",
        loc=verdict.loc,
        code="LX062",
        notes=notes,
        help=f"loopxform check {file}--function {fn.name} shows the dependence matrix",
    )
    if all(v.parallel in ("no", "reduction") for v in verdicts):
        error.status = 1
    return error


def sequential(body: tuple[Stmt, ...]) -> list[For]:
    """The loops of a body that are not parallel."""
    return [s for s in body if isinstance(s, For) and not s.parallel]
