"""A scan by its name: whatever a variable holds before a loop, the same operations come to it.

Loops of a few statements drawn at random run with different numbers in the variable; what it holds
after each iteration must be what the operator makes of the number, and of the run with another one.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from loopxform import loads
from loopxform.analysis.idioms import Idiom
from loopxform.verify.interp import Program

PIECES = (
    "s += a[i];", "s = s * 3u + a[i];", "s *= b[i];", "s ^= a[i];", "s |= a[i] & 6u;",
    "if (a[i] > s) s = a[i];", "if (b[i] & 1u) s += a[i];", "if (a[i] < 3u) s = 0;",
    "t += s;", "t = t * 2u + b[i];", "t -= a[i];", "s += t;", "if (t > 9u) s += 1u;",
    "if (s > t) t = s;", "if (b[i] < 2u) t = a[i];", "t = s;", "s = t + 1u;",
    "out[i] = s;", "out[i] = t;", "a[i] = s;", "a[i] = t + 1u;", "b[i + 1] = s;", "b[i] = a[i];",
    "w = a[i] + s; t += w;", "w = b[i]; s += w;", "if (a[i] > s) { s = a[i]; t = i; }",
    "for (int j = 0; j < 3; j++) s += a[j];", "for (int j = 0; j < 2; j++) { s += b[j]; t += s; }",
    "a[i + 1] += a[i];", "a[i + 1] = a[i] * 3u + b[i];", "if (b[i] > 4u) a[i + 1] = a[i] + 1u;",
    "s = b[i] & 1u ? a[i] : s + a[i];", "t = a[i] < 3u ? t : t ^ b[i];",
    "a[i + 1] = b[i] & 1u ? a[i] : b[i];", "if (b[i] > 2u && s < 9u) s += 1u;",
    "s += a[s & 3u];", "w = s; s += a[i] + w;", "s = b[i] - s;", "s = s / 2u + b[i];",
)  # fmt: skip
BITS = (1 << 32) - 1
N = 9
LEAST = 9
"""Where the count that has a bound stops."""
STARTS = (0, 1, 2, 5, 1000, BITS)


def text(rng: random.Random) -> str:
    body = " ".join(rng.sample(PIECES, rng.randint(1, 4)))
    return (
        "void f(int n, unsigned s0, unsigned t0, unsigned *restrict a, unsigned *restrict b,"
        " unsigned *restrict out, unsigned *restrict after)"
        f" {{ unsigned s = s0, t = t0, w = 0; for (int i = 0; i < n; i++) {{ {body} }}"
        " after[0] = s; after[1] = t; after[2] = w; }"
    )


def held(program: Program, variable: str, start: int, given: dict[str, Any]) -> list[int]:
    """What the variable holds after the first 1, 2, ... iterations."""
    found = []
    for n in range(N + 1):
        own = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}
        own["n"] = n
        if variable == "a":
            own["a"][0] = start
        else:
            own[f"{variable}0"] = start
        program.run(own)
        places = {"s": own["after"][0], "t": own["after"][1], "a": own["a"][n]}
        found.append(int(places[variable]))
    return found


def is_kept(x: Idiom, runs: dict[int, list[int]]) -> bool:
    """Whether one function that the operator allows takes each start to what is held."""
    for n in range(N + 1):
        of = {start: run[n] for start, run in runs.items()}
        if x.bound:
            if any(of[v] != (v if v >= LEAST else min(v + of[0], LEAST)) for v in STARTS):
                return False
            continue
        anew = x.segmented or x.condition or x.op in ("last", "argmax")
        if anew and len(set(of.values())) == 1:
            continue
        made = {
            "+": lambda v, of=of: v + of[0],
            "linear": lambda v, of=of: of[0] + v * (of[1] - of[0]),
            "*": lambda v, of=of: v * of[1],
            "^": lambda v, of=of: v ^ of[0],
            "|": lambda v, of=of: v | of[0],
            "&": lambda v, of=of: v & of[BITS],
            "max": lambda v, of=of: max(v, of[0]),
            "min": lambda v, of=of: min(v, of[BITS]),
            "last": lambda v: v,
            "argmax": lambda v: v,
        }[x.op]
        if any(of[v] != made(v) & BITS for v in STARTS):
            return False
    return True


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_scans_are_scans(part: int) -> None:
    counts = Counter[str]()
    for seed in range(60):
        rng = random.Random(f"{part} {seed}")
        source = text(rng)
        routine = loads(source)["f"]
        scans = [x for v in routine.check() if not v.depth for x in v.idioms]
        counts["loops"] += 1
        program = Program(routine.function)
        for x in scans:
            if x.kind != "scan" or x.variable not in ("s", "t", "a"):
                continue
            counts[x.op] += 1
            for _ in range(2):
                given: dict[str, Any] = {
                    name: np.array([rng.randint(0, 8) for _ in range(N + 2)], "u4")
                    for name in ("a", "b", "out", "after")
                }
                given |= {"s0": rng.randint(0, 8), "t0": rng.randint(0, 8)}
                runs = {v: held(program, x.variable, v, given) for v in STARTS}
                assert is_kept(x, runs), (source, str(x), runs)
    assert sum(counts.values()) - counts["loops"] > 12, counts
    assert len(counts) > 2, counts
