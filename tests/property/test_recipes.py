"""Every recipe on random nests of every shape: what it makes computes what the C program computes.

The nests have one to four parallel loops (triangular and of few iterations among them), sums and
searches one after the other and inside each other, windows, masks, indices that are computed, and
statements before and after. Sizes of 0 and 1 and tiles of any size are among the runs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from tilings import ROOM

from loopxform.errors import LoopxformError
from loopxform.frontend import parse_file
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Function
from loopxform.recipes.tile import tile
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import NAMES, RECIPES, Recipe
from loopxform.verify.check_run import arguments
from loopxform.verify.interp import InterpError, Program

LOOPS = {
    "i": ("0; i < n", "1; i < n - 1", "0; i < n - 2"),
    "j": ("0; j < m", "0; j <= i", "i + 1; j < m", "1; j < m - 1", "0; j < 3"),
    "g": ("0; g < p",),
    "h": ("0; h < 2",),
}
READS = {
    "i": ("A[i][{k}]", "T[{k}][i]", "X[i]", "W[{k}]", "F[i * p + {k}]"),
    "j": ("B[{k}][j]", "A[j][{k}]", "Y[j]", "W[{k}]", "V[i + j]"),
    "window": ("X[i + {k}]", "P[i + {k}][{k}]", "W[{k}]", "A[i][{k}]"),
}
HEAD = """void f(int n, int m, int p, const float A[restrict n + m][p + 5],
  const float B[restrict p + 5][m], const float T[restrict p + 5][n],
  const float X[restrict n + p + 5], const float Y[restrict m], const float W[restrict p + 5],
  const float F[restrict (n + 1) * (p + 5)], const float V[restrict n + m],
  const float P[restrict n + p + 5][p + 5],
  const int idx[restrict n], const int mask[restrict p + 5], float C[restrict {shape}])
"""


class Nest:
    """One random nest as C text."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.loops = rng.choice((["i"], ["i"], ["i", "j"], ["i", "j"], ["g", "i", "j"]))
        self.loops = self.loops + ["h"] * (rng.random() < 0.15)
        self.count = 0
        self.text = self._text()

    def _text(self) -> str:
        rng, pad = self.rng, "  "
        shape = "][".join({"i": "n", "j": "m + n", "g": "p", "h": "2"}[v] for v in self.loops)
        lines = [HEAD.replace("{shape}", shape) + "{"]
        for v in self.loops:
            head = rng.choice(LOOPS[v] if v != "j" or "i" in self.loops else LOOPS[v][:1])
            lines.append(f"{pad}for (int {v} = {head}; {v}++)" + " {")
            pad += "  "
        results = []
        if rng.random() < 0.4:
            lines.append(f"{pad}float q = {self._read('0')};")
            results.append("q")
        if rng.random() < 0.3:
            lines.append(f"{pad}int r = idx[i];")
        else:
            lines.append(f"{pad}int r = i;")
        for _ in range(rng.choice((0, 1, 1, 1, 2))):
            name, own = self._sequential(pad)
            lines += own
            results.append(name)
        if not results:
            around = (
                "X[i] + X[i + 1] + X[i + 2]",
                "V[i] * X[i]",
                "P[i][0] + P[i + 1][1] + P[i][1]",
            )
            results.append(rng.choice(around))
        target = "C[" + "][".join(self.loops) + "]"
        store = f"{target} = {' + '.join(results)};"
        if rng.random() < 0.15:
            store = f"if ({results[0]} > 0.2f) {store}"
        lines += [pad + store, *("  " * n + "}" for n in range(len(self.loops), -1, -1))]
        return "\n".join(lines) + "\n"

    def _read(self, k: str, kind: str = "") -> str:
        rng = self.rng
        pool = READS[kind or ("j" if "j" in self.loops and rng.random() < 0.6 else "i")]
        return rng.choice(pool).replace("{k}", k)

    def _sequential(self, pad: str) -> tuple[str, list[str]]:
        """A sum, a search, a sum over a window, or a sum inside another loop."""
        self.count += 1
        rng, s, k = self.rng, f"s{self.count}", rng_name(self.rng)
        kind = rng.choice(("sum", "sum", "sum", "search", "window", "boxes", "nested"))
        if kind == "window":
            inner = [f"{pad}for (int u = 0; u < 3; u++) {s} += {self._read('u', 'window')};"]
            return s, [f"{pad}float {s} = 0;", *inner]
        if kind == "boxes":
            return s, [
                f"{pad}float {s} = 0;",
                f"{pad}for (int l = 0; l < 3; l++) {{",
                f"{pad}  int b = l > 0 ? r : 0;",
                f"{pad}  for (int k = 0; k < p; k++) {s} += A[b][k] * {self._read('k')};",
                f"{pad}}}",
            ]
        if kind == "nested":
            return s, [
                f"{pad}float {s} = 1e9f;",
                f"{pad}for (int c = 0; c < p; c++) {{",
                f"{pad}  float d = 0;",
                f"{pad}  for (int k = 0; k < {rng.choice(('p', '4'))}; k++)",
                f"{pad}    d += {self._read('k')} * P[c][k];",
                f"{pad}  if (d < {s}) {s} = d;",
                f"{pad}}}",
            ]
        bound = rng.choice(("0; {k} < p", "0; {k} < p", "1; {k} < p + 2", "0; {k} <= i && {k} < p"))
        head = f"{pad}for (int {k} = {bound.replace('{k}', k)}; {k}++)"
        a, b = self._read(k), self._read(k)
        if kind == "search":
            return s, [f"{pad}float {s} = -9;", f"{head} if ({a} - {b} > {s}) {s} = {a} - {b};"]
        term = f"{a} * {b}" if rng.random() < 0.7 else f"({a} - {b}) * ({a} - {b})"
        start = rng.choice(("0", "0", "X[i]"))
        guard = rng.choice(("", "", f"if (mask[{k}] > 0) ", f"if ({a} > 0) "))
        return s, [f"{pad}float {s} = {start};", f"{head} {guard}{s} += {term};"]


class Beside(Nest):
    """A nest with statements beside its inner parallel loops."""

    def _text(self) -> str:
        rng = self.rng
        head = HEAD.replace("{shape}", "n][m + n").replace(
            "float C[", "float D[restrict n], float C["
        )
        lines = [head + "{", "  float u = W[0] * 2, w, v;"]
        lines.append(f"  for (int i = {rng.choice(LOOPS['i'])}; i++) {{")
        self.loops, scalars = ["i"], ["u", "w", "v"]
        lines.append(f"    int r = i; w = {self._read('0')} + u;")
        lines.append(
            f"    v = w; if ({self._read('0')} > 0) v = {rng.choice(('u', 'w * w', 'X[i]'))};"
        )
        for _ in range(rng.choice((0, 0, 1, 2))):
            name, own = self._sequential("    ")
            lines += own
            scalars.append(name)
        for n in range(rng.choice((1, 1, 2))):
            lines.append(f"    for (int j = {rng.choice(LOOPS['j'])}; j++) {{")
            self.loops, inner = ["i", "j"], [*rng.sample(scalars, 2), self._read("0")]
            if rng.random() < 0.4:
                name, own = self._sequential("      ")
                lines += own
                inner.append(name)
            value = " + ".join(inner)
            lines += [f"      C[i][j] {'+=' if n else '='} {value};", "    }"]
            self.loops = ["i"]
            if rng.random() < 0.3:
                lines.append(f"    D[i] = {rng.choice(scalars)};")
        return "\n".join([*lines, "  }", "}"]) + "\n"


def rng_name(rng: random.Random) -> str:
    return rng.choice("kkt")


def nests(seed: int, count: int) -> Iterator[tuple[str, str]]:
    rng = random.Random(f"recipes {seed}")
    for n in range(count):
        yield f"seed {seed}, nest {n}", Nest(rng).text


def beside(seed: int, count: int) -> Iterator[tuple[str, str]]:
    rng = random.Random(f"beside {seed}")
    for n in range(count):
        yield f"beside seed {seed}, nest {n}", Beside(rng).text


ONCE_WRONG = ((100, 75), (102, 76))
"""Seeds and numbers of nests where storage was read outside of its domain before it was set, and
where a condition on data was taken for a part of the bounds check."""


def random_sizes(rng: random.Random) -> dict[str, int]:
    return {name: rng.randint(1, 4) for name in NAMES if rng.random() < 0.9 or name != "Rx"}


def outcome(fn: Function, seed: int, sizes: dict[str, int]) -> dict[str, object] | None:
    """What the program leaves in its arrays; None where it subscripts outside of them, or where the
    assumptions do not hold that the host asks for before it launches anything."""
    if not all(evaluate(e, sizes) for e in fn.assumes):
        return None
    args = arguments(fn, sizes, seed)
    try:
        Program(fn).run(args)
    except InterpError:
        return None
    return args


def equal(one: object, two: object) -> bool:
    """Whether two arrays have the same elements, NaN where the other has NaN."""
    return np.array_equal(np.asarray(one), np.asarray(two), equal_nan=True)


def check(name: str, text: str, counts: Counter[str]) -> None:
    fn = parse_file("f.c", text=text).unit.functions[0]
    rng = random.Random(name)
    wanted: list[Recipe | None] = [None, *rng.sample(RECIPES[:5], 2)]
    runs = [{v: rng.randint(0, top) for v in ("n", "m", "p")} for top in (7, 5, 1)]
    expected = [outcome(fn, seed, sizes) for seed, sizes in enumerate(runs)]
    for recipe in wanted:
        tiles = random_sizes(rng)
        try:
            done = tile(fn, tiles, recipe, ROOM)
        except LoopxformError as e:
            counts[f"refused {e.code}"] += 1
            continue
        counts[f"{recipe or 'auto'}: {done.recipe}"] += 1
        counts[f"{len(done.rest) + 1} nests"] += 1
        _same(name, text, done, runs, expected, tiles)


def _same(
    name: str,
    text: str,
    done: Tiled,
    runs: list[dict[str, int]],
    expected: list[dict[str, object] | None],
    tiles: dict[str, int],
) -> None:
    for seed, (sizes, result) in enumerate(zip(runs, expected)):
        if result is None:
            continue
        found = arguments(done.derivation.start, sizes, seed)
        Program(done.function).run(found, order_seed=seed)
        for array in {"C", "D"} & result.keys():
            assert equal(result[array], found[array]), (
                f"{name}: {array} by {done.recipe} {tiles} at {sizes}\n{text}"
            )


def sweep(programs: Iterator[tuple[str, str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, text in programs:
        check(name, text, counts)
    return counts


def assert_nests_tiled(counts: Counter[str], programs: int) -> None:
    """More than a third of them, each compared with what its C computes."""
    print(counts)
    tiled = sum(n for k, n in counts.items() if k.startswith("auto: ") and k != "auto: naive")
    assert 3 * tiled > programs


def assert_split(counts: Counter[str], programs: int) -> None:
    """Statements beside loops became nests of their own in some."""
    print(counts)
    assert counts["2 nests"] >= max(1, programs // 10)
    assert counts["3 nests"] >= max(1, programs // 25)


def test_recipes_on_random_nests() -> None:
    assert_nests_tiled(sweep(nests(1, 8)), 8)


@pytest.mark.parametrize(("seed", "nest"), ONCE_WRONG)
def test_nests_that_were_once_wrong(seed: int, nest: int) -> None:
    *_, (name, text) = nests(seed, nest + 1)
    counts: Counter[str] = Counter()
    check(name, text, counts)
    assert any(k.startswith("auto: ") for k in counts), counts


def test_recipes_on_random_statements_beside_loops() -> None:
    assert_split(sweep(beside(1, 5)), 5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100])
def test_recipes_on_many_random_nests(seed: int) -> None:
    assert_nests_tiled(sweep(nests(seed, 150)), 150)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100])
def test_recipes_on_many_random_statements_beside_loops(seed: int) -> None:
    assert_split(sweep(beside(seed, 100)), 100)
