"""Loops whose iterations fill arrays of their own, as nests of parts of the iterations.

    forall i: { w[n];  for j: { t = 0; for c: t += e(i, j, c); w[j] = t; top = max(top, t) }
                for j: ... w[j] = f(w[j], top) ...;  for c: { s = 0; for j: s += w[j] * v[j][c] } }
 -> w_2[m][n], top_2[m];  forall i, j: ... w_2[i][j] = t;
    forall i: { for j: top = max(top, w_2[i][j]);  for j: ... };  forall i, c: ...

Parts that are products of matrices then read data once for many iterations. That takes arrays of
all iterations: the host asks whether there is room for them, as much as the profile of the device
grants. (Allen and Kennedy, sections 5.3 and 6.2: scalar expansion, loop distribution.)
"""

from __future__ import annotations

from functools import reduce

from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, Stmt, Var
from loopxform.ir.visit import LoopSite, declared, perfect_nest, reads, resolve, walk, writes
from loopxform.offload.array_expansion import lacks_room, open_extents, plain_extent
from loopxform.prepare.perfect_nest import (
    distributed,
    has_few_iterations,
    is_parallel,
    sunk,
    told_apart,
)
from loopxform.recipes.coalesced import is_open
from loopxform.recipes.deriving import Work
from loopxform.recipes.versions import times
from loopxform.records import record
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Derivation,
    Distribute,
    Expand,
    RemoveUnitLoop,
    Rename,
    Reorder,
    UnitLoop,
)
from loopxform.transforms.restructure.places import place_text


@record
class IterationNests:
    """A function with parts of the iterations of its loop as nests, and the conditions under which
    there is room for the arrays of all iterations."""

    derivation: Derivation
    room: tuple[Expr, ...]


def iteration_nests(start: Derivation, site: LoopSite, limits: Limits) -> IterationNests | None:
    """None where iterations have no arrays without fixed sizes, where no part of them is a product,
    or it is not known before the first kernel how large the arrays of all are."""
    w = Work(start.titled(f"Parts of the iterations of {site.loop.var}"), {})
    var = perfect_nest(site.loop)[-1].var
    if not any(isinstance(s, Decl) and is_open(s) for s in _body(w.fn, var)):
        return None
    for loop in [s for s in _body(w.fn, var) if isinstance(s, For)]:
        if _is_product(loop) and not is_parallel(w.fn, loop.var):
            _without_tail(w, loop.var)
    products = [s.var for s in _body(w.fn, var) if isinstance(s, For) and _is_product(s)]
    products = [v for v in products if is_parallel(w.fn, v)]
    if not products:
        return None
    _scalars_later(w, var, products)
    known = declared(w.fn.body)
    after = distributed(w.derivation, site.loop.var, products)
    if after is w.derivation:
        return None
    made = [d for n, d in declared(after.function.body).items() if d.shape and n not in known]
    made += [d for n, d in declared(after.function.body).items() if n in known and d != known[n]]
    room = _room(start.function, site, made, limits)
    if room is None:
        return None
    for outermost in [s.var for s in after.function.body if isinstance(s, For)]:
        after = sunk(after, outermost)
    own = Rename(site.loop.var, fresh(after.function, site.loop.var))
    return IterationNests(told_apart(after).then(own), room)


def _body(fn: Function, var: str) -> tuple[Stmt, ...]:
    return resolve(fn, var)[0].loop.body


def _is_product(s: For) -> bool:
    """Whether an iteration of a loop holds a loop of many iterations."""
    inside = (x for _, x in walk(s.body) if isinstance(x, For))
    return not has_few_iterations(s) and any(not has_few_iterations(x) for x in inside)


def _without_tail(w: Work, var: str) -> None:
    """Gives what follows the last inner loop of a loop, or the end of that, a loop of its own,
    where the rest is parallel then."""
    before = w.derivation
    body = _body(w.fn, var)
    last = max(n for n, s in enumerate(body) if isinstance(s, For))
    for first in range(len(body) - 1, last, -1):
        path = (*resolve(w.fn, var)[0].path, first)
        if _apart(w, var, place_text(path), len(body) - first) and is_parallel(w.fn, var):
            return
        w.derivation = before


def _apart(w: Work, var: str, place: str, count: int) -> bool:
    """Gives so many statements from a place on a loop of their own, behind that over `var`."""
    once = fresh(w.fn, "once")
    if not w.attempt(UnitLoop(place, str(count), once)):
        return False
    loop = resolve(w.fn, var)[0].loop
    tail = resolve(w.fn, once)[0].loop
    for name in [s.name for s in loop.body if isinstance(s, Decl) and not s.shape]:
        if name in reads((tail,)) | writes((tail,)):
            w.attempt(Expand(name, (var,)))
    if not w.attempt(Distribute((var,), (once,)), RemoveUnitLoop(once)):
        return False
    w.derivation = told_apart(w.derivation)
    return True


def _scalars_later(w: Work, var: str, products: list[str]) -> None:
    """Moves statements that only compute scalars behind the products that follow them."""
    path = resolve(w.fn, var)[0].path
    for n in range(len(_body(w.fn, var)) - 1, -1, -1):
        s, rest = _body(w.fn, var)[n], _body(w.fn, var)[n + 1 :]
        if isinstance(s, Assign) and isinstance(s.target, Var):
            behind = [k for k, x in enumerate(rest, 1) if isinstance(x, For) and x.var in products]
            between = next((k for k, x in enumerate(rest, 1) if not _passed(x, products)), None)
            count = max((k for k in behind if between is None or k < between), default=0)
            if count:
                w.attempt(Reorder(place_text((*path, n)), str(count)))


def _passed(s: Stmt, products: list[str]) -> bool:
    """Whether a statement is of those that another may pass on the way behind a product."""
    scalar = isinstance(s, Assign) and isinstance(s.target, Var)
    return scalar or isinstance(s, Decl) or (isinstance(s, For) and s.var in products)


def _room(
    fn: Function, site: LoopSite, made: list[Decl], limits: Limits
) -> tuple[Expr, ...] | None:
    """Under which conditions there is room for new arrays; None where that cannot be asked."""
    asked = dict[Expr, None]()
    for d in (d for d in made if lacks_room(fn, site.path, d)):
        if open_extents(fn, d):
            return None
        count = reduce(times, map(plain_extent, d.shape))
        most = (limits.expanded_mib << 20) // d.type.bytes
        asked[Bin("<=", count, Const(most))] = None
    return tuple(asked)
