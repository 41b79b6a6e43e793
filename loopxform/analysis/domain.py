"""Iteration domains: what loops, guards and assumptions say about the variables of a statement.

    for (v = lo; v < hi; v += step)   ->   v = lo + step*q, q >= 0, v < hi     (v > hi if step < 0)
    if (c)                            ->   c in the then branch, not c in the else branch

What encloses a region counts as far as nothing in it changes what it mentions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property

from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import TRUE, Conj, Constraint, Dnf, at_least, conjoin, plus, times
from loopxform.analysis.linear import variable as var
from loopxform.analysis.parts import Part, parts
from loopxform.analysis.parts import possible as has_points
from loopxform.analysis.scope import Facts, Names, gather, inside, scalar_types
from loopxform.ir.affine import value_of
from loopxform.ir.memo import Table, remembered
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Const,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Stmt,
    Tile,
    Var,
)
from loopxform.ir.visit import Path, at, walk, walk_expr
from loopxform.ir.visit import names as mentioned


@remembered(8)
def names_of(fn: Function) -> Names:
    """What the names of a function mean at its top; the last few functions are remembered."""
    facts = _facts(fn.body)
    given = frozenset(p.name for p in fn.objects if p.shape and not (p.values or p.computed))
    return Names(facts, facts, scalar_types(fn), fn.body, _inputs(fn, facts), given)


@remembered(8)
def _facts(body: tuple[Stmt, ...]) -> Facts:
    """Those of a function: many a step changes no more than what is assumed or tile sizes."""
    return gather(walk(body))


def _inputs(fn: Function, facts: Facts) -> frozenset[str]:
    """The scalars that nothing in the function changes. The statements of a loop or a jump that is
    not modelled are seen; what else it says stands in its line."""
    odd = [s for _, s in walk(fn.body) if isinstance(s, Opaque)]
    words = {word for s in odd for word in re.findall(r"[\w.]+", s.text)} - facts.kept
    own = {p.name for p in fn.objects if not (p.shape or p.computed)}
    others = [s.keeps for s in odd if not s.loop and s.code != "LX011"]
    hidden = {p.name for p in fn.params if not all(p.name in keeps for keeps in others)}
    hidden -= {p.name for p in fn.params if p.is_member}
    changed = facts.assigned.keys() | facts.loop_vars | facts.declared.keys() | words | hidden
    return frozenset(own - changed)


def given(fn: Function, before: Path) -> frozenset[str]:
    """The scalars that hold what a call gave, or a constant, at the statement at `before`: any
    number, as far as one of them goes; two calls may give the same."""
    found = {s.sets for p, s in walk(fn.body) if isinstance(s, Opaque) and s.sets and p < before}
    for _, s in walk(fn.body):
        match s:
            case Assign(Var(name), value, op) if op or not isinstance(value, Const):
                found.discard(name)
            case For(var=name):
                found.discard(name)
            case Opaque():
                found -= {n for n in found if n != s.sets and n not in s.keeps}
            case _:
                pass
    return frozenset(found)


@dataclass(frozen=True, eq=False)
class Domain:
    """A formula, and whether nothing was left out of it. Equal questions share one object."""

    formula: Dnf
    exact: bool = True

    @cached_property
    def parts(self) -> tuple[tuple[Part, ...], ...]:
        """Those of its cases."""
        return tuple(map(parts, self.formula))


EVERYTHING = Domain(TRUE)


def assumptions_of(fn: Function) -> Dnf:
    """`Function.assumes` as far as it is affine (leaving a part out is an over-approximation).
    The conditions speak of parameters on entry, so a parameter that is assigned says nothing."""
    return _assumed(fn).formula


@remembered(64)
def _assumed(fn: Function) -> Domain:
    names, domain = names_of(fn), EVERYTHING
    for n, e in enumerate(fn.assumes):
        if any(names.whole.may_change(name) for name in mentioned(e)):
            continue
        assumed = said(e, names, f"${n}a", holds=True)
        if assumed.exact:
            domain = _both(domain, assumed)
    return domain


@remembered(4096)
def _both(a: Domain, b: Domain) -> Domain:
    return Domain(conjoin(a.formula, b.formula))


def context(fn: Function, path: Path) -> tuple[Dnf, bool]:
    """What loops, guards and assumptions around `path` say when it is reached, over names that do
    not change in the statements they belong to; False where something had to be left out."""
    domain = domain_at(fn, path)
    return domain.formula, domain.exact


def domain_at(fn: Function, path: Path) -> Domain:
    """`context`, as one object for all statements that are reached alike."""
    return _inside(fn, path[:-1], bool(path) and path[-1] >= 0)


@remembered(1024)
def _inside(fn: Function, path: Path, then: bool) -> Domain:
    """What holds in the body (or the else branch) of the statement at `path`."""
    if not path:
        return _assumed(fn)
    s = at(fn, path)
    if isinstance(s, Opaque):
        return Domain(assumptions_of(fn), exact=False)
    domain = domain_at(fn, path)
    if not isinstance(s, For | If):
        return domain
    facts = inside(s, path)
    if facts.opaque:
        return Domain(domain.formula, exact=False)
    names = names_of(fn).within(_with_header(facts, s, path), path)
    own = f"${len(path)}d"
    if isinstance(s, For):
        return _restricted(domain, _iterations(s, names, own))
    told = said(s.cond, names, own, holds=then)
    if not told.exact and _chooses_versions(s.cond):
        return domain
    return _restricted(domain, told)


def _chooses_versions(cond: Expr) -> bool:
    """Whether a condition compares with a threshold: whatever else is in it, some numbers for that
    choose either branch."""
    return any(isinstance(x, Tile) and x.is_threshold for x in walk_expr(cond))


def _with_header(facts: Facts, s: For | If, path: Path) -> Facts:
    """The facts of what `s` holds, and that its header reads before: what is set inside was another
    value there, or may have been."""
    if isinstance(s, For):
        read = {s.var}.union(*map(mentioned, (s.lo, s.hi, s.step)))
    else:
        read = set(mentioned(s.cond))
    if read.isdisjoint(facts.assigned):
        return facts
    return replace(facts, first_read=facts.first_read | dict.fromkeys(read, path))


@remembered(4096)
def _restricted(domain: Domain, said: Domain) -> Domain:
    part, few = restricted(domain.formula, said.formula)
    return Domain(part, domain.exact and said.exact and few)


def _iterations(s: For, names: Names, own: str) -> Domain:
    key = _key((s.lo, s.hi, s.step), names, s.var)
    return _said(key and (s.var, own, key), names, own, lambda t: iterations(s, t))


def said(e: Expr, names: Names, own: str, *, holds: bool) -> Domain:
    """What the truth (or falsehood) of a condition says; auxiliary names of it are `own`."""
    key = _key((e,), names)
    return _said(key and (holds, own, key), names, own, lambda t: t.condition(e, holds=holds))


_alike = Table[Domain](4096)
"""What headers and conditions say that consist of constants and of parameters of their region:
after a step, and in the next variant, most of them are what they were."""


def _key(exprs: tuple[Expr, ...], names: Names, *others: str) -> Hashable:
    """What a formula of expressions depends on; None where that is more than this."""
    if any(map(_reads_more, exprs)):
        return None
    every = sorted({*others, *(n for e in exprs for n in mentioned(e))})
    if not all(names.is_parameter(n) for n in every):
        return None
    return exprs, tuple((n, names.types[n]) for n in every)


@remembered(16384)
def _reads_more(e: Expr) -> bool:
    """Whether it has more than scalars."""
    return any(isinstance(x, Load | Call) for x in walk_expr(e))


def _said(key: Hashable, names: Names, own: str, formula: Callable[[Translator], Dnf]) -> Domain:
    known = None if key is None else _alike.get(key)
    if known is None:
        translator = Translator(names if key is None else names.with_own(own))
        known = Domain(formula(translator), translator.exact)
        if key is not None:
            _alike.put(key, known)
    return known


def iterations(loop: For, translator: Translator) -> Dnf:
    """The values the loop variable takes: `v = lo + step*q, q >= 0` and `v < hi` (`v > hi` where
    the step is negative)."""
    step = value_of(loop.step)
    start = translator.cases(loop.lo)
    if step is None or step == 0:
        translator.exact = translator.known = False
        return TRUE
    v = Var(loop.var)
    end = translator.compare("<" if step > 0 else ">", v, loop.hi)
    if abs(step) == 1 and isinstance(loop.lo, Bin) and loop.lo.op in ("min", "max"):
        return conjoin(translator.compare(">=" if step > 0 else "<=", v, loop.lo), end)
    if start is None:
        return end
    out: list[Conj] = []
    for lo, when in start:
        gap = times(plus(var(loop.var), lo, -1), 1 if step > 0 else -1)
        if abs(step) == 1:
            out.append((*when, at_least(gap, {})))
            continue
        q = var(translator.scope.fresh())
        stride = Constraint(True, plus(gap, q, -abs(step)))
        out.append((*when, stride, at_least(q, {})))
    return conjoin(tuple(out), end)


MAX_DOMAIN = 64
"""Cases of a domain; a condition that would split it further is left out."""


def possible(dnf: Dnf) -> Dnf:
    """Without the cases that contradict themselves."""
    if len(dnf) < 2:
        return dnf
    return tuple(conj for conj in dnf if has_points(conj))


def restricted(domain: Dnf, formula: Dnf) -> tuple[Dnf, bool]:
    """The part of `domain` where `formula` holds; False with the whole where the cases become too
    many."""
    found = possible(conjoin(domain, formula))
    return (found, True) if len(found) <= MAX_DOMAIN else (domain, False)
