"""Nests that follow one another: where they are, who else sees what they write, and the function
where one statement stands for them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Decl, Function, Stmt
from loopxform.ir.visit import Path, map_body, reads, replace_at, writes
from loopxform.transforms.restructure.places import later
from loopxform.transforms.sites import one_loop, trusted


def not_neighbours(fn: Function, loops: tuple[str, ...]) -> tuple[Obstacle, ...]:
    """The obstacle where loops do not follow one another."""
    sites = [one_loop(fn, name) for name in loops]
    wrong = tuple(s for s in sites if isinstance(s, Obstacle))
    if wrong:
        return wrong
    paths = paths_of(fn, loops)
    if any(later(a, 1) != b for a, b in pairwise(paths)):
        text, loc = "the nests do not follow one another", trusted(sites[0]).loop.origin.loc
        return (Obstacle("LX202", text, loc, remedy="name neighbours in the order of text"),)
    return ()


def paths_of(fn: Function, loops: tuple[str, ...]) -> tuple[Path, ...]:
    """Where loops are that are there."""
    return tuple(trusted(one_loop(fn, name)).path for name in loops)


def seen_by_others(fn: Function, paths: tuple[Path, ...]) -> frozenset[str]:
    """The arrays that others read, or that the caller sees."""
    for path in sorted(paths, key=lambda p: abs(p[-1]), reverse=True):
        fn = replace_at(fn, path, ())
    return reads(fn.body) | {p.name for p in fn.objects}.difference(fn.scratch)


def with_one_for_all(fn: Function, paths: tuple[Path, ...], s: Stmt) -> Function:
    """With a statement in the place of nests, and without arrays that nothing uses any more."""
    first = paths[0]
    for n in reversed(range(1, len(paths))):
        fn = replace_at(fn, later(first, n), ())
    fn = replace_at(fn, first, (s,))
    used = reads(fn.body) | writes(fn.body)
    return replace(fn, body=map_body(fn.body, lambda s: () if _is_unused(s, used) else (s,)))


def _is_unused(s: Stmt, used: frozenset[str]) -> bool:
    return isinstance(s, Decl) and bool(s.shape) and s.name not in used
