"""Calls of functions of the same file become what the functions do.

    y = sq(x);          ->  y = (float)((float)x * (float)x);      the body is one expression
    set(a, i);          ->  { a[i] = 1; }                          the body is a list of statements
    y = total(a, n);    ->  float t; { ...; t = s; } y = t;        ... that ends with a value

Parameters are replaced by arguments that keep their value meanwhile, and become variables
otherwise. Everything else the function declares gets a name of its own; names of the file stay
names of the file. A call that is not evaluated for certain, or whose effects could mix with those
of the expression around it, is left alone, and so is recursion.
"""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.callee import MOST_NODES as MOST_OF_CALLEE
from loopxform.frontend.desugar.callee import Callee, calls, defines_type, is_pure, steps
from loopxform.frontend.desugar.copying import Copier
from loopxform.frontend.desugar.names import Fresh, declared, exposed, is_of_file, mentioned, shown
from loopxform.frontend.syntax.tree import below, every, replace_children, statements
from loopxform.ir.functions import is_known
from loopxform.records import record

DEEPEST = 8
MOST_NODES = 20000
"""What a function with loops may grow by; one without matters to its callers alone, and only as
long as it is small."""
_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_NEVER_PLAIN = (c_ast.While, c_ast.DoWhile, c_ast.Break, c_ast.Continue, c_ast.Switch)


def inline(node: c_ast.FuncDef, known: Mapping[str, Callee], file: FileNames, fresh: Fresh) -> None:
    """Rewrites the body of `node` in place."""
    names = {n.name.name for n in every(node.body)
             if isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID)}  # fmt: skip
    own = declared(node)
    types = any(map(defines_type, every(node.body)))
    usable = {k: v for k, v in known.items() if k not in own and k != node.decl.name}
    if types or not names & usable.keys():
        return
    _Inliner(usable, own, file, fresh).run(node)


@record
class FileNames:
    """What is declared outside of functions: functions that are defined, and arrays."""

    functions: frozenset[str]
    arrays: frozenset[str]


class _Inliner:
    def __init__(
        self,
        known: Mapping[str, Callee],
        own: frozenset[str],
        file: FileNames,
        fresh: Fresh,
    ) -> None:
        self.known = known
        self.own = own
        self.file = file
        self.fresh = fresh
        self.private: set[str] = set()
        self.active: list[str] = []
        self.room = 0
        self.plain: dict[str, bool] = {}
        self.loops = 0

    def run(self, node: c_ast.FuncDef) -> None:
        loops = any(isinstance(n, _LOOPS) for n in every(node.body))
        self.room = MOST_NODES if loops else MOST_OF_CALLEE
        self.private = set(declared(node) - exposed(node.body))
        (node.body,) = self.statement(node.body)

    # ------------------------------------------------------------ statements

    def body(self, node: c_ast.Node) -> c_ast.Node:
        """A body or a branch."""
        items = [x for s in statements(node) for x in self.statement(s)]
        if len(items) == 1 and not isinstance(items[0], c_ast.Decl):
            return items[0]
        return build.block(items, node)

    def statement(self, s: c_ast.Node) -> list[c_ast.Node]:
        """The statements that `s` becomes."""
        match s:
            case c_ast.Compound():
                return [build.block((x for i in statements(s) for x in self.statement(i)), s)]
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                for part in ("init", "cond", "next"):
                    if getattr(s, part, None) is not None:
                        setattr(s, part, self.value(getattr(s, part)))
                self.loops += 1
                s.stmt = self.body(s.stmt)
                self.loops -= 1
                return [s]
            case c_ast.If():
                before, s.cond = self.hoisted(s.cond, any_effect=True, certain=False)
                s.iftrue = self.body(s.iftrue)
                s.iffalse = self.body(s.iffalse) if s.iffalse is not None else None
                return [*before, s]
            case c_ast.Switch() | c_ast.Label():
                s.stmt = self.body(s.stmt)
                return [s]
            case c_ast.Case() | c_ast.Default():
                s.stmts = [x for i in s.stmts for x in self.statement(i)]
                return [s]
            case c_ast.FuncCall() if (callee := self.callee(s)) is not None:
                before, call = self.hoisted(s, outermost=False)
                if isinstance(call, c_ast.FuncCall):
                    call = self.expanded(call, callee, None)
                return [*before, call]
            case c_ast.Assignment():
                before, s.rvalue = self.hoisted(s.rvalue, any_effect=self._is_apart(s))
                more, s.lvalue = self.hoisted(s.lvalue)
                return [*before, *more, s]
            case c_ast.Decl():
                if s.init is None or s.storage or isinstance(s.init, c_ast.InitList):
                    return [s]
                before, s.init = self.hoisted(s.init, any_effect=True)
                return [*before, s]
            case c_ast.Return() if s.expr is not None:
                before, s.expr = self.hoisted(s.expr, any_effect=True)
                return [*before, s]
            case _:
                return [s]

    def _is_apart(self, s: c_ast.Assignment) -> bool:
        """Whether the target of an assignment is the same before and after a call in its value.
        What `+=` adds to is read behind the call (C11 6.5.16.2p3)."""
        return isinstance(s.lvalue, c_ast.ID) or self._keeps_value(s.lvalue, pointer=True)

    # ------------------------------------------------------------ expressions

    def value(self, e: c_ast.Node) -> c_ast.Node:
        """`e` with the calls that are expressions replaced."""
        return self._value(e) if self._may_change(e) else e

    def _may_change(self, e: c_ast.Node) -> bool:
        """Whether `e` holds a call that may be replaced: most expressions of a file hold none, and
        to rewrite each takes longer than to look."""
        calls = (n.name for n in every(e) if isinstance(n, c_ast.FuncCall))
        return any(isinstance(name, c_ast.ID) and name.name in self.known for name in calls)

    def _value(self, e: c_ast.Node) -> c_ast.Node:
        replace_children(e, self._value)
        callee = self.callee(e)
        if callee is None or not callee.is_expression or not isinstance(e, c_ast.FuncCall):
            return e
        given = arguments(e)
        if any(steps(n) or calls(n, self.file.functions) for a in given for n in every(a)):
            return e
        copier = self.copier(callee)
        for p, a in zip(callee.params, given):
            copier.replace(p, a)
        assert callee.value is not None
        made = build.cast_to(copier.copy(callee.returns), copier.copy(callee.value))
        self.room -= sum(1 for _ in every(made))
        self.active.append(callee.name)
        made = self._value(made)
        self.active.pop()
        return made

    def hoisted(
        self,
        e: c_ast.Node,
        *,
        outermost: bool = True,
        any_effect: bool = False,
        certain: bool = True,
    ) -> tuple[list[c_ast.Node], c_ast.Node]:
        """`e` with its calls replaced, and the statements that must run before it. `any_effect`
        allows a call in it that modifies anything, where the rest of `e` is the same before and
        after it; only one that can be understood, where it is not `certain` to be all of `e`."""
        if not self._may_change(e):
            return [], e
        e = self._value(e)
        before: list[c_ast.Node] = []

        def visit(n: c_ast.Node, *, top: bool) -> c_ast.Node:
            for_certain = list(below(n))
            if isinstance(n, c_ast.TernaryOp) or (
                isinstance(n, c_ast.BinaryOp) and n.op in ("&&", "||")
            ):
                for_certain = for_certain[:1]
            if isinstance(n, c_ast.UnaryOp) and n.op == "sizeof":
                return n
            replace_children(
                n, lambda x: visit(x, top=False) if any(x is y for y in for_certain) else x
            )
            callee = self.callee(n)
            if callee is None or callee.value is None or (top and not outermost):
                return n
            assert isinstance(n, c_ast.FuncCall)
            apart = any_effect and (top or self._is_apart_from(e, n))
            if apart and not (top and certain) and not self._is_plain(callee):
                apart = False
            result = self.fresh.name(f"{callee.name}_value")
            made = self.expanded(n, callee, result)
            whole = build.block([build.local(result, callee.returns, n), made], n)
            if not apart and not is_pure(whole, self.file.functions):
                return n
            self.private.add(result)
            before.extend([build.local(result, self.copier(callee).copy(callee.returns), n), made])
            return build.name(result, n)

        return before, visit(e, top=True)

    def _is_plain(self, callee: Callee) -> bool:
        """Whether nothing in a function is certainly not understood."""
        if callee.name not in self.plain:
            self.plain[callee.name] = False  # of one that calls itself
            inside = [n for s in callee.body for n in every(s)]
            names = {n.name.name for n in inside if isinstance(n, c_ast.FuncCall)
                     and isinstance(n.name, c_ast.ID)}  # fmt: skip
            inner = [self.known.get(name) for name in names if not is_known(name)]
            plain = not any(isinstance(n, _NEVER_PLAIN) for n in inside)
            plain = plain and all(c is not None and self._is_plain(c) for c in inner)
            self.plain[callee.name] = plain
        return self.plain[callee.name]

    def _is_apart_from(self, e: c_ast.Node, call: c_ast.Node) -> bool:
        """Whether what is around a call in an expression is computed from variables of this
        function, which no call changes."""
        inside = {id(x) for x in every(call)}
        rest = [x for x in every(e) if id(x) not in inside]
        known = all(x.name in self.private for x in rest if isinstance(x, c_ast.ID))
        return known and all(_is_arithmetic(x, pointer=False) for x in rest)

    # ------------------------------------------------------------ calls

    def callee(self, e: c_ast.Node) -> Callee | None:
        """The function that `e` calls, if its body may stand here."""
        if not isinstance(e, c_ast.FuncCall) or not isinstance(e.name, c_ast.ID):
            return None
        found = self.known.get(e.name.name)
        if found is None or found.name in self.active or len(self.active) >= DEEPEST:
            return None
        if len(arguments(e)) != len(found.params) or self.room < 0:
            return None
        # What stands outside of all loops is judged where it is defined.
        return found if self.loops or not found.loops else None

    def copier(self, callee: Callee) -> Copier:
        copier = Copier(callee, self.fresh)
        handed = {new for n, new in copier.names.items() if n in callee.exposed}
        self.private |= set(copier.names.values()) - handed
        return copier

    def expanded(self, call: c_ast.FuncCall, callee: Callee, result: str | None) -> c_ast.Node:
        """The block that does what the call does; `result` is set to its value."""
        copier = self.copier(callee)
        start: list[c_ast.Node] = []
        for p, a in zip(callee.params, arguments(call)):
            steady = p.name not in callee.sets and self._is_steady(a, p)
            if steady or self._is_looked_at(callee, p, a):
                copier.replace(p, a)
        for p, a in zip(callee.params, arguments(call)):
            if p.name not in copier.replaced:
                d = copier.copy(p)
                assert isinstance(d, c_ast.Decl)
                d.init = a
                start.append(d)
        items = [copier.copy(s) for s in callee.body]
        if callee.value is not None:
            value = copier.copy(callee.value)
            items.append(build.assignment(result, value, value) if result is not None else value)
        made = build.block([*start, *items], call)
        self.room -= sum(1 for _ in every(made))
        self.active.append(callee.name)
        (out,) = self.statement(made)
        self.active.pop()
        return out

    def _is_looked_at(self, callee: Callee, p: c_ast.Decl, a: c_ast.Node) -> bool:
        """Whether a parameter is a struct that leads a function which modifies nothing to elements
        of arrays: the members of the argument have the same values."""
        whole = [*callee.body, *((callee.value,) if callee.value is not None else ())]
        inside = [n for s in whole for n in every(s)]
        bases = {id(n.name) for n in inside if isinstance(n, c_ast.StructRef) and n.type == "."}
        uses = [n for n in inside if isinstance(n, c_ast.ID) and n.name == p.name]
        led = (n.name for n in inside if isinstance(n, c_ast.ArrayRef))
        leads = any(isinstance(m, c_ast.StructRef) and m.name in uses for m in led)
        if not leads or not all(id(n) in bases for n in uses):
            return False
        if p.name in callee.sets | callee.exposed or not _is_object(a):
            return False
        if any(steps(n) or calls(n, self.file.functions) for n in every(a)):
            return False
        return is_pure(build.block(whole, a), self.file.functions)

    def _is_steady(self, a: c_ast.Node, p: c_ast.Decl) -> bool:
        """Whether an argument is a small expression that has one value all through the call."""
        if isinstance(a, c_ast.UnaryOp) and a.op == "&" and isinstance(a.expr, c_ast.ID):
            return True
        small = sum(1 for _ in every(a)) <= 16
        return small and self._keeps_value(a, pointer=isinstance(p.type, c_ast.PtrDecl))

    def _keeps_value(self, a: c_ast.Node, *, pointer: bool) -> bool:
        """Whether an expression (the place of an array element, with `pointer`) is computed from
        what a call cannot change: variables of this function, arrays of the file."""
        known = all(n in self.private or self._is_file_array(n) for n in mentioned(a))
        return known and all(_is_arithmetic(n, pointer=pointer) for n in every(a)) and not _reads(a)

    def _is_file_array(self, name: str) -> bool:
        return shown(name) in self.file.arrays and (is_of_file(name) or name not in self.own)


def arguments(call: c_ast.FuncCall) -> list[c_ast.Node]:
    return list(call.args.exprs) if call.args is not None else []


def _is_object(a: c_ast.Node) -> bool:
    """Whether an expression names an object: `p[i]`, `*p`, `s->q`."""
    named = isinstance(a, c_ast.ID | c_ast.ArrayRef | c_ast.StructRef)
    return named or (isinstance(a, c_ast.UnaryOp) and a.op == "*")


def _is_arithmetic(n: c_ast.Node, *, pointer: bool) -> bool:
    if isinstance(n, c_ast.UnaryOp):
        return n.op in ("-", "+", "~", "!") or (pointer and n.op == "&")
    if isinstance(n, c_ast.ArrayRef):
        return pointer
    kinds = c_ast.ID | c_ast.Constant | c_ast.BinaryOp | c_ast.Cast | c_ast.Typename
    types = c_ast.TypeDecl | c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.IdentifierType
    return isinstance(n, kinds | types)


def _reads(a: c_ast.Node) -> bool:
    """Whether a subscript in a pointer expression is itself read from an array."""
    return any(
        isinstance(x, c_ast.ArrayRef)
        for n in every(a)
        if isinstance(n, c_ast.ArrayRef)
        for x in every(n.subscript)
    )
