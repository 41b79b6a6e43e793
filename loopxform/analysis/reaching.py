"""The value a scalar has at a place: what the assignments that lead there say, by cases.

    m = n; if (w > 0) m = 3*n; ...    m is 3*n where w > 0, else n
    for (i = 0; i < n; i++) ... ; ... i is n where 0 < n, else 0

The walk goes backwards, from the place through the statements in front of it, and out of the
statements around it. It ends with no answer at the entry of the function, at a loop that changes
the scalar, at a declaration, and at whatever is not affine or may have changed since.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from loopxform.analysis.cases import Cases
from loopxform.analysis.formula import MAX_CASES, Scope, Translator
from loopxform.analysis.linear import plus
from loopxform.ir.affine import value_of
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, If, Opaque, Select, Stmt, Var
from loopxform.ir.visit import Path, along, bodies

MAX_DEPTH = 40
"""Assignments that build on each other; of longer chains nothing is known."""


class Names(Scope, Protocol):
    """The names of a function, as its statements mean them."""

    def back_at(self, place: Path, loops: tuple[str, ...]) -> Names:
        """The names as a statement at `place` means them, as far as that holds in the whole
        function; `loops` are the variables of the loops around it."""

    def fits(self, name: str, value: Expr) -> bool:
        """Whether the C type of `name` holds every value of the expression assigned to it."""

    def is_unsigned(self, name: str) -> bool:
        """Whether the C type of `name` is unsigned."""


def value_at(names: Names, body: tuple[Stmt, ...], name: str, place: Path) -> Cases | None:
    """The value of `name` when control reaches the statement at `place` of a function's `body`."""
    around = along(body, place)
    if around and isinstance(around[-1], For) and _changes(around[-1], name):
        return None
    return _Walk(names, name, body).at(place)


class _Walk:
    """One scalar, followed backwards. Both branches of a condition lead to the statements in front
    of it: what is known of a place is kept, or a chain of n conditions would take 2^n walks."""

    def __init__(self, names: Names, name: str, body: tuple[Stmt, ...]) -> None:
        self.names, self.name, self.top = names, name, body
        self.known: dict[Path, Cases | None] = {}

    def at(self, place: Path) -> Cases | None:
        """The value in front of the statement at `place`."""
        if place not in self.known:
            self.known[place] = self._before(place)
        return self.known[place]

    def _before(self, place: Path) -> Cases | None:
        around = along(self.top, place)[: len(place) - 1]
        for n in range(len(place) - 1, -1, -1):
            parent = around[n - 1] if n else None
            body, orelse = self.top, place[n] < 0
            if isinstance(parent, If):
                body = parent.orelse if orelse else parent.then
            elif isinstance(parent, For):
                body = parent.body
            elif parent is not None:
                return None
            last = self._last(body, -1 - place[n] if orelse else place[n])
            if last is not None:
                return self._after(body[last], (*place[:n], -1 - last if orelse else last))
            if isinstance(parent, For) and _changes(parent, self.name):
                return None
        return None

    def _last(self, body: tuple[Stmt, ...], end: int) -> int | None:
        """The last statement in front of `end` that changes the scalar."""
        return next((n for n in range(end - 1, -1, -1) if _changes(body[n], self.name)), None)

    def _after(self, s: Stmt, path: Path) -> Cases | None:
        """The value behind a statement that changes it."""
        match s:
            case Assign(_, value, ""):
                return self._value(value, path) if self.names.fits(self.name, value) else None
            case Assign(_, value, "+" | "-"):
                if not self.names.fits(self.name, value) or self.names.is_unsigned(self.name):
                    return None
                return _sum(self.at(path), self._value(value, path), 1 if s.op == "+" else -1)
            case If():
                return self._joined(s, path)
            case For() if s.var == self.name and not any(_changes(x, s.var) for x in s.body):
                return self._counted(s, path)
            case _:
                return None

    def _joined(self, s: If, path: Path) -> Cases | None:
        translator = Translator(self._there(path))
        yes, no = translator.condition(s.cond), translator.condition(s.cond, holds=False)
        ends = self._end(s, path, orelse=False), self._end(s, path, orelse=True)
        if not translator.exact or ends[0] is None or ends[1] is None:
            return None
        out = [(x, (*c, *when)) for c in yes for x, when in ends[0]]
        out += [(x, (*c, *when)) for c in no for x, when in ends[1]]
        return tuple(out) if len(out) <= MAX_CASES else None

    def _end(self, s: If, path: Path, *, orelse: bool) -> Cases | None:
        """The value at the end of a branch."""
        body = s.orelse if orelse else s.then
        last = self._last(body, len(body))
        if last is None:
            return self.at(path)
        if any(isinstance(x, Decl) and x.name == self.name for x in body):
            return None
        return self._after(body[last], (*path, -1 - last if orelse else last))

    def _counted(self, s: For, path: Path) -> Cases | None:
        """What a loop that counts to a bound leaves in its variable."""
        step = value_of(s.step)
        if not step or not self.names.fits(s.var, s.hi):
            return None
        if abs(step) > 1 and self.names.is_unsigned(s.var):
            return None
        runs = Bin("<" if step > 0 else ">", s.lo, s.hi)
        return self._value(Select(runs, _reached(s, step), s.lo), path)

    def _value(self, e: Expr, path: Path) -> Cases | None:
        translator = Translator(self._there(path))
        found = translator.cases(e)
        return found if translator.exact else None

    def _there(self, path: Path) -> Names:
        around = along(self.top, path)[:-1]
        return self.names.back_at(path, tuple(s.var for s in around if isinstance(s, For)))


def _reached(s: For, step: int) -> Expr:
    """The first value on the stride of a loop that is not in front of its bound."""
    if step in (1, -1):
        return s.hi
    size, sign = abs(step), "+" if step > 0 else "-"
    gap = Bin("-", s.hi, s.lo) if step > 0 else Bin("-", s.lo, s.hi)
    times = Bin("/", Bin("+", gap, Const(size - 1)), Const(size))
    return Bin(sign, s.lo, Bin("*", Const(size), times))


def _changes(s: Stmt, name: str) -> bool:
    """Whether a statement, or one inside it, may give the scalar another value."""
    changed, kept = _changed(s)
    return name in changed or any(name not in keeps for keeps in kept)


@remembered(4096)
def _changed(s: Stmt) -> tuple[frozenset[str], tuple[Collection[str], ...]]:
    """The scalars that a statement sets, and for what is not modelled in it those that this
    keeps."""
    match s:
        case Assign(Var(name)) | Decl(name) | For(name):
            own = frozenset([name])
        case _:
            own = frozenset()
    inner = [_changed(x) for body in bodies(s) for x in body]
    kept = (s.keeps,) if isinstance(s, Opaque) else ()
    changed = own.union(*(x for x, _ in inner))
    return changed, (*kept, *(keeps for _, more in inner for keeps in more))


def _sum(a: Cases | None, b: Cases | None, sign: int) -> Cases | None:
    if a is None or b is None or len(a) * len(b) > MAX_CASES:
        return None
    return tuple((plus(x, y, sign), (*c, *d)) for x, c in a for y, d in b)
