"""The accesses of a program to its arrays, in the order of its statements.

One traversal serves all that is asked about accesses: how often each happens (`access_counts`),
and which segments of memory a warp touches with it (`coalescing`). These differ in what they
remember of a place in the program: the loops around it, or the iterations that conditions leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, Literal, TypeVar

from loopxform.ir.nodes import Assign, Bin, Copy, Expr, For, If, Load, Return, Select, Stmt
from loopxform.ir.visit import bodies, children
from loopxform.records import record

P = TypeVar("P")
Kind = Literal["read", "write"]


@record
class Access(Generic[P]):
    """One access in the text of a program to an element, of a copy to each element of its box, at
    a place of the program. The element that a copy reads or writes has no subscripts."""

    kind: Kind
    load: Load
    place: P
    copy: Copy | None = None

    @property
    def array(self) -> str:
        return self.load.array


@record
class Traversal(Generic[P]):
    """Walks through a program; what a place is, is for the question to say: what it is `inside` a
    loop, and in the `branches` of a condition (None for one that never runs). The end of a loop is
    read before each iteration and once more after the last, but only once where registers are
    `kept`."""

    inside: Callable[[P, For], P]
    branches: Callable[[Expr, P], tuple[P | None, P | None]]
    kept: bool = False

    def accesses(self, body: tuple[Stmt, ...], place: P) -> Iterator[Access[P]]:
        """Those of statements at a place."""
        for s in body:
            yield from self._stmt(s, place)

    def _stmt(self, s: Stmt, place: P) -> Iterator[Access[P]]:
        match s:
            case For():
                inside = self.inside(place, s)
                yield from self._reads(s.lo, place)
                for at in (place,) if self.kept else (place, inside):
                    yield from self._reads(s.hi, at)
                yield from self.accesses(s.body, inside)
            case If():
                yield from self._reads(s.cond, place)
                for branch, where in zip(bodies(s), self.branches(s.cond, place)):
                    yield from () if where is None else self.accesses(branch, where)
            case Assign(target, value, op):
                if isinstance(target, Load):
                    yield Access("write", target, place)
                    if op:
                        yield Access("read", target, place)
                    for i in target.index:
                        yield from self._reads(i, place)
                yield from self._reads(value, place)
            case Copy():
                yield from self._copy(s, place)
            case Return(value) if value is not None:
                yield from self._reads(value, place)
            case _:
                return

    def _copy(self, s: Copy, place: P) -> Iterator[Access[P]]:
        """Every element is read and written once; so is what its subscripts are read from."""
        subscripts = (e for x in s.slices for e in (x.lo, x.limit, x.floor) if e)
        for e in (Load(s.source, ()), *subscripts):
            for a in self._reads(e, place):
                yield Access("read", a.load, place, s)
        yield Access("write", Load(s.target, ()), place, s)

    def _reads(self, e: Expr, place: P) -> Iterator[Access[P]]:
        """Operands that C may leave out are read where the first one says."""
        match e:
            case Load(_, index):
                yield Access("read", e, place)
                for i in index:
                    yield from self._reads(i, place)
            case Select(cond, then, orelse):
                yield from self._reads(cond, place)
                for operand, where in zip((then, orelse), self.branches(cond, place)):
                    yield from () if where is None else self._reads(operand, where)
            case Bin("&&" | "||" as op, left, right):
                yield from self._reads(left, place)
                after = self.branches(left, place)[op == "||"]
                yield from () if after is None else self._reads(right, after)
            case _:
                for x in children(e):
                    yield from self._reads(x, place)
