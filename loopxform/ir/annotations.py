"""Annotations as the user wrote them, `#pragma loopxform ...`: a table beside a function.

    tile(Ty=16, Rx=4)     how the nest is tiled
    parallel              the loop can run in parallel: proven, or an error
    check(reduction)      the verdict on the loop is at least this one, or an error
    fp(fast)              what is permitted of floating point (`Function.permits`)
    ignore                stays on the host as it is
    assume(n > 0)         a condition on scalars, asked at run time (`Function.assumes`)
    noalias(A, C)         arrays that do not overlap, asked at run time
    scratch(tmp)          arrays that nobody reads after a call (`Function.scratch`)
    scop ... endscop      (`#pragma scop`) nothing but the loops between is considered

Paths are those of the function as it was read; a program that steps have rewritten has none.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopxform.ir.nodes import Expr, For, Opaque, Stmt
from loopxform.ir.visit import Path, walk
from loopxform.records import record
from loopxform.source import Loc


@record
class Annotation:
    """One annotation. `text` is how it was written, `loc` where, `width` the length of its verb
    there. `options` are those of `tile` by name, "" for what has no value; `words` the arrays of
    `noalias` and `scratch`, the verdict of `check`, the level of `fp`; `conditions` those that
    `assume` joins by &&. `paths` are the statements it governs, outermost ones: none where it
    speaks of the `whole` function."""

    verb: str
    text: str
    loc: Loc | None = None
    width: int = 1
    options: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()
    conditions: tuple[Expr, ...] = ()
    paths: tuple[Path, ...] = ()
    whole: bool = False

    def governs(self, path: Path) -> bool:
        """Whether it speaks of the statement at `path`, or of one around it."""
        return self.whole or any(path[: len(p)] == p for p in self.paths)


def left_alone(annotations: Iterable[Annotation], path: Path, s: Stmt) -> Annotation | None:
    """The annotation for which the statement `s` at `path` may not be taken to the device as a
    whole: `ignore` on it, around it or in it, or a `scop` that it has loops outside of. What is
    inside such a statement may be asked for one by one."""
    known = tuple(annotations)
    for a in known:
        inside = any(p[: len(path)] == path for p in a.paths)
        if a.verb == "ignore" and (inside or a.governs(path)):
            return a
    scops = [a for a in known if a.verb == "scop"]
    loops = [(*path, *p[1:]) for p, x in walk((s,)) if is_loop(x)]
    outside = [p for p in loops if not any(a.governs(p) for a in scops)]
    return scops[0] if scops and outside else None


def is_loop(s: Stmt) -> bool:
    """Whether a statement is a `for` of the file."""
    return isinstance(s, For) or (isinstance(s, Opaque) and s.loop)
