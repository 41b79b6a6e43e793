"""OpenMP directives as the user wrote them: a table beside a function, never part of its meaning.

Paths are those of the function as it was read; a program that steps have rewritten has no
directives.
"""

from __future__ import annotations

from loopxform.ir.nodes import Expr
from loopxform.ir.visit import Path
from loopxform.records import record
from loopxform.source import Loc


@record
class Section:
    """`h[2:n]`: the array, and for each bracket the first element and how many there are, None
    where that is not a number or a variable."""

    array: str
    text: str
    parts: tuple[tuple[Expr | None, Expr | None], ...]


@record
class Clause:
    """`private(a, b)`, `reduction(+: s)`, `collapse(2)`, `nowait`.

    `variables` are names of the loop tree: the objects that the clause is about, each member of a
    struct by itself. `pointers` are those behind pointers that are listed: a copy of a pointer
    leaves what it points to shared. `unset` are pointers that what the directive governs uses, and
    never sets. `sections` are the parts of arrays that are listed. `modifier` stands before the
    colon of a reduction, or is the kind of a schedule; `number` is the value of an integer argument
    (of `linear`: its step), None where it is not a constant. `text` is the argument as written.
    """

    name: str
    variables: tuple[str, ...] = ()
    modifier: str = ""
    number: int | None = None
    text: str = ""
    pointers: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()


@record
class PointerSet:
    """Where a local pointer is set that the loop tree does not know, as it is another name for an
    array. `always`: whoever runs what the directive governs runs this, once for each iteration."""

    name: str
    loc: Loc | None
    always: bool


@record
class Directive:
    """One `#pragma omp`. `words` name the construct (`parallel for`); `paths` are the statements it
    governs, outermost ones, none for a directive that stands alone. Such a one stands `after` a
    statement of its block, None where it is the first. `later` are the variables whose value is
    used after the loop it governs, or elsewhere in a loop around it, as far as the text shows.
    `named` are those that the text of what it governs names, None where it is not known: a local
    pointer is another name for its array. `sets` are the pointers of the function that it sets,
    and does not declare. `pointed` are the objects that pointers it names were set to elsewhere:
    they lead to the originals, whatever its clauses copy."""

    words: tuple[str, ...]
    clauses: tuple[Clause, ...] = ()
    text: str = ""
    loc: Loc | None = None
    paths: tuple[Path, ...] = ()
    after: Path | None = None
    later: frozenset[str] = frozenset()
    named: frozenset[str] | None = None
    sets: tuple[PointerSet, ...] = ()
    pointed: frozenset[str] = frozenset()

    def has(self, *words: str) -> bool:
        """Whether the construct is made of any of these words."""
        return any(w in self.words for w in words)

    def clause(self, name: str) -> Clause | None:
        return next((c for c in self.clauses if c.name == name), None)

    def variables(self, *names: str) -> frozenset[str]:
        """The variables of all clauses of these names."""
        return frozenset(v for c in self.clauses if c.name in names for v in c.variables)

    def pointers(self, *names: str) -> frozenset[str]:
        """What the pointers in all clauses of these names point to."""
        return frozenset(v for c in self.clauses if c.name in names for v in c.pointers)

    def governs(self, path: Path) -> bool:
        """Whether the statement at `path` is in the construct."""
        return any(path[: len(p)] == p for p in self.paths)
