"""Whether the updates of a variable in one iteration may take each other back.

x++; S(x); x--;                          they do
if (c) x += k; S(x); if (c) x -= k;      so do these
sum += a[i]; b[i] = sum; sum -= a[i - w];   these need not
if (a[i]) x++; else x--;                 nor these: one of them happens
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from pycparser import c_ast

from loopxform.frontend.names.loop_data import is_memory
from loopxform.frontend.names.loop_sites import Site
from loopxform.frontend.syntax.tree import alike, below, every
from loopxform.records import record

_INVERSE = {"+": "-", "-": "+", "*": "/", "/": "*", "<<": ">>", ">>": "<<"}
_INVERSE |= {x: x for x in ("^", "~", "!", "negative", "from", "into")}
_STEPS = {"++": "+", "p++": "+", "--": "-", "p--": "-"}
_NEUTRAL = {"+": "0", "-": "0", "|": "0", "^": "0", "<<": "0", ">>": "0", "*": "1", "/": "1"}

Names = Callable[[c_ast.Node], bool]


@record
class _Update:
    """What a statement does with the value before: operators, outermost first, and what they take
    besides. `step` is a number that is added, None where it is no number."""

    operators: tuple[str, ...]
    operands: tuple[c_ast.Node, ...]
    step: int | None


def may_be_restored(sites: Sequence[Site], names: Names) -> bool:
    """Whether an iteration may leave a variable as it found it, whatever the data are. `names`
    says which nodes name the variable."""
    found = [(s, _update(s.node, names)) for s in sites]
    found = [(s, u) for s, u in found if not _is_idle(u)]
    if len(found) < 2:
        return not found
    steps = [u.step for _, u in found if u.step is not None]
    if len(steps) == len(found):
        same_sign = all(x > 0 for x in steps) or all(x < 0 for x in steps)
        free = any(s.conditions or s.nested for s, _ in found)
        if same_sign or not free:
            return not same_sign and sum(steps) == 0
    pairs = combinations(found, 2)
    return any(not _exclude(s, t) and _undo(u, v) for (s, u), (t, v) in pairs)


# ---------------------------------------------------------------- one update


def _update(node: c_ast.Node, names: Names) -> _Update:
    match node:
        case c_ast.UnaryOp(op=op) if op in _STEPS:
            return _Update((_STEPS[op],), (), 1 if _STEPS[op] == "+" else -1)
        case c_ast.Assignment(op="=", rvalue=e):
            operators, operands = _path(e, names)
            return _Update(operators, operands, _step(operators, operands))
        case c_ast.Assignment(op=op, rvalue=e):
            return _Update((op[:-1],), (e,), _step((op[:-1],), (e,)))
        case _:
            return _Update(("?",), (), None)


def _path(e: c_ast.Node, names: Names) -> tuple[tuple[str, ...], tuple[c_ast.Node, ...]]:
    """The operators on the way to the variable, and their other operands."""
    operators, operands = list[str](), list[c_ast.Node]()
    while not (isinstance(e, c_ast.ID) and names(e)):
        inside = [x for x in below(e) if any(map(names, every(x)))]
        if len(inside) != 1:
            return (*operators, "?"), tuple(operands)
        if not isinstance(e, c_ast.Cast):
            operators.append(_word(e, inside[0]))
            operands += [x for x in below(e) if x is not inside[0]]
        e = inside[0]
    return tuple(operators), tuple(operands)


def _word(e: c_ast.Node, variable: c_ast.Node) -> str:
    match e:
        case c_ast.BinaryOp(op="-" | "/" as op, right=right) if right is variable:
            return "from" if op == "-" else "into"
        case c_ast.UnaryOp(op="-"):
            return "negative"
        case c_ast.BinaryOp(op=op) | c_ast.UnaryOp(op=op):
            return str(op)
        case c_ast.StructRef(field=c_ast.ID(name=name)):
            return f"->{name}"
        case c_ast.ArrayRef():
            return "[]"
        case _:
            return "?"


def _step(operators: tuple[str, ...], operands: tuple[c_ast.Node, ...]) -> int | None:
    match operators, operands:
        case ("+" | "-" as op,), (c_ast.Constant(type="int", value=text),) if text.isdigit():
            return int(text) if op == "+" else -int(text)
        case _:
            return None


def _is_idle(u: _Update) -> bool:
    """Whether an update changes nothing: `x += 0`, `x = x`."""
    match u.operators, u.operands:
        case (), ():
            return True
        case (op,), (c_ast.Constant(value=text),):
            return bool(_NEUTRAL.get(op) == text)
        case _:
            return False


# ---------------------------------------------------------------- two updates


def _undo(u: _Update, v: _Update) -> bool:
    """Whether one update may be the inverse of another: what both take of memory is compared, of
    anything else nothing is known."""
    mine, others = set(u.operators), set(v.operators)
    odd = {x for x in mine | others if x == "?" or x.startswith("->") or x == "[]"}
    if odd and (mine != others or "?" in odd):
        return True
    if not any(_INVERSE.get(x) in others for x in mine):
        return False
    memory = [[x for x in w.operands if is_memory(_inner(x))] for w in (u, v)]
    apart = all(len(x) == 1 for x in memory) and not alike(memory[0][0], memory[1][0])
    return not apart


def _inner(e: c_ast.Node) -> c_ast.Node:
    while isinstance(e, c_ast.Cast):
        e = e.expr
    return e


def _exclude(s: Site, t: Site) -> bool:
    """Whether of two statements only one happens: they are in the branches of one condition."""
    return any(_sides(s, t))


def _sides(s: Site, t: Site) -> Iterator[bool]:
    for (a, m), (b, n) in zip(s.branches, t.branches):
        if a is not b:
            return
        yield m is not n
