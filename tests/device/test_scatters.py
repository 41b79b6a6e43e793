"""Stores to elements that data name, of which the last one wins: kernels against the C."""

from __future__ import annotations

import copy
import random

import pytest
from harness import assert_clean_and_right

import loopxform as lx
from loopxform.codegen import emit
from loopxform.errors import LoopxformError
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, run_reference
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

CASES = {
    "values": ("float v[n], float h[m]", "i", "h[key[i]] = v[i];"),
    "iterations": ("int h[256]", "i", "h[key[i] & 255] = i;"),
    "size_t": ("double v[n], double h[m]", "i: size_t", "if (v[i] > 5) h[key[i]] = v[i] / 2;"),
    "pixels": (
        "unsigned char v[n][3], unsigned char h[9][m]",
        "i",
        "int x = key[i], g = v[i][0] + v[i][1]; if (g > 5) g = 5; if (x < m) h[g & 7][x] = g + i;",
    ),
    "several": (
        "int v[n], int h[m], short g[m], int c[m]",
        "i",
        "int k = key[i]; h[k] = v[i]; g[k] = v[i] * 3; c[k]++;",
    ),
    "backwards": ("int v[n], int h[m]", "i: down", "h[key[i]] = v[i];"),
    "then-changed": ("int v[n], int h[m]", "i", "h[key[i]] = v[i]; v[i] = 0;"),
    "nest": (
        "int v[n][3], int h[m]",
        "i",
        "for (int j = 0; j < 3; j++) h[(key[i] + j) % m] = v[i][j];",
    ),
}
HEADS = {
    "i": "int i = 0; i < n; i++",
    "i: size_t": "size_t i = 0; i < (size_t)n; i++",
    "i: down": "int i = n - 1; i >= 0; i--",
}


def text(name: str) -> str:
    params, kind, body = CASES[name]
    head = f"void f(int n, int m, const int key[n], {params})"
    return f"#include <stddef.h>\n{head} {{ for ({HEADS[kind]}) {{ {body} }} }}\n"


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    f = lx.loads(text(name))["f"]
    done = f.offload(limits="h100", fp="strict")
    assert {p.kind for p in done.parts} == {"kernel"}
    call = done.compile()
    for n, m in ((0, 1), (1, 1), (2, 1), (255, 7), (256, 300), (5000, 40)):
        given = arguments(f.function, {"n": n, "m": m}, n)
        expected = copy.deepcopy(given)
        run_reference(CSource(text=text(name)), f.function, expected)
        call(**given)
        assert not compare(expected, given), (n, m)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["size_t", "pixels", "nest"])
def test_in_the_simulator(name: str) -> None:
    plan = emit.kernel(lx.loads(text(name))["f"].offload(Tx=4, Ty=2).derivation)
    sizes = [{"n": n, "m": m} for n, m in ((0, 1), (1, 1), (7, 3), (8, 9), (37, 5))]
    assert_clean_and_right(plan, [arguments(plan.start, s, 5) for s in sizes])


# ---------------------------------------------------------------- random programs


def program(seed: int) -> str:
    """A loop, or a nest of two, that stores to one or two arrays by key, maybe in steps of time."""
    rng = random.Random(seed)
    both, steps = rng.random() < 0.3, rng.random() < 0.25
    names = ["i", "v[i]", "w[i]", "3", "u", *["j", "b[i][j]"] * both, *["t"] * steps]

    def key(extent: int) -> str:
        return f"({rng.choice(['v[i]', 'i * 5', 'w[i] + i', *['b[i][j]'] * both])}) & {extent - 1}"

    def value() -> str:
        return " ".join((rng.choice(names), rng.choice("+-*^"), rng.choice(names)))

    body = [f"h[{key(8)}] = {value()};"]
    if rng.random() < 0.4:
        body[0] = f"int x = {value()}; if (x > 2) x = w[i]; h[{key(8)}] = x;"
    if rng.random() < 0.4:
        body[0] = f"if (v[i] {rng.choice(['<', '>', '!='])} 3) {{ {body[0]} }}"
    more = [
        f"g[{key(2)}][{key(4)}] = {value()};",
        f"c[{key(8)}] += {value()};",
        "d[i] = v[i] * 2;",
        f"s[{key(8)}] = 1;",
        f"d[i] = {rng.choice(['h[3]', 'i ? d[i - 1] : 0'])};",
        "w[i] = u;",
    ]
    body += rng.sample(more, rng.randint(0, 2))
    rng.shuffle(body)
    inside = " ".join(body)
    if both:
        inside = f"for (int j = {rng.choice('01')}; j < 4; j++) {{ {inside} }}"
    around = "for (int t = 0; t < u; t++) " * steps
    head = rng.choice(["int i = 0; i < n; i++", "int i = 2; i < n; i += 3", HEADS["i: down"]])
    return f"""void f(int n, int u, const int v[restrict n], int w[restrict n],
       const int b[restrict n][4], int h[restrict 8], short g[restrict 2][4],
       int c[restrict 8], int d[restrict n],
       char s[restrict 8])
{{
  {around}for ({head}) {{ {inside} }}
}}
"""


BLOCKS = (0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 3)))
"""Sixty programs each."""


@pytest.mark.parametrize("block", BLOCKS)
def test_random_programs(block: int) -> None:
    """In the executor of groups, which finds races and reads of what was never set."""
    found = 0
    for seed in range(block * 60, block * 60 + (60 if block else 12)):
        f = lx.loads(program(seed))["f"]
        try:
            done = f.offload(Tx=4, fp="strict")
        except LoopxformError:
            continue
        found += any(r.step.verb == "last-stores" for r in done.derivation.records)
        plan = emit.kernel(done.derivation, fp=SEPARATE)
        for n in (0, 1, 11):
            args = arguments(plan.start, {"n": n, "u": 3}, seed)
            expected = copy.deepcopy(args)
            Program(plan.start).run(expected)
            execute(plan, args, seed=seed)
            assert not compare(expected, args), seed
    assert found >= (8 if block else 3)
