"""Loops whose iterations overwrite what earlier ones read: from copies, at the same time."""

from __future__ import annotations

import random

import pytest
from deriving import keeps_meaning
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.api.offload import OffloadedRoutine
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.frontend import parse_file
from loopxform.ir.printer import listing
from loopxform.offload.program import offload
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

HEAD = "void f(int n, int m, float a[restrict n + 2][m + 2], const float b[restrict n + 2][n + 2])"
CASES = {
    "triangular-product": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {"
        " for (int k = i + 1; k < n; k++) a[i][j] += b[k][i] * a[k][j];"
        " a[i][j] = 1.5f * a[i][j]; }"
    ),
    "upper-from-below": (
        "for (int i = n - 1; i >= 0; i--) for (int j = 0; j < m; j++) {"
        " float s = 0; for (int k = 0; k < i; k++) s += b[i][k] * a[k][j]; a[i][j] = s; }"
    ),
    "diagonal": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = a[i + 1][j + 1];"
    ),
    "first-row": "for (int i = 0; i < n; i++) a[0][i % 2] = a[1][0];"
    " for (int j = 0; j < m; j++) a[0][j] = a[0][j + 1] * b[0][0];",
}  # fmt: skip
SIZES = [{"n": n, "m": m} for n, m in ((0, 3), (1, 1), (2, 5), (17, 33), (40, 7))]


def text(name: str) -> str:
    return f"{HEAD} {{ {CASES[name]} }}"


def offloaded(name: str) -> OffloadedRoutine:
    return lx.loads(text(name))["f"].offload(contract=False)


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    routine = offloaded(name)
    assert any("from a copy of a" in p.why for p in routine.parts), routine.parts
    assert [p.copied for p in routine.parts if p.copied] == ["a"]
    assert_runs_agree(
        emit.kernel(routine.derivation, fp=SEPARATE), CSource(text=text(name)), SIZES, 3
    )


STYLES = {
    "ends": "void f(int n, int a[restrict n + 2]) { for (int i = 0; i < n; i++)"
    " for (int k = 0; k < a[i + 1] % 5; k++) a[i] += k; }",
    "pointer": "void f(int n, int *restrict a) { int *p = a;"
    " for (int k = n - 1; k > 0; k--, p++) *p = p[1] * 3; }",
    "structs": "typedef struct { int x, y; } P; void f(int n, P p[restrict n + 1])"
    " { for (int i = 0; i < n; i++) { p[i].x = p[i + 1].x; p[i].y = p[i + 1].y + p[i].x; } }",
}


@pytest.mark.device
@pytest.mark.parametrize("name", STYLES)
def test_other_styles(name: str) -> None:
    routine = lx.loads(STYLES[name])["f"].offload()
    assert any("from a copy of" in p.why for p in routine.parts), routine.parts
    sizes = [{"n": n} for n in (1, 2, 257)]
    assert_runs_agree(emit.kernel(routine.derivation), CSource(text=STYLES[name]), sizes, 5)


@pytest.mark.oclgrind
def test_without_races() -> None:
    plan = emit.kernel(offloaded("diagonal").derivation, fp=SEPARATE)
    assert_clean_and_right(plan, [arguments(plan.start, {"n": 9, "m": 5}, 5)])


def test_a_copy_that_does_not_pay_is_not_made() -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = a[i + 1][j];"
    routine = lx.loads(f"{HEAD} {{ {loops} }}")["f"].offload()
    assert [p.kind for p in routine.parts] == ["kernel"]
    assert "a_old" not in listing(routine.derivation.function)


EARLIER = """
void f(int n, int m, int a[restrict n + 2 * m + 12][2 * n + m + 12], const int b[restrict n])
{
  for (int q = 0; q < m; q++)
    for (int k = 0; k < n; k += 2)
      for (int l = 0; l < n; l += 2)
        a[k][l] = a[k + 1][l] - a[k + 1][l + 2];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = a[i + 2][j + 1] - b[i];
}
"""
"""What is copied is less than the array is declared to have, and steps of the nest before it have
made that hard to tell."""


def test_no_more_is_copied_than_the_program_touches() -> None:
    (fn,) = parse_file("f.c", text=EARLIER).unit.functions
    plan = emit.kernel(offload(fn, {}, PROFILES["pocl"]).derivation)
    for n, m in ((0, 3), (5, 2)):
        expected, args = (arguments(fn, {"n": n, "m": m}, 3) for _ in range(2))
        Program(fn).run(expected)
        execute(plan, args)
        assert not compare(expected, args)


SEED = 71


def test_random_loops() -> None:
    """Where a read is from a copy, all elements are as before; else the loop is refused."""
    rng = random.Random(SEED)
    texts = [_random(rng) for _ in range(40)]
    legal = [keeps_meaning(x, "node-split a i", sizes=(1, 2, 7)) for x in texts]
    assert min(legal.count(True), legal.count(False)) >= 6, (SEED, legal)


def _random(rng: random.Random) -> str:
    """A loop of one or two stores, with reads before and behind what they store."""

    def element() -> str:
        place = rng.choice(["i", "i", "n + 3 - i", "4"])
        return f"a[{place} + {rng.randint(0, 3)}]" if place == "i" else f"a[{place}]"

    stores = " ".join(
        f"{rng.choice(['', 'if (b[i] > 3) '])}{element()} {rng.choice(['=', '+='])} "
        f"{element()} * 3 + {rng.choice([element(), 'b[i]'])};"
        for _ in range(rng.randint(1, 2))
    )
    header = rng.choice(["int i = 0; i < n; i++", "int i = n - 1; i >= 0; i--"])
    return f"void f(int n, int a[n + 5], const int b[n + 5]) {{ for ({header}) {{ {stores} }} }}"
