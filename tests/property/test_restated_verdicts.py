"""Loops with cursors, which are judged with their subscripts in closed form, pointers that each
iteration sets, loops over products, arrays of rows: what is called parallel leaves the same in any
order, what it makes private spoilt.
"""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest
from checks import SIZES, final, shuffle
from machine import run

import loopxform as lx
from loopxform.analysis.verdict import LoopVerdict
from loopxform.ir.nodes import Function, Opaque
from loopxform.ir.visit import walk

PARAMS = "int N, int M, int *restrict a, int *restrict ac, const int *restrict b"


class Cursors:
    """A function of one or two nests, whose elements scalars and pointers count."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def text(self, name: str) -> str:
        self.names, self.pointers = ["q", "r"], ["p", "s"]
        nests = " ".join(self.nest() for _ in range(self.rng.randint(1, 2)))
        last = self.rng.choice(["", "", "ac[900] = q;", "ac[901] = *p;"])
        begin = "int q = 0, r = 3, y, x; int *p = a, *s = ac;"
        return f"void {name}({PARAMS})\n{{ {begin}\n{nests}\n{last} }}"

    def nest(self) -> str:
        pairs = ["qr", "qs", "pr", "ps", "q", "p", "r", "s", "qpr"]
        self.used = list(self.rng.choice(pairs))
        starts = [self.start(n) for n in self.used]
        first = " ".join(x for x in starts if x)
        parts = [self.access(n) for n in self.used]
        inner = (
            f"for (x = {self.rng.choice('0001')}; x < {self.end()}; x++) {{ {' '.join(parts)} }}"
        )
        ends = " ".join(self.grow(n) for n in self.used if self.rng.random() < 0.15)
        guard = self.rng.choice(["", "", "", "if (b[y] & 1) "])
        head = f"for (y = {self.rng.choice('0001')}; y < N; y++)"
        return f"{head} {guard}{{ {first} {inner} {ends} }}"

    def end(self) -> str:
        return self.rng.choice(["M"] * 6 + ["N", "3", "y", "M - 1"])

    def start(self, n: str) -> str:
        pitch = self.rng.choice(["M"] * 6 + ["M + 2", "4", "N", "-M", "2 * M"])
        value = f"y * ({pitch}) + {self.rng.choice('00015')}"
        base = {"p": "a + ", "s": "ac + "}.get(n, "")
        kept = self.rng.choice([False] * 9 + [True])
        under = self.rng.choice([""] * 9 + ["if (y & 1) "])
        return "" if kept else f"{under}{n} = {base}{value};"

    def access(self, n: str) -> str:
        step = self.rng.choice(["++", "++", "++", "", " += 2"])
        value = self.rng.choice(["b[x]", "b[y + x]", "y", "b[x] + y"])
        op = self.rng.choice(["=", "=", "=", "+="])
        if n in self.pointers:
            target = f"*{n}" if self.rng.random() < 0.6 else f"{n}[x]"
        else:
            array = "a" if n == "q" else "ac"
            target = f"{array}[{n}]" if self.rng.random() < 0.7 else f"{array}[{n} + x]"
        if self.rng.random() < 0.1:
            return f"ac[y] += {target};"
        return f"{target} {op} {value}; " + (f"{n}{step};" if step else "")

    def grow(self, n: str) -> str:
        return f"{n} += {self.rng.choice(['1', 'M', '2', 'N'])};"


def product(rng: random.Random, name: str) -> str:
    """A function whose loop takes rows and columns from its counter, or counts rows in two
    dimensions."""
    at = [rng.choice(["x * N + y", "y * M + x", "x * M + y", "y", "x", "i", "x + y"]) for _ in "ab"]
    rows = rng.random() < 0.5
    guard = rng.choice(["", "", "if (x > 0) ", "if (b[i] & 1) "])
    op = rng.choice(["=", "=", "+="])
    value = rng.choice(["i", "b[i]", "y", "TARGET + 1", "b[y]"])
    target = [f"a[{x}][{rng.choice(['0', '2', 'i % 3'])}]" if rows else f"a[{x}]" for x in at]
    first = f"{guard}{target[0]} {op} {value.replace('TARGET', target[1])};"
    array = "int (*restrict a)[3]" if rows else "int *restrict a"
    two = f"for (int y = 0; y < N; y++) for (int x = 0; x < {rng.choice('MMMN')}; x++)"
    if rows and rng.random() < 0.6:
        loop = f"{two} {{ int i = y * M + x; {first} }}"
    else:
        order = rng.choice(["N * M", "M * N"])
        loop = f"for (int i = 0; i < {order}; i++) {{ int y = i / M, x = i % M; {first} }}"
    return f"void {name}(int N, int M, {array}, const int *restrict b)\n{{ {loop} }}"


def strided(rng: random.Random, name: str) -> str:
    """A function of nests along strides, next to each other and one after the other."""
    sizes = ["N", "M", "1", "2 * N", "M - 1", "N * M", "M + 1", "-M"]

    def place() -> str:
        rows, columns = (rng.choice(sizes) for _ in "rc")
        return f"y * ({rows}) + x * ({columns}) + {rng.choice(['0', '0', '1', 'N', 'M'])}"

    def nest() -> str:
        at = place()
        other = rng.choice([at, at, f"{at} + 1", f"{at} - N", place()])
        op = rng.choice(["=", "=", "+="])
        value = rng.choice(["b[x]", "y", f"a[{other}] + 1", "x"])
        inner = f"for (int x = {rng.choice('001')}; x < M; x++) a[{at}] {op} {value};"
        set_here = rng.choice(["", "", "", "t = b[y];", f"t += a[{other}];"])
        return f"for (int y = {rng.choice('001')}; y < N; y++) {{ {set_here} {inner} }}"

    nests = " ".join(nest() for _ in range(rng.randint(1, 2)))
    return (
        f"void {name}(int N, int M, int *restrict a, const int *restrict b)\n"
        f"{{ int t = 0; {nests} a[900] = t; }}"
    )


def judged(name: str, text: str) -> Counter[str]:
    """The verdicts on a function, each that is parallel compared with runs."""
    routine = lx.loads(text, "t.c").routine(name)
    fn = routine.function
    verdicts = routine.check()
    if any(isinstance(s, Opaque) for _, s in walk(fn.body)):
        return Counter(opaque=1)
    for v in verdicts:
        if v.parallel not in ("no", "unknown"):
            _same(name, text, fn, v)
    return Counter(v.parallel for v in verdicts)


def _same(name: str, text: str, fn: Function, v: LoopVerdict) -> None:
    back = {shown: own for own, shown in fn.spelling}
    private, copies, conditional = (
        tuple(back.get(n, n) for n in names) for names in (v.private, v.copies, v.conditional)
    )
    how = {"order": {v.path: shuffle(name)}, "poison": {v.path: private}}
    left = {"copies": frozenset(copies), "conditional": frozenset(conditional)}
    for size in SIZES:
        if not all(_holds(x, size) for x in v.assumes):
            continue
        try:
            before, after = run(fn, size), run(fn, size, **how, **left)
        except OverflowError:
            continue
        assert final(before) == final(after), (text, v)


def _holds(assumed: str, size: dict[str, int]) -> bool:
    """Whether sizes meet what a verdict takes for granted, where that is about them."""
    if re.search(r"overlap|NaN", assumed):
        return True
    return bool(eval(assumed.replace("/", "//"), {}, size))


class InMemory:
    """A function of nests over flat matrices, whose sizes are parameters, or numbers in memory."""

    sizes = ("N", "M")
    memory = (("d[0]", "d[1]"), ("s->n", "s->m"), ("d[2]", "s->n"), ("*r", "d[N]"), ("w", "v"))
    params = (
        "struct sizes { int n, m; int *x; }; int some(int); "
        "void f(int N, int M, int *a, int *b, const int *d, int *r, struct sizes *s)"
    )

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.array = rng.choice(["a", "a", "s->x"])
        nests = " ".join(self.nest() for _ in range(rng.randint(1, 2)))
        places = rng.choice(self.memory)
        self.given = f"{self.params} {{ {nests.replace('ROWS', 'N').replace('COLS', 'M')} }}"
        rows, cols = places
        start = "int w = some(N), v = some(M);" if "w" in places else ""
        self.read = (
            f"{self.params} {{ {start} {nests.replace('ROWS', rows).replace('COLS', cols)} }}"
        )

    def nest(self) -> str:
        pitch = self.rng.choice(["COLS"] * 5 + ["ROWS", "(COLS + 1)", "4"])
        end = self.rng.choice(["COLS"] * 5 + ["COLS - 1", "ROWS", "y"])
        shift = self.rng.choice(["", "", "", " + 1", " + COLS"])
        value = self.rng.choice(["b[x]", "b[x * ROWS + y]", f"{self.array}[y * {pitch} + x] + 1"])
        target = f"{self.array}[y * {pitch} + x{shift}]"
        return f"for (int y = 0; y < ROWS; y++) for (int x = 0; x < {end}; x++) {target} = {value};"


def check_in_memory(seed: int, count: int) -> Counter[str]:
    """Of numbers in memory no more is said than of parameters, under an assumption that no store
    changes them."""
    rng, seen = random.Random(seed), Counter[str]()
    for _ in range(count):
        draw = InMemory(rng)
        given, read = (lx.loads(text)["f"].check() for text in (draw.given, draw.read))
        for v, w in zip(given, read, strict=True):
            seen[w.parallel] += 1
            if w.parallel in ("no", "unknown"):
                continue
            ranks = ("yes", "privatizable", "reduction", "unknown", "no")
            assert ranks.index(v.parallel) <= ranks.index(w.parallel), (draw.read, v, w)
            home = draw.array.replace("->", ".")
            apart = [x for x in w.assumes if "overlap" in x and home in x]
            own = "int w" in draw.read or w.var != "y"
            assert apart or own, (draw.read, w.assumes)
    return seen


def test_numbers_in_memory_are_parameters_that_no_store_changes() -> None:
    seen = check_in_memory(7, 25)
    assert seen["yes"] > 40, seen
    assert seen["unknown"] + seen["no"] > 4, seen


@pytest.mark.slow
def test_more_numbers_in_memory() -> None:
    check_in_memory(700, 80)


def check(seed: int, count: int) -> Counter[str]:
    rng, seen = random.Random(seed), Counter[str]()
    for n in range(count):
        seen += judged(f"f{n}", Cursors(rng).text(f"f{n}"))
    return seen


def check_products(seed: int, count: int) -> Counter[str]:
    rng, seen = random.Random(seed), Counter[str]()
    for n in range(count):
        seen += judged(f"p{n}", product(rng, f"p{n}"))
    return seen


def check_strides(seed: int, count: int) -> Counter[str]:
    rng, seen = random.Random(seed), Counter[str]()
    for n in range(count):
        seen += judged(f"s{n}", strided(rng, f"s{n}"))
    return seen


def test_what_loops_over_products_leave() -> None:
    seen = check_products(5, 40)
    assert seen["yes"] > 15, seen
    assert seen["unknown"] + seen["no"] > 5, seen


@pytest.mark.slow
def test_what_more_loops_over_products_leave() -> None:
    check_products(500, 500)


def test_what_loops_along_strides_leave() -> None:
    seen = check_strides(11, 25)
    assert seen["yes"] + seen["reduction"] > 8 < seen["unknown"] + seen["no"], seen


@pytest.mark.slow
def test_what_more_loops_along_strides_leave() -> None:
    check_strides(1100, 120)


def test_what_cursors_leave() -> None:
    seen = check(23, 40)
    assert seen["yes"] + seen["privatizable"] + seen["reduction"] > 12 < seen["no"], seen


@pytest.mark.slow
def test_what_more_cursors_leave() -> None:
    check(2300, 600)
