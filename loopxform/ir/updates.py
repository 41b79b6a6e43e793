"""What `target op= value` computes. The operators of atomic updates are those of reductions; minima
and maxima of real numbers are told apart by what a NaN does:

    min        value < target ? value : target      neither is replaced by a NaN, nor replaces one
    fmin fminf fmin(target, value)                  a NaN counts for nothing

Those without an operator are stores of a value that is the same wherever the function stores it.
"""

from __future__ import annotations

from loopxform.ir.nodes import Assign, Bin, Call, Expr
from loopxform.ir.printer import expr_text

CALLS = frozenset(["fmin", "fminf", "fmax", "fmaxf"])
"""Operators that are functions of C."""


def updated(op: str, target: Expr, value: Expr) -> Expr:
    """The value of an element after its update; what is compared keeps the element where neither
    is less."""
    if op in CALLS:
        return Call(op, (target, value))
    return Bin(op, value, target) if op in ("min", "max") else Bin(op, target, value)


def atomic_word(s: Assign) -> str:
    """What atomic updates of an element have in common that may change places: the operator, of a
    difference that of a sum; of a store its value."""
    return "+" if s.op == "-" else s.op or f"= {expr_text(s.value)}"
