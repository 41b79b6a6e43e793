"""Reads that happen in any case: what a step may read itself without asking for bounds."""

from __future__ import annotations

from loopxform.analysis.context import always
from loopxform.ir.nodes import Assign, Bin, Expr, For, Function, If, Load, Select
from loopxform.ir.visit import LoopSite, at, children, enclosing, names, substitute, writes
from loopxform.transforms.storage.footprint import Use


def certain(fn: Function, site: LoopSite, use: Use) -> bool:
    """Whether an iteration of the loop reads the element in any case: the first iteration of every
    loop around the read runs, and what conditions around it ask holds then."""
    place, inside = (*site.path, *use.path), (*site.path, 0)
    stmt, changing = at(fn, place), writes(site.loop.body)
    if not isinstance(stmt, Assign) or _conditional(stmt.value, use.load):
        return False
    first: dict[str, Expr] = {}
    around = enclosing(fn, place)[len(site.path) : -1]
    for n, s in zip(use.path[1:], around):
        match s:
            case For():
                test: Expr = Bin("<", s.lo, s.hi)
            case If(cond) if n >= 0:
                test = cond
            case _:
                return False
        test = substitute(test, first)
        if names(test) & changing or not always(fn, inside, test):
            return False
        if isinstance(s, For):
            first[s.var] = substitute(s.lo, first)
    return True


def _conditional(e: Expr, load: Load) -> bool:
    """Whether `e` may have a value without the element being read."""
    match e:
        case Select(cond, _, _):
            return _conditional(cond, load)
        case Bin("&&" | "||", left, _):
            return _conditional(left, load)
        case _ if e == load:
            return False
        case _:
            return all(_conditional(c, load) for c in children(e))
