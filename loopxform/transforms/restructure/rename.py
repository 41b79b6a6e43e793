"""Renaming: for k: S(k) -> for l: S(l).

The variable of one loop gets another name, so that sibling loops of the same name can be told
apart. Legal where nothing reads the variable after the loop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Function
from loopxform.ir.renaming import rename
from loopxform.ir.visit import replace_at, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import new_name, one_loop, trusted, whole_loop


@record
class Rename(Step):
    """Gives the variable of `loop` the name `name`."""

    loop: str
    name: str

    verb: ClassVar[str] = "rename"
    usage: ClassVar[str] = "rename LOOP NAME"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if site.loop.var in writes(site.loop.body):
            return (
                Obstacle(
                    "LX112",
                    f"the loop over '{site.loop.var}' writes its own variable",
                    site.loop.origin.loc,
                    remedy="count with a variable that the body leaves alone",
                ),
            )
        return (*whole_loop(site), *new_name(fn, self.name, site))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop = replace(site.loop, origin=site.loop.origin.then(str(self)))
        return replace_at(fn, site.path, rename((loop,), {loop.var: self.name}))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the same iterations; nothing else has the name"
