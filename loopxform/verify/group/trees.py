"""What statements and expressions of OpenCL C mention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from loopxform.verify.group.syntax import (
    Assignment,
    Block,
    Call,
    Expression,
    Jump,
    MemberOf,
    Name,
    Subscript,
    Unary,
)


def nodes(tree: Any) -> Iterator[Any]:
    """A node and those in it."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from nodes(part)
    elif is_dataclass(tree):
        yield tree
        for f in fields(tree):
            yield from nodes(getattr(tree, f.name))


def assigned(block: Block) -> frozenset[str]:
    """The variables that assignments in a block change."""
    targets = (n.target for n in nodes(block) if isinstance(n, Assignment))
    return frozenset(t.name for t in targets if isinstance(t, Name))


def addressed(block: Block) -> frozenset[str]:
    """The variables whose address is taken."""
    taken = (n.operand for n in nodes(block) if isinstance(n, Unary) and n.op == "&")
    return frozenset(t.name for t in taken if isinstance(t, Name))


def called(block: Block) -> frozenset[str]:
    """The functions that are called, and the words of jumps."""
    inside = list(nodes(block))
    calls = {n.name for n in inside if isinstance(n, Call)}
    return frozenset(calls | {n.word for n in inside if isinstance(n, Jump)})


def names(e: Expression) -> frozenset[str]:
    """The variables that an expression reads; `*` where it reads memory."""
    inside = list(nodes(e))
    memory = any(isinstance(n, Subscript | MemberOf) for n in inside)
    return frozenset({n.name for n in inside if isinstance(n, Name)} | ({"*"} if memory else set()))
