"""Small programs for the tests of the analysis, written as text: expressions in Python's syntax.

fn("void f(int M, float A[M][N])", loop("i", 0, "M", s("A[i, 0] = A[i, 1] + 1")))
"""

from __future__ import annotations

import ast
from itertools import count

from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Param,
    Return,
    Select,
    Stmt,
    Tile,
    Un,
    Var,
)
from loopxform.ir.types import DOUBLE, FLOAT, INT, Scalar
from loopxform.source import Loc, Origin

TILES = {"Ty": 4, "Tx": 4, "Tk": 8, "Ry": 2, "Rx": 3}
OPS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Div: "/", ast.Mod: "%",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_line = count(1)


def at(line: int | None = None) -> Origin:
    return Origin(Loc("t.c", next(_line) if line is None else line, 1))


def e(text: str | int | Expr) -> Expr:
    """An expression from text (`A[i, k]*B[k, j]`, `x if c else y`, `p and q`)."""
    if isinstance(text, int):
        return Const(text)
    if not isinstance(text, str):
        return text
    return _expr(ast.parse(text.strip(), mode="eval").body)


def _expr(x: ast.expr) -> Expr:
    match x:
        case ast.Constant(value=bool() | int() as value):
            return Const(int(value))
        case ast.Constant(value=float() as value):
            return Const(value, DOUBLE)
        case ast.Name(id=name):
            return Tile(name, TILES[name]) if name in TILES else Var(name)
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            return Load(name, tuple(_expr(p) for p in parts))
        case ast.BinOp(left=left, op=op, right=right):
            return Bin(OPS[type(op)], _expr(left), _expr(right))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return Bin(OPS[type(op)], _expr(left), _expr(right))
        case ast.BoolOp(op=op, values=values):
            out = _expr(values[0])
            for v in values[1:]:
                out = Bin("&&" if isinstance(op, ast.And) else "||", out, _expr(v))
            return out
        case ast.UnaryOp(op=op, operand=operand):
            return Un("!" if isinstance(op, ast.Not) else "-", _expr(operand))
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[a, b]):
            return Bin(name, _expr(a), _expr(b))
        case ast.Call(func=ast.Name(id=name), args=args):
            return Call(name, tuple(_expr(a) for a in args))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return Select(_expr(test), _expr(body), _expr(orelse))
    raise ValueError(ast.dump(x))


def s(text: str, label: str = "", line: int | None = None) -> Assign:
    """`C[i, j] = acc`, `acc += A[i, k]`."""
    node = ast.parse(text).body[0]
    if isinstance(node, ast.AugAssign):
        target, op, value = node.target, OPS[type(node.op)], node.value
    else:
        assert isinstance(node, ast.Assign)
        target, op, value = node.targets[0], "", node.value
    made = _expr(target)
    assert isinstance(made, Var | Load)
    return Assign(made, _expr(value), op, label=label, origin=at(line))


def loop(var: str, lo: str | int, hi: str | int, *body: Stmt, step: str | int = 1, **more) -> For:  # type: ignore[no-untyped-def]
    return For(var, e(lo), e(hi), e(step), body, origin=at(), **more)


def when(cond: str, *then: Stmt, orelse: tuple[Stmt, ...] = ()) -> If:
    return If(e(cond), then, orelse, origin=at())


def decl(name: str, *shape: str | int, type: Scalar = FLOAT) -> Decl:
    return Decl(name, type, tuple(e(d) for d in shape), origin=at())


def integer(name: str) -> Decl:
    return Decl(name, INT, (), origin=at())


def opaque(*body: Stmt, loop: bool = False) -> Opaque:
    return Opaque("LX014", "a call of g() is not modelled", "", body, loop, "g();", origin=at())


def returns(text: str) -> Return:
    return Return(e(text), origin=at())


def param(text: str) -> Param:
    """`n` is an int, `x:float` a scalar, `A[M][N]` an array of float, `p[]` of unknown extent,
    `k[]:int` of ints; a leading `restrict` is understood."""
    text, _, kind = text.strip().partition(":")
    restrict = text.startswith("restrict ")
    name, *dims = text.removeprefix("restrict ").replace("]", "").split("[")
    scalar = INT if kind == "int" or not (dims or kind) else FLOAT
    shape = tuple(e(d) if d else None for d in dims)
    return Param(name, scalar, shape, restrict=restrict, array=bool(dims))


def fn(params: str, *body: Stmt, assumes: tuple[str, ...] = ()) -> Function:
    made = tuple(param(p) for p in params.split(",") if p.strip())
    return Function(
        "f", made, body, assumes=tuple(e(a) for a in assumes), tiles=tuple(TILES.items())
    )


def mm() -> Function:
    """Cholewa-Madsen and Holst, listing 1."""
    return fn(
        "M, N, U, A[M][U], B[U][N], C[M][N]",
        loop("i", 0, "M", loop("j", 0, "N",
            decl("acc"),
            s("acc = 0", "S0"),
            loop("k", 0, "U", s("acc += A[i, k]*B[k, j]", "S1")),
            s("C[i, j] = acc", "S2"))),
    )  # fmt: skip


def mm_c89() -> Function:
    """The same with `float acc;` at the top of the function."""
    return fn(
        "M, N, U, A[M][U], B[U][N], C[M][N]",
        decl("acc"),
        loop("i", 0, "M", loop("j", 0, "N",
            s("acc = 0", "S0"),
            loop("k", 0, "U", s("acc += A[i, k]*B[k, j]", "S1")),
            s("C[i, j] = acc", "S2"))),
    )  # fmt: skip


def skew() -> Function:
    """Distance (1, -1)."""
    return fn(
        "M, N, a[M][N]",
        loop("i", 0, "M - 1", loop("j", 0, "N - 1", s("a[i+1, j] = a[i, j+1] + 1", "S0"))),
    )
