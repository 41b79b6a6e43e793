"""Short ways to apply steps to C text, to look at the result, and to run it."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
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


@cache
def start(text: str) -> tuple[Derivation, Sources]:
    parsed = parse_file("t.c", text=dedent(text))
    (fn,) = parsed.unit.functions
    return Derivation(with_tiles(fn, TILES)), parsed.sources


def untiled(text: str) -> Function:
    """The function of a C text; no tile sizes have names yet."""
    return replace(start(text)[0].start, tiles=())


@cache
def derived(text: str, *steps: str) -> Derivation:
    """Many cases begin with the same steps: these are applied once."""
    return derived(text, *steps[:-1]).then(step(steps[-1])) if steps else start(text)[0]


def shown(derivation: Derivation) -> str:
    """The last step, why it is legal, and the program after it."""
    last = derivation.records[-1]
    return f"{last.step}\n{last.reason}\n\n{listing(last.result)}"


def refusal(text: str, *steps: str) -> str:
    """What is printed where the last step is refused; the ones before it apply."""
    before = derived(text, *steps[:-1])
    with pytest.raises(TransformError) as e:
        before.then(step(steps[-1]))
    return e.value.render(start(text)[1]) + "\n"


def arguments(fn: Function, size: int) -> dict[str, Any]:
    """Integer parameters near `size`, no two the same."""
    integers = [p.name for p in fn.objects if not p.shape and p.type.is_integer]
    sizes = {name: max(0, size + n - 1) if size > 1 else size for n, name in enumerate(integers)}
    open_ended = {p.name: FREE_EXTENT for p in fn.objects if p.shape and p.shape[0] is None}
    return make_inputs(fn, sizes, 7, shapes=open_ended)


def assert_same_meaning(before: Function, after: Function, sizes: tuple[int, ...]) -> None:
    """Both compute the same from the same arguments, foralls in order and shuffled."""
    _assert_means(after, [_run(before, size) for size in sizes])


def keeps_meaning(text: str, *steps: str, sizes: tuple[int, ...]) -> bool:
    """Applies steps, of which any may be refused (False); where none is, fails unless the program
    means the same."""
    before = start(text)[0]
    try:
        after = derived(text, *steps)
    except TransformError:
        return False
    assert_same_meaning(before.function, after.function, sizes)
    return True


@dataclass(frozen=True)
class Run:
    """What a program was given, what the arguments are afterwards, and what it returns."""

    size: int
    given: dict[str, Any]
    after: dict[str, Any]
    result: Any


def _run(fn: Function, size: int) -> Run:
    given = arguments(fn, size)
    after = copy.deepcopy(given)
    return Run(size, given, after, Program(fn).run(after))


@cache
def _run_at_start(text: str, size: int) -> Run:
    return _run(start(text)[0].function, size)


def _assert_means(fn: Function, runs: Iterable[Run]) -> None:
    """It does what was done in these runs."""
    program, orders = Program(fn), _orders(fn)
    for run in runs:
        for order in orders if _assumed(fn, run.given) else ():
            found = copy.deepcopy(run.given)
            assert program.run(found, order_seed=order) == run.result
            for name, value in run.after.items():
                numbers = np.asarray(value).dtype.names is None
                equal = np.array_equal(value, found[name], equal_nan=numbers)
                assert equal, (name, run.size, order)


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
    _assert_steps(text, steps, sizes)
    return shown(derived(text, *steps))


@cache
def _assert_steps(text: str, steps: tuple[str, ...], sizes: tuple[int, ...]) -> None:
    """Of each list of steps that cases begin with, once."""
    if not steps:
        return
    _assert_steps(text, steps[:-1], sizes)
    done = derived(text, *steps)
    last = done.records[-1]
    assert step(str(last.step)) == last.step
    _assert_means(last.result, [_run_at_start(text, size) for size in sizes])
    again = replay(derived(text, *steps[:-1]), [last.step.to_json()])
    assert again.function == done.function
