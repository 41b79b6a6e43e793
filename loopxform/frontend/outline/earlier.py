"""What a function does that may have two names lead into one array where a loop runs: what it does
before the loop.

    p = get(n); for (i...) p[i] = s->x[i]; s->x = p;    p and s->x are apart in the loop
    if (c) { p = s->x; S } else for (i...) p[i] = s->x[i];           apart

Of what earlier calls did, with variables of their own, that counts which they left in memory.

    for (i...) s->y[i] = s->x[i]; p = s->y; s->x = p;   the next call may find s->x in s->y
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pycparser import c_ast

from loopxform.frontend.desugar.jumps import LOOPS
from loopxform.frontend.names.expression_types import ExpressionTypes
from loopxform.frontend.names.variables import changed
from loopxform.frontend.outline.owner import Owner
from loopxform.frontend.syntax.tree import below, every


def earlier(nodes: Iterable[c_ast.Node], owner: Owner, loop: c_ast.Node) -> list[c_ast.Node]:
    """Those among `nodes` that may run before a loop, or between two of its runs in one call."""
    named = (x.name for x in every(owner.function.body) if isinstance(x, c_ast.ID))
    if any("setjmp" in name for name in named):  # the function returns there again
        return list(nodes)
    last, elsewhere = owner.last_before[id(loop)], frozenset(_other_branches(owner, loop))
    order = owner.variables.order
    return [x for x in nodes if order[id(x)] <= last and id(x) not in elsewhere]


def left_by_calls(owner: Owner) -> list[c_ast.Node]:
    """What a call does that may lead pointers in memory to something, and what it set the
    variables to that these are set from."""
    v = owner.variables
    types = ExpressionTypes(v, owner.file)
    own: dict[int, list[c_ast.Node]] = {}
    found, waiting = list[c_ast.Node](), list[c_ast.Node]()
    for x in owner.effects:
        if isinstance(x, c_ast.UnaryOp):
            continue
        target = x if isinstance(x, c_ast.Decl) else changed(x)
        d = v.meant.get(id(target)) if isinstance(target, c_ast.ID) else target
        if isinstance(d, c_ast.Decl) and {"static", "extern"}.isdisjoint(d.storage or ()):
            own.setdefault(id(d), []).append(x)
        elif target is None or not types.is_number(target):
            waiting.append(x)
    while waiting:
        found.append(x := waiting.pop())
        for n in every(x):
            waiting += own.pop(id(v.meant.get(id(n))), ())
    return found


def _other_branches(owner: Owner, loop: c_ast.Node) -> Iterator[int]:
    """The nodes, by identity, of branches that do not run where the loop does: those of conditions
    around all loops that it is in."""
    if any(isinstance(x, c_ast.Goto | c_ast.Label) for x in every(owner.function.body)):
        return
    node: c_ast.Node | None = owner.function.body
    while node is not None and not isinstance(node, LOOPS):
        inner = next((x for x in below(node) if any(y is loop for y in every(x))), None)
        if isinstance(node, c_ast.If):
            others = (x for x in (node.iftrue, node.iffalse) if x is not None and x is not inner)
            if inner is not node.cond:
                yield from (id(y) for x in others for y in every(x))
        node = inner
