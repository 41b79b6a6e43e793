"""The start of a loop that stands before it."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.names import Fresh, changed, declared, mentioned
from loopxform.frontend.syntax.tree import every
from loopxform.records import record


@record
class Scope:
    """What is known of a function's variables: their declarations (of names that are always
    declared alike), which of them only the text of the function changes, and which are mentioned
    outside of the loops that set them first."""

    fresh: Fresh
    types: Mapping[str, c_ast.Decl]
    private: frozenset[str]
    outside: frozenset[str]
    once: frozenset[str] = frozenset()


def take_start(before: list[c_ast.Node], name: str, scope: Scope) -> c_ast.Assignment | None:
    """The assignment that gives `name` its start, taken out of the statements before a loop. What
    stands between it and the loop must not care."""
    for n in range(len(before) - 1, -1, -1):
        s, between = before[n], before[n + 1 :]
        match s:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=found), rvalue=value) if (
                found == name
            ):
                if between and not _is_steady(value, between, scope):
                    return None
                del before[n]
                return s
            case c_ast.Decl(name=found, init=init) if found == name:
                if init is None or s.storage:
                    return None
                if between and not _is_steady(init, between, scope):
                    return None
                before[n] = build.without_value(s)
                return build.assignment(name, init, s)
        if any(isinstance(x, c_ast.Label | c_ast.Case | c_ast.Default) for x in every(s)):
            return None
        if name in mentioned(s) or name in declared(s):
            return None
    return None


def _is_steady(value: c_ast.Node, between: list[c_ast.Node], scope: Scope) -> bool:
    """Whether a start has the same value behind the statements that follow it."""
    if not all(map(_is_arithmetic, every(value))):
        return False
    moving = frozenset[str]().union(*map(changed, between), *map(declared, between))
    return mentioned(value) <= scope.private - moving


def _is_arithmetic(n: c_ast.Node) -> bool:
    if isinstance(n, c_ast.UnaryOp):
        return n.op in ("-", "+", "~", "!")
    return isinstance(n, c_ast.ID | c_ast.Constant | c_ast.BinaryOp)


def own_start(s: c_ast.Node, name: str) -> tuple[c_ast.Assignment | None, bool]:
    """The start in the header of a for, and whether the header declares the variable."""
    match getattr(s, "init", None):
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=found)) as init if found == name:
            return init, False
        case c_ast.DeclList(decls=[c_ast.Decl(name=found, init=value) as d]) if (
            found == name and value is not None
        ):
            return build.assignment(name, value, d), True
        case _:
            return None, False
