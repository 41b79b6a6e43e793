"""What flows from where to where in the body of a loop, by names.

    for (j = 0; j < m[i]; j++)
      if (c[j]) s += a[j];            s is updated under c[j], in a loop that m[i] bounds

Names stand for all elements of an array, and for all values that a variable has: what flows nowhere
here flows nowhere. Where no dependence on a variable is carried by the loop, an iteration finds in
it what was there before the loop, or what statements in front have set.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from loopxform.analysis.scope import below, order
from loopxform.ir.nodes import Assign, Decl, Expr, For, Function, If, Load, Stmt, While
from loopxform.ir.visit import Path, enclosing, names, stmt_exprs
from loopxform.records import record


@record
class Guard:
    """The condition of an `if` around a statement, which stands in the branch where it `holds`."""

    path: Path
    cond: Expr
    holds: bool


@record
class Site:
    """A statement of the body: what is asked before it runs, and the loops inside the body that it
    stands in."""

    path: Path
    stmt: Stmt
    guards: tuple[Guard, ...] = ()
    loops: tuple[For, ...] = ()
    depths: tuple[int, ...] = ()
    """How long the paths of these loops are."""

    @property
    def target(self) -> str:
        """The name of what it sets; "" where it sets nothing."""
        match self.stmt:
            case Assign(target):
                return target.array if isinstance(target, Load) else target.name
            case For(var):
                return var
            case _:
                return ""

    @property
    def loop_paths(self) -> frozenset[Path]:
        return frozenset(self.path[:n] for n in self.depths)

    @cached_property
    def control(self) -> frozenset[str]:
        """What decides how often it runs."""
        found = [names(g.cond) for g in self.guards]
        found += [names(e) for s in self.loops for e in (s.lo, s.hi, s.step)]
        return frozenset[str]().union(*found)

    @cached_property
    def reads(self) -> frozenset[str]:
        """What it computes with, the old value of what it updates included."""
        found = frozenset[str]().union(*map(names, sources(self.stmt)))
        return found | {self.target} if isinstance(self.stmt, Assign) and self.stmt.op else found


def sources(s: Stmt) -> tuple[Expr, ...]:
    """The expressions that a statement computes, that of what it updates aside."""
    if isinstance(s, Assign):
        return (s.value, *(s.target.index if isinstance(s.target, Load) else ()))
    return stmt_exprs(s)


class Flow:
    """The statements of a loop, in text order. Of the variables of the function, the `carried` ones
    bring values from one iteration to others; what the loop writes of the `unread` ones, it does
    not read."""

    def __init__(
        self,
        fn: Function,
        path: Path,
        loop: For | While,
        carried: frozenset[str] = frozenset(),
        unread: frozenset[str] = frozenset(),
    ) -> None:
        self.fn, self.path, self.loop, self.carried = fn, path, loop, carried
        self.unread = unread
        self.sites = tuple(self._site(p, s) for p, s in below(loop, path))
        self.simple = all(isinstance(s.stmt, Assign | If | For | Decl) for s in self.sites)
        self.declared = frozenset(s.stmt.name for s in self.sites if isinstance(s.stmt, Decl))
        self.set = frozenset(s.target for s in self.sites if s.target) | {loop.var}

    @property
    def step(self) -> Expr:
        """By how much a loop that counts steps."""
        assert isinstance(self.loop, For)
        return self.loop.step

    def of(self, name: str) -> Iterator[Site]:
        """The statements that set a variable, or elements of an array."""
        return (s for s in self.sites if s.target == name)

    def depends(self, site: Site, used: frozenset[str], name: str) -> bool:
        """Whether what a statement uses may be computed from a variable, or set because of it."""
        return name in used or any(self._flows(w, site, used) for w in self._from(name))

    def _from(self, name: str) -> list[Site]:
        """The other statements whose results come from a variable."""
        waiting = [s for s in self.sites if s.target not in ("", name, *self.unread)]
        found: list[Site] = []
        more = True
        while more:
            new = [s for s in waiting if self._comes(s, found, name)]
            waiting = [s for s in waiting if s not in new]
            found += new
            more = bool(new)
        return found

    def _comes(self, s: Site, found: list[Site], name: str) -> bool:
        used = s.reads | s.control
        return name in used or any(self._flows(w, s, used) for w in found)

    def _flows(self, source: Site, sink: Site, used: frozenset[str]) -> bool:
        """Whether what a statement sets may be used in another one: in a later iteration, where it
        is `carried`, else behind it or in a loop around both."""
        if source.target not in used:
            return False
        ordered = comes_before(sink.path, source.path) or sink.path == source.path
        apart = source.loop_paths.isdisjoint(sink.loop_paths)
        return source.target in self.carried or not (ordered and apart)

    def readers(self, name: str, besides: frozenset[Path]) -> tuple[Site, ...]:
        """The statements other than some that read it themselves, not because of what they hold."""
        return tuple(s for s in self.sites if s.path not in besides and name in s.reads)

    def changes(self, found: frozenset[str]) -> bool:
        """Whether any of these names is set in the loop, its own variable included."""
        return bool(found & (self.set | self.declared))

    def _site(self, path: Path, s: Stmt) -> Site:
        depth = len(self.path)
        guards: list[Guard] = []
        loops: dict[int, For] = {}
        for n, x in enumerate(enclosing(self.fn, path)[depth:-1], depth):
            if isinstance(x, If):
                guards.append(Guard(path[: n + 1], x.cond, path[n + 1] >= 0))
            elif isinstance(x, For):
                loops[n + 1] = x
        return Site(path, s, tuple(guards), tuple(loops.values()), tuple(loops))


def comes_before(a: Path, b: Path) -> bool:
    return order(a) < order(b)
