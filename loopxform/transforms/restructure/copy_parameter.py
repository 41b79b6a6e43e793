"""A copy of the function's own: f(T x) { ... x = e; ... } -> f(T x) { T x_2 = x; ... x_2 = e; ... }

A parameter that the function sets is a variable of the function, which begins with what the caller
gives. Legal for a number that C passes by value: nobody else sees what it is set to.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Decl, Function, Opaque, Var
from loopxform.ir.renaming import rename
from loopxform.ir.visit import walk
from loopxform.records import record
from loopxform.transforms.base import Step


@record
class CopyParameter(Step):
    """Uses a variable of the function in place of the parameter `name`."""

    name: str

    verb: ClassVar[str] = "copy-parameter"
    former: ClassVar[tuple[str, ...]] = ("own",)
    usage: ClassVar[str] = "copy-parameter NAME"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        found = [p for p in fn.params if p.name == self.name]
        if not found or found[0].array or found[0].pointer or found[0].is_member:
            text = f"'{self.name}' is no number that '{fn.name}' gets by value"
            remedy = "name a scalar parameter"
            return (Obstacle("LX140", text, fn.origin.loc, remedy=remedy),)
        opaque = next((s for _, s in walk(fn.body) if isinstance(s, Opaque)), None)
        if opaque is not None:
            return (Obstacle(opaque.code, opaque.reason, opaque.origin.loc, remedy=opaque.help),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        (p,) = (p for p in fn.params if p.name == self.name)
        own, origin = fresh(fn, self.name), p.origin.then(str(self))
        first = Assign(Var(own), Var(self.name), label=f"begin_{own}", origin=origin)
        body = rename(fn.body, {self.name: own})
        return replace(fn, body=(Decl(own, p.type, origin=origin), first, *body))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"{self.name} is passed by value: the caller does not see what it is set to"
