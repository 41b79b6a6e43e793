"""Bounded extents: T x[n] -> T x[C] where n <= C.

An array gets the size that it is known not to exceed: storage of a group or of a work-item must
have a fixed one. Legal for an array that the function declares once and no pointer points to, where
each extent is proven not to exceed its bound where the array is declared (`assume` says so of what
the host asks). A subscript means the element it did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Bin, Decl, Expr, Function
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, at, names, replace_at, walk
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import parse_size


@record
class BoundExtent(Step):
    """Declares `array` with `sizes`, one for each dimension, in place of extents that do not exceed
    them."""

    array: str
    sizes: tuple[str, ...]

    verb: ClassVar[str] = "bound-extent"
    usage: ClassVar[str] = "bound-extent ARRAY SIZE,SIZE,...   (one for each dimension)"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        paths = _declarations(fn, self.array)
        if len(paths) != 1:
            text = f"'{self.array}' is not an array that '{fn.name}' declares, once"
            remedy = "name an array that is declared in one place"
            return (Obstacle("LX168", text, fn.origin.loc, remedy=remedy),)
        decl = _declared(fn, paths[0])
        problem = _problem(decl, self.sizes)
        if problem is not None:
            return (Obstacle("LX148", problem[0], decl.origin.loc, remedy=problem[1]),)
        return tuple(_exceeded(fn, paths[0], self.sizes))

    def rewrite(self, fn: Function) -> Function:
        (path,) = _declarations(fn, self.array)
        decl = _declared(fn, path)
        shape = tuple(_size(fn, text) for text in self.sizes)
        return replace_at(
            fn, path, (replace(decl, shape=shape, origin=decl.origin.then(str(self))),)
        )

    def reason(self, fn: Function) -> str:
        (path,) = _declarations(fn, self.array)
        pairs = zip(_declared(fn, path).shape, self.sizes)
        return " and ".join(f"{expr_text(e)} <= {size}" for e, size in pairs)


def _declarations(fn: Function, name: str) -> list[Path]:
    return [p for p, s in walk(fn.body) if isinstance(s, Decl) and s.shape and s.name == name]


def _declared(fn: Function, path: Path) -> Decl:
    decl = at(fn, path)
    assert isinstance(decl, Decl)
    return decl


def _problem(decl: Decl, sizes: tuple[str, ...]) -> tuple[str, str] | None:
    if len(sizes) != len(decl.shape):
        text = f"'{decl.name}' has {len(decl.shape)} dimensions, not {len(sizes)}"
        return text, "give one size for each dimension"
    if decl.exposed:
        return f"pointers may point to '{decl.name}'", "use the array by its name alone"
    if decl.space is not None:
        return f"'{decl.name}' has its place already", "bound extents before storage is placed"
    return None


def _size(fn: Function, text: str) -> Expr:
    size = parse_size(fn, text)
    assert not isinstance(size, Obstacle)
    return size


def _exceeded(fn: Function, path: Path, sizes: tuple[str, ...]) -> Iterator[Obstacle]:
    decl = _declared(fn, path)
    for extent, text in zip(decl.shape, sizes):
        size = parse_size(fn, text)
        if isinstance(size, Obstacle):
            yield replace(size, loc=decl.origin.loc)
        elif not all(always(fn, path, Bin("<=", e, size)) for e in possible_values(extent)):
            shown = expr_text(extent)
            what = f"'{decl.name}' may have more than {text} elements along a dimension: {shown}"
            own = {p.name for p in fn.objects if not p.array}
            asked = bool(names(extent)) and names(extent) <= own
            remedy = f"assume {condition_text(extent)}<={text} before" if asked else ""
            remedy = remedy or "give a size that no extent exceeds"
            yield Obstacle("LX148", what, decl.origin.loc, remedy=remedy)


def possible_values(extent: Expr) -> Iterator[Expr]:
    """The values that an extent may have."""
    if isinstance(extent, Bin) and extent.op == "max":
        yield from (*possible_values(extent.left), *possible_values(extent.right))
    else:
        yield extent
