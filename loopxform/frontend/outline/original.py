"""A user's file as text and tree: its functions, parts of them lowered, and proofs of splices."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from pycparser import c_ast

from loopxform.errors import InputError, LoopxformError, UnsupportedC
from loopxform.frontend.desugar.definitions import prototyped
from loopxform.frontend.desugar.fresh_statics import fresh_statics
from loopxform.frontend.lower.files import Around, lower_file
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.expression_types import FileTypes
from loopxform.frontend.names.library import pure
from loopxform.frontend.names.variables import Variables
from loopxform.frontend.outline.aside import asides
from loopxform.frontend.outline.blocks import Item, Nodes, block
from loopxform.frontend.outline.callers import size_parameters
from loopxform.frontend.outline.conditionals import Conditionals
from loopxform.frontend.outline.configuration import expansions
from loopxform.frontend.outline.data_texts import DataText, data_texts, innermost
from loopxform.frontend.outline.loops import Loop, is_loop, loops
from loopxform.frontend.outline.outlined import Outlined, outlined
from loopxform.frontend.outline.own_numbers import own_numbers
from loopxform.frontend.outline.reachable import Declarations
from loopxform.frontend.outline.regions import Definition, Part, Region
from loopxform.frontend.outline.returning import Returning, returning
from loopxform.frontend.outline.skeleton import Odd, Skeleton, characters
from loopxform.frontend.outline.wrappings import is_marked, is_wrapped
from loopxform.frontend.parsed import CppOptions, Parsed
from loopxform.frontend.pragmas.data_regions import data_directives, is_directive
from loopxform.frontend.syntax.layouts import Layouts, layouts
from loopxform.frontend.syntax.parsing import parse
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import clone, every
from loopxform.frontend.text import gnu
from loopxform.frontend.text.preprocess import preprocess
from loopxform.frontend.text.rawtext import continued, decode, place, strip_comments
from loopxform.frontend.text.reader import Reader
from loopxform.source import Loc


class Original:
    """The C file at `path`; `raw` is what is in it, `options` how it is preprocessed, `read` what
    came of that where it is known."""

    def __init__(
        self, path: str, raw: bytes, options: CppOptions, read: Parsed | None = None
    ) -> None:
        self.path, self.raw, self.options, self.read = path, raw, options, read
        self._known: dict[str, Variables] = {}
        self._asides: dict[str, Mapping[int, InputError]] = {}
        self._unlike: dict[str, Odd] = {}
        self._returning: dict[tuple[int, int], Returning | None] = {}
        self._sized = frozenset[str]()

    @cached_property
    def ast(self) -> c_ast.FileAST:
        """The tree of the file as it is written."""
        ast = self._first[0]
        for node in ast.ext:
            if isinstance(node, c_ast.FuncDef):
                prototyped(node)
        self._sized = size_parameters(ast)
        return ast

    @cached_property
    def text(self) -> str:
        """A character for each byte, without comments."""
        return strip_comments(characters(self.raw), self.path)

    @cached_property
    def continued(self) -> frozenset[int]:
        """See `rawtext.continued`."""
        return continued(characters(self.raw))

    @cached_property
    def conditionals(self) -> Conditionals:
        """The conditionals of the file."""
        return Conditionals(self.path, self.text, self.continued, self.options)

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """The functions of the file whose text agrees with its tree."""
        skeleton = Skeleton(self.conditionals.read)
        found: dict[str, Definition] = {}
        for node in self._own():
            name = node.decl.name
            try:
                begin, piece = skeleton.body(name, node.decl.coord.line)
                if piece.kind != "block":
                    raise Odd
                self._require_repeatable(skeleton, begin, piece.end)
                body = block(node.body.block_items or [], piece.parts)
            except Odd as odd:
                self._unlike[name] = odd
            else:
                found[name] = Definition(name, node, begin, piece.end, body)
        return found

    def unlike(self, name: str, place_of_name: Loc | None = None) -> LoopxformError:
        """Why a function is not among the `definitions`."""
        odd = self._unlike.get(name)
        if odd is None:
            odd = Odd(f"'{name}' stands in a file that is included", "offload that file")
        at = None if odd.at is None else place(self.path, self.text, odd.at)
        return UnsupportedC(
            odd.reason or f"where the statements of '{name}' begin and end is hidden by macros",
            loc=at or place_of_name,
            help=odd.help or "write loops and braces out",
        )

    def straddling(self, start: int, end: int) -> LoopxformError | None:
        """Why a conditional keeps text[start:end] from being replaced."""
        d = self.conditionals.straddling(self.conditionals.widened(start, end), end)
        return None if d is None else UnsupportedC(
            _STRADDLES.format("these statements"), loc=place(self.path, self.text, d.start),
            help=_TAKE_IN,
        )  # fmt: skip

    def _require_repeatable(self, skeleton: Skeleton, begin: int, end: int) -> None:
        """Raises Odd where it cannot be asked in front of a function which text of it is read."""
        conditionals = self.conditionals
        if (d := conditionals.straddling(begin, end)) is not None:
            raise Odd(_STRADDLES.format("the function"), _TAKE_IN, d.start)
        if (at := skeleton.directive(begin, end)) is not None:
            raise Odd("a file is included inside the function", "move the loops out of it", at)
        if (d := conditionals.unrepeatable(begin, end)) is not None:
            reason = "the condition may have another answer in front of the function"
            raise Odd(
                reason, "define the macros that it asks for in front of the function", d.start
            )

    def place(self, owner: Definition) -> Loc | None:
        """Where the name of a function stands in its definition."""
        return self._places.loc(owner.node.decl.coord, owner.name)

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

    @cached_property
    def data(self) -> tuple[DataText, ...]:
        """The data directives of the file, and where they stand in its text. Raises InputError."""
        found = data_directives(self.ast, self._places)
        texts = ((d.begin, d.end, d.body) for d in self.definitions.values())
        return data_texts(found, texts, self.unlike)

    def statement_at(self, loc: Loc) -> tuple[int, int] | None:
        """Where the function begins that has a place of the file, and the innermost statement there
        which others may stand in front of; None where that is not known."""
        if loc.file != self.path:
            return None
        lines = self.text.splitlines(keepends=True)
        at = sum(map(len, lines[: loc.line - 1])) + loc.column - 1
        for d in self.definitions.values():
            if d.begin <= at < d.end:
                start = innermost(
                    d.body, at, lambda i: self.text[:i].rstrip()[-1:] in ("{", "}", ";")
                )
                return None if start is None else (d.begin, start)
        return None

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

    @cached_property
    def _strict_aliasing(self) -> bool:
        return gnu.strict_aliasing(self._first[2], self.options.flags)

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

    @property
    def texts(self) -> tuple[str, ...]:
        """Those of the files that were read."""
        sources = self._places.sources
        return tuple(sources.text(f) or "" for f in sources.files)

    def expansions(self, owner: Definition, names: Iterable[str]) -> dict[str, str]:
        """What macros stand for in front of a function."""
        return expansions(self.path, self.raw, self.options, owner.begin, names)

    def says(self, text: bytes, marks: Mapping[str, Sequence[c_ast.Node]]) -> bool:
        """Whether `text` says what the file says, but for `marks`: calls that begin a block of the
        statements that are given with them, or that stand alone where there are none."""
        try:
            other = self._parsed(text)[0]
        except InputError:
            return False
        return is_marked(self._pristine, other, marks)

    def proves(self, text: bytes, called: Mapping[str, Region]) -> bool:
        """Whether `text` says what the file says, but that statements are wrapped (see `Wrapping`),
        once for each f, whose statements and arguments `called` gives."""
        try:
            other = self._parsed(text)[0]
        except InputError:
            return False
        wanted = {name: r.wrapping for name, r in called.items()}
        return is_wrapped(self._pristine, other, wanted)

    # ------------------------------------------------------------ parsing

    def _parsed(self, raw: bytes) -> tuple[c_ast.FileAST, Places, str]:
        reader = Reader()
        source = preprocess(self.path, decode(raw, self.path), self.options, reader)
        places = Places(source.files, reader.sources)
        tree = parse(gnu.normalise(source.text), places)
        return tree.ast, places, source.text

    @property
    def _pristine(self) -> c_ast.FileAST:
        """The tree as it was parsed, which nobody changes."""
        return self._first[3]

    @cached_property
    def _first(self) -> tuple[c_ast.FileAST, Places, str, c_ast.FileAST]:
        if self.read is None or not self.read.expanded:
            ast, places, text = self._parsed(self.raw)
        else:
            text = self.read.expanded
            places = Places(list(self.read.files), self.read.sources)
            ast = parse(gnu.normalise(text), places).ast
        return ast, places, text, cast(Any, clone(ast))

    @property
    def _places(self) -> Places:
        return self._first[1]

    @property
    def _layouts(self) -> Layouts:
        return layouts(self._first[2])

    def _own(self) -> Iterator[c_ast.FuncDef]:
        for node in self.ast.ext:
            if isinstance(node, c_ast.FuncDef) and self._places.file(node.decl.coord) == 1:
                yield node

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
    def _types(self) -> dict[str, c_ast.Node]:
        found = (x for x in self.ast.ext if isinstance(x, c_ast.Typedef))
        return {x.name: x.type for x in found}

    @cached_property
    def _globals(self) -> dict[str, c_ast.Node]:
        """The variables and the functions of the file."""
        found = (x.decl if isinstance(x, c_ast.FuncDef) else x for x in self.ast.ext)
        return {x.name: x for x in found if isinstance(x, c_ast.Decl) and x.name}


_STRADDLES = "a conditional is partly inside of {}, partly outside"
_TAKE_IN = "move the #if or the #endif, so that both are inside or both outside"


def _declares(node: c_ast.Node) -> bool:
    """Whether it declares something that has no value yet."""
    return isinstance(node, c_ast.Decl) and node.init is None


def _says_nothing(node: c_ast.Node) -> bool:
    """Whether the end of a function is the same without it."""
    return isinstance(node, c_ast.Pragma) or (isinstance(node, c_ast.Return) and node.expr is None)
