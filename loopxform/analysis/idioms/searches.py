"""Searches: loops that only look for the first iteration with some property, and end there.

    for (i = lo; i < hi; i++) if (c(i)) { pos = i; break; }       or return i;
    while (i < hi && !c(i)) i++;
    for (i = lo; i < hi && !found; i++) if (c(i)) found = 1;
    for (i...) for (j...) if (c(i, j)) return i * m + j;       that over i as well

No iteration leaves anything to the next one: what it sets, it sets for itself, or where it ends the
loop. A bound ends the loop all the same, so that one knows which iterations may be asked at a time.
Whether elements may be read behind the last one that C reads, is another question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopxform.analysis.domain import names_of
from loopxform.analysis.idioms.flow import Flow, Site
from loopxform.analysis.idioms.guards import conjuncts, opposite, said_of
from loopxform.analysis.idioms.record import Idiom
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Opaque,
    Un,
    Var,
    While,
)
from loopxform.ir.types import Scalar
from loopxform.ir.typing import COMPARISONS
from loopxform.ir.visit import Path, enclosing, in_body_of, loads, names, stmt_exprs
from loopxform.ir.whiles import condition
from loopxform.records import record


@record
class Search:
    """A loop that looks for the first value of `counter` with a property, below `end` or above it.
    It is left where one of the `conditions` does not hold, which are asked before an iteration, or
    where one of the `exits` is reached: a jump, or a statement that sets a flag. `flags` are the
    conditions that ask for these, by name; `asked` are the statements that only find out. `by_one`
    says that it counts up to below its end in steps of 1."""

    flow: Flow
    counter: str
    end: Expr
    conditions: tuple[Expr, ...]
    exits: tuple[Site, ...]
    flags: dict[str, Expr]
    asked: tuple[Site, ...]
    by_one: bool

    @property
    def idiom(self) -> Idiom:
        types = names_of(self.flow.fn)
        properties = [said_of(s.guards, types) for s in self.exits]
        properties += (opposite(c, types) for c in self.conditions)
        return Idiom("search", self.counter, condition=" || ".join(dict.fromkeys(properties)))


def search_at(fn: Function, path: Path, *, nested: bool = False) -> Search | None:
    """The search that the loop at `path` is, a `For` or a `While`; None where it is none. `nested`
    ones may leave the function from loops inside."""
    loop = enclosing(fn, path)[-1]
    match loop:
        case For() if condition(loop) is None:
            flow = Flow(fn, path, loop)
            bounds = names(loop.hi) | names(loop.step)
            by_one = value_of(loop.step) == 1
            if flow.changes(bounds):
                return None
            return _search(flow, loop.var, loop.hi, (), by_one=by_one, nested=nested)
        case While(once=False, cond=cond):
            flow = Flow(fn, path, loop)
            asked = list(conjuncts(cond))
            ends = [(c, *x) for c in asked if (x := _bounded(flow, c))]
            if not ends:
                return None
            first, counter, end = ends[0]
            below = first in (Bin("<", Var(counter), end), Bin(">", end, Var(counter)))
            by_one = below and loop.body[-1] == Assign(Var(counter), Const(1), "+")
            others = [c for c in asked if c is not first]
            return _search(flow, counter, end, others, by_one=by_one, nested=nested)
        case _:
            return None


def search(fn: Function, path: Path) -> Idiom | None:
    """What the loop at `path` searches; None where it is no search."""
    found = search_at(fn, path, nested=True)
    return None if found is None else found.idiom


def _search(
    flow: Flow, counter: str, end: Expr, asked: Sequence[Expr], *, by_one: bool, nested: bool
) -> Search | None:
    """The search for a value of `counter`, which ends where any of `asked` does not hold."""
    flags = {name: c for c in asked if (name := _flag(flow, c))}
    jumps = [s.path for s in flow.sites if _jumps(s)]
    left = [s for s in flow.sites if isinstance(s.stmt, Opaque) or s.target in flags]
    left = [s for s in left if s.path in jumps or not any(in_body_of(p, s.path) for p in jumps)]
    if not all(_leaves(s, flags, names_of(flow.fn).types, nested=nested) for s in left):
        return None
    exits = [s.path for s in left]
    outside = [s for s in flow.sites if not any(in_body_of(p, s.path) for p in exits)]
    own = {s.target for s in outside if s.target} | flow.declared
    conditions = tuple(c for c in asked if c not in flags.values())
    if any((names(c) - {counter}) & flow.set for c in conditions):
        return None
    if not all(_is_own(flow, s, counter) for s in outside):
        return None
    set_at_exits = {s.target for s in flow.sites if s not in outside and s.target} - own
    if flags and any(set_at_exits & (s.reads | s.control) for s in outside):
        return None
    read = [e for s in outside for e in stmt_exprs(s.stmt)] + list(conditions)
    if not (left or conditions) or not any(any(loads(e)) for e in read):
        return None
    return Search(flow, counter, end, conditions, tuple(left), flags, tuple(outside), by_one)


def _leaves(s: Site, flags: dict[str, Expr], types: Mapping[str, Scalar], *, nested: bool) -> bool:
    """Whether a statement ends the loop where data say so."""
    if s.loops and not (nested and isinstance(s.stmt, Opaque) and s.stmt.is_return):
        return False
    if not s.guards:
        return False
    if isinstance(s.stmt, Opaque):
        return _jumps(s)
    if not isinstance(s.stmt, Assign) or s.stmt.op:
        return False
    value = kept_value(s.stmt.value, types[s.target])
    return value is not None and bool(value) == ends_at_truth(flags[s.target])


def _jumps(s: Site) -> bool:
    return isinstance(s.stmt, Opaque) and (s.stmt.is_break or s.stmt.is_return)


def kept_value(e: Expr, type: Scalar) -> int | None:
    """The number that a variable holds behind an assignment, where it has room for it."""
    value = value_of(e)
    return value if value is not None and type.least <= value <= type.most else None


def _is_own(flow: Flow, s: Site, counter: str) -> bool:
    """Whether what a statement does is over with its iteration."""
    match s.stmt:
        case If() | Decl():
            return True
        case For(live_out=live_out):
            return not live_out and s.target != counter
        case Assign(Var(name)) if name == counter:
            return _steps(flow, s)
        case Assign():
            return s.target in flow.declared or _is_set_first(flow, s.target)
        case _:
            return False


def _steps(flow: Flow, s: Site) -> bool:
    """Whether a statement is the only one that counts, at the end of each iteration."""
    last = s.path == (*flow.path, len(flow.loop.body) - 1)
    match s.stmt:
        case Assign(Var(name), value, "+" | "-"):
            return last and bool(value_of(value)) and len(list(flow.of(name))) == 1
        case _:
            return False


def _is_set_first(flow: Flow, name: str) -> bool:
    """Whether each iteration sets a scalar before it reads it."""
    first = next((s for s in flow.sites if name in s.reads or s.target == name), None)
    if first is None or first.guards or first.loops or name in first.reads:
        return False
    return isinstance(first.stmt, Assign) and first.stmt.target == Var(name)


def _bounded(flow: Flow, e: Expr) -> tuple[str, Expr] | None:
    """The counter of the loop and its end, where a condition compares it with what stays the
    same."""
    if not isinstance(e, Bin) or e.op not in COMPARISONS or e.op == "==":
        return None
    for x, end in ((e.left, e.right), (e.right, e.left)):
        if isinstance(x, Var) and not names(end) & flow.set:
            sites = list(flow.of(x.name))
            if len(sites) == 1 and _steps(flow, sites[0]):
                return x.name, end
    return None


def _flag(flow: Flow, e: Expr) -> str:
    """The variable that is all that a condition asks, where the loop sets it."""
    match e:
        case Var(name) | Un("!", Var(name)) | Bin("==" | "!=", Var(name), _):
            known = not isinstance(e, Bin) or value_of(e.right) == 0
            return name if known and name in flow.set - flow.declared else ""
        case _:
            return ""


def ends_at_truth(flag: Expr) -> bool:
    return isinstance(flag, Un) or (isinstance(flag, Bin) and flag.op == "==")
