"""Statements of sequential loops in loops of their own, sorted by dependences."""

from __future__ import annotations

import random

import pytest
from deriving import keeps_meaning, start, step
from harness import assert_runs_agree

import loopxform as lx
from loopxform.api.offload import OffloadedRoutine
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.verify.cref import CSource

ROWS = (
    "void f(int n, int m, float a[restrict n][m], const float b[restrict n][n], "
    "float c[restrict n][m])"
)
CASES = {
    "symmetric-product": (
        "float t; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { t = 0;"
        " for (int k = 0; k < i; k++) { c[k][j] += 2 * a[i][j] * b[i][k]; t += a[k][j] * b[i][k]; }"
        " c[i][j] = 3 * c[i][j] + a[i][j] * b[i][i] + t; }"
    ),
    "read-a-row-later": (
        "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) {"
        " a[i][j] = c[i - 1][j] + b[i][0]; c[i][j] = c[i][j] * 2 + b[0][i]; }"
    ),
    "and-overwritten": (
        "for (int i = 1; i + 1 < n; i++) { a[i][0] = c[i - 1][0] + b[i][i];"
        " c[i][0] = c[i + 1][0] - b[0][i]; }"
    ),
}  # fmt: skip
SIZES = [{"n": n, "m": m} for n, m in ((1, 3), (2, 1), (3, 5), (33, 17))]


def text(name: str) -> str:
    return f"{ROWS} {{ {CASES[name]} }}"


def offloaded(name: str) -> OffloadedRoutine:
    return lx.loads(text(name))["f"].offload(contract=False)


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    routine = offloaded(name)
    assert {p.kind for p in routine.parts} == {"kernel"}, routine.parts
    plan = emit.kernel(routine.derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(text=text(name)), SIZES, 3)


SEED = 72


def test_random_loops() -> None:
    """Where statements are sorted by dependences, all elements are as before."""
    rng = random.Random(SEED)
    texts = [_random(rng) for _ in range(60)]
    legal = [x for x in texts if keeps_meaning(x, "distribute i reordered", sizes=(1, 2, 6))]
    in_order = [x for x in legal if not step("distribute i").check(start(x)[0].function)]
    numbers = (len(in_order), len(legal) - len(in_order), len(texts) - len(legal))
    assert min(numbers) >= 6, (SEED, numbers)


def _random(rng: random.Random) -> str:
    """A loop of two to four stores to three arrays, of which it reads neighbours."""

    def element() -> str:
        return f"{rng.choice('abc')}[i + {rng.randint(0, 2)}]"

    stores = " ".join(
        f"{rng.choice('abc')}[i + {rng.choice([0, 1, 1, 2])}] {rng.choice(['=', '=', '+='])} "
        f"{element()} * 3 + i;"
        for _ in range(rng.randint(2, 4))
    )
    header = rng.choice(["int i = 0; i < n; i++", "int i = n - 1; i >= 0; i--"])
    arrays = ", ".join(f"int {x}[n + 2]" for x in "abc")
    return f"void f(int n, {arrays}) {{ for ({header}) {{ {stores} }} }}"
