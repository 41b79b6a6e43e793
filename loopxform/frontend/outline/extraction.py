"""The loops of a file that are not understood where they stand, each as a function of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, cast

from pycparser import c_ast

from loopxform import budget
from loopxform.errors import InputError
from loopxform.frontend.desugar.definitions import prototyped
from loopxform.frontend.desugar.jumps import LOOPS
from loopxform.frontend.desugar.names import Fresh
from loopxform.frontend.lower.counters import counts
from loopxform.frontend.lower.files import Around, lower_file
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.expression_types import FileTypes
from loopxform.frontend.names.own_pointers import with_own_pointers
from loopxform.frontend.names.pointer_keepers import PointerKeepers
from loopxform.frontend.names.variables import Variables
from loopxform.frontend.outline.extracted import Extracted, extracted
from loopxform.frontend.outline.owner import Owner, settings
from loopxform.frontend.parsed import Parsed
from loopxform.frontend.syntax.layouts import layouts
from loopxform.frontend.syntax.parsing import parse
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import every
from loopxform.frontend.text import gnu
from loopxform.ir.nodes import For, Function, Opaque
from loopxform.ir.visit import walk
from loopxform.source import Loc

LoopPlace: TypeAlias = tuple[Loc, str]
"""The place of a loop, and what it counts where others stand there as well: those of a macro."""

_CURABLE = frozenset(["LX010", "LX012", "LX013", "LX014", "LX015"])
"""What may be readable in a loop apart: names that the rest of the function makes unclear."""

_FIRST = 10**6
"""Numbers of new names, which no other pass gives."""


def extracted_loops(parsed: Parsed) -> dict[LoopPlace, Function]:
    """For the places of loops that hold what is not modelled, functions that hold the loop alone;
    none for loops that cannot be taken out, or where the limits in force do not suffice."""
    if _latest[0] is not parsed:
        _latest[:] = [parsed, _extracted(parsed)]
    return cast("dict[LoopPlace, Function]", _latest[1])


_latest: list[Any] = [None, {}]
"""The file that was asked about last, and its answer: a file is asked about once per function."""


def _extracted(parsed: Parsed) -> dict[LoopPlace, Function]:
    wanted = {loc for fn in parsed.unit.functions for loc in _unclear(fn)}
    if not wanted:
        return {}
    try:
        return _Extraction(parsed).functions(wanted)
    except (InputError, budget.Exhausted):
        return {}


def _unclear(fn: Function) -> Iterator[Loc]:
    """The loops of a function that hold what is not modelled where it stands."""
    in_order = {s.loop for s in fn.sequential if not s.induction}
    loops: list[tuple[tuple[int, ...], Loc | None]] = []
    for path, s in walk(fn.body):
        while loops and path[: len(loops[-1][0])] != loops[-1][0]:
            loops.pop()
        if (isinstance(s, For) or (isinstance(s, Opaque) and s.loop)) and not s.origin.steps:
            loops.append((path, s.origin.loc))
        if isinstance(s, Opaque) and s.code in _CURABLE:
            yield from (loc for _, loc in loops if loc is not None and loc not in in_order)


def _counter(loop: c_ast.Node) -> str:
    """What a loop counts, as far as its header says."""
    return counts(loop) if isinstance(loop, c_ast.For) else ""


class _Extraction:
    def __init__(self, parsed: Parsed) -> None:
        self.text, self.flags = parsed.expanded, parsed.options.flags
        self.places = Places(list(parsed.files), parsed.sources)
        self.ast = parse(gnu.normalise(self.text), self.places).ast
        self.types = FileTypes(self.ast.ext)
        functions = {x.decl.name: x for x in self.ast.ext if isinstance(x, c_ast.FuncDef)}
        self.own = frozenset(functions)
        self.keepers = PointerKeepers(functions, self.types)
        self.strict = gnu.strict_aliasing(self.text, self.flags)
        self.sets = {name: frozenset(settings(every(n.body))) for name, n in functions.items()}

    def functions(self, wanted: Iterable[Loc]) -> dict[LoopPlace, Function]:
        around = Around.of(self.ast, self.places, self.text)
        made = dict(self._made(frozenset(wanted), around))
        owners = {name: owner for name, (owner, _, _) in made.items()}
        apart: dict[str, list[c_ast.Node]] = {}
        for owner, _, alone in made.values():
            apart.setdefault(owner, []).append(alone.node)
        defined = around.hidden.reached(alone.node for _, _, alone in made.values())
        tree = cast(Any, c_ast.FileAST)(list(self._with(apart, defined)))
        done = lower_file(
            tree,
            self.places,
            layouts=layouts(self.text),
            strict_aliasing=self.strict,
            parts=owners,
            around=around,
            only_judged=True,
        )
        out: dict[LoopPlace, Function] = {}
        for f in done.functions:
            if f.name in made:
                _, at, alone = made[f.name]
                params, globals = (
                    tuple(replace(p, computed=not alone.is_input(p.name)) for p in objects)
                    for objects in (f.params, f.globals)
                )
                out[at] = replace(f, params=params, globals=globals)
        return out

    def _made(
        self, wanted: frozenset[Loc], around: Around
    ) -> Iterator[tuple[str, tuple[str, LoopPlace, Extracted]]]:
        """By their names, the functions of loops, each with the one that it is from."""
        found = [(node, list(self._loops(node))) for node in self.ast.ext if self._is_own(node)]
        counted = [(loc, _counter(x)) for _, loops in found for x, loc in loops]
        there, of_name = Counter(loc for loc, _ in counted), Counter(counted)
        for node, loops in found:
            owner: Owner | None = None
            for n, (loop, loc) in enumerate(loops, 1):
                var = _counter(loop)
                if loc is None or loc not in wanted or of_name[loc, var] > 1:
                    continue
                at = (loc, var if there[loc] > 1 else "")
                owner = owner or self._owner(node, around)
                name = f"{node.decl.name}_loop_{n}"
                try:
                    yield name, (node.decl.name, at, extracted(name, owner, loop))
                except NotModelled:
                    continue

    def _is_own(self, node: c_ast.Node) -> bool:
        """Whether it is a function of the user's file."""
        return isinstance(node, c_ast.FuncDef) and self.places.file(node.decl.coord) == 1

    def _loops(self, node: c_ast.FuncDef) -> Iterator[tuple[c_ast.Node, Loc | None]]:
        prototyped(node)
        with_own_pointers(node, Fresh(_FIRST))
        return ((x, self.places.node(x)) for x in every(node.body) if isinstance(x, LOOPS))

    def _owner(self, node: c_ast.FuncDef, around: Around) -> Owner:
        called = around.hidden.reached([node.body])
        sets = frozenset[str]().union(*(self.sets[name] for name in called if name in self.sets))
        variables = Variables(node, self.types.typedefs)
        return Owner(node, variables, self.types, self.own, sets, self.strict, self.keepers)

    def _with(
        self, apart: Mapping[str, list[c_ast.Node]], defined: frozenset[str]
    ) -> Iterator[c_ast.Node]:
        """The file, with the loops of each function in its place; functions that they call stay."""
        for e in self.ast.ext:
            if not isinstance(e, c_ast.FuncDef):
                yield e
                continue
            loops = apart.get(e.decl.name, ())
            yield e if e.decl.name in defined else e.decl
            yield from loops
