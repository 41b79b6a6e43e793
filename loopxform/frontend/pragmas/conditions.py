"""The condition of `assume(...)`: comparisons of affine expressions, joined by && and ||.

It is asked at run time in a type where nothing overflows, so it has to mean the same there as in C:
no arithmetic on unsigned numbers, which wraps around, no division by what may be 0, and no number
that 64 bits would not hold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from loopxform.frontend.lower.literals import literal
from loopxform.frontend.lower.refusal import NotModelled
from loopxform.frontend.names.symbols import Symbol
from loopxform.frontend.pragmas.annotations import Malformed
from loopxform.frontend.syntax.places import head
from loopxform.ir.nodes import Bin, Const, Expr, Var
from loopxform.ir.types import INT

LARGEST = 1 << 31
MOST = 1 << 62
"""Numbers in sums and products of parameters; what these may come to."""

_COMPARE = ("<", "<=", ">", ">=", "==", "!=")
_JOIN = ("&&", "||")
_FORM = "compare parameters and numbers: assume(n > 0 && m % 16 == 0)"
_LEAD = "int lx =\n"


def condition(
    text: str, at: int, names: Mapping[str, Symbol], stable: Collection[str]
) -> tuple[Expr, ...]:
    """The conditions that `text`, which stands at `at` of its pragma, joins by &&. `stable` are the
    scalars that keep their value during a call. Raises Malformed."""
    try:
        ast = CParser().parse(f"{_LEAD}{text};", "")
    except ParseError:
        ast = None
    found = [] if ast is None else ast.ext
    if [type(n) for n in found] != [c_ast.Decl] or found[0].init is None:
        raise Malformed(at, text, f"'{text.strip()}' is no condition", _FORM)
    reader = _Reader(at, names, stable)
    return tuple(reader.condition(e) for e in _joined(found[0].init))


def _joined(node: c_ast.Node) -> tuple[c_ast.Node, ...]:
    if isinstance(node, c_ast.BinaryOp) and node.op == "&&":
        return (*_joined(node.left), *_joined(node.right))
    return (node,)


class _Reader:
    def __init__(self, at: int, names: Mapping[str, Symbol], stable: Collection[str]) -> None:
        self.at = at
        self.names = names
        self.stable = stable

    def condition(self, node: c_ast.Node) -> Expr:
        match node:
            case c_ast.BinaryOp(op=op, left=left, right=right) if op in _JOIN:
                return Bin(op, self.condition(left), self.condition(right))
            case c_ast.BinaryOp(op=op, left=left, right=right) if op in _COMPARE:
                a, b = self.number(left), self.number(right)
                for x, other in ((a, b), (b, a)):
                    if self._is_unsigned(x) and not (
                        self._is_unsigned(other) or _is_natural(other)
                    ):
                        message = "C compares an unsigned number with a signed one as unsigned"
                        raise self._malformed(node, message, "compare it with a number from 0 on")
                return Bin(op, a, b)
            case _:
                raise self._malformed(node, "not a comparison", _FORM)

    def number(self, node: c_ast.Node) -> Expr:
        match node:
            case c_ast.ID():
                return self._scalar(node)
            case c_ast.Constant(type=t) if t.endswith("int"):
                return self._literal(node)
            case c_ast.UnaryOp(op="-", expr=inner):
                x = self._signed(inner)
                e: Expr = Const(-x.value) if isinstance(x, Const) else Bin("-", Const(0), x)
            case c_ast.BinaryOp(op="+" | "-" | "*" | "/" | "%", left=left, right=right):
                e = Bin(node.op, self._signed(left), self._signed(right))
                if not _is_affine(e):
                    message = "not an affine expression of parameters"
                    raise self._malformed(node, message, _FORM)
            case _:
                raise self._malformed(node, "not made of parameters and numbers", _FORM)
        if _most(e) > MOST:
            raise self._malformed(node, "the numbers are too large", "use smaller ones")
        return e

    def _signed(self, node: c_ast.Node) -> Expr:
        e = self.number(node)
        if self._is_unsigned(e):
            message = "arithmetic on an unsigned number may wrap around"
            raise self._malformed(node, message, "compare it alone")
        return e

    def _is_unsigned(self, e: Expr) -> bool:
        return isinstance(e, Var) and any(
            s.ir == e.name and s.type.base is not None and s.type.base.is_unsigned
            for s in self.names.values()
        )

    def _literal(self, node: c_ast.Constant) -> Const:
        try:
            found = literal(node)
        except NotModelled as why:
            raise self._malformed(node, why.reason, _FORM) from why
        if found.type != INT:
            raise self._malformed(node, f"{node.value} is not an int", "use a number of type int")
        return Const(int(found.value))

    def _scalar(self, node: c_ast.ID) -> Expr:
        symbol = self.names.get(node.name)
        if symbol is None:
            raise self._malformed(node, f"'{node.name}' is nothing that the function has", _FORM)
        if symbol.value is not None and isinstance(symbol.value.value, int):
            return Const(symbol.value.value)
        t = symbol.type.base
        if not symbol.type.is_scalar or t is None or not t.is_integer:
            raise self._malformed(node, f"'{node.name}' is not an integer", _FORM)
        if symbol.kind not in ("param", "global"):
            help = "it is asked before the function runs: use parameters"
            raise self._malformed(node, f"'{node.name}' is a local variable", help)
        if symbol.ir not in self.stable:
            help = "it is asked before the function runs: use what keeps its value"
            raise self._malformed(node, f"'{node.name}' may change in the function", help)
        return Var(symbol.ir)

    def _malformed(self, node: c_ast.Node, message: str, help: str) -> Malformed:
        column = getattr(node.coord, "column", None) or 1
        return Malformed(self.at + column - 1, head(node), f"assume: {message}", help)


def _is_natural(e: Expr) -> bool:
    return isinstance(e, Const) and e.value >= 0


def _is_affine(e: Bin) -> bool:
    if e.op == "*":
        return isinstance(e.left, Const) or isinstance(e.right, Const)
    return e.op in "+-" or (isinstance(e.right, Const) and e.right.value > 0)


def _most(e: Expr) -> int:
    """The largest magnitude of a value; the host sees to it that parameters are within int."""
    match e:
        case Const(value):
            return abs(int(value))
        case Bin("*", left, right):
            return _most(left) * _most(right)
        case Bin("/" | "%", left, _):
            return _most(left)
        case Bin(_, left, right):
            return _most(left) + _most(right)
        case _:
            return LARGEST
