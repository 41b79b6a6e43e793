"""Nodes of the loop tree that have a value; `nodes` has the grammar."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from loopxform.ir.types import INT, Scalar
from loopxform.records import slotted
from loopxform.source import NOWHERE, Origin


@slotted
class Node:
    origin: Origin = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@slotted
class Const(Node):
    """A literal; `text` is the user's spelling (`0.5f`), kept so that its C type survives."""

    value: int | float
    type: Scalar = INT
    text: str = field(default="", compare=False)


@slotted
class Tile(Node):
    """A tile size: prints by name (`Ty`), computes as its number. A threshold is one for which
    another number may stand when the program runs, so that nothing is proven by it."""

    name: str
    value: int
    is_threshold: bool = False


@slotted
class Var(Node):
    """A scalar: loop variable, parameter, global or local."""

    name: str


@slotted
class Load(Node):
    """An array element; also the target of an assignment. One index per dimension."""

    array: str
    index: tuple[Expr, ...]


@slotted
class Bin(Node):
    """A binary operator of C, or "min" / "max" (on integers in bounds)."""

    op: str
    left: Expr
    right: Expr


@slotted
class Un(Node):
    """One of - + ! ~."""

    op: str
    operand: Expr


@slotted
class Cast(Node):
    type: Scalar
    operand: Expr


@slotted
class Call(Node):
    """A call of a known pure function (`fmaxf`, `sqrt`), or of a routine of the user's file: then
    `type` is that of its value, and the arguments have the types of its parameters."""

    name: str
    args: tuple[Expr, ...]
    type: Scalar | None = None


@slotted
class Select(Node):
    """The conditional operator `cond ? then : orelse`."""

    cond: Expr
    then: Expr
    orelse: Expr


Expr: TypeAlias = Const | Tile | Var | Load | Bin | Un | Cast | Call | Select
