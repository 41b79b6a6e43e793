"""Random nests in which data say how long an iteration takes: flattened loops mean the same, and so
do work-items that run several iterations, in the executor of groups.

Every failure names its seed, which makes the same program again.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest
from deriving import TILES, assert_same_meaning

import loopxform as lx
from loopxform.codegen import emit
from loopxform.errors import LoopxformError
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import Opaque
from loopxform.ir.visit import loops, walk
from loopxform.prepare.while_loops import whole_bodies
from loopxform.transforms import (
    Derivation,
    Flatten,
    Normalise,
    Parallelise,
    RoundRobin,
    Sequentialise,
    Stripmine,
    with_tiles,
)
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

BOUNDED = (
    *("k < 9 && s > 1", "s * s < 50 && k < 7", "!(s >= 4) && k < 6", "k < (m[{e}] & 7)"),
    *("k < (m[{e}] & 7) && s > -9", "k < 5 || (k < 9 && t & 1)", "t > 3 && k < 8"),
)
"""Conditions that end after a few iterations."""
UPDATES = (
    *("s = s / 2;", "s = s * s - t;", "t = t / 2;", "t = t & 1 ? 3 * t + 1 : t >> 1;", "s += k;"),
    *("if (t & 1) s += 1; else t -= 1;", "y[{e}] += s;", "z[{e}] = k;", "w[k & 3] = s;"),
    *("for (int q = 0; q < 2; q++) s -= q * t;", "s = s / (s - s);", "s += w[k & 1];"),
)
HEADS = (
    *("int t = m[{e}] & 31;", "unsigned t = m[{e}] & 15;", "long t = (m[{e}] & 15) + 1;"),
    "short t = m[{e}] & 15;",
)
TAILS = ("y[{e}] = s;", "z[{e}] = k;", "z[{e}] += (int)t;", "y[{e}] = w[1] + s;")
LOOPS = (
    *("for (int i = 0; i < n; i++)", "for (int i = 1; i < n; i += 2)"),
    "for (long i = 0; i < n; i++)",
)


def program(seed: int) -> str:
    """One or two parallel loops, inside them a loop on data between other statements, sometimes
    under a condition."""
    rng = random.Random(seed)
    rows = rng.random() < 0.4
    e = "i][j" if rows else "i"
    around = f"{LOOPS[0]} for (int j = 0; j < m1; j++)" if rows else rng.choice(LOOPS)

    def filled(text: str) -> str:
        return text.replace("{e}", e)

    body = " ".join(filled(x) for x in rng.sample(UPDATES, rng.choice([1, 2, 3])))
    cond = filled(rng.choice(BOUNDED))
    leave = filled(rng.choice(["s > 40", "!(s < 9)", "t == 1", "k == (m[{e}] & 3)"]))
    inner = rng.choice(
        [
            f"while ({cond}) {{ {body} k++; }}",
            f"do {{ {body} k++; }} while ({cond});",
            f"for (k = 0; k < 9; k++) {{ if ({leave}) break; {body} }}",
            filled(f"for (int q = 0; q < (m[{{e}}] & 7); q++) {{ {body} k += 2; }}"),
            f"while (k < 9) {{ {body} if ({leave}) break; k++; }}",
        ]
    )
    if rng.random() < 0.3:
        other = " else { s = 3; }" if rng.random() < 0.5 else ""
        inner = filled(f"if (m[{{e}}] & {rng.choice('1248')}) {{ {inner} s += 1; }}{other}")
    head = filled(rng.choice(HEADS) + " float s = x[{e}], w[4] = {1, 2, 3, 4}; int k = 0;")
    tail = " ".join(filled(x) for x in rng.sample(TAILS, rng.choice([1, 2])))
    shape = "restrict n][m1" if rows else "restrict n"
    return f"""void f(int n, int m1, const float x[{shape}], const int m[{shape}], float y[{shape}],
       int z[{shape}])
{{
  {around} {{ {head} {inner} {tail} }}
}}
"""


BLOCKS = (0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 3)))
"""Sixty programs each; twenty by default."""


def seeds(block: int) -> range:
    return range(block * 60, block * 60 + (60 if block else 20))


@pytest.mark.parametrize("block", BLOCKS)
def test_steps_keep_the_meaning(block: int) -> None:
    taken = Counter[str]()
    for seed in seeds(block):
        rng = random.Random(seed + 1)
        fn = whole_bodies(lx.loads(program(seed))["f"].function)
        if any(isinstance(s, Opaque) for _, s in walk(fn.body)):
            continue
        d = Derivation(with_tiles(fn, TILES))
        for _ in range(rng.randint(2, 8)):
            every = [s.loop.var for s in loops(d.function)]
            outer, inner = rng.choice(every[:2]), rng.choice(every[1:] or every)
            step = rng.choice(
                [
                    *(Parallelise(outer), Parallelise(outer)),
                    Stripmine(outer, rng.choice(["2", "Tx*Ry"])),
                    *(RoundRobin(outer, rng.choice("23")), Sequentialise(outer), Normalise(outer)),
                    *[Flatten(outer, inner, rng.choice(["1", "2", "Tk"]))] * 3,
                ]
            )
            d, _ = d.optional(step)
        if not d.records:
            continue
        try:
            assert_same_meaning(fn, d.function, (0, 1, 2, 7))
        except AssertionError as e:
            raise AssertionError((seed, [str(r.step) for r in d.records])) from e
        taken.update({r.step.verb for r in d.records})
    assert taken["flatten"] >= 5, taken


@pytest.mark.parametrize("block", BLOCKS)
def test_kernels_agree(block: int) -> None:
    """In the executor of groups, which finds races and reads of what was never set."""
    done = Counter[str]()
    for seed in seeds(block):
        rng = random.Random(seed)
        sizes = {
            "Ry": rng.choice([1, 2, 3]),
            "Tx": rng.choice([1, 2, 4]),
            "Tk": rng.choice([1, 2, 5]),
        }
        routine = lx.loads(program(seed))["f"]
        try:
            made = routine.tile(contract=False, recipe="uneven", **sizes)
        except LoopxformError as e:
            done[str(e)] += 1
            continue
        plan = emit.kernel(made.derivation, fp=SEPARATE)
        group = sizes["Tx"] * sizes["Ry"]
        for n, m1 in (
            (0, 3),
            (1, 1),
            (group, 2),
            (group - 1, 5),
            (group + 1, 0),
            (3 * group + 1, 3),
        ):
            args = arguments(plan.start, {"n": n, "m1": m1}, seed)
            expected = {k: v.copy() if hasattr(v, "copy") else v for k, v in args.items()}
            Program(plan.start).run(expected)
            execute(plan, args, seed=seed)
            assert not compare(expected, args), (seed, sizes, n, m1)
        done["kernels"] += 1
    assert done["kernels"] >= 12, done
