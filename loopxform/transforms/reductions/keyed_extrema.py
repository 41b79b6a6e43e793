"""Places of extrema in parts that do not keep the order of the iterations:

    for k: if (e(k) > best) { best = e(k); place = f(k); }
 -> forall c: { ...; for k of part c: if (e(k) > best_own) { best_own = e(k); place_own = f(k);
                                                             key_own = k; }  ... }
    peak = -infinity;  for c: if (best_part[c] > peak) peak = best_part[c];
    key = largest;     for c: if (best_part[c] == peak) if (key_part[c] < key) key = key_part[c];
    if (peak > best) { best = best_part[c of key]; place = place_part[c of key]; }

Why that finds what the loop finds, to the last bit. The loop takes an element only where a
comparison with it holds, so never a NaN; the others are ordered, but for equal ones (zeros of both
signs among them). A strict comparison keeps the first of the largest elements, where these are
larger than `best` was, and nothing where `best` was a NaN. Each part keeps the first of its own
largest elements, with the variable of the loop, which only grows, as its key. `peak` is equal to
the largest of all, and only compared: the sign of a zero does not show. Of the parts that hold an
element equal to it, the one with the least key has the first of them, and that element itself is
taken, with its own sign of zero. A part that found nothing has an infinity, or the end of the type,
than which nothing is less. Where the comparison is not strict, the last of equal elements counts:
the largest key, and a part that found nothing has -1. Both loops over the parts reduce in any
order, and can be factored again. Where the variable of the loop is one of the places, that is the
key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from loopxform.analysis.abstract_values import limits
from loopxform.analysis.context import always
from loopxform.analysis.extrema import extremum
from loopxform.analysis.reductions import Reduction
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Stmt,
    Var,
)
from loopxform.ir.types import INT, LONG, Scalar, promote
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, Path, at, map_body, map_expr, replace_at
from loopxform.records import record
from loopxform.transforms.reductions.partial import PLACES


@record
class Keyed:
    """A program in which each extremum that has places has the loop variable as one of them: where
    its loop is, and the names of these keys, by that of the extremum. `added` are those that the
    program did not have."""

    fn: Function
    site: LoopSite
    keys: Mapping[str, str]
    added: frozenset[str]

    def without(self, fn: Function, path: Path) -> tuple[Function, Path]:
        """A program made from this one without the scalars that were added, and where the loop at
        `path` is then: in front of them, or right behind them in an `else`."""

        def kept(s: Stmt) -> tuple[Stmt, ...]:
            target = s.target if isinstance(s, Assign) else None
            name = s.name if isinstance(s, Decl) else target.name if isinstance(target, Var) else ""
            return () if name in self.added else (s,)

        *outer, n = path
        place = (*outer, n if n >= 0 else n + len(self.added))
        return replace(fn, body=map_body(fn.body, kept)), place


def with_places(found: Sequence[Reduction]) -> dict[str, Reduction]:
    """The extrema that places go with, by name."""
    places = {r.paths[0] for r in found if r.op in PLACES}
    return {r.var: r for r in found if r.op not in PLACES and r.paths[0] in places}


def keyed(fn: Function, site: LoopSite, found: Sequence[Reduction]) -> Keyed:
    """Adds the keys that are missing, each declared before the loop."""
    kind, loop = promote(site.loop.type), site.loop
    types, keys, added = symbols(fn), dict[str, str](), list[str]()
    for name, r in with_places(found).items():
        update = at(fn, r.paths[0])
        assert isinstance(update, If)
        own = _key(update, loop.var, kind, types)
        if own is None:
            own = fresh(fn, f"{name}_key")
            fn = _also_setting(fn, r, own, Var(loop.var))
            added.append(own)
        keys[name] = own
    return _declared(fn, site, keys, added, kind)


def with_flags(fn: Function, site: LoopSite, wanted: Mapping[str, Reduction]) -> Keyed:
    """Adds to each of the extrema, by name, a scalar that is 1 where one was found; these are the
    keys."""
    flags = dict[str, str]()
    for name, r in wanted.items():
        flags[name] = fresh(fn, f"{name}_found")
        fn = _also_setting(fn, r, flags[name], Const(1))
    return _declared(fn, site, flags, [*flags.values()], INT)


def _also_setting(fn: Function, r: Reduction, own: str, value: Expr) -> Function:
    """The program whose update of an extremum sets one more scalar."""
    update = at(fn, r.paths[0])
    assert isinstance(update, If)
    key = Assign(Var(own), value, label=f"key_{own}", origin=update.origin)
    return replace_at(fn, r.paths[0], (replace(update, then=(*update.then, key)),))


def _declared(
    fn: Function, site: LoopSite, keys: Mapping[str, str], added: Sequence[str], kind: Scalar
) -> Keyed:
    """The program with scalars declared in front of a loop that were `added` to it."""
    path, loop = site.path, site.loop
    for own in added:
        whole = at(fn, path)
        fn = replace_at(fn, path, (Decl(own, kind, origin=loop.origin), whole))
        *outer, n = path
        path = (*outer, n + 1 if n >= 0 else n - 1)
    whole = at(fn, path)
    assert isinstance(whole, For)
    return Keyed(fn, LoopSite(path, whole), keys, frozenset(added))


def _key(update: If, var: str, kind: Scalar, types: Mapping[str, Scalar]) -> str | None:
    for s in update.then:
        if not (isinstance(s, Assign) and isinstance(s.target, Var)):
            continue
        if s.value == Var(var) and types[s.target.name] == kind:
            return s.target.name
    return None


def unkeyed(fn: Function, update: If, site: LoopSite) -> tuple[str, str] | None:
    """Why the variable of a loop says of equal elements not which is the first, or the last."""
    loop, kind = site.loop, promote(site.loop.type)
    lo = value_of(loop.lo)
    if (lo is None or lo < 0) and kind.bytes > 4:
        return f"'{loop.var}' may be less than 0", f"normalise {loop.var} first"
    if is_strict(update):
        return None
    if not kind.is_unsigned and always(fn, site.path, Bin(">=", loop.lo, Const(0))):
        return None
    return "of equal values the last one counts", "compare with < or >"


def is_strict(update: If) -> bool:
    """Whether the first of equal elements is kept."""
    return isinstance(update.cond, Bin) and update.cond.op in ("<", ">")


def nothing(update: If, kind: Scalar) -> Const:
    """The key of a part that found nothing."""
    return Const(limits(kind)[1] if is_strict(update) else -1, kind)


@record
class Extremum:
    """An extremum with its places: the update and its operand, what the extremum of no elements is,
    its key, and the arrays of the partial results of all of these, by name."""

    name: str
    update: If
    operand: Expr
    neutral: Const
    key: str
    parts: Mapping[str, str]

    def compared(self, e: Expr, best: Expr) -> Expr:
        """The condition of the update, of other values."""
        put = {self.operand: e, Var(self.name): best}
        return map_expr(self.update.cond, lambda x: put.get(x, x))


@record
class Numbers:
    """The variables of the two loops over parts."""

    first: Var
    second: Var


@record
class Combined:
    """How the parts of an extremum are combined: scalars before the loops over parts, an iteration
    of the first of these, and of the second, and what is set after them."""

    before: tuple[Stmt, ...]
    peak: Stmt
    key: Stmt
    last: Stmt


def combined_parts(fn: Function, x: Extremum, loop: For, count: Expr, numbers: Numbers) -> Combined:
    """Combines `count` strided parts of a loop."""
    kind, origin = promote(loop.type), x.update.origin
    peak, key = fresh(fn, f"{x.name}_peak"), fresh(fn, f"{x.name}_first")
    empty = nothing(x.update, kind)
    before = (
        Decl(peak, x.neutral.type or kind, origin=origin),
        Assign(Var(peak), x.neutral, label=f"begin_{peak}", origin=origin),
        Decl(key, kind, origin=origin),
        Assign(Var(key), empty, label=f"begin_{key}", origin=origin),
    )
    best, own = Load(x.parts[x.name], (numbers.first,)), Load(x.parts[x.name], (numbers.second,))
    better = Bin(">" if _is_maximum(x) else "<", best, Var(peak))
    higher = If(better, (Assign(Var(peak), best, label=f"combine_{peak}"),), origin=origin)
    own_key = Load(x.parts[x.key], (numbers.second,))
    earlier = Bin("<" if is_strict(x.update) else ">", own_key, Var(key))
    sooner = If(earlier, (Assign(Var(key), own_key, label=f"combine_{key}"),), origin=origin)
    equal = If(Bin("==", own, Var(peak)), (sooner,), origin=origin)
    number = _number(loop, Var(key), count)
    taken = tuple(
        replace(s, value=Load(x.parts[s.target.name], (number,)), label=f"combine_{s.target.name}")
        for s in x.update.then
        if isinstance(s, Assign) and isinstance(s.target, Var) and s.target.name in x.parts
    )
    cond = x.compared(Var(peak), Var(x.name))
    if not is_strict(x.update):
        cond = Bin("&&", Bin("!=", Var(key), empty), cond)
    return Combined(before, higher, equal, If(cond, taken, origin=origin))


def _is_maximum(x: Extremum) -> bool:
    return extremum(x.update.cond, x.operand, Var(x.name)) == "max"


def _number(loop: For, key: Expr, count: Expr) -> Expr:
    """The part of an iteration."""
    if value_of(loop.lo) is not None:
        return simplify(Bin("%", Bin("/", Bin("-", key, loop.lo), loop.step), count))
    number = Bin("-", Cast(LONG, key), loop.lo)
    return Bin("%", number if loop.step == Const(1) else Bin("/", number, loop.step), count)
