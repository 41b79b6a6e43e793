"""Places in a function as steps name them: `2.1` is the first statement inside the second. Each
body on the way counts from 1, an else branch from -1 downwards.
"""

from __future__ import annotations

from loopxform.ir.nodes import For, Function, If, Stmt
from loopxform.ir.visit import Path, at


def statements_at(fn: Function, place: str, count: int) -> tuple[Path, tuple[Stmt, ...]] | None:
    """`count` statements from `place` on, and the path of the first; None where there are not as
    many."""
    try:
        numbers = [int(n) for n in place.split(".")]
    except ValueError:
        return None
    if 0 in numbers or count < 1:
        return None
    path = tuple(n - 1 if n > 0 else n for n in numbers)
    try:
        return path, tuple(_at(fn, later(path, n)) for n in range(count))
    except IndexError:
        return None


def is_place(text: str) -> bool:
    """Whether a word is meant as a place, not as the name of a loop."""
    return text[:1] in "-0123456789"


def place_text(path: Path) -> str:
    """A path as a step names it."""
    return ".".join(str(n + 1 if n >= 0 else n) for n in path)


def later(path: Path, n: int) -> Path:
    """The path n statements further in the same body."""
    return (*path[:-1], path[-1] + (n if path[-1] >= 0 else -n))


def _at(fn: Function, path: Path) -> Stmt:
    """The statement at `path`. Raises IndexError."""
    for n in range(1, len(path)):
        outer = at(fn, path[:n])
        if not isinstance(outer, For | If) or (path[n] < 0 and not isinstance(outer, If)):
            raise IndexError(path)
    if path[0] < 0:
        raise IndexError(path)
    return at(fn, path)
