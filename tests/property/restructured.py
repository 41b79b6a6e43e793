"""Random functions that have what the restructuring steps look for, and such steps."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Function, If
from loopxform.ir.visit import loops, walk
from loopxform.transforms import (
    Assume,
    BoundingBox,
    Coalesce,
    CopyParameter,
    DistributeBranches,
    DistributeGuard,
    ExitFlag,
    FinalValue,
    Flatten,
    Hoist,
    Interchange,
    Parallelise,
    RemoveUnitLoop,
    Rename,
    Reroll,
    SinkTail,
    Specialise,
    Split,
    Step,
    Stripmine,
    Unfold,
    Unsplit,
    Unstripmine,
)
from loopxform.transforms.restructure.places import place_text

HEAD = (
    "void f(int n, int m, float t, float a[restrict 40], float b[restrict 40],"
    " float L[restrict 20][20], const int r[restrict 40])\n{\n  int k;\n"
)
BLOCKS: dict[str, str] = {
    "tail": "for (int i = @{0|1}; i < @{n|m}; i++) {"
    " for (int j = @{0|0|1}; j < @{i|i|m}; @{j++|j++|j += 2}) @{a[i]|a[i]|L[i][j]} -= b[j] * 2;"
    " @{a[i] = a[i] * L[i][i];|b[i] += a[i];|}}",
    "invariant": "for (int i = @{0|0|m}; i < @{n|4}; i++) {"
    " float w; w = @{0.5f|b[0]|b[m]|a[0]|n * 2|t}; @{a[i]|b[i]} @{=|+=} w * L[i][0]; }",
    "blocked": "for (int ii = @{0|0|1|m}; ii < @{n|n|m}; ii += @{4|4|6})"
    " for (int i = @{ii|ii|ii|ii + 1}; @{i < ii + 4 && i < n|i < ii + 4 && i < n|i < ii + 4|i < n};"
    " @{i++|i++|i += 2|i += 3}) a[i] @{=|+=} @{b[i]|b[i]|a[ii]} * 2;",
    "numbered": "for (int ii = @{0|0|1}; ii < @{n / 4|(n + 3) / 4|n / 3|2}; ii++)"
    " for (int i = @{4 * ii|4 * ii|4 * ii + 1}; @{i < 4 * ii + 4 && i < n|i < 4 * (ii + 1)};"
    " @{i++|i++|i += 2}) @{a[i]|L[i][0]} @{=|+=} b[i];",
    "unrolled": "for (k = 0; @{k + 1 < n|k + 1 < n|k < m|k < n - 3}; k += 2)"
    " { a[k] @{=|+=} b[k] * @{2|t}; a[k + 1] @{=|+=} @{b[k + 1]|b[k + 1]|b[k]} * 2; }"
    " for (@{|| k = 0}; k < @{n|n|m}; k++) a[k] @{=|+=} b[k] * 2;",
    "rest": "for (k = 0; k < @{n / 2 * 2|n / 3|(n & ~1)|m}; k++) L[k][1] += b[@{k|k|0}];"
    " for (@{|| k = m}; k < n; k++) L[k][1] @{+=|+=|=} b[k];",
    "triangle": "for (int i = 0; i < @{n|m}; i++)"
    " for (int j = @{0|i|i + 1}; j < @{n|i + 1|n - i|i + 3|r[i]}; j++) L[i][j] @{=|+=} b[j];",
    "guard": "for (int i = 0; i < n; i++) if (@{b[i] > 0|i < m|r[i] > 1}) {"
    " float s = b[i]; for (int j = 0; j < @{m|m|r[i]}; j++) s += b[j]; a[i] = s; @{|b[i] = 0;} }",
    "branches": "for (int i = @{1|1|0}; i < n; i++) if (@{b[i] > 0|r[i] > 1|i < m|a[m] > 0})"
    " { @{a[i + 1]|a[i]|L[i][0]} @{=|+=} @{t|L[i][1]|a[i]}; }"
    " else @{L[i][1]|a[i]|b[i + 2]} @{=|+=} @{L[i][0]|a[i]|b[0]} * 2;",
    "counter": "for (k = @{0|1|m}; k @{<|<=} @{n|n - m|4}; k++) a[k] @{=|+=} 2; b[@{0|k}] = k;",
    "branch": "if (@{t > 0|n > m|a[0] > 1}) {"
    " b[0] = t; for (int i = 0; i < n; i++) @{a|b}[i] = t; }"
    "@{| else for (int i = 0; i < m; i++) a[i] += b[i];}",
    "once": "for (int i = @{0|n|n}; i < @{1|n + 1|n + 1}; i++)"
    " for (int j = @{i|0}; j < m + 2; j++) a[j] += i;",
    "exit": "t = 9; while (t > @{1|1 + b[0] * b[0]}) {"
    " for (int i = 0; i < n; i++) @{a|b}[i] += t; t = t / 2; }",
    "set": "@{n = n / 2;|m = n;|t = t + b[0];}",
}
CONDITIONS = ("n>=1", "m<=n", "n>m", "n%2==0", "m+1<=4", "t>0", "a>0", "q>1")


def functions(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """(name, C text); the name holds the seed."""
    for number in range(seed * 100_000, seed * 100_000 + count):
        rng = random.Random(f"restructured {number}")
        chosen = [rng.choice([*BLOCKS]) for _ in range(rng.choice([1, 2, 2, 3]))]
        lines = [f"  {_drawn(BLOCKS[name], rng)}\n" for name in chosen]
        yield f"seed {number}", HEAD + "".join(lines) + "}\n"


def _drawn(text: str, rng: random.Random) -> str:
    """With one of the texts in each `@{one|other}`."""
    while "@{" in text:
        start = text.index("@{")
        end = text.index("}", start)
        text = text[:start] + rng.choice(text[start + 2 : end].split("|")) + text[end + 1 :]
    return text


def inputs(seed: int) -> list[dict[str, Any]]:
    rng = np.random.Generator(np.random.PCG64(seed))
    runs = []
    for n, m in ((4, 2), (3, 5), (0, 1), (1, 0), (6, 6)):
        numbers = {x: rng.uniform(-2, 4, s).astype(np.float32) for x, s in _FLOATS.items()}
        r = rng.integers(0, 5, 40).astype(np.int32)
        runs.append({"n": n, "m": m, "t": float(n - m), **numbers, "r": r})
    return runs


_FLOATS = {"a": (40,), "b": (40,), "L": (20, 20)}


def step(fn: Function, rng: random.Random) -> Step:
    """One that may apply, of those that other sweeps have no programs for."""
    every = loops(fn)
    site = rng.choice(every)
    same = [s.path for s in every if s.loop.var == site.loop.var]
    loop = site.loop.var if len(same) == 1 else f"{site.loop.var}#{same.index(site.path) + 1}"
    around = [s.loop.var for s in every if s.path == site.path[: len(s.path)] and s is not site]
    over = tuple(dict.fromkeys(around)) or ("i",)
    scalar = rng.choice([p.name for p in fn.params if not p.array])
    branches = [p for p, s in walk(fn.body) if isinstance(s, If)]
    place = place_text(rng.choice(branches or [(0,)]))
    kinds = [
        lambda: SinkTail(loop),
        lambda: SinkTail(loop),
        lambda: Hoist(loop, rng.choice([(), (), ("w",)])),
        lambda: BoundingBox(loop, over),
        lambda: BoundingBox(loop, over),
        lambda: Rename(loop, rng.choice(["q", "p", "i", "n"])),
        lambda: DistributeGuard(loop),
        lambda: DistributeBranches(loop),
        lambda: DistributeBranches(loop),
        lambda: FinalValue(loop, ""),
        lambda: FinalValue(loop, ""),
        lambda: DistributeGuard(place),
        lambda: RemoveUnitLoop(loop),
        lambda: RemoveUnitLoop(loop),
        lambda: ExitFlag(loop, ""),
        lambda: Flatten(over[-1], loop, rng.choice(["1", "3"])),
        lambda: CopyParameter(rng.choice([scalar, scalar, "a"])),
        lambda: Specialise(scalar, rng.choice(["0", "3", "4", "-1"])),
        lambda: Assume(rng.choice(CONDITIONS)),
        lambda: Parallelise(loop),
        lambda: Stripmine(loop, rng.choice(["2", "3"])),
        lambda: Interchange(over[-1], loop),
        lambda: _with_questions(fn, Coalesce(over[-1], loop)),
        lambda: _with_questions(fn, Coalesce(over[-1], loop)),
        lambda: Unstripmine(over[-1], loop),
        lambda: Unstripmine(over[-1], loop),
        lambda: Reroll(loop),
        lambda: Unsplit(loop),
        lambda: Unsplit(loop),
        lambda: _with_questions(fn, Unfold(over[0], "L", rng.choice([("1", "0"), ("0*1",)]))),
        lambda: _with_questions(fn, Unfold(loop, rng.choice("La"), ("1*0",))),
        lambda: Split(loop, rng.choice(["2", "m", "hi-1"])),
    ]
    return rng.choice(kinds)()


def _with_questions(fn: Function, step: Coalesce | Unfold) -> Step:
    """The step, or what it must assume first."""
    asked = step.open_questions(fn)
    return Assume(condition_text(asked[0])) if asked else step
