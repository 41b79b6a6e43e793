"""Arrays that each iteration writes anew, whether or not they live longer than the loops.

    for i: { for k: t[k] = e(i, k);  for k: x[i][k] = t[k] }
      ->   forall i: { for k: t_2[i][k] = e(i, k);  for k: x[i][k] = t_2[i][k] }
           for k: t[k] = t_2[n-1][k]

The loops become parallel where each iteration has an array of its own. That may take about as much
memory as another array that the loops use, so that no more is needed than a few times what is on
the device anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from math import prod

from loopxform.analysis.context import always
from loopxform.analysis.deps import dependences
from loopxform.analysis.extent import extent
from loopxform.analysis.privatise import privacy
from loopxform.analysis.verdict import judge
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Bin, Const, Decl, Expr, For, Function, Stmt
from loopxform.ir.visit import Path, at, declared, names, perfect_nest, reads, resolve, walk, writes
from loopxform.offload.program_state import Program
from loopxform.prepare.perfect_nest import has_few_iterations
from loopxform.transforms import Derivation, Distribute, Expand, Privatise, ScalarToMemory

MOST_BYTES = 64 << 20
"""What an array whose extents are numbers may take, whatever else there is."""

MOST_TIMES = 4
"""How many times as many elements as another array a new one may have, apart from that."""


def own_arrays(program: Program, s: For) -> bool:
    """Gives the iterations of a loop, and of those perfectly nested in it, copies of their own of
    the arrays that keep it from being parallel, and of those that a work-item could not keep;
    False where there are none, or the loop is not parallel with them."""
    path = resolve(program.fn, s.var)[0].path
    carried = {d.array for d in dependences(program.fn, path) if d.carrier == path}
    left = sorted(n for n in carried if not privacy(program.fn, path, n).with_copy)
    lasting = sorted(n for n in carried if n not in left and _lasts(program.fn, n, s.var))
    own = [n for n, d in declared(program.fn.body).items() if not _is_fixed(d)]
    inside = declared(s.body)
    w = program.derivation.titled(f"Arrays for the iterations of {s.var}")
    widened = [*left, *lasting, *(n for n in own if n in inside or n in carried - set(left))]
    for name in widened:
        if name in lasting:
            w = w.then(ScalarToMemory(name))
        wide = expanded(w, name, s.var)
        if wide is None:
            return False
        w = wide
    if not widened or not _spreads(w.function, s.var):
        return False
    before = {id(d) for d in declared(program.fn.body).values()}
    made = [d for d in declared(w.function.body).values() if d.shape and id(d) not in before]
    listed = " and ".join(widened)
    lacking = next(filter(None, (lacks_room(program.fn, path, d) for d in made)), "")
    if lacking:
        program.hints[s.var] = f"no {listed} for each iteration: {lacking}"
        return False
    program.derivation = w
    text = f"each iteration has its own {listed}"
    kept = left or lasting
    program.widened[s.var] = f"{text}; the last one's is copied back" if kept else text
    return True


def _lasts(fn: Function, name: str, var: str) -> bool:
    """Whether a scalar of the function would be private to iterations, but for what it has after
    the last."""
    own = declared(fn.body).get(name)
    if own is None or own.shape or ScalarToMemory(name).check(fn):
        return False
    return bool(Privatise(name, var).check(fn))


def _is_fixed(d: Decl) -> bool:
    """Whether a work-item could keep it: its extents are numbers."""
    return all(value_of(size) is not None for size in d.shape)


def expanded(w: Derivation, name: str, outer: str) -> Derivation | None:
    """Expanded over all of the perfectly nested loops; or, where that does not help the inner ones,
    over as many of the outer ones as can be."""
    chain = tuple(x.var for x in perfect_nest(resolve(w.function, outer)[0].loop))
    whole = _over(w, name, chain)
    if whole is not None or any(_over(w, name, chain[n:]) for n in range(1, len(chain))):
        return whole
    outwards = (_over(w, name, chain[:n]) for n in range(len(chain) - 1, 0, -1))
    return next((x for x in outwards if x is not None), None)


def _over(w: Derivation, name: str, loops: tuple[str, ...]) -> Derivation | None:
    """Expanded over these loops, where it can be at once, or when it is declared inside."""
    private, step = Privatise(name, loops[-1]), Expand(name, loops)
    if step.check(w.function):
        w = w if private.check(w.function) else w.then(private)
    return None if step.check(w.function) else w.then(step)


def _spreads(fn: Function, var: str) -> bool:
    """Whether the loop is parallel, and the parallel loops inside it stay so: statements of the
    perfect nest get copies of all its loops."""
    parallel = {v.var for v in judge(fn) if v.parallel in ("yes", "privatizable")}
    chain = perfect_nest(resolve(fn, var)[0].loop)
    statements = [s for s in chain[-1].body if not isinstance(s, Decl)]
    inner = [s for s in statements if isinstance(s, For)]
    apart = [s for s in inner if s.var in parallel and not has_few_iterations(s)]
    held = {id(x) for _, x in walk(tuple(apart))}
    below = [x for _, x in walk(chain[-1].body) if isinstance(x, For) and id(x) not in held]
    if any(x.var in parallel and not has_few_iterations(x) for x in below):
        return False
    loops = tuple(x.var for x in chain)
    if not apart or len(statements) < 2:
        return var in parallel
    cuts = ((), tuple(x.var for x in inner))
    return parallel.issuperset(loops) and any(not Distribute(loops, c).check(fn) for c in cuts)


def lacks_room(fn: Function, path: Path, new: Decl) -> str:
    """Why an array is too large, or it is not known before the first kernel how large it is; ""
    where it has about as many elements as the loop at `path` uses of another, or few."""
    sizes = [plain_extent(d) for d in new.shape]
    if unknown := open_extents(fn, new):
        return f"'{unknown[0]}' is not known before the first kernel"
    factors = [x for x in sizes if value_of(x) is None]
    times = prod(value_of(x) or 1 for x in sizes)
    if not factors and times * new.type.bytes <= MOST_BYTES:
        return ""
    if any(_within(fn, path, factors, times, dims) for dims in _used(fn, at(fn, path))):
        return ""
    return "it would be much larger than the other arrays"


def has_room_for_iterations(fn: Function, path: Path, after: Function) -> bool:
    """Whether there is room for the arrays that steps have given to all iterations of the loop at
    `path`: those of the groups that run at once are few."""
    known = declared(fn.body)
    made = (d for n, d in declared(after.body).items() if d.shape and d != known.get(n))
    return not any(lacks_room(fn, path, d) for d in made if value_of(d.shape[0]) is None)


def open_extents(fn: Function, new: Decl) -> list[str]:
    """What the extents of an array mention that is not known before the first kernel."""
    fixed = frozenset(p.name for p in fn.objects if not p.array) - writes(fn.body)
    return sorted(n for d in new.shape for n in names(plain_extent(d)) - fixed)


def _used(fn: Function, s: Stmt) -> Iterator[tuple[Expr, ...]]:
    """How much is used of the arrays in a statement."""
    own = declared(fn.body)
    for name in sorted(reads((s,)) | writes((s,))):
        if name in own:
            yield tuple(map(plain_extent, own[name].shape))
        elif any(p.name == name and p.shape for p in fn.objects):
            found = extent(fn, name)
            yield () if found is None else tuple(map(plain_extent, found.upper))


def _within(
    fn: Function, path: Path, factors: list[Expr], times: int, dims: tuple[Expr, ...]
) -> bool:
    """Whether each factor is at most a dimension of its own; the other dimensions, as far as they
    are numbers, make up for `times`."""
    for chosen in permutations(range(len(dims)), len(factors)):
        rest = prod(value_of(d) or 1 for n, d in enumerate(dims) if n not in chosen)
        fits = (always(fn, path, Bin("<=", f, dims[n])) for f, n in zip(factors, chosen))
        if times <= MOST_TIMES * rest and all(fits):
            return True
    return False


def plain_extent(size: Expr) -> Expr:
    """Without the 1 that an array has at least."""
    match size:
        case Bin("max", e, Const(1)) | Bin("max", Const(1), e):
            return e
        case _:
            return size
