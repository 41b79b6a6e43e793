"""Perfect nests out of loops that statements stand beside.

    for i: { t = e; for j: S(t) }      -> for i: for j: { t = e; S(t) }
    for i: { t = e; if (t) for j: S }  -> for i: for j: { t = e; if (t) S }
    for i: { A; s = r; for j: S(s) }   -> s[I]; for i: { A; s[i] = r }  for i: for j: S(s[i])

Statements without loops in front of a parallel loop are computed in each of its iterations; what
cannot be, or is too much to be computed again, gets a nest of its own, as do statements behind the
loop: a kernel each, arrays of the device between them. Loops of a few iterations stay where they
are: they run in a work-item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from loopxform.analysis.verdict import judge
from loopxform.errors import TransformError, UnsupportedC
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Decl, For, Function, If, Stmt, Var
from loopxform.ir.quotients import largest_remainder
from loopxform.ir.visit import (
    LoopSite,
    Path,
    counters,
    declared,
    enclosing,
    loads,
    loops,
    names,
    perfect_nest,
    reads,
    replace_at,
    resolve,
    walk,
    writes,
)
from loopxform.transforms import (
    Derivation,
    Distribute,
    DistributeGuard,
    Expand,
    Interchange,
    Parallelise,
    Privatise,
    Rematerialise,
    Rename,
    Scalarise,
    possible,
)
from loopxform.transforms.edges.bounds import fixed_trips, trips_to
from loopxform.transforms.restructure.places import place_text

FEW = 8
"""An inner parallel loop of at most so many iterations, known in advance, runs in a work-item."""


def has_few_iterations(loop: For) -> bool:
    """Whether it has at most FEW, as can be told in advance."""
    fixed = fixed_trips(loop)
    if fixed is not None and not fixed[1]:
        return (fixed[0].value or FEW + 1) <= FEW
    rest = trips_to(loop, loop.hi)
    return rest is not None and (largest_remainder(rest) or FEW + 1) <= FEW


def told_apart(derivation: Derivation, before: Function | None = None) -> Derivation:
    """Loops one after the other that count with the same name get names of their own, but for one
    that leaves its count in the variable, and for those of kernels: variants share names; of names
    that loops share in `before`, none."""
    known = set[str]() if before is None else _shared_names(before)
    while True:
        fn = derivation.function
        times = Counter(s.loop.var for s in loops(fn))
        left = {s.loop.var for s in loops(fn) if not _in_kernel(fn, s.path)} - known
        shared = next((v for v, n in times.items() if n > 1 and v in left), None)
        if shared is None:
            return derivation
        name = fresh(fn, shared)
        later = (Rename(f"{shared}#{n}", name) for n in (*range(2, times[shared] + 1), 1))
        step = next((s for s in later if not s.check(fn)), None)
        if step is None:
            known.add(shared)
        else:
            derivation = derivation.then(step)


def _in_kernel(fn: Function, path: Path) -> bool:
    return any(isinstance(s, For) and s.level for s in enclosing(fn, path))


def _shared_names(fn: Function) -> set[str]:
    times = Counter(s.loop.var for s in loops(fn))
    return {v for v, n in times.items() if n > 1}


def undeclared(derivation: Derivation) -> Derivation:
    """What only counts loops is not declared beside them, inside other loops."""
    fn = derivation.function
    inside = [s.name for path, s in walk(fn.body) if isinstance(s, Decl) and len(path) > 1]
    for name in (n for n in inside if n in counters(fn)):
        step = Privatise(name, name)
        derivation = derivation if step.check(derivation.function) else derivation.then(step)
    return derivation


def require_names(fn: Function) -> None:
    """Loops that count with one variable and leave their count in it cannot be told apart. Raises
    UnsupportedC."""
    seen: set[str] = set()
    for site in loops(fn):
        if site.loop.var in seen:
            raise UnsupportedC(
                f"several loops count with '{site.loop.var}', which is read after one of them",
                loc=site.loop.origin.loc,
                code="LX130",
                help=f"copy the last value of {site.loop.var} to another variable",
            )
        seen.add(site.loop.var)


# ---------------------------------------------------------------- sinking


def sunk(derivation: Derivation, outermost: str) -> Derivation:
    """What stands between the loops of a nest and only computes scalars is sunk into the inner
    ones, as far as that brings parallel loops together."""
    done = named = told_apart(derivation)
    outer = outermost
    while True:
        done = _declared_inside(done, outer)
        guarded = _guards_inside(done, outer)
        loop = _loop(guarded.function, outer)
        inner = [s for s in loop.body if isinstance(s, For)]
        if len(inner) == 1 and (len(loop.body) > 1 or guarded is not done):
            made = _joined(guarded, outer, inner[0])
            if made is None:
                break
            done = made
        elif len(inner) != 1:
            break
        outer = inner[0].var
    return derivation if done is named else done


def _declared_inside(derivation: Derivation, outer: str) -> Derivation:
    """What stands beside the one loop in the body of `outer` and is but declarations goes into it,
    where that is legal for all."""
    body = _loop(derivation.function, outer).body
    inner = [s for s in body if isinstance(s, For)]
    if len(inner) != 1 or len(body) == 1 or not all(isinstance(s, For | Decl) for s in body):
        return derivation
    inwards = possible(lambda: _inwards(derivation, outer, inner[0].var), TransformError)
    return derivation if isinstance(inwards, TransformError) else inwards


def _guards_inside(derivation: Derivation, outer: str) -> Derivation:
    """The condition around the one loop in the body of `outer` is asked in that loop."""
    (site,) = resolve(derivation.function, outer)
    around = [(n, s) for n, s in enumerate(site.loop.body) if any(_loops_in(s))]
    if len(around) != 1:
        return derivation
    ((n, guard),) = around
    if not isinstance(guard, If) or guard.orelse or len(list(_loops_in(guard))) != 1:
        return derivation
    own = _set_under(derivation, guard, outer)
    (site,) = resolve(own.function, outer)
    n += len(site.loop.body) - len(_loop(derivation.function, outer).body)
    step = DistributeGuard(place_text((*site.path, n)))
    return derivation if step.check(own.function) else own.then(step)


def _set_under(derivation: Derivation, guard: If, loop: str) -> Derivation:
    """Scalars that only statements under a condition set, and use, are declared in the loop around:
    once each of these has a condition of its own, that is not seen."""
    (site,) = resolve(derivation.function, loop)
    around = declared(replace_at(derivation.function, site.path, ()).body)
    for name in (n for n in around if n in writes(guard.then) and not around[n].shape):
        step = Privatise(name, loop)
        derivation = derivation if step.check(derivation.function) else derivation.then(step)
    return derivation


def _loops_in(s: Stmt) -> Iterator[For]:
    """The outermost loops of a statement."""
    match s:
        case For():
            yield s
        case If():
            for x in (*s.then, *s.orelse):
                yield from _loops_in(x)


def _joined(derivation: Derivation, outer: str, inner: For) -> Derivation | None:
    """The two loops as a perfect nest, where both are parallel or can change places."""
    (site, *_) = resolve(derivation.function, inner.var)
    parallel = parallel_loops(derivation.function, site.path)
    if inner.var not in parallel or not _worth_spreading(derivation.function, inner):
        return None
    inwards = possible(lambda: moved_in(derivation, outer, inner.var), TransformError)
    if isinstance(inwards, TransformError):
        return None
    derivation = inwards
    if len(_loop(derivation.function, outer).body) > 1:
        return None
    swap = Interchange(outer, inner.var)
    return None if outer not in parallel and swap.check(derivation.function) else derivation


def moved_in(derivation: Derivation, outer: str, inner: str) -> Derivation:
    """What stands beside the inner loop is moved into it. Raises TransformError."""
    derivation = _inwards(_private(derivation, outer), outer, inner)
    beside = len(_loop(derivation.function, outer).body) > 1
    return derivation.then(Rematerialise(inner)) if beside else derivation


def _private(derivation: Derivation, loop: str) -> Derivation:
    """What the function declares and the statements directly in a loop set is declared in it.
    Raises TransformError."""
    beside = tuple(s for s in _loop(derivation.function, loop).body if not isinstance(s, For))
    for s in derivation.function.body:
        if isinstance(s, Decl) and s.name in writes(beside):
            derivation = derivation.then(Privatise(s.name, loop))
    return derivation


def _inwards(derivation: Derivation, outer: str, inner: str) -> Derivation:
    """What the body of `outer` declares and only the loop `inner` uses is declared in that. Raises
    TransformError."""
    body = _loop(derivation.function, outer).body
    beside = _used(tuple(s for s in body if not (isinstance(s, For) and s.var == inner)))
    for s in body:
        if isinstance(s, Decl) and s.name not in beside:
            derivation = derivation.then(Privatise(s.name, inner))
    return derivation


# ---------------------------------------------------------------- distribution


def distributed(
    derivation: Derivation, outermost: str, wanted: Collection[str] | None = None
) -> Derivation:
    """Long parallel loops that stand beside other statements in the innermost loop of a perfect
    nest, or those of them that are `wanted`, become nests of their own, where every loop around
    them is parallel."""
    named = told_apart(derivation)
    (site, *_) = resolve(named.function, outermost)
    chain = perfect_nest(site.loop)
    parallel = parallel_loops(named.function, site.path)
    apart = tuple(
        s.var
        for s in chain[-1].body
        if isinstance(s, For)
        and s.var in parallel
        and _worth_spreading(named.function, s)
        and (wanted is None or s.var in wanted)
    )
    whole = len(_statements(chain[-1])) == 1
    if whole or not apart or not parallel.issuperset(x.var for x in chain):
        return derivation
    names = tuple(x.var for x in chain)
    cut = possible(lambda: _cut(named, names, apart), TransformError)
    return cut if isinstance(cut, Derivation) else derivation


def _cut(w: Derivation, chain: tuple[str, ...], apart: tuple[str, ...]) -> Derivation | None:
    """The loops `apart` in the innermost loop of `chain`, and what stands between them, each in a
    copy of the loops of the chain; None where they share arrays that a work-item can keep. Raises
    TransformError."""
    innermost = chain[-1]
    set_inside = writes(_loop(w.function, innermost).body)
    verdicts = (v for v in judge(w.function, inlined=True) if v.var in chain)
    needed = frozenset(name for v in verdicts for name in v.shared)
    for s in w.function.body:
        if isinstance(s, Decl) and s.name in set_inside and (not s.shape or s.name in needed):
            private = Privatise(s.name, innermost)
            w = w if s.shape and private.check(w.function) else w.then(private)
    for v in chain:
        w = w.then(Parallelise(v))
    for v in apart:
        w, step = _inwards(w, innermost, v), Rematerialise(v)
        w = w if step.check(w.function) else w.then(step)
    return in_parts(w, chain, apart)


def in_parts(w: Derivation, chain: tuple[str, ...], apart: tuple[str, ...]) -> Derivation | None:
    """The same for parallel loops that set nothing of other loops. Raises TransformError."""
    innermost = chain[-1]
    shared = _shared(_loop(w.function, innermost), apart)
    own = declared(w.function.body)
    if any(own[n].shape and all(value_of(d) is not None for d in own[n].shape) for n in shared):
        return None
    for name in shared:
        w = w.then(Expand(name, chain))
    if len(_statements(_loop(w.function, innermost))) > 1:
        w = w.then(Distribute(chain, apart))
    return _in_scalars(told_apart(w), shared)


def _shared(loop: For, apart: tuple[str, ...]) -> list[str]:
    """What the body declares and more than one of the parts uses that it is cut into."""
    parts: list[tuple[Stmt, ...]] = [()]
    for s in _statements(loop):
        if isinstance(s, For) and s.var in apart:
            parts += [(s,), ()]
        else:
            parts[-1] = (*parts[-1], s)
    own = [s.name for s in loop.body if isinstance(s, Decl)]
    return [n for n in own if sum(n in _used(p) for p in parts) > 1]


def _in_scalars(w: Derivation, expanded: list[str]) -> Derivation:
    """A nest that sets an element of an expanded array computes it in a scalar, which starts
    without the element: it has no value yet."""
    for outermost in nests(w.function):
        var = perfect_nest(outermost.loop)[-1].var
        for name in expanded:
            step = Scalarise(name, var, fresh(w.function, f"{name}_acc"))
            if name in writes(_loop(w.function, var).body) and not step.check(w.function):
                made = w.then(step)
                w = w if name in reads(_loop(made.function, var).body) else made
    return w


def _worth_spreading(fn: Function, loop: For) -> bool:
    """Whether a parallel loop can have work-items of its own, and many: its bounds are known before
    the nest, but for the variables of the loops around it."""
    bounds = (loop.lo, loop.hi, loop.step)
    changed = _changed(fn)
    known = not any(names(e) & changed or any(loads(e)) for e in bounds)
    return known and not has_few_iterations(loop)


def _changed(fn: Function) -> frozenset[str]:
    """What nests set, and what is computed from that: all but the scalars that statements of the
    function itself compute from others, as the host can."""
    plain = {
        s: s.target.name
        for s in fn.body
        if isinstance(s, Assign) and isinstance(s.target, Var) and not any(loads(s.value))
    }
    rest = tuple(s for s in fn.body if s not in plain and not isinstance(s, Decl))
    changed = writes(rest) | declared(rest).keys()
    while True:
        more = {name for s, name in plain.items() if not names(s.value).isdisjoint(changed)}
        if more <= changed:
            return frozenset(changed)
        changed |= more


def nests(fn: Function) -> tuple[LoopSite, ...]:
    """The loops of a function that stand in no other statement."""
    return tuple(s for s in loops(fn) if len(s.path) == 1)


def _statements(loop: For) -> list[Stmt]:
    return [s for s in loop.body if not isinstance(s, Decl)]


def _used(body: tuple[Stmt, ...]) -> frozenset[str]:
    return reads(body) | writes(body)


def parallel_loops(fn: Function, at: Path = ()) -> frozenset[str]:
    """The loops that can run in parallel, at most once their scalars are private: those that hold
    the statement there, or stand in it."""
    judged = judge(fn, inlined=True, at=at)
    return frozenset(v.var for v in judged if v.parallel in ("yes", "privatizable"))


def is_parallel(fn: Function, var: str) -> bool:
    """Whether a loop of that name can run in parallel."""
    return any(var in parallel_loops(fn, site.path) for site in resolve(fn, var))


def _loop(fn: Function, var: str) -> For:
    return resolve(fn, var)[0].loop
