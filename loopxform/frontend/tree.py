"""The one untyped call of the parser's tree that everybody needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pycparser import c_ast


def below(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """The direct children of a node, in text order."""
    if node is not None:
        yield from cast(Any, node)
