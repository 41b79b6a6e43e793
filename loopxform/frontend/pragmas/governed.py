"""Where in the loop tree the statements are that a pragma governs.

A pragma is known by the origins of the statements it governs: lowering may rebuild a statement, but
leaves its origin alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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
    return tuple(_outermost({p for o in {id(o) for o in origins} for p in where.get(o, ())}))


def _outermost(paths: Iterable[Path]) -> Iterator[Path]:
    """Sorted, what is inside a statement comes right behind it."""
    outer: Path | None = None
    for path in sorted(paths):
        if outer is None or path[: len(outer)] != outer:
            outer = path
            yield path
