"""The data directives of a file: what each governs, and what its arrays are in C.

#pragma loopxform data copyin(A[0:n])   A: &(A)[0], n elements of sizeof (A)[0] bytes
{ ... }
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from loopxform.errors import InputError
from loopxform.frontend.desugar.names import changed
from loopxform.frontend.pragmas.annotated import word_place
from loopxform.frontend.pragmas.annotations import Malformed
from loopxform.frontend.pragmas.data import DataDirective, Section, directive, is_data
from loopxform.frontend.pragmas.directives import pragma_text
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import below, every
from loopxform.records import record
from loopxform.source import Loc

MALFORMED = "LX255"
LEFT = "LX257"
LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
Scope = Mapping[str, c_ast.Node]


@record
class KeptArray:
    """An array of a directive: the word of its clause, what the user calls it, and C expressions
    for its first element, how many there are, and the bytes of one."""

    word: str
    label: str
    address: str
    count: str
    element: str


@record
class Placed:
    """A data directive where it stands: in the `function`, in front of the statement `governed`,
    which only `data` has."""

    directive: DataDirective
    pragma: c_ast.Pragma
    function: c_ast.FuncDef
    governed: c_ast.Node | None
    arrays: tuple[KeptArray, ...]
    loc: Loc | None


def data_directives(ast: c_ast.FileAST, places: Places) -> tuple[Placed, ...]:
    """All of a file, in text order. Raises InputError for one that says nothing meaningful, or
    stands where it cannot."""
    outside: dict[str, c_ast.Node] = {}
    out: list[Placed] = []
    for node in ast.ext:
        if is_directive(node):
            help = "write it in a function, in front of a statement"
            raise _error(node, places, "stands outside of functions", help)
        if isinstance(node, c_ast.Decl | c_ast.Typedef) and node.name:
            outside[node.name] = node
        if isinstance(node, c_ast.FuncDef):
            outside[node.decl.name] = node.decl
            if any(map(is_directive, every(node.body))):
                out += _Reader(node, places, outside).found
    return tuple(out)


def is_directive(node: c_ast.Node) -> TypeGuard[c_ast.Pragma]:
    """Whether a node is a data directive."""
    return isinstance(node, c_ast.Pragma) and is_data(pragma_text(node))


class _Reader:
    """The directives of one function."""

    def __init__(self, function: c_ast.FuncDef, places: Places, outside: Scope) -> None:
        self.function, self.places = function, places
        self.changed = changed(function.body)
        self.types = {n: x for n, x in outside.items() if isinstance(x, c_ast.Typedef)}
        args = function.decl.type.args
        params = [p for p in (args.params if args else ()) if isinstance(p, c_ast.Decl) and p.name]
        self.params = {id(p) for p in params}
        self.found: list[Placed] = []
        self._statement(function.body, {**outside, **{p.name: p for p in params}})

    def _statement(self, node: c_ast.Node, scope: Scope) -> None:
        items = _items(node)
        inner = dict(scope)
        if items is None:
            if isinstance(node, c_ast.For) and isinstance(node.init, c_ast.DeclList):
                inner |= {d.name: d for d in node.init.decls}
            for x in below(node):
                self._statement(x, inner)
            return
        for n, x in enumerate(items):
            if isinstance(x, c_ast.Decl) and x.name:
                inner[x.name] = x
            if is_directive(x):
                self._require_braces(node, x)
                self.found.append(self._placed(x, items[n + 1 :], inner))
            self._statement(x, inner)

    def _require_braces(self, block: c_ast.Node, pragma: c_ast.Pragma) -> None:
        """A branch that is a pragma and a statement is a block to the parser."""
        line = getattr(pragma.coord, "line", 0)
        if isinstance(block, c_ast.Compound) and getattr(block.coord, "line", 0) == line:
            help = "write braces around it and the statement behind it"
            raise _error(pragma, self.places, "stands where one statement is due", help)

    def _placed(self, pragma: c_ast.Pragma, behind: Sequence[c_ast.Node], scope: Scope) -> Placed:
        try:
            said = directive(pragma_text(pragma))
            assert said is not None
            arrays = tuple(self._array(c.word, s, scope) for c, s in said.sections)
        except Malformed as why:
            loc, width = word_place(pragma, self.places, why.at, why.word)
            raise InputError(
                why.message, loc=loc, code=MALFORMED, help=why.help, width=width
            ) from why
        governed = None
        if said.kind == "data":
            governed = self._governed(pragma, behind)
        loc, _ = word_place(pragma, self.places, 0, "loopxform")
        return Placed(said, pragma, self.function, governed, arrays, loc)

    def _governed(self, pragma: c_ast.Pragma, behind: Sequence[c_ast.Node]) -> c_ast.Node:
        """The statement behind a `data`, which no jump leaves."""
        node = next((x for x in behind if not isinstance(x, c_ast.Pragma)), None)
        if node is None or isinstance(node, c_ast.Decl):
            what = "nothing" if node is None else "a declaration"
            help = "write it in front of a block, a loop or a call"
            raise _error(pragma, self.places, f"stands in front of {what}", help)
        jump = next(_jumps(node, self.function.body), None)
        if jump is not None:
            raise InputError(
                "a jump leaves or enters a data region, which ends at its last brace",
                loc=self.places.node(jump),
                code=LEFT,
                help="leave the block at its end, or write enter data and exit data",
            )
        return node

    def _array(self, word: str, s: Section, scope: Scope) -> KeptArray:
        """Raises Malformed where it is not known what the elements are."""
        decl = scope.get(s.name)
        if not isinstance(decl, c_ast.Decl) or isinstance(decl.type, c_ast.FuncDecl):
            help = "name arrays or pointers that are declared in front of the directive"
            raise Malformed(s.at, s.name, f"'{s.name}' is no array here", help)
        if s.array == s.name and self._derived(decl.type) is None:
            help = "name arrays and pointers: numbers are passed with each call"
            raise Malformed(s.at, s.name, f"'{s.name}' is no array", help)
        if not s.dimensions:
            return self._whole(word, s, decl)
        if s.array == s.name and _is_void(self._derived(decl.type)):
            help = "name a pointer of the type of the elements"
            raise Malformed(
                s.at, s.name, f"how large the elements of '{s.name}' are is not known", help
            )
        first = s.dimensions[0]
        count = f"(long long)({first.count})"
        element = f"({s.array})[0]"
        for d in s.dimensions[1:]:
            if d.low != "0":
                help = "name whole rows: A[0:n][0:m]"
                raise Malformed(s.at, s.text, f"'{s.text}' is no range of memory", help)
            count = f"sizeof {element} == (size_t)({d.count}) * sizeof {element}[0] ? {count} : -1"
            element += "[0]"
        return KeptArray(
            word, s.text, f"&({s.array})[{first.low}]", count, f"sizeof ({s.array})[0]"
        )

    def _whole(self, word: str, s: Section, decl: c_ast.Decl) -> KeptArray:
        """An array that is named without its elements."""
        derived = self._derived(decl.type)
        dim = derived.dim if isinstance(derived, c_ast.ArrayDecl) else None
        if s.array == s.name and dim is not None and id(decl) not in self.params:
            return KeptArray(word, s.text, f"&({s.array})", "1", f"sizeof ({s.array})")
        named = (
            {x.name for x in every(dim) if isinstance(x, c_ast.ID)} if dim is not None else set()
        )
        if s.array != s.name or dim is None or named & self.changed:
            help = f"say which: {s.text}[0:n]"
            message = f"how many elements '{s.text}' has is not known"
            raise Malformed(s.at, s.text, message, help)
        count = f"(long long)({CGenerator().visit(dim)})"
        return KeptArray(word, s.text, f"&({s.array})[0]", count, f"sizeof ({s.array})[0]")

    def _derived(self, t: c_ast.Node) -> c_ast.ArrayDecl | c_ast.PtrDecl | None:
        """A type that has elements, behind the names of types."""
        for _ in range(len(self.types) + 1):
            if isinstance(t, c_ast.ArrayDecl | c_ast.PtrDecl):
                return t
            inner = t.type if isinstance(t, c_ast.TypeDecl) else None
            name = inner.names[-1] if isinstance(inner, c_ast.IdentifierType) else ""
            if name not in self.types:
                return None
            t = self.types[name].type
        return None


def _is_void(t: c_ast.ArrayDecl | c_ast.PtrDecl | None) -> bool:
    """Whether the elements are of the type void."""
    inner = t.type if t is not None else None
    named = inner.type if isinstance(inner, c_ast.TypeDecl) else None
    return isinstance(named, c_ast.IdentifierType) and named.names == ["void"]


def _items(node: c_ast.Node) -> list[c_ast.Node] | None:
    """The statements of a block; None where it is none."""
    match node:
        case c_ast.Compound():
            return node.block_items or []
        case c_ast.Case() | c_ast.Default():
            return node.stmts or []
        case _:
            return None


def _jumps(node: c_ast.Node, body: c_ast.Node) -> Iterator[c_ast.Node]:
    """The jumps out of a statement, and into it."""
    inside = list(every(node))
    own = {id(x) for x in inside}
    labels = {x.name for x in inside if isinstance(x, c_ast.Label)}
    yield from _leaving(node, labels, loops=False, switches=False)
    outer = (x for x in every(body) if isinstance(x, c_ast.Goto) and id(x) not in own)
    yield from (x for x in outer if x.name in labels)


def _leaving(
    node: c_ast.Node, labels: set[str], *, loops: bool, switches: bool
) -> Iterator[c_ast.Node]:
    match node:
        case c_ast.Return():
            yield node
        case c_ast.Break() if not (loops or switches):
            yield node
        case c_ast.Continue() if not loops:
            yield node
        case c_ast.Goto() if node.name not in labels:
            yield node
        case c_ast.Case() | c_ast.Default() if not switches:
            yield node
        case _:
            loops = loops or isinstance(node, LOOPS)
            switches = switches or isinstance(node, c_ast.Switch)
            for x in below(node):
                yield from _leaving(x, labels, loops=loops, switches=switches)


def _error(node: c_ast.Pragma, places: Places, message: str, help: str) -> InputError:
    word = pragma_text(node).split()[1]
    loc, width = word_place(node, places, 0, word)
    kind = " ".join(pragma_text(node).split()[1:3]) if word in ("enter", "exit") else word
    return InputError(f"'{kind}' {message}", loc=loc, code=MALFORMED, help=help, width=width)
