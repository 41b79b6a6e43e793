"""Steps inside expressions, and assignments inside conditions, become statements of their own.

    a[k++] = *p++;         ->  a[k] = *p; k++; p++;
    x = b[--k];            ->  --k; x = b[k];
    if (*p++ > 0) S        ->  p++; if (*(p - 1) > 0) S
    if ((x = a[i]) > 0) S  ->  x = a[i]; if (x > 0) S
    i++, j--;              ->  i++; j--;
    out[(*n)++] = x;       ->  out[*n] = x; (*n)++;
    return k++;            ->  return k;

Only where the step happens for certain, and its variable belongs to the function and stands nowhere
else in the statement: then nothing can tell when it happens. What a pointer of the function leads
to, a member of a struct, or a variable of the file is stepped apart where the statement has no
order of its own: C leaves undefined what else it reads or sets there (C11 6.5p2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.kinds import kind, once
from loopxform.frontend.desugar.names import changed, declared, exposed
from loopxform.frontend.syntax.tree import below, clone, every, replace_children, statements
from loopxform.ir.functions import is_known

STEPS = ("++", "--", "p++", "p--")
_BODIES = (c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.Compound)


def without_steps(node: c_ast.FuncDef) -> None:
    """Rewrites the body of `node` in place."""
    if not any(is_step(n) or _assigns(n) for n in every(node.body)):
        return
    static = {d.name for d in every(node.body) if isinstance(d, c_ast.Decl) and d.storage}
    private = declared(node) - exposed(node.body) - static
    wide = frozenset(n for n, d in once(node).items() if kind(d) != "other")
    node.body = _Stepping(private, wide).block(node.body)


def is_step(n: c_ast.Node) -> bool:
    return isinstance(n, c_ast.UnaryOp) and n.op in STEPS


def _assigns(n: c_ast.Node) -> bool:
    """Whether it is an if whose condition assigns."""
    return isinstance(n, c_ast.If) and any(isinstance(x, c_ast.Assignment) for x in every(n.cond))


class _Stepping:
    """`private` are the variables that only the text of the function changes, `wide` those of them
    whose value before a step can be computed from the one after it."""

    def __init__(self, private: frozenset[str], wide: frozenset[str]) -> None:
        self.private = private
        self.wide = wide

    def block(self, node: c_ast.Node) -> c_ast.Compound:
        out: list[c_ast.Node] = []
        for s in statements(node):
            # What a pragma is about must stay one statement.
            governed = bool(out) and isinstance(out[-1], c_ast.Pragma)
            out += [s] if governed and not isinstance(s, _BODIES) else self.statement(s)
        return build.block(out, node)

    def body(self, node: c_ast.Node | None) -> c_ast.Node | None:
        """A body or a branch; a block where it takes several statements."""
        if node is None or isinstance(node, c_ast.EmptyStatement):
            return node
        if isinstance(node, c_ast.Compound):
            return self.block(node)
        items = self.statement(node)
        return items[0] if len(items) == 1 else build.block(items, node)

    def statement(self, s: c_ast.Node) -> list[c_ast.Node]:
        """The statements that `s` becomes."""
        match s:
            case c_ast.Compound():
                return [self.block(s)]
            case c_ast.For() | c_ast.While() | c_ast.DoWhile() | c_ast.Switch():
                s.stmt = self.body(s.stmt)
                return [s]
            case c_ast.Label():
                s.stmt = self.body(s.stmt) or s.stmt
                return [s]
            case c_ast.Case() | c_ast.Default():
                s.stmts = [x for i in s.stmts or () for x in self.statement(i)]
                return [s]
            case c_ast.If():
                s.iftrue, s.iffalse = self.body(s.iftrue), self.body(s.iffalse)
                return [*self._assigned(s), *self._condition(s), s]
            case c_ast.ExprList():
                return [x for e in s.exprs for x in self.statement(e)]
            case c_ast.UnaryOp() if is_step(s):
                return [s] if isinstance(s.expr, c_ast.ID) else self._split(s)
            case c_ast.Assignment() | c_ast.FuncCall() | c_ast.UnaryOp() | c_ast.Cast():
                return self._split(s)
            case c_ast.Decl(init=init) if init is not None and not s.storage:
                return self._split(s)
            case c_ast.Return() if s.expr is not None:
                return self._returned(s)
            case _:
                return [s]

    def _returned(self, s: c_ast.Return) -> list[c_ast.Node]:
        """A return. What it steps behind its value are variables that end there."""
        found = [n for n in certain(s) if self._is_free(n, s)]
        replace_children(s, lambda n: _without(n, found))
        return [*(n for n in found if n.op in ("++", "--")), s]

    def _split(self, s: c_ast.Node) -> list[c_ast.Node]:
        steps = [n for n in certain(s) if n is not s]
        found = [n for n in steps if self._is_free(n, s) or self._is_place(n, s)]
        if not found:
            return [s]
        before = [n for n in found if n.op in ("++", "--")]
        after = [n for n in found if n.op in ("p++", "p--")]
        replace_children(s, lambda n: _without(n, found))
        plain = s.expr if isinstance(s, c_ast.UnaryOp) and s.op == "*" else s
        kept = [] if isinstance(plain, c_ast.ID) else [s]
        return [*before, *kept, *after]

    def _assigned(self, s: c_ast.If) -> list[c_ast.Node]:
        """The assignments to private variables that a condition certainly makes, where nothing
        else in it could tell when they happen."""
        found = [n for n in certain(s.cond, _is_assignment) if self._is_only(n, s.cond)]
        nested = {id(x) for n in found for x in every(n.rvalue)}
        found = [n for n in found if id(n) not in nested]
        inside = {id(x) for n in found for x in every(n)}
        calling = sum(any(map(_has_effect, every(n.rvalue))) for n in found)
        others = any(_has_effect(x) for x in every(s.cond) if id(x) not in inside)
        if not found or others or calling > 1:
            return []
        whole = build.block([s.cond], s)
        names = {id(n): str(n.lvalue.name) for n in found}
        replace_children(whole, lambda n: _with_targets(n, names))
        (s.cond,) = cast(Any, whole).block_items
        return list(found)

    def _is_only(self, n: c_ast.Node, cond: c_ast.Node) -> bool:
        """Whether the variable that is assigned stands nowhere else in a condition."""
        name = cast(Any, n).lvalue.name
        return name in self.private and _uses(name, cond) == 1

    def _condition(self, s: c_ast.If) -> list[c_ast.Node]:
        whole = build.block([s.cond], s)
        found = [
            n
            for n in certain(s.cond)
            if self._is_free(n, whole) and (n.op in ("++", "--") or n.expr.name in self.wide)
        ]
        if found:
            replace_children(whole, lambda n: _without(n, found, stepped=True))
            (s.cond,) = cast(Any, whole).block_items
        return list(found)

    def _is_free(self, n: c_ast.UnaryOp, s: c_ast.Node) -> bool:
        """Whether a step concerns a private variable that stands nowhere else in the statement."""
        if not isinstance(n.expr, c_ast.ID) or n.expr.name not in self.private:
            return False
        name = n.expr.name
        return _uses(name, s) == 1 and not (isinstance(s, c_ast.Decl) and s.name == name)

    def _is_place(self, n: c_ast.UnaryOp, s: c_ast.Node) -> bool:
        """Whether a step concerns what a private variable leads to, which the statement does not
        change, and nothing says when it happens."""
        place, depth = cast(Any, n.expr), 0
        while not isinstance(place, c_ast.ID):
            match place:
                case c_ast.UnaryOp(op="*", expr=inner) | c_ast.StructRef(name=inner):
                    place, depth = inner, depth + 1
                case c_ast.ArrayRef(name=inner, subscript=c_ast.Constant()):
                    place, depth = inner, depth + 1
                case _:
                    return False
        ordered = any(isinstance(x, _ORDERED) or _is_ordered(x) for x in every(s))
        if depth == 0:
            return not ordered and _uses(place.name, s) == 1
        return depth == 1 and place.name in self.private - changed(s) and not ordered


def _uses(name: str, s: c_ast.Node) -> int:
    """How often a variable stands in a statement; members of structs may have its name."""
    every_one = list(every(s))
    members = {id(x.field) for x in every_one if isinstance(x, c_ast.StructRef)}
    return sum(
        isinstance(x, c_ast.ID) and x.name == name and id(x) not in members for x in every_one
    )


_ORDERED = c_ast.FuncCall | c_ast.TernaryOp | c_ast.ExprList | c_ast.Compound


def _is_ordered(n: c_ast.Node) -> bool:
    return isinstance(n, c_ast.BinaryOp) and n.op in ("&&", "||")


def _is_assignment(n: c_ast.Node) -> bool:
    return isinstance(n, c_ast.Assignment) and n.op == "=" and isinstance(n.lvalue, c_ast.ID)


def _has_effect(n: c_ast.Node) -> bool:
    """Whether a node itself does more than give a value."""
    if isinstance(n, c_ast.FuncCall):
        return not (isinstance(n.name, c_ast.ID) and is_known(n.name.name))
    return isinstance(n, c_ast.Assignment | c_ast.Compound) or is_step(n)


def _with_targets(n: c_ast.Node, names: Mapping[int, str]) -> c_ast.Node:
    """`n` with variables in the place of what assigns to them."""
    if id(n) in names:
        return build.name(names[id(n)], n)
    replace_children(n, lambda x: _with_targets(x, names))
    return n


def certain(n: c_ast.Node, wanted: Callable[[c_ast.Node], bool] = is_step) -> Iterator[Any]:
    """The steps, or whatever is `wanted`, in an expression that are evaluated whatever its values
    are."""
    match n:
        case c_ast.TernaryOp() | c_ast.BinaryOp(op="&&" | "||"):
            yield from certain(next(below(n)), wanted)
        case c_ast.UnaryOp(op="sizeof" | "_Alignof") | c_ast.Compound():
            return
        case _:
            if wanted(n):
                yield n
            for child in below(n):
                if not isinstance(child, c_ast.TypeDecl | c_ast.PtrDecl | c_ast.ArrayDecl):
                    yield from certain(child, wanted)


def _without(n: c_ast.Node, found: list[c_ast.UnaryOp], *, stepped: bool = False) -> c_ast.Node:
    """`n` with variables in the place of their steps; `stepped` where these came before."""
    if any(n is x for x in found):
        step = cast(Any, n)
        if not isinstance(step.expr, c_ast.ID):
            return clone(step.expr)
        if stepped and step.op in ("p++", "p--"):
            back = "-" if step.op == "p++" else "+"
            return build.binary(back, build.name(step.expr.name, n), build.number(1, n))
        return build.name(step.expr.name, n)
    replace_children(n, lambda x: _without(x, found, stepped=stepped))
    return n
