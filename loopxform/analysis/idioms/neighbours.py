"""Scans along an array: each element is computed from the one of the iteration before.

    a[i] += a[i - 1];    y[i] = a[i]*y[i - 1] + b[i];    m[i][j] = max(m[i - 1][j], x[i][j])
    a[i] += a[i - 4]     four scans, whose elements take turns

One statement writes the array, each time another element; it reads the one that the iteration
before has written, or one a few iterations before, and maybe the old value of its own. Whatever
else reads the array, reads one of these two, or elements that the loop does not write.
"""

from __future__ import annotations

from loopxform.analysis.apart import apart
from loopxform.analysis.conversions import order_hidden
from loopxform.analysis.domain import names_of
from loopxform.analysis.idioms.flow import Flow, Site
from loopxform.analysis.idioms.linear_forms import is_linear
from loopxform.analysis.idioms.record import LINEAR, Idiom
from loopxform.analysis.reductions import agree, updates_in
from loopxform.ir.affine import Poly, poly
from loopxform.ir.nodes import Assign, Bin, Const, Expr, Load, Var
from loopxform.ir.visit import loads, map_expr, names, stmt_exprs, substitute

Subscripts = tuple[Poly, ...]

MOST_DISTANCE = 16
"""How many iterations before an element may be stored that the next one is computed from."""


def scan_of_elements(flow: Flow, name: str) -> Idiom | None:
    """The scan that an array is computed by; None where it is not."""
    sites = list(flow.of(name))
    if len(sites) != 1 or not isinstance(s := sites[0].stmt, Assign):
        return None
    if not isinstance(s.target, Load) or not _is_new_each_time(flow, sites[0], s.target):
        return None
    own = _subscripts(s.target)
    value = Bin(s.op, s.target, s.value) if s.op else s.value
    distance, before, former = _former(flow, s.target, value)
    if former is None:
        return None
    value = map_expr(value, lambda x: former if _is(x, name, before) else x)
    op = _operator(flow, former, value)
    rest = map_expr(value, lambda x: Const(0) if _is(x, name, before) or _is(x, name, own) else x)
    known = [
        (site.path, x)
        for site in flow.sites
        for e in stmt_exprs(site.stmt)
        for x in loads(e)
        if _is(x, name, own) or _is(x, name, before)
    ]
    used = {(site.path, x) for site in flow.sites for e in stmt_exprs(site.stmt) for x in loads(e)}
    others = {(p, x) for p, x in used if x.array == name} - set(known)
    if not op or (others and not apart(flow.fn, flow.path, name, frozenset(known))):
        return None
    operands = names(_without(rest, name)) | sites[0].control
    return (
        None if flow.depends(sites[0], operands, name) else _idiom(sites[0], s.target, op, distance)
    )


def _former(flow: Flow, target: Load, value: Expr) -> tuple[int, Subscripts, Load | None]:
    """How many iterations before the nearest element was stored that a value is made of, its
    subscripts, and where it is read; None where there is none."""
    mine = [x for x in loads(value) if x.array == target.array]
    for distance in range(1, MOST_DISTANCE + 1) if mine else ():
        before = _before(flow, target, distance)
        for x in mine:
            if _subscripts(x) == before:
                return distance, before, x
    return 0, (), None


def _idiom(site: Site, target: Load, op: str, distance: int) -> Idiom:
    """Elements that a condition leaves alone are what the next ones begin with."""
    return Idiom(
        "scan",
        target.array,
        op,
        "inclusive",
        segmented=bool(site.guards),
        condition=" && ".join(map(str, site.guards)),
        distance=distance,
        paths=(site.path,),
    )


def _without(e: Expr, name: str) -> Expr:
    """The expression without the elements of an array that nothing writes."""
    return map_expr(e, lambda x: Const(0) if isinstance(x, Load) and x.array == name else x)


def _operator(flow: Flow, former: Load, value: Expr) -> str:
    update = updates_in((), Assign(former, value))
    if update and agree(flow.fn, list(update)):
        return update[0].op
    types = names_of(flow.fn)
    target, found = types.type_of(former), types.type_of(value)
    if target is None or found is None or not order_hidden("+", target, found, value):
        return ""
    return LINEAR if value != former and is_linear(value, former, types) else ""


def _is_new_each_time(flow: Flow, site: Site, target: Load) -> bool:
    """Whether the element is another one in each iteration, of the loops inside too: each of their
    variables is, but for what stays the same, one of its subscripts."""
    every = {flow.loop.var, *(s.var for s in site.loops)}
    if len(every) != len(site.loops) + 1 or any(any(loads(i)) for i in target.index):
        return False
    return not flow.changes(names_in(target) - every) and all(
        any(_moves(p, var, every) for p in map(poly, target.index)) for var in every
    )


def names_in(target: Load) -> frozenset[str]:
    return frozenset[str]().union(*map(names, target.index))


def _moves(p: Poly, var: str, every: set[str]) -> bool:
    """Whether a subscript is a multiple of a variable, but for what none of them changes."""
    factor, rest = p.coefficient(var), p.without(var)
    if not factor.value or rest + factor * poly(Var(var)) != p:
        return False
    return not {n for monomial, _ in rest.terms for x in monomial for n in names(x)} & every


def _before(flow: Flow, target: Load, distance: int) -> Subscripts:
    """The subscripts so many iterations before."""
    last = Bin("-", Var(flow.loop.var), Bin("*", Const(distance), flow.step))
    return tuple(poly(substitute(i, {flow.loop.var: last})) for i in target.index)


def _subscripts(x: Load) -> Subscripts:
    return tuple(map(poly, x.index))


def _is(e: Expr, name: str, subscripts: Subscripts) -> bool:
    return isinstance(e, Load) and e.array == name and _subscripts(e) == subscripts
