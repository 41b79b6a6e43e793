"""Where in the loop tree the statements are that a pragma governs.

A pragma is known by the origins of the statements it governs: lowering may rebuild a statement, but
leaves its origin alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.ir.nodes import Stmt
from loopxform.ir.visit import Path, walk
from loopxform.source import NOWHERE, Origin


def by_origin(body: tuple[Stmt, ...]) -> dict[int, list[Path]]:
    """The paths of all statements, by the id of their origins."""
    where: dict[int, list[Path]] = {}
    for path, s in walk(body):
        if s.origin is not NOWHERE:
            where.setdefault(id(s.origin), []).append(path)
    return where


def outermost(origins: Sequence[Origin], where: dict[int, list[Path]]) -> tuple[Path, ...]:
    """The paths of some statements, without those inside another of them."""
    return tuple(dict.fromkeys(_outermost(origins, where)))


def _outermost(origins: Sequence[Origin], where: dict[int, list[Path]]) -> Iterator[Path]:
    every = sorted(p for o in origins for p in where.get(id(o), ()))
    for path in every:
        if not any(path[: len(p)] == p and p != path for p in every):
            yield path
