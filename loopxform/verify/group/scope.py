"""What the names of a kernel stand for in the Python that runs it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from loopxform.ir.types import Scalar
from loopxform.records import record
from loopxform.verify.group.types import StructType, Type, Vector


@record
class Variable:
    """A Python variable. `sure`: it never holds the value of something that was not set."""

    python: str
    type: Scalar | Vector
    sure: bool


@record
class Memory:
    """A Python variable that holds a `Private`, with elements of a type; `cell` is the type of one
    cell where that is not a number (registers of vectors). `pointer`: the name points to the first
    element."""

    python: str
    type: Type
    cell: Scalar | Vector | StructType
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
