"""Random products with every switch of their kernels drawn: vectors, elements dealt out in turns,
registers walked there and back, tiles fetched ahead, rectangles of work-items. What the device
computes is what the interpreter makes of the C program.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest
from deriving import every_step
from test_recipes import HEAD, LOOPS, READS, equal, outcome
from tilings import ROOM

from loopxform.codegen import emit
from loopxform.errors import LoopxformError
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.recipes.tile import tile
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Options, Recipe
from loopxform.verify.check_run import arguments

RUNS = ({"n": 19, "m": 13, "p": 3}, {"n": 8, "m": 4, "p": 3}, {"n": 5, "m": 16, "p": 1})
RECIPES: tuple[Recipe | None, ...] = (None, "register", "register", "register", "one-sided")
MARKS = {
    "dealt": "block-cyclic ",
    "single": "block-cyclic .* 1$",
    "back": "serpentine ",
    "ahead": "pipeline ",
    "read": "register-pipeline ",
    "between": "register-pipeline .* interleaved",
    "past-registers": "pipeline .* async",
    "vectors": "vectorise ",
    "shifted": "shift-inwards ",
}


RECTANGULAR = ("0; j < m", "1; j < m - 1")
"""PoCL 3 miscompiles kernels of some triangular nests, whatever the switches are."""

BEFORE = ("", "", "float q = X[i] * Y[j];", "int r = idx[i];")
GUARDS = ("", "", "", "if (mask[k] > 0) ", "if (W[k] > 0) ", "if (k <= i) ")
STORES = ("{s}", "{s} + X[i]", "{s} * Y[j] + V[i + j]", "{s} > 0 ? {s} : -X[i + 1]")


def product(rng: random.Random) -> str:
    """Sums of products with an operand for rows and one for columns, and the like."""
    around = rng.choice((["i", "j"], ["i", "j"], ["g", "i", "j"]))
    shape = "][".join({"i": "n", "j": "m + n", "g": "p"}[v] for v in around)
    lines = [HEAD.replace("{shape}", shape) + "{"]
    bounds = {**LOOPS, "j": RECTANGULAR}
    lines += [f"for (int {v} = {rng.choice(bounds[v])}; {v}++) {{" for v in around]
    lines.append(rng.choice(BEFORE))
    sums = []
    for n in range(rng.choice((1, 1, 1, 2))):
        sums.append(f"s{n}")
        a, b = (rng.choice((*READS[v], *READS[v][:2] * 2)).replace("{k}", "k") for v in "ij")
        term = rng.choice((f"{a} * {b}", f"({a} - X[i]) * ({b} - Y[j])", f"{a} + {b}"))
        bound = rng.choice(("0; k < p", "1; k < p + 2"))
        lines.append(f"float s{n} = {rng.choice(('0', 'X[i]'))};")
        lines.append(f"for (int k = {bound}; k++) {rng.choice(GUARDS)}s{n} += {term};")
    value = rng.choice(STORES).replace("{s}", " + ".join(sums))
    guard = rng.choice(("", "", "", "if (s0 > 0.2f) "))
    lines.append(f"{guard}C[{']['.join(around)}] = {value};")
    return "\n".join([*lines, "}" * (len(around) + 1)]) + "\n"


def products(seed: int, count: int) -> Iterator[tuple[str, str]]:
    rng = random.Random(f"switches {seed}")
    for n in range(count):
        yield f"seed {seed}, product {n}", product(rng)


def tiles(rng: random.Random) -> dict[str, int]:
    rows, columns = rng.choice(((4, 4), (4, 8), (8, 4), (2, 8), (8, 2)))
    group = {"Ty": rng.choice((1, 2, 4)), "Tx": rng.choice((2, 4)), "Tk": rng.choice((2, 4))}
    return {**group, "Ry": rows, "Rx": columns}


def switches(rng: random.Random) -> Options:
    return Options(
        pad=rng.choice((None, False, True)),
        register_pipeline=rng.choice((None, True)),
        vector=rng.choice((1, 2, 2, 4)),
        index=32 if rng.random() < 0.3 else 64,
        warp_tile=rng.choice((None, (2, 2), (4, 2))),
        stages=rng.choice((1, 2, 2, 3)),
        serpentine=rng.choice((0, 1, 2, 2)),
        block_cyclic=rng.choice((None, None, None, 1, 2)),
        single_columns=rng.random() < 0.3,
        shift_inwards=rng.random() < 0.4,
        interleave_copies=rng.choice((None, 1, 3)),
    )


def check(name: str, text: str, counts: Counter[str]) -> None:
    fn = parse_file("f.c", text=text).unit.functions[0]
    rng = random.Random(f"switches of {name}")
    sizes, options, recipe = tiles(rng), switches(rng), rng.choice(RECIPES)
    try:
        done = tile(fn, sizes, recipe, ROOM, options=options)
        plan = emit.kernel(done.derivation, fp=SEPARATE)
    except LoopxformError as e:
        counts[f"refused {e.code}"] += 1
        return
    counts[done.recipe] += 1
    steps = list(map(str, every_step(done.derivation)))
    for mark, verb in MARKS.items():
        counts[mark] += any(re.match(verb, s) for s in steps)
    compiled = CompiledKernel(plan, choose())
    for seed, run in enumerate(RUNS):
        expected = outcome(fn, seed, run)
        if expected is None:
            continue
        found = arguments(fn, run, seed)
        compiled(**found)
        for array in {"C", "D"} & found.keys():
            said = f"{name}: {array} by {done.recipe} {sizes} {options} at {run}\n{text}"
            assert equal(expected[array], found[array]), said
            counts["compared"] += 1


def sweep(programs: Iterable[tuple[str, str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, text in programs:
        check(name, text, counts)
    print(counts)
    return counts


@pytest.mark.slow
@pytest.mark.device
def test_switches_on_random_nests() -> None:
    counts = sweep(products(300, 6))
    assert counts["register"] >= 2, counts


@pytest.mark.slow
@pytest.mark.device
def test_switches_on_many_random_nests() -> None:
    counts = sweep(products(303, 45))
    assert counts["compared"] >= 60
    assert min(counts[mark] for mark in MARKS) >= 1, counts
