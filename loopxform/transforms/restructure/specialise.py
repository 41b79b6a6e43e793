"""Specialisation: for i < M: A[i*N] -> for i < 4096: A[i*4096], if M == 4096 and N == 4096.

A size that is a number lets the compiler of the kernel fold addresses and bounds, and lets other
steps prove what else had to be asked: that rows are vectors, that tiles are whole. Legal where
nothing changes the scalar: the program assumes the number from then on, which is asked before
anything runs. For other sizes the user's own loops run. (Partial evaluation: Jones,
Gomard and Sestoft, section 1.1.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.domain import names_of
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Bin, Const, Expr, Function, Var
from loopxform.ir.types import INT, INT_MAX, LLONG, LONG, UINT, ULONG
from loopxform.ir.visit import substitute, substitute_body
from loopxform.nearest import did_you_mean
from loopxform.records import record
from loopxform.transforms.base import Step

KINDS = (INT, UINT, LONG, ULONG, LLONG)
"""Types of which a literal is written without a cast."""


@record
class Specialise(Step):
    """Replaces the scalar parameter `name` by the number `value`."""

    name: str
    value: str

    verb: ClassVar[str] = "specialise"
    usage: ClassVar[str] = "specialise NAME NUMBER"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        found = next((p for p in fn.objects if p.name == self.name and not p.array), None)
        if found is None or found.type not in KINDS:
            known = [p.name for p in fn.objects if not p.array and p.type in KINDS]
            text = f"'{self.name}' is not a size of {fn.name}"
            remedy = f"{did_you_mean(self.name, known)}the sizes are: {', '.join(known) or 'none'}"
            return (Obstacle("LX026", text, fn.origin.loc, remedy=remedy),)
        where = found.origin.loc
        if not (self.value.isascii() and self.value.isdecimal() and int(self.value) <= INT_MAX):
            text, remedy = f"'{self.value}' is not a size", f"use a number from 0 to {INT_MAX}"
            return (Obstacle("LX195", text, where, remedy=remedy),)
        if names_of(fn).whole.may_change(self.name):
            text, remedy = f"'{self.name}' may change in {fn.name}", "copy it to another variable"
            return (Obstacle("LX195", text, where, remedy=remedy),)
        for e in fn.assumes:
            match e:
                case Bin("==", Var(self.name), Const(other)) if other != int(self.value):
                    text = f"'{self.name}' is assumed to be {other}"
                    return (Obstacle("LX195", text, where, remedy=f"specialise it for {other}"),)
                case _:
                    continue
        return ()

    def rewrite(self, fn: Function) -> Function:
        number = Const(int(self.value), next(p.type for p in fn.objects if p.name == self.name))
        value: dict[str, Expr] = {self.name: number}

        def shaped(shape: tuple[Expr | None, ...]) -> tuple[Expr | None, ...]:
            return tuple(None if e is None else substitute(e, value) for e in shape)

        return replace(
            fn,
            params=tuple(replace(p, shape=shaped(p.shape)) for p in fn.params),
            globals=tuple(replace(p, shape=shaped(p.shape)) for p in fn.globals),
            structs=tuple(replace(s, shape=shaped(s.shape)) for s in fn.structs),
            body=substitute_body(fn.body, value),
            assumes=(*fn.assumes, Bin("==", Var(self.name), Const(int(self.value)))),
        )

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"{self.name} does not change; that it is {self.value} is asked before anything runs"
