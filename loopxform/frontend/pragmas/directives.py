"""OpenMP pragmas of a function body: which statements they govern, and what their names stand
for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pycparser import c_ast

from loopxform.frontend.names import listed
from loopxform.frontend.names.symbols import Symbol, Table
from loopxform.frontend.pragmas import openmp
from loopxform.frontend.pragmas.governed import by_origin, outermost
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import every
from loopxform.ir.directives import Clause, Directive, PointerSet
from loopxform.ir.nodes import Stmt
from loopxform.ir.visit import Path
from loopxform.source import Origin


def pragma_text(node: c_ast.Pragma) -> str:
    """The text after `#pragma`, or in `_Pragma("...")`."""
    if isinstance(node.string, str):
        return " ".join(node.string.split())
    quoted = str(node.string.value)
    return quoted[quoted.index('"') + 1 : -1].replace('\\"', '"').replace("\\\\", "\\")


def directive_of(
    node: c_ast.Pragma, places: Places, names: dict[str, Symbol], table: Table | None = None
) -> Directive | None:
    """An OpenMP directive without its statements; None for any other pragma."""
    text = pragma_text(node)
    found = openmp.directive(text)
    if found is None:
        return None
    words, written = found

    def value(argument: str) -> int | None:
        symbol = names.get(argument)
        if symbol is not None and symbol.value is not None:
            return int(symbol.value.value)
        return openmp.number(argument)

    clauses = []
    for c in written:
        modifier, variables, number = openmp.parts_of(c, value)
        sections = listed.sections(c.argument or "", names) if variables else ()
        copied, behind = listed.objects(variables, names, table)
        elements = tuple(v for v in behind if v in {x.array for x in sections})
        pointers = tuple(v for v in behind if v not in elements)
        clauses.append(
            Clause(
                c.name,
                (*copied, *elements),
                modifier,
                number,
                c.argument or "",
                pointers,
                sections=sections,
            )
        )
    word = "#" if isinstance(node.string, str) else "_Pragma"
    loc = places.loc(node.coord, word)
    return Directive(words, tuple(clauses), text.partition("omp")[2].strip(), loc)


@dataclass
class _Seen:
    """A directive, the origins of what it governs, that of the statement it stands after, what its
    names stand for, and what it governs in the text."""

    directive: Directive
    origins: list[Origin]
    after: Origin | None
    names: dict[str, Symbol]
    governed: c_ast.Node | None = None


class Directives:
    """Collects the directives of one function while its statements are lowered."""

    def __init__(self, table: Table, places: Places, reads: Callable[[Symbol], list[int]]) -> None:
        """`reads` gives the places where a variable is read, but for the loops that set it."""
        self.table = table
        self.places = places
        self.reads = reads
        self._seen: list[_Seen] = []

    def meet(self, node: c_ast.Pragma, before: Sequence[Stmt]) -> _Seen | None:
        """Notes a pragma that stands after the statements `before` of its block; the result waits
        for the statement that it governs, None where it governs none."""
        names = self.table.pragmas.get(id(node), {})
        directive = directive_of(node, self.places, names, self.table)
        if directive is None:
            return None
        after = before[-1].origin if before else None
        seen = _Seen(directive, [], after, names)
        self._seen.append(seen)
        words, written = openmp.directive(pragma_text(node)) or ((), ())
        return None if openmp.stands_alone(words, written) else seen

    def govern(self, waiting: Sequence[_Seen], node: c_ast.Node, found: Sequence[Stmt]) -> None:
        """The statements that `node` was lowered to are governed by the pragmas before it; of a
        `for`, the start may stand before the loop."""
        loop = node if isinstance(node, c_ast.For) else None
        for seen in waiting:
            seen.origins += [s.origin for s in (found[-1:] if loop else found)]
            seen.governed = node

    def resolved(self, body: tuple[Stmt, ...]) -> tuple[Directive, ...]:
        """The directives in text order, with the paths that their statements have in `body`."""
        where = by_origin(body)
        return tuple(self._resolve(seen, where) for seen in self._seen)

    def _resolve(self, seen: _Seen, where: dict[int, list[Path]]) -> Directive:
        paths = outermost(seen.origins, where)
        after = where.get(id(seen.after), []) if seen.after else []
        d = seen.directive
        return replace(
            d,
            clauses=tuple(self._with_unset(c, seen) for c in d.clauses),
            paths=paths,
            after=after[-1] if after and not paths else None,
            later=self._later(seen.governed),
            named=self._named(seen.governed),
            sets=tuple(self._sets(seen.governed)),
            pointed=listed.pointed(seen.governed, self.table) if seen.governed else frozenset(),
        )

    def _sets(self, node: c_ast.Node | None) -> Iterator[PointerSet]:
        for n, s in listed.settings(node, self.table) if node is not None else ():
            yield PointerSet(s.ir, self.places.node(n), any(n is x for x in listed.direct(node)))

    def _named(self, node: c_ast.Node | None) -> frozenset[str] | None:
        if node is None:
            return None
        found = (self.table.of(n) for n in every(node) if isinstance(n, c_ast.ID))
        return frozenset(s.ir for s in found if s is not None)

    def _with_unset(self, c: Clause, seen: _Seen) -> Clause:
        if seen.governed is None or c.name not in ("private", "lastprivate"):
            return c
        _, names, _ = openmp.parts_of(openmp.Written(c.name, c.text), lambda _: None)
        return replace(c, unset=listed.unset(names, seen.names, self.table, seen.governed))

    def _later(self, loop: c_ast.Node | None) -> frozenset[str]:
        """Variables that the text reads, or may, where the values after `loop` are seen."""
        if not isinstance(loop, c_ast.For):
            return frozenset()
        span, outer = self.table.span(loop), self.table.outermost(loop)

        def seen_later(at: int) -> bool:
            within = span.start <= at < span.end
            return at >= span.end or ((self.table.jumps or outer.repeats(at)) and not within)

        found = (s for s in self.table.symbols if s.is_variable)
        used = [s for s in found if any(map(seen_later, (*self.reads(s), *s.escapes)))]
        for s in used:
            used += [x for x in listed.led_to(s, self.table) if x not in used]
        return frozenset(s.ir for s in used)
