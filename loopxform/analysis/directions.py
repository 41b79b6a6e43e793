"""Direction vectors: which signs the step from one iteration to another can take.

The step of a dependence over the common loops is a vector of integers `i~`, counted in the order
the loop runs. After everything else is eliminated a small system over the steps is left; its sign
patterns are found level by level (the first nonzero step is positive: time moves forward), for
independent groups of loops apart, and three rows that differ in one sign only are merged into `*`.
Every pattern of a `tight` row occurs (as long as the system is exact), so its `*` hides no empty
case; where the patterns of a level are too many, one row that is not tight stands for them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, TypeAlias

from loopxform.analysis.linear import Conj, Constraint, conj_names
from loopxform.analysis.system import Elimination, Point, eliminate, feasible
from loopxform.ir.memo import Table
from loopxform.records import slotted

Sign: TypeAlias = Literal["<", "=", ">", "*"]
Pattern: TypeAlias = tuple[Sign, ...]

MAX_TESTS = 1200
"""Feasibility tests per pair of accesses, each level having its share; a level that needs more is
one row with open signs."""

MIN_TESTS = 20
"""The least share of a level."""

SIGNS: tuple[Sign, ...] = ("<", "=", ">")
SAME: Pattern = ("=",)
OPEN: Pattern = ("*",)


@slotted
class Row:
    pattern: Pattern
    distance: tuple[int | None, ...]
    tight: bool = True


def signed(step: str, sign: Sign) -> Conj:
    """The constraint a sign puts on a step."""
    match sign:
        case "<":
            return (Constraint(False, {step: 1, "": -1}),)
        case "=":
            return (Constraint(True, {step: 1}),)
        case ">":
            return (Constraint(False, {step: -1, "": -1}),)
        case _:
            return ()


def pattern_conj(steps: Sequence[str], pattern: Pattern) -> Conj:
    return tuple(c for step, sign in zip(steps, pattern) for c in signed(step, sign))


class _TooMany(Exception):
    """The sign patterns of a level took more tests than they may."""


class Refinement:
    """The rows of one system over `steps`. Systems that differ in nothing but names, which sort
    alike, are one question: its answers are kept, under names of their own."""

    def __init__(self, system: Conj, steps: Sequence[str]) -> None:
        self._names = sorted(conj_names(system).union(steps))
        own = {name: f"v{n:06}" for n, name in enumerate(self._names)}
        key = (
            tuple((c.eq, tuple((own.get(k, k), v) for k, v in c.lin.items())) for c in system),
            tuple(own[step] for step in steps),
        )
        known = _asked.get(key)
        if known is None:
            plain = tuple(Constraint(eq, dict(terms)) for eq, terms in key[0])
            known = _Question(plain, key[1])
            _asked.put(key, known)
        self._question = known

    def point(self, pattern: Pattern) -> Point | None:
        """Values of all names for one pattern, or None where it does not occur. Raises
        `sets.TooHard` where that is not known."""
        found = self._question.point(pattern)
        if found is None:
            return None
        return {self._names[int(k[1:])] if k[0] == "v" else k: v for k, v in found.items()}

    def carried(self) -> list[Row]:
        """The rows of dependences carried by one of the loops."""
        return self._question.carried

    def independent(self) -> list[Row]:
        """The row of the dependence within one iteration of all common loops, if there is one."""
        return self._question.independent


class _Question:
    """The rows of one system over `steps`, each of which is found once."""

    def __init__(self, system: Conj, steps: tuple[str, ...]) -> None:
        self.steps = steps
        self.keep = frozenset(steps)
        self.share = max(MIN_TESTS, MAX_TESTS // max(1, len(self.steps)))
        self.tests = 0
        self.elimination = Elimination(system, self.keep)
        self.system = self.elimination.rest
        self._points: dict[Pattern, Point | None] = {}

    def point(self, pattern: Pattern) -> Point | None:
        if pattern not in self._points:
            found = self.elimination.point(pattern_conj(self.steps, pattern))
            self._points[pattern] = found
        return self._points[pattern]

    @cached_property
    def carried(self) -> list[Row]:
        out: list[Row] = []
        system: Conj | None = self.system
        for level, step in enumerate(self.steps):
            if system is None:
                break
            ahead = eliminate((*system, *signed(step, "<")), self.keep)
            if ahead is not None:
                out += self._level(ahead, level)
            system = eliminate((*system, *signed(step, "=")), self.keep)
        return out

    @cached_property
    def independent(self) -> list[Row]:
        if self.system is None:
            return []
        n = len(self.steps)
        zero = pattern_conj(self.steps, SAME * n)
        if not feasible((*self.system, *zero)):
            return []
        return [Row(SAME * n, (0,) * n)]

    def _level(self, system: Conj, level: int) -> list[Row]:
        self.tests = 0
        try:
            return self._rows(system, level)
        except _TooMany:
            pattern: Pattern = (*SAME * level, "<", *OPEN * (len(self.steps) - level - 1))
            return [Row(pattern, self._distance(system, pattern), tight=False)]

    def _rows(self, system: Conj, level: int) -> list[Row]:
        inner = self.steps[level + 1 :]
        groups = _groups(system)
        for group, names in groups:
            if not names & frozenset(inner) and not feasible(group):
                return []
        found: dict[str, int] = {}
        parts: list[tuple[tuple[str, ...], list[Pattern]]] = []
        for n, step in enumerate(inner):
            group_names = next((names for _, names in groups if step in names), None)
            if group_names is None or step in found:
                continue
            members = tuple(s for s in inner if s in group_names)
            found |= dict.fromkeys(members, n)
            constraints = next(g for g, names in groups if step in names)
            patterns = self._patterns(constraints, members)
            if not patterns:
                return []
            parts.append((members, patterns))
        rows: list[dict[str, Sign]] = [{}]
        for members, patterns in parts:
            rows = [row | dict(zip(members, p)) for row in rows for p in patterns]
        head: Pattern = (*SAME * level, "<")
        whole: list[Pattern] = [(*head, *(row.get(s, "*") for s in inner)) for row in rows]
        return [Row(p, self._distance(system, p)) for p in whole]

    def _patterns(self, system: Conj, members: tuple[str, ...]) -> list[Pattern]:
        """The sign patterns of `members` that `system` allows, merged into `*` from the inside."""
        self.tests += 1
        if self.tests > self.share:
            raise _TooMany
        if not members:
            return [()] if feasible(system) else []
        found: list[list[Pattern]] = []
        for sign in SIGNS:
            smaller = eliminate((*system, *signed(members[0], sign)), frozenset(members))
            found.append([] if smaller is None else self._patterns(smaller, members[1:]))
        if found[0] == found[1] == found[2]:
            return [("*", *rest) for rest in found[0]]
        return [(sign, *rest) for sign, rests in zip(SIGNS, found) for rest in rests]

    def _distance(self, system: Conj, pattern: Pattern) -> tuple[int | None, ...]:
        narrowed = eliminate((*system, *pattern_conj(self.steps, pattern)), self.keep)
        known = _constants(narrowed or ())
        return tuple(0 if p == "=" else known.get(s) for s, p in zip(self.steps, pattern))


_asked = Table[_Question](4096, lasting=True)


def _groups(system: Conj) -> list[tuple[Conj, frozenset[str]]]:
    """The system split into parts without a name in common."""
    groups: list[tuple[list[Constraint], frozenset[str]]] = []
    for c in system:
        names = conj_names((c,))
        together = [g for g in groups if g[1] & names]
        groups = [g for g in groups if not g[1] & names]
        merged = [x for g in together for x in g[0]]
        groups.append(([*merged, c], names.union(*(g[1] for g in together))))
    return [(tuple(g), names) for g, names in groups]


def _constants(system: Conj) -> dict[str, int]:
    """The names equalities fix, one substituted into the next."""
    known: dict[str, int] = {}
    equalities = [c.lin for c in system if c.eq]
    for _ in range(len(equalities)):
        for lin in equalities:
            left = [k for k in lin if k and k not in known]
            if len(left) != 1:
                continue
            rest = sum(c * (known[k] if k else 1) for k, c in lin.items() if k != left[0])
            known[left[0]] = -rest // lin[left[0]]
    return known
