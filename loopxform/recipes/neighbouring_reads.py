"""Which loops inside a nest read what follows one another in memory along their own variable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopxform.ir.affine import poly
from loopxform.ir.nodes import Expr, For, Stmt
from loopxform.ir.visit import loads, stmt_exprs, walk
from loopxform.model.footprint import linear
from loopxform.prepare.parallel_band import Nest


def along_terms(nest: Nest) -> Iterator[For]:
    """The innermost loops that read more elements that follow one another along their own variable
    than along any parallel loop, or none along either."""
    for loop in _innermost(nest.innermost.body):
        read = (e for _, s in walk(loop.body) for e in stmt_exprs(s))
        score = neighbouring_reads(read, (loop.var, *nest.parallel))
        mine, others = score.pop(loop.var), max(score.values())
        if mine > others or not (mine or others):
            yield loop


def neighbouring_reads(read: Iterable[Expr], variables: Iterable[str]) -> dict[str, int]:
    """How many reads of arrays follow one another in memory along each of the variables."""
    last = [poly(x.index[-1]) for e in read for x in loads(e) if x.index]
    return {v: sum(linear(p, v) in (1, -1) for p in last) for v in variables}


def _innermost(body: tuple[Stmt, ...]) -> Iterator[For]:
    """Loops without others inside."""
    for _, s in walk(body):
        if isinstance(s, For) and not any(isinstance(x, For) for _, x in walk(s.body)):
            yield s
