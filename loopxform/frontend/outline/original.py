"""A user's file as text and tree: its functions, parts of them lowered, and proofs of splices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from pycparser import c_ast

from loopxform.errors import InputError, LoopxformError, UnsupportedC
from loopxform.frontend.desugar.definitions import prototyped
from loopxform.frontend.lower.files import Around, lower_file
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.variables import Variables
from loopxform.frontend.outline.aside import asides, of_function
from loopxform.frontend.outline.blocks import Block, Item, Nodes, block
from loopxform.frontend.outline.configuration import expansions
from loopxform.frontend.outline.outlined import Outlined, outlined
from loopxform.frontend.outline.skeleton import Odd, Skeleton, characters
from loopxform.frontend.parsed import CppOptions
from loopxform.frontend.syntax.parsing import parse
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import clone, every
from loopxform.frontend.text import gnu
from loopxform.frontend.text.preprocess import preprocess
from loopxform.frontend.text.rawtext import continued, decode, strip_comments
from loopxform.frontend.text.reader import Reader
from loopxform.ir.annotations import Annotation
from loopxform.ir.nodes import Function
from loopxform.records import record
from loopxform.source import Loc


@record
class Definition:
    """A function of the file: text[begin:end] is its definition."""

    name: str
    node: c_ast.FuncDef
    begin: int
    end: int
    body: Block


@record
class Part:
    """Statements as a function, and the annotations in it."""

    function: Function
    annotations: tuple[Annotation, ...] = ()


@record
class Region:
    """Consecutive statements of a function: text[start:end]. A region that is `whole` is all that
    the function does; `arguments` are those of the function `name` that stands for it."""

    name: str
    owner: Definition
    nodes: Nodes
    start: int
    end: int
    whole: bool = False
    arguments: tuple[str, ...] = ()


class Original:
    """The C file at `path`; `raw` is what is in it, `options` how it is preprocessed."""

    def __init__(self, path: str, raw: bytes, options: CppOptions) -> None:
        self.path, self.raw, self.options = path, raw, options
        self._known: dict[str, Variables] = {}
        self._asides: dict[str, Mapping[int, InputError]] = {}

    @cached_property
    def ast(self) -> c_ast.FileAST:
        """The tree of the file as it is written."""
        ast = self._first[0]
        for node in ast.ext:
            if isinstance(node, c_ast.FuncDef):
                prototyped(node)
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
    def definitions(self) -> dict[str, Definition]:
        """The functions of the file whose text agrees with its tree, and holds no conditional."""
        skeleton = Skeleton(self.text)
        found: dict[str, Definition] = {}
        for node in self._own():
            try:
                begin, piece = skeleton.body(node.decl.name, node.decl.coord.line)
                if piece.kind != "block" or skeleton.has_directive(begin, piece.end):
                    continue
                body = block(node.body.block_items or [], piece.parts)
            except Odd:
                continue
            name = node.decl.name
            found[name] = Definition(name, node, begin, piece.end, body)
        return found

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
        tree = cast(Any, c_ast.FileAST)([clone(x) for x in self._with_parts(owned)])
        done = lower_file(
            tree,
            self._places,
            plain_layout=self._plain_layout,
            strict_aliasing=gnu.strict_aliasing(self._first[2], self.options.flags),
            parts=wanted,
            around=self._around,
        )
        for f in done.functions:
            if f.name in wanted:
                made[f.name] = Part(f, done.annotations.get(f.name, ()))
        made.update((n, e) for n, e in done.failed if n in wanted)
        return made

    def _with_parts(self, owned: Mapping[int, Sequence[c_ast.Node]]) -> Iterator[c_ast.Node]:
        """The file, and behind each function what stands for parts of it, each with the pragmas
        that are about the whole function. A function that no part uses is but declared."""
        parts = (part for several in owned.values() for part in several)
        defined = self._around.hidden.reached(parts) | self._declaring
        before: list[c_ast.Node] = []
        for e in self.ast.ext:
            match e:
                case c_ast.Pragma():
                    before.append(e)
                    continue
                case c_ast.FuncDef():
                    yield from (*before, e) if e.decl.name in defined else (e.decl,)
                    for part in owned.get(id(e), ()):
                        yield from (*before, *of_function(e.body, self._places), part)
                case _:
                    yield from (*before, e)
            before = []

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

    def outlined(self, r: Region) -> Outlined:
        """Raises NotModelled."""
        variables = self._variables(r.owner)
        return outlined(r.name, r.owner.node, r.nodes, variables, self._globals)

    def runs(self, owner: Definition, items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
        """The longest runs of consecutive statements which declare nothing that is used after
        them."""
        meant = self._variables(owner).meant
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
        start, end = items[0].start, items[-1].end
        return Region(owner.name, owner, tuple(nodes), start, end, whole=True, arguments=given)

    def has_loop(self, item: Item) -> bool:
        """Whether a statement holds a loop of any kind."""
        loops = c_ast.For | c_ast.While | c_ast.DoWhile
        return any(isinstance(x, loops) for n in item.nodes for x in every(n))

    def may_loop(self, item: Item) -> bool:
        """Whether a statement holds a loop, or a call that may stand for one."""
        called = (isinstance(x, c_ast.FuncCall) for n in item.nodes for x in every(n))
        return self.has_loop(item) or any(called)

    def region(self, name: str, owner: Definition, items: Sequence[Item]) -> Region:
        """Consecutive statements."""
        nodes = tuple(x for i in items for x in i.nodes)
        return Region(name, owner, nodes, items[0].start, items[-1].end)

    @property
    def texts(self) -> tuple[str, ...]:
        """Those of the files that were read."""
        sources = self._places.sources
        return tuple(sources.text(f) or "" for f in sources.files)

    def expansions(self, owner: Definition, names: Iterable[str]) -> dict[str, str]:
        """What macros stand for in front of a function."""
        return expansions(self.path, self.raw, self.options, owner.begin, names)

    def proves(self, text: bytes, called: Mapping[str, Nodes]) -> bool:
        """Whether `text` says what the file says, but that statements are wrapped: `{ if (!f(...))
        { statements } }`, once for each f, whose statements `called` gives."""
        try:
            other = self._parsed(text)[0]
        except InputError:
            return False
        wrapped = Wrapped({name: [] for name in called})
        _unwrap(other, wrapped)
        return _same(self._pristine, other) and all(
            len(wrapped[name]) == 1 and _all_same(nodes, wrapped[name][0])
            for name, nodes in called.items()
        )

    # ------------------------------------------------------------ parsing

    def _parsed(self, raw: bytes) -> tuple[c_ast.FileAST, Places, str]:
        reader = Reader()
        source = preprocess(self.path, decode(raw, self.path), self.options, reader)
        places = Places(source.files, reader.sources)
        tree = parse(gnu.normalise(source.text), places)
        return tree.ast, places, source.text

    @cached_property
    def _pristine(self) -> c_ast.FileAST:
        """The tree as it was parsed, which nobody changes."""
        return self._parsed(self.raw)[0]

    @cached_property
    def _first(self) -> tuple[c_ast.FileAST, Places, str]:
        return self._parsed(self.raw)

    @property
    def _places(self) -> Places:
        return self._first[1]

    @property
    def _plain_layout(self) -> bool:
        return gnu.plain_layout(self._first[2])

    def _own(self) -> Iterator[c_ast.FuncDef]:
        for node in self.ast.ext:
            if isinstance(node, c_ast.FuncDef) and self._places.file(node.decl.coord) == 1:
                yield node

    def _variables(self, d: Definition) -> Variables:
        if d.name not in self._known:
            self._known[d.name] = Variables(d.node, self._types)
        return self._known[d.name]

    @cached_property
    def _types(self) -> dict[str, c_ast.Node]:
        found = (x for x in self.ast.ext if isinstance(x, c_ast.Typedef))
        return {x.name: x.type for x in found}

    @cached_property
    def _globals(self) -> frozenset[str]:
        found = (x for x in self.ast.ext if isinstance(x, c_ast.Decl))
        return frozenset(x.name for x in found if x.name)


Wrapped = dict[str, list[list[c_ast.Node]]]
"""The statements in each wrapping, by the function that is called in it."""


def _says_nothing(node: c_ast.Node) -> bool:
    """Whether the end of a function is the same without it."""
    return isinstance(node, c_ast.Pragma) or (isinstance(node, c_ast.Return) and node.expr is None)


def _unwrap(node: c_ast.Node, wrapped: Wrapped) -> None:
    """Puts statements in wrappings where they were, and notes them."""
    for x in every(node):
        if isinstance(x, c_ast.Compound):
            items = [_inside(s, wrapped) for s in x.block_items or ()]
            x.block_items = [s for several in items for s in several]
        for slot in ("stmt", "iftrue", "iffalse"):
            body = getattr(x, slot, None)
            found = [] if body is None else _inside(body, wrapped)
            if len(found) == 1:
                setattr(x, slot, found[0])
            elif found:  # a statement with its pragmas
                setattr(x, slot, cast(Any, c_ast.Compound)(found, coord=found[0].coord))


def _inside(x: c_ast.Node, wrapped: Wrapped) -> list[c_ast.Node]:
    """The statements in a wrapping, else the statement itself."""
    match x:
        case c_ast.Compound(block_items=[c_ast.If() as only]):
            pass
        case _:
            return [x]
    match only:
        case c_ast.If(
            cond=cond, iftrue=c_ast.Compound(block_items=list() as inner), iffalse=None
        ) if (name := _asked(cond)) in wrapped:
            wrapped[name].append(inner)
            return inner
        case _:
            return [x]


def _asked(cond: c_ast.Node) -> str:
    """The function f of `!f(...)`."""
    match cond:
        case c_ast.UnaryOp(op="!", expr=c_ast.FuncCall(name=c_ast.ID(name=str() as name))):
            return name
        case _:
            return ""


def _all_same(a: Sequence[c_ast.Node], b: Sequence[c_ast.Node]) -> bool:
    return len(a) == len(b) and all(map(_same, a, b))


def _same(a: c_ast.Node, b: c_ast.Node) -> bool:
    """Whether two trees say the same on the same lines."""
    waiting = [(a, b)]
    while waiting:
        x, y = waiting.pop()
        if type(x) is not type(y) or getattr(x.coord, "line", 0) != getattr(y.coord, "line", 0):
            return False
        if any(getattr(x, n) != getattr(y, n) for n in x.attr_names):
            return False
        below_x, below_y = cast(Any, x).children(), cast(Any, y).children()
        if [n for n, _ in below_x] != [n for n, _ in below_y]:
            return False
        waiting += [(p, q) for (_, p), (_, q) in zip(below_x, below_y)]
    return True
