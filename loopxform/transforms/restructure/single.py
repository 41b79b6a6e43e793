"""One iteration: S; for k: T; U -> for (once = 0; once < 1; once++) { S; for k: T; U }.

A loop of one iteration around statements that stand next to each other, whatever they are: the
iteration is what one work-item runs, in order. (What OpenMP calls `single`.) Legal for statements
that are modelled and do not end the function. Declarations stay in front of the loop, so that what
follows still sees them; the extents of arrays among them must not be computed by the statements.
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.names import fresh, used_names
from loopxform.ir.nodes import Const, Decl, For, Function, If, Opaque, Return, Stmt
from loopxform.ir.visit import Path, at, names, replace_at, walk, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import KEYWORDS


@record
class Single(Step):
    """Puts `count` statements from `place` on into a loop of one iteration, whose variable is
    `name` (default: once). A place counts statements from 1 in each body on the way, those of an
    else branch from -1 downwards: `2.1` is the first statement inside the second."""

    place: str
    count: str = "1"
    name: str = ""

    verb: ClassVar[str] = "single"
    usage: ClassVar[str] = "single PLACE [COUNT [NAME]]   (2.1: the first statement in the second)"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        count = int(self.count) if self.count.isdecimal() else 0
        found = statements_at(fn, self.place, count)
        if found is None:
            text = f"'{self.place}' and '{self.count}' name no statements of {fn.name}"
            return (Obstacle("LX021", text, fn.origin.loc, remedy=f"usage: {self.usage}"),)
        run = found[1]
        for _, s in walk(run):
            if isinstance(s, Opaque):
                return (Obstacle(s.code, s.reason, s.origin.loc, remedy=s.help),)
            if isinstance(s, Return):
                text = "the statements end the function"
                return (Obstacle("LX122", text, s.origin.loc, remedy="leave the return out"),)
        return (*self._extents(run), *self._name(fn, run))

    def _extents(self, run: tuple[Stmt, ...]) -> tuple[Obstacle, ...]:
        changed = writes(run)
        return tuple(
            Obstacle(
                "LX145",
                f"the extent of '{s.name}' depends on '{min(found)}', which changes",
                s.origin.loc,
                remedy=f"declare {s.name} before",
            )
            for s in run
            if isinstance(s, Decl) and (found := {n for d in s.shape for n in names(d)} & changed)
        )

    def _name(self, fn: Function, run: tuple[Stmt, ...]) -> tuple[Obstacle, ...]:
        name = self.name
        is_name = name.isidentifier() and name.isascii() and name not in KEYWORDS
        if not name or (is_name and name not in used_names(fn)):
            return ()
        what = "is taken" if is_name else "is not a name"
        remedy = "leave the name out, or choose another"
        return (Obstacle("LX024", f"'{name}' {what}", run[0].origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        found = statements_at(fn, self.place, int(self.count))
        assert found is not None
        path, run = found
        decls = tuple(s for s in run if isinstance(s, Decl))
        inside = tuple(s for s in run if not isinstance(s, Decl))
        origin = next((s for s in inside if s.origin.loc), run[0]).origin.then(str(self))
        name = self.name or fresh(fn, "once")
        once = For(name, Const(0), Const(1), Const(1), inside, origin=origin)
        for n in reversed(range(1, len(run))):
            fn = replace_at(fn, _later(path, n), ())
        return replace_at(fn, path, (*decls, once))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "one iteration does what its body does"


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
        return path, tuple(_at(fn, _later(path, n)) for n in range(count))
    except IndexError:
        return None


def place_text(path: Path) -> str:
    """A path as a step names it."""
    return ".".join(str(n + 1 if n >= 0 else n) for n in path)


def _later(path: Path, n: int) -> Path:
    """The place n statements further in the same body."""
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
