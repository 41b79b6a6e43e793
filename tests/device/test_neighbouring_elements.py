"""Neighbouring elements for each work-item, in vectors: bytes, pixels, complex numbers, rows."""

from __future__ import annotations

import copy
import random
from collections import Counter
from dataclasses import replace

import pytest
from deriving import c
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

BYTES = (
    "int n, const unsigned char a[restrict n], const unsigned char t[restrict 256], "
    "unsigned char b[restrict n]"
)
PIXELS = (
    "int n, const unsigned char p[restrict 3 * n], unsigned char r[restrict n], "
    "unsigned char g[restrict n], unsigned char q[restrict 3 * n]"
)
SHORTS = "int n, const short a[restrict n], const short b[restrict n], short y[restrict 2 * n]"
MIXED = "int n, const short a[restrict n], const float z[restrict 2 * n], float y[restrict n]"
IMAGE = (
    "int n, int m, const unsigned char p[restrict n][m][3], unsigned char g[restrict n][m], "
    "float f[restrict n][m]"
)


def loop(body: str, params: str) -> str:
    return c(f"for (int i = 0; i < n; i++) {{ {body} }}", params)


def image(body: str) -> str:
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    return c(f"{nest} {{ {body} }}", IMAGE)


CASES = {
    "bytes": loop("b[i] = a[i] > 100 ? 255 : a[i] * 2;", BYTES),
    "in-place": loop("b[i] = (b[i] + a[i] + 1) >> 1;", BYTES),
    "table": loop("b[i] = t[a[i]];", BYTES),
    "to-planes": loop("r[i] = p[3 * i]; g[i] = p[3 * i + 1] ^ p[3 * i + 2];", PIXELS),
    "from-planes": loop("q[3 * i + 1] = g[i]; q[3 * i] = r[i]; q[3 * i + 2] = 255;", PIXELS),
    "swapped": loop(
        "unsigned char t = q[3 * i]; q[3 * i] = q[3 * i + 2]; q[3 * i + 2] = t; q[3 * i + 1] ^= 1;",
        PIXELS,
    ),
    "pairs": loop("y[2 * i] = a[i]; y[2 * i + 1] = b[i];", SHORTS),
    "lengths": loop("y[i] = z[2 * i] * z[2 * i] + z[2 * i + 1] * z[2 * i + 1];", MIXED),
    "types": loop("y[i] += a[i];", MIXED),
}
IMAGES = {
    "grey": image("g[i][j] = (p[i][j][0] * 77 + p[i][j][1] * 150 + p[i][j][2] * 29) >> 8;"),
    "threshold": image("g[i][j] = g[i][j] > 128;"),
    "as-reals": image("f[i][j] = g[i][j] / 255.0f;"),
}
IN_ONE_SEGMENT = [("to-planes", 16), ("from-planes", 8), ("pairs", 8)]
OTHERS = {
    "some": loop("b[i] = 1; if (a[i] > 9) r[i] = a[i];", f"{BYTES}, unsigned char r[restrict n]"),
    "words": loop("y[i] = 2 * y[i];", MIXED),
    "neighbours": loop("b[i] = a[i] + a[n - 1 - i];", BYTES),
    "every-other": loop("y[2 * i] = a[i];", "int n, const int a[restrict n], int y[restrict 2*n]"),
    "sums": loop(
        "int s = 0; for (int k = 0; k < n; k++) s += a[k] ^ i; b[i] = s;",
        BYTES,
    ),
}
SIZES = tuple({"n": n} for n in (0, 1, 15, 4096, 4097, 9000))
ROWS = tuple({"n": n, "m": m} for n, m in ((0, 3), (1, 1), (9, 129), (16, 256), (65, 77)))


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    done = lx.loads(CASES[name])["f"].tile(contract=False, limits="h100")
    assert done.tiled.recipe == "vectors"
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert "LX_VECTOR" in plan.source or "LX_STORE" in plan.source
    assert_runs_agree(plan, CSource(text=CASES[name]), SIZES, 3)


@pytest.mark.device
@pytest.mark.parametrize("name", ["bytes", "from-planes", "pairs"])
def test_narrow_elements_as_words(name: str) -> None:
    """As NVIDIA's compiler gets them."""
    done = lx.loads(CASES[name])["f"].tile(contract=False, limits="h100")
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    plan = replace(plan, shared=f"#define LX_AS_WORDS\n{plan.shared}")
    assert_runs_agree(plan, CSource(text=CASES[name]), SIZES, 4)


@pytest.mark.parametrize(("name", "elements"), IN_ONE_SEGMENT)
def test_stores_of_a_work_item_are_in_one_segment(name: str, elements: int) -> None:
    """Of 32 bytes: what it has of an array that it writes, unless it only reads."""
    assert lx.loads(CASES[name])["f"].tile(limits="h100").tiled.sizes["Rx"] == elements


@pytest.mark.device
@pytest.mark.parametrize("name", IMAGES)
def test_images_are_one_row(name: str) -> None:
    done = lx.loads(IMAGES[name])["f"].tile(contract=False, limits="h100")
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert len(plan.kernels) == 2
    assert "LX_STORE" in plan.kernels[0].text
    assert_runs_agree(plan, CSource(text=IMAGES[name]), ROWS, 3)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_moved_as_before(name: str) -> None:
    assert lx.loads(OTHERS[name])["f"].tile(limits="h100").tiled.recipe != "vectors"


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["in-place", "from-planes"])
def test_without_races(name: str) -> None:
    """In the simulator: no race, nothing out of bounds, nothing that was never set."""
    done = lx.loads(CASES[name])["f"].tile(recipe="vectors", Tx=4)
    plan = emit.kernel(done.derivation)
    given = [arguments(plan.start, {"n": n}, 5) for n in (0, 1, 63, 64, 77)]
    assert_clean_and_right(plan, given)


# ---------------------------------------------------------------- random programs

KINDS = (("unsigned char", "short", "int"), ("float", "double"))


def program(rng: random.Random) -> str:
    """A loop over several arrays of numbers of any size, in records of up to four members."""
    params, body = ["int n"], list[str]()
    names = "abcd"[: rng.randint(2, 4)]
    kinds = rng.choice(KINDS)
    widths = {x: rng.choice([1, 1, 2, 3, 4]) for x in names}
    for x in names:
        params.append(f"{rng.choice(kinds)} {x}[restrict {widths[x]} * n]")

    def element(x: str, member: int) -> str:
        return f"{x}[{widths[x]} * i + {member}]"

    def value() -> str:
        x = rng.choice(names)
        return element(x, rng.randrange(widths[x]))

    for x in rng.sample(names, rng.randint(1, len(names) - 1)):
        members = rng.sample(range(widths[x]), widths[x])
        kept = members if rng.random() < 0.8 else members[1:]
        for m in kept:
            op = rng.choice(["=", "=", "+="])
            text = f"{element(x, m)} {op} ({value()} + {value()}) / 4;"
            body.append(f"if ({value()} > 3) {text}" if rng.random() < 0.15 else text)
    return c(f"for (int i = 0; i < n; i++) {{ {' '.join(body)} }}", ", ".join(params))


def check(seeds: range) -> None:
    counts = Counter[str]()
    for seed in seeds:
        text = program(random.Random(seed))
        try:
            done = lx.loads(text)["f"].tile(recipe="vectors", Tx=2, limits=PROFILES["h100"])
        except lx.LoopxformError:
            counts["refused"] += 1
            continue
        counts["tiled"] += 1
        plan = emit.kernel(done.derivation)
        for n in (0, 1, 37, 64):
            args = arguments(plan.start, {"n": n}, seed)
            expected = copy.deepcopy(args)
            Program(plan.start).run(expected)
            execute(plan, args, seed=seed)
            assert not compare(expected, args), f"seed {seed}, n = {n}: {text}"
    assert min(counts["refused"], counts["tiled"]) > len(seeds) // 10, counts


def test_random_records() -> None:
    check(range(15))


@pytest.mark.slow
def test_many_random_records() -> None:
    check(range(100, 600))
