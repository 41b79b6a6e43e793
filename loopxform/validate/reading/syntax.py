"""Questions about pycparser's tree."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from loopxform.validate.unmodelled import Unmodelled

_CONSTRUCTS = {
    "While": "a loop that ends where data say so",
    "DoWhile": "a loop that ends where data say so",
    "Break": "a break",
    "Continue": "a continue",
    "Switch": "a switch",
    "Goto": "a goto",
    "Label": "a label",
    "Return": "a return before the end",
    "ExprList": "a comma",
    "CompoundLiteral": "a compound literal",
    "InitList": "a list of initial values",
}


def construct(node: c_ast.Node) -> str:
    """What C calls it."""
    kind = type(node).__name__
    return _CONSTRUCTS.get(kind, kind)


def line_of(node: c_ast.Node | None) -> int:
    """Where it stands; 0 where the tree does not say."""
    coord = getattr(node, "coord", None)
    return int(coord.line) if coord is not None else 0


def parts_of(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """A node and all nodes below it."""
    if node is None:
        return
    yield node
    for _, child in node.children():  # type: ignore[no-untyped-call]
        yield from parts_of(child)


def called_name(call: c_ast.FuncCall) -> str:
    """The name of the function; empty where an expression says which it is."""
    return str(call.name.name) if isinstance(call.name, c_ast.ID) else ""


def has_barrier(s: c_ast.Node | None) -> bool:
    return any(isinstance(x, c_ast.FuncCall) and called_name(x) == "barrier" for x in parts_of(s))


def stored_in(s: c_ast.Node | None) -> frozenset[str]:
    """The names of the variables that a statement stores to."""
    names: set[str] = set()
    for x in parts_of(s):
        target = None
        if isinstance(x, c_ast.Assignment):
            target = x.lvalue
        elif isinstance(x, c_ast.UnaryOp) and x.op in ("++", "--", "p++", "p--", "&"):
            target = x.expr
        if isinstance(target, c_ast.ID):
            names.add(target.name)
    return frozenset(names)


def ends_early(body: c_ast.Node | None) -> bool:
    """Whether a break leaves the loop with this body."""
    if isinstance(body, c_ast.Break):
        return True
    if body is None or isinstance(body, c_ast.For | c_ast.While | c_ast.DoWhile | c_ast.Switch):
        return False
    return any(ends_early(x) for _, x in body.children())  # type: ignore[no-untyped-call]


def fences_of(barrier: c_ast.FuncCall) -> frozenset[str]:
    """Which memory a barrier orders. Raises Unmodelled for anything but the names of fences."""
    fences: set[str] = set()
    for argument in barrier.args.exprs if barrier.args is not None else ():
        for x in parts_of(argument):
            if isinstance(x, c_ast.ID):
                fences |= {w for w in ("local", "global") if x.name == f"CLK_{w.upper()}_MEM_FENCE"}
            elif not (isinstance(x, c_ast.BinaryOp) and x.op == "|"):
                raise Unmodelled("the fences of a barrier", line_of(barrier))
    return frozenset(fences)


def sole(s: c_ast.Node | None) -> c_ast.Node | None:
    """The one statement of a block; None where it has none or several."""
    if isinstance(s, c_ast.Compound):
        items = s.block_items or []
        return sole(items[0]) if len(items) == 1 else None
    return s


def is_name(e: c_ast.Node | None, name: str) -> bool:
    """Whether an expression is this variable."""
    return isinstance(e, c_ast.ID) and e.name == name


def is_null(e: c_ast.Node) -> bool:
    """Whether it is a null pointer, as C writes it."""
    return is_zero(e) or (isinstance(e, c_ast.Cast) and is_zero(e.expr))


def is_zero(e: c_ast.Node) -> bool:
    """Whether it is written 0."""
    return isinstance(e, c_ast.Constant) and e.value == "0"


def identifier(name: str) -> c_ast.ID:
    return c_ast.ID(name)  # type: ignore[no-untyped-call]
