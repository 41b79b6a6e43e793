"""Resolving the names of a function body: scopes, shadowing, and where each name is touched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.names import is_of_file, shown, written
from loopxform.frontend.lower.pointers import is_zero, rank_left
from loopxform.frontend.lower.structs import copied_object, copies
from loopxform.frontend.names.aliasing import Aliasing
from loopxform.frontend.names.bases import addressed, base_symbol
from loopxform.frontend.names.ctype import CType, Func, ctype, enum_key, enumeration
from loopxform.frontend.names.filescope import FileScope
from loopxform.frontend.names.library import keeps_no_address, leaves_variables
from loopxform.frontend.names.lvalues import lvalue
from loopxform.frontend.names.members import is_pointer_member, member, owner_of
from loopxform.frontend.names.own_structs import OwnStructs
from loopxform.frontend.names.symbols import (
    Kind,
    Setting,
    Span,
    Store,
    Symbol,
    Table,
    Unit,
    enumerated,
    enumerator,
)
from loopxform.frontend.pragmas.directives import pragma_text
from loopxform.frontend.pragmas.openmp import identifiers
from loopxform.frontend.syntax.tree import behind_address, below
from loopxform.ir import functions
from loopxform.ir.types import INT


class Resolver:
    """One walk over a function; the result is its `Table`."""

    def __init__(self, file: FileScope) -> None:
        self.table = Table(aliasing=file.aliasing, rows_apart=file.only_judged)
        self._file = file
        self._scopes: list[dict[str, Symbol]] = [{}]
        self._globals: dict[str, Symbol] = {}
        self._place = 0
        self._units = [Unit()]
        self.own_structs = OwnStructs()
        self.records = True
        """Whether the structs of the file are those that the names of structs stand for."""

    def shadow_records(self) -> None:
        """The function has structs of its own."""
        self.records = False
        self.table.aliasing = Aliasing(strict=self._file.aliasing.strict)

    # ------------------------------------------------------------ names

    def typedef(self, name: str) -> CType | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name].type if scope[name].kind == "type" else None
        return self._file.typedef(name)

    def define(self, name: str, t: CType, kind: Kind, node: c_ast.Node) -> Symbol:
        symbol = Symbol(shown(name), t, kind, node, tuple(getattr(node, "storage", None) or ()))
        symbol.at, symbol.spelling = self._next(), written(name)
        self._scopes[-1][name] = symbol
        self.table.uses[id(node)] = symbol
        self.table.symbols.append(symbol)
        return symbol

    def _lookup(self, name: str) -> Symbol | None:
        if is_of_file(name):
            return self._global(shown(name))
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return self._global(name)

    def _global(self, name: str) -> Symbol | None:
        """This function's record of a name of the file."""
        if name not in self._globals:
            found = self._file.names.get(name)
            if found is None:
                return None
            mine = replace(found, reads=[], writes=[], stores=[], escapes=[])
            mine.by_name = name in self._file.by_name
            self._globals[name] = mine
            self.table.symbols.append(mine)
        return self._globals[name]

    def _next(self) -> int:
        self._place += 1
        return self._place

    # ------------------------------------------------------------ declarations

    def param(self, decl: c_ast.Decl) -> Symbol:
        symbol = self.define(decl.name, ctype(decl.type, self.typedef), "param", decl)
        symbol.rows = self._file.has_matrices and symbol.type.is_rows
        self._sizes(decl.type)
        return symbol

    def _decl(self, node: c_ast.Decl, kind: Kind = "local") -> Symbol | None:
        self._enum(node.type)
        if node.name is None:
            return None
        self._sizes(node.type)
        t = ctype(node.type, self.typedef)
        if t.derived and isinstance(t.derived[0], Func):
            kind = "function"
        elif "extern" in (node.storage or ()):
            # Of a type that the function declares, or else `desugar.externs` hoists it.
            kind, t = "global", CType(None, f"extern {t.spelling}")
        symbol = self.define(node.name, t, kind, node)
        if node.init is not None:
            self.visit(node.init)
            (symbol.stores if t.derived else symbol.writes).append(self._next())
            self._set(symbol, node.init)
            if not symbol.is_pointer:
                self._handed(node.init)
            if t.record and not t.derived and kind == "local":
                self._copied(node, build.name(node.name, node), node.init)
        return symbol

    def _set(self, symbol: Symbol, value: c_ast.Node | None) -> None:
        """Records an assignment to a pointer."""
        if symbol.type.derived and symbol.is_pointer:
            setting = Setting(self._place, value, self._units[-1])
            self.table.settings.setdefault(symbol, []).append(setting)

    def _sizes(self, node: c_ast.Node | None) -> None:
        """Reads of the scalars in array sizes."""
        while node is not None:
            if isinstance(node, c_ast.ArrayDecl) and node.dim is not None:
                self.visit(node.dim)
            node = getattr(node, "type", None)

    def _enum(self, node: c_ast.Node | None) -> None:
        """Local enumerations: constants counted from plain numbers only."""
        while node is not None and not isinstance(node, c_ast.Enum):
            node = getattr(node, "type", None)
        if node is None or node.values is None:
            return
        values: list[int | None] = []
        for item in node.values.enumerators:
            if isinstance(item, c_ast.Enumerator):
                values.append(enumerated(item, values[-1] if values else -1))
                symbol = self.define(item.name, CType(INT, "int"), "enum", item)
                symbol.value = enumerator(item, values[-1]).value
        t = enumeration(values) if self._file.layouts.usual(node) else None
        if t is not None:
            self.define(enum_key(node), t, "type", node)

    def _copied(self, node: c_ast.Node, target: c_ast.Node, value: c_ast.Node | None) -> None:
        """Records what a copy of a struct does to each member."""
        if value is None or not self.records:
            return
        if isinstance(node, c_ast.Decl):
            self.visit(target)
        owner = owner_of(target, self.table, self.typedef)
        if owner is None or not owner.type.record or rank_left(target, self.table.of):
            return
        if isinstance(target, c_ast.ID) and owner.type.derived:
            return
        if (owner.kind != "local" or owner.is_pointer) and self._holds_pointer(owner.type.record):
            self.table.copies_pointers = True
        record = owner.type.record
        seen = self.own_structs.seen_of(target) if owner.kind == "local" else None
        given = copied_object(value, lambda place: self._is_struct(place, record))
        if isinstance(given, c_ast.InitList) and not isinstance(node, c_ast.Decl):
            return  # a literal may read what it is given to
        made = copies(self._file.records, record, target, given, seen)
        if made is not None:
            for a in made:
                self.visit(a)
            self.table.copies[id(node)] = made

    def _is_struct(self, place: c_ast.Node, record: str) -> bool:
        """Whether a place is one struct, or an element of an array of them."""
        owner = owner_of(place, self.table, self.typedef)
        return (
            owner is not None
            and owner.type.record == record
            and not rank_left(place, self.table.of)
        )

    def _holds_pointer(self, record: str) -> bool:
        fields = self._file.records.fields.get(record, {}).values()
        inner = (t.record for t in fields if t.record and not is_pointer_member(t))
        return any(map(is_pointer_member, fields)) or any(map(self._holds_pointer, inner))

    # ------------------------------------------------------------ the walk

    def visit(self, node: c_ast.Node | None) -> None:  # noqa: C901
        """Statements and expressions in text order."""
        match node:
            case None:
                return
            case c_ast.ID():
                self._touch(node, "reads")
            case c_ast.ArrayRef() if (x := self._meant(node)) is not node:
                self.visit(x)
            case c_ast.Assignment():
                self.visit(node.rvalue)
                plain = node.op == "="
                self._written(node.lvalue, node.rvalue if plain else None, also_read=not plain)
                self._copied(node, node.lvalue, node.rvalue if plain else None)
            case c_ast.If():
                self._truth(node.cond)
                for branch in (node.iftrue, node.iffalse):
                    self._unit(branch)
            case c_ast.UnaryOp():
                self._unary(node)
            case c_ast.FuncCall():
                self._call(node)
            case c_ast.StructRef():
                self.visit(node.name)
                self._member(node)
            case c_ast.TernaryOp():
                self._truth(node.cond)
                self._unit(node.iftrue)
                self._unit(node.iffalse)
            case c_ast.BinaryOp(op="&&" | "||"):
                self._truth(node.left)
                self._units.append(Unit())
                self._truth(node.right)
                self._units.pop().end = self._next()
            case c_ast.BinaryOp(op="==" | "!="):
                self.visit(node.left)
                self.visit(node.right)
                for one, other in ((node.left, node.right), (node.right, node.left)):
                    if is_zero(other):
                        self._tested(node, one)
            case c_ast.Compound():
                self._scoped(node.block_items or ())
            case c_ast.Decl():
                self._decl(node)
            case c_ast.Typedef():
                self.define(node.name, ctype(node.type, self.typedef), "type", node)
            case c_ast.For():
                self._for(node)
            case c_ast.While() | c_ast.DoWhile():
                self._while(node)
            case c_ast.Cast():
                self._sizes(node.to_type)
                self.visit(node.expr)
            case c_ast.Goto():
                self.table.jumps = True
            case c_ast.Pragma():
                self._pragma(node)
            case c_ast.Switch():
                self.table.jumps = True
                self.visit(node.cond)
                self.visit(node.stmt)
            case _:
                for child in below(node):
                    self.visit(child)

    def _pragma(self, node: c_ast.Pragma) -> None:
        """Its names are looked up, not touched: a clause neither reads nor writes."""
        found = {name: self._lookup(name) for name in sorted(identifiers(pragma_text(node)))}
        self.table.pragmas[id(node)] = {n: s for n, s in found.items() if s is not None}

    def _scoped(self, items: Iterable[c_ast.Node]) -> None:
        self._scopes.append({})
        self._units.append(Unit())
        for item in items:
            self.visit(item)
        self._units.pop().end = self._next()
        self._scopes.pop()

    def _unit(self, node: c_ast.Node | None) -> None:
        """A branch or a loop body."""
        self._units.append(Unit())
        self.visit(node)
        self._units.pop().end = self._next()

    def _touch(self, node: c_ast.ID, how: str) -> Symbol | None:
        symbol = self._lookup(node.name)
        if symbol is not None:
            self.table.uses[id(node)] = symbol
            getattr(symbol, how).append(self._next())
        return symbol

    def _member(self, node: c_ast.StructRef) -> None:
        """Records what happens to the array that stands for a member."""
        owner = owner_of(node.name, self.table, self.typedef)
        if owner is None or not self.records:
            return
        name = self._file.records.first_name(owner.type, node.field.name)
        t = self._file.records.field(owner.type, name)
        if t is None:
            return
        if (owner, name) not in self.table.members:
            of_each = self.table.leads_to_rows(owner)
            self.table.members[owner, name] = member(owner, name, t, of_each=of_each)
            self.table.symbols.append(self.table.members[owner, name])
        symbol = self.table.uses[id(node)] = self.table.members[owner, name]
        symbol.reads.append(self._next())

    def _written(self, target: c_ast.Node, value: c_ast.Node | None, *, also_read: bool) -> None:
        target = self._meant(target)
        if isinstance(target, c_ast.ID):
            if also_read:
                self._touch(target, "reads")
            symbol = self._touch(target, "writes")
            if symbol is not None:
                self._set(symbol, value)
            if symbol is None or symbol.kind == "global" or not symbol.is_pointer:
                self._handed(value)
            return
        self.visit(target)
        self._handed(value)
        base, place = base_symbol(target, self.table), self._next()
        stored = lvalue(target, self.table, self.typedef)
        self.table.stores[place] = Store(
            stored.type, stored.within, base, stored.within is None and stored.steps == 1
        )
        if not self._member_written(target, place, value) and base is not None:
            base.stores.append(place)

    def _meant(self, node: c_ast.Node) -> c_ast.Node:
        """The scalar `x` where the node is `*&x`, else the node."""
        name = behind_address(node)
        symbol = None if name is None else self._lookup(name.name)
        return name if name is not None and symbol is not None and symbol.type.is_scalar else node

    def _member_written(self, target: c_ast.Node, place: int, value: c_ast.Node | None) -> bool:
        """Records a store to a member, or to an element of one (which leaves a pointer as it is);
        False where the target is something else."""
        element = isinstance(target, c_ast.ArrayRef)
        while isinstance(target, c_ast.ArrayRef):
            target = target.name
        symbol = self.table.of(target) if isinstance(target, c_ast.StructRef) else None
        if symbol is None:
            return False
        (symbol.stores if symbol.type.derived else symbol.writes).append(place)
        if not element:
            self._pointer_set(symbol, value)
        return True

    def _pointer_set(self, member: Symbol | None, value: c_ast.Node | None = None) -> None:
        """Records that a member has another value, where it is a pointer."""
        if member and member.member_type and is_pointer_member(member.member_type):
            self._set(member, value)

    def _unary(self, node: c_ast.UnaryOp) -> None:
        if node.op == "*" and (x := self._meant(node)) is not node:
            self.visit(x)
            return
        if node.op in ("++", "--", "p++", "p--"):
            self._written(node.expr, None, also_read=True)
        elif node.op == "&":
            self.visit(node.expr)
            self._escape(node.expr)
            if isinstance(node.expr, c_ast.ID) and (own := self.table.of(node.expr)) is not None:
                self.table.exposed.add(own)
                self._set(own, None)
            elif isinstance(node.expr, c_ast.StructRef):
                self._pointer_set(self.table.of(node.expr))
        elif node.op == "!":
            self._truth(node.expr)
        elif node.op not in ("sizeof", "_Alignof") or not isinstance(node.expr, c_ast.Typename):
            self.visit(node.expr)

    def _truth(self, node: c_ast.Node | None) -> None:
        """A condition; that of a pointer is whether it points somewhere."""
        self.visit(node)
        if node is not None:
            self._tested(node, node)

    def _tested(self, test: c_ast.Node, node: c_ast.Node) -> None:
        """Records a test of a pointer."""
        while isinstance(node, c_ast.Cast) and rank_left(node, self.table.of):
            node = node.expr
        pointer = self.table.of(node) if isinstance(node, c_ast.ID) else None
        if pointer is not None and pointer.type.derived:
            self.table.tests[id(test)] = pointer

    def _escape(self, node: c_ast.Node) -> None:
        symbol = base_symbol(node, self.table)
        if symbol is not None:
            symbol.escapes.append(self._next())

    def _handed(self, value: c_ast.Node | None) -> None:
        """Records that the addresses in a value are known elsewhere."""
        for symbol in addressed(value, self.table):
            symbol.escapes.append(self._next())

    def _call(self, node: c_ast.FuncCall) -> None:
        name = node.name.name if isinstance(node.name, c_ast.ID) else None
        symbol = None
        if name is None:
            self.visit(node.name)
        else:
            symbol = self._touch(node.name, "reads")
        leads = symbol is not None and symbol.is_variable  # a pointer, whatever it is called
        library = name if name not in self._file.own and not leads else None
        lends = library is not None and keeps_no_address(library)
        for arg in node.args.exprs if node.args else ():
            before = self._place
            self.visit(arg)
            self._handed(arg)
            if lends and isinstance(arg, c_ast.UnaryOp) and isinstance(arg.expr, c_ast.ID):
                self.table.lent.update(range(before + 1, self._place + 1))
        if library is None or not (functions.is_known(library) or leaves_variables(library)):
            routine = self._file.routine(name or "", symbol)
            given = len(node.args.exprs) if node.args else 0
            if routine is None or given != len(routine.params):
                self.table.calls.append(self._next())

    def _for(self, node: c_ast.For) -> None:
        self._scopes.append({})
        start = self._next()
        mine: list[Symbol] = []
        if isinstance(node.init, c_ast.DeclList):
            for d in node.init.decls:
                symbol = self._decl(d, "loop") if isinstance(d, c_ast.Decl) else None
                mine += [symbol] if symbol else []
        else:
            self.visit(node.init)
        header = self._next()
        self.visit(node.cond)
        self._unit(node.stmt)
        self.visit(node.next)
        self._scopes.pop()
        span = Span(start, header, self._next(), node)
        self.table.spans[id(node)] = span
        for symbol in mine:
            symbol.span = span

    def _while(self, node: c_ast.While | c_ast.DoWhile) -> None:
        start = self._next()
        self.visit(node.cond)
        self._unit(node.stmt)
        self.table.spans[id(node)] = Span(start, start, self._next(), node)
