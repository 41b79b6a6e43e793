"""Constants that a function declares for itself, which its parts have as numbers.

enum { N = 8, M };   for (i = 0; i < N; i++) a[i][M] = 0;   ->   ... i < 8 ... a[i][9]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.syntax.tree import every, replace_children


def own_constants(function: c_ast.FuncDef, others: Mapping[str, object]) -> dict[str, int]:
    """The enumerators of the body of a function by name, but for those whose name stands for
    something else too, in the function or among the `others`, and those without a plain value."""
    nodes = list(every(function))
    items = (
        x for s in function.body.block_items or () if isinstance(s, c_ast.Decl) for x in every(s)
    )
    enums = [x for x in items if isinstance(x, c_ast.EnumeratorList)]
    every_one = (x for x in nodes if isinstance(x, c_ast.EnumeratorList))
    declared = Counter(e.name for x in every_one for e in x.enumerators)
    named = (x.name for x in nodes if isinstance(x, c_ast.Decl | c_ast.Typedef) and x.name)
    taken = {*others, *named, *(name for name, count in declared.items() if count > 1)}
    taken |= set(_used_before(nodes, enums))
    values: dict[str, int] = {}
    for x in enums:
        last: int | None = -1
        for e in x.enumerators:
            following = None if last is None else last + 1
            last = following if e.value is None else _value(e.value, values)
            if last is not None and e.name not in taken:
                values[e.name] = last
    return {name: value for name, value in values.items() if abs(value) < 2**31}


def _used_before(
    nodes: Sequence[c_ast.Node], enums: Sequence[c_ast.EnumeratorList]
) -> Iterator[str]:
    """The enumerators whose names are used in front of their declarations: of the file, there."""
    order = {id(x): n for n, x in enumerate(nodes)}
    first: dict[str, int] = {}
    for n, x in enumerate(nodes):
        if isinstance(x, c_ast.ID):
            first.setdefault(x.name, n)
    for x in enums:
        yield from (e.name for e in x.enumerators if first.get(e.name, len(nodes)) < order[id(x)])


def _value(e: c_ast.Node, known: Mapping[str, int]) -> int | None:
    match e:
        case c_ast.Constant(type="int", value=text) if text.isdecimal() and text[0] != "0":
            return int(text)
        case c_ast.Constant(type="int", value="0"):
            return 0
        case c_ast.ID(name=name):
            return known.get(name)
        case c_ast.UnaryOp(op="-", expr=inner):
            value = _value(inner, known)
            return None if value is None else -value
        case c_ast.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
            a, b = _value(left, known), _value(right, known)
            if a is None or b is None:
                return None
            return a + b if op == "+" else a - b if op == "-" else a * b
        case _:
            return None


def with_numbers(node: c_ast.Node, values: Mapping[str, int]) -> None:
    """Puts the numbers in the place of their names, below a node."""

    def number(x: c_ast.Node) -> c_ast.Node:
        if isinstance(x, c_ast.ID) and x.name in values:
            value = values[x.name]
            made = _constant(abs(value), x)
            return made if value >= 0 else cast(Any, c_ast.UnaryOp)("-", made, coord=x.coord)
        replace_children(x, number)
        return x

    if values:
        replace_children(node, number)


def _constant(value: int, at: c_ast.Node) -> c_ast.Node:
    return cast(c_ast.Node, cast(Any, c_ast.Constant)("int", str(value), coord=at.coord))
