"""Iteration domains: what loops, guards and assumptions say about the variables of a statement.

    for (v = lo; v < hi; v += step)   ->   v = lo + step*q, q >= 0, v < hi     (v > hi if step < 0)
    if (c)                            ->   c in the then branch, not c in the else branch

What encloses a region counts as far as nothing in it changes what it mentions.
"""

from __future__ import annotations

import re

from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import TRUE, Conj, Constraint, Dnf, at_least, conjoin, plus, times
from loopxform.analysis.linear import variable as var
from loopxform.analysis.scope import Facts, Names, gather, inside, scalar_types
from loopxform.analysis.system import feasible
from loopxform.ir.affine import value_of
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Assign, Bin, Const, For, Function, If, Opaque, Var
from loopxform.ir.visit import Path, enclosing, walk
from loopxform.ir.visit import names as mentioned


@remembered(8)
def names_of(fn: Function) -> Names:
    """What the names of a function mean at its top; the last few functions are remembered."""
    facts = gather(walk(fn.body))
    return Names(facts, facts, scalar_types(fn), fn.body, _inputs(fn, facts))


def _inputs(fn: Function, facts: Facts) -> frozenset[str]:
    """The scalars that nothing in the function changes. The statements of a loop or a jump that is
    not modelled are seen; what else it says stands in its line."""
    odd = [s for _, s in walk(fn.body) if isinstance(s, Opaque)]
    words = {word for s in odd for word in re.findall(r"[\w.]+", s.text)} - facts.kept
    own = {p.name for p in fn.objects if not p.shape}
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


def assumptions_of(fn: Function) -> Dnf:
    """`Function.assumes` as far as it is affine (leaving a part out is an over-approximation).
    The conditions speak of parameters on entry, so a parameter that is assigned says nothing."""
    out, names = TRUE, names_of(fn)
    for e in fn.assumes:
        if any(names.whole.may_change(name) for name in mentioned(e)):
            continue
        translator = Translator(names)
        found = translator.condition(e)
        if translator.exact:
            out = conjoin(out, found)
    return out


def context(fn: Function, path: Path) -> tuple[Dnf, bool]:
    """What loops, guards and assumptions around `path` say when it is reached, over names that do
    not change in the statements they belong to; False where something had to be left out."""
    out, exact = assumptions_of(fn), True
    parents = enclosing(fn, path)[:-1]
    for n, s in enumerate(parents):
        if isinstance(s, Opaque):
            out, exact = assumptions_of(fn), False
        if not isinstance(s, For | If):
            continue
        facts = inside(s, path[: n + 1])
        if facts.opaque:
            exact = False
            continue
        translator = Translator(names_of(fn).within(facts, path[: n + 1]))
        if isinstance(s, For):
            found = iterations(s, translator)
        else:
            found = translator.condition(s.cond, holds=path[n + 1] >= 0)
        out, few = restricted(out, found)
        exact = exact and translator.exact and few
    return out, exact


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
    return tuple(conj for conj in dnf if feasible(conj))


def restricted(domain: Dnf, formula: Dnf) -> tuple[Dnf, bool]:
    """The part of `domain` where `formula` holds; False with the whole where the cases become too
    many."""
    found = possible(conjoin(domain, formula))
    return (found, True) if len(found) <= MAX_DOMAIN else (domain, False)
