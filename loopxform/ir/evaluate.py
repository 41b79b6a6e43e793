"""The value of an integer expression for given scalars: launch shapes, extents, conditions."""

from __future__ import annotations

from collections.abc import Mapping

from loopxform.errors import MalformedIR
from loopxform.ir.nodes import Bin, Cast, Const, Expr, Select, Tile, Un, Var


def evaluate(e: Expr, values: Mapping[str, int]) -> int:
    """Computes `e` with unbounded integers; division truncates as in C. A condition gives 0 or 1.

    Thresholds and facts of a device have the numbers that `values` says, else their own.

    Raises KeyError for a scalar without a value, ZeroDivisionError as C would trap.
    """
    match e:
        case Tile(name, value, is_threshold):
            return values.get(name, value) if is_threshold else value
        case Const(value):
            return int(value)
        case Var(name):
            return _exact(values[name])
        case Cast(_, operand):
            return evaluate(operand, values)
        case Un(op, operand):
            x = evaluate(operand, values)
            return {"-": -x, "+": x, "!": int(not x), "~": ~x}[op]
        case Select(cond, then, orelse):
            return evaluate(then if evaluate(cond, values) else orelse, values)
        case Bin("&&", left, right):
            return int(bool(evaluate(left, values)) and bool(evaluate(right, values)))
        case Bin("||", left, right):
            return int(bool(evaluate(left, values)) or bool(evaluate(right, values)))
        case Bin(op, left, right):
            return _binary(op, evaluate(left, values), evaluate(right, values))
        case _:
            raise MalformedIR(f"not an integer expression of scalars: {e}")


def _exact(value: int) -> int:
    """A number; one that is real is compared with others, as C does."""
    return value if isinstance(value, float) else int(value)


def _binary(op: str, a: int, b: int) -> int:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" | "%":
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if op == "/" else a - quotient * b
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
        case "<" | "<=" | ">" | ">=" | "==" | "!=":
            results = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b}
            return int(results.get(op, a != b))
        case "&" | "|" | "^":
            return {"&": a & b, "|": a | b, "^": a ^ b}[op]
        case "<<" | ">>":
            return a << b if op == "<<" else a >> b
        case _:
            raise MalformedIR(f"operator {op}")
