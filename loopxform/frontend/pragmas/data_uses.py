"""What functions with data directives do with the arrays that these name (see `ir.data_flow`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pycparser import c_ast

from loopxform.frontend.pragmas.data_regions import Placed
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import below, every
from loopxform.ir.data_flow import Branch, Directive, Flow, Loop, Pass, Use

_FILLING = ("memcpy", "memmove", "memset", "strcpy", "strncpy", "fread", "fgets", "bzero")
"""Functions of C's library that write what their first argument leads to."""
_READING = ("fwrite", "write", "memcmp", "puts", "fputs", "printf", "fprintf", "qsort", "strlen")
_FREEING = ("free", "realloc")
_STEPS = ("++", "--", "p++", "p--")


def flows(
    ast: c_ast.FileAST, found: Sequence[Placed], places: Places
) -> dict[str, tuple[Flow, ...]]:
    """By the names of the functions that have directives."""
    prototypes = {
        d.name: d.type for x in ast.ext if isinstance(d := _declared(x), c_ast.Decl) and d.name
    }
    out: dict[str, tuple[Flow, ...]] = {}
    for function in {id(p.function): p.function for p in found}.values():
        own = [p for p in found if p.function is function]
        reader = _Reader(own, prototypes, places, function)
        out[function.decl.name] = tuple(reader.statement(function.body))
    return out


def _declared(node: c_ast.Node) -> c_ast.Node:
    return node.decl if isinstance(node, c_ast.FuncDef) else node


class _Reader:
    """The statements of one function."""

    def __init__(
        self,
        found: Sequence[Placed],
        prototypes: Mapping[str, c_ast.Node],
        places: Places,
        function: c_ast.FuncDef,
    ) -> None:
        self.directives = {id(p.pragma): p for p in found}
        self.prototypes, self.places = prototypes, places
        self.names = {s.name for p in found for _, s in p.directive.sections}
        decls = (x for x in every(function) if isinstance(x, c_ast.Decl) and x.name in self.names)
        self.ranks = {d.name: _rank(d.type) for d in decls}

    def statement(self, node: c_ast.Node | None) -> Iterator[Flow]:
        match node:
            case None:
                return
            case c_ast.Compound() | c_ast.Case() | c_ast.Default():
                items = node.block_items if isinstance(node, c_ast.Compound) else node.stmts
                yield from self._block(items or ())
            case c_ast.For():
                yield from self.expression(node.init)
                parts = (self.expression(node.cond), self.statement(node.stmt))
                yield self._loop(node, (*parts, self.expression(node.next)))
            case c_ast.While() | c_ast.DoWhile():
                yield self._loop(node, (self.expression(node.cond), self.statement(node.stmt)))
            case c_ast.If():
                yield from self.expression(node.cond)
                bodies = (self.statement(node.iftrue), self.statement(node.iffalse))
                yield Branch(tuple(map(tuple, bodies)))
            case c_ast.Switch():
                yield from self.expression(node.cond)
                yield Branch((tuple(self.statement(node.stmt)),))
            case c_ast.Label():
                yield from self.statement(node.stmt)
            case _:
                yield from self.expression(node)

    def _loop(self, node: c_ast.Node, parts: Iterable[Iterator[Flow]]) -> Loop:
        return Loop(self.places.node(node), tuple(x for part in parts for x in part))

    def _block(self, items: Sequence[c_ast.Node]) -> Iterator[Flow]:
        ends: list[Flow] = []
        for x in items:
            placed = self.directives.get(id(x))
            if placed is not None:
                begins, more = _of_directive(placed)
                yield from begins
                ends = [*more, *ends]
            elif not isinstance(x, c_ast.Pragma):
                yield from self.statement(x)
                yield from ends
                ends = []

    def expression(self, node: c_ast.Node | None) -> Iterator[Flow]:
        match node:
            case c_ast.Assignment():
                yield from self.expression(node.rvalue)
                yield from self._target(node.lvalue, reads=node.op != "=")
            case c_ast.UnaryOp(op=op) if op in _STEPS:
                yield from self._target(node.expr, reads=True)
            case c_ast.UnaryOp(op="sizeof") | c_ast.Typename():
                return
            case c_ast.FuncCall():
                yield from self._call(node)
            case c_ast.ArrayRef() | c_ast.StructRef() | c_ast.UnaryOp(op="*"):
                name = self._element(node)
                yield from self._subscripts(node)
                if name:
                    yield Use(name, self.places.node(node), reads=True, writes=False)
            case _:
                for x in below(node):
                    yield from self.expression(x)

    def _target(self, node: c_ast.Node, *, reads: bool) -> Iterator[Flow]:
        yield from self._subscripts(node)
        name = self._element(node)
        if name:
            yield Use(name, self.places.node(node), reads=reads, writes=True)

    def _subscripts(self, node: c_ast.Node | None) -> Iterator[Flow]:
        match node:
            case c_ast.ArrayRef():
                yield from self._subscripts(node.name)
                yield from self.expression(node.subscript)
            case c_ast.StructRef():
                yield from self._subscripts(node.name)
            case c_ast.UnaryOp():
                yield from self._subscripts(node.expr)
            case c_ast.ID() | None:
                return
            case _:
                yield from self.expression(node)

    def _element(self, node: c_ast.Node) -> str:
        """The array that an element, and no row, is one of; "" for anything else."""
        name, rank = self._reached(node)
        return name if name and rank >= self.ranks.get(name, 1) else ""

    def _reached(self, node: c_ast.Node) -> tuple[str, int]:
        """The array that an expression leads into, and through how many subscripts."""
        match node:
            case c_ast.ID(name=str() as name):
                return (name, 0) if name in self.names else ("", 0)
            case c_ast.ArrayRef(name=inner) | c_ast.UnaryOp(op="*", expr=inner):
                name, rank = self._reached(inner)
                return name, rank + 1
            case c_ast.StructRef(name=inner, type=kind):
                name, rank = self._reached(inner)
                return name, rank + (kind == "->")
            case c_ast.UnaryOp(op="&", expr=inner):
                name, rank = self._reached(inner)
                return name, rank - 1
            case c_ast.BinaryOp(op="+" | "-", left=left, right=right):
                return max(self._reached(left), self._reached(right))
            case c_ast.Cast(expr=inner):
                return self._reached(inner)
            case _:
                return "", 0

    def _call(self, node: c_ast.FuncCall) -> Iterator[Flow]:
        called = node.name.name if isinstance(node.name, c_ast.ID) else ""
        given = node.args.exprs if node.args is not None else []
        for n, x in enumerate(given):
            name, rank = self._reached(x)
            if not name or rank >= self.ranks.get(name, 1):
                yield from self.expression(x)
                continue
            yield from self._subscripts(x)
            loc = self.places.node(x)
            if called in (*_FILLING, *_READING, *_FREEING):
                fills = called in _FILLING and n == 0
                is_freed = called in _FREEING and n == 0
                yield Use(name, loc, not fills and not is_freed, fills, is_freed)
            else:
                yield Pass(name, loc, not self._is_const(called, n))

    def _is_const(self, called: str, n: int) -> bool:
        """Whether a prototype promises that what a pointer leads to is only read."""
        kind = self.prototypes.get(called)
        params = kind.args.params if isinstance(kind, c_ast.FuncDecl) and kind.args else []
        if n >= len(params) or not hasattr(params[n], "type"):
            return False
        t = params[n].type
        while isinstance(t, c_ast.PtrDecl | c_ast.ArrayDecl):
            t = t.type
        return isinstance(t, c_ast.TypeDecl) and "const" in (t.quals or ())


def _rank(t: c_ast.Node) -> int:
    """How many subscripts lead to an element."""
    rank = 0
    while isinstance(t, c_ast.PtrDecl | c_ast.ArrayDecl):
        rank, t = rank + 1, t.type
    return max(rank, 1)


def _of_directive(p: Placed) -> tuple[list[Flow], list[Flow]]:
    """What a directive says where it stands, and behind what it governs."""
    named: dict[str, tuple[str, ...]] = {}
    for c, s in p.directive.sections:
        named[c.word] = (*named.get(c.word, ()), s.name)
    every_name = tuple(n for names in named.values() for n in names)
    match p.directive.kind:
        case "data":
            return [Directive("begin", every_name, p.loc)], [Directive("end", every_name, p.loc)]
        case "enter data":
            return [Directive("begin", every_name, p.loc)], []
        case "exit data":
            return [Directive("end", every_name, p.loc)], []
        case _:
            updates = [
                Directive("device" if word == "device" else "host", names, p.loc)
                for word, names in named.items()
            ]
            return [*updates], []
