"""Random typed expressions over one variable of every C type, and values for them."""

from __future__ import annotations

import math
import random
from typing import Any

from loopxform.ir.functions import parameters
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
    Const,
    Decl,
    Expr,
    Function,
    Param,
    Return,
    Select,
    Tile,
    Un,
    Var,
)
from loopxform.ir.types import FLOAT, HALF, SCALARS, Scalar, as_half
from loopxform.ir.typing import type_of
from loopxform.verify import arith

TYPES = list(SCALARS.values())
INTEGER_ONLY = ("%", "&", "|", "^", "<<", ">>")
ANY = ("+", "-", "*", "/", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "min", "max")
CALLS = (
    "fabsf",
    "sqrt",
    "fmax",
    "fminf",
    "floor",
    "sinf",
    "exp",
    "powf",
    "fma",
    "abs",
    "labs",
    "ldexpf",
    "isnan",
    "isinff",
    "isfinite",
    "isnormalf",
    "copysign",
    "fmodf",
    "logb",
    "roundf",
    "rint",
)


class Generator:
    """A stream of expressions, functions and arguments. `small` integers keep sums from
    overflowing, `calls` are the functions that may be called."""

    def __init__(self, seed: int, *, small: bool = False, calls: tuple[str, ...] = CALLS) -> None:
        self.small = small
        self.calls = calls
        self.rng = random.Random(seed)
        self.params = tuple(Param(f"v{n}", t) for n, t in enumerate(TYPES))
        self.types = {p.name: p.type for p in self.params}

    def constant(self) -> Const:
        t = self.rng.choice(TYPES)
        if t.is_float:
            value = self.rng.choice([0.5, 0.1, -3.25, 1e10, 16777217.0])
            return Const(as_half(value) if t == HALF else value, t)
        low, high = (0, 9) if self.small else arith.bounds(t)
        values = [0, 1, 2, 7, 31, high, low, high // 3]
        return Const(min(high, arith.bounds(t)[1], self.rng.choice(values)), t)

    def expression(self, depth: int) -> Expr:
        rng = self.rng
        if depth == 0 or rng.random() < 0.1:
            leaf = rng.random()
            if leaf < 0.7:
                return Var(rng.choice(self.params).name)
            return self.constant() if leaf < 0.95 else Tile("T", 16)
        kind = rng.choice(["bin"] * 8 + ["un", "un", "cast", "cast", "call", "select"])
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if kind == "bin":
            floats = any(type_of(e, self.types).is_float for e in (left, right))
            return Bin(rng.choice(ANY if floats else ANY + INTEGER_ONLY), left, right)
        if kind == "un":
            is_float = type_of(left, self.types).is_float
            return Un(rng.choice("-+!" if is_float else "-+!~"), left)
        if kind == "cast":
            return Cast(rng.choice(TYPES), left)
        if kind == "select":
            return Select(self.expression(depth - 1), left, right)
        name = rng.choice(self.calls)
        return Call(name, (left, right, left)[: len(parameters(name) or ())])

    def function(self, number: int) -> Function:
        """`T x = v; x op= e; return x` or `return e`."""
        e = self.expression(self.rng.randint(1, 5))
        name = f"f{number}"
        if self.rng.random() < 0.5:
            return Function(name, self.params, (Return(e),), returns=type_of(e, self.types))
        t = self.rng.choice(TYPES)
        x = Var("x")
        floats = t.is_float or type_of(e, self.types).is_float
        ops = ["", "+", "-", "*", "/", "max"] + ([] if floats else list(INTEGER_ONLY))
        start = Assign(x, self.expression(1))
        body = (Decl("x", t), start, Assign(x, e, self.rng.choice(ops)), Return(x))
        return Function(name, self.params, body, returns=t)

    def arguments(self) -> dict[str, Any]:
        return {p.name: self._value(p.type) for p in self.params}

    def _value(self, t: Scalar) -> int | float:
        if t.is_float:
            special = [0.0, -0.0, 1.0, math.inf, -math.inf, math.nan, 1e-45, 3.4e38]
            value = self.rng.choice([*special, *(self.rng.uniform(-100, 100) for _ in range(12))])
            return {HALF: as_half, FLOAT: arith.f32}.get(t, float)(value)
        low, high = arith.bounds(t)
        if self.small:
            low, high = max(low, -9), min(high, 9)
        near = [0, 1, 2, 3, high, low, high - 1, max(low, -1), max(low, -5)]
        return self.rng.choice(
            [min(high, max(low, v)) for v in near] + [self.rng.randint(low, high)]
        )
