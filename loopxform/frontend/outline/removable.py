"""Statements that can be taken out of their function: no jump leaves or enters them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, cast

from pycparser import c_ast

from loopxform.frontend.desugar.callee import defines_type
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.pragmas.directives import pragma_text
from loopxform.frontend.syntax.tree import every

_CASES = c_ast.Case | c_ast.Default
_JUMPS = c_ast.Return | c_ast.Goto | c_ast.Label | _CASES


def require_whole(region: Sequence[c_ast.Node], function: c_ast.Node) -> None:
    """Raises NotModelled for statements of a function that are left or entered in the middle, and
    for declarations that are more than variables."""
    inside = [x for n in region for x in every(n)]
    switches = (x for x in inside if isinstance(x, c_ast.Switch))
    own = {id(x) for s in switches for x in every(s) if isinstance(x, _CASES)}
    own |= _own_jumps(inside, function)
    for x in inside:
        if isinstance(x, _JUMPS) and id(x) not in own:
            raise _jump(x)
        if isinstance(x, c_ast.Decl) and set(x.storage) & {"static", "extern"}:
            help = "declare it in front of the loops"
            raise NotModelled("LX015", f"'{x.name}' is not a plain local variable", help, x)
        if defines_type(x):
            raise NotModelled("LX015", "a type of the function", "declare it in the file", x)
    for n in region:
        if out := next(_leaving(n), None):
            word = "break" if isinstance(out, c_ast.Break) else "continue"
            reason = f"a {word} for a loop around these statements"
            raise NotModelled("LX011", reason, "put what follows into an if", out)


def _own_jumps(inside: Sequence[c_ast.Node], function: c_ast.Node) -> set[int]:
    """The labels that only jumps among these statements lead to, and these jumps, by identity."""
    jumps = [x for x in inside if isinstance(x, c_ast.Goto)]
    labels = {x.name: x for x in inside if isinstance(x, c_ast.Label)}
    if not labels:
        return set()
    among = Counter(x.name for x in jumps)
    every_jump = Counter(x.name for x in every(function) if isinstance(x, c_ast.Goto))
    whole = {name for name in labels if among[name] == every_jump[name]}
    own = {id(labels[name]) for name in whole}
    return own | {id(x) for x in jumps if x.name in labels}


def _jump(x: c_ast.Node) -> NotModelled:
    """What leaves statements in the middle, or is entered there."""
    match x:
        case c_ast.Return():
            reason = "a return leaves the loops"
            help = "set a variable, leave the loops by break, and return behind them"
        case c_ast.Goto():
            reason, help = f"'goto {x.name}' may leave the loops", "leave them by their conditions"
        case c_ast.Label():
            reason = f"a goto to the label '{x.name}' may enter the loops"
            help = "put the label in front of the loops or behind them"
        case _:
            reason = "a switch may enter the loops"
            help = "put the label in front of the loops or behind them"
    return NotModelled("LX011", reason, help, x)


def _leaving(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The `break` and `continue` that leave a statement."""
    match node:
        case c_ast.Break() | c_ast.Continue():
            yield node
        case c_ast.For() | c_ast.While() | c_ast.DoWhile():
            return
        case c_ast.Switch():
            yield from (x for x in every(node) if isinstance(x, c_ast.Continue))
        case _:
            for child in cast(Any, node):
                yield from _leaving(child)


def marks_scop(node: c_ast.Node) -> bool:
    """What is taken out is looked at as a whole."""
    return isinstance(node, c_ast.Pragma) and pragma_text(node) in ("scop", "endscop")
