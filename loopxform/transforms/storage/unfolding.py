"""What steps share that have a nest use an array as a matrix: which nests they take, and what must
be assumed so that an int can number elements."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Copy, Expr, For, Function, Opaque, Stmt
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import LoopSite, loops_around, walk
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import new_name, one_loop

MERGED = "*"
"""Between what becomes one dimension."""


@record
class Unfolding(Step):
    """Has the nest of `loop` use `array` in the `order` of another one, named `target` (default:
    X_m)."""

    loop: str
    array: str
    order: tuple[str, ...]
    target: str = ""

    @abstractmethod
    def _refused(self, fn: Function, site: LoopSite) -> Obstacle | None:
        """Why what is used of the array cannot be told, or not be used so."""

    @abstractmethod
    def _numbered(self, fn: Function, site: LoopSite) -> Iterable[Expr]:
        """That an int can number what is numbered, of a nest that is not refused."""

    @abstractmethod
    def _what(self) -> str:
        """What an int is to number."""

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if loops_around(fn, site.path):
            text = f"the loop over '{site.loop.var}' is inside another one"
            return (refusal(site, text, "name the outermost loop"),)
        if any(isinstance(s, Opaque | Copy) or is_mapped(s) for _, s in walk((site.loop,))):
            text = f"the loop over '{site.loop.var}' is mapped, or holds what is not modelled"
            return (refusal(site, text, "unfold arrays before loops are mapped"),)
        refused = self._refused(fn, site)
        if refused is not None:
            return (refused,)
        asked = (
            refusal(
                site,
                f"an int may not number {self._what()}: {expr_text(e)} is not known",
                f"assume {condition_text(e)}",
            )
            for e in self.open_questions(fn)
        )
        return (*new_name(fn, self.target, site), *asked)

    def open_questions(self, fn: Function) -> tuple[Expr, ...]:
        """What must be assumed for the step to be legal: that an int can number elements, as far as
        that is not known."""
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle) or self._refused(fn, site) is not None:
            return ()
        asked = dict.fromkeys(self._numbered(fn, site))
        return tuple(e for e in asked if e not in fn.assumes and not always(fn, site.path, e))


def is_mapped(s: Stmt) -> bool:
    return isinstance(s, For) and s.level is not None


def refusal(site: LoopSite, text: str, remedy: str) -> Obstacle:
    return Obstacle("LX157", text, site.loop.origin.loc, remedy=remedy)
