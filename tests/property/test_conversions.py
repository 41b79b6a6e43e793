"""Reductions that convert at each step, against brute force: an accumulator of one type, operands
of another, every order of a few values that tell the conversions apart."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest

import loopxform as lx
from loopxform.verify.interp import Program
from loopxform.verify.pybody import InterpError

TYPES = ["_Bool", "unsigned char", "signed char", "short", "unsigned short", "int", "unsigned"]
VALUES: dict[str, list[float]] = {
    "_Bool": [0, 1],
    "unsigned char": [0, 1, 2, 200, 255],
    "signed char": [0, 1, 2, -1, -100],
    "short": [0, 2, -1, 300, 256],
    "unsigned short": [0, 2, 65535, 300, 256],
    "int": [0, 1, 2, -1, 300, 65536],
    "unsigned": [0, 1, 2, 300, 4294967295],
    "_Float16": [0.0, 0.5, 1.5, -0.75, 300.25],
    "float": [0.0, 0.5, 1.5, -0.75, 300.25],
}
UPDATES = {
    **{op: f"s {op}= x[i];" for op in ("+", "-", "*", "^", "|", "&")},
    "<": "if (x[i] < s) s = x[i];",
    ">": "s = x[i] > s ? x[i] : s;",
    "&&": "s = s && x[i];",
    "||": "s = s || x[i];",
    "^ truth": "s ^= x[i] > 1;",
    "< truth": "if ((x[i] > 1) < s) s = x[i] > 1;",
}
NEVER_IN_FLOAT = ("^", "|", "&")
TEXT = """
void f(int n, {value} x[n], {target} r[1]) {{
  {target} s = r[0];
  for (int i = 0; i < n; i++) {update}
  r[0] = s;
}}
"""


@pytest.mark.parametrize("target", TYPES)
def test_what_is_called_a_reduction_has_one_result_in_every_order(target: str) -> None:
    claimed = refuted = 0
    for value, (op, update) in product(VALUES, UPDATES.items()):
        if value in ("_Float16", "float") and op in NEVER_IN_FLOAT:
            continue
        text = TEXT.format(target=target, value=value, update=update)
        routine = lx.loads(text).routine()
        (loop,) = routine.check()
        ordered = all(len(r) == 1 for r in results(routine, VALUES[target][:3], VALUES[value]))
        claimed += loop.parallel == "reduction"
        refuted += not ordered
        assert ordered or loop.parallel != "reduction", text
    assert claimed > 30
    assert refuted > 1


def results(routine: lx.Routine, starts: list[float], operands: list[float]) -> list[set[float]]:
    """The results of every order of two values, for some first values, where they are
    defined."""
    out, program = [], Program(routine.function)
    for start, values in product(starts, combinations(operands, 2)):
        try:
            found = {result(routine, program, start, order) for order in permutations(values)}
        except InterpError:
            continue
        out.append(found)
    return out


def result(routine: lx.Routine, program: Program, start: float, values: tuple[float, ...]) -> float:
    x, r = np.array(values, routine.dtype("x")), np.array([start], routine.dtype("r"))
    program.run({"n": len(values), "x": x, "r": r})
    return float(r[0])
