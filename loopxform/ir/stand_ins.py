"""Arrays of the caller's that stand for copies of theirs (`Decl.like`), element by element where a
copy says which (`Decl.at`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopxform.ir.nodes import Decl, Expr, For, Function
from loopxform.ir.visit import reads, substitute, writes


def moved_by(copies: Iterable[Decl], nest: For) -> Decl | None:
    """Of the `copies` the one that a nest makes, or copies back, and does nothing else."""
    written, read = writes((nest,)), reads((nest,))
    for s in copies:
        ways = ((s.name, s.like), (s.like, s.name)) if s.like else ()
        if any(written == {target} and source in read for target, source in ways):
            return s
    return None


def is_view(fn: Function, copy: Decl) -> bool:
    """Whether a copy is the array that it is like, of which dimensions are one (step `unfold`), or
    has elements of it: the host always gives kernels that array."""
    if copy.at:
        return True
    own = next((p for p in fn.objects if p.name == copy.like), None)
    return own is not None and not copy.turned and len(copy.shape) < len(own.shape)


def position(dimension: int) -> str:
    """The name of a subscript of a copy, where it says which element of the array that is."""
    return f"#{dimension}"


def element(at: Sequence[Expr], index: Sequence[Expr]) -> tuple[Expr, ...]:
    """The subscripts in the array of an element of the copy."""
    own = {position(n): e for n, e in enumerate(index)}
    return tuple(substitute(e, own) for e in at)
