"""Neighbouring elements for each work-item, in vectors: bytes, pixels, complex numbers, rows."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Sequence
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
    "triples": loop(
        "y[3 * i] = a[i]; y[3 * i + 2] = b[i]; y[3 * i + 1] = -1;", SHORTS.replace("2 *", "3 *")
    ),
    "lengths": loop("y[i] = z[2 * i] * z[2 * i] + z[2 * i + 1] * z[2 * i + 1];", MIXED),
    "types": loop("y[i] += a[i];", MIXED),
}
IMAGES = {
    "grey": image("g[i][j] = (p[i][j][0] * 77 + p[i][j][1] * 150 + p[i][j][2] * 29) >> 8;"),
    "threshold": image("g[i][j] = g[i][j] > 128;"),
    "as-reals": image("f[i][j] = g[i][j] / 255.0f;"),
}
POINT = "struct p { float x, y, z; };"
COLOUR = "struct p { unsigned char r, g, b; };"
POINTS = "int n, const float a[restrict n], const float b[restrict n], struct p p[restrict n]"
COLOURS = (
    "int n, const unsigned char a[restrict n], const unsigned char b[restrict n], "
    "struct p p[restrict n]"
)
RECORDS = {
    "records": f"{POINT} {loop('p[i].x = a[i]; p[i].z = b[i] + i; p[i].y = 0.5;', POINTS)}",
    "colours": f"{COLOUR} {loop('p[i].r = a[i]; p[i].g = b[i] - a[i]; p[i].b = b[i];', COLOURS)}",
}
IN_ONE_SEGMENT = [
    ("to-planes", 16),
    ("from-planes", 8),
    ("pairs", 4),
    ("records", 2),
    ("colours", 8),
]
LAYOUT = "int n, int m, {0} a[restrict 3][n][m], {0} b[restrict n][m][3]"
PLANES = {
    "inside": "for (i...) for (j...) for (int c = 0; c < 3; c++) b[i][j][c] = a[c][i][j];",
    "outside": "for (int c = 0; c < 3; c++) for (i...) for (j...) b[i][j][c] = a[c][i][j];",
    "back": "for (i...) for (j...) for (int c = 0; c < 3; c++) a[c][i][j] = b[i][j][c] - c;",
    "turned": "for (i...) for (j...) for (int c = 0; c < 3; c++) b[i][j][c] = a[2 - c][i][j] + c;",
}
OTHERS = {
    "records-read": f"{COLOUR} {loop('p[i].r = p[i].g = a[i]; p[i].b = p[i].r + 1;', COLOURS)}",
    "wide-records": "struct p { double x, y, z; };"
    + loop("p[i].x = p[i].y = a[i]; p[i].z = b[i];", POINTS),
    "some-members": f"{COLOUR} {loop('p[i].r = a[i]; p[i].b = b[i];', COLOURS)}",
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
@pytest.mark.parametrize("name", ["bytes", "from-planes", "pairs", "triples"])
def test_narrow_elements_as_words(name: str) -> None:
    """As NVIDIA's compiler gets them."""
    done = lx.loads(CASES[name])["f"].tile(contract=False, limits="h100")
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    plan = replace(plan, shared=f"#define LX_AS_WORDS\n{plan.shared}")
    assert_runs_agree(plan, CSource(text=CASES[name]), SIZES, 4)


@pytest.mark.parametrize(("name", "elements"), IN_ONE_SEGMENT)
def test_stores_of_a_work_item_are_in_one_segment(name: str, elements: int) -> None:
    """Of 32 bytes, or one vector of 16: what it has of an array that it writes several of."""
    assert lx.loads((CASES | RECORDS)[name])["f"].tile(limits="h100").tiled.sizes["Rx"] == elements


@pytest.mark.device
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("name", ["records", "colours"])
def test_records_are_stored_in_vectors(name: str, words: bool) -> None:
    """And one by one, where compilers make vectors themselves."""
    done = lx.loads(RECORDS[name])["f"].tile(contract=False, limits="h100")
    assert done.tiled.recipe == "vectors"
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert plan.source.count("LX_STORE") > 3
    if words:
        plan = replace(plan, shared=f"#define LX_AS_WORDS\n{plan.shared}")
    assert_runs_agree(plan, CSource(text=RECORDS[name]), SIZES, 5)


@pytest.mark.device
@pytest.mark.parametrize("name", IMAGES)
def test_images_are_one_row(name: str) -> None:
    done = lx.loads(IMAGES[name])["f"].tile(contract=False, limits="h100")
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert len(plan.kernels) == 2
    assert "LX_STORE" in plan.kernels[0].text
    assert_runs_agree(plan, CSource(text=IMAGES[name]), ROWS, 3)


@pytest.mark.device
@pytest.mark.parametrize("kind", ["unsigned char", "float"])
@pytest.mark.parametrize("name", PLANES)
def test_planes_that_a_short_loop_numbers(name: str, kind: str) -> None:
    """In vectors where all planes begin where vectors do."""
    body = PLANES[name].replace("i...", "int i = 0; i < n; i++")
    text = c(body.replace("j...", "int j = 0; j < m; j++"), LAYOUT.format(kind))
    plan = emit.kernel(
        lx.loads(text)["f"].tile(contract=False, limits="h100").derivation, fp=SEPARATE
    )
    assert len(plan.kernels) == 2
    assert "LX_STORE" in plan.kernels[0].text
    assert "LX_VECTOR" in plan.kernels[0].text
    assert_runs_agree(plan, CSource(text=text), ROWS, 3)


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
    """A loop over several arrays of numbers of any size, in records of up to four members: some
    are structs."""
    params, body, types = ["int n"], list[str](), list[str]()
    names = "abcd"[: rng.randint(2, 4)]
    kinds = rng.choice(KINDS)
    widths = {x: rng.choice([1, 1, 2, 3, 4]) for x in names}
    structs = {x for x in names if rng.random() < 0.3}
    for x in names:
        kind = rng.choice(kinds)
        if x in structs:
            members = ", ".join(f"m{n}" for n in range(widths[x]))
            types.append(f"struct {x} {{ {kind} {members}; }};")
            params.append(f"struct {x} {x}[restrict n]")
        else:
            params.append(f"{kind} {x}[restrict {widths[x]} * n]")

    def element(x: str, member: int) -> str:
        return f"{x}[i].m{member}" if x in structs else f"{x}[{widths[x]} * i + {member}]"

    written = rng.sample(names, rng.randint(1, len(names) - 1))
    plain = [x for x in names if x not in written and x not in structs]

    def value(of: Sequence[str] = names) -> str:
        x = rng.choice(of)
        return element(x, rng.randrange(widths[x]))

    for x in written:
        members = rng.sample(range(widths[x]), widths[x])
        whole = x in structs and plain and rng.random() < 0.8
        kept = members if whole or rng.random() < 0.8 else members[1:]
        of = plain if whole else names
        for m in kept:
            op = "=" if whole else rng.choice(["=", "=", "+="])
            text = f"{element(x, m)} {op} ({value(of)} + {value(of)}) / 4;"
            often = not whole and rng.random() < 0.15
            body.append(f"if ({value()} > 3) {text}" if often else text)
    text = c(f"for (int i = 0; i < n; i++) {{ {' '.join(body)} }}", ", ".join(params))
    return " ".join([*types, text])


def tiled(seed: int) -> tuple[str, lx.Tiled] | None:
    """A random program, in vectors; None where they are refused."""
    text = program(random.Random(seed))
    try:
        return text, lx.loads(text)["f"].tile(recipe="vectors", Tx=2, limits=PROFILES["h100"])
    except lx.LoopxformError:
        return None


def check(seeds: range) -> None:
    counts = Counter[str]()
    for seed in seeds:
        found = tiled(seed)
        counts["refused" if found is None else "tiled"] += 1
        if found is None:
            continue
        text, done = found
        plan = emit.kernel(done.derivation)
        counts["records"] += "LX_RECORDS" in plan.source
        for n in (0, 1, 37, 64):
            args = arguments(plan.start, {"n": n}, seed)
            expected = copy.deepcopy(args)
            Program(plan.start).run(expected)
            execute(plan, args, seed=seed)
            assert not compare(expected, args), f"seed {seed}, n = {n}: {text}"
    assert min(counts["refused"], counts["tiled"]) > len(seeds) // 10, counts
    assert counts["records"] >= len(seeds) // 50, counts


def test_random_records() -> None:
    check(range(15))


@pytest.mark.slow
def test_many_random_records() -> None:
    check(range(100, 600))


@pytest.mark.slow
@pytest.mark.device
def test_random_records_as_words() -> None:
    """As NVIDIA's compiler gets them."""
    for seed in range(60):
        found = tiled(seed)
        if found is not None and "LX_RECORDS" in found[1].kernel:
            plan = emit.kernel(found[1].derivation, fp=SEPARATE)
            plan = replace(plan, shared=f"#define LX_AS_WORDS\n{plan.shared}")
            assert_runs_agree(plan, CSource(text=found[0]), SIZES[:4], seed)
