"""Parts of the functions of a user's file: which there are, what they are called with, and each
lowered as a function of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from pycparser import c_ast

from loopxform.errors import InputError, LoopxformError, UnsupportedC
from loopxform.frontend.desugar.fresh_statics import fresh_statics
from loopxform.frontend.lower.files import Around, lower_file
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.addresses import Addresses
from loopxform.frontend.names.expression_types import FileTypes
from loopxform.frontend.names.library import pure
from loopxform.frontend.names.variables import Variables
from loopxform.frontend.outline.aside import asides
from loopxform.frontend.outline.blocks import Item, Nodes
from loopxform.frontend.outline.loops import Loop, is_loop, loops
from loopxform.frontend.outline.outlined import Outlined, outlined
from loopxform.frontend.outline.own_numbers import own_numbers
from loopxform.frontend.outline.reachable import Declarations
from loopxform.frontend.outline.regions import Definition, Part, Region
from loopxform.frontend.outline.returning import Returning, returning
from loopxform.frontend.outline.untouched import never
from loopxform.frontend.outline.user_file import UserFile
from loopxform.frontend.parsed import CppOptions, Parsed
from loopxform.frontend.pragmas.data_regions import is_directive
from loopxform.frontend.syntax.tree import clone, every
from loopxform.source import Loc


class Original(UserFile):
    """A user's file whose statements become functions."""

    def __init__(
        self, path: str, raw: bytes, options: CppOptions, read: Parsed | None = None
    ) -> None:
        super().__init__(path, raw, options, read)
        self._known: dict[str, Variables] = {}
        self._asides: dict[str, Mapping[int, InputError]] = {}
        self._returning: dict[tuple[int, int], Returning | None] = {}

    def lower(self, regions: Sequence[Region]) -> dict[str, Part | LoopxformError]:
        """Each region as a function, or why it is none; by the names of the regions."""
        made: dict[str, Part | LoopxformError] = {}
        owned: dict[int, list[c_ast.Node]] = {}
        for r in regions:
            try:
                node = self.outlined(r).node
            except NotModelled as why:
                made[r.name] = UnsupportedC(
                    why.reason,
                    loc=self._places.node(why.node),
                    code=why.code,
                    help=why.help or None,
                )
            else:
                owned.setdefault(id(r.owner.node), []).append(node)
        wanted = {r.name: r.owner.name for r in regions if r.name not in made}
        parts = (part for several in owned.values() for part in several)
        defined = self._around.hidden.reached(parts) | self._declaring
        kept = self._declarations.with_parts(owned, defined, self._places)
        tree = cast(Any, c_ast.FileAST)([clone(x) for x in kept])
        done = lower_file(
            tree,
            self._places,
            layouts=self._layouts,
            strict_aliasing=self._strict_aliasing,
            parts=wanted,
            around=self._around,
            has_matrices=True,
        )
        for f in done.functions:
            if f.name in wanted:
                made[f.name] = Part(f, done.annotations.get(f.name, ()))
        made.update((n, e) for n, e in done.failed if n in wanted)
        return made

    @cached_property
    def _declarations(self) -> Declarations:
        return Declarations(self.ast.ext)

    @cached_property
    def _around(self) -> Around:
        return Around.of(self.ast, self._places, self._first[2])

    @cached_property
    def _declaring(self) -> frozenset[str]:
        """The functions that declare variables of other files, which parts of them may use."""
        return frozenset(
            n.decl.name
            for n in self.ast.ext
            if isinstance(n, c_ast.FuncDef)
            and any(isinstance(x, c_ast.Decl) and "extern" in x.storage for x in every(n.body))
        )

    def aside(self, owner: Definition, item: Item) -> InputError | None:
        """Why an annotation keeps a statement on the host, or something in it."""
        if owner.name not in self._asides:
            self._asides[owner.name] = asides(owner.node.body, self._places)
        known = self._asides[owner.name]
        found = (known[id(x)] for n in item.nodes for x in every(n) if id(x) in known)
        return next(found, None)

    def has_data(self, owner: Definition) -> bool:
        """Whether a data directive stands in a function."""
        return any(map(is_directive, every(owner.node.body)))

    def borrowed(self, owner: Definition) -> frozenset[int]:
        """The addresses of variables that go to functions which forget them, by identity."""
        known = Addresses(self.variables(owner), owner.node.body, self._globals, never)
        return frozenset(known.forgotten)

    def outlined(self, r: Region) -> Outlined:
        """Raises NotModelled."""
        variables = self.variables(r.owner)
        strict = self._strict_aliasing
        returns = self.returning(r.owner, r.nodes)
        if returns is not None:
            self._resumed(r, returns)
        return outlined(
            r.name,
            r.owner.node,
            r.nodes,
            variables,
            self._globals,
            self._file_types,
            strict=strict,
            own=self._own_numbers,
            returns=returns,
            sizes=r.sizes,
        )

    def returning(self, owner: Definition, nodes: Nodes) -> Returning | None:
        """The loop that statements are, where it returns. Raises NotModelled."""
        key = (id(nodes[0]), len(nodes))
        if key not in self._returning:
            self._returning[key] = returning(nodes, self.variables(owner))
        return self._returning[key]

    def standing(self, r: Region) -> Region:
        """The region with what stands for it in the text. Raises NotModelled."""
        arguments = self.outlined(r).arguments
        returns = self.returning(r.owner, r.nodes)
        resumed = () if returns is None else self._resumed(r, returns)
        return replace(r, arguments=arguments, returns=returns, resumed=resumed)

    def _resumed(self, r: Region, returns: Returning) -> tuple[str, ...]:
        lines = returns.text(self.text[r.start : r.end])
        if lines is None:
            reason = "macros or directives hide the header of a loop that a return leaves"
            raise NotModelled("LX249", reason, "write the loop out", returns.loop)
        return lines

    @cached_property
    def _own_numbers(self) -> Mapping[str, bool]:
        return own_numbers(self.ast, self._types)

    def asks_file(self, r: Region) -> bool:
        """Whether what is known of a region depends on what other functions say."""
        return not r.whole and (r.owner.name in self._sized or self.outlined(r).of_file)

    @cached_property
    def _file_types(self) -> FileTypes:
        return FileTypes(self.ast.ext)

    def runs(self, owner: Definition, items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
        """The longest runs of consecutive statements which declare nothing that is used after
        them."""
        meant = self.variables(owner).meant
        inside = {id(x) for i in items for n in i.nodes for x in every(n)}
        outside = {id(d) for x, d in meant.items() if x not in inside}
        for k, item in reversed(list(enumerate(items))):
            if any(id(n) in outside for n in item.nodes):
                yield from self.runs(owner, items[:k])
                yield from self.runs(owner, items[k + 1 :])
                return
        if items:
            yield tuple(items)

    def whole(self, owner: Definition) -> Region | None:
        """All that a function does, where it gives no value, and the file declares what it uses."""
        if any(isinstance(x, c_ast.Decl) and "extern" in x.storage for x in every(owner.node.body)):
            return None
        items = list(owner.body.items)
        while items and all(map(_says_nothing, items[-1].nodes)):
            items.pop()
        nodes = [x for i in items for x in i.nodes]
        args = owner.node.decl.type.args
        params = [getattr(p, "name", None) for p in (args.params if args else ())]
        if not items or (None in params and params != [None]):
            return None
        given = tuple(p for p in params if p)
        end = items[-1].end
        start = self.conditionals.widened(items[0].start, end)
        return Region(owner.name, owner, tuple(nodes), start, end, whole=True, arguments=given)

    def has_loop(self, item: Item) -> bool:
        """Whether a statement holds a loop of any kind."""
        return any(is_loop(x) for n in item.nodes for x in every(n))

    def first_loop(self, items: Iterable[Item]) -> Loc | None:
        """Where the first loop in some statements is."""
        inside = (x for i in items for n in i.nodes for x in every(n) if is_loop(x))
        return next((self._places.node(x) for x in inside), None)

    def loops(
        self, names: Collection[str], regions: Iterable[Region]
    ) -> tuple[tuple[Loop, bool], ...]:
        """The loops of the functions with these names, and whether each is in one of the regions;
        in text order."""
        taken = {id(x) for r in regions for n in r.nodes for x in every(n)}
        own = (x for x in self._own() if x.decl.name in names)
        return tuple((x, x.node in taken) for f in own for x in loops(f, self._places))

    def does_nothing(self, item: Item) -> bool:
        """Whether a function does the same without a statement."""
        return all(_says_nothing(n) or _declares(n) for n in item.nodes)

    def may_loop(self, item: Item) -> bool:
        """Whether a statement holds a loop, or a call that may stand for one."""
        called = (isinstance(x, c_ast.FuncCall) for n in item.nodes for x in every(n))
        return self.has_loop(item) or any(called)

    def region(self, name: str, owner: Definition, items: Sequence[Item]) -> Region:
        """Consecutive statements."""
        nodes = tuple(x for i in items for x in i.nodes)
        end = items[-1].end
        return Region(name, owner, nodes, self.conditionals.widened(items[0].start, end), end)

    def variables(self, d: Definition) -> Variables:
        """Those of a function."""
        if d.name not in self._known:
            fresh = frozenset(map(id, fresh_statics(d.node, self._is_harmless)))
            self._known[d.name] = Variables(d.node, self._types, fresh)
        return self._known[d.name]

    def _is_harmless(self, name: str) -> bool:
        """Whether a function certainly calls no other ones of the program."""
        return name not in self.definitions and pure(name, declared=False) is not None

    @cached_property
    def _globals(self) -> dict[str, c_ast.Node]:
        """The variables and the functions of the file."""
        found = (x.decl if isinstance(x, c_ast.FuncDef) else x for x in self.ast.ext)
        return {x.name: x for x in found if isinstance(x, c_ast.Decl) and x.name}


def _declares(node: c_ast.Node) -> bool:
    """Whether it declares something that has no value yet."""
    return isinstance(node, c_ast.Decl) and node.init is None


def _says_nothing(node: c_ast.Node) -> bool:
    """Whether the end of a function is the same without it."""
    return isinstance(node, c_ast.Pragma) or (isinstance(node, c_ast.Return) and node.expr is None)
