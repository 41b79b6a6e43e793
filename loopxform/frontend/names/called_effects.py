"""What calls of the functions of a file do in whichever way they run: they end the program, or call
functions of the library whose calls must keep their order.

    void fail(const char *what) { fprintf(stderr, "%s", what); exit(1); }      ends the program
    void report(int n) { count++; printf("%d", n); }                           prints, each time

What a condition guards, or stands behind a jump, may not run at all: nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from pycparser import c_ast

from loopxform.frontend.names.library import effect_on_order
from loopxform.frontend.syntax.tree import below, every, statements
from loopxform.records import record

_ENDS = frozenset(["abort", "exit", "_exit", "_Exit", "longjmp", "quick_exit"])
_JUMPS = (c_ast.Return, c_ast.Goto, c_ast.Label, c_ast.Break, c_ast.Continue)


@record
class CalledEffects:
    """Of the functions that a file defines (`own`): those that end the program, others that are
    declared so among them; and by the names of those whose calls must keep their order, the
    function of the library for which they must."""

    own: frozenset[str] = frozenset()
    ends: frozenset[str] = _ENDS
    in_turn: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, ast: c_ast.FileAST, promised: Mapping[str, frozenset[str]]) -> CalledEffects:
        nodes = {n.decl.name: n for n in ast.ext if isinstance(n, c_ast.FuncDef)}
        own = frozenset(nodes)
        called = {name: list(_certain(n)) for name, n in nodes.items()}
        noreturn = {name for name, kinds in promised.items() if "noreturn" in kinds}
        ends = {*(_ENDS - own), *noreturn}
        while more := {f for f, names in called.items() if f not in ends and ends & {*names}}:
            ends |= more
        in_turn: dict[str, str] = {}
        while True:
            found = {
                f: by
                for f, names in called.items()
                if f not in in_turn and f not in ends and (by := _first(names, own, in_turn))
            }
            if not found:
                return cls(own, frozenset(ends), in_turn)
            in_turn |= found

    def in_order(self, name: str) -> str | None:
        """What would change if two calls of a function changed places; None where nothing would,
        or it is not known."""
        if name not in self.own:
            return effect_on_order(name)
        by = self.in_turn.get(name)
        return None if by is None else f"it calls '{by}', {effect_on_order(by)}"


def _first(names: list[str], own: frozenset[str], in_turn: Mapping[str, str]) -> str | None:
    for name in names:
        by = in_turn.get(name) if name in own else name if effect_on_order(name) else None
        if by is not None:
            return by
    return None


def _certain(node: c_ast.FuncDef) -> Iterator[str]:
    """The functions that a function calls, whatever its conditions."""
    own = {x.name for x in every(node) if isinstance(x, c_ast.Decl)} - {node.decl.name}
    for s in statements(node.body):
        if isinstance(s, c_ast.Return) or not any(isinstance(x, _JUMPS) for x in every(s)):
            names = (x.name.name for x in _evaluated(s) if isinstance(x.name, c_ast.ID))
            yield from (name for name in names if name not in own)
        if any(isinstance(x, _JUMPS) for x in every(s)):
            return


def _evaluated(statement: c_ast.Node) -> Iterator[c_ast.FuncCall]:
    """The calls in a statement without jumps that run in any case, those of arguments first. Deep
    nesting is no reason to fail: lowering says so of the function."""
    left: list[tuple[c_ast.Node, bool]] = [(statement, False)]
    while left:
        node, is_over = left.pop()
        if is_over:
            if isinstance(node, c_ast.FuncCall):
                yield node
            continue
        left.append((node, True))
        left += [(x, False) for x in reversed(_always(node))]


def _always(node: c_ast.Node) -> list[c_ast.Node]:
    """The parts of a node that run whenever it does, in order."""
    match node:
        case c_ast.If() | c_ast.TernaryOp() | c_ast.Switch() | c_ast.While():
            return [node.cond]
        case c_ast.For():
            return [x for x in (node.init, node.cond) if x is not None]
        case c_ast.BinaryOp(op="&&" | "||"):
            return [node.left]
        case c_ast.UnaryOp(op="sizeof" | "_Alignof") | c_ast.Typename():
            return []
        case _:
            return list(below(node))
