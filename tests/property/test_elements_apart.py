"""Elements of one array that are kept in scalars, against the interpreter: random bodies read and
write several elements, some of which are one. Each element that is kept leaves the meaning as it
was, in loops and in foralls in any order."""

from __future__ import annotations

import random

from deriving import assert_same_meaning, derived, start

from loopxform.errors import TransformError
from loopxform.transforms import Derivation, step

SEEDS = 80
FIXED = ("y[3*i]", "y[3*i + 1]", "y[3*i + 2]", "y[3*i + 4]", "y[i]", "y[2*i + n]", "y[n]")
MOVING = ("y[3*i + j]", "y[j]", "y[n + 3 - j]", "x[j]", "y[k[i]]", "y[k[i] + 1]")
PARAMS = "int n, float y[4*n + 9], const float x[n + 3], const int k[n]"


def program(rng: random.Random) -> str:
    fixed = rng.sample(FIXED, rng.choice((1, 2, 3)))
    elements = [*fixed, *fixed, rng.choice((*MOVING, *fixed, *fixed))]

    def statement() -> str:
        target = rng.choice(fixed)
        op = rng.choice(("+=", "+=", "-=", "="))
        value = f"{rng.choice(elements)} * {rng.choice(('x[j]', '0.5f', rng.choice(elements)))}"
        guard = rng.choice(("", "", "", "if (j > 1) ", f"if ({rng.choice(elements)} > 0) "))
        return f"{guard}{target} {op} {value};"

    inner = " ".join(statement() for _ in range(rng.choice((1, 2, 3))))
    before = rng.choice(("", "", f"{rng.choice(fixed)} = 0;"))
    after = rng.choice(("", "", f"{rng.choice(fixed)} /= 2;", f"y[n] += {rng.choice(fixed)};"))
    loop = f"for (int j = 0; j < {rng.choice(('n', '3', 'i'))}; j++) {{ {inner} }}"
    return f"void f({PARAMS}) {{ for (int i = 0; i < n; i++) {{ {before} {loop} {after} }} }}"


def kept(text: str) -> list[Derivation]:
    """The steps that keep elements of y, one after the other, in a loop or a forall."""
    found = []
    for first in ((), ("parallelise i",)):
        try:
            done = derived(text, *first)
        except TransformError:
            continue
        for _ in range(3):
            try:
                done = done.then(step("scalarise y i"))
            except TransformError:
                break
            found.append(done)
    return found


def test_elements_that_are_kept() -> None:
    several = 0
    for seed in range(SEEDS):
        text = program(random.Random(seed))
        for done in kept(text):
            assert_same_meaning(start(text)[0].function, done.function, (1, 2, 5))
            several += done.records[-1].reason.endswith("no other subscript means")
    assert several > SEEDS / 10
