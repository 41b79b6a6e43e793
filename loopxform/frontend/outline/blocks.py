"""The statements of a function with their extents in the raw text: the syntax tree and the skeleton
side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pycparser import c_ast

from loopxform.frontend.outline.skeleton import Odd, Piece
from loopxform.frontend.pragmas.data_regions import is_directive
from loopxform.frontend.pragmas.directives import pragma_text
from loopxform.records import record

Nodes = tuple[c_ast.Node, ...]


@record
class Item:
    """A statement with the pragmas in front of it, or the declarations that one declaration makes,
    or a data directive that stands alone; `bodies` are those inside it."""

    nodes: Nodes
    start: int
    end: int
    bodies: tuple[Block, ...] = ()


@record
class Block:
    """Consecutive statements."""

    items: tuple[Item, ...]


def block(items: Sequence[c_ast.Node], pieces: Sequence[Piece]) -> Block:
    """Raises Odd where the text has other statements than the tree."""
    groups = list(_declarations(items))
    if len(groups) != len(pieces):
        raise Odd
    out: list[Item] = []
    pragmas: list[Item] = []
    for n, item in enumerate(map(_item, groups, pieces)):
        kind = _directive(item.nodes[0])
        if kind and kind != "data":
            if pragmas:
                raise Odd
            out.append(item)
            continue
        if isinstance(item.nodes[0], c_ast.Pragma) and n + 1 < len(groups):
            pragmas.append(item)
            continue
        out.append(_governed(pragmas, item))
        pragmas = []
    return Block(tuple(out))


def _governed(pragmas: Sequence[Item], item: Item) -> Item:
    """A statement with the pragmas in front of it. What `data` stands in front of is inside of what
    it makes."""
    for n, p in enumerate(pragmas):
        if _directive(p.nodes[0]):
            inner = _governed(pragmas[n + 1 :], item)
            return replace(_with(pragmas[: n + 1], inner), bodies=(Block((inner,)),))
    return _with(pragmas, item)


def _with(pragmas: Sequence[Item], item: Item) -> Item:
    nodes = tuple(x for i in (*pragmas, item) for x in i.nodes)
    return replace(item, nodes=nodes, start=(*pragmas, item)[0].start)


def _directive(node: c_ast.Node) -> str:
    """The kind of a data directive; "" for anything else."""
    return pragma_text(node).split()[1] if is_directive(node) else ""


def _declarations(items: Sequence[c_ast.Node]) -> Iterator[Nodes]:
    """`int a, b;` is one statement of the text."""
    group: list[c_ast.Node] = []
    for x in items:
        if group and not (isinstance(x, c_ast.Decl) and _base(x) == _base(group[-1])):
            yield tuple(group)
            group = []
        group.append(x)
    if group:
        yield tuple(group)


def _base(node: c_ast.Node) -> object:
    """What the declarations of one declaration share: the place of the type they begin with."""
    t = node
    while isinstance(t, c_ast.Decl | c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.FuncDecl):
        t = t.type
    inner = t.type if isinstance(t, c_ast.TypeDecl) else t
    at = inner.coord
    return id(node) if at is None or not isinstance(node, c_ast.Decl) else (at.line, at.column)


def _item(nodes: Nodes, piece: Piece) -> Item:
    if piece.kind == "block":
        return Item(nodes, piece.start, piece.end, tuple(_body(nodes[0], piece)))
    if isinstance(nodes[0], c_ast.Switch) and piece.kind == "switch":
        return Item(nodes, piece.start, piece.end, tuple(_cases(nodes[0], piece.parts[0])))
    bodies: list[Block] = []
    for child, part in zip(_children(nodes[0], piece.kind), piece.parts):
        bodies += _body(child, part)
    return Item(nodes, piece.start, piece.end, tuple(bodies))


def _children(node: c_ast.Node, kind: str) -> list[c_ast.Node]:
    """The statements directly inside a statement; none where the text has another kind of it."""
    match node, kind:
        case c_ast.If(), "if":
            return [x for x in (node.iftrue, node.iffalse) if x is not None]
        case (
            (c_ast.For(stmt=body), "for")
            | (c_ast.While(stmt=body), "while")
            | (c_ast.DoWhile(stmt=body), "do")
            | (c_ast.Label(stmt=body), "label")
        ):
            return [body]
        case _:
            return []


def _cases(switch: c_ast.Switch, piece: Piece) -> list[Block]:
    """The statements of each case, between its label and the next; none that can be told where text
    and tree differ."""
    labels = switch.stmt.block_items or () if isinstance(switch.stmt, c_ast.Compound) else ()
    groups: list[list[Piece]] = []
    for part in piece.parts if piece.kind == "block" else ():
        first = part
        while first.kind == "case":
            groups.append([])
            first = first.parts[0]
        if not groups:
            return []
        groups[-1].append(first)
    if len(groups) != len(labels) or not all(isinstance(x, _LABELS) for x in labels):
        return []
    try:
        return [block(x.stmts, parts) for x, parts in zip(labels, groups) if parts]
    except Odd:
        return []


_LABELS = c_ast.Case | c_ast.Default


def _body(node: c_ast.Node, piece: Piece) -> list[Block]:
    """The statements of a body; none that can be told where text and tree differ."""
    try:
        if isinstance(node, c_ast.Compound) and piece.kind in ("block", "pragmas"):
            return [block(node.block_items or [], piece.parts)]
        return [] if isinstance(node, c_ast.Compound) else [block([node], [piece])]
    except Odd:
        return []
