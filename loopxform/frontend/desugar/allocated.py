"""Memory that a function allocates for itself is an array of its own.

    double *t = malloc(n * sizeof *t); if (!t) return; S; free(t);   ->   double t[n]; S

That is so where the allocation succeeds; where it does not, the function is left. Only pointers
that are set once, and whose value is not kept anywhere, are such arrays.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.heap import HeapDecl, is_allocation, is_cleared, length
from loopxform.frontend.desugar.kinds import once
from loopxform.frontend.desugar.names import Fresh, changed, exposed, governed, mentioned
from loopxform.frontend.desugar.nulls import Kept, Nulls
from loopxform.frontend.syntax.tree import below, clone, every, replace_children, statements

_READS = {"free", "printf", "fprintf", "memset", "memcpy", "memmove", "puts", "fputs"}


def with_arrays(
    node: c_ast.FuncDef, pointers: frozenset[str], fresh: Fresh, *, cleared: bool = False
) -> None:
    """Rewrites the body of `node` in place; `pointers` are the variables of the file that are
    pointers. What `calloc` gives is set to 0 if it is to be `cleared`."""
    if not any(map(is_allocation, every(node.body))):
        return
    node.body = _apart(node.body)
    inside = list(every(node.body))
    own = once(node)
    locals = {n.name for n in inside if isinstance(n, c_ast.Decl)}
    values: dict[str, list[c_ast.Node]] = {}
    for n in inside:
        if isinstance(n, c_ast.Assignment) and isinstance(n.lvalue, c_ast.ID):
            values.setdefault(n.lvalue.name, []).append(n.rvalue)
        elif isinstance(n, c_ast.Decl) and n.init is not None:
            values.setdefault(n.name, []).append(n.init)
    hidden = exposed(node.body) | governed(node.body)
    plain = frozenset(n for n, d in own.items() if n in locals - hidden and not d.storage)
    others = bool(pointers & mentioned(node.body))
    others = others or any(isinstance(n, c_ast.StructRef) for n in inside)
    for name, d in own.items():
        found = values.get(name, [])
        allocated = len(found) == 1 and is_allocation(found[0]) and name in locals
        if not allocated or name in hidden or d.storage or not isinstance(d.type, c_ast.PtrDecl):
            continue
        if _steps(name, node.body) or _is_kept(name, node.body, plain, others=others):
            continue
        size = length(found[0], d)
        if size is None:
            continue
        try:
            body = Nulls(name).run(node.body)
            moving = changed(node.body) | exposed(node.body)
            zero = cleared and is_cleared(found[0])
            body = _Arrays(name, d, size, moving, fresh, cleared=zero).run(body)
        except Kept:
            continue
        node.body = body


def _apart(n: c_ast.Node) -> c_ast.Node:
    """`if ((t = malloc(n)) == NULL) S` as `t = malloc(n); if (t == NULL) S`."""
    replace_children(n, _apart)
    if not isinstance(n, c_ast.Compound):
        return n
    out: list[c_ast.Node] = []
    for s in statements(n):
        if isinstance(s, c_ast.If):
            found = _asked(s.cond)
            if found is not None:
                whole = build.block([s.cond], s)
                replace_children(whole, partial(_replaced, found))
                s.cond = statements(whole)[0]
                out.append(found)
        out.append(s)
    return build.block(out, n)


def _asked(cond: c_ast.Node) -> c_ast.Assignment | None:
    """The allocation that a condition makes first of all."""
    match cond:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(), rvalue=value) if is_allocation(value):
            return cond
        case c_ast.UnaryOp(op="!"):
            return _asked(cond.expr)
        case c_ast.BinaryOp(op="==" | "!="):
            return _asked(cond.left) or _asked(cond.right)
        case _:
            return None


def _replaced(found: c_ast.Assignment, n: c_ast.Node) -> c_ast.Node:
    if n is found:
        return build.name(cast(Any, found).lvalue.name, n)
    replace_children(n, partial(_replaced, found))
    return n


def _steps(name: str, body: c_ast.Node) -> bool:
    """Whether a pointer is moved."""
    for n in every(body):
        target = n.expr if isinstance(n, c_ast.UnaryOp) and n.op != "*" else None
        if isinstance(n, c_ast.Assignment) and n.op != "=":
            target = n.lvalue
        moves = isinstance(target, c_ast.ID) and target.name == name
        if moves and not (isinstance(n, c_ast.UnaryOp) and n.op in ("!", "sizeof")):
            return True
    return False


def _is_kept(  # noqa: C901
    name: str,
    body: c_ast.Node,
    plain: frozenset[str],
    *,
    others: bool,
    seen: frozenset[str] = frozenset(),
) -> bool:
    """Whether the address may be found again by another way than the name, or by that of a `plain`
    variable. `others` says whether the function sees pointers that a call could have set."""
    seen = seen | {name}

    def visit(n: c_ast.Node, value: bool) -> bool:
        match n:
            case c_ast.ID():
                return value and n.name == name
            case c_ast.ArrayRef():
                return visit(n.name, False) or visit(n.subscript, False)
            case c_ast.UnaryOp(op="&"):
                return name in mentioned(n.expr)
            case c_ast.UnaryOp() | c_ast.If() | c_ast.Return() | c_ast.StructRef():
                return any(visit(x, False) for x in below(n))
            case c_ast.BinaryOp():
                inside = value and n.op in ("+", "-")
                return visit(n.left, inside) or visit(n.right, inside)
            case c_ast.FuncCall():
                free = isinstance(n.name, c_ast.ID) and n.name.name in _READS
                return n.args is not None and any(
                    visit(x, others and not free) for x in n.args.exprs
                )
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target), rvalue=e):
                return _copied(target, e)
            case c_ast.Decl(name=target, init=e) if e is not None:
                return _copied(target, e)
            case c_ast.Assignment():
                return visit(n.lvalue, False) or visit(n.rvalue, True)
            case c_ast.Cast() | c_ast.TernaryOp() | c_ast.ExprList() | c_ast.InitList():
                return any(visit(x, True) for x in below(n))
            case _:
                return any(visit(x, False) for x in below(n))

    def _copied(target: str, e: c_ast.Node) -> bool:
        if target == name or not visit(e, True):
            return False
        if target in seen:
            return False
        kinds = c_ast.ID | c_ast.Constant | c_ast.BinaryOp
        sums = all(isinstance(x, kinds) for x in every(e)) and target in plain
        return not sums or _is_kept(target, body, plain, others=others, seen=seen)

    return visit(body, False)


class _Arrays:
    """Puts the declaration of an array in the place of the allocation."""

    def __init__(
        self,
        name: str,
        decl: c_ast.Decl,
        size: c_ast.Node,
        moving: frozenset[str],
        fresh: Fresh,
        *,
        cleared: bool,
    ) -> None:
        self.cleared = cleared
        self.name = name
        self.decl = decl
        self.size = size
        self.moving = moving
        self.fresh = fresh
        self.done = False

    def run(self, body: c_ast.Node) -> c_ast.Node:
        out = self.block(body)
        if not self.done:
            raise Kept
        return out

    def block(self, node: c_ast.Node) -> c_ast.Node:
        """The statement with the declaration of the array in the block of the pointer's own."""
        if not isinstance(node, c_ast.Compound):
            for part in ("stmt", "iftrue", "iffalse"):
                inner = getattr(node, part, None)
                if isinstance(inner, c_ast.Node):
                    setattr(node, part, self.block(inner))
            return node
        items = statements(node)
        here = next((n for n, s in enumerate(items) if self._declares(s)), None)
        if here is None:
            return build.block(map(self.block, items), node)
        place = next((n for n, s in enumerate(items) if self._allocates(s)), None)
        if place is None or any(self.name in mentioned(s) for s in items[here + 1 : place]):
            raise Kept
        self.done = True
        before = [s for n, s in enumerate(items[:place]) if n != here]
        return build.block([*before, *self._array(items[place]), *items[place + 1 :]], node)

    def _declares(self, s: c_ast.Node) -> bool:
        return isinstance(s, c_ast.Decl) and s.name == self.name

    def _allocates(self, s: c_ast.Node) -> bool:
        if self._declares(s):
            return cast(Any, s).init is not None
        return (
            isinstance(s, c_ast.Assignment)
            and isinstance(s.lvalue, c_ast.ID)
            and s.lvalue.name == self.name
        )

    def _array(self, at: c_ast.Node) -> list[c_ast.Node]:
        size, out = self.size, []
        plain = all(isinstance(n, c_ast.ID | c_ast.Constant | c_ast.BinaryOp) for n in every(size))
        if not plain or mentioned(size) & self.moving:
            kept = self.fresh.name(f"{self.name}_size")
            out.append(build.local(kept, build.integer(at, "long"), at, size))
            size = build.name(kept, at)
        inner = cast(Any, self.decl.type).type
        array = HeapDecl.of(self.name, inner, size, at)
        return [*out, array, *([self._clearing(size, at)] if self.cleared else [])]

    def _clearing(self, size: c_ast.Node, at: c_ast.Node) -> c_ast.Node:
        """`memset(t, 0, n * sizeof *t);`"""
        make = cast(Any, c_ast)
        element = make.UnaryOp("*", build.name(self.name, at), coord=at.coord)
        bytes = build.binary("*", clone(size), make.UnaryOp("sizeof", element, coord=at.coord))
        args = [build.name(self.name, at), build.number(0, at), bytes]
        named = build.name("__builtin_memset", at)
        call = make.FuncCall(named, make.ExprList(args, coord=at.coord), coord=at.coord)
        return cast(c_ast.Node, call)
