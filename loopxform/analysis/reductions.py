"""Reductions at a loop: `s = s op e` with op associative and commutative, s used for nothing else.

    recognised: s += e, s -= e, s *= e, s = s op e, s = e op s   (op: + * & | ^ && ||)
                s = s op e op f, s = s + e - f - g
                s = fmin(s, e), s = e < s ? e : s (each orientation), if (e < s) s = e
                if (e < s) { s = e; k = f; }: k goes with s (`extrema`)
    where e does not read s, and every other access of s in the loop is such an update with the
    same op; s is a scalar or an element of an array, whose other elements may be read as long as
    they are never one of those updated (`apart`). Where the subscripts change with the loop
(`h[b[i]] += 1`) the array is reduced element by element, and every access of it counts.

Updates whose conversions show the order are none (`conversions`).
"""

from __future__ import annotations

from loopxform.analysis.apart import apart
from loopxform.analysis.conversions import order_hidden
from loopxform.analysis.domain import names_of
from loopxform.analysis.extrema import extremum, located, opposite
from loopxform.analysis.scope import below, gather
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, enclosing, loads, names, stmt_exprs, walk_expr
from loopxform.records import record
from loopxform.source import Loc

OPERATORS = frozenset(["+", "*", "&", "|", "^", "&&", "||"])


@record
class Reduction:
    """An update that may be applied in any order; `var` is the text of the target, `array` its
    name, `paths` its statements (the guard of a conditional min/max included). `fixed`: it is the
    same element in every iteration; otherwise `var` is the name of the array. `numbers` are the
    operands that are compared: where one is NaN, it depends on the order what is found."""

    var: str
    array: str
    op: str
    labels: tuple[str, ...]
    loc: Loc | None
    paths: tuple[Path, ...]
    fixed: bool = True
    numbers: tuple[str, ...] = ()

    @property
    def assumes(self) -> tuple[str, ...]:
        each = tuple(f"no {e} is NaN" for e in self.numbers)
        return (*each, f"{self.var} is not NaN before the loop") if each else ()


@record
class Update:
    """A statement `target = target op value`; `paths` are those of the assignment and, where that
    stands under the comparison with an extremum, of the condition."""

    target: Var | Load
    op: str
    value: Expr
    stmt: Assign
    paths: tuple[Path, ...]
    extremum: str = ""
    """The name of the extremum whose place this update keeps."""
    places: tuple[str, ...] = ()
    """The names of what is set where this update of an extremum finds a new one."""


@remembered(256)
def reductions(fn: Function, path: Path) -> tuple[Reduction, ...]:
    """The reductions of the loop at `path`, in text order; remembered."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    statements = list(below(loop, path))
    if any(isinstance(s, Opaque) for _, s in statements):
        return ()
    updates: dict[str, list[Update]] = {}
    used: set[str] = set(_header_names(loop))
    inside: set[Path] = set()
    for place, s in statements:
        if place in inside:
            continue
        found = updates_in(place, s)
        if not found:
            used |= _touched(s)
        for update in found:
            inside.update(update.paths[1:])
            used |= _other_names(update) - {_name(update.target)}
            updates.setdefault(_name(update.target), []).append(update)
    local = {s.name for _, s in statements if isinstance(s, Decl)}
    moving = _moving(loop, path)
    fit = {
        name: group
        for name, group in updates.items()
        if name not in local and agree(fn, group) and _alone(fn, path, name, group, used)
    }
    return tuple(_reduction(fn, g, moving) for g in fit.values() if _goes_with(fn, g, fit))


def _alone(fn: Function, path: Path, name: str, group: list[Update], used: set[str]) -> bool:
    """Whether nothing else in the loop meets the elements that a group updates."""
    if name not in used and not any(name in _other_names(u) for u in group):
        return True
    updated = frozenset((p, u.target) for u in group for p in u.paths)
    return isinstance(group[0].target, Load) and apart(fn, path, name, updated)


def _goes_with(fn: Function, group: list[Update], fit: dict[str, list[Update]]) -> bool:
    """Whether an extremum and all that is set with it are reductions, each updated in one place
    only: what is set shows which iterations find a new one, which depends on their order. The
    extremum must hold every value exactly, else two values may be equal in one order and not in
    another."""
    if not any(u.extremum or u.places for u in group):
        return True
    best = fit.get(group[0].extremum, []) if group[0].extremum else group
    if len(group) != 1 or len(best) != 1:
        return False
    types = names_of(fn)
    exact = types.type_of(best[0].target) == types.type_of(best[0].value)
    return exact and all(len(fit.get(name, [])) == 1 for name in best[0].places)


def operands(fn: Function, reduction: Reduction) -> tuple[tuple[Assign | If, Expr], ...]:
    """The statements that update a reduction, each with its operand e."""
    out: list[tuple[Assign | If, Expr]] = []
    inside: set[Path] = set()
    for path in reduction.paths:
        s = enclosing(fn, path)[-1]
        assert isinstance(s, Assign | If)
        for u in updates_in(path, s) if path not in inside else ():
            if _name(u.target) == reduction.array:
                out.append((s, u.value))
                inside.update(u.paths)
    return tuple(out)


@record
class Updates:
    """All that a loop does with an object: it updates it with these operators. `rounds` says that
    the updates convert in between (an int that floats are added to), so their order shows."""

    ops: frozenset[str]
    rounds: bool


def updates(fn: Function, path: Path, name: str) -> Updates | None:
    """How the loop at `path` updates `name` (any of its elements), where it does nothing else with
    it; None where it does."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    found: list[Update] = []
    inside: set[Path] = set()
    for place, s in below(loop, path):
        u = None if place in inside else update_at(place, s)
        if u is not None and _name(u.target) == name and name not in _other_names(u):
            found.append(u)
            inside.update(u.paths[1:])
        elif place not in inside and name in _touched(s):
            return None
    rounds = not all(agree(fn, [u]) for u in found)
    return Updates(frozenset(u.op for u in found), rounds)


def _moving(loop: For, path: Path) -> frozenset[str]:
    """Names whose value changes from one iteration of the loop to the next (inner loop variables
    run through the same values in each, unless their bounds are other elements of arrays)."""
    facts = gather(below(loop, path))
    moving = frozenset(facts.assigned) | frozenset(facts.declared) | {loop.var}
    for _, s in below(loop, path):  # outer loops first
        bounds = [x for e in (s.lo, s.hi) for x in loads(e)] if isinstance(s, For) else []
        if isinstance(s, For) and any(names(x) & moving for x in bounds):
            moving |= {s.var}
    return moving


def _reduction(fn: Function, group: list[Update], moving: frozenset[str]) -> Reduction:
    first = group[0]
    name, text = _name(first.target), expr_text(first.target)
    fixed = all(u.target == first.target and not _index_names(u) & moving for u in group)
    labels = tuple(u.stmt.label for u in group)
    paths = tuple(p for u in group for p in u.paths)
    loc = first.stmt.origin.loc
    numbers = tuple(dict.fromkeys(expr_text(u.value) for u in group if may_be_nan(fn, u)))
    return Reduction(text if fixed else name, name, first.op, labels, loc, paths, fixed, numbers)


def may_be_nan(fn: Function, u: Update) -> bool:
    """Whether a comparison decides about a real number; fmin and fmax ignore NaN."""
    found = names_of(fn).type_of(u.value)
    by_call = isinstance(u.stmt.value, Call) and u.stmt.value != u.value
    return u.op in ("min", "max") and not by_call and (found is None or found.is_float)


def agree(fn: Function, group: list[Update]) -> bool:
    types = names_of(fn)
    for u in group:
        target, value = types.type_of(u.target), types.type_of(u.value)
        if target is None or value is None or not order_hidden(u.op, target, value, u.value):
            return False
    return len({u.op for u in group}) == 1


# ---------------------------------------------------------------- the forms


def _name(target: Expr) -> str:
    assert isinstance(target, Var | Load)
    return target.name if isinstance(target, Var) else target.array


def updates_in(path: Path, s: Stmt) -> tuple[Update, ...]:
    """The updates a statement consists of; () where it is anything else."""
    found = located(s) if isinstance(s, If) else None
    if found is None or not isinstance(s, If):
        update = update_at(path, s)
        return () if update is None else (update,)
    parts = [x for x in s.then if isinstance(x, Assign)]
    best = parts[found.value]
    places = tuple(_name(parts[n].target) for n in found.indices)
    both = (path, (*path, found.value))
    out = [Update(best.target, found.op, best.value, best, both, places=places)]
    for n in found.indices:
        x, both = parts[n], (path, (*path, n))
        out.append(Update(x.target, f"arg{found.op}", x.value, x, both, _name(best.target)))
    return tuple(out)


def update_at(path: Path, s: Stmt) -> Update | None:
    """The update a statement is by itself, or None."""
    match s:
        case Assign(target, value, "+" | "-" as op):
            return _checked(target, "+" if op == "-" else op, value, s, (path,))
        case Assign(target, value, op) if op in OPERATORS:
            return _checked(target, op, value, s, (path,))
        case Assign(target, value, ""):
            found = _operand(target, value)
            return found and _checked(target, found[0], found[1], s, (path,))
        case If(cond, (Assign(target, value, "") as inner,), ()):
            which = extremum(cond, value, target)
            both = (path, (*path, 0))
            return None if which is None else _checked(target, which, value, inner, both)
        case _:
            return None


def _checked(
    target: Var | Load, op: str, value: Expr, s: Assign, paths: tuple[Path, ...]
) -> Update | None:
    if target in walk_expr(value) or (isinstance(target, Var) and target.name in names(value)):
        return None
    return Update(target, op, value, s, paths)


def _operand(target: Expr, value: Expr) -> tuple[str, Expr] | None:
    """op and e of `target = target op e` in any form of a right-hand side."""
    match value:
        case Bin("-", left, right) if left == target:
            return "+", right
        case Bin("+" | "-") if (rest := _beside(target, value)) is not None:
            return "+", rest
        case Bin(op, _, _) if op in OPERATORS:
            rest = _without(target, value, op)
            return None if rest is None else (op, rest)
        case Call("fmin" | "fminf" | "fmax" | "fmaxf" as f, (left, right)):
            if target in (left, right):
                return f[1:4], (right if left == target else left)
            return None
        case Select(cond, then, orelse) if target in (then, orelse):
            e = orelse if then == target else then
            which = extremum(cond, e, target)
            if which is None:
                return None
            return (which if orelse == target else opposite(which)), e
        case _:
            return None


def subtracts(s: Assign) -> bool:
    """Whether an update takes its operand away: `s = s - e`, `s -= e`."""
    return s.op == "-" or (
        not s.op and isinstance(s.value, Bin) and s.value.op == "-" and s.value.left == s.target
    )


def _beside(target: Expr, value: Expr) -> Expr | None:
    """What a sum adds to its first operand `target`: `a + b - c` of `s + a + b - c`."""
    match value:
        case Bin("+", left, right) if left == target:
            return right
        case Bin("+", left, right) if right == target:
            return left
        case Bin("-", left, right) if left == target:
            return Un("-", right)
        case Bin("+" | "-" as op, left, right):
            rest = _beside(target, left)
            return None if rest is None else Bin(op, rest, right)
        case _:
            return None


def _without(target: Expr, value: Expr, op: str) -> Expr | None:
    """`value`, a chain of one operator, without its operand `target`: `s + a + b`."""
    match value:
        case Bin(o, left, right) if o == op:
            if left == target:
                return right
            if right == target:
                return left
            rest = _without(target, left, op)
            return None if rest is None else Bin(op, rest, right)
        case _:
            return None


# ---------------------------------------------------------------- other uses


def _header_names(s: For) -> frozenset[str]:
    return names(s.hi) | names(s.step)


def _touched(s: Stmt) -> frozenset[str]:
    """Every name a statement that is no update mentions, its target included."""
    found: frozenset[str] = frozenset()
    for e in stmt_exprs(s):
        found |= names(e)
    if isinstance(s, Copy):
        found |= {s.target, s.source}
    return found


def _other_names(u: Update) -> frozenset[str]:
    return names(u.value) | _index_names(u)


def _index_names(u: Update) -> frozenset[str]:
    index = u.target.index if isinstance(u.target, Load) else ()
    return frozenset().union(*(names(e) for e in index))
