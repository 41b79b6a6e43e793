"""Functions that return from inside of loops return at their end alone, where they are inlined.

    for (i = 0; i < n; i++)            int result;
      if (a[i] == x) return i;    ->   for (i = 0; i < n; i++)
    return -1;                           if (a[i] == x) { result = i; goto end; }
                                       result = -1;
                                       end: return result;

The jumps leave the loops by `break`, and become guards behind these (`leaving_loops`, `jumps`).
"""

from __future__ import annotations

import copy
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.jumps import LOOPS
from loopxform.frontend.desugar.names import Fresh
from loopxform.frontend.syntax.tree import clone, every, replace_children, statements

_make = cast(Any, c_ast)


def returns_in_loops(node: c_ast.FuncDef) -> bool:
    loops = (n for n in every(node.body) if isinstance(n, LOOPS))
    return any(isinstance(x, c_ast.Return) for n in loops for x in every(n))


def with_one_return(node: c_ast.FuncDef, fresh: Fresh) -> c_ast.FuncDef | None:
    """A copy of such a function; None where what it returns is kept in no variable."""
    returns = getattr(node.decl.type, "type", None)
    if not isinstance(returns, c_ast.TypeDecl):
        return None
    result = None if build.is_void(returns) else fresh.name("result")
    body, end = clone(node.body), fresh.name("end")
    items = statements(body)
    last = items.pop() if items and isinstance(items[-1], c_ast.Return) else None

    def jump(n: c_ast.Node) -> c_ast.Node:
        if not isinstance(n, c_ast.Return):
            replace_children(n, jump)
            return n
        return build.block([*_kept(n, result), _make.Goto(end, coord=n.coord)], n)

    body = build.block(map(jump, items), body)
    body.block_items = [
        *([] if result is None else [build.local(result, returns, node.decl)]),
        *statements(body),
        *([] if last is None else _kept(last, result)),
        _make.Label(end, _end(result, node.body), coord=node.body.coord),
    ]
    made = copy.copy(node)
    made.body = body
    return made


def _kept(n: c_ast.Node, result: str | None) -> list[c_ast.Node]:
    value = cast(Any, n).expr
    if value is None:
        return []
    return [value if result is None else build.assignment(result, value, n)]


def _end(result: str | None, at: c_ast.Node) -> c_ast.Node:
    return build.nothing(at) if result is None else build.returned(build.name(result, at), at)
