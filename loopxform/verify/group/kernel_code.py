"""How the Python that a kernel becomes is called: its arguments, local arrays and barriers."""

from __future__ import annotations

from typing import Any

from loopxform.records import record
from loopxform.verify.group.types import Type


@record
class LocalArray:
    """An array of a group: how many cells it has, of so many bytes."""

    name: str
    extents: tuple[int, ...]
    cells: int
    bytes: int


@record
class KernelCode:
    """How a kernel is run. `parameters` are the types of its arguments and their names; those that
    are pointers have the type that they point to, `pointers` says which, and `constant` which of
    these are only read. With barriers, `run` makes a generator."""

    name: str
    run: Any
    parameters: tuple[tuple[str, Type], ...]
    pointers: frozenset[str]
    constant: frozenset[str]
    locals: tuple[LocalArray, ...]
    barriers: bool
