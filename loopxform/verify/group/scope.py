"""What the names of a kernel stand for in the Python that runs it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from loopxform.ir.types import Scalar
from loopxform.records import record
from loopxform.verify.group.types import Type, Vector


@record
class Variable:
    """A Python variable."""

    python: str
    type: Scalar | Vector


@record
class Memory:
    """A Python variable that holds a `Private`, with elements of a type; `cell` is the type of one
    cell: a number, or a vector (of registers). `pointer`: the name points to the first
    element."""

    python: str
    type: Type
    cell: Scalar | Vector
    pointer: bool = False


@record
class Constant:
    """A number of the file."""

    python: str
    type: Scalar


Meaning: TypeAlias = Variable | Memory | Constant


@dataclass
class Scope:
    """The names that are known here, those of the blocks around among them."""

    names: dict[str, Meaning] = field(default_factory=dict)

    def inner(self) -> Scope:
        return Scope(dict(self.names))
