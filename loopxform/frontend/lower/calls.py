"""Why a call is not modelled: what it does besides giving a value."""

from __future__ import annotations

from pycparser import c_ast

from loopxform.frontend.names.callgraph import CallGraph
from loopxform.frontend.names.filescope import FileScope
from loopxform.frontend.names.library import ENDS, effect
from loopxform.frontend.syntax.tree import every

_INLINE = "write out what it computes, or move the call out of the loops"


def unknown_call(name: str, scope: FileScope) -> tuple[str, str]:
    """The reason and the remedy for a call that is not modelled."""
    if name in scope.own:
        what = f"the effects of calling '{name}' are not known"
        reason = f"{what}: {scope.own[name]}" if scope.own[name] else what
        return reason, f"inline the body of '{name}' into the loop"
    promised = scope.promised.get(name, frozenset())
    if "noreturn" in promised:
        return f"'{name}' ends the program (it is declared noreturn)", ENDS[1]
    if "pure" in promised:
        return f"'{name}' reads memory (it is declared pure): which is not known", _INLINE
    return effect(name)


def obstacles(ast: c_ast.FileAST) -> dict[str, str]:
    """What keeps the body of each function of a file from standing in the place of a call."""
    nodes = {n.decl.name: n for n in ast.ext if isinstance(n, c_ast.FuncDef)}
    calls = CallGraph({name: _called(node) for name, node in nodes.items()})
    return {
        name: "it calls itself" if calls.calls_itself(name) else _obstacle(node)
        for name, node in nodes.items()
    }


def _called(node: c_ast.FuncDef) -> frozenset[str]:
    found = (n.name for n in every(node.body) if isinstance(n, c_ast.FuncCall))
    return frozenset(n.name for n in found if isinstance(n, c_ast.ID))


def _obstacle(node: c_ast.FuncDef) -> str:
    inside = list(every(node.body))
    loops = [n for n in inside if isinstance(n, c_ast.For | c_ast.While | c_ast.DoWhile)]
    if any(isinstance(n, c_ast.Return) for s in loops for n in every(s)):
        return "it returns from inside a loop"
    return ""
