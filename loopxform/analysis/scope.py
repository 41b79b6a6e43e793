"""What a name means inside a region: loop variable, parameter, temporary, or unknown.

A parameter of a region is an integer scalar that keeps one value while the region runs: nothing in
the region writes it, or one assignment outside every loop precedes all its uses. A temporary
(`int t = 2*i + 1;`) is replaced by its value where that is provably the one it holds (`reaching`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field, replace
from itertools import count

from loopxform.analysis.cases import Cases
from loopxform.analysis.linear import variable
from loopxform.analysis.reaching import MAX_DEPTH, value_at
from loopxform.ir.all_but import common
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import (
    Assign,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Stmt,
    Tile,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.types import DOUBLE, INT, Scalar
from loopxform.ir.typing import type_of
from loopxform.ir.visit import Path, bodies, names, stmt_exprs, walk, walk_expr
from loopxform.records import record


@record
class Facts:
    """What the text of a body says about its names, gathered in one walk."""

    assigned: Counter[str]
    """How often each scalar or array is the target of an assignment or copy."""
    declared: dict[str, Path]
    loop_vars: frozenset[str]
    escaping: frozenset[str]
    """Loop variables read outside the loops over them."""
    opaque: bool
    first_read: dict[str, Path]
    assignments: dict[str, tuple[Path, Assign, tuple[str, ...]]]
    """The last assignment of each scalar in text order, and the variables of the loops around."""
    kept: frozenset[str] = frozenset()
    """Scalars that no statement which is not modelled writes."""

    def may_hide(self, name: str) -> bool:
        """Whether a statement that is not modelled may change it."""
        return self.opaque and name not in self.kept

    def may_change(self, name: str) -> bool:
        changed = name in self.assigned or name in self.declared or name in self.loop_vars
        return changed or self.may_hide(name)


def below(s: Stmt, path: Path) -> Iterator[tuple[Path, Stmt]]:
    """Every statement inside `s`, in text order, with its path; `path` is that of `s`."""
    if not isinstance(s, If):
        for body in bodies(s):
            yield from walk(body, path)
        return
    yield from walk(s.then, path)
    for n, inner in enumerate(s.orelse):
        place = (*path, -1 - n)
        yield place, inner
        yield from below(inner, place)


_inside: dict[tuple[int, Path], tuple[Stmt, Facts]] = {}


def inside(s: Stmt, path: Path) -> Facts:
    """The facts of what `s` (at `path`) holds. Steps share the trees they do not change, so what
    was found for one program serves the next."""
    known = _inside.get((id(s), path))
    if known and known[0] is s:
        return known[1]
    if len(_inside) > 1024:
        _inside.clear()
    found = gather(below(s, path))
    _inside[id(s), path] = (s, found)
    return found


def gather(statements: Iterable[tuple[Path, Stmt]]) -> Facts:
    assigned: Counter[str] = Counter()
    declared: dict[str, Path] = {}
    first_read: dict[str, Path] = {}
    assignments: dict[str, tuple[Path, Assign, tuple[str, ...]]] = {}
    loops: list[tuple[Path, str]] = []
    loop_vars: set[str] = set()
    escaping: set[str] = set()
    odd: list[Set[str]] = []
    around: frozenset[str] = frozenset()
    for path, s in statements:
        while loops and path[: len(loops[-1][0])] != loops[-1][0]:
            loops.pop()
            around = frozenset([v for _, v in loops])
        read, own = _uses(s)
        if not read <= first_read.keys():
            for name in read:
                first_read.setdefault(name, path)
        if not read <= around:
            escaping |= read - around - own
        match s:
            case Assign():
                if isinstance(s.target, Var):
                    name = s.target.name
                    assignments[name] = (path, s, tuple([v for _, v in loops]))
                else:
                    name = s.target.array
                assigned[name] = assigned.get(name, 0) + 1
            case Decl():
                declared[s.name] = path
            case For():
                loops.append((path, s.var))
                loop_vars.add(s.var)
                around |= {s.var}
            case Copy():
                assigned[s.target] = assigned.get(s.target, 0) + 1
            case Opaque():
                odd.append(s.keeps)
            case _:
                pass
    out = frozenset(escaping & loop_vars)
    kept = common(odd) if odd else frozenset[str]()
    return Facts(
        assigned, declared, frozenset(loop_vars), out, bool(odd), first_read, assignments, kept
    )


NONE = gather(())
"""The facts of no statement."""


@remembered(16384)
def _uses(s: Stmt) -> tuple[frozenset[str], frozenset[str]]:
    """What a statement reads, and of that the variable of a loop whose bound reads it
    (`ir.whiles`): what the loop has counted, not what it held before."""
    exprs: Iterable[Expr] = stmt_exprs(s)
    if isinstance(s, Assign):
        target = s.target
        exprs = (s.value, *(target.index if isinstance(target, Load) else ()))
        if s.op:
            exprs = (s.value, target)
    read = frozenset[str]().union(*map(names, exprs))
    counts = isinstance(s, For) and s.var not in names(s.lo) | names(s.step)
    return read, frozenset([s.var]) if isinstance(s, For) and counts else frozenset()


_numbers = count(1)


@dataclass
class Names:
    """The `formula.Scope` of one place: `loops` are the variables of the region's loops around it,
    `whole` the facts of the function, `facts` those of the region."""

    whole: Facts
    facts: Facts
    types: dict[str, Scalar]
    body: tuple[Stmt, ...] = ()
    """That of the function."""
    inputs: frozenset[str] = frozenset()
    """Scalars that hold what the caller gave: any value."""
    arrays: frozenset[str] = frozenset()
    """Arrays whose elements do, as far as nothing in the function changes them."""
    loops: tuple[str, ...] = ()
    place: Path = ()
    depth: int = 0
    values: dict[tuple[str, Path], Cases | None] = field(default_factory=dict)
    typed: dict[int, tuple[Expr, Scalar | None]] = field(default_factory=dict)
    """Expressions whose types were asked for, and these, by identity: they are the same at every
    place of the function, and asked for over and over."""
    counter: count[int] = field(default_factory=lambda: count(1))
    auxiliary: str = field(default_factory=lambda: f"$~{next(_numbers):09}:")
    """What the names of auxiliary integers begin with: those of another time that the names of the
    function were gathered may be in formulas that are remembered."""

    def at(self, place: Path, loops: tuple[str, ...]) -> Names:
        there = object.__new__(Names)
        there.__dict__.update(self.__dict__)
        there.place, there.loops = place, loops
        return there

    def within(self, facts: Facts, place: Path) -> Names:
        there = self.at(place, ())
        there.facts = facts
        return there

    def with_own(self, auxiliary: str) -> Names:
        """The same names, but for those of auxiliary integers, which are numbered from 1 on."""
        return replace(self, auxiliary=auxiliary, counter=count(1))

    def is_parameter(self, name: str) -> bool:
        """Whether an integer is a parameter of the region."""
        type = self.types.get(name)
        is_integer = type is not None and type.is_integer and name not in self.loops
        return is_integer and self.is_stable(name) and self._value(name) is None

    def meaning(self, name: str) -> Cases | None:
        type = self.types.get(name)
        if (
            type is None
            or not type.is_integer
            or (name in self.loops and self.facts.may_hide(name))
        ):
            return None
        if name not in self.loops:
            value = self._value(name)
            if value is not None:
                return value
            if not self.is_stable(name):
                return None
        return ((variable(name), ()),)

    def is_stable(self, name: str) -> bool:
        """Whether a scalar keeps one value at all its uses in the region."""
        facts = self.facts
        if not facts.may_change(name):
            return True
        if facts.may_hide(name) or name in facts.loop_vars or facts.assigned[name] != 1:
            return False
        found = facts.assignments.get(name)
        if found is None or found[2]:
            return False
        path = order(found[0])
        decl, read = facts.declared.get(name), facts.first_read.get(name)
        return (decl is None or order(decl) < path) and (read is None or path < order(read))

    def _value(self, name: str) -> Cases | None:
        """The value of a scalar at this place in terms of what never changes, and of the loops
        around; remembered."""
        whole = self.whole
        if whole.may_hide(name) or self.depth > MAX_DEPTH or not whole.may_change(name):
            return None
        key = (name, self.place)
        if key not in self.values:
            self.values[key] = value_at(self, self.body, name, self.place)
        return self.values[key]

    def back_at(self, place: Path, loops: tuple[str, ...]) -> Names:
        """The names as a statement at `place` means them, as far as that holds in the whole
        function."""
        return replace(self, facts=self.whole, loops=loops, place=place, depth=self.depth + 1)

    def fits(self, name: str, value: Expr) -> bool:
        """Whether the C type of `name` holds every value of the expression assigned to it."""
        target, source = self.types[name], self.type_of(value)
        if source is None or not source.is_integer or target.is_unsigned != source.is_unsigned:
            return False
        return target.bytes >= source.bytes

    def is_unsigned(self, name: str) -> bool:
        return self.types[name].is_unsigned

    def symbol(self, e: Expr) -> str | None:
        """An unknown constant stands for an integer expression of things that never change."""
        type = self.type_of(e)
        if type is None or not type.is_integer:
            return None
        for x in walk_expr(e):
            if isinstance(x, Var) and (x.name in self.loops or not self.is_stable(x.name)):
                return None
            if isinstance(x, Load) and self.facts.may_change(x.array):
                return None
        return f"`{expr_text(e)}`"

    def member(self, e: Load) -> str | None:
        """The name of a member of a struct, or an element of an array, that the caller gave."""
        given = "." in e.array or e.array in self.arrays
        return self.symbol(e) if given and not self.whole.may_change(e.array) else None

    def fresh(self) -> str:
        return f"{self.auxiliary}{next(self.counter)}"

    def type_of(self, e: Expr) -> Scalar | None:
        known = self.typed.get(id(e))
        if known is None or known[0] is not e:
            known = self.typed[id(e)] = e, self._type_of(e)
        return known[1]

    def _type_of(self, e: Expr) -> Scalar | None:
        try:
            return type_of(e, self.types)
        except KeyError:
            return INT if isinstance(e, Tile) else None


def order(path: Path) -> tuple[tuple[int, int], ...]:
    """A key that sorts paths in text order (the else branch of an If after its then branch)."""
    return tuple((0, n) if n >= 0 else (1, -n) for n in path)


def scalar_types(fn: Function) -> dict[str, Scalar]:
    """The type of every name; a name declared with two types counts as a double (never affine)."""
    out = {p.name: p.type for p in fn.objects}
    for _, s in walk(fn.body):
        if isinstance(s, Decl):
            old = out.get(s.name)
            out[s.name] = s.type if old is None or old == s.type else DOUBLE
    for _, s in walk(fn.body):
        if isinstance(s, For):
            out.setdefault(s.var, s.type)
    return out
