"""One function: parameters, globals, body, and what must hold for the model to be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from loopxform.frontend.desugar.names import is_static
from loopxform.frontend.lower.constants import constants
from loopxform.frontend.lower.delinearise import delinearise
from loopxform.frontend.lower.facts import Facts, follows
from loopxform.frontend.lower.forward import forward_subscripts
from loopxform.frontend.lower.opaque_effects import spared
from loopxform.frontend.lower.prototype import declaration, parameters
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.lower.resolved import Resolved
from loopxform.frontend.lower.statements import Statements
from loopxform.frontend.lower.wraparound import mark_wraparound
from loopxform.frontend.names.ctype import Array, CType, Pointer, ctype
from loopxform.frontend.names.filescope import FileScope
from loopxform.frontend.names.members import is_pointer_member
from loopxform.frontend.names.symbols import Symbol, Table
from loopxform.frontend.parsed import Note
from loopxform.frontend.pragmas.annotated import Annotations
from loopxform.frontend.syntax.places import Places
from loopxform.frontend.syntax.tree import below, every
from loopxform.ir.annotations import Annotation
from loopxform.ir.directives import Directive
from loopxform.ir.nodes import (
    Assign,
    Call,
    Cast,
    Const,
    Expr,
    Function,
    Param,
    Return,
    Routine,
    Stmt,
    Struct,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import map_body, stmt_exprs, walk, walk_expr
from loopxform.ir.visit import names as variables
from loopxform.records import record
from loopxform.source import NOWHERE


@record
class LoweredFunction:
    """The function in the loop tree, notes on what delinearisation left alone, the OpenMP
    directives in its body, and its annotations."""

    function: Function
    notes: tuple[Note, ...]
    directives: tuple[Directive, ...]
    annotations: tuple[Annotation, ...]


def lower_function(
    node: c_ast.FuncDef,
    scope: FileScope,
    places: Places,
    before: Sequence[c_ast.Pragma] = (),
    *,
    part: bool = False,
) -> LoweredFunction:
    """Lowers a function; `before` are the pragmas in front of it, `part` says that it is made of
    statements of another. Raises NotModelled, and InputError for an annotation that says nothing
    meaningful."""
    return _Lowering(node, scope, places, before, part=part).run()


class _Lowering:
    def __init__(
        self,
        node: c_ast.FuncDef,
        scope: FileScope,
        places: Places,
        before: Sequence[c_ast.Pragma],
        *,
        part: bool,
    ) -> None:
        given = node.decl.type.args.params if node.decl.type.args is not None else []
        if node.param_decls or any(isinstance(p, c_ast.ID) for p in given):
            help = "declare the parameters inside the parentheses"
            raise NotModelled("LX010", "an old-style (K&R) definition", help, node.decl)
        self.node = node
        self.places = places
        self.scope = scope
        args = node.decl.type.args
        nodes = args.params if args is not None else []
        _require_outermost(nodes, node)
        self.ellipsis = next((p for p in nodes if isinstance(p, c_ast.EllipsisParam)), None)
        found = Resolved.of(node, scope, places)
        self.resolver, self.params = found.resolver, found.params
        self.table, self.x = found.table, found.expressions
        self.facts = Facts(self.x.types, stable(self.table))
        used = [s for s in self.table.symbols if _used_global(s)]
        # Of two variables of a name, the one that all of the file sees.
        known = {s.name: s for s in sorted(used, key=lambda s: not is_static(_file_name(s)))}
        known |= {s.name: s for s in self.params}
        self.annotations = Annotations(
            self.table, places, self.facts.stable, before, known, part=part
        )
        self.statements = Statements(
            self.x, self.facts, self.annotations, node.body, scope.iterated, scope.sequential
        )

    def run(self) -> LoweredFunction:
        name = self.node.decl.name
        t = ctype(self.node.decl.type, self.resolver.typedef)
        returns = replace(t, derived=t.derived[1:])
        body = self._body(returns)
        params = tuple(self._param(s) for p in self.params for s in self._with_test(p))
        used = [s for s in self.table.symbols if _used_global(s)]
        place = {name: n for n, name in enumerate(self.scope.names)}
        used.sort(key=lambda s: len(place) if s.owner else place[_file_name(s)])
        globals = (*map(self._global, used), *self._loose())
        body = (*self._unmodelled(), *body)
        function = Function(
            name,
            params,
            self._sizes_kept(body),
            globals,
            returns.base if not returns.derived else None,
            structs=tuple(self._structs()),
            routines=self._routines(body),
            signature=self._signature(returns),
            spelling=tuple(self._spelling()),
            sequential=tuple(self.statements.sequential),
            strict_aliasing=self.scope.aliasing.strict,
            scratch=self.annotations.scratch,
            origin=self.places.origin(self.node.decl),
        )
        function = _labelled(forward_subscripts(function, self.x.types, self.node))
        done, notes = delinearise(mark_wraparound(function, self.facts), self.facts)
        told = tuple(dict.fromkeys(self._assumed(done)))
        asked = (e for e in done.assumes if not follows(e, told))
        representable = tuple(e for e in self.facts.representable if not follows(e, told))
        done = replace(done, assumes=(*asked, *told), representable=representable)
        return LoweredFunction(
            done,
            tuple(notes),
            self.statements.directives.resolved(done.body),
            self.annotations.resolved(done.body),
        )

    def _spelling(self) -> Iterator[tuple[str, str]]:
        for s in self.table.symbols:
            spelling = s.spelling or s.name
            if s.is_variable and s.ir and s.ir != spelling:
                yield s.ir, spelling

    def _assumed(self, done: Function) -> Iterator[Expr]:
        """What annotations assume of the scalars that the function has."""
        scalars = {p.name for p in done.objects}
        return (e for e in self.annotations.assumed if variables(e) <= scalars)

    # ------------------------------------------------------------ body

    def _body(self, returns: CType) -> tuple[Stmt, ...]:
        items = list(self.node.body.block_items or ())
        last = items.pop() if items and isinstance(items[-1], c_ast.Return) else None
        body = self.statements.block(items)
        if last is None:
            return body
        try:
            value = None if last.expr is None else self.x.lower(last.expr)
        except NotModelled as why:
            return (*body, self.statements.odd(why, last.expr))
        if value is not None and returns.base is not None and not isinstance(value, Const):
            value = self.x.convert(value, returns.base)
        return (*body, Return(value, origin=self.places.origin(last)))

    def _unmodelled(self) -> Iterator[Stmt]:
        """Opaque statements for parameters the loop tree cannot have."""
        if self.ellipsis is not None:
            help = "declare the parameters"
            why = NotModelled("LX015", "a variable number of arguments", help, self.ellipsis)
            yield self.statements.opaque(why)
        for s in self.params:
            if not _modelled(s) and s.decl is not None and not self._parts(s):
                odd = self.statements.opaque(_why_unmodelled(s, s.decl))
                spares, keeps = spared(s.decl, self.table)
                yield replace(odd, text=s.name, spares=spares, keeps=keeps)

    def _sizes_kept(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Wraps the body where a scalar in the size of an array is modified later."""
        for s in self.table.symbols:
            for d in s.type.derived if s.is_variable and s.kind != "global" else ():
                size = d.size if isinstance(d, Array) else None
                for name in _names(size):
                    scalar = self.table.of(name)
                    if scalar is not None and _written_after(scalar, s):
                        reason = f"'{name.name}', in the size of '{s.name}', is modified"
                        help = f"use another variable, and leave '{name.name}' alone"
                        why = NotModelled("LX014", reason, help, name)
                        return (replace(self.statements.opaque(why), body=body),)
        return body

    # ------------------------------------------------------------ parameters and globals

    def _parts(self, s: Symbol) -> list[Symbol]:
        """A parameter, or what stands for the members of its structs."""
        if _modelled(s):
            return [s]
        members = (m for m in self.table.symbols if m.owner is s)
        return [part for m in members for part in self._parts(m)]

    def _with_test(self, s: Symbol) -> Iterator[Symbol]:
        """The parts of a parameter, and whether it points somewhere, where that is asked."""
        yield from self._parts(s)
        if s in self.table.given:
            yield self.table.given[s]

    def _param(self, s: Symbol) -> Param:
        assert s.type.base is not None
        assert s.decl is not None
        origin = self.places.origin(s.decl)
        first = s.type.derived[0] if s.type.derived else None
        quals = first.quals if isinstance(first, Array) else ()
        restrict = "restrict" in quals or (isinstance(first, Pointer) and first.restrict)
        return Param(
            s.ir,
            s.type.base,
            tuple(self._dimension(d) for d in s.type.derived),
            const=s.type.const,
            restrict=restrict,
            static="static" in quals,
            flat=len(s.type.derived) == 1 and self._dimension(s.type.derived[0]) is None,
            array=bool(s.type.derived),
            part_of=_whole(s),
            pointer=s.behind_pointer,
            tests=s.tests.ir if s.tests is not None else "",
            rows=s.rows,
            of_structs=s.of_structs,
            origin=origin,
        )

    def _routines(self, body: tuple[Stmt, ...]) -> tuple[Routine, ...]:
        """The functions of the file that it calls."""
        found = (x for _, s in walk(body) for e in stmt_exprs(s) for x in walk_expr(e))
        names = {x.name for x in found if isinstance(x, Call) and x.type is not None}
        known = self.scope.routines | self.x.routines
        return tuple(r for n, r in known.items() if n in names and n in self.x.routines)

    def _structs(self) -> Iterator[Struct]:
        """The structs of parameters and globals, as far as their layout is known."""
        owners = {m.owner for m in self.table.symbols}
        for s in self.table.symbols:
            inside = s.member_type is not None and not is_pointer_member(s.member_type)
            owns = not inside and s in owners
            named_so = s.ir in ("", s.name) and s.kind in ("param", "global")
            t = self.scope.layout(s.type) if owns and named_so else None
            if t is None or s.decl is None:
                continue
            first = s.type.derived[0] if s.type.derived else None
            pointer = isinstance(first, Pointer)
            dimensions = tuple(self._dimension(d) for d in s.type.derived)
            shape = s.shape if s.kind == "global" or s.owner else dimensions
            yield Struct(
                s.name,
                t,
                shape,
                const=s.type.const,
                restrict=isinstance(first, Pointer) and first.restrict,
                static="static" in s.storage,
                flat=shape == (None,),
                is_global=s.kind == "global",
                pointer=pointer,
                origin=self.places.origin(s.decl),
            )

    def _loose(self) -> Iterator[Param]:
        for s in self.table.symbols:
            if s.loose:
                assert s.type.base is not None
                yield Param(
                    s.ir,
                    s.type.base,
                    (None,),
                    flat=True,
                    is_global=True,
                    pointer=True,
                    array=True,
                    local=True,
                    origin=self.places.origin(s.decl) if s.decl else NOWHERE,
                )

    def _dimension(self, d: object) -> Expr | None:
        if not isinstance(d, Array) or d.size is None:
            return None
        if isinstance(d.size, c_ast.ID) and d.size.name == "*":
            return None
        e = self.x.lower(d.size)
        while isinstance(e, Cast) and e.type.is_integer and e.type.bytes >= 4:
            e = e.operand
        return e

    def _global(self, s: Symbol) -> Param:
        assert s.type.base is not None
        assert s.decl is not None
        static = "static" in s.storage
        return Param(
            s.ir,
            s.type.base,
            s.shape,
            const=s.type.const,
            static=static,
            flat=s.shape == (None,),
            is_global=True,
            pointer=s.behind_pointer or any(isinstance(d, Pointer) for d in s.type.derived[:1]),
            array=bool(s.type.derived),
            part_of=_whole(s),
            restrict=any(isinstance(d, Pointer) and d.restrict for d in s.type.derived[:1]),
            values=constants(s, self.scope, self.places),
            rows=s.rows,
            of_structs=s.of_structs,
            by_name=s.by_name,
            kept=is_static(_file_name(s)),
            united=s.type.united,
            origin=self.places.origin(s.decl),
        )

    # ------------------------------------------------------------ the prototype

    def _signature(self, returns: CType) -> str:
        args = self.node.decl.type.args
        inside = parameters(args, self._size_text, self.resolver.typedef)
        name = f"{self.node.decl.name}({inside})"
        return declaration(name, returns, self._size_text, self.resolver.typedef)

    def _size_text(self, node: c_ast.Node) -> str:
        if isinstance(node, c_ast.ID) and node.name == "*":
            return "*"
        if any(isinstance(x, c_ast.StructRef) for x in every(node)):
            return str(CGenerator().visit(node))
        try:
            return expr_text(self.x.lower(node))
        except NotModelled:
            return ""


def _require_outermost(params: Sequence[c_ast.Node], node: c_ast.FuncDef) -> None:
    """Raises NotModelled for qualifiers in brackets that C does not allow there (C11 6.7.6.2p1)."""
    own = (x for x in every(node.body) if isinstance(x, c_ast.Decl))
    for d, is_param in (*((p, True) for p in params), *((x, False) for x in own)):
        t = getattr(d, "type", None)
        if is_param and isinstance(t, c_ast.ArrayDecl):
            t = t.type
        while isinstance(t, c_ast.ArrayDecl | c_ast.PtrDecl):
            if isinstance(t, c_ast.ArrayDecl) and t.dim_quals:
                word = t.dim_quals[0]
                reason = f"'{word}' in brackets that are not the first of a parameter: this is no C"
                help = f"move '{word}' to the first brackets of a parameter, or leave it out"
                raise NotModelled("LX251", reason, help, d)
            t = t.type


def stable(table: Table) -> frozenset[str]:
    """Scalar parameters and globals that nothing in the function can modify."""
    out = set()
    for s in table.symbols:
        if s.kind not in ("param", "global") or not s.type.is_scalar or s.writes or s.escapes:
            continue
        if s.behind_pointer or (s.kind == "global" and not s.type.const):
            through = (p for p, x in table.stores.items() if x.within is None and not s.by_name)
            if table.calls or any(table.modifies(p, s.type) for p in through):
                continue
        if not s.type.is_any_volatile:
            out.add(s.ir)
    return frozenset(out)


def _modelled(s: Symbol) -> bool:
    if s.type.derived and not s.is_modelled_array:
        return False
    return s.type.base is not None and not s.type.is_any_volatile


def _why_unmodelled(s: Symbol, node: c_ast.Node) -> NotModelled:
    if s.type.is_any_volatile:
        return NotModelled("LX016", f"'{s.name}' is volatile", "pass an ordinary variable", node)
    help = "pass numbers, or arrays of numbers in one block of memory"
    return NotModelled("LX015", f"'{s.name}' has type {s.type}", help, node)


def _used_global(s: Symbol) -> bool:
    used = s.reads or s.writes or s.stores or s.escapes
    return s.kind == "global" and bool(used) and s.value is None and _modelled(s)


def _file_name(s: Symbol) -> str:
    """What the file calls an object of its own."""
    return str(getattr(s.decl, "name", None) or s.name)


def _whole(s: Symbol) -> str:
    """The object that a member is inside of; a pointer that is a member points elsewhere."""
    if s.member_type is None or is_pointer_member(s.member_type):
        return ""
    while s.owner is not None and not (s.member_type and is_pointer_member(s.member_type)):
        s = s.owner
    return s.ir or s.name


def _names(node: c_ast.Node | None) -> Iterator[c_ast.ID]:
    if isinstance(node, c_ast.ID):
        yield node
    for child in below(node):
        yield from _names(child)


def _written_after(scalar: Symbol, array: Symbol) -> bool:
    """Whether a scalar is modified while an array whose size it gives is in scope."""
    if scalar.span is not None and scalar.span.repeats(array.at):
        return False
    return bool(scalar.escapes) or any(w > array.at for w in scalar.writes)


def _labelled(fn: Function) -> Function:
    """Names the assignments S0, S1, ... in text order."""
    count = 0

    def name(s: Stmt) -> tuple[Stmt, ...]:
        nonlocal count
        if not isinstance(s, Assign):
            return (s,)
        count += 1
        return (replace(s, label=f"S{count - 1}"),)

    return replace(fn, body=map_body(fn.body, name))
