"""Random pipelines: 3 to 8 stages with random footprints, domains and borders. What the step
`fuse-stages` accepts means the same in the interpreter, and as a kernel on a device.

Every failure names its seed, which makes the same program again.
"""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from images import assert_kernels_agree, assert_mean_the_same

import loopxform as lx
from loopxform.errors import TransformError
from loopxform.ir.nodes import Function
from loopxform.ir.visit import loops
from loopxform.offload.nest_order import late
from loopxform.prepare.perfect_nest import told_apart
from loopxform.transforms import Derivation, FuseStages, Recompute, ReorderNests, Step

TYPES = ("float", "double", "int", "short")
SHAPES = ((1, 1), (3, 2), (5, 11), (12, 7), (19, 23), (30, 27))


BLOCKS = (0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 8)))
"""Twenty programs each."""


def pipeline(seed: int) -> tuple[str, list[int]]:
    """A C function and, for each stage, how far its domain begins inside of the image."""
    rng, far = random.Random(seed), random.Random(f"far {seed}")
    lines, margins, names = list[str](), list[int](), ["in"]
    kind = rng.choice(TYPES)
    for n in range(rng.randint(3, 8)):
        name = f"s{n}"
        readable = [(x, 0 if x == "in" else margins[names.index(x) - 1]) for x in names[-4:]]
        terms = list[str]()
        margin = 0
        aside = [far.randint(-4, 4) * (far.random() < 0.2) for _ in range(2)]
        for _ in range(rng.randint(1, 4)):
            source, before = rng.choice(readable)
            reach = rng.choice((0, 1, 1, 2))
            dy, dx = (rng.randint(-reach, reach) + n for n in aside)
            beyond = max(abs(dy), abs(dx))
            inside = rng.random() < 0.85
            margin = max(margin, before + beyond if inside else beyond)
            terms.append(f"{rng.randint(1, 3)} * {source}[y + {dy}][x + {dx}]")
        if rng.random() < 0.3:
            terms.append(rng.choice(("y - x", "(x > 2 ? y : 1)", f"{names[-1]}[y][x] * 2")))
            margin = max(margin, readable[-1][1])
        margins.append(margin)
        value = " + ".join(terms)
        lines.append(
            f"for (int y = {margin}; y < h - {margin}; y++)"
            f" for (int x = {margin}; x < w - {margin}; x++)"
            f" {name}[y][x] = {value};"
        )
        names.append(name)
    seen = {names[-1], *rng.sample(names[1:], rng.randint(0, 2))}
    scratch = {x for x in sorted(seen - {names[-1]}) if random.Random(seed).random() < 0.6}
    given = ", ".join(f"{kind} {x}[h][w]" for x in sorted(seen))
    own = [x for x in names[1:] if x not in seen]
    declared = f"{kind} {', '.join(f'{x}[h][w]' for x in own)};" if own else ""
    cleared = " ".join(
        f"for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {x}[y][x] = 1;"
        for x in (*own, *sorted(scratch))
    )
    body = "\n  ".join([declared, cleared, *lines])
    said = f"#pragma loopxform scratch({', '.join(sorted(scratch))})\n" if scratch else ""
    head = f"{said}void f(int h, int w, const {kind} in[h][w], {given})"
    return f"{head}\n{{\n  {body}\n}}\n", margins


def arranged(d: Derivation, seed: int) -> Derivation:
    """With nests in the order in which those that need one another are neighbours, and one that
    runs once more."""
    rng = random.Random(f"order {seed}")
    nests = [s.loop.var for s in loops(d.function) if len(s.path) == 1]
    if rng.random() < 0.5:
        d = _tried(d, ReorderNests(tuple(late(d.function, nests))))
    nests = [s.loop.var for s in loops(d.function) if len(s.path) == 1]
    pairs = [x for x in combinations(nests, 2) if rng.random() < 0.5]
    return _tried(d, *(Recompute(*x) for x in pairs))


def _tried(d: Derivation, *steps: Step) -> Derivation:
    """With the first step that is legal."""
    for step in steps:
        try:
            return d.then(step)
        except TransformError:
            continue
    return d


def fused(fn: Function, stages: int, seed: int) -> Function | None:
    """With its last stages fused, in a random tile; None where that is refused."""
    rng = random.Random(seed + 1)
    start = arranged(told_apart(Derivation(fn)), seed)
    nests = [s.loop.var for s in loops(start.function) if len(s.path) == 1][-stages:]
    first = rng.randrange(len(nests))
    last = rng.randint(first + 1, len(nests))
    words = (str(rng.randint(1, 9)), (str(rng.randint(4, 24)),), str(rng.choice((1, 1, 2, 3))))
    try:
        return start.then(FuseStages(tuple(nests[first:last]), *words)).function
    except TransformError:
        return None


@pytest.mark.parametrize("block", BLOCKS)
def test_fused_stages_mean_the_same(block: int) -> None:
    accepted, count = 0, 20 if block else 7
    for seed in range(block * 20, block * 20 + count):
        text, margins = pipeline(seed)
        fn = lx.loads(text)["f"].function
        after = fused(fn, len(margins), seed)
        if after is None:
            continue
        accepted += 1
        assert_mean_the_same(fn, after, SHAPES, seed)
    assert accepted >= count // 2


SEEDS = (3, 8, 14, *(pytest.param(n, marks=pytest.mark.slow) for n in range(20, 32)))


@pytest.mark.device
@pytest.mark.parametrize("seed", SEEDS)
def test_kernels_of_pipelines(seed: int) -> None:
    text, _ = pipeline(seed)
    rng = random.Random(seed)
    tile = (rng.randint(2, 9), rng.choice((1, 2, 3)), rng.choice((8, 16, 32)))
    assert_kernels_agree(text, SHAPES, seed, fuse_stages=tile)
