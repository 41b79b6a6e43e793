"""Scans: a scalar (or an element that stays the same) that iterations update one after the other.

    s += a[i]; out[i] = s;                     s op= e, with op as in `reductions`
    s = a[i]*s + b[i];                         linear recurrences
    if (a[i] > m) m = a[i]; out[i] = m;        running extrema, and the places of new ones
    if (c) last = i; out[i] = last;            what was set last
    if (c) s = 0; s += a[i]; out[i] = s;       segments

The updates are associative operations with operands that are no different for what the variable
holds: neither they nor the conditions of the updates, nor the bounds of the loops around them come
from it. So the operands of all iterations can be computed first. An integer that grows by the same
amount each time is an induction variable, and no scan.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopxform.analysis.conversions import order_hidden
from loopxform.analysis.domain import names_of
from loopxform.analysis.idioms.flow import Flow, comes_before
from loopxform.analysis.idioms.guards import said_of
from loopxform.analysis.idioms.linear_forms import is_linear
from loopxform.analysis.idioms.record import LAST, LINEAR, Idiom, Reads
from loopxform.analysis.reductions import Update, agree, may_be_nan, updates_in
from loopxform.analysis.scope import order
from loopxform.ir.nodes import Assign, Bin, Expr, Load, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, loads, names, stmt_exprs, walk_expr
from loopxform.records import record


@record
class Part:
    """Statements that update the variable: `update` where they do by an operator, `starts` where
    they set it to what does not come from it, under a condition. `operands` are the names that they
    compute with."""

    paths: tuple[Path, ...]
    operands: frozenset[str]
    control: frozenset[str]
    stmt: Assign
    update: Update | None = None
    starts: bool = False


def scan(flow: Flow, name: str) -> Idiom | None:
    """The scan of `name` that the loop is, the rest of it aside; None where it is none."""
    if name in flow.declared or not _is_one_element(flow, name):
        return None
    parts = _parts(flow, name)
    op = _operator(flow, parts or ())
    if not parts or not op:
        return None
    sites = {s.path: s for s in flow.sites}
    starts = [p for p in parts if p.starts]
    if any(flow.depends(sites[p.paths[0]], p.operands | p.control, name) for p in parts):
        return None
    if _counts_iterations(flow, parts) or any(not sites[p.paths[0]].guards for p in starts):
        return None
    mine = frozenset(path for p in parts for path in p.paths)
    reads = reads_of(flow, name, mine)
    if op == LAST and not reads:
        return None
    updates = [p.update for p in parts if p.update]
    compared = dict.fromkeys(expr_text(u.value) for u in updates if may_be_nan(flow.fn, u))
    assumes = [f"no {e} is NaN" for e in compared]
    assumes += [f"{expr_text(parts[0].stmt.target)} is not NaN before the loop"] if compared else []
    return Idiom(
        "scan",
        expr_text(parts[0].stmt.target),
        op,
        reads,
        segmented=op != LAST and bool(starts),
        condition=_condition(flow, parts),
        assumes=tuple(assumes),
        paths=tuple(path for p in parts for path in p.paths),
    )


def _is_one_element(flow: Flow, name: str) -> bool:
    """Whether the loop knows a scalar, or an array by one subscript: what one run of a loop inside
    it leaves in an element, the next iteration finds there."""
    found = {
        x.index for s in flow.sites for e in stmt_exprs(s.stmt) for x in loads(e) if x.array == name
    }
    if any(any(loads(i)) for x in found for i in x):
        return False
    inner = {s.target for s in flow.sites if s.target and not isinstance(s.stmt, Assign)}
    used = {n for s in flow.sites for e in stmt_exprs(s.stmt) for n in _subscript_names(e, name)}
    return len(found) <= 1 and not flow.changes(frozenset(used - inner))


def _subscript_names(e: Expr, name: str) -> frozenset[str]:
    found = (i for x in loads(e) if x.array == name for i in x.index)
    return frozenset[str]().union(*map(names, found))


def _parts(flow: Flow, name: str) -> list[Part] | None:
    """What updates `name`, in text order; None where anything else does."""
    out: list[Part] = []
    inside: set[Path] = set()
    for site in flow.sites:
        if site.path in inside:
            continue
        updates = [u for u in updates_in(site.path, site.stmt) if _name(u.target) == name]
        if updates:
            (u,) = updates
            operands = names(u.value) | ({u.extremum} if u.extremum else set())
            out.append(Part(u.paths, operands, site.control, u.stmt, u))
            inside.update(u.paths[1:])
        elif site.target == name:
            if not isinstance(site.stmt, Assign):
                return None
            out.append(_set(site.stmt, site.path, site.control))
    return out


def _set(s: Assign, path: Path, control: frozenset[str]) -> Part:
    value = Bin(s.op, s.target, s.value) if s.op else s.value
    starts = s.target not in walk_expr(value)
    return Part((path,), names(value) - _own(s, starts), control, s, starts=starts)


def _own(s: Assign, starts: bool) -> frozenset[str]:
    """The name that a recurrence may read, as its argument."""
    return frozenset() if starts else frozenset({_name(s.target)})


def _operator(flow: Flow, parts: Sequence[Part]) -> str:
    """What the updates have in common; "" where that is nothing."""
    updates = [p.update for p in parts if p.update]
    steps = [p for p in parts if not p.starts and p.stmt.value != p.stmt.target]
    types = names_of(flow.fn)
    if not steps:
        return LAST
    if len(updates) == len(steps) and agree(flow.fn, updates):
        return updates[0].op if all(_is_exact(flow, u) for u in updates) else ""
    for p in steps:
        value = Bin(p.stmt.op, p.stmt.target, p.stmt.value) if p.stmt.op else p.stmt.value
        target, found = types.type_of(p.stmt.target), types.type_of(value)
        if not is_linear(value, p.stmt.target, types) or _reads_twice(p.stmt, value):
            return ""
        if target is None or found is None or not order_hidden("+", target, found, value):
            return ""
    return LINEAR


def _is_exact(flow: Flow, u: Update) -> bool:
    """Whether the extremum whose place is kept holds every value that it is compared with."""
    if not u.extremum:
        return True
    types = names_of(flow.fn)
    branch = next(s.stmt for s in flow.sites if s.path == u.paths[0])
    pair = [x for x in updates_in(u.paths[0], branch) if _name(x.target) == u.extremum]
    return all(types.type_of(x.target) == types.type_of(x.value) for x in pair)


def _reads_twice(s: Assign, value: Expr) -> bool:
    """Whether the variable is read as something else than the argument: in a subscript."""
    if isinstance(s.target, Var):
        return any(s.target.name in names(i) for x in loads(value) for i in x.index)
    return any(s.target in walk_expr(i) for x in loads(value) for i in x.index)


def _counts_iterations(flow: Flow, parts: Sequence[Part]) -> bool:
    """Whether it is an integer that grows by what never changes, in every iteration."""
    type = names_of(flow.fn).type_of(parts[0].stmt.target)
    if type is None or not type.is_integer or any(p.starts for p in parts):
        return False
    if any(p.update is None or p.update.op != "+" for p in parts):
        return False
    return not any(flow.changes(p.operands | p.control) for p in parts) and not any(
        s.guards for s in flow.sites if any(s.path == p.paths[0] for p in parts)
    )


def is_induction(flow: Flow, name: str) -> bool:
    """Whether a variable is an integer that grows by the same amount in every iteration."""
    parts = None if name in flow.declared or not _is_one_element(flow, name) else _parts(flow, name)
    return bool(parts) and _counts_iterations(flow, parts or ())


def _condition(flow: Flow, parts: Sequence[Part]) -> str:
    """Under which condition iterations have a term, where that is one for all of them."""
    guards, types = {s.path: s.guards for s in flow.sites}, names_of(flow.fn)
    said = {said_of(guards[p.paths[0]], types) for p in parts}
    return said.pop() if len(said) == 1 else ""


def reads_of(flow: Flow, name: str, mine: frozenset[Path]) -> Reads:
    """Whether other statements read it behind the updates, or in front of them."""
    first, last = min(mine, key=order), max(mine, key=order)
    readers = [s.path for s in flow.readers(name, mine)]
    if not readers:
        return ""
    if all(comes_before(last, r) for r in readers):
        return "inclusive"
    return "exclusive" if all(comes_before(r, first) for r in readers) else "both"


def _name(target: Var | Load) -> str:
    return target.array if isinstance(target, Load) else target.name
