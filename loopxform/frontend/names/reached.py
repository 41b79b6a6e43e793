"""Whether a function comes to a loop with numbers for which the loop has two iterations.

    if (n > 1) return;     for (i = 0; i < n; i++) S     it does not
    const int m = n & 1;   for (i = 0; i < m; i++) S     nor here
    if (n < 0) return;     for (i = 0; i < n; i++) S     it does, with n = 2

Conditions around the loop, and in front of it those that leave, are tried with some numbers for the
variables in them. What cannot be computed from these numbers may be anything.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import count

from pycparser import c_ast

from loopxform.frontend.names.variables import Variables, changed
from loopxform.frontend.syntax.tree import below, every, statements
from loopxform.records import record

NUMBERS = (2, 3, 8, 100, 1, 0, -1, 10**6, 4, 7, -100)
MOST_TRIED = 2048
_MOST_NESTED = 12
_AWAY = frozenset(["abort", "exit", "_exit", "_Exit", "longjmp", "quick_exit"])
_AWAY |= {"__builtin_unreachable", "__builtin_trap"}
_LEAVES = (c_ast.Return, c_ast.Goto, c_ast.Break, c_ast.Continue)

_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}

_Numbers = Mapping[int, int]


@record
class _Guard:
    """A condition that holds (or does not) where the loop is reached, and where it stands."""

    cond: c_ast.Node
    holds: bool
    at: c_ast.Node


class Reach:
    """Of the loops of one function."""

    def __init__(self, function: c_ast.FuncDef, variables: Variables) -> None:
        self.function = function
        self.variables = variables

    @cached_property
    def _parents(self) -> dict[int, c_ast.Node]:
        return {id(x): n for n in every(self.function.body) for x in below(n)}

    def has_two(self, loop: c_ast.Node) -> bool:
        """Whether some numbers lead to the loop, and to a second iteration of it."""
        around = list(self._around(loop))
        guards = [g for g in self._guards(around) if self._is_kept(g, loop, around)]
        asked = [g.cond for g in guards]
        header = [getattr(loop, part, None) for part in ("init", "cond", "next")]
        said = [*asked, *(x for x in header if x is not None)]
        numbers, tries = _numbers(said), count(1)

        def found(known: _Numbers, rest: list[int]) -> bool:
            """Whether numbers for the rest of the variables keep to all that is asked."""
            kept = all(_allows(self._value(g.cond, known), holds=g.holds) for g in guards)
            if not kept or not self._iterates(loop, known) or next(tries) > MOST_TRIED:
                return False
            return not rest or any(found({**known, rest[0]: x}, rest[1:]) for x in numbers)

        return found({}, list(self._inputs(said)))

    # ------------------------------------------------------------ the way to the loop

    def _around(self, node: c_ast.Node) -> Iterator[tuple[c_ast.Node, c_ast.Node]]:
        """What is around a node, from the inside, each with the part that the node is in."""
        parent = self._parents.get(id(node))
        while parent is not None:
            yield parent, node
            node, parent = parent, self._parents.get(id(parent))

    def _guards(self, around: list[tuple[c_ast.Node, c_ast.Node]]) -> Iterator[_Guard]:
        for parent, part in around:
            match parent:
                case c_ast.If() if part is not parent.cond:
                    yield _Guard(parent.cond, part is parent.iftrue, parent)
                case c_ast.For() | c_ast.While() if parent.cond is not None:
                    yield _Guard(parent.cond, True, parent.stmt)
                case c_ast.Compound() | c_ast.Case() | c_ast.Default():
                    yield from self._left(parent, part)

    def _left(self, block: c_ast.Node, part: c_ast.Node) -> Iterator[_Guard]:
        """Conditions of a block that would have left it before a part of it."""
        for s in below(block):
            if s is part:
                return
            if isinstance(s, c_ast.If) and _leaves(s.iftrue):
                yield _Guard(s.cond, False, s)
            elif isinstance(s, c_ast.If) and s.iffalse is not None and _leaves(s.iffalse):
                yield _Guard(s.cond, True, s)

    def _is_kept(
        self, guard: _Guard, loop: c_ast.Node, around: list[tuple[c_ast.Node, c_ast.Node]]
    ) -> bool:
        """Whether what a condition asks has not changed by when the loop begins."""
        order = self.variables.order
        begin, end = order[id(guard.at)], order[id(loop)]
        for outer, _ in around:
            is_loop = isinstance(outer, c_ast.For | c_ast.While | c_ast.DoWhile)
            if is_loop and order[id(outer)] > begin:
                end = max(end, *(order[id(x)] for x in every(outer)))
        sets = (x for d in self._inputs([guard.cond]) for x in self.variables.sets.get(d, ()))
        return not any(begin < order[id(x)] < end for x in sets)

    # ------------------------------------------------------------ numbers

    def _inputs(self, nodes: list[c_ast.Node]) -> dict[int, c_ast.Decl]:
        """The variables that what is asked depends on, and that nothing else says."""
        found: dict[int, c_ast.Decl] = {}
        seen, waiting = set[int](), list(nodes)
        while waiting:
            for x in every(waiting.pop()):
                d = self.variables.meant.get(id(x))
                if d is None or id(d) in seen:
                    continue
                seen.add(id(d))
                if self._is_defined(d):
                    waiting.append(d.init)
                else:
                    found[id(d)] = d
        return found

    def _is_defined(self, d: c_ast.Decl) -> bool:
        """Whether a variable has the value of its declaration for good."""
        once = not self.variables.sets.get(id(d)) and not self.variables.escaping.get(id(d))
        return d.init is not None and once and self.variables.kind(d) == "number"

    def _iterates(self, loop: c_ast.Node, known: _Numbers) -> bool:
        """Whether the loop may have two iterations."""
        cond = getattr(loop, "cond", None)
        if not isinstance(loop, c_ast.For) or cond is None:
            return cond is None or _allows(self._value(cond, known), holds=True)
        started = self._started(loop.init, known)
        again = self._stepped(loop.next, started)
        return all(_allows(self._value(cond, x), holds=True) for x in (started, again))

    def _started(self, init: c_ast.Node | None, known: _Numbers) -> _Numbers:
        match init:
            case c_ast.DeclList(decls=decls):
                pairs = [(d, d.init) for d in decls if d.init is not None]
            case c_ast.Assignment(op="=", lvalue=c_ast.ID() as v, rvalue=e):
                pairs = [(self.variables.meant.get(id(v)), e)]
            case _:
                return known
        for d, e in pairs:
            known = self._with(known, d, self._value(e, known))
        return known

    def _stepped(self, step: c_ast.Node | None, known: _Numbers) -> _Numbers:
        target = None if step is None else changed(step)
        d = self.variables.meant.get(id(target))
        if d is None:
            return {} if step is not None else known
        value: int | None = None
        match step:
            case c_ast.UnaryOp(op=op):
                value = _sum(known.get(id(d)), 1 if "+" in op else -1)
            case c_ast.Assignment(op="+=" | "-=" as op, rvalue=e):
                amount = self._value(e, known)
                value = _sum(known.get(id(d)), _signed(amount, op))
            case c_ast.Assignment(op="=", rvalue=e):
                value = self._value(e, known)
        return self._with(known, d, value)

    def _with(self, known: _Numbers, d: c_ast.Decl | None, value: int | None) -> _Numbers:
        rest = {k: v for k, v in known.items() if d is None or k != id(d)}
        return rest if d is None or value is None else {**rest, id(d): value}

    def _value(self, e: c_ast.Node | None, known: _Numbers, depth: int = 0) -> int | None:
        """The value of an expression for these numbers; None where it may have any."""
        if depth > _MOST_NESTED:
            return None
        match e:
            case c_ast.Constant(type="int" | "long int" | "unsigned int", value=text):
                return _integer(text)
            case c_ast.ID():
                d = self.variables.meant.get(id(e))
                if d is None or id(d) in known:
                    return None if d is None else known[id(d)]
                return self._value(d.init, known, depth + 1) if self._is_defined(d) else None
            case c_ast.UnaryOp(op="-" | "+" | "!" as op, expr=x):
                value = self._value(x, known, depth + 1)
                if value is None:
                    return None
                return {"-": -value, "+": value, "!": int(not value)}[op]
            case c_ast.TernaryOp():
                cond = self._value(e.cond, known, depth + 1)
                if cond is None:
                    return None
                return self._value(e.iftrue if cond else e.iffalse, known, depth + 1)
            case c_ast.BinaryOp(op="&&" | "||"):
                return self._joined(e, known, depth + 1)
            case c_ast.BinaryOp(op=op) if op in _OPERATORS:
                left, right = (self._value(x, known, depth + 1) for x in (e.left, e.right))
                return None if left is None or right is None else int(_OPERATORS[op](left, right))
            case _:
                return None

    def _joined(self, e: c_ast.BinaryOp, known: _Numbers, depth: int) -> int | None:
        """What && and || say where one of the sides decides."""
        sides = [self._value(x, known, depth) for x in (e.left, e.right)]
        decides = e.op == "||"
        if any(x is not None and bool(x) == decides for x in sides):
            return int(decides)
        return None if None in sides else int(not decides)


def _allows(value: int | None, *, holds: bool) -> bool:
    return value is None or bool(value) == holds


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _signed(value: int | None, op: str) -> int | None:
    return value if value is None or op == "+=" else -value


def _integer(text: str) -> int | None:
    digits = text.rstrip("uUlL")
    try:
        return int(digits, 8 if digits[:1] == "0" and digits.isdigit() else 0)
    except ValueError:
        return None


def _leaves(s: c_ast.Node | None) -> bool:
    """Whether control goes elsewhere from the end of a statement."""
    items = statements(s) if s is not None else []
    if not items:
        return False
    match items[-1]:
        case c_ast.FuncCall(name=c_ast.ID(name=name)):
            return name in _AWAY
        case c_ast.If(iftrue=then, iffalse=orelse):
            return _leaves(then) and _leaves(orelse)
        case last:
            return isinstance(last, _LEAVES)


def _numbers(nodes: list[c_ast.Node]) -> list[int]:
    """What is tried: small sizes, and what the conditions name, with the numbers next to it."""
    texts = (x.value for n in nodes for x in every(n) if isinstance(x, c_ast.Constant))
    named = [x for x in map(_integer, texts) if x is not None]
    return list(
        dict.fromkeys([*NUMBERS[:2], *(x + y for x in named for y in (0, 1, -1)), *NUMBERS])
    )
