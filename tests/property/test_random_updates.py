"""Random loops that update arrays by key: whatever steps make of them means the same, in any order
of iterations, and so do the kernels that recipes make.

Every failure names its seed, which makes the same program again.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from deriving import TILES, assert_same_meaning

import loopxform as lx
from loopxform.analysis.reductions import reductions
from loopxform.codegen import emit
from loopxform.errors import LoopxformError, TransformError
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import Assign, Function
from loopxform.ir.visit import loops, walk
from loopxform.targets.profile import PROFILES
from loopxform.transforms import (
    AtomicStores,
    AtomicUpdates,
    Derivation,
    Interchange,
    Parallelise,
    PrivatiseUpdates,
    Reverse,
    RoundRobin,
    Stripmine,
    with_tiles,
)
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

TYPES = ("int", "unsigned", "long", "unsigned long")
UPDATES = (
    "{h} += {e};",
    "{h} += {e};",
    "{h}++;",
    "{h} -= {e};",
    "{h} = {h} + {e} - {f};",
    "{h} = {e} + {h};",
    "{h} |= {e};",
    "{h} &= {e};",
    "{h} ^= {e};",
    "if ({e} < {h}) {h} = {e};",
    "if ({h} <= {e}) {h} = {e};",
    "{h} = {h} > {e} ? {h} : {e};",
    "{h} *= {e} | 1;",
    "{h} = {e} * {h} * {f};",
    "{h} = {h} && {e};",
)
"""The last one is refused."""


def program(seed: int) -> str:
    """A nest of one or two loops; sometimes it also reads what it updates, or carries something
    else."""
    rng = random.Random(seed)
    kinds = [rng.choice(TYPES) for _ in range(2)]
    size = ("8", "n + 8")[seed // 2 % 2]
    both = rng.random() < 0.5

    def key(extent: int) -> str:
        e = rng.choice(["a[i]", "a[i] + i", "i * 3", "a[i] >> 1", *["a[i] + j", "c[i][j]"] * both])
        return f"({e}) & {extent - 1}"

    def element() -> str:
        return rng.choice([f"h[{key(8)}]", f"h[{key(8)}]", f"g[{key(2)}][{key(4)}]"])

    def update() -> str:
        h = element()
        e, f = (rng.choice(["b[i]", "a[i]", "i", "3", *["j", "c[i][j]"] * both]) for _ in "ef")
        text = rng.choice(UPDATES).format(h=h, e=e, f=f)
        return f"if (b[i] > {rng.randint(0, 4)}) {{ {text} }}" if rng.random() < 0.3 else text

    body = [update()]
    if rng.random() < 0.4:
        body.append(update())
    if rng.random() < 0.2:
        body.append("d[i] = b[i] * 2;")
    if rng.random() < 0.3:
        body.append(f"s[{key(8)}] = {rng.choice(['3', 'm'])};")
    if rng.random() < 0.15:
        body.append(rng.choice(["d[i] = h[3];", "d[i] = i > 0 ? d[i - 1] : 0;", "d[0] += b[i];"]))
    rng.shuffle(body)
    inside = " ".join(body)
    if both:
        most = rng.choice(["m", "m", "3", "i + 1"])
        inside = f"for (int j = 0; j < {most}; j++) {{ {inside} }}"
    return f"""void f(int n, int m, const int a[restrict n], const int b[restrict n],
       const int c[restrict n][n + m + 3], {kinds[0]} h[restrict {size}],
       {kinds[1]} g[restrict 2][4], int d[restrict n], short s[restrict 8])
{{
  for (int i = 0; i < n; i++) {{ {inside} }}
}}
"""


def derived(fn: Function, rng: random.Random) -> Derivation:
    """Atomic updates, then steps that only loops in any order allow, and copies."""
    d = Derivation(with_tiles(fn, TILES))
    for site in loops(fn):
        d, _ = d.optional(AtomicUpdates(site.loop.var))
        d, _ = d.optional(AtomicStores(site.loop.var))
    for _ in range(rng.randint(2, 9)):
        var = rng.choice([s.loop.var for s in loops(d.function)])
        other = rng.choice([s.loop.var for s in loops(d.function)])
        step = rng.choice(
            [
                Parallelise(var),
                Parallelise(var),
                Interchange(var, other),
                Stripmine(var, rng.choice(["2", "3", "Ty*Ry"])),
                Reverse(var),
                RoundRobin(var, "3"),
                PrivatiseUpdates(rng.choice("gh"), var),
                PrivatiseUpdates(rng.choice("gh"), var, "own", rng.choice("24"), other),
            ]
        )
        d, _ = d.optional(step)
    return d


H100 = PROFILES["h100"]
LIMITS = (PROFILES["generic"], replace(H100, costs=replace(H100.costs, update_copies=4)))
"""Single elements, and vectors with several copies of what is updated."""

BLOCKS = (0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 3)))
"""Forty programs each."""


@pytest.mark.parametrize("block", BLOCKS)
def test_steps_keep_the_meaning(block: int) -> None:
    parallel, copied = 0, 0
    for seed in range(block * 40, block * 40 + 40):
        fn = lx.loads(program(seed))["f"].function
        done = derived(fn, random.Random(seed + 1))
        try:
            assert_same_meaning(fn, done.function, (0, 1, 5))
        except AssertionError as e:
            raise AssertionError((seed, [str(r.step) for r in done.records])) from e
        atomic = any(isinstance(s, Assign) and s.atomic for _, s in walk(done.function.body))
        parallel += atomic and any(s.loop.parallel for s in loops(done.function))
        copied += any(isinstance(r.step, PrivatiseUpdates) for r in done.records)
    assert parallel >= 8
    assert copied >= 3


@pytest.mark.parametrize("block", BLOCKS)
def test_kernels_agree(block: int) -> None:
    """In the executor of groups, which finds races and reads of what was never set."""
    done = 0
    for seed in range(block * 40, block * 40 + (40 if block else 12)):
        f = lx.loads(program(seed))["f"]
        try:
            tiled = f.tile(contract=False, Tx=4, limits=LIMITS[seed % 2])
        except (TransformError, LoopxformError):
            continue
        plan = emit.kernel(tiled.derivation, fp=SEPARATE)
        for n, m in ((0, 0), (1, 2), (9, 3)):
            args = arguments(plan.start, {"n": n, "m": m}, seed)
            expected = {k: v.copy() if hasattr(v, "copy") else v for k, v in args.items()}
            Program(plan.start).run(expected)
            execute(plan, args, seed=seed)
            assert not compare(expected, args), seed
        done += 1
    assert done >= 4


def test_the_programs_have_what_is_tested() -> None:
    """Reductions into arrays, with and without something else."""
    found = [lx.loads(program(seed))["f"].function for seed in range(60)]
    by_key = [any(not r.fixed for s in loops(fn) for r in reductions(fn, s.path)) for fn in found]
    assert 20 <= sum(by_key) < 60
