"""The nests of a whole function, and the loops and conditions of the host around them.

    for t: { for i: A; for j: B }   ->  t is the host's, i and j are nests

A loop that is not parallel becomes so where parallel loops inside it can change places with it, or
its statements can have loops of their own.
"""

from __future__ import annotations

from loopxform.analysis.host_scalars import computed_by_host, counting, host_scalars
from loopxform.analysis.verdict import judge
from loopxform.errors import TransformError, UnsupportedC
from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Bin, Decl, Expr, For, If
from loopxform.ir.visit import (
    Path,
    loops,
    names,
    perfect_nest,
    resolve,
    walk,
    writes,
)
from loopxform.offload.array_expansion import own_arrays
from loopxform.offload.index_set_splitting import apart_from_pivots
from loopxform.offload.old_values import from_copies
from loopxform.offload.order_reasons import in_order
from loopxform.offload.program_state import (
    PARALLEL,
    Place,
    Program,
    holds_nests,
    inner_places,
    is_flag,
)
from loopxform.offload.reductions import in_parts
from loopxform.offload.right_looking import (
    by_columns,
    by_columns_of_sums,
    by_pivots,
    in_other_order,
)
from loopxform.offload.row_starts import apart_by_starts
from loopxform.offload.scans import in_scans
from loopxform.offload.statements_apart import by_branches, by_statements
from loopxform.offload.wavefront import wave_fronts
from loopxform.prepare.integral_images import rows_then_columns
from loopxform.prepare.last_stores import last_stored
from loopxform.prepare.parallel_band import Nest, prepare_at
from loopxform.prepare.perfect_nest import has_few_iterations, sunk, told_apart
from loopxform.recipes.deriving import Work
from loopxform.recipes.own_slices import sliced
from loopxform.transforms import (
    Assume,
    Derivation,
    Distribute,
    DistributeGuard,
    NameCondition,
    possible,
)
from loopxform.transforms.edges.bounds import ends_of
from loopxform.transforms.restructure.distribute import REORDERED
from loopxform.transforms.restructure.places import place_text
from loopxform.transforms.sites import no_wrap


def structure(program: Program, place: Place) -> None:
    """Finds the nests of a body of the host, and the loops of the host among its
    statements."""
    n = 0
    while n < len(program.statements(place)):
        path, s = program.statements(place)[n]
        loop = isinstance(s, For) and s.var not in program.nests and _changed(program, path, s)
        if loop or (isinstance(s, If) and _guarded(program, path, s)):
            n = 0
            continue
        n += 1
    for n in range(len(program.statements(place))):
        _, s = program.statements(place)[n]
        if (isinstance(s, For) and s.var in program.hosts) or (
            isinstance(s, If) and _chosen(program, s)
        ):
            for body in inner_places(s, place, n):
                structure(program, body)


def require_use(program: Program) -> None:
    """A loop is the host's only where it holds a nest and the host can compute its bounds; else
    one work-item runs all of it."""
    known = _known(program)
    for site in loops(program.fn):
        s = site.loop
        header = frozenset(n for e in counting(s) for n in names(e))
        if s.var in program.hosts and not (header <= known and holds_nests(s)):
            program.hosts.discard(s.var)
            for _, x in walk((s,)):
                if isinstance(x, For):
                    program.nests.pop(x.var, None)
                    program.hosts.discard(x.var)


def _changed(program: Program, path: Path, s: For) -> bool:
    """Makes a nest of the loop at `path`, or several loops of it; False where it stays."""
    if s.var in program.hosts or s.var in program.why:
        return False
    split = not s.parallel and (
        _split(program, s)
        or by_branches(program, s, _parallel, _more)
        or own_arrays(program, s)
        or _sums_of_rows(program, s)
        or _in_statements(program, s)
        or from_copies(program, s, lambda: _prepared(program.derivation, path) is None)
    )
    made = split or _nest(program, path, s) or _in_chunks(program, s)
    made = made or _rows_apart(program, s) or _pivots(program, s) or _scatters(program, s)
    return made or _waves(program, s) or _left(program, s)


def _in_chunks(program: Program, s: For) -> bool:
    """Runs chunks of a loop that reduces, or has running values, at the same time; False where it
    stays. Where the number of its iterations is unsigned, the host asks that it does not wrap
    around."""
    before = program.derivation
    if no_wrap(program.fn, resolve(program.fn, s.var)[0]):
        asked = (Assume(condition_text(e)) for e in _ascending(s))
        program.derivation, _ = before.titled(f"The bounds of {s.var} ascend").optional(*asked)
    made = in_parts(program, s) or in_scans(program, s)
    program.derivation = program.derivation if made else before
    return made


def _ascending(s: For) -> list[Expr]:
    """That the differences of the bounds of a loop are not below 0, where no numbers say so."""
    down = (value_of(s.step) or 1) < 0
    pairs = [(s.hi, s.lo)] if down else [(s.lo, end) for end in ends_of(s)]
    return [Bin("<=", a, b) for a, b in pairs if None in (value_of(a), value_of(b))]


def _sums_of_rows(program: Program, s: For) -> bool:
    """Makes two nests of one that sums up rows and columns: an integral image."""
    free = program.allowing(program.options, s).reassociate
    found = rows_then_columns(program.derivation, s.var, reassociate=free)
    program.derivation = found or program.derivation
    return found is not None


def _nest(program: Program, path: Path, s: For) -> bool:
    """Makes a nest of the loop at `path`: with the loops inside that are parallel once scalars
    between them are computed in these, where that makes more."""
    before = program.derivation.titled(f"The nest of {s.var}")
    free = program.allowing(program.options, s).reassociate
    nest = _prepared(before, path, reassociate=free)
    inwards = sunk(before, s.var)
    if inwards is not before:
        place = resolve(inwards.function, s.var)[0].path
        joined = _prepared(inwards, place, reassociate=free)
        if joined is not None and (nest is None or len(joined.parallel) > len(nest.parallel)):
            nest = joined
    if nest is None:
        return False
    program.derivation = nest.derivation
    program.nests[nest.parallel[0]] = nest
    return True


def _prepared(derivation: Derivation, path: Path, *, reassociate: bool = False) -> Nest | None:
    found = possible(
        lambda: prepare_at(derivation, path, reassociate=reassociate), UnsupportedC, TransformError
    )
    return found if isinstance(found, Nest) else None


def _in_statements(program: Program, s: For) -> bool:
    """Runs the statements of a loop that is no kernel as kernels of their own; False where it
    stays."""

    def is_parallel(derivation: Derivation, var: str) -> bool:
        place = resolve(derivation.function, var)[0].path
        return _prepared(derivation, place) is not None

    return by_statements(program, s, is_parallel)


def _scatters(program: Program, s: For) -> bool:
    """Finds first which iteration is the last one to store to an element; False where the loop
    stays."""
    found, why = last_stored(program.derivation, s.var)
    if why:
        program.hints[s.var] = why
    program.derivation = found or program.derivation
    return found is not None


def _rows_apart(program: Program, s: For) -> bool:
    """Runs the rows of a loop at the same time where their starts ascend; False where it stays as
    it is."""
    left = apart_by_starts(program, s)
    if left is not None:
        _hosted(program, left)
    return left is not None


def _pivots(program: Program, s: For) -> bool:
    """Makes a loop over pivots of one over rows, with all updates of each pivot inside."""
    found = None if s.parallel else by_pivots(program.derivation, s.var)
    if found is not None:
        program.derivation = found
    elif not s.parallel and (turned := in_other_order(program.derivation, s.var)):
        program.hints[s.var] = (
            f"count {turned} the other way round, in the order in which {s.var} computes what it "
            f"reads: then all {s.var} are updated at the same time"
        )
    return found is not None


def _waves(program: Program, s: For) -> bool:
    """Makes parallel parts, or wave fronts, of a nest in a loop that holds nothing parallel."""
    inside = [x for _, x in walk((s,)) if isinstance(x, For)]
    if any(_spread(program, x) for x in inside):
        return False
    for x in inside[1:]:
        apart = apart_from_pivots(program.derivation, x.var)
        if apart is not None:
            program.derivation = apart
            return True
    for x in reversed(inside):
        columns = by_columns(program.derivation, x.var)
        if columns is not None:
            program.derivation = columns
            return True
    for x in inside:
        found = wave_fronts(program.derivation, x.var)
        if found is not None:
            program.derivation, front, text = found
            program.fronts[front] = text
            return True
    for x in reversed(inside):
        columns = by_columns_of_sums(program.derivation, x.var)
        if columns is not None:
            program.derivation = columns
            return True
    return False


def _split(program: Program, s: For) -> bool:
    """Gives the statements of a loop, or of the parallel loops perfectly nested in it, loops of
    their own, where that makes more loops parallel, or brings more of them together."""
    chain = perfect_nest(s)
    statements = [x for x in chain[-1].body if not isinstance(x, Decl)]
    if len(statements) < 2:
        return False
    inner = [x for x in statements if isinstance(x, For)]
    apart = all(_parallel(program, x) for x in chain) and _stand_apart(program, chain, inner)
    wider = not apart and all(_parallel(program, x) for x in chain) and _holds_bands(program, inner)
    if _parallel(program, s) and not (apart or wider):
        return False
    cuts = [
        (around, word) for word in ("", REORDERED) for around in ((), tuple(x.var for x in inner))
    ]
    for around, word in cuts:
        step = Distribute(tuple(x.var for x in chain), around, word)
        if step.check(program.fn):
            continue
        titled = program.derivation.titled(f"The statements of {s.var} in loops of their own")
        after = told_apart(titled.then(step))
        if apart or (_wider(program, after, chain) if wider else _more(program, after)):
            program.derivation = after
            return True
    return False


def _stand_apart(program: Program, chain: tuple[For, ...], inner: list[For]) -> bool:
    """Whether a loop among them is worth work-items of its own: not one that only sets what an
    iteration of the loops around it keeps in a slice of its own, if these are many and the others
    are short: long ones may become parallel."""
    spread = [x for x in inner if _spread(program, x)]
    rest = (x for s in inner if s not in spread for _, x in walk((s,)) if isinstance(x, For))
    long = all(map(has_few_iterations, chain)) or not all(map(has_few_iterations, rest))
    if not spread or program.limits is None or long:
        return bool(spread)
    kept = sliced(Work(program.derivation, {}), chain[-1], program.limits)
    return any(not writes(x.body) <= kept for x in spread)


def _holds_bands(program: Program, inner: list[For]) -> bool:
    """Whether a sequential loop among them holds a parallel one directly."""
    rest = (x for x in inner if not _parallel(program, x))
    return any(isinstance(y, For) and _spread(program, y) for x in rest for y in x.body)


def _wider(program: Program, after: Derivation, chain: tuple[For, ...]) -> bool:
    """Whether one of the loops that the outermost of the chain became is the outermost of more
    parallel loops than the chain has."""
    others = {site.loop.var for site in loops(program.fn)} - {chain[0].var}
    for site in loops(after.function):
        if site.loop.var not in others:
            inwards = sunk(after, site.loop.var)
            nest = _prepared(inwards, resolve(inwards.function, site.loop.var)[0].path)
            if nest is not None and len(nest.parallel) > len(chain):
                return True
    return False


def _more(program: Program, after: Derivation) -> bool:
    """Whether loops are parallel there that are not parallel now."""
    known = {site.loop.var for site in loops(program.fn) if _parallel(program, site.loop)}
    return any(v.parallel in PARALLEL and v.var not in known for v in judge(after.function))


def _left(program: Program, s: For) -> bool:
    """A loop that holds parallel ones is the host's, any other is run in order."""
    verdict = program.verdicts().get(s.var)
    why = in_order(s, verdict, program.sought)
    if s.var in program.fronts:
        why = f"it counts wave fronts, {program.fronts[s.var]}"
    searched = program.searches.get(s.origin.loc) if s.origin.loc else None
    program.why[s.var] = "; ".join(x for x in (why, searched, program.hints.get(s.var)) if x)
    _hosted(program, s)
    return False


def _hosted(program: Program, s: For) -> None:
    """A loop that holds parallel ones is the host's."""
    inner = [x for _, x in walk(s.body) if isinstance(x, For)]
    header = all(map(computed_by_host, counting(s)))
    if header and not s.live_out and any(_spread(program, x) for x in inner):
        program.hosts.add(s.var)


def _parallel(program: Program, s: For) -> bool:
    verdict = program.verdicts().get(s.var)
    return s.parallel or (verdict is not None and verdict.parallel in PARALLEL)


def _spread(program: Program, s: For) -> bool:
    """Whether a loop is parallel, and worth a kernel."""
    return _parallel(program, s) and not has_few_iterations(s)


def _guarded(program: Program, path: Path, s: If) -> bool:
    """Gives the statements under a condition on data that condition, or that a scalar that the host
    reads where a loop inside can be computed in parts; False where it stays."""
    if _chosen(program, s):
        return False
    if not _holds_spread(program, s):
        return _holds_parts(program, s) and _named(program, path, s)
    w = Work(program.derivation.titled("Conditions on data inside the nests"), {})
    done = w.attempt(DistributeGuard(place_text(path)))
    program.derivation = told_apart(w.derivation)
    return done


def _named(program: Program, path: Path, s: If) -> bool:
    """Gives a condition a scalar, where a loop that it guards is computed in parts then; False
    where none is."""
    before, inner = program.derivation, [x for x in (*s.then, *s.orelse) if isinstance(x, For)]
    w = Work(before.titled("Conditions on data that the host reads"), {})
    if not w.attempt(NameCondition(place_text(path))):
        return False
    program.derivation = w.derivation
    if any(_in_chunks(program, x) for x in inner):
        return True
    program.derivation = before
    return False


def _chosen(program: Program, s: If) -> bool:
    """Whether a condition is the host's to ask."""
    known = computed_by_host(s.cond) and names(s.cond) <= _known(program)
    asked = known or is_flag(program.fn, s.cond)
    return asked and (_holds_spread(program, s) or _holds_parts(program, s))


def _holds_spread(program: Program, s: If) -> bool:
    inner = (x for _, x in walk((s,)) if isinstance(x, For))
    return any(_spread(program, x) for x in inner)


def _holds_parts(program: Program, s: If) -> bool:
    """Whether a loop may be computed in parts: one that reduces, or has running values."""
    inner = [x.var for _, x in walk((s,)) if isinstance(x, For) and not has_few_iterations(x)]
    found = (v for x in inner if (v := program.verdicts().get(x)) is not None)
    return any(v.reductions or v.idioms for v in found)


def _known(program: Program) -> frozenset[str]:
    """Scalars of the host; the counters of its loops among them."""
    return host_scalars(program.fn) | program.hosts
