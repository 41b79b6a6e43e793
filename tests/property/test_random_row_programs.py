"""Random functions of rows and of running values that mix what recipes take apart one by one: first
iterations that differ, temporaries, small arrays of an iteration, loops that data end, rows walked
twice. Whatever versions are made of them mean the same in the executor of groups.

Every failure names its seed, which makes the same program again.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

import loopxform as lx
from loopxform.codegen import emit
from loopxform.errors import LoopxformError
from loopxform.floating_point import SEPARATE
from loopxform.offload.program import offload
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Dispatch
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

GENERIC = PROFILES["generic"]
SMALL = replace(
    GENERIC,
    group_size=8,
    warp=4,
    row_registers=("4x2", "8x2"),
    row_tiles=("4x9 2x4", "3x18 3x2"),
    costs=replace(
        GENERIC.costs,
        **{"scan_terms": 6, "combined_alone": 2, "scan_item_terms": 3},
        **{"uneven_iterations": 2, "uneven_run": 2, "uneven_items": 4},
    ),
)
"""A device of which a few rows need every version."""
THRESHOLDS = ("suff_outer_par", "suff_intra_par", "suff_group_par", "suff_inner_par")
SHAPES = ((0, 3), (1, 1), (2, 5), (3, 8), (5, 9), (9, 16), (4, 17), (2, 33))
KINDS = ("int", "int", "long", "unsigned", "short", "float", "float", "unsigned char")
PARAMS = (
    "int m, int n, const {0} a[restrict m][n], const int b[restrict m][n], {1} y[restrict m][n], "
    "{2} z[restrict m], int e[restrict m][n]"
)


def operand(rng: random.Random, real: bool) -> str:
    every = ["a[r][j]", "b[r][j]", "j", "3", "(a[r][j] + b[r][j])", "(b[r][j] & 7)"]
    return rng.choice(every[:1] if real and rng.random() < 0.5 else every)


def condition(rng: random.Random) -> str:
    first = ["j > 0", "j", "!j", "j == 0", "0 < j", "j != 0", "j < 1"]
    return rng.choice([*first, "b[r][j] > 1", "b[r][j] & 1", "j > 1 && b[r][j - 1] > 2"])


def walk(rng: random.Random, real: bool) -> str:
    """A loop over the elements of a row."""
    e, f, c = operand(rng, real), operand(rng, real), condition(rng)
    body = rng.choice(
        [
            f"s += {e};",
            f"if ({c}) s += {e};",
            f"if ({e} > s) s = {e};",
            f"s += {e}; y[r][j] = s;",
            f"if ({c}) s = {e}; y[r][j] = s;",
            f"{{T}} c = s + {e}; y[r][j] = c; s = c;",
            f"if ({c}) y[r][j] = {e}; else y[r][j] = {f};",
            f"y[r][j] = {e}; if ({c}) y[r][j] += {f};",
            f"y[r][j] = s - {e};",
            f"{{T}} c = {e}; if ({c}) c = {f}; y[r][j] += c;",
            f"if (j == 0) y[r][0] = {e}; else y[r][j] = y[r][j - 1] + {f};",
            f"y[r][j] = (j > 0 ? y[r][j - 1] : {rng.choice(['0', '2'])}) + {e};",
            "if (b[r][j] > 2) e[r][k++] = j;",
            f"for (int q = 0; q < (b[r][j] & 3); q++) s += q + {e};",
            "int q = b[r][j] & 15; while (q > 1) { q = q & 1 ? q - 1 : q / 2; s += 1; }",
            f"v[j & 3] += {e};",
        ]
    )
    from_first = any(x in body for x in ("[0]", "k++", "!j", "j == 0", "j < 1"))
    lo = rng.choice(["0", "0", "0", "1", "k & 1"]) if not from_first else "0"
    up, down = f"for (int j = {lo}; j < n; j++)", "for (int j = n - 1; j >= 0; j--)"
    header = rng.choice([up] * 4 + [down])
    if "k++" in body:
        header = f"k = 0; {header}"
    if down in header:
        body = body.replace("j - 1", "j")
    return f"{header} {{ {body} }}"


def small(rng: random.Random) -> str:
    """What is done with a small array."""
    return rng.choice(
        [
            "for (int q = 0; q < 4; q++) v[q] = v[q] * 2 + q;",
            "for (int p = 0; p < 3; p++) for (int q = 0; q < 3 - p; q++) if (v[q] > v[q + 1]) "
            "{ {T} t = v[q]; v[q] = v[q + 1]; v[q + 1] = t; }",
            "for (int q = 0; q < 3; q++) { v[q + 1] += v[q]; if (q == k) s += v[q]; }",
            "for (int q = 3; q > 0; q--) v[q] = v[q - 1];",
        ]
    )


def program(seed: int) -> str:
    rng = random.Random(seed)
    kind = rng.choice(KINDS)
    kinds = [kind, kind, kind] if rng.random() < 0.6 else [rng.choice(KINDS[:5]) for _ in range(3)]
    real = kinds[0] == "float"
    parts = [walk(rng, real) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    if rng.random() < 0.4:
        parts.insert(rng.randrange(len(parts) + 1), small(rng))
    if rng.random() < 0.2:
        n = rng.randrange(len(parts))
        parts[n] = f"if (b[r][0] & 1) {{ {parts[n]} }}"
    text = " ".join(parts)
    last = rng.choice(["z[r] = s;", "z[r] = s + v[1];", "z[r] += v[2] + k;", ""])
    if "y[r]" not in text and "e[r]" not in text:
        last = last or "z[r] = s + v[3];"
    if kinds[1:] != [kind, kind] and kind == "float":
        kind = kinds[0] = "long"  # C converts no negative number to an unsigned one
    begin = rng.choice(["0", "1", "b[r][0]", "z[r]"])
    if real:
        text = text.replace("(a[r][j] & 7)", "a[r][j]")
    text = f"{{T}} s = {begin}; {{T}} v[4] = {{ 1, 5, 2, 7 }}; int k = 0; {text} {last}"
    text = text.replace("{T}", kind)
    rows = rng.choice(["for (int r = 0; r < m; r++)"] * 4 + ["for (int r = m - 1; r >= 0; r--)"])
    return f"void f({PARAMS.format(*kinds)})\n{{ {rows} {{ {text} }} }}\n"


def check(seed: int, done: Counter[str], text: str = "") -> None:
    """Compares the program of a seed, or another one."""
    rng = random.Random(seed)
    values = {f"{k}_{n}": rng.choice([0, 1, 4, 1000]) for k in THRESHOLDS for n in range(4)}
    try:
        fn = lx.loads(text or program(seed))["f"].function
        made = offload(fn, {}, SMALL, Options(threshold=tuple(values.items())))
        plan = emit.kernel(made.derivation, fp=SEPARATE)
    except LoopxformError as e:  # an array that no iteration reads, by its conditions
        done["refused"] += 1
        done[str(e)] += 1
        return
    for m, n in rng.sample(SHAPES, 5):
        args = arguments(plan.start, {"m": m, "n": n}, seed)
        expected = {k: v.copy() if hasattr(v, "copy") else v for k, v in args.items()}
        Program(plan.start).run(expected)
        execute(plan, args, seed=seed)
        assert not compare(expected, args), (seed, m, n)
    steps = [r.step for r in made.derivation.records]
    inner = [x for s in steps if isinstance(s, Dispatch) for v in s.variants for x in v.steps]
    done.update({s.verb for s in (*steps, *inner)})
    done.update({p.tiled.recipe for p in made.parts if p.tiled})
    done.update({v.label for s in steps if isinstance(s, Dispatch) for v in s.variants})


BLOCKS = (0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 3)))
"""Sixty programs each; five by default."""


@pytest.mark.parametrize("block", BLOCKS)
def test_versions_agree(block: int) -> None:
    done = Counter[str]()
    for seed in range(block * 60, block * 60 + (60 if block else 5)):
        check(seed, done)
    assert done["refused"] <= 3, done


SCANS = ("s += a[r][j]; y[r][j] = s;", "if (a[r][j] > 2) y[r][s++] = j;")


@pytest.mark.parametrize("body", SCANS)
def test_small_arrays_beside_running_values(body: str) -> None:
    done = Counter[str]()
    kept = "int s = 0, v[4] = { 1, 5, 2, 7 };"
    loop = f"for (int j = 0; j < n; j++) {{ {body} }}"
    text = f"{{ for (int r = 0; r < m; r++) {{ {kept} {loop} z[r] += v[2]; }} }}"
    check(0, done, f"void f({PARAMS.format('int', 'int', 'int')}) {text}")
    assert done["chunks"], done
