"""A switch whose cases do not fall through, but past the last one, becomes a chain of ifs.

    switch (e) { case 1: case 2: A; break; default: B; }
    ->  if (e == 1 || e == 2) { A } else { B }

No body runs before all comparisons are done, so `e` has one value in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial, reduce

from pycparser import c_ast

from loopxform.frontend.desugar import build
from loopxform.frontend.desugar.jumps import Jump, Stuck, guarded
from loopxform.frontend.desugar.names import Fresh, mentioned
from loopxform.frontend.syntax.tree import below, clone, every, statements

_BREAK = Jump(
    lambda n: isinstance(n, c_ast.Break), (c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.Switch)
)
_LARGEST = 2**31 - 1


@dataclass
class _Group:
    """Labels that share a body; `default` where one of them is."""

    labels: list[c_ast.Node] = field(default_factory=list)
    default: bool = False
    body: list[c_ast.Node] = field(default_factory=list)


def chain(node: c_ast.Switch, fresh: Fresh, private: frozenset[str]) -> c_ast.Node | None:
    """The ifs that `node` stands for, or None where it must stay a switch."""
    if any(isinstance(n, c_ast.FuncCall | c_ast.Assignment | c_ast.UnaryOp) and not _is_pure(n)
           for n in every(node.cond)):  # fmt: skip
        return None
    groups = _groups(node)
    if groups is None:
        return None
    bodies = []
    for n, group in enumerate(groups):
        last = all(map(_does_nothing, groups[n + 1 :]))
        body = _body(group, fresh, private, last=last)
        if body is None:
            return None
        bodies.append(body)
    out: c_ast.Node | None = None
    for group, body in zip(groups, bodies):
        if group.default and body:
            out = build.block(body, body[0])
    for group, body in reversed(list(zip(groups, bodies))):
        if not group.default:
            first = group.labels[0]
            test = _any_of(node.cond, group.labels)
            out = build.branch(test, build.block(body, first), out, first)
    return out or build.nothing(node)


def _does_nothing(group: _Group) -> bool:
    """Whether it makes no difference to run into these labels."""
    nothing = (c_ast.Break, c_ast.EmptyStatement)
    return all(isinstance(s, nothing) for s in group.body)


def _is_pure(n: c_ast.Node) -> bool:
    return isinstance(n, c_ast.UnaryOp) and n.op not in ("++", "--", "p++", "p--")


def _groups(node: c_ast.Switch) -> list[_Group] | None:
    """The bodies with their labels, in text order; None where the text is not that regular."""
    groups: list[_Group] = []
    open_labels = _Group()
    items = node.stmt.block_items if isinstance(node.stmt, c_ast.Compound) else None
    for item in items or ():
        if isinstance(item, c_ast.Case):
            if not _is_small(item.expr):
                return None
            open_labels.labels.append(item.expr)
        elif isinstance(item, c_ast.Default):
            open_labels.default = True
        else:
            return None
        if any(map(_is_entered, item.stmts)):
            return None
        if item.stmts:
            open_labels.body = list(item.stmts)
            groups.append(open_labels)
            open_labels = _Group()
    if open_labels.labels or open_labels.default:
        groups.append(open_labels)
    return None if _shares_declarations(groups) or not items else groups


def _is_entered(s: c_ast.Node) -> bool:
    """Whether a label of the switch is inside a statement (Duff's device)."""
    if isinstance(s, c_ast.Case | c_ast.Default):
        return True
    return not isinstance(s, c_ast.Switch) and any(map(_is_entered, below(s)))


def _is_small(label: c_ast.Node) -> bool:
    """Whether a label is compared by == as a switch compares it: an int, whatever is switched."""
    for n in every(label):
        match n:
            case c_ast.Constant(type="char"):
                continue
            case c_ast.Constant(type="int" | "long int" | "long long int", value=text):
                digits = text.rstrip("lL")
                octal = digits[:1] == "0" and digits.isdigit()
                if int(digits, 8 if octal else 0) > _LARGEST:
                    return False
            case c_ast.ID() | c_ast.BinaryOp() | c_ast.TernaryOp():
                continue
            case c_ast.UnaryOp(op="-" | "+" | "~" | "!"):
                continue
            case _:
                return False
    return True


def _shares_declarations(groups: list[_Group]) -> bool:
    """Whether a variable declared under one label is used under a later one."""
    for n, group in enumerate(groups):
        names = {s.name for s in group.body if isinstance(s, c_ast.Decl | c_ast.Typedef)}
        later = (s for g in groups[n + 1 :] for s in g.body)
        if names and any(names & mentioned(s) for s in later):
            return True
    return False


def _body(
    group: _Group, fresh: Fresh, private: frozenset[str], *, last: bool
) -> list[c_ast.Node] | None:
    """The statements of a case without its breaks; None where it may run into the next one."""
    if not last and not _leaves(group.body):
        return None
    try:
        return guarded(group.body, _BREAK, fresh, private)
    except Stuck:
        return None


def _leaves(items: list[c_ast.Node]) -> bool:
    """Whether the end of the statements is not reached."""
    match items[-1:]:
        case [c_ast.Break() | c_ast.Continue() | c_ast.Return() | c_ast.Goto()]:
            return True
        case [c_ast.Compound() as inner]:
            return _leaves(statements(inner))
        case [c_ast.If(iftrue=then, iffalse=orelse)]:
            return _leaves(statements(then)) and _leaves(statements(orelse))
        case _:
            return False


def _any_of(value: c_ast.Node, labels: list[c_ast.Node]) -> c_ast.Node:
    tests = (build.binary("==", clone(value), n) for n in labels)
    return reduce(partial(build.binary, "||"), tests)
