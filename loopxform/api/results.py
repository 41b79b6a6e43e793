"""What questions about one function give: tuples that notebooks show as tables."""

from __future__ import annotations

from collections.abc import Iterable

from loopxform.analysis.matrix import Matrix, matrix_text
from loopxform.analysis.openmp.claim import Claim
from loopxform.analysis.verdict import LoopVerdict
from loopxform.display import Shown
from loopxform.source import Sources


class Verdicts(Shown, tuple[LoopVerdict, ...]):
    """A verdict for every loop of a function, in text order: a tuple. `sources` has the text.

    Examples:
        >>> import loopxform as lx
        >>> lx.load("mm.c")["mm"].check()[0]
        <LoopVerdict mm.c:5:3: i yes>
    """

    sources: Sources | None = None

    @classmethod
    def of(cls, verdicts: Iterable[LoopVerdict], sources: Sources) -> Verdicts:
        """The `verdicts` on loops of these `sources`, of which notebooks show the lines."""
        out = cls(verdicts)
        out.sources = sources
        return out


class Claims(Shown, tuple[Claim, ...]):
    """What is true of every OpenMP pragma of a function, in text order: a tuple.

    Examples:
        >>> import loopxform as lx
        >>> lx.load("mm.c")["mm"].audit()
        ()
    """

    __slots__ = ()


class Matrices(Shown, tuple[Matrix, ...]):
    """The dependence matrix of every nest of a function, in text order: a tuple, whose text is that
    of `loopxform check`.

    Examples:
        >>> import loopxform as lx
        >>> matrices = lx.load("mm.c")["mm"].matrices()
        >>> print(str(matrices).splitlines()[0])
        kind    array    statements                   i  j  k
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(matrix_text, self))
