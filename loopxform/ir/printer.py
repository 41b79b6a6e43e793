"""The canonical listing of a program: C-like, with `forall`, comma subscripts and slices.

Goldens, derivations and messages quote this form (Cholewa-Madsen and Holst, listings 1-10).
Declarations of scalars and of copies are not shown; that of an array prints as `acc[Ty, Tx, Ry,
Rx];`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from loopxform.ir import whiles
from loopxform.ir.affine import poly
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Return,
    Select,
    Slice,
    Stmt,
    Tile,
    Un,
    Var,
    While,
)
from loopxform.ir.visit import walk, writes

PRECEDENCE = {
    "*": 10,
    "/": 10,
    "%": 10,
    "+": 9,
    "-": 9,
    "<<": 8,
    ">>": 8,
    "<": 7,
    ">": 7,
    "<=": 7,
    ">=": 7,
    "==": 6,
    "!=": 6,
    "&": 5,
    "^": 4,
    "|": 3,
    "&&": 2,
    "||": 1,
}


def const_text(e: Const) -> str:
    """The user's spelling of a literal, or its value."""
    return e.text or repr(e.value)


def expr_text(e: Expr, outer: int = 0, *, tight: bool = False) -> str:
    """`e` in the listing's notation; `outer` is the precedence of the surrounding operator,
    `tight` leaves out the spaces around + and - (inside subscripts)."""
    match e:
        case Const():
            return const_text(e)
        case Tile(name) | Var(name):
            return name
        case Load(array, index):
            return f"{array}[{', '.join(expr_text(i, tight=True) for i in index)}]"
        case Bin("min" | "max" as op, left, right):
            return f"{op}({expr_text(left)}, {expr_text(right)})"
        case Bin(op, left, right):
            level = PRECEDENCE[op]
            inner = tight or (level == 10 and _integer_product(e))
            parts = expr_text(left, level, tight=tight), expr_text(right, level + 1, tight=tight)
            text = f"{parts[0]}{op}{parts[1]}" if inner else f"{parts[0]} {op} {parts[1]}"
            return f"({text})" if level < outer else text
        case Un(op, operand):
            text = expr_text(operand, 11, tight=tight)
            return f"{op}({text})" if text.startswith(op) else f"{op}{text}"
        case Cast(type, operand):
            return f"({type}){expr_text(operand, 11, tight=tight)}"
        case Call(name, args):
            return f"{name}({', '.join(expr_text(a) for a in args)})"
        case Select(cond, then, orelse):
            text = f"{expr_text(cond, 1)} ? {expr_text(then)} : {expr_text(orelse)}"
            return f"({text})" if outer else text
        case _:
            assert_never(e)


def _integer_product(e: Expr) -> bool:
    """Products of tile sizes and constants (`Ty*Ry`) are written without spaces."""
    match e:
        case Bin("*" | "/", left, right):
            return _integer_product(left) and _integer_product(right)
        case Tile():
            return True
        case Const(value):
            return isinstance(value, int)
        case Var():
            return True
        case _:
            return False


def slice_text(s: Slice) -> str:
    """`lo : lo + size`, or the single index."""
    if s.size is None:
        return expr_text(s.lo, tight=True)
    start = expr_text(s.lo, tight=True)
    return f"{start} : {expr_text(s.size) if start == '0' else f'{start} + {expr_text(s.size)}'}"


def increment_text(var: str, step: Expr) -> str:
    p = poly(step)
    if p.constant == 1:
        return f"{var}++"
    if p.constant == -1:
        return f"{var}--"
    value = p.value
    if value is not None and value < 0 and p.constant is not None:
        return f"{var} -= {-value}"
    return f"{var} += {expr_text(step)}"


def header_text(s: For, keyword: str | None = None) -> str:
    """`forall (i = 0; i < M; i++)`."""
    if whiles.is_while(s):
        return f"while ({expr_text(whiles.test(s))})"
    word = keyword or ("forall" if s.parallel else "for")
    return (
        f"{word} ({s.var} = {expr_text(s.lo)}; {expr_text(whiles.test(s))}; "
        f"{increment_text(s.var, s.step)})"
    )


def stmt_text(s: Assign) -> str:
    """`C[i, j] = acc` without the semicolon."""
    held = "atomic " if s.atomic else ""
    if s.op.isalpha():
        return f"{held}{expr_text(s.target)} = {s.op}({expr_text(s.target)}, {expr_text(s.value)})"
    return f"{held}{expr_text(s.target)} {s.op}= {expr_text(s.value)}"


def lines(body: tuple[Stmt, ...], depth: int = 0) -> Iterator[str]:
    """The listing of a body, two blanks per level."""
    pad = "  " * depth
    for s in body:
        match s:
            case For():
                yield pad + header_text(s) + _annotation(s)
                yield from lines(s.body, depth + 1)
            case If():
                yield f"{pad}if ({expr_text(s.cond)})"
                yield from lines(s.then, depth + 1)
                if s.orelse:
                    yield f"{pad}else"
                    yield from lines(s.orelse, depth + 1)
            case Assign():
                yield f"{pad}{stmt_text(s)};"
            case Decl(name, _, shape):
                if shape and not _filled(name, body):
                    where = f"  ! in {s.space.value} memory" if s.space else ""
                    yield f"{pad}{name}[{', '.join(expr_text(d) for d in shape)}];{where}"
            case Copy():
                who = "to local memory, collectively" if s.collective else "to private memory"
                cut = ", ".join(map(slice_text, s.slices))
                many = f", {s.width} at once" if s.width > 1 else ""
                yield f"{pad}{s.target} = {s.source}[{cut}];  ! {who}{_ends(s)}{_padding(s)}{many}"
            case Return(value):
                yield f"{pad}return{'' if value is None else ' ' + expr_text(value)};"
            case While() if s.once:
                yield f"{pad}do"
                yield from lines(s.body, depth + 1)
                yield f"{pad}while ({expr_text(s.cond)})"
            case While():
                yield f"{pad}while ({expr_text(s.cond)})"
                yield from lines(s.body, depth + 1)
            case Opaque():
                yield f"{pad}{s.text or '...'}  ! not modelled: {s.reason}"
                yield from lines(s.body, depth + 1)
            case _:
                assert_never(s)


def _filled(name: str, body: tuple[Stmt, ...]) -> bool:
    """Whether a copy, which is printed with what it fills, fills an array."""
    return any(isinstance(s, Copy) and s.target == name for _, s in walk(body))


def _ends(s: Copy) -> str:
    """`, clamped to [0 : H, 0 : W]`, where the program reads what lies at the ends beyond them."""
    if not any(x.repeats for x in s.slices):
        return ""
    ends = ((x.floor, x.limit) if x.repeats else (None, None) for x in s.slices)
    texts = ((expr_text(e) if e is not None else "" for e in pair) for pair in ends)
    return f", clamped to [{', '.join(' : '.join(pair).strip() for pair in texts)}]"


def _padding(s: Copy) -> str:
    """`, -0.0 past U`."""
    if s.pad is None:
        return ""
    limits = (x.limit for x in s.slices if x.limit is not None and not x.clamp)
    return "".join(f", {expr_text(s.pad)} past {expr_text(e)}" for e in limits)


def _annotation(s: For) -> str:
    """The hardware level, as the comments of listing 10 put it."""
    if s.chained and s.level is not None:
        return f"  ! chained - {s.level}"
    if s.look_back and s.level is not None:
        return f"  ! looks back - {s.level}"
    if s.level is not None:
        narrow = f"; {', '.join(s.narrow)} in 32 bits" if s.narrow else ""
        return f"  ! parallel - {s.level}{narrow}"
    if s.unroll:
        back = ", tiles copied in between" if s.interleaved else ""
        back += ", there and back" if s.serpentine else ""
        back += f" in bands of {s.serpentine}" if s.serpentine > 1 else ""
        back += f", {s.stores} stored at once" if s.stores else ""
        back += f", by products of tiles of {s.tensor}" if s.tensor else ""
        back += ", again where a quotient is rare" if s.speculated else ""
        ahead = f" by {s.preloaded} iterations" if s.preloaded > 1 else ""
        read = f", read ahead{ahead}" if s.preloaded else ""
        return f"  ! sequential - unrolled{read}{back}"
    if s.simd:
        return f"  ! sequential - in vectors of {s.simd}"
    if s.turned:
        ahead = f", rows fetched {s.ahead} bytes ahead" if s.ahead else ""
        return f"  ! sequential - turned in registers{ahead}"
    if s.speculated:
        return "  ! sequential - again where a quotient is rare"
    if s.asynchronous:
        return f"  ! sequential - tiles copied ahead into {s.stages} buffers"
    if s.chained or s.look_back:
        return "  ! chained" if s.chained else "  ! looks back"
    return "  ! sequential - tiles fetched ahead" if s.stages > 1 else ""


def listing(fn: Function) -> str:
    """The whole function as a listing (body only)."""
    return "\n".join(lines(fn.body)) + "\n"


def assigned_arrays(fn: Function) -> tuple[str, ...]:
    """Array parameters and globals the function writes, in declaration order."""
    written = writes(fn.body)
    return tuple(p.name for p in fn.objects if p.array and p.name in written)
