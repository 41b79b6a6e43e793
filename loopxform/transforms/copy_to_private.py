"""Copy to private memory: for k: ... A_loc[ii+i, k] ... -> for k: A_reg = A_loc[box]; ... A_reg[i]

Each work-item copies the box that its iteration of the loop reads into registers. Legal where the
body only reads the array and the box is fixed by tile sizes. The copy goes inside the bounds check
that fills the body. (Seed 000, section 2.2.2, listing 10.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Const, Copy, Function
from loopxform.ir.types import Space
from loopxform.ir.visit import LoopSite, declared, replace_at
from loopxform.transforms.base import Step, new_name, one_loop, trusted
from loopxform.transforms.staging import Staging, insert_inside_guards, plan


@dataclass(frozen=True)
class CopyToPrivate(Step):
    """Copies what each iteration of `loop` reads of `array` into private memory; `target` names
    the copy (default: A_loc becomes A_reg)."""

    array: str
    loop: str
    target: str = ""

    verb: ClassVar[str] = "copy-to-private"
    usage: ClassVar[str] = "copy-to-private ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        staging = plan(fn, self.array, site, self._target(fn))
        if isinstance(staging, Obstacle):
            return (staging,)
        if not self._staged(fn):
            return (
                Obstacle(
                    "LX165",
                    f"'{self.array}' is not staged: its box may reach past what is touched",
                    site.loop.origin.loc,
                    remedy=f"copy-to-local {self.array} first",
                ),
            )
        return new_name(fn, self.target, site) or self._bounds(fn, site, staging)

    def _bounds(self, fn: Function, site: LoopSite, staging: Staging) -> tuple[Obstacle, ...]:
        """The box lies within the staged copy."""
        inside = (*site.path, 0)
        for s, extent in zip(staging.slices(), declared(fn.body)[self.array].shape):
            end = Bin("+", s.lo, s.size or Const(1))
            within = Bin("&&", Bin(">=", s.lo, Const(0)), Bin("<=", end, extent))
            if not always(fn, inside, within):
                return (
                    Obstacle(
                        "LX166",
                        f"the box of '{self.array}' may reach past the copy",
                        site.loop.origin.loc,
                        remedy="read it where it is",
                    ),
                )
        return ()

    def _staged(self, fn: Function) -> bool:
        """Only storage of ours may be read as a whole box: it has every element of it."""
        found = declared(fn.body).get(self.array)
        return found is not None and found.space is not None

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        staging = plan(fn, self.array, site, self._target(fn))
        assert isinstance(staging, Staging)
        origin = site.loop.origin.then(str(self))
        copy = Copy(staging.target, self.array, staging.slices(), False, origin=origin)
        made = (staging.decl(Space.PRIVATE, str(self), site), copy)
        body = insert_inside_guards(site.loop.body, staging, made)
        return replace_at(fn, site.path, (replace(site.loop, body=body),))

    def _target(self, fn: Function) -> str:
        if self.target:
            return self.target
        base = self.array.removesuffix("_loc")
        return fresh(fn, f"{base}_reg")

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        return f"{self.array} is only read in the loop over {site.loop.var}, in a box of fixed size"
