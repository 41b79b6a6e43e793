"""The control flow of the host: which kernels are launched, in order, with which scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias, assert_never

from loopxform.codegen.host.schedule import Choose, Item, Launch, Repeat, Set
from loopxform.codegen.plan import Plan
from loopxform.errors import ArgumentError
from loopxform.ir import whiles
from loopxform.ir.evaluate import evaluate

Ask: TypeAlias = Callable[[str], int]
"""The number that the kernels launched so far have left in a flag."""


class DataAhead(Exception):
    """What is launched next depends on data."""


def not_known(flag: str) -> int:
    """The answer as long as no kernel runs."""
    raise DataAhead(flag)


def launched(
    plan: Plan, scalars: Mapping[str, int], ask: Ask
) -> Iterator[tuple[int, dict[str, int]]]:
    """The number of each kernel that is launched, and the scalars as they are then. Raises
    ArgumentError where a condition of a launch does not hold, ZeroDivisionError as C would trap."""
    return _items(plan.schedule, plan, dict(scalars), ask)


def _items(
    items: tuple[Item, ...], plan: Plan, values: dict[str, int], ask: Ask
) -> Iterator[tuple[int, dict[str, int]]]:
    for x in items:
        match x:
            case Launch(number):
                for c in plan.kernels[number].conditions:
                    if not evaluate(c.expr, values):
                        raise ArgumentError(c.why)
                yield number, dict(values)
            case Repeat(loop, body, flag, turn):
                values[loop.var] = evaluate(loop.lo, values)
                test = whiles.test(replace(loop, hi=whiles.end(loop)) if flag else loop)
                values |= {turn: 1} if turn else {}
                while evaluate(test, values) and (not flag or _goes_on(ask(flag), turn)):
                    yield from _items(body, plan, values, ask)
                    values[loop.var] += evaluate(loop.step, values)
            case Choose(cond, then, orelse, flag):
                taken = then if (ask(flag) if flag else evaluate(cond, values)) else orelse
                yield from _items(taken, plan, values, ask)
            case Set(name, _, value):
                values[name] = evaluate(value, values)
            case _:
                assert_never(x)


def _goes_on(told: int, turn: str) -> bool:
    """Whether a flag says so: below 0 it may be the number of the last turn."""
    return told > 0 if turn else told != 0
