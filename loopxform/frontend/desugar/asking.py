"""Loops whose condition steps a variable: the steps become statements in front of each test.

    while (a && i++ < n) S       ->  go = 0; if (a) { t = i; i++; go = t < n; }
                                     while (go) { S; go = 0; if (a) { t = i; i++; go = t < n; } }
    do S while (a && ++i < n)    ->  do { S; go = 0; if (a) { i++; go = i < n; } } while (go)

The variable belongs to the function and stands nowhere else in its comparison.
"""

from __future__ import annotations

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.jumps import LOOPS, Jump
from loopxform.frontend.desugar.kinds import kind
from loopxform.frontend.desugar.names import declared
from loopxform.frontend.desugar.starts import Scope
from loopxform.frontend.syntax.tree import clone, every, replace_children, statements

_CONTINUE = Jump(lambda n: isinstance(n, c_ast.Continue), LOOPS)


def flagged(s: c_ast.Node, scope: Scope) -> list[c_ast.Node] | None:
    """The statements that a loop becomes whose condition has steps; None where it has none, or
    does something else."""
    if not isinstance(s, c_ast.While | c_ast.DoWhile) or _CONTINUE.held(s.stmt):
        return None
    parts = _conjuncts(s.cond)
    steps = [_step(p, scope) for p in parts]
    known = [x.expr.name for x in steps if x is not None]
    held = sum(map(_steps, every(s.cond)))
    if not held or held != len(known) or any(name in declared(s.stmt) for name in known):
        return None
    go = scope.fresh.name("go")
    ask = [build.assignment(go, build.number(0, s), s), *_asked(parts, steps, go, scope)]
    flag = build.local(go, build.integer(s), s, build.number(0, s))
    s.stmt = build.block([*statements(s.stmt), *map(clone, ask)], s.stmt)
    s.cond = build.name(go, s)
    return [flag, s] if isinstance(s, c_ast.DoWhile) else [flag, *ask[1:], s]


def _asked(
    parts: list[c_ast.Node], steps: list[c_ast.UnaryOp | None], go: str, scope: Scope
) -> list[c_ast.Node]:
    """Statements that set the flag where all the conditions hold, asked in order."""
    (part, *others), (step, *later) = parts, steps
    before: list[c_ast.Node] = []
    if step is not None:
        name = step.expr.name
        value = name
        if step.op[0] == "p":
            value = scope.fresh.name(name)
            type = scope.types[name].type
            before.append(build.local(value, type, step, build.name(name, step)))
        before.append(build.step(step.op[-1] * 2, name, step))
        part = _put(clone(part), value)
    if others:
        inside = build.block(_asked(others, later, go, scope), part)
        return [*before, build.branch(part, inside, None, part)]
    zero = build.number(0, part)
    return [*before, build.assignment(go, build.binary("!=", part, zero), part)]


def _conjuncts(cond: c_ast.Node) -> list[c_ast.Node]:
    if isinstance(cond, c_ast.BinaryOp) and cond.op == "&&":
        return [*_conjuncts(cond.left), *_conjuncts(cond.right)]
    return [cond]


def _step(part: c_ast.Node, scope: Scope) -> c_ast.UnaryOp | None:
    """The one step in a condition that always happens there; None where that is not so."""
    found = [x for x in every(part) if isinstance(x, c_ast.UnaryOp) and _steps(x)]
    if len(found) != 1 or not isinstance(found[0].expr, c_ast.ID):
        return None
    name, known = found[0].expr.name, scope.types.get(found[0].expr.name)
    alone = sum(isinstance(x, c_ast.ID) and x.name == name for x in every(part)) == 1
    number = known is not None and kind(known) in ("signed", "unsigned")
    plain = all(map(_is_plain, every(part)))
    return found[0] if plain and alone and number and name in scope.private else None


def _is_plain(x: c_ast.Node) -> bool:
    match x:
        case c_ast.BinaryOp():
            return x.op not in ("&&", "||")
        case c_ast.UnaryOp():
            return x.op in ("-", "+", "!", "~") or _steps(x)
        case _:
            return isinstance(x, c_ast.ID | c_ast.Constant | c_ast.ArrayRef | c_ast.Cast)


def _steps(x: c_ast.Node) -> bool:
    return isinstance(x, c_ast.UnaryOp) and x.op in ("++", "--", "p++", "p--")


def _put(part: c_ast.Node, value: str) -> c_ast.Node:
    """The condition with the value of a variable in the place of the step."""
    if _steps(part):
        return build.name(value, part)
    replace_children(part, lambda x: _put(x, value))
    return part
