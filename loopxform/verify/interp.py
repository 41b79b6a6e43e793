"""The meaning of the loop tree: runs a function on numbers and arrays with the semantics of C.

Integers wrap, float operations round to float, every access is checked, and an element that was
never set cannot be read. The iterations of a `forall` may run in a shuffled order, so that a loop
that is not parallel shows it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from loopxform.ir.nodes import Expr, Function, Param, Return
from loopxform.ir.types import FLOAT, HALF, Scalar, as_half
from loopxform.ir.typing import type_of
from loopxform.ir.visit import names, writes
from loopxform.runtime.structs import with_members
from loopxform.source import Loc
from loopxform.verify import arith, memory
from loopxform.verify.memory import Fault, Memory, Number
from loopxform.verify.pybody import InterpError, Translation

__all__ = ["InterpError", "Program", "evaluate", "run"]

_RUNTIME: dict[str, Any] = {
    name: getattr(arith, name)
    for name in (
        "divide",
        "as_double",
        "as_float",
        "as_uint",
        "as_ulong",
        "f32",
        "int_to_f32",
        "larger",
        "modulo",
        "quotient",
        "shift_left",
        "shift_right",
        "smaller",
        "steps",
        "truncate",
    )
} | {"allocate": memory.allocate, "copy": memory.copy, "f16": as_half}

Arguments = Mapping[str, Any]


def run(fn: Function, args: Arguments, *, order_seed: int | None = None) -> Number | None:
    """Runs `fn` and returns its value (None for void).

    `args` gives every parameter and global by name: a number for a scalar, an array of the exact
    element type for an array, which is updated in place. A scalar global may be a 0-d array, which
    is updated too. A flat array may have any shape; another has the declared one (its first extent
    is free where C does not state it). With `order_seed` the iterations of parallel loops run in
    an order shuffled by it, else in sequence. Raises InterpError.
    """
    return Program(fn).run(args, order_seed=order_seed)


def evaluate(e: Expr, values: Mapping[str, tuple[Scalar, Number]]) -> Number:
    """The value of an expression of scalars, given their types and values. Raises InterpError."""
    value = _expression(e, tuple((n, values[n][0]) for n in sorted(names(e)))).run(
        {n: values[n][1] for n in names(e)}
    )
    assert value is not None
    return value


@lru_cache(1024)
def _expression(e: Expr, types: tuple[tuple[str, Scalar], ...]) -> Program:
    """A function that returns the value of an expression."""
    params = tuple(Param(*p) for p in types)
    return Program(Function("evaluate", params, (Return(e),), returns=type_of(e, dict(types))))


class Program:
    """A function translated once, to be run many times. Raises InterpError where the function
    holds statements that are not modelled."""

    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.translation = Translation(fn)
        namespace = dict(_RUNTIME)
        for name in self.translation.expressions.functions:
            namespace[f"m_{name}"] = arith.math_function(name)
        exec(compile(self.translation.text, "<loop tree>", "exec"), namespace)
        self._program: Callable[..., tuple[Number | bool | None, dict[str, Number]]]
        self._program = namespace["program"]
        assigned = writes(fn.body)
        self._written = [p for p in fn.objects if p.shape and p.name in assigned]

    def run(self, args: Arguments, *, order_seed: int | None = None) -> Number | None:
        """See `run`."""
        args = with_members(self.fn, args)
        bound = self._bind(args)
        order = _shuffler(order_seed)
        try:
            value, scalars = self._program(order, *bound.values())
        except Fault as e:
            raise InterpError(str(e), loc=self._place(e)) from e
        except UnboundLocalError as e:
            name = re.sub(r".*'v\d+_(\w+)'.*", r"\1", str(e))
            raise InterpError(f"{name} is read before it is set", loc=self._place(e)) from e
        for p in self._written:
            array = args[p.name]
            array[...] = np.array(bound[p.name].data, array.dtype).reshape(array.shape)
        for name, final in scalars.items():
            if isinstance(args[name], np.ndarray):
                args[name][...] = final
        return int(value) if isinstance(value, bool) else value

    def _place(self, e: BaseException) -> Loc | None:
        """The place of the statement whose Python line raised `e`."""
        line, trace = 1, e.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == "<loop tree>":
                line = trace.tb_lineno
            trace = trace.tb_next
        return self.translation.origins[line - 1].loc

    def _bind(self, args: Arguments) -> dict[str, Any]:
        missing = [p.name for p in self.fn.objects if p.name not in args]
        if missing:
            raise InterpError(f"no argument is given for {', '.join(missing)}")
        scalars = [(p, _scalar(p, args[p.name])) for p in self.fn.objects if not p.shape]
        known = {p.name: (p.type, value) for p, value in scalars}
        bound: dict[str, Any] = {p.name: value for p, value in scalars}
        arrays: list[tuple[np.ndarray[Any, Any], Memory]] = []
        for p in self.fn.objects:
            if p.shape:
                bound[p.name] = _array(p, args[p.name], known, arrays)
        return {p.name: bound[p.name] for p in self.fn.objects}


def _shuffler(seed: int | None) -> Callable[[Sequence[int]], Iterable[int]]:
    if seed is None:
        return lambda values: values
    rng = random.Random(seed)
    return lambda values: rng.sample(values, len(values))


def _scalar(p: Param, value: Any) -> Number:
    """A Python number of the parameter's type."""
    number: Number = value.item() if isinstance(value, np.ndarray | np.generic) else value
    if p.type.is_float:
        return {HALF: as_half, FLOAT: arith.f32}.get(p.type, float)(number)
    low, high = arith.bounds(p.type)
    if number != int(number) or not low <= number <= high:
        raise InterpError(f"{value} is not a value of {p.type} {p.name}")
    return int(number)


def _has_shape(array: np.ndarray[Any, Any], shape: Sequence[int | None]) -> bool:
    return len(shape) == array.ndim and all(d in (None, n) for d, n in zip(shape, array.shape))


def _array(
    p: Param,
    array: Any,
    scalars: dict[str, tuple[Scalar, Number]],
    seen: list[tuple[np.ndarray[Any, Any], Memory]],
) -> Memory:
    if not isinstance(array, np.ndarray) or array.dtype != np.dtype(p.type.numpy):
        raise InterpError(f"{p.name} must be an array of {p.type.numpy}")
    stated, declared = (
        [None if d is None else int(evaluate(d, scalars)) for d in shape]
        for shape in (p.shape, p.declared)
    )
    inner = [d for d in stated[1:] if d is not None]
    if any(d < 0 for d in [*inner, stated[0] or 0]):
        raise InterpError(f"{p.name} has a negative extent")
    row = int(np.prod(inner, dtype=np.int64))
    rows = stated[0]
    if p.flat:
        rows = -(-array.size // row) if row else 0
    elif not any(_has_shape(array, x) for x in (stated, declared)):
        raise InterpError(f"{p.name} has shape {array.shape}, the function states {stated}")
    dims = (array.shape[0] if rows is None else rows, *inner)
    for other, known in seen:
        if array.size and np.shares_memory(array, other):
            same = array.ctypes.data == other.ctypes.data and array.size == other.size
            if not same or array.dtype != other.dtype:
                raise InterpError(f"{p.name} partly overlaps {known.name}")
            return Memory(p.name, dims, known.data)
    new = Memory(p.name, dims, array.ravel().tolist())
    seen.append((array, new))
    return new
