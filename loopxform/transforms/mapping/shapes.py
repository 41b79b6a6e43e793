"""What versions of a nest in several shapes of tiles (step `few`) have in common: other versions
are made of all of them together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopxform.ir.nodes import For, Function, If, Stmt
from loopxform.ir.visit import LoopSite, Path, at, loops_around


def all_shapes(fn: Function, path: Path) -> Path:
    """The path of the choice between shapes of tiles that the nest at `path` is one of; of the nest
    where there is no other."""
    while len(path) > 1:
        if not _is_choice(at(fn, path[:-1])):
            break
        path = path[:-1]
    return path


def _is_choice(s: Stmt) -> bool:
    """Whether a statement is a choice between shapes, each with a nest and nothing else."""
    return (
        isinstance(s, If)
        and s.choice == "tiles"
        and all(
            len(b) == 1 and (isinstance(b[0], For) or _is_choice(b[0])) for b in (s.then, s.orelse)
        )
    )


def each_nest(s: Stmt, f: Callable[[For], Stmt]) -> Stmt:
    """The choice with every nest replaced."""
    match s:
        case For():
            return f(s)
        case If():
            then, orelse = (tuple(each_nest(x, f) for x in b) for b in (s.then, s.orelse))
            return replace(s, then=then, orelse=orelse)
        case _:
            return s


def largest_shape(s: Stmt) -> Stmt:
    """The nest of a choice that serves all sizes."""
    while isinstance(s, If):
        (s,) = s.orelse
    return s


def is_outermost(fn: Function, site: LoopSite) -> bool:
    """Whether a loop is over groups, and no other around it is."""
    around = (*loops_around(fn, site.path), site.loop)
    return [x for x in around if x.level is not None] == [site.loop]
