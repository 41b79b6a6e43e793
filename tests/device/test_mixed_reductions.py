"""Loops that reduce to scalars, and at the same time to elements that data name: in loops of their
own, or with atomic updates where they share what an iteration computes."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import pytest
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.api.offload import OffloadedRoutine
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program


@dataclass(frozen=True)
class Case:
    """The body of a loop over i, and the verbs of the steps that take its reductions apart."""

    body: str
    verbs: tuple[str, ...]
    header: str = "for (int i = 0; i < n; i++)"


APART = ("distribute", "rfactor")
CASES = {
    "apart": Case("h[a[i] & 15]++; s += w[i];", APART),
    "bits": Case("s ^= w[i]; h[a[i] & 15] |= w[i]; t += a[i] * w[i];", APART),
    "of-what-is-computed": Case(
        "int b = a[i] & 15; h[b] += w[i]; if (b > s) s = b;", ("atomic-updates", "rfactor")
    ),
    "under-one-condition": Case(
        "if (w[i] & 1) { h[a[i] & 15]++; s += w[i]; t++; }", ("atomic-updates", "rfactor")
    ),
    "rows": Case(
        "h[a[i] & 15]++; s += w[i * m + j];",
        APART,
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)",
    ),
}
SIZES = tuple({"n": n, "m": m} for n, m in ((0, 3), (1, 1), (255, 2), (257, 3), (9000, 2)))


def text(case: Case) -> str:
    return f"""void f(int n, int m, const int a[restrict n], const int w[restrict n * m],
      int h[restrict 16], int found[restrict 2])
    {{
      int s = found[0], t = 1;
      {case.header} {{ {case.body} }}
      found[0] = s;
      found[1] = t;
    }}
    """


def done(name: str) -> OffloadedRoutine:
    return lx.loads(text(CASES[name]))["f"].offload(contract=False)


@pytest.mark.parametrize("name", CASES)
def test_steps(name: str) -> None:
    made = done(name)
    verbs = {type(r.step).verb for r in made.derivation.records}
    assert set(CASES[name].verbs) <= verbs
    assert not any("i" in p.loops for p in made.parts if p.kind == "one work-item")


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    plan = emit.kernel(done(name).derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(text=text(CASES[name])), SIZES, 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["apart", "of-what-is-computed"])
def test_without_races(name: str) -> None:
    plan = emit.kernel(done(name).derivation)
    given = [arguments(plan.start, {k: min(v, 37) for k, v in s.items()}, 5) for s in SIZES]
    assert_clean_and_right(plan, given)


@pytest.mark.parametrize("name", CASES)
def test_in_the_executor_of_groups(name: str) -> None:
    plan = emit.kernel(done(name).derivation)
    args = arguments(plan.start, {"n": 19, "m": 2}, 5)
    expected = copy.deepcopy(args)
    Program(plan.start).run(expected)
    execute(plan, args, seed=3)
    assert not compare(expected, args)


LEFT = {
    "a sum of real numbers": (
        "float s = 0; for (int i = 0; i < n; i++) { h[a[i]]++; s += w[i]; } h[0] += s;",
        "floating-point addition is not associative: 's' would be rounded differently "
        "(allow it: --fp reassociate)",
    ),
    "real numbers by key": (
        "for (int i = 0; i < n; i++) { h[a[i]]++; x[a[i]] += w[i]; }",
        "floating-point addition is not associative: 'x' would be rounded differently "
        "(allow it: --fp reassociate)",
    ),
    "conjunctions by key": (
        "int s = 0; for (int i = 0; i < n; i++) { h[a[i]] = h[a[i]] && w[i] > 3; s += a[i]; } "
        "h[0] += s;",
        "updates of 'h' (&&) cannot be atomic: devices have no atomic &&",
    ),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_stays_in_order_says_why(case: str) -> None:
    body, why = LEFT[case]
    head = (
        "int n, const int *restrict a, const float *restrict w, int *restrict h, float *restrict x"
    )
    made = lx.loads(f"void f({head}) {{ {body} }}")["f"].offload()
    (part,) = (p for p in made.parts if "i" in p.loops)
    assert part.kind == "one work-item"
    assert why in part.why


def test_a_counter_that_is_read_afterwards_leaves_the_loop_as_it_is() -> None:
    source = """void f(int n, const int a[restrict n], int h[restrict 16], int found[restrict 2])
    {
      long i; int s = 0;
      for (i = 1; i < n; i += 2) { int y = a[i]; h[y & 15]++; s += y; }
      found[0] = s;
      found[1] = i;
    }
    """
    (part,) = lx.loads(source)["f"].offload().parts
    assert "'i' is read after the loop over it ends" in part.why
