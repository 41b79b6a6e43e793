"""Short ways to apply steps to C text, to look at the result, and to run it."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from loopxform.errors import TransformError
from loopxform.frontend import parse_file
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing
from loopxform.ir.visit import loops
from loopxform.source import Sources
from loopxform.transforms import Derivation, Dispatch, Step, replay, step, with_tiles
from loopxform.verify.inputs import make_inputs
from loopxform.verify.interp import Program

CORPUS = Path(__file__).parents[1] / "corpus"
TILES = {"Ty": 2, "Tx": 3, "Tk": 4, "Ry": 2, "Rx": 3}
FREE_EXTENT = 40
"""The first extent of arrays whose declaration leaves it open."""


def corpus(name: str) -> str:
    return (CORPUS / f"{name}.c").read_text()


def c(body: str, params: str = "int n, float a[n], float b[n]") -> str:
    """A function with this body."""
    return f"void f({params}) {{ {body} }}"


def start(text: str) -> tuple[Derivation, Sources]:
    parsed = parse_file("t.c", text=dedent(text))
    (fn,) = parsed.unit.functions
    return Derivation(with_tiles(fn, TILES)), parsed.sources


def untiled(text: str) -> Function:
    """The function of a C text; no tile sizes have names yet."""
    return replace(start(text)[0].start, tiles=())


def derived(text: str, *steps: str) -> Derivation:
    return start(text)[0].run(tuple(step(s) for s in steps))


def shown(derivation: Derivation) -> str:
    """The last step, why it is legal, and the program after it."""
    last = derivation.records[-1]
    return f"{last.step}\n{last.reason}\n\n{listing(last.result)}"


def refusal(text: str, *steps: str) -> str:
    """What is printed where the last step is refused; the ones before it apply."""
    before, sources = start(text)
    before = before.run(tuple(step(s) for s in steps[:-1]))
    with pytest.raises(TransformError) as e:
        before.then(step(steps[-1]))
    return e.value.render(sources) + "\n"


def arguments(fn: Function, size: int) -> dict[str, Any]:
    """Integer parameters near `size`, no two the same."""
    integers = [p.name for p in fn.objects if not p.shape and p.type.is_integer]
    sizes = {name: max(0, size + n - 1) if size > 1 else size for n, name in enumerate(integers)}
    open_ended = {p.name: FREE_EXTENT for p in fn.objects if p.shape and p.shape[0] is None}
    return make_inputs(fn, sizes, 7, shapes=open_ended)


def assert_same_meaning(before: Function, after: Function, sizes: tuple[int, ...]) -> None:
    """Both compute the same from the same arguments, foralls in order and shuffled."""
    _assert_all_mean(before, [after], sizes)


def _assert_all_mean(before: Function, every: list[Function], sizes: tuple[int, ...]) -> None:
    """`every` function computes what `before` does."""
    programs, reference = [(Program(fn), _orders(fn)) for fn in every], Program(before)
    for size in sizes:
        given = arguments(before, size)
        expected = copy.deepcopy(given)
        result = reference.run(expected)
        for fn, (program, orders) in zip(every, programs):
            for order in orders if _assumed(fn, given) else ():
                found = copy.deepcopy(given)
                assert program.run(found, order_seed=order) == result
                for name, value in expected.items():
                    assert np.array_equal(value, found[name], equal_nan=True), (name, size, order)


def _assumed(fn: Function, given: dict[str, Any]) -> bool:
    """Whether what a program takes for granted holds."""
    sizes = {name: int(value) for name, value in given.items() if np.ndim(value) == 0}
    return all(evaluate(e, sizes) for e in fn.assumes)


def every_step(derivation: Derivation) -> list[Step]:
    """The steps, those of all variants too."""
    out: list[Step] = []
    for r in derivation.records:
        out.append(r.step)
        if isinstance(r.step, Dispatch):
            out += (s for v in r.step.variants for s in v.steps)
    return out


def _orders(fn: Function) -> tuple[int | None, ...]:
    """Seeds of the orders that tell foralls from loops; one where there are none."""
    return (None, 1, 2) if any(s.loop.parallel for s in loops(fn)) else (None,)


def assert_step(text: str, *steps: str, sizes: tuple[int, ...] = (0, 1, 5, 8)) -> str:
    """Applies the steps and returns `shown`; every intermediate program means the same, and the
    steps survive being written as text and as JSON."""
    first, _ = start(text)
    done = first.run(tuple(step(s) for s in steps))
    assert all(step(str(record.step)) == record.step for record in done.records)
    _assert_all_mean(first.function, [record.result for record in done.records], sizes)
    assert replay(first, done.to_json()["steps"]).function == done.function
    return shown(done)
