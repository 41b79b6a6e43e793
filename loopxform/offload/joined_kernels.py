"""What one work-item does between nests, as part of a kernel beside it: a launch less.

    S; forall i: A; forall group: B; T  ->  forall i: A; forall group: { S; B; T }

First with kernels of one group, which do it in order, then with others that it has nothing to do
with. A loop stays a kernel of its own: the host may be sooner at it.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.errors import LoopxformError
from loopxform.ir.nodes import Call, For, If, Stmt
from loopxform.ir.visit import stmt_exprs, walk, walk_expr
from loopxform.offload.program_state import Program
from loopxform.transforms import JoinKernels
from loopxform.transforms.mapping.join_kernels import has_one_group, is_single


def joined_kernels(program: Program) -> None:
    """Joins the kernels of one work-item in all bodies of the host."""
    while any(_joined(program, body) for body in _bodies(program.fn.body)):
        continue


def _bodies(body: tuple[Stmt, ...]) -> Iterator[tuple[Stmt, ...]]:
    """A body of the host, and those inside it."""
    yield body
    for s in body:
        match s:
            case For(level=None):
                yield from _bodies(s.body)
            case If(_, then, orelse):
                yield from _bodies(then)
                yield from _bodies(orelse)


def _joined(program: Program, body: tuple[Stmt, ...]) -> bool:
    """Joins two kernels of a body; False where there are none that may be."""
    nests = [(n, s) for n, s in enumerate(body) if isinstance(s, For) and _is_kernel(s)]
    for wanted in (has_one_group, _is_plain):
        for n, s in nests:
            if not (is_single(s) and _is_short(s)):
                continue
            others = sorted((x for x in nests if x[0] != n), key=lambda x: abs(x[0] - n))
            for m, other in others:
                if wanted(other) and (wanted is has_one_group or _is_plain(s)):
                    first, second = (s, other) if n < m else (other, s)
                    if _done(program, first, second):
                        return True
    return False


def _done(program: Program, first: For, second: For) -> bool:
    titled = program.derivation.titled("What one work-item does in a kernel beside it")
    made = titled.tried(JoinKernels(first.var, second.var))
    if isinstance(made, LoopxformError):
        return False
    program.derivation = made
    return True


def _is_kernel(s: For) -> bool:
    return s.level is not None and s.level.kind == "grid"


def _is_short(s: For) -> bool:
    """Whether it has no loops but those over groups and work-items."""
    return all(x.level is not None for _, x in walk((s,)) if isinstance(x, For))


def _is_plain(s: For) -> bool:
    """Whether it calls nothing, and keeps no tiles: registers are no scarcer with a little more."""
    exprs = (e for _, x in walk((s,)) for e in stmt_exprs(x))
    return not any(isinstance(x, Call) for e in exprs for x in walk_expr(e))
