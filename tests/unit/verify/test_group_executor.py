"""Kernels of the corpus in the group executor: those that are right agree with the interpreter, and
those of a code generator with a fault do not get through."""

from __future__ import annotations

import copy
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopxform.codegen import emit
from loopxform.codegen.opencl import barriers, cooperative_copy, kernel
from loopxform.codegen.opencl.software_pipeline import Ahead, AsynchronousAhead
from loopxform.errors import ArgumentError
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin
from loopxform.recipes.tile import tile
from loopxform.schedule.params import PLAIN, Options, Recipe
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation
from loopxform.verify.check_run import arguments
from loopxform.verify.group.execute import Executor, execute
from loopxform.verify.group.fault import ExecutionError
from loopxform.verify.interp import Program
from loopxform.verify.values import wanted

NESTS = Path(__file__).parents[3] / "corpus" / "nests"
SMALL = {"Ty": 2, "Tx": 4, "Tk": 4, "Ry": 2, "Rx": 4}

Case = tuple[str, Recipe | None, str, bool]
CASES: tuple[Case, ...] = (
    ("gemm_half", "register", "h100", True),
    ("gemm_double", "register", "generic", True),
    ("lower_pairs", "register", "h100", True),
    ("nbody_structs", None, "generic", False),
    ("filter_7x7", None, "h100", False),
    ("attention_scores", "block", "generic", True),
)


@cache
def derived(name: str, recipe: Recipe | None, profile: str, small: bool) -> Derivation:
    (fn,) = (f for f in parse_file(str(NESTS / f"{name}.c")).unit.functions if f.name == name)
    given = {} if not small else SMALL if recipe == "register" else {"Ty": 2, "Tx": 4, "Tk": 4}
    return tile(fn, given, recipe, PROFILES[profile]).derivation


def inputs(name: str, d: Derivation, most: int = 9) -> dict[str, Any]:
    data = tomllib.loads((NESTS / f"{name}.toml").read_text())
    sizes = {n: min(v, most) for n, v in data["residual"].items()} | data.get("fixed", {})
    values = {n: wanted(text) for n, text in data.get("inputs", {}).items()}
    return arguments(d.start, sizes, 5, values)


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=() if n < 4 else pytest.mark.slow) for n, c in enumerate(CASES)]
)
def test_kernels_agree_with_the_interpreter(case: Case) -> None:
    d = derived(*case)
    given = inputs(case[0], d)
    expected = copy.deepcopy(given)
    Program(d.start).run(expected)
    plan = emit.kernel(d, fp=SEPARATE)
    for asynchronous in (True, False):
        executor = Executor(plan, asynchronous=asynchronous)
        for seed in range(2):
            after = copy.deepcopy(given)
            executor.run(after, seed=seed)
            for n, value in expected.items():
                assert _equal(value, after[n]), (case, n)


def _equal(a: Any, b: Any) -> bool:
    is_float = np.asarray(a).dtype.kind == "f"
    return np.array_equal(a, b, equal_nan=is_float)


def test_arguments_that_do_not_fit_are_refused() -> None:
    d = derived(*CASES[2])
    given = inputs("lower_pairs", d)
    given["A"] = given["A"].astype(np.float32)
    with pytest.raises(ArgumentError, match="A must be an array of float64"):
        execute(emit.kernel(d), given)


# ---------------------------------------------------------------- faults of the code generator

AHEAD = Options(stages=2, pad=False, register_pipeline=False, serpentine=0)
EARLY = Options(stages=3, async_copies=True, pad=False, register_pipeline=False, serpentine=0)


@cache
def product(options: Options) -> Derivation:
    text = (
        "void f(int M, int U, int N, const float A[M][U], const float B[U][N],"
        " float C[restrict M][N]) { for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {"
        " float s = 0; for (int k = 0; k < U; k++) s += A[i][k] * B[k][j]; C[i][j] = s; } }"
    )
    (fn,) = parse_file("f.c", text=text).unit.functions
    return tile(fn, SMALL, "register", PROFILES["h100"], options=options).derivation


def outcome(d: Derivation) -> str:
    """`right`, `wrong`, or the kind of the fault."""
    given = arguments(d.start, {"M": 9, "U": 17, "N": 10}, 3)
    expected = copy.deepcopy(given)
    Program(d.start).run(expected)
    try:
        execute(emit.kernel(d, fp=SEPARATE), given)
    except ExecutionError as e:
        return str(e.kind)
    return "right" if _equal(given["C"], expected["C"]) else "wrong"


def _no_clamp(s: Any, n: int, counters: Any) -> Any:
    return cooperative_copy._index(s, n, counters)


def _late(self: Ahead) -> list[str]:
    """The prologue fills the first buffer with the second tile."""
    lo = simplify(Bin("+", self.loop.lo, self.loop.step))
    return self._if(lo, self._lines(lo, "0"))


MUTANTS: dict[str, tuple[Options, object, str, object, str]] = {
    "no barrier": (PLAIN, barriers, "barrier", lambda *_: ";", "race|unset"),
    "no barrier in a pipeline": (AHEAD, kernel, "with_local", lambda _: ";", "race|unset"),
    "copies past the end": (PLAIN, cooperative_copy, "_source", _no_clamp, "bounds"),
    "a prologue that is an iteration late": (AHEAD, Ahead, "first", _late, "wrong|unset"),
    "no prologue": (AHEAD, Ahead, "first", lambda _: [], "unset|wrong"),
    "no wait for a copy": (EARLY, AsynchronousAhead, "_wait", lambda _: ";", "copy"),
    "a copy into the buffer in use": (
        EARLY,
        AsynchronousAhead,
        "_later",
        lambda self, _: self.own.stage,
        "copy|race|unset|wrong",
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_of_the_code_generator_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options, owner, attribute, value, kinds = MUTANTS[name]
    d = product(options)
    assert outcome(d) == "right"
    monkeypatch.setattr(owner, attribute, value)
    assert outcome(d) in kinds.split("|")
