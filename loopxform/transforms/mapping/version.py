"""Loop versioning: S -> if (U % W == 0 && N % W == 0) S else S.

The nest stands there twice, under a condition on the sizes and without it, so that `vectorise` can
rely on the condition in the first one. The host asks when the program runs and launches one of two
kernels. Legal where the condition is made of scalars that the host knows: both versions are the
same statements. (Allen and Kennedy, section 5.11, on symbolic tests; "loop versioning".)
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.analysis.host_scalars import host_scalars
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Expr, Function, If
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import LoopSite, at, names, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.latency.vectorise import WIDTHS
from loopxform.transforms.latency.vectors import copies, divides, open_questions, unfit, widest
from loopxform.transforms.mapping.shapes import all_shapes, is_outermost
from loopxform.transforms.sites import one_loop, trusted


@record
class Version(Step):
    """Gives a mapped nest a version for sizes of which `width` is a divisor, wherever that lets
    collective copies in it move vectors."""

    loop: str
    width: str

    verb: ClassVar[str] = "version"
    usage: ClassVar[str] = "version LOOP 2|4|8|16"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        where = site.loop.origin.loc
        if self.width not in WIDTHS:
            text, remedy = f"no vector has {self.width} elements", "use 2, 4, 8 or 16"
            return (Obstacle("LX176", text, where, remedy=remedy),)
        if self._asked(fn, site):
            return ()
        text = f"no copy in the loop over '{site.loop.var}' needs to know what {self.width} divides"
        remedy = "stage an array, in rows whose length is a parameter, and map the loops first"
        return (Obstacle("LX176", text, where, remedy=remedy),)

    def _asked(self, fn: Function, site: LoopSite) -> tuple[Expr, ...]:
        """What the host asks of the sizes: for every copy whose open questions it can answer."""
        if not is_outermost(fn, site):
            return ()
        known, out, path = host_scalars(fn), list[Expr](), all_shapes(fn, site.path)
        for f in copies(fn):
            inside = f.path[: len(path)] == path and f.copy.collective
            width = widest(fn, f.copy.target, int(self.width))
            if inside and width > 1 and not unfit(fn, f, width):
                asked = open_questions(fn, f, width)
                if asked and all(names(e) and names(e) <= known for e in asked):
                    out += (divides(width, e) for e in asked)
        return tuple(dict.fromkeys(out))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        path = all_shapes(fn, site.path)
        nest = at(fn, path)
        origin = site.loop.origin.then(str(self))
        cond = conjunction(list(self._asked(fn, site)))
        return replace_at(fn, path, (If(cond, (nest,), (nest,), origin=origin),))

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        text = " and ".join(expr_text(e) for e in self._asked(fn, site))
        return f"the same statements, whether {text} holds or not"
