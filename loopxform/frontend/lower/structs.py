"""Copies of structs as copies of their members: `q[i] = p[i]` is `q[i].x = p[i].x; ...`, and so is
`S q = {.x = 1}`, whose other members are 0. Of a struct that the function only looks at member by
member, the members that it never mentions are left out (see `names.own_structs`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.callee import steps
from loopxform.frontend.names.ctype import Array, CType
from loopxform.frontend.names.members import Records, is_pointer_member
from loopxform.frontend.names.own_structs import Seen
from loopxform.frontend.syntax.tree import below, clone, every

MOST = 16
"""How many numbers a struct holds at most whose copies are read so."""

Leaf: TypeAlias = tuple[str | int, ...]
"""A number in a struct: names of members, and subscripts."""


def copies(
    records: Records,
    key: str,
    target: c_ast.Node,
    value: c_ast.Node,
    seen: Seen | None = None,
) -> list[c_ast.Assignment] | None:
    """The assignments that `target = value` of structs stands for, or None where that is not
    plain. Members that are not `seen` do not matter, where that is given."""
    if seen is not None and not _matter_alone(records, key, seen):
        seen = None
    if (seen is None and key not in records.whole) or not _is_steady(target):
        return None
    leaves = list(_leaves(records, key, (), seen))
    if len(leaves) > MOST:
        return None
    if isinstance(value, c_ast.InitList):
        given = _given(records, key, value, ())
        if given is None or (seen is not None and any(map(_has_effects, given.values()))):
            return None
        return [_assigned(_at(target, x), given.get(x) or _zero(value)) for x in leaves]
    if not _is_steady(value):
        return None
    return [_assigned(_at(target, leaf), _at(value, leaf)) for leaf in leaves]


def copied_object(value: c_ast.Node, is_one: Callable[[c_ast.Node], bool]) -> c_ast.Node:
    """The object that is copied: `q` where `value` is `*(P *)&q` or `(P)q`, as calls that are
    replaced by what they do leave it; `is_one` says whether a place is a struct of that type."""
    while isinstance(value, c_ast.Cast):  # of an argument to the type of its parameter
        value = value.expr
    if isinstance(value, c_ast.CompoundLiteral):
        return cast(c_ast.Node, value.init)
    pointer = value.expr if isinstance(value, c_ast.UnaryOp) and value.op == "*" else None
    while isinstance(pointer, c_ast.Cast):
        pointer = pointer.expr
    if isinstance(pointer, c_ast.UnaryOp) and pointer.op == "&" and is_one(pointer.expr):
        return copied_object(pointer.expr, is_one)
    return value


def _matter_alone(records: Records, key: str, seen: Seen) -> bool:
    """Whether each member that is seen is a number, or made of such, and the others may be
    left alone."""
    types, (members, inside) = records.types.get(key), seen
    if types is None or len(types) != len(records.listed.get(key, ())):
        return False
    for name, t in types.items():
        inner = records.fields[key].get(name)
        if t.is_any_volatile:
            return False
        if name in members and (inner is None or is_pointer_member(inner)):
            return False
        record = inner.record if name in members and inner is not None else ""
        if record and not _matter_alone(records, record, (inside, inside)):
            return False
    return True


def _leaves(records: Records, key: str, path: Leaf, seen: Seen | None) -> Iterator[Leaf]:
    for name, t in records.fields[key].items():
        if seen is not None and name not in seen[0]:
            continue
        for inner in _elements(t, (*path, name)):
            if t.record:
                yield from _leaves(records, t.record, inner, seen and (seen[1], seen[1]))
            else:
                yield inner


def _elements(t: CType, path: Leaf) -> Iterator[Leaf]:
    found = [path]
    for d in t.derived:
        size = d.size if isinstance(d, Array) else None
        count = int(size.value) if isinstance(size, c_ast.Constant) else 0
        found = [(*p, n) for p in found for n in range(min(count, MOST + 1))]
    yield from found


def _given(
    records: Records, key: str, value: c_ast.InitList, path: Leaf
) -> dict[Leaf, c_ast.Node] | None:
    """The values that `{1, .z = {2, 3}}` gives; None where members cannot be told from the text."""
    order = list(records.types.get(key, ()))
    if not order or len(order) != len(records.listed.get(key, ())):
        return None
    if _is_zero(value):
        return {}
    found: dict[Leaf, c_ast.Node] = {}
    at = 0
    for e in value.exprs:
        if isinstance(e, c_ast.NamedInitializer):
            name = e.name[0].name if len(e.name) == 1 and isinstance(e.name[0], c_ast.ID) else ""
            if name not in order:
                return None
            at, e = order.index(name), e.expr
        if at == len(order):
            return None
        part = _part(records, records.types[key][order[at]], e, (*path, order[at]))
        if part is None or part.keys() & found.keys():
            return None
        found |= part
        at += 1
    return found


def _part(records: Records, t: CType, e: c_ast.Node, path: Leaf) -> dict[Leaf, c_ast.Node] | None:
    """The values that one member of type `t` is given."""
    if is_pointer_member(t) or not (t.derived or t.record):
        return None if isinstance(e, c_ast.InitList) else {path: e}
    if not isinstance(e, c_ast.InitList):
        return None
    if not t.derived:
        return _given(records, t.record, e, path)
    plain = not any(isinstance(x, c_ast.NamedInitializer | c_ast.InitList) for x in e.exprs)
    one = len(t.derived) == 1 and not t.record and plain
    return {(*path, n): x for n, x in enumerate(e.exprs)} if one else None


def _is_zero(value: c_ast.InitList) -> bool:
    """Whether it is `{0}` or `{}`, which every struct may be given."""
    return all(isinstance(e, c_ast.Constant) and e.value == "0" for e in value.exprs[:1]) and (
        len(value.exprs) <= 1
    )


def _zero(at: c_ast.Node) -> c_ast.Node:
    return build.number(0, at)


def _has_effects(value: c_ast.Node) -> bool:
    return any(steps(n) or isinstance(n, c_ast.FuncCall) for n in every(value))


def _at(node: c_ast.Node, leaf: Leaf) -> c_ast.Node:
    make = cast(Any, c_ast)
    out = clone(node)
    for part in leaf:
        if isinstance(part, int):
            out = make.ArrayRef(out, build.number(part, node), coord=node.coord)
        else:
            out = make.StructRef(out, ".", make.ID(part, coord=node.coord), coord=node.coord)
    return out


def _assigned(target: c_ast.Node, value: c_ast.Node) -> c_ast.Assignment:
    made = cast(Any, c_ast.Assignment)("=", target, value, coord=target.coord)
    return cast(c_ast.Assignment, made)


def _is_steady(node: c_ast.Node) -> bool:
    """Whether a place is the same once some of its members are set: no subscript reads memory."""
    match node:
        case c_ast.ID():
            return True
        case c_ast.ArrayRef():
            return _is_steady(node.name) and all(map(_is_plain, every(node.subscript)))
        case c_ast.UnaryOp(op="*" | "&") | c_ast.StructRef():
            return _is_steady(next(below(node)))
        case c_ast.Cast():
            return _is_steady(node.expr)
        case c_ast.BinaryOp(op="+" | "-"):
            return _is_steady(node.left) and all(map(_is_plain, every(node.right)))
        case _:
            return False


def _is_plain(n: c_ast.Node) -> bool:
    if isinstance(n, c_ast.UnaryOp):
        return n.op in ("-", "+")
    return isinstance(n, c_ast.ID | c_ast.Constant | c_ast.BinaryOp)
