"""Random functions of several nests, scalars between them and loops in time, some of which data
end: what `offload` makes of them means the same, in the interpreter (with foralls in text order and
shuffled) and on a device.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from random_nests import OFFSET_1D, OFFSET_2D, SIZES, NestWriter, lowered, nest_arguments

from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.errors import EmitError
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import Function
from loopxform.ir.printer import listing
from loopxform.offload.program import offload
from loopxform.prepare.while_loops import whole_loops
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose
from loopxform.verify.interp import Program

REDUCTIONS = (
    f"r += a[i + {OFFSET_1D}] > 1;",
    f"if (b[i + {OFFSET_1D}] > top) top = b[i + {OFFSET_1D}];",
    f"if (a[i + {OFFSET_1D}] < 2) {{ w ^= i * 3; r -= w & 1; }}",
    f"for (int j = 0; j < N; j++) w += r * (A[i + {OFFSET_2D}][j] > t);",
)
BETWEEN = (f"t = a[{OFFSET_1D}] + u;", "u = t * 2;", f"b[{OFFSET_1D}] += t;")

ASKED = (
    "u < 40",
    "t <= u + 30",
    f"a[{OFFSET_1D}] * 2 != u",
    f"!(b[{OFFSET_1D}] > t)",
    "M + p != 3",
)
"""Conditions on data, which may hold for ever."""

AROUND = (
    "for (int p = 0; p < 3; p++) {{\n{0}  }}",
    "for (int p = 0; p < 3 && {1}; p++) {{\n{0}  }}",
    "int p = 0; while ({1} && p < 3) {{\n{0}  p++; }} b[0] = p;",
    "int p = 0; do {{\n{0}  }} while ({1} && ++p < 3); b[0] = p;",
    "int p = -1; while (p++ < 2) {{\n{0}  if (!({1})) break;\n  b[1] += t; }} b[0] = p;",
    "int p; for (p = 3; p > 0; p--) {{\n{0}  if ({1}) {{ t += p; break; }} }} b[0] = p;",
    "for (int e = 0; e < 2; e++) {{ int p = 0; while (p < 2 && {1}) {{\n{0}  p += 1; }} }}",
)
"""Loops that end, whatever is in them."""


def program(seed: int) -> str:
    """A function of one to four nests, half of the time inside a loop of a few iterations; some of
    them in branches, reductions among them, a parameter that is set, a counter that is read."""
    rng = random.Random(seed)
    writer = NestWriter(rng)
    head, _, rest = writer.text().partition("{\n")
    scalars, _, nests = rest.rstrip()[:-1].partition("\n")
    for _ in range(rng.choice([0, 1, 2])):
        nests += nest(writer)
        if rng.random() < 0.5:
            nests += f"  {rng.choice(BETWEEN)}\n"
        if rng.random() < 0.5:
            nests += f"  for (i = {rng.choice('012')}; i < M; i++) {rng.choice(REDUCTIONS)}\n"
        if rng.random() < 0.3:
            test = rng.choice(["M > 3", "w > N", "t > u", "r > 0"])
            orelse = f"  else {{\n{nest(writer)}  }}\n" if rng.random() < 0.6 else ""
            nests += f"  if ({test}) {{\n{nest(writer)}  }}\n{orelse}"
        if rng.random() < 0.2:
            nests += "  w += i;\n"
    scalars += f"  int i = 0, r = 1;\n  {writer.type} top = 0;"
    nests += f"  b[{OFFSET_1D}] += r + top;\n  B[{OFFSET_2D}][0] -= w & 3;\n"
    head = head.replace("int N", "int N, int w")
    if rng.random() < 0.5:
        nests = f"  {rng.choice(AROUND).format(nests, rng.choice(ASKED))}\n"
    return f"{head}{{\n{scalars}\n{nests}}}\n"


def nest(writer: NestWriter) -> str:
    writer.lines = []
    writer.loop(2)
    return "\n".join(writer.lines) + "\n"


def after(fn: Function, whole: Program, m: int, n: int, order: int | None = None) -> dict[str, Any]:
    """Arguments of `fn` after a run of it, or of what it became."""
    args = nest_arguments(fn, m, n)
    whole.run(args, order_seed=order)
    return args


def same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    return all(np.array_equal(one[k], two[k], equal_nan=True) for k in one)


def check(seed: int) -> Plan | None:
    """The plan of the program of a seed, which means the same; None where it cannot be written,
    since how much of an array it touches is not known."""
    text = program(seed)
    fn = lowered(text)
    offloaded = offload(fn, {})
    done = offloaded.function
    before, now = Program(whole_loops(fn)), Program(whole_loops(done))
    for m, n in SIZES:
        expected = after(fn, before, m, n)
        for order in (None, 1):
            assert same(expected, after(fn, now, m, n, order)), (seed, text, listing(done), m, n)
    try:
        return emit.kernel(offloaded.derivation, fp=SEPARATE)
    except EmitError as e:
        if "how much of" not in e.message:
            raise
        return None


def check_on_device(seed: int) -> bool:
    plan = check(seed)
    if plan is None:
        return False
    fn = plan.start
    whole, compiled = Program(whole_loops(fn)), CompiledKernel(plan, choose())
    for m, n in SIZES:
        found = nest_arguments(fn, m, n)
        compiled(**found)
        assert same(after(fn, whole, m, n), found), (seed, program(seed), plan.source, m, n)
    return True


@pytest.mark.parametrize("seed", range(3))
def test_the_mapped_program_means_the_same(seed: int) -> None:
    check(seed)


@pytest.mark.device
@pytest.mark.parametrize(
    "seeds", [range(500, 502), pytest.param(range(502, 505), marks=pytest.mark.slow)]
)
def test_kernels_compute_the_same(seeds: range) -> None:
    assert sum(check_on_device(seed) for seed in seeds) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1012))
def test_many_programs(seed: int) -> None:
    check_on_device(seed)
