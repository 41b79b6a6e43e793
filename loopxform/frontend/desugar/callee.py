"""Functions of the file whose body can stand in the place of a call."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.definitions import as_inlined
from loopxform.frontend.desugar.names import changed, declared, exposed
from loopxform.frontend.desugar.one_return import returns_in_loops
from loopxform.frontend.syntax.tree import clone, every, replace_children, statements
from loopxform.ir import functions
from loopxform.records import record

MOST_NODES = 3000
_DIRECTIVE = re.compile(r"\W*loopxform\s+(data|enter|exit|update)\b")
_NEVER = (
    c_ast.Goto,
    c_ast.Label,
    c_ast.CompoundLiteral,
)


@record
class Callee:
    """A function that may be inlined. `body` has no return; `value` is what the one at its end
    gives. `sets` are the variables that it modifies (by name), parameters included, `exposed` those
    whose address it takes, `own` those it declares."""

    name: str
    params: tuple[c_ast.Decl, ...]
    returns: c_ast.Node
    body: tuple[c_ast.Node, ...]
    value: c_ast.Node | None
    sets: frozenset[str]
    own: frozenset[str]
    exposed: frozenset[str]
    loops: bool

    @property
    def is_expression(self) -> bool:
        """Whether a call is the value of an expression of the arguments, and nothing else."""
        if self.body or self.value is None:
            return False
        return not any(map(steps, every(self.value))) and not self.sets


def enumerators(ast: c_ast.FileAST) -> frozenset[str]:
    """The constants that a file declares outside of functions."""
    others = (x for n in ast.ext if not isinstance(n, c_ast.FuncDef) for x in every(n))
    return frozenset(x.name for x in others if isinstance(x, c_ast.Enumerator))


def callee(
    node: c_ast.FuncDef,
    one_return: c_ast.FuncDef,
    defined: frozenset[str],
    numbers: frozenset[str],
    calm: frozenset[str],
) -> Callee | None:
    """The function, where it may be inlined, as `one_return` says it; one that says more as a call
    than as the loops in it stays a call. `defined` are the functions of the file, `numbers` its
    enumerators, `calm` those that only compute numbers from numbers (see `is_calm`)."""
    found = _callee(as_inlined(one_return))
    if found is None or _is_better_called(as_inlined(node), defined, numbers, calm):
        return None
    return found


def _callee(node: c_ast.FuncDef) -> Callee | None:
    if node.param_decls or not isinstance(node.decl.type, c_ast.FuncDecl):
        return None
    params = _params(node.decl.type)
    returns = node.decl.type.type
    if params is None or not isinstance(returns, c_ast.TypeDecl | c_ast.PtrDecl):
        return None
    inside = list(every(node.body))
    if len(inside) > MOST_NODES or any(isinstance(n, _NEVER) for n in inside):
        return None
    if any(map(defines_type, inside)) or any(map(_is_directive, inside)):
        return None
    if any(isinstance(n, c_ast.Decl) and "static" in n.storage for n in inside):
        return None
    items = statements(node.body)
    last = items.pop() if items and isinstance(items[-1], c_ast.Return) else None
    if any(isinstance(n, c_ast.Return) for s in items for n in every(s)):
        return None
    value = last.expr if isinstance(last, c_ast.Return) else None
    sets = changed(node.body).union(_structs_changed(node.body))
    if value is not None and (chosen := _chosen(items, value, returns)) is not None:
        items, value, sets = [], chosen, changed(chosen)
    if value is not None and items:
        items, value = _without_names(items, value, sets | exposed(node.body))
    if (value is None) != build.is_void(returns):
        return None
    if {p.name for p in params} & declared(node.body):
        return None
    loops = any(isinstance(n, c_ast.For | c_ast.While | c_ast.DoWhile) for n in inside)
    own = declared(node)
    return Callee(
        node.decl.name,
        params,
        returns,
        tuple(map(clone, items)),
        None if value is None else clone(value),
        sets,
        own - {node.decl.name},
        exposed(node.body),
        loops,
    )


def _is_directive(node: c_ast.Node) -> bool:
    """Whether it is a data directive, which stays where it is."""
    text = getattr(node.string, "value", node.string) if isinstance(node, c_ast.Pragma) else ""
    return _DIRECTIVE.match(text) is not None


def is_calm(
    node: c_ast.FuncDef, defined: frozenset[str], numbers: frozenset[str], calm: frozenset[str]
) -> bool:
    """Whether a function works on numbers and does nothing else, as far as its names tell. It may
    call others that are `calm`."""
    node = as_inlined(node)
    t = node.decl.type
    whole = isinstance(t, c_ast.FuncDecl) and not node.param_decls
    return whole and _works_on_numbers(node, numbers) and is_pure(node, defined, calm)


def takes_numbers(node: c_ast.FuncDef) -> bool:
    """Whether the parameters of a function look like numbers."""
    args = getattr(node.decl.type, "args", None)
    params = args.params if args is not None else []
    return all(isinstance(getattr(p, "type", None), c_ast.TypeDecl) for p in params)


def _works_on_numbers(node: c_ast.FuncDef, numbers: frozenset[str]) -> bool:
    """Whether a function depends on parameters that look like numbers, and on enumerators alone."""
    if not takes_numbers(node):
        return False
    inside = list(every(node.body))
    called = {cast(Any, n).name.name for n in inside if _named(n)}
    used = {n.name for n in inside if isinstance(n, c_ast.ID)} - called
    fields = {n.field.name for n in inside if isinstance(n, c_ast.StructRef)}
    return used <= declared(node) | numbers | fields


def _is_better_called(
    node: c_ast.FuncDef, defined: frozenset[str], numbers: frozenset[str], calm: frozenset[str]
) -> bool:
    """Whether a function of numbers, which depends on nothing else but `numbers`, holds loops that
    do not count, or bytes of variables: in the place of the call they would keep the loop around
    from being judged."""
    if not _works_on_numbers(node, numbers):
        return False
    inside = list(every(node.body))
    if any(isinstance(n, c_ast.Switch) for n in inside):
        return False
    if any(map(_reinterprets, inside)):
        return True
    odd = any(map(_is_odd_loop, inside)) or returns_in_loops(node)
    return odd and is_pure(node, defined, calm)


def _reinterprets(n: c_ast.Node) -> bool:
    """Whether a node looks at the bytes of a variable: `*(int *)&x`, `memcpy(&i, &x, 4)`."""
    match n:
        case c_ast.UnaryOp(op="*", expr=c_ast.Cast(expr=c_ast.UnaryOp(op="&"))):
            return True
        case c_ast.FuncCall(name=c_ast.ID(name="memcpy" | "__builtin_memcpy"), args=args) if args:
            return any(isinstance(x, c_ast.UnaryOp) and x.op == "&" for x in args.exprs[:2])
        case _:
            return False


def _structs_changed(node: c_ast.Node) -> Iterator[str]:
    """The structs of which a member is assigned or stepped, or the address of a member taken."""
    for n in every(node):
        target: c_ast.Node | None = None
        if isinstance(n, c_ast.Assignment):
            target = n.lvalue
        elif isinstance(n, c_ast.UnaryOp) and n.op in ("++", "--", "p++", "p--", "&"):
            target = n.expr
        member = False
        while isinstance(target, c_ast.ArrayRef | c_ast.StructRef):
            member = isinstance(target, c_ast.StructRef) and target.type == "."
            target = target.name
        if member and isinstance(target, c_ast.ID):
            yield target.name


def _named(n: c_ast.Node) -> bool:
    return isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID)


def _is_odd_loop(n: c_ast.Node) -> bool:
    if isinstance(n, c_ast.While | c_ast.DoWhile | c_ast.Break):
        return True
    if not isinstance(n, c_ast.For):
        return False
    if n.init is None or n.cond is None:
        return True
    step = n.next.rvalue if isinstance(n.next, c_ast.Assignment) else n.next
    by = isinstance(n.next, c_ast.Assignment) and n.next.op in ("+=", "-=")
    return not (isinstance(step, c_ast.UnaryOp) or (by and isinstance(step, c_ast.Constant)))


def _chosen(items: list[c_ast.Node], value: c_ast.Node, returns: c_ast.Node) -> c_ast.Node | None:
    """`c ? x : y` where the body is `T r; if (c) r = x; else r = y; return r;`."""
    match items, value:
        case [c_ast.Decl(name=name, init=None), c_ast.If() as s], c_ast.ID(name=result) if (
            name == result
        ):
            return _choice(s, name, returns)
        case _:
            return None


def _choice(s: c_ast.Node | None, name: str, returns: c_ast.Node) -> c_ast.Node | None:
    match s:
        case c_ast.Compound(block_items=[only]):
            return _choice(only, name, returns)
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target)) if target == name:
            return build.cast_to(returns, s.rvalue)
        case c_ast.If():
            then = _choice(s.iftrue, name, returns)
            orelse = _choice(s.iffalse, name, returns)
            if then is None or orelse is None:
                return None
            return build.choice(s.cond, then, orelse)
        case _:
            return None


def _without_names(
    items: list[c_ast.Node], value: c_ast.Node, changed: Collection[str]
) -> tuple[list[c_ast.Node], c_ast.Node]:
    """An expression alone, where the statements in front of it only name places (`int *d = s->a;`)
    or what is used once; else both as they are. `changed` are names that may get other values."""
    named = dict[str, c_ast.Node]()
    for s in items:
        if not isinstance(s, c_ast.Decl) or s.name in changed or s.storage:
            return items, value
        if s.init is None or isinstance(s.init, c_ast.InitList):
            return items, value
        if any({"volatile", "_Atomic"} & set(getattr(x, "quals", None) or ()) for x in every(s)):
            return items, value
        later = [*items[items.index(s) + 1 :], value]
        uses = sum(isinstance(x, c_ast.ID) and x.name == s.name for n in later for x in every(n))
        if not isinstance(s.type, c_ast.PtrDecl) and (uses > 1 or not _is_number(s.type)):
            return items, value
        named[s.name] = build.cast_to(s.type, _with(s.init, named))
    if any(steps(x) or isinstance(x, c_ast.FuncCall) for n in (*items, value) for x in every(n)):
        return items, value
    return [], _with(value, named)


def _is_number(t: c_ast.Node) -> bool:
    return isinstance(t, c_ast.TypeDecl) and isinstance(t.type, c_ast.IdentifierType)


def _with(node: c_ast.Node, named: Mapping[str, c_ast.Node]) -> c_ast.Node:
    """A copy of an expression with what names stand for."""

    def change(n: c_ast.Node) -> c_ast.Node:
        if isinstance(n, c_ast.ID):
            return clone(named[n.name]) if n.name in named else n
        if isinstance(n, c_ast.StructRef):
            n.name = change(n.name)
        else:
            replace_children(n, change)
        return n

    return change(clone(node))


def _params(t: c_ast.FuncDecl) -> tuple[c_ast.Decl, ...] | None:
    """The parameters, each with the type it has inside the function; None where one is not a
    number or a pointer with a name."""
    out = []
    for p in t.args.params if t.args else ():
        if isinstance(p, c_ast.Typename) and build.is_void(p.type):
            continue
        if not isinstance(p, c_ast.Decl) or not p.name:
            return None
        if isinstance(p.type, c_ast.ArrayDecl):
            out.append(build.local(p.name, build.pointer_to(p.type.type), p))
        elif isinstance(p.type, c_ast.TypeDecl | c_ast.PtrDecl):
            out.append(build.local(p.name, p.type, p))
        else:
            return None
    return tuple(out)


def defines_type(n: c_ast.Node) -> bool:
    """Whether a node gives a type, a tag or enumerators a meaning."""
    if isinstance(n, c_ast.Struct | c_ast.Union):
        return n.decls is not None
    return isinstance(n, c_ast.Typedef | c_ast.Enum)


def steps(n: c_ast.Node) -> bool:
    """Whether a node itself modifies something."""
    if isinstance(n, c_ast.UnaryOp):
        return n.op in ("++", "p++", "--", "p--")
    return isinstance(n, c_ast.Assignment)


def calls(n: c_ast.Node, defined: frozenset[str]) -> bool:
    """Whether a node is a call of something that may have effects: `defined` are the functions of
    the file, which may hide those of the library."""
    if not isinstance(n, c_ast.FuncCall):
        return False
    if not isinstance(n.name, c_ast.ID) or n.name.name in defined:
        return True
    return not functions.is_known(n.name.name)


def is_pure(body: c_ast.Node, defined: frozenset[str], calm: frozenset[str] = frozenset()) -> bool:
    """Whether statements modify nothing but what they declare, and call nothing that might: those
    that are `calm` do not."""
    own = [n for n in every(body) if isinstance(n, c_ast.Decl)]
    pointers = {n.name for n in own if isinstance(n.type, c_ast.PtrDecl)}
    names = {n.name for n in own}
    for n in every(body):
        if calls(n, defined) and not (_named(n) and cast(Any, n).name.name in calm):
            return False
        if not steps(n):
            continue
        target = cast(Any, n).lvalue if isinstance(n, c_ast.Assignment) else cast(Any, n).expr
        if isinstance(target, c_ast.ArrayRef):
            while isinstance(target, c_ast.ArrayRef):
                target = target.name
            names_here = names - pointers
        else:
            while isinstance(target, c_ast.StructRef) and target.type == ".":
                target = target.name
            names_here = names
        if not isinstance(target, c_ast.ID) or target.name not in names_here:
            return False
    return True
