"""A user's file as text and tree: its functions and directives, places, and proofs of splices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from pycparser import c_ast

from loopxform.errors import InputError, LoopxformError, UnsupportedC
from loopxform.frontend.desugar.definitions import prototyped
from loopxform.frontend.outline.blocks import block
from loopxform.frontend.outline.callers import size_parameters
from loopxform.frontend.outline.conditionals import Conditionals
from loopxform.frontend.outline.configuration import expansions
from loopxform.frontend.outline.data_texts import DataText, data_texts, innermost
from loopxform.frontend.outline.regions import Definition, Region
from loopxform.frontend.outline.skeleton import Odd, Skeleton, characters
from loopxform.frontend.outline.wrappings import is_marked, is_wrapped
from loopxform.frontend.parsed import CppOptions, Parsed
from loopxform.frontend.pragmas.data_regions import data_directives
from loopxform.frontend.syntax.layouts import Layouts, layouts
from loopxform.frontend.syntax.parsing import parse
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import clone
from loopxform.frontend.text import gnu
from loopxform.frontend.text.preprocess import preprocess
from loopxform.frontend.text.rawtext import continued, decode, place, strip_comments
from loopxform.frontend.text.reader import Reader
from loopxform.source import Loc


class UserFile:
    """The C file at `path`; `raw` is what is in it, `options` how it is preprocessed, `read` what
    came of that where it is known."""

    def __init__(
        self, path: str, raw: bytes, options: CppOptions, read: Parsed | None = None
    ) -> None:
        self.path, self.raw, self.options, self.read = path, raw, options, read
        self._unlike: dict[str, Odd] = {}
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

    @cached_property
    def _types(self) -> dict[str, c_ast.Node]:
        found = (x for x in self.ast.ext if isinstance(x, c_ast.Typedef))
        return {x.name: x.type for x in found}

    @cached_property
    def _strict_aliasing(self) -> bool:
        return gnu.strict_aliasing(self._first[2], self.options.flags)


_STRADDLES = "a conditional is partly inside of {}, partly outside"
_TAKE_IN = "move the #if or the #endif, so that both are inside or both outside"
