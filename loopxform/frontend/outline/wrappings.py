"""Proofs that a file with wrappings in it says what it says without them.

{ if (!f(n, x, &s)) { statements } }
{ int at = 0; if (f(n, x, &at)) { loop, from there on } else { loop } }
{ f(); statements }                      f();
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, cast

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from loopxform.frontend.syntax.tree import alike, every
from loopxform.records import record


@record
class Wrapping:
    """Statements, and the arguments of the call that stands in front of them: see `_argument`. A
    loop that returns is `resumed` behind the call, where a variable of its own may be
    `declared`."""

    nodes: Sequence[c_ast.Node]
    arguments: tuple[str, ...]
    declared: c_ast.Node | None = None
    resumed: c_ast.Node | None = None


_Wrapped = dict[str, list[Wrapping]]
"""What was found, by the function that is called."""
_Marked = dict[str, list[Sequence[c_ast.Node]]]


def is_wrapped(plain: c_ast.FileAST, other: c_ast.FileAST, wanted: Mapping[str, Wrapping]) -> bool:
    """Whether `other` says what `plain` says on the same lines, but that for each function the
    `wanted` statements are wrapped; `other` is changed."""
    found = _Wrapped({name: [] for name in wanted})
    _unwrap(other, found)
    return _same(plain, other) and all(
        len(found[name]) == 1
        and found[name][0].arguments == w.arguments
        and _all_same(w.nodes, found[name][0].nodes)
        and _alike(w.declared, found[name][0].declared)
        and _alike(w.resumed, found[name][0].resumed)
        for name, w in wanted.items()
    )


def _unwrap(node: c_ast.Node, wrapped: _Wrapped) -> None:
    """Puts statements in wrappings where they were, and notes them."""
    for x in every(node):
        if isinstance(x, c_ast.Compound):
            items = [_inside(s, wrapped) for s in x.block_items or ()]
            x.block_items = [s for several in items for s in several]
        if isinstance(x, c_ast.Case | c_ast.Default):
            x.stmts = [s for several in x.stmts or () for s in _inside(several, wrapped)]
        for slot in ("stmt", "iftrue", "iffalse"):
            body = getattr(x, slot, None)
            found = [] if body is None else _inside(body, wrapped)
            if len(found) == 1:
                setattr(x, slot, found[0])
            elif found:  # a statement with its pragmas
                setattr(x, slot, cast(Any, c_ast.Compound)(found, coord=found[0].coord))


def _inside(x: c_ast.Node, wrapped: _Wrapped) -> list[c_ast.Node]:
    """The statements in a wrapping, else the statement itself."""
    declared: c_ast.Node | None = None
    match x:
        case c_ast.Compound(block_items=[c_ast.If() as only]):
            pass
        case c_ast.Compound(block_items=[c_ast.Decl() as declared, c_ast.If() as only]):
            pass
        case _:
            return [x]
    match only:
        case c_ast.If(
            cond=c_ast.FuncCall(name=c_ast.ID(name=name), args=args),
            iftrue=c_ast.Compound(block_items=[resumed]),
            iffalse=c_ast.Compound(block_items=list() as inner),
        ) if name in wrapped:
            given = () if args is None else tuple(map(_argument, args.exprs))
            wrapped[name].append(Wrapping(inner, given, declared, resumed))
            return inner
        case c_ast.If(
            cond=c_ast.UnaryOp(op="!", expr=c_ast.FuncCall(name=c_ast.ID(name=name), args=args)),
            iftrue=c_ast.Compound(block_items=list() as inner),
            iffalse=None,
        ) if name in wrapped and declared is None:
            given = () if args is None else tuple(map(_argument, args.exprs))
            wrapped[name].append(Wrapping(inner, given))
            return inner
        case _:
            return [x]


def is_marked(
    plain: c_ast.FileAST, other: c_ast.FileAST, marks: Mapping[str, Sequence[c_ast.Node]]
) -> bool:
    """Whether `other` says what `plain` says on the same lines, but for calls that begin a block of
    the statements given with them, or stand alone; `other` is changed."""
    found: _Marked = {name: [] for name in marks}
    _unmark(other, found, {name for name, nodes in marks.items() if nodes})
    return _same(plain, other) and all(
        len(found[name]) == 1 and _ends_with(found[name][0], nodes) for name, nodes in marks.items()
    )


def _ends_with(items: Sequence[c_ast.Node], nodes: Sequence[c_ast.Node]) -> bool:
    """Whether these nodes stand behind nothing but pragmas: text cannot be put between two."""
    first = len(items) - len(nodes)
    return (
        first >= 0
        and all(isinstance(x, c_ast.Pragma) for x in items[:first])
        and _all_same(nodes, items[first:])
    )


def _unmark(node: c_ast.Node, found: _Marked, blocks: Set[str]) -> None:
    """Takes the calls away, and the `blocks` that they begin."""
    for x in every(node):
        slot = "stmts" if isinstance(x, c_ast.Case | c_ast.Default) else "block_items"
        items = getattr(x, slot, None)
        if items:
            setattr(x, slot, list(_unmarked(items, found, blocks)))


def _unmarked(
    items: Sequence[c_ast.Node], found: _Marked, blocks: Set[str]
) -> Iterator[c_ast.Node]:
    for s in items:
        name = _called(s)
        first = s.block_items[0] if isinstance(s, c_ast.Compound) and s.block_items else None
        begins = _called(first)
        if name in found:
            found[name].append(())
        elif isinstance(s, c_ast.Compound) and begins in blocks:
            inner = list(_unmarked(s.block_items[1:], found, blocks))
            found[begins].append(inner)
            yield from inner
        else:
            yield s


def _called(node: c_ast.Node | None) -> str:
    """The function that a statement calls without arguments."""
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name=str() as name), args=None):
            return name
        case _:
            return ""


def _argument(node: c_ast.Node) -> str:
    """A name, the address of what it names, an element (perhaps under a condition), or how many
    there are of them; "" for anything else."""
    match node:
        case c_ast.TernaryOp(
            cond=cond, iftrue=c_ast.ArrayRef() as element, iffalse=c_ast.Constant(value="0")
        ):
            return f"{CGenerator().visit(cond)} ? {_argument(element)} : 0"
        case c_ast.BinaryOp(
            op="/",
            left=c_ast.UnaryOp(op="sizeof", expr=whole),
            right=c_ast.UnaryOp(op="sizeof", expr=one),
        ):
            return f"sizeof {_argument(whole)} / sizeof {_argument(one)}"
        case c_ast.ArrayRef(name=array, subscript=c_ast.Constant(value=number)):
            of = _argument(array)
            return f"{of}[{number}]" if of and not of.startswith("&") else ""
        case c_ast.ID(name=str() as name):
            return name
        case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=str() as name)):
            return f"&{name}"
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=c_ast.ID()) as element):
            return f"&{_argument(element)}"
        case _:
            return ""


def _all_same(a: Sequence[c_ast.Node], b: Sequence[c_ast.Node]) -> bool:
    return len(a) == len(b) and all(map(_same, a, b))


def _alike(a: c_ast.Node | None, b: c_ast.Node | None) -> bool:
    """Whether two trees say the same, on whatever lines."""
    return a is b if a is None or b is None else alike(a, b)


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
