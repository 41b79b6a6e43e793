"""Scalar to memory: T x; ... x = e; ... x ... -> T x[1]; ... x[0] = e; ... x[0] ...

A variable of the function is kept in memory, as an array of one element, so that the kernels that
use it find it there. Always legal for what the function declares and no loop counts with.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Const, Decl, Expr, For, Function, Load, Opaque, Var
from loopxform.ir.visit import Path, at, map_exprs, replace_at, walk
from loopxform.records import record
from loopxform.transforms.base import Step


@record
class ScalarToMemory(Step):
    """Keeps the scalar variable `name` of the function in an array of one element."""

    name: str

    verb: ClassVar[str] = "scalar-to-memory"
    former: ClassVar[tuple[str, ...]] = ("demote",)
    usage: ClassVar[str] = "scalar-to-memory NAME"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        places = _declarations(fn, self.name)
        if len(places) != 1:
            what = "belongs to the caller" if _is_object(fn, self.name) else _count(len(places))
            return (
                Obstacle(
                    "LX140",
                    f"'{self.name}' {what}",
                    fn.origin.loc,
                    remedy="only a scalar that the function declares, once, can be kept in memory",
                ),
            )
        for _, s in walk(fn.body):
            if isinstance(s, For) and s.var == self.name:
                text = f"'{self.name}' counts a loop, which has one variable"
                remedy = "keep what the iterations compute"
                return (Obstacle("LX140", text, s.origin.loc, remedy=remedy),)
            if isinstance(s, Opaque):
                return (Obstacle(s.code, s.reason, s.origin.loc, remedy=s.help),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        (path,) = _declarations(fn, self.name)
        decl = at(fn, path)
        assert isinstance(decl, Decl)
        wide = replace(decl, shape=(Const(1),), origin=decl.origin.then(str(self)))
        fn = replace_at(fn, path, (wide,))
        return replace(fn, body=map_exprs(fn.body, self._in_memory))

    def _in_memory(self, e: Expr) -> Expr:
        is_it = isinstance(e, Var) and e.name == self.name
        return Load(self.name, (Const(0),), origin=e.origin) if is_it else e

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"{self.name} is the same variable wherever it is kept"


def _declarations(fn: Function, name: str) -> list[Path]:
    found = ((p, s) for p, s in walk(fn.body) if isinstance(s, Decl) and not s.shape)
    return [p for p, s in found if s.name == name]


def _is_object(fn: Function, name: str) -> bool:
    return any(p.name == name for p in fn.objects)


def _count(n: int) -> str:
    return f"is declared {n} times" if n else "is no scalar that the function declares"
