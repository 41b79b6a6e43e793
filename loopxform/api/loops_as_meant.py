"""Loops as they are meant, before anything is asked of them that steps need.

    for i: for j: { ...; c[at] = s; at += 1; }   ->   for i: for j: { ...; c[i, j] = s; }
    p = 0; for k: { s += a[p]; p += lda; }       ->   for k: s += a[k, 0]
    end = min(len[i], u); for k < end            ->   for k < min(len[i], u)
    for t < n*m: c[t / m, t % m] = 0             ->   for i < n: for j < m: c[i, j] = 0
    if (b == 0) for i: ... else for i: ...       ->   for i: { ...; if (b == 0) ... else ... }

What grows by the same amount in each iteration has a closed form (step `substitute`), loop by loop
from the innermost; bounds that variables hold, tiles that count from 0 and windows that are cut at
an edge are written out; nests in both branches of a condition become one; what only the end of an
iteration needs moves there. Flat arrays are matrices then, as where the user writes their
subscripts.
`check` judges the loops as they are written: there they carry the sum. The user's own text runs
where what is taken for granted does not hold (`Function.as_written`).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from loopxform.analysis.least_sizes import with_assumptions
from loopxform.analysis.subscripts_from_zero import SHARE
from loopxform.budget import Exhausted, part, within
from loopxform.frontend.lower.delinearise import delinearise
from loopxform.frontend.lower.facts import Facts
from loopxform.frontend.lower.forward import forward_values
from loopxform.ir.affine import Poly, poly, to_expr
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Stmt,
    Var,
)
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    Path,
    counters,
    declared,
    loads,
    loops,
    loops_around,
    map_body,
    map_stmt_exprs,
    names,
    reads,
    resolve,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.prepare.absolute_tiles import with_absolute_tiles
from loopxform.prepare.assumed_condition import with_assumed_condition
from loopxform.prepare.blocked_loops import unblocked
from loopxform.prepare.coalesced_copies import with_coalesced_copies
from loopxform.prepare.counting_elements import with_counting_elements
from loopxform.prepare.extrema_apart import with_extrema_apart
from loopxform.prepare.invariant_elements import with_invariant_elements
from loopxform.prepare.joined_branches import with_joined_branches
from loopxform.prepare.known_bounds import with_known_bounds
from loopxform.prepare.last_values import with_last_values
from loopxform.prepare.repeated_loops import with_repeated_loops
from loopxform.prepare.sunk_code import with_sunk_code
from loopxform.prepare.unrolled_loops import rerolled
from loopxform.prepare.while_loops import whole_bodies
from loopxform.prepare.whole_windows import with_whole_windows
from loopxform.transforms import Derivation, Normalise, Substitute, Uncoalesce
from loopxform.transforms.edges.bounds import ends_of, trips_to
from loopxform.transforms.restructure.uncoalesce import is_divided

MOST = 32
"""Variables of loops that are replaced in a function."""


def with_loops_as_meant(fn: Function) -> Function:
    """The function with its loops as they are meant, as far as the time suffices."""
    with suppress(Exhausted), within(part(SHARE)):
        return with_joined_branches(_meant(fn))
    return fn


def as_meant(fn: Function) -> Function:
    """That, under what is assumed of its sizes: of loops that are unrolled by hand, or blocked, as
    they are once that is undone."""
    meant = with_loops_as_meant(with_extrema_apart(fn))
    meant = with_invariant_elements(meant)
    read = unblocked(rerolled(Derivation(whole_bodies(meant)))).function
    return with_assumptions(meant, read)


def _meant(fn: Function) -> Function:
    repeated = with_repeated_loops(with_counting_elements(fn), _fixed(fn))
    bounds_change, fn = repeated is not fn, with_assumed_condition(repeated)
    fn = with_sunk_code(with_coalesced_copies(with_joined_branches(fn)))
    read = whole_bodies(fn)
    if any(isinstance(s, Opaque) for _, s in walk(read.body)):
        return fn
    done = Derivation(read)
    for _ in range(MOST):
        step = _next(done.function)
        if step is None:
            break
        done = done.then(step)
    running = _in_loops_that_run(done.function)
    fixed = _fixed(running)
    ending = with_last_values(with_known_bounds(running, fixed), fixed)
    bounded = with_known_bounds(ending, fixed)
    rows = _rows_and_columns(bounded)
    found = with_whole_windows(with_absolute_tiles(rows, _fixed(rows)))
    if found == read and not bounds_change:
        return fn
    numbered = _numbered(found)
    plain = forward_values(numbered, symbols(numbered))
    made = as_matrices(_without_dead(_in_loops_that_run(plain)))
    written = read if any(isinstance(s, Opaque) for _, s in walk(fn.body)) else fn
    return replace(made, start=None, as_written=fn.as_written or written)


def _rows_and_columns(fn: Function) -> Function:
    """Loops over the elements of matrices as loops over rows and columns; that these have elements
    is asked of the caller."""
    fixed = _fixed(fn)
    while True:
        every = (s for s in loops(fn) if is_divided(fn, s.loop))
        divided = (s.path for s in every if _passes_nothing_on(s.loop))
        steps = (Uncoalesce(_reference(fn, path)) for path in divided)
        step = next((s for s in steps if _is_legal_if_asked(fn, s, fixed)), None)
        if step is None:
            return fn
        fn = step.rewrite(replace(fn, assumes=(*fn.assumes, *step.open_questions(fn))))


def _passes_nothing_on(loop: For) -> bool:
    """Whether iterations set no scalar that the next one may read, and no elements that data name:
    those that do are computed in parts, of one loop rather than of two."""
    fresh: set[str] = set(declared(loop.body)) | {
        s.var for _, s in walk(loop.body) if isinstance(s, For)
    }
    changing = _scalars(loop.body)
    for s in loop.body:
        if reads((s,)) & (changing - fresh):
            return False
        if isinstance(s, Assign) and not s.op:
            fresh |= writes((s,))
    targets = (s.target for _, s in walk(loop.body) if isinstance(s, Assign))
    subscripts = (i for t in targets if isinstance(t, Load) for i in t.index)
    named = any(list(loads(i)) for i in subscripts)
    return not named and changing <= fresh


def _scalars(body: tuple[Stmt, ...]) -> frozenset[str]:
    """The scalars that a body sets."""
    every = (s for _, s in walk(body) if isinstance(s, Assign))
    return frozenset(s.target.name for s in every if isinstance(s.target, Var))


def _is_legal_if_asked(fn: Function, step: Uncoalesce, fixed: frozenset[str]) -> bool:
    asked = step.open_questions(fn)
    known = replace(fn, assumes=(*fn.assumes, *asked))
    return all(names(e) <= fixed for e in asked) and not step.check(known)


def _next(fn: Function) -> Substitute | None:
    """The step for a variable of an innermost loop that has one."""
    found = _subscripts(fn)
    for site in sorted(loops(fn), key=lambda s: -len(s.path)):
        ref = _reference(fn, site.path)
        for s in site.loop.body:
            if isinstance(s, Assign) and isinstance(s.target, Var) and s.target.name in found:
                step = Substitute(s.target.name, ref)
                if not step.check(fn):
                    return step
    return None


def _reference(fn: Function, path: Path) -> str:
    """What steps call the loop at `path`."""
    var = next(s.loop.var for s in loops(fn) if s.path == path)
    same = [s.path for s in resolve(fn, var)]
    return var if len(same) == 1 else f"{var}#{same.index(path) + 1}"


def _subscripts(fn: Function) -> frozenset[str]:
    """The scalars that subscripts and bounds of loops are made of."""
    found, more = frozenset[str](), frozenset[str]()
    for _, s in walk(fn.body):
        more |= {n for e in stmt_exprs(s) for x in loads(e) for i in x.index for n in names(i)}
        if isinstance(s, For):
            more |= names(s.lo) | names(s.hi)
    while more - found:
        found |= more
        setting = (s for _, s in walk(fn.body) if isinstance(s, Assign))
        more = frozenset(
            n
            for s in setting
            if isinstance(s.target, Var) and s.target.name in found
            for n in names(s.value)
        )
    return found


def _numbered(fn: Function) -> Function:
    """Loops that begin elsewhere in each iteration around them, and always have as many iterations,
    count from 0."""
    done, left = Derivation(fn), 0
    while len(sites := loops(done.function)) > left:
        site, left = sites[left], left + 1
        around = {x.var for x in loops_around(done.function, site.path)} - {site.loop.var}
        trips = trips_to(site.loop, site.loop.hi)
        moves = names(site.loop.lo) & around
        if moves and trips is not None and not names(to_expr(trips)) & around:
            step = Normalise(_reference(done.function, site.path))
            done = done if step.check(done.function) else done.then(step)
    return done.function


# ---------------------------------------------------------------- what is simpler


def _in_loops_that_run(fn: Function) -> Function:
    """`max(n, 0)` in a loop of n iterations is n: there is one."""
    return replace(fn, body=_simpler(fn.body, (), _fixed(fn)))


def _fixed(fn: Function) -> frozenset[str]:
    """The scalars that keep their value during a call."""
    changed = writes(fn.body) | counters(fn) | declared(fn.body).keys()
    own = (p for p in fn.params if not (p.array or p.pointer) and p.type.is_integer)
    return frozenset(p.name for p in own) - changed


def _simpler(
    body: tuple[Stmt, ...], counts: tuple[Poly, ...], fixed: frozenset[str]
) -> tuple[Stmt, ...]:
    def counted(e: Expr) -> Expr:
        match e:
            case Bin("max", count, Const(0)) if poly(count) in counts:
                return count
            case _:
                return e

    out = list[Stmt]()
    for s in body:
        s = map_stmt_exprs(s, counted)
        match s:
            case For():
                found = [trips_to(s, end) for end in ends_of(s)]
                more = tuple(c for c in found if c is not None and names(to_expr(c)) <= fixed)
                s = replace(s, body=_simpler(s.body, (*counts, *more), fixed))
            case If():
                then = _simpler(s.then, counts, fixed)
                s = replace(s, then=then, orelse=_simpler(s.orelse, counts, fixed))
        out.append(s)
    return tuple(out)


def _without_dead(fn: Function) -> Function:
    """Without the scalars of the function's own that are set, and that nothing reads any more."""
    counting = {site.loop.var for site in loops(fn)}
    own = {n for n, d in declared(fn.body).items() if not d.shape} - counting

    def needed(s: Stmt, used: frozenset[str]) -> bool:
        match s:
            case Decl(name) | Assign(Var(name)):
                return name not in own or name in used
            case If(then=then, orelse=orelse):
                return bool(then or orelse)
            case _:
                return True

    while True:
        used = reads(fn.body)
        body = map_body(fn.body, lambda s: (s,) if needed(s, used) else ())  # noqa: B023
        if body == fn.body:
            return fn
        fn = replace(fn, body=body)


def as_matrices(fn: Function, *, of_rows: bool = False) -> Function:
    """The function with its flat arrays as matrices; `of_rows`, see `delinearise`."""
    facts = Facts(symbols(fn), _fixed(fn))
    facts.assumes += fn.assumes
    facts.representable += fn.representable
    found, _ = delinearise(fn, facts, of_rows=of_rows)
    return replace(found, representable=tuple(facts.representable))
